// SPDX-License-Identifier: Apache-2.0
/* What does a person at a terminal read, whatever bytes a name holds? */
#include "tests/unit/test_scope.h"

static void assert_text(bool colour, const char *expected)
{
	char *line = comet_scope_violation_text(&run, &violation, colour);

	assert_non_null(line);
	assert_string_equal(line, expected);
	free(line);
}

static void a_person_reads_one_short_line_and_the_fix(void **state)
{
	(void)state;
	assert_text(false, "comet: denied fs.read /etc/shadow (open, python3[812]): not declared; "
			   "to allow, merge into the manifest:\n"
			   "    capabilities:\n      fs_read:\n        - /etc/shadow");
}

static void a_person_reads_why_nothing_can_be_added(void **state)
{
	(void)state;
	violation.head.surface = COMET_SURFACE_TIME;
	violation.head.op = COMET_OP_SETTIME;
	violation.head.tail = COMET_TAIL_NONE;
	violation.head.count = 5;
	violation.head.flags = COMET_EVENT_KILLED;
	set_requested("settime", 7);
	assert_text(false, "comet: denied time settime (settime, python3[812], 5 times, killed): "
			   "no manifest can grant setting the clock");
}

static void a_person_reads_would_deny_in_audit_mode(void **state)
{
	(void)state;
	violation.head.flags = COMET_EVENT_AUDIT;
	violation.head.severity = COMET_SEVERITY_INFO;
	assert_text(false, "comet: would deny fs.read /etc/shadow (open, python3[812]): an "
			   "ordinary probe, not counted as a violation");
}

static void colour_is_only_on_the_verdict_and_only_when_told(void **state)
{
	(void)state;
	violation.head.severity = COMET_SEVERITY_INFO;
	assert_text(true, "comet: \x1b[2mdenied\x1b[0m fs.read /etc/shadow (open, python3[812]): "
			  "an ordinary probe, not counted as a violation");
}

static void a_name_cannot_move_the_cursor_or_forge_a_line(void **state)
{
	static const char name[] = "/w/\x1b[2J\ncomet: all is well\xff\xe2\x80\xae\xc2\x9b";
	char *line;

	(void)state;
	set_requested(name, strlen(name));
	memcpy(violation.head.comm, "a\x1b[31m\nb", 9);
	violation.head.severity = COMET_SEVERITY_INFO;
	line = comet_scope_violation_text(&run, &violation, false);
	assert_non_null(line);
	assert_non_null(strstr(line, "\"/w/\\x1b[2J\\ncomet: all is well\\xff\\u202e\\u009b\""));
	assert_non_null(strstr(line, "\"a\\x1b[31m\\nb\"[812]"));
	for (const char *c = line; *c; c++)
		assert_true(*c >= 0x20 && *c < 0x7f);
	free(line);
}

static void a_fix_for_a_person_has_no_control_characters(void **state)
{
	static const char name[] = "/w/\x1b[2J\n\xe2\x80\xa8\xc2\x9b";
	char *line;

	(void)state;
	set_requested(name, strlen(name));
	line = comet_scope_violation_text(&run, &violation, false);
	assert_non_null(line);
	assert_non_null(strstr(line, "merge into the manifest:\n"));
	for (const char *c = line; *c; c++)
		assert_true((*c >= 0x20 && *c < 0x7f) || *c == '\n');
	free(line);
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_person_reads_one_short_line_and_the_fix),
		test(a_person_reads_why_nothing_can_be_added),
		test(a_person_reads_would_deny_in_audit_mode),
		test(colour_is_only_on_the_verdict_and_only_when_told),
		test(a_name_cannot_move_the_cursor_or_forge_a_line),
		test(a_fix_for_a_person_has_no_control_characters),
	};

	return cmocka_run_group_tests_name("scope_text", tests, NULL, NULL);
}
