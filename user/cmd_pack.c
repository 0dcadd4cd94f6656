// SPDX-License-Identifier: Apache-2.0
/* Is a pack's manifest valid, and what does it grant? `comet pack`. */
#define _GNU_SOURCE 1

#include <getopt.h>
#include <jansson.h>

#include "manifest/explain.h"
#include "user/account.h"
#include "user/base.h"
#include "user/cmd.h"
#include "user/pack_json.h"
#include "user/resolve.h"
#include "user/text.h"

#define SEED_SCHEMA "soyaos.ai/v0"

struct pack_options {
	bool strict;
	bool json;
	bool help;
	const char *path;
	const char *surface;
	const char *resource;
};

struct pack_verb {
	const char *name;
	const char *help;
	int args_max;
	int (*fn)(const struct pack_options *options);
};

static int pack_validate(const struct pack_options *options);
static int pack_explain(const struct pack_options *options);

static const struct pack_verb verbs[] = {
	{
		"validate",
		"usage: comet pack validate [--strict] [--json] PATH\n"
		"Checks the manifest of a pack: PATH is a directory with a soyapack.yaml, or a\n"
		"manifest file.\n\n"
		"  --strict  take warnings as errors\n"
		"  --json    one JSON object on standard output\n\n"
		"Exit status: 0 valid, 2 not valid.\n\n"
		"  $ comet pack validate .\n"
		"  OK · soyapack.v0/estate-muse@0.1.0 · kind=Agent\n",
		1,
		pack_validate,
	},
	{
		"explain",
		"usage: comet pack explain [--strict] [--json] PATH [SURFACE RESOURCE]\n"
		"Shows every grant of a pack with the line that gives it, the base set, the quiet\n"
		"set and the canaries; or answers whether one access is allowed, and by which line.\n\n"
		"  SURFACE RESOURCE\n"
		"    fs.read PATH, fs.write PATH\n"
		"    egress HOST:PORT/PROTOCOL    [v6]:443/tcp for IPv6\n"
		"    exec PROGRAM\n"
		"    serve PORT[/PROTOCOL]        tcp unless it says udp\n"
		"  --strict  take warnings as errors\n"
		"  --json    one JSON object on standard output\n\n"
		"Exit status: 0 allowed or shown, 1 not allowed, 2 usage or manifest not valid.\n\n"
		"  $ comet pack explain . fs.read /etc/shadow\n"
		"  $ comet pack explain . egress api.openai.com:443/https\n",
		3,
		pack_explain,
	},
};

static void print_error(const char *sentence)
{
	fprintf(stderr, "comet: %s\n", sentence);
}

static int out_of_memory(void)
{
	print_error("out of memory");
	return COMET_EXIT_FAILED;
}

/* Takes object over. */
static int print_json(json_t *object)
{
	_cleanup_free_ char *text = NULL, *line = NULL;

	if (!object)
		return out_of_memory();
	text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	line = text ? comet_text_json_line(text) : NULL;
	if (!line)
		return out_of_memory();
	puts(line);
	return COMET_EXIT_OK;
}

static int finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "comet: cannot write: %s\n", strerror(errno));
	return COMET_EXIT_FAILED;
}

static void print_warning(const struct comet_location *location, const char *text)
{
	if (location->file && location->line != 0)
		fprintf(stderr, "%s:%u:%u: warning: %s\n", location->file, location->line,
			location->column, text);
	else
		fprintf(stderr, "%s%swarning: %s\n", location->file ? location->file : "",
			location->file ? ": " : "", text);
}

static void print_warnings(const struct comet_manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_warnings; i++)
		print_warning(&manifest->warnings[i].location, manifest->warnings[i].text);
}

static void free_manifest(struct comet_manifest **manifest)
{
	comet_manifest_free(*manifest);
}

static void free_policy(struct comet_policy **policy)
{
	comet_policy_free(*policy);
}

static int report_invalid(const struct pack_options *options, const struct comet_manifest *manifest,
			  const char *sentence)
{
	int code = COMET_EXIT_USAGE;

	print_error(sentence);
	if (options->json && print_json(comet_pack_json_validate(manifest, sentence, NULL)) != 0)
		code = COMET_EXIT_FAILED;
	return finish(code);
}

/* refused: why `comet run` will not run it; NULL: it will. */
static int report_valid(const struct pack_options *options, const struct comet_manifest *manifest,
			const char *refused)
{
	if (options->json)
		return finish(print_json(comet_pack_json_validate(manifest, NULL, refused)));
	print_warnings(manifest);
	if (refused)
		fprintf(stderr, "comet: upstream accepts this manifest, comet run refuses it: %s\n",
			refused);
	printf("OK · %s/%s@%s · kind=%s\n", manifest->schema, manifest->name, manifest->version,
	       manifest->kind);
	return finish(COMET_EXIT_OK);
}

/*
 * A manifest that upstream accepts is valid even where Comet will not run it. The seed's dialect
 * has no other judge: what does not run is not valid.
 */
static int pack_validate(const struct pack_options *options)
{
	_cleanup_(free_manifest) struct comet_manifest *manifest = NULL;
	_cleanup_(free_policy) struct comet_policy *policy = NULL;
	struct comet_error error;

	if (comet_manifest_load(options->path, options->strict, &manifest, &error) < 0)
		return report_invalid(options, NULL, error.text);
	if (manifest->unenforceable || comet_policy_compile(manifest, NULL, &policy, &error) == 0)
		return report_valid(options, manifest, manifest->unenforceable);
	if (options->strict || streq(manifest->schema, SEED_SCHEMA))
		return report_invalid(options, manifest, error.text);
	return report_valid(options, manifest, error.text);
}

static int answer_question(const struct pack_options *options,
			   const struct comet_manifest *manifest, const struct comet_policy *policy)
{
	struct comet_answer answer = { 0 };
	struct comet_error error;
	int code;

	if (comet_explain_query(manifest, policy, options->surface, options->resource, &answer,
				&error) < 0) {
		print_error(error.text);
		return COMET_EXIT_USAGE;
	}
	code = answer.allowed ? COMET_EXIT_OK : COMET_EXIT_FAILED;
	if (!options->json)
		comet_answer_print(stdout, manifest, &answer);
	else if (print_json(comet_pack_json_answer(&answer)) != 0)
		code = COMET_EXIT_FAILED;
	comet_answer_clear(&answer);
	return finish(code);
}

/* What of a policy depends on the host, as `comet run` would find it. */
struct host {
	struct comet_account account;
	char **environment;
	char **nameservers;
	struct comet_policy_options options;
};

static void clear_host(struct host *host)
{
	comet_nameservers_free(host->nameservers);
	comet_environment_free(host->environment);
	comet_account_free(&host->account);
}

static int find_host(struct host *host, struct comet_error *error)
{
	const char *home;
	int r = comet_account_find(NULL, &host->account, error);

	if (r < 0)
		return r;
	host->environment = comet_environment_make(&host->account, environ, false, NULL, 0);
	host->nameservers = comet_nameservers_read("/etc/resolv.conf");
	if (!host->environment || !host->nameservers)
		return comet_error_set(error, ENOMEM, "out of memory");
	home = comet_environment_get(host->environment, "HOME");
	host->options.home = home && home[0] == '/' ? home : host->account.home;
	host->options.nameservers = (const char *const *)host->nameservers;
	return 0;
}

static int pack_explain(const struct pack_options *options)
{
	_cleanup_(free_manifest) struct comet_manifest *manifest = NULL;
	_cleanup_(free_policy) struct comet_policy *policy = NULL;
	_cleanup_(clear_host) struct host host = { 0 };
	struct comet_error error;
	int r;

	r = comet_manifest_load(options->path, options->strict, &manifest, &error);
	if (r == 0 && manifest->unenforceable)
		r = comet_error_set(&error, EINVAL, "%s", manifest->unenforceable);
	if (r == 0)
		r = find_host(&host, &error);
	if (r == 0)
		r = comet_policy_compile(manifest, &host.options, &policy, &error);
	if (r < 0) {
		print_error(error.text);
		return COMET_EXIT_USAGE;
	}
	if (options->surface)
		return answer_question(options, manifest, policy);
	if (options->json)
		return finish(
			print_json(comet_pack_json_explain(manifest, policy, host.options.home)));
	print_warnings(manifest);
	comet_explain_print(stdout, manifest, policy);
	return finish(COMET_EXIT_OK);
}

static int refuse_option(const struct pack_verb *verb, const char *option)
{
	_cleanup_free_ char *quoted = comet_text_quote(option, strlen(option));

	fprintf(stderr, "comet: pack %s: unknown option %s; see comet pack %s --help\n", verb->name,
		quoted ? quoted : "", verb->name);
	return COMET_EXIT_USAGE;
}

static int parse_options(const struct pack_verb *verb, int argc, char **argv,
			 struct pack_options *options)
{
	static const struct option table[] = {
		{ "strict", no_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int key;

	opterr = 0;
	/* 0, not 1: glibc then forgets what it knew of another argv. */
	optind = 0;
	while ((key = getopt_long(argc, argv, "h", table, NULL)) != -1) {
		if (key == '?')
			return refuse_option(verb, argv[optind - 1]);
		options->strict |= key == 's';
		options->json |= key == 'j';
		options->help |= key == 'h';
	}
	return COMET_EXIT_OK;
}

/* PATH, or PATH SURFACE RESOURCE. */
static int parse_arguments(const struct pack_verb *verb, int n, char **args,
			   struct pack_options *options)
{
	if (n < 1) {
		fprintf(stderr, "comet: pack %s: expected <path> (directory or .yaml file)\n",
			verb->name);
		return COMET_EXIT_USAGE;
	}
	if (n > verb->args_max) {
		fprintf(stderr, "comet: pack %s: too many arguments; see comet pack %s --help\n",
			verb->name, verb->name);
		return COMET_EXIT_USAGE;
	}
	if (n == 2) {
		fprintf(stderr,
			"comet: pack %s: expected a resource after the surface, as in `fs.read /workdir`\n",
			verb->name);
		return COMET_EXIT_USAGE;
	}
	options->path = args[0];
	options->surface = n > 2 ? args[1] : NULL;
	options->resource = n > 2 ? args[2] : NULL;
	return COMET_EXIT_OK;
}

static int run_verb(const struct pack_verb *verb, int argc, char **argv)
{
	struct pack_options options = { 0 };
	int r;

	r = parse_options(verb, argc, argv, &options);
	if (r != COMET_EXIT_OK)
		return r;
	if (options.help) {
		fputs(verb->help, stdout);
		return finish(COMET_EXIT_OK);
	}
	r = parse_arguments(verb, argc - optind, argv + optind, &options);
	return r == COMET_EXIT_OK ? verb->fn(&options) : r;
}

static int print_help(FILE *out)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(verbs); i++)
		fprintf(out, "%s%s", i ? "\n" : "", verbs[i].help);
	return finish(COMET_EXIT_OK);
}

int comet_cmd_pack(int argc, char **argv)
{
	_cleanup_free_ char *quoted = NULL;

	if (argc < 2) {
		print_error("pack: expected validate or explain; see comet pack --help");
		return COMET_EXIT_USAGE;
	}
	if (streq(argv[1], "--help") || streq(argv[1], "-h"))
		return print_help(stdout);
	for (size_t i = 0; i < COMET_ARRAY_SIZE(verbs); i++)
		if (streq(argv[1], verbs[i].name))
			return run_verb(&verbs[i], argc - 1, argv + 1);
	quoted = comet_text_quote(argv[1], strlen(argv[1]));
	fprintf(stderr, "comet: pack: there is no verb %s; expected validate or explain\n",
		quoted ? quoted : "so named");
	return COMET_EXIT_USAGE;
}
