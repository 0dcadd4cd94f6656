// SPDX-License-Identifier: Apache-2.0
/* Which verb was meant? The table, its help, and nothing else. */
#include "bpf/wire.h"
#include "manifest/util.h"
#include "user/base.h"
#include "user/cmd.h"
#include "user/fault.h"
#include "user/text.h"

static const struct comet_verb verbs[] = {
	{ "run", "[OPTION...] PACK -- CMD [ARG...]", "run a program confined to a pack's manifest",
	  comet_cmd_run },
	{ "pack", "validate|explain PACK", "check a manifest, and show what it grants",
	  comet_cmd_pack },
	{ "doctor", "[--json]", "what this kernel can do, what is missing, how to get it",
	  comet_cmd_doctor },
	{ "version", "", "print the version", comet_cmd_version },
};

static const struct {
	enum comet_exit code;
	const char *meaning;
} exits[] = {
	{ COMET_EXIT_OK, "success; otherwise `run` passes the program's own code on" },
	{ COMET_EXIT_FAILED, "the answer of a reading verb is no" },
	{ COMET_EXIT_USAGE, "usage, or a manifest that does not validate" },
	{ COMET_EXIT_VIOLATION, "the program tried what the manifest does not grant" },
	{ COMET_EXIT_TIMEOUT, "timeout" },
	{ COMET_EXIT_CONFINE, "Comet could not confine: nothing was run" },
	{ COMET_EXIT_NOT_EXECUTABLE, "the program could not be started" },
	{ COMET_EXIT_NOT_FOUND, "the program was not found" },
};

/* Output that did not reach its reader is a failure, as for every filter. */
static int finish(FILE *out, int code)
{
	if (fflush(out) == 0 && !ferror(out))
		return code;
	fprintf(stderr, "comet: cannot write: %s\n", strerror(errno));
	return COMET_EXIT_FAILED;
}

static int print_help(FILE *out, int code)
{
	fputs("usage: comet VERB [ARG...]\n"
	      "Holds a program to the capability manifest of its pack.\n\nverbs:\n",
	      out);
	for (size_t i = 0; i < COMET_ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-8s %-34s %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
	fputs("  help     [VERB]                             this text, or the help of a verb\n"
	      "\nexit codes:\n",
	      out);
	for (size_t i = 0; i < COMET_ARRAY_SIZE(exits); i++)
		fprintf(out, "  %-8d %s\n", (int)exits[i].code, exits[i].meaning);
	return finish(out, code);
}

int comet_cmd_version(int argc, char **argv)
{
	if (argc == 2 && streq(argv[1], "--help")) {
		puts("usage: comet version");
		return finish(stdout, COMET_EXIT_OK);
	}
	if (argc > 1) {
		fputs("comet: version takes no arguments\n", stderr);
		return COMET_EXIT_USAGE;
	}
	printf("comet %s (wire %d)\n", COMET_VERSION, COMET_WIRE_VERSION);
	return finish(stdout, COMET_EXIT_OK);
}

static const struct comet_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(verbs); i++)
		if (streq(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static int reject(const char *name)
{
	const char *names[COMET_ARRAY_SIZE(verbs) + 1];
	_cleanup_free_ char *quoted = comet_text_quote(name, strlen(name));
	const char *meant;

	for (size_t i = 0; i < COMET_ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	names[COMET_ARRAY_SIZE(verbs)] = "help";
	meant = comet_suggest(name, strlen(name), names, COMET_ARRAY_SIZE(names));
	if (meant)
		fprintf(stderr, "comet: there is no verb %s; did you mean %s?\n",
			quoted ? quoted : "so named", meant);
	else
		fprintf(stderr, "comet: there is no verb %s; `comet help` lists them\n",
			quoted ? quoted : "so named");
	return COMET_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	char help_option[] = "--help";
	const struct comet_verb *verb;

	comet_fault_read();
	if (argc < 2)
		return print_help(stderr, COMET_EXIT_USAGE);
	if (streq(argv[1], "--version"))
		return comet_cmd_version(argc - 1, argv + 1);
	if (streq(argv[1], "--help") || streq(argv[1], "-h") || streq(argv[1], "help")) {
		if (argc == 2)
			return print_help(stdout, COMET_EXIT_OK);
		if (streq(argv[2], "help") || streq(argv[2], "--help"))
			return print_help(stdout, COMET_EXIT_OK);
		verb = find_verb(argv[2]);
		if (!verb)
			return reject(argv[2]);
		return verb->fn(2, (char *[]){ argv[2], help_option, NULL });
	}
	verb = find_verb(argv[1]);
	return verb ? verb->fn(argc - 1, argv + 1) : reject(argv[1]);
}
