// SPDX-License-Identifier: Apache-2.0
/* What did the operator ask of `comet run`? */
#define _GNU_SOURCE 1

#include "user/run_options.h"

#include <argp.h>
#include <ctype.h>

#include "user/base.h"
#include "user/text.h"

#define TIMEOUT_MAX_SECONDS (10.0 * 366 * 24 * 3600)

enum {
	KEY_WORKDIR = 256,
	KEY_USER,
	KEY_ENV,
	KEY_CLEAR_ENV,
	KEY_TIMEOUT,
	KEY_AUDIT,
	KEY_ON_VIOLATION,
	KEY_EVENTS,
	KEY_JSON,
	KEY_QUIET,
	KEY_ISOLATION,
	KEY_STRICT,
	KEY_USAGE,
};

static const struct argp_option option_table[] = {
	{ "workdir", KEY_WORKDIR, "DIR", 0, "Show DIR to the agent as /workdir", 0 },
	{ "user", KEY_USER, "USER[:GROUP]", 0,
	  "Run as USER (name or number); default: the invoking user, under sudo the one behind it",
	  0 },
	{ "env", KEY_ENV, "NAME=VALUE", 0, "Set an environment variable (may be repeated)", 0 },
	{ "clear-env", KEY_CLEAR_ENV, NULL, 0,
	  "Inherit no environment: only PATH and what --env gives", 0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0,
	  "Kill the whole run after SECONDS (fractions allowed) and exit 6", 0 },
	{ "audit", KEY_AUDIT, NULL, 0, "Refuse nothing, report what would be refused", 0 },
	{ "on-violation", KEY_ON_VIOLATION, "deny|kill", 0,
	  "What a violation does besides being refused; default: deny", 0 },
	{ "events", KEY_EVENTS, "FILE|fd:N|unix:PATH|-", 0,
	  "Write Scope events as NDJSON; - is standard error", 0 },
	{ "json", KEY_JSON, NULL, 0,
	  "Capture the agent's output and print one JSON object at the end", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "No words for people on standard error but errors", 0 },
	{ "isolation", KEY_ISOLATION, "process|container", 0,
	  "container: a root that holds only what is declared; default: as the manifest says", 0 },
	{ "strict", KEY_STRICT, NULL, 0, "Take warnings about the manifest as errors", 0 },
	{ "help", 'h', NULL, 0, "Give this help list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1 },
	{ 0 },
};

struct parse {
	struct comet_run_options *options;
	struct comet_error *error;
};

int comet_run_timeout_parse(const char *text, int64_t *ms)
{
	char *end = NULL;
	double seconds;

	/* strtod also knows blanks, hexadecimal, "inf" and "nan": none of them is meant. */
	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (strspn(text, "0123456789.") != strlen(text))
		return -EINVAL;
	seconds = strtod(text, &end);
	if (*end || !(seconds > 0) || seconds > TIMEOUT_MAX_SECONDS)
		return -EINVAL;
	/* Rounded up: the shortest timeout is not none at all. */
	*ms = (int64_t)(seconds * 1000);
	if ((double)*ms < seconds * 1000)
		++*ms;
	return 0;
}

/* "OPTION VALUE: WHY" */
static int refuse(struct comet_error *error, const char *option, const char *value, const char *why)
{
	_cleanup_free_ char *quoted = comet_text_quote(value, strlen(value));

	return comet_error_set(error, EINVAL, "%s%s: %s", option, quoted ? quoted : "?", why);
}

static int add_env(struct parse *parse, const char *value)
{
	struct comet_run_options *options = parse->options;
	const char **grown;

	if (value[0] == '=' || !strchr(value, '='))
		return refuse(parse->error, "--env ", value, "must be NAME=VALUE");
	grown = reallocarray(options->env, options->n_env + 1, sizeof(*grown));
	if (!grown)
		return comet_error_set(parse->error, ENOMEM, "out of memory");
	options->env = grown;
	options->env[options->n_env++] = value;
	return 0;
}

static int set_isolation(struct parse *parse, const char *value)
{
	static const enum comet_isolation known[] = {
		COMET_ISOLATION_PROCESS,
		COMET_ISOLATION_CONTAINER,
	};
	size_t i;

	for (i = 0; i < COMET_ARRAY_SIZE(known); i++) {
		if (!streq(value, comet_isolation_to_str(known[i])))
			continue;
		parse->options->isolation = known[i];
		return 0;
	}
	if (streq(value, "microvm"))
		return comet_error_set(parse->error, EINVAL,
				       "--isolation microvm: Comet is not a VM monitor");
	return refuse(parse->error, "--isolation ", value, "must be process or container");
}

static int set_on_violation(struct parse *parse, const char *value)
{
	if (!streq(value, "deny") && !streq(value, "kill"))
		return refuse(parse->error, "--on-violation=", value, "must be deny or kill");
	parse->options->kill = streq(value, "kill");
	return 0;
}

static int set_pack(struct parse *parse, const char *value)
{
	if (parse->options->pack)
		return refuse(parse->error, "", value,
			      "one PACK only, and the command stands after `--`");
	parse->options->pack = value;
	return 0;
}

static int set_value(struct parse *parse, int key, char *value)
{
	struct comet_run_options *options = parse->options;

	switch (key) {
	case KEY_WORKDIR:
		options->workdir = value;
		return 0;
	case KEY_USER:
		options->user = value;
		return 0;
	case KEY_ENV:
		return add_env(parse, value);
	case KEY_TIMEOUT:
		if (comet_run_timeout_parse(value, &options->timeout_ms) == 0)
			return 0;
		return refuse(parse->error, "--timeout ", value,
			      "must be a number of seconds above 0");
	case KEY_ON_VIOLATION:
		return set_on_violation(parse, value);
	case KEY_EVENTS:
		options->events = value;
		return 0;
	case KEY_ISOLATION:
		return set_isolation(parse, value);
	case ARGP_KEY_ARG:
		return set_pack(parse, value);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp;

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct comet_run_options *options = parse->options;
	int err;

	switch (key) {
	case KEY_CLEAR_ENV:
		options->clear_env = true;
		return 0;
	case KEY_AUDIT:
		options->audit = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_QUIET:
		options->quiet = true;
		return 0;
	case KEY_STRICT:
		options->strict = true;
		return 0;
	case 'h':
	case KEY_USAGE:
		options->help = true;
		argp_help(&argp, stdout, key == 'h' ? ARGP_HELP_STD_HELP : ARGP_HELP_STD_USAGE,
			  state->name);
		return 0;
	default:
		err = set_value(parse, key, value);
		return err < 0 ? -err : err;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "PACK -- CMD [ARG...]",
	.doc = "Run CMD and everything it starts under the capability manifest of PACK, a "
	       "directory "
	       "with a soyapack.yaml or a manifest file.\v"
	       "Exit status: that of CMD (128+n when signal n ended it) when nothing was violated; "
	       "2 "
	       "usage or invalid manifest; 3 violation; 6 timeout; 125 could not confine, CMD was "
	       "not run; 126 CMD cannot be executed; 127 CMD not found.",
};

/* Splits at the first "--": what stands after it is the command's, whatever it looks like. */
static int find_command(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (streq(argv[i], "--"))
			break;
	return i;
}

static int check_complete(const struct comet_run_options *options, struct comet_error *error)
{
	if (!options->pack)
		return comet_error_set(
			error, EINVAL,
			"a PACK is missing: comet run [OPTION...] PACK -- CMD [ARG...]");
	if (!options->command || !options->command[0])
		return comet_error_set(error, EINVAL,
				       "a command is missing: comet run [OPTION...] PACK -- CMD "
				       "[ARG...]");
	if (!options->command[0][0])
		return comet_error_set(error, EINVAL, "the command is an empty word");
	if (options->audit && options->isolation == COMET_ISOLATION_CONTAINER)
		return comet_error_set(
			error, EINVAL,
			"--isolation container hides what --audit is to let through: "
			"give one of them");
	return 0;
}

int comet_run_options_parse(int argc, char **argv, struct comet_run_options *options,
			    struct comet_error *error)
{
	static char name[] = "comet run";
	struct parse parse = { .options = options, .error = error };
	_cleanup_free_ char **words = NULL;
	int n = find_command(argc, argv);

	memset(options, 0, sizeof(*options));
	error->text[0] = '\0';
	words = calloc((size_t)n + 1, sizeof(*words));
	if (!words)
		return comet_error_set(error, ENOMEM, "out of memory");
	memcpy(words, argv, (size_t)n * sizeof(*words));
	words[0] = name;
	if (argp_parse(&argp, n, words, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &parse) != 0)
		return -EINVAL;
	if (options->help)
		return 0;
	if (n < argc)
		options->command = argv + n + 1;
	return check_complete(options, error);
}

void comet_run_options_free(struct comet_run_options *options)
{
	free(options->env);
	options->env = NULL;
	options->n_env = 0;
}
