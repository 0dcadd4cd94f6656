// SPDX-License-Identifier: Apache-2.0
/* What does a person at a terminal read, whatever bytes a name holds? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/base.h"
#include "user/scope.h"

static struct comet_violation violation;
static struct comet_scope_run run;

static int start(void **state)
{
	(void)state;
	run = (struct comet_scope_run){
		.id = "run_01jdzn3v0000000000000000aa",
		.pack = "estate-muse@0.1.0",
		.digest = "abc123",
		.dialect = COMET_DIALECT_GO,
		.determinism_tier = "read-only",
		.manifest_file = "soyapack.yaml",
	};
	memset(&violation, 0, sizeof(violation));
	violation.head = (struct comet_event){
		.version = COMET_WIRE_VERSION,
		.sequence = 41,
		.cgroup = 4711,
		.count = 1,
		.pid = 812,
		.tid = 813,
		.ppid = 800,
		.uid = 1000,
		.error = ENOENT,
		.layer = 1,
		.surface = COMET_SURFACE_FS_READ,
		.op = COMET_OP_OPEN,
		.severity = COMET_SEVERITY_VIOLATION,
		.tail = COMET_TAIL_PATH,
		.comm = "python3",
	};
	violation.wall = (struct timespec){ .tv_sec = 951782399, .tv_nsec = 7999999 };
	violation.requested_len =
		(size_t)snprintf(violation.requested, sizeof(violation.requested), "/etc/shadow");
	return 0;
}

static void set_requested(const char *bytes, size_t len)
{
	assert_true(len < sizeof(violation.requested));
	memcpy(violation.requested, bytes, len);
	violation.requested[len] = '\0';
	violation.requested_len = len;
}

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
			   "to allow, add to the manifest:\n"
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
	assert_non_null(strstr(line, "add to the manifest:\n"));
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
