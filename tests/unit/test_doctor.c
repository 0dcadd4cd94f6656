// SPDX-License-Identifier: Apache-2.0
/* Does `comet doctor` say in words, in JSON and by its exit code one and the same thing? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>

#include "user/base.h"
#include "user/cmd.h"
#include "user/probe.h"

static char output[65536];

/* Runs the verb with one argument (NULL: none) and keeps what it prints on standard output. */
static int doctor(const char *argument)
{
	char verb[] = "doctor";
	char option[32] = "";
	char *argv[] = { verb, argument ? option : NULL, NULL };
	FILE *file = tmpfile();
	int saved;
	int code;

	assert_non_null(file);
	snprintf(option, sizeof(option), "%s", argument ? argument : "");
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	code = comet_cmd_doctor(argument ? 2 : 1, argv);
	fflush(stdout);
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	close(saved);
	rewind(file);
	output[fread(output, 1, sizeof(output) - 1, file)] = '\0';
	fclose(file);
	return code;
}

static void every_check_and_hook_is_in_the_words(void **state)
{
	struct comet_check checks[COMET_CHECKS_MAX];
	size_t n = comet_probe_host(checks);
	int code = doctor(NULL);

	(void)state;
	assert_true(code == COMET_EXIT_OK || code == COMET_EXIT_FAILED);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(strstr(output, checks[i].name));
		assert_non_null(strstr(output, checks[i].remedy));
	}
	for (size_t i = 0; i < comet_n_hooks; i++)
		assert_non_null(strstr(output, comet_hooks[i].target));
	assert_non_null(strstr(output, code == COMET_EXIT_OK ? "comet run can confine"
							     : "comet run cannot confine"));
	/* It went to a file: no colours. */
	assert_null(strchr(output, '\x1b'));
}

static bool all_fine(const json_t *doc)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(doc, "checks"), i,
			   row) if (!json_is_true(json_object_get(row, "ok"))) return false;
	json_array_foreach(json_object_get(doc, "hooks"), i,
			   row) if (json_is_true(json_object_get(row, "required")) &&
				    !streq(json_string_value(json_object_get(row, "state")),
					   "present")) return false;
	return true;
}

static void json_and_exit_code_agree(void **state)
{
	int code = doctor("--json");
	json_t *doc = json_loads(output, JSON_REJECT_DUPLICATES, NULL);
	struct comet_check checks[COMET_CHECKS_MAX];

	(void)state;
	assert_non_null(doc);
	assert_int_equal(json_array_size(json_object_get(doc, "checks")), comet_probe_host(checks));
	assert_int_equal(json_array_size(json_object_get(doc, "hooks")), comet_n_hooks);
	assert_string_equal(json_string_value(json_object_get(doc, "comet_version")),
			    COMET_VERSION);
	assert_int_equal(json_is_true(json_object_get(doc, "ok")), all_fine(doc));
	assert_int_equal(code, all_fine(doc) ? COMET_EXIT_OK : COMET_EXIT_FAILED);
	json_decref(doc);
}

static void help_is_given_and_nonsense_refused(void **state)
{
	(void)state;
	assert_int_equal(doctor("--help"), COMET_EXIT_OK);
	assert_non_null(strstr(output, "usage: comet doctor"));
	assert_int_equal(doctor("--jsn"), COMET_EXIT_USAGE);
	assert_string_equal(output, "");
	assert_int_equal(doctor("now"), COMET_EXIT_USAGE);
	assert_string_equal(output, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_check_and_hook_is_in_the_words),
		cmocka_unit_test(json_and_exit_code_agree),
		cmocka_unit_test(help_is_given_and_nonsense_refused),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
