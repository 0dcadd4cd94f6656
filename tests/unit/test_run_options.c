// SPDX-License-Identifier: Apache-2.0
/* Does `comet run` understand its command line, and refuse what it does not? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/run_options.h"

#define WORDS(...) ((char **)(const char *[]){ "run", __VA_ARGS__, NULL })

static int count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static void parse(char **argv, struct comet_run_options *options)
{
	struct comet_error error;

	if (comet_run_options_parse(count(argv), argv, options, &error) != 0)
		fail_msg("refused: %s", error.text);
}

static void assert_refused(char **argv, const char *part)
{
	struct comet_run_options options;
	struct comet_error error;

	assert_int_equal(comet_run_options_parse(count(argv), argv, &options, &error), -EINVAL);
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
	comet_run_options_free(&options);
}

static void shortest_line_has_the_defaults(void **state)
{
	struct comet_run_options o;

	(void)state;
	parse(WORDS("pack", "--", "true"), &o);
	assert_string_equal(o.pack, "pack");
	assert_string_equal(o.command[0], "true");
	assert_null(o.command[1]);
	assert_null(o.workdir);
	assert_null(o.user);
	assert_null(o.events);
	assert_int_equal(o.n_env, 0);
	assert_int_equal(o.timeout_ms, 0);
	assert_int_equal(o.isolation, COMET_ISOLATION_UNSET);
	assert_false(o.clear_env || o.audit || o.kill || o.json || o.quiet || o.strict || o.help);
	comet_run_options_free(&o);
}

static void every_option_reaches_its_field(void **state)
{
	struct comet_run_options o;

	(void)state;
	parse(WORDS("--workdir", "w", "--user=u:g", "--env", "A=1", "--env=B=", "--clear-env",
		    "--timeout=1.5", "--audit", "--on-violation=kill", "--events", "-", "--json",
		    "--quiet", "--isolation=process", "--strict", "pack", "--", "cmd"),
	      &o);
	assert_string_equal(o.workdir, "w");
	assert_string_equal(o.user, "u:g");
	assert_int_equal(o.n_env, 2);
	assert_string_equal(o.env[0], "A=1");
	assert_string_equal(o.env[1], "B=");
	assert_int_equal(o.timeout_ms, 1500);
	assert_string_equal(o.events, "-");
	assert_int_equal(o.isolation, COMET_ISOLATION_PROCESS);
	assert_true(o.clear_env && o.audit && o.kill && o.json && o.quiet && o.strict);
	comet_run_options_free(&o);
	parse(WORDS("--isolation=container", "pack", "--", "cmd"), &o);
	assert_int_equal(o.isolation, COMET_ISOLATION_CONTAINER);
	comet_run_options_free(&o);
}

static void options_may_follow_the_pack_but_not_the_dashes(void **state)
{
	struct comet_run_options o;

	(void)state;
	parse(WORDS("pack", "--quiet", "--", "cmd", "--json", "--", "x"), &o);
	assert_true(o.quiet);
	assert_false(o.json);
	assert_string_equal(o.command[1], "--json");
	assert_string_equal(o.command[2], "--");
	assert_string_equal(o.command[3], "x");
	comet_run_options_free(&o);
}

static void on_violation_deny_is_the_default_spelt_out(void **state)
{
	struct comet_run_options o;

	(void)state;
	parse(WORDS("--on-violation=deny", "p", "--", "c"), &o);
	assert_false(o.kill);
	comet_run_options_free(&o);
}

static void incomplete_lines_are_refused(void **state)
{
	(void)state;
	assert_refused(WORDS("pack", "true"), "one PACK only");
	assert_refused(WORDS("pack"), "a command is missing");
	assert_refused(WORDS("pack", "--"), "a command is missing");
	assert_refused(WORDS("--", "true"), "a PACK is missing");
	assert_refused(WORDS("pack", "--", ""), "empty word");
}

static void wrong_values_are_refused_by_name(void **state)
{
	(void)state;
	assert_refused(WORDS("--env", "A", "p", "--", "c"), "--env A");
	assert_refused(WORDS("--env", "=1", "p", "--", "c"), "NAME=VALUE");
	assert_refused(WORDS("--timeout", "0", "p", "--", "c"), "--timeout 0");
	assert_refused(WORDS("--on-violation=ask", "p", "--", "c"), "must be deny or kill");
	assert_refused(WORDS("--isolation=vm", "p", "--", "c"), "must be process or container");
	assert_refused(WORDS("--isolation=container", "--audit", "p", "--", "c"),
		       "give one of them");
	assert_refused(WORDS("--isolation=microvm", "p", "--", "c"), "not a VM monitor");
	assert_refused(WORDS("--timeout", "1\033[2J", "p", "--", "c"), "\\x1b");
}

static void unknown_options_are_refused(void **state)
{
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	(void)state;
	/* argp says it itself. */
	dup2(null, STDERR_FILENO);
	assert_refused(WORDS("--bogus", "p", "--", "c"), "");
	assert_refused(WORDS("--workdir"), "");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
}

static void timeouts_are_plain_seconds(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{ "1", 1000 },   { "0.25", 250 },    { ".5", 500 },         { "2.", 2000 },
		{ "0.0001", 1 }, { "1.0005", 1001 }, { "86400", 86400000 },
	};
	static const char *const wrong[] = { "",    "0",  "-1",    "+1",         " 1",
					     "1 ",  "1s", "inf",   "nan",        "0x1",
					     "1e3", ".",  "1.2.3", "99999999999" };
	int64_t ms;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(comet_run_timeout_parse(rows[i].text, &ms), 0);
		assert_int_equal(ms, rows[i].ms);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (comet_run_timeout_parse(wrong[i], &ms) != -EINVAL)
			fail_msg("\"%s\" was accepted", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortest_line_has_the_defaults),
		cmocka_unit_test(every_option_reaches_its_field),
		cmocka_unit_test(options_may_follow_the_pack_but_not_the_dashes),
		cmocka_unit_test(on_violation_deny_is_the_default_spelt_out),
		cmocka_unit_test(incomplete_lines_are_refused),
		cmocka_unit_test(wrong_values_are_refused_by_name),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(timeouts_are_plain_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
