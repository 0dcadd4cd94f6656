// SPDX-License-Identifier: Apache-2.0
/* Does the self-test accept the right refusals and nothing else? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/selftest.h"

static const struct comet_selftest refused = { ENOENT, ECONNREFUSED, EACCES };

static void assert_failed(struct comet_selftest result, const char *what, const char *how)
{
	struct comet_error error = { "" };

	assert_int_equal(comet_selftest_judge(&result, &error), -EPERM);
	if (!strstr(error.text, what) || !strstr(error.text, how))
		fail_msg("\"%s\" does not say \"%s\" and \"%s\"", error.text, what, how);
}

static void the_three_right_refusals_pass(void **state)
{
	struct comet_error error;

	(void)state;
	assert_int_equal(comet_selftest_judge(&refused, &error), 0);
}

static void what_was_let_through_is_named(void **state)
{
	struct comet_selftest result = refused;

	(void)state;
	result.open_error = 0;
	assert_failed(result, "opening an undeclared file", "let through");
	result = refused;
	result.connect_error = 0;
	assert_failed(result, "connecting", "let through");
	result = refused;
	result.exec_error = ENOEXEC;
	assert_failed(result, "executing", "format error");
}

/* Refused by somebody else: that proves nothing. */
static void another_errno_does_not_pass(void **state)
{
	struct comet_selftest result = refused;

	(void)state;
	result.open_error = EACCES;
	assert_failed(result, "opening", "ENOENT");
	result = refused;
	result.connect_error = ENETUNREACH;
	assert_failed(result, "connecting", "ECONNREFUSED");
	result = refused;
	result.exec_error = ETXTBSY;
	assert_failed(result, "executing", "EACCES");
}

/* Nothing holds this process, so the probes must say so; the exec finds an empty file. */
static void an_unheld_process_fails_it(void **state)
{
	char canary[] = "/tmp/comet-selftest-XXXXXX";
	struct comet_selftest result = { 0 };
	struct comet_error error;
	int fd = mkstemp(canary);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0755), 0);
	close(fd);
	comet_selftest_probe(canary, &result);
	unlink(canary);
	assert_int_equal(result.open_error, 0);
	assert_int_not_equal(result.connect_error, ECONNREFUSED);
	assert_int_not_equal(result.exec_error, EACCES);
	assert_int_equal(comet_selftest_judge(&result, &error), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_three_right_refusals_pass),
		cmocka_unit_test(what_was_let_through_is_named),
		cmocka_unit_test(another_errno_does_not_pass),
		cmocka_unit_test(an_unheld_process_fails_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
