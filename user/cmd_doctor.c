// SPDX-License-Identifier: Apache-2.0
/* What can this kernel do, what is missing, and how does one get it? `comet doctor`. */
#include <bpf/libbpf.h>
#include <getopt.h>
#include <jansson.h>
#include <sys/utsname.h>

#include "bpf/wire.h"
#include "manifest/util.h"
#include "user/base.h"
#include "user/cmd.h"
#include "user/probe.h"
#include "user/text.h"

#define RED "\x1b[31m"
#define GREEN "\x1b[32m"
#define RESET "\x1b[0m"

#define HELP                                                                                       \
	"usage: comet doctor [--json]\n"                                                           \
	"Tells whether `comet run` can confine programs here, check by check and hook\n"           \
	"by hook. Exit code 0: it can, 1: it cannot.\n"

struct report {
	struct comet_check checks[COMET_CHECKS_MAX];
	size_t n_checks;
	int *present; /* per row of comet_hooks: as comet_probe_hook() says */
	bool ok;
	char kernel[sizeof(((struct utsname *)0)->release)];
};

static bool hook_is_fine(const struct report *report, size_t i)
{
	return report->present[i] == 1 || !comet_hooks[i].required;
}

static void fill(struct report *report)
{
	struct utsname kernel;

	report->n_checks = comet_probe_host(report->checks);
	report->ok = true;
	for (size_t i = 0; i < report->n_checks; i++)
		report->ok = report->ok && report->checks[i].ok;
	for (size_t i = 0; i < comet_n_hooks; i++) {
		report->present[i] = comet_probe_hook(&comet_hooks[i]);
		report->ok = report->ok && hook_is_fine(report, i);
	}
	snprintf(report->kernel, sizeof(report->kernel), "%s",
		 uname(&kernel) == 0 ? kernel.release : "unknown");
}

static void print_state(bool good, const char *word, int width, bool colour)
{
	printf("%s%-*s%s", colour ? (good ? GREEN : RED) : "", width, word, colour ? RESET : "");
}

static const char *presence(int present)
{
	return present == 1 ? "present" : present == 0 ? "absent" : "unknown";
}

static void print_hook(const struct report *report, size_t i, bool colour)
{
	const struct comet_hook *hook = &comet_hooks[i];

	printf("  %-30s", hook->target);
	print_state(hook_is_fine(report, i), presence(report->present[i]), 9, colour);
	printf("%-10s%s", hook->required ? "required" : "optional", hook->needed_for);
	if (hook->instead)
		printf(" (where absent: %s)", hook->instead);
	putchar('\n');
}

/* The list is longer than a screen, so what is missing is named again where the eye ends. */
static void print_verdict(const struct report *report)
{
	const char *before = ": missing ";

	printf("\ncomet run %s confine programs here", report->ok ? "can" : "cannot");
	for (size_t i = 0; i < report->n_checks; i++) {
		if (report->checks[i].ok)
			continue;
		printf("%s%s", before, report->checks[i].name);
		before = ", ";
	}
	for (size_t i = 0; i < comet_n_hooks; i++) {
		if (hook_is_fine(report, i))
			continue;
		printf("%s%s", before, comet_hooks[i].target);
		before = ", ";
	}
	putchar('\n');
}

static void print_text(const struct report *report)
{
	bool colour = comet_wants_colour(stdout);

	printf("comet %s on Linux %s\n\nhost\n", COMET_VERSION, report->kernel);
	for (size_t i = 0; i < report->n_checks; i++) {
		const struct comet_check *check = &report->checks[i];

		printf("  %-14s", check->name);
		print_state(check->ok, check->ok ? "ok" : "missing", 9, colour);
		printf("%s\n", check->found);
		if (!check->ok)
			printf("  %-14s%-9s-> %s\n", "", "", check->remedy);
	}
	puts("\nkernel hooks");
	for (size_t i = 0; i < comet_n_hooks; i++)
		print_hook(report, i, colour);
	print_verdict(report);
}

/* A mount point may have any name, JSON only UTF-8. */
static json_t *check_to_json(const struct comet_check *check)
{
	_cleanup_free_ char *found = comet_text_to_utf8(check->found, strlen(check->found));
	_cleanup_free_ char *remedy = comet_text_to_utf8(check->remedy, strlen(check->remedy));

	return json_pack("{s:s, s:b, s:s, s:s}", "name", check->name, "ok", check->ok, "found",
			 found, "remedy", remedy);
}

static json_t *checks_to_json(const struct report *report)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report->n_checks; i++)
		json_array_append_new(list, check_to_json(&report->checks[i]));
	return list;
}

static json_t *hook_to_json(const struct report *report, size_t i)
{
	const struct comet_hook *hook = &comet_hooks[i];

	return json_pack("{s:s, s:s, s:s, s:b, s:s, s:s?}", "program", hook->program, "target",
			 hook->target, "state", presence(report->present[i]), "required",
			 hook->required, "needed_for", hook->needed_for, "instead", hook->instead);
}

static json_t *hooks_to_json(const struct report *report)
{
	json_t *list = json_array();

	for (size_t i = 0; i < comet_n_hooks; i++)
		json_array_append_new(list, hook_to_json(report, i));
	return list;
}

static int print_json(const struct report *report)
{
	json_t *doc = json_pack("{s:b, s:s, s:i, s:s, s:o, s:o}", "ok", report->ok, "comet_version",
				COMET_VERSION, "wire", COMET_WIRE_VERSION, "kernel", report->kernel,
				"checks", checks_to_json(report), "hooks", hooks_to_json(report));
	int r = doc ? json_dumpf(doc, stdout, JSON_INDENT(2)) : -1;

	putchar('\n');
	json_decref(doc);
	return r;
}

static int run_doctor(bool json)
{
	_cleanup_free_ int *present = calloc(comet_n_hooks, sizeof(*present));
	struct report report = { .present = present };

	if (!present) {
		fputs("comet: out of memory\n", stderr);
		return COMET_EXIT_FAILED;
	}
	libbpf_set_print(NULL);
	fill(&report);
	if (!json)
		print_text(&report);
	else if (print_json(&report) < 0) {
		fputs("comet: cannot print the report\n", stderr);
		return COMET_EXIT_FAILED;
	}
	return report.ok ? COMET_EXIT_OK : COMET_EXIT_FAILED;
}

int comet_cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool json = false;
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(HELP, stdout);
			return COMET_EXIT_OK;
		}
		if (c != 'j') {
			fputs("comet: doctor knows only --json and --help\n", stderr);
			return COMET_EXIT_USAGE;
		}
		json = true;
	}
	if (optind < argc) {
		fputs("comet: doctor takes no arguments\n", stderr);
		return COMET_EXIT_USAGE;
	}
	return run_doctor(json);
}
