// SPDX-License-Identifier: Apache-2.0
/* Is every event one valid line that says what happened, whatever a name holds? */
#include "tests/unit/test_scope.h"

static json_int_t number(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

static void a_violation_says_who_did_what_and_where(void **state)
{
	json_t *json = parse_violation();

	(void)state;
	assert_string_equal(text(json, "kind"), "capability_violation");
	assert_string_equal(text(json, "run_id"), run.id);
	assert_string_equal(text(json, "ts"), "2000-02-28T23:59:59.007Z");
	assert_string_equal(text(json, "pack"), "soya:estate-muse@0.1.0");
	assert_string_equal(text(json, "surface"), "fs.read");
	assert_string_equal(text(json, "requested"), "/etc/shadow");
	assert_string_equal(text(json, "matched"), "no match");
	assert_string_equal(text(json, "op"), "open");
	assert_string_equal(text(json, "errno"), "ENOENT");
	assert_string_equal(text(json, "severity"), "violation");
	assert_string_equal(text(json, "comm"), "python3");
	assert_int_equal(number(json, "layer"), 1);
	assert_int_equal(number(json, "count"), 1);
	assert_int_equal(number(json, "sequence"), 41);
	assert_int_equal(number(json, "pid"), 812);
	assert_int_equal(number(json, "tid"), 813);
	assert_int_equal(number(json, "ppid"), 800);
	assert_int_equal(number(json, "uid"), 1000);
	assert_int_equal(number(json, "cgroup"), 4711);
	assert_string_equal(text(json, "fix"), "capabilities:\n  fs_read:\n    - /etc/shadow");
	json_decref(json);
}

static void the_envelope_comes_first(void **state)
{
	char *line = comet_scope_violation(&run, &violation);

	(void)state;
	assert_non_null(line);
	assert_int_equal(strncmp(line, "{\"kind\":\"capability_violation\",\"run_id\":\"run_", 44),
			 0);
	free(line);
}

static void marks_are_there_only_when_true(void **state)
{
	json_t *json = parse_violation();

	(void)state;
	assert_null(json_object_get(json, "would_deny"));
	assert_null(json_object_get(json, "killed"));
	assert_null(json_object_get(json, "truncated"));
	assert_null(json_object_get(json, "requested_bytes"));
	json_decref(json);

	violation.head.flags = COMET_EVENT_AUDIT | COMET_EVENT_KILLED | COMET_EVENT_TRUNCATED;
	json = parse_violation();
	assert_true(json_is_true(json_object_get(json, "would_deny")));
	assert_true(json_is_true(json_object_get(json, "killed")));
	assert_true(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
}

static void severity_info_is_told_apart(void **state)
{
	json_t *json;

	(void)state;
	violation.head.severity = COMET_SEVERITY_INFO;
	json = parse_violation();
	assert_string_equal(text(json, "severity"), "info");
	json_decref(json);
}

static void errors_have_their_names(void **state)
{
	static const struct {
		int error;
		const char *name;
	} rows[] = {
		{ EACCES, "EACCES" }, { ECONNREFUSED, "ECONNREFUSED" },
		{ EPERM, "EPERM" },   { 4095, "4095" },
		{ 0, "0" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		json_t *json;

		violation.head.error = rows[i].error;
		json = parse_violation();
		assert_string_equal(text(json, "errno"), rows[i].name);
		json_decref(json);
	}
}

static void numbers_beyond_63_bits_stay_positive(void **state)
{
	json_t *json;

	(void)state;
	violation.head.cgroup = UINT64_MAX;
	violation.head.pid = UINT32_MAX;
	json = parse_violation();
	assert_int_equal(number(json, "cgroup"), INT64_MAX);
	assert_int_equal(number(json, "pid"), UINT32_MAX);
	json_decref(json);
}

static bool is_rfc3339(const char *ts)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";
	struct tm tm = { 0 };

	if (strlen(ts) != strlen(form))
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? ts[i] < '0' || ts[i] > '9' : ts[i] != form[i])
			return false;
	return strptime(ts, "%Y-%m-%dT%H:%M:%S", &tm) != NULL;
}

static void times_are_rfc3339_in_utc(void **state)
{
	static const struct timespec times[] = {
		{ 0, 0 },
		{ 951782400, 999999999 },
		{ 1709251199, 500000 },
		{ 253402300799, 0 },
	};
	static const char *const expected[] = {
		"1970-01-01T00:00:00.000Z",
		"2000-02-29T00:00:00.999Z",
		"2024-02-29T23:59:59.000Z",
		"9999-12-31T23:59:59.000Z",
	};

	(void)state;
	setenv("TZ", "Asia/Kathmandu", 1);
	tzset();
	for (size_t i = 0; i < COMET_ARRAY_SIZE(times); i++) {
		json_t *json;

		violation.wall = times[i];
		json = parse_violation();
		assert_true(is_rfc3339(text(json, "ts")));
		assert_string_equal(text(json, "ts"), expected[i]);
		json_decref(json);
	}
	unsetenv("TZ");
	tzset();
}

static void a_start_tells_what_was_started_and_how(void **state)
{
	char program[] = "python3";
	char argument[] = "a\xff\n";
	char *argv[] = { program, argument, NULL };
	json_t *json = parse_line(comet_scope_started(&run, argv, 4321, "/comet-x"));
	const json_t *list = json_object_get(json, "argv");

	(void)state;
	assert_string_equal(text(json, "kind"), "run_started");
	assert_true(is_rfc3339(text(json, "ts")));
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "python3");
	assert_string_equal(json_string_value(json_array_get(list, 1)), "a\xef\xbf\xbd\n");
	assert_int_equal(number(json, "pid"), 4321);
	assert_string_equal(text(json, "cgroup"), "/comet-x");
	assert_string_equal(text(json, "digest"), "abc123");
	assert_string_equal(text(json, "determinism_tier"), "read-only");
	assert_string_equal(text(json, "mode"), "enforce");
	assert_string_equal(text(json, "isolation"), "process");
	assert_string_equal(text(json, "comet_version"), COMET_VERSION);
	assert_true(strlen(text(json, "kernel")) > 0);
	json_decref(json);
}

static void a_start_in_audit_mode_says_so(void **state)
{
	char *argv[] = { NULL };
	json_t *json;

	(void)state;
	run.audit = true;
	run.container = true;
	run.determinism_tier = NULL;
	json = parse_line(comet_scope_started(&run, argv, 1, "/"));
	assert_string_equal(text(json, "mode"), "audit");
	assert_string_equal(text(json, "isolation"), "container");
	assert_null(json_object_get(json, "determinism_tier"));
	assert_int_equal(json_array_size(json_object_get(json, "argv")), 0);
	json_decref(json);
}

static void an_end_tells_the_outcome_and_the_counters(void **state)
{
	const struct comet_scope_end end = {
		.exit_code = 3,
		.status = 0,
		.total_ms = 812,
		.counters = { .denied = 100,
			      .violations = 98,
			      .delivered = 60,
			      .folded = 30,
			      .lost = 10 },
	};
	json_t *json = parse_line(comet_scope_completed(&run, &end));

	(void)state;
	assert_string_equal(text(json, "kind"), "run_completed");
	assert_true(json_is_false(json_object_get(json, "ok")));
	assert_true(json_is_false(json_object_get(json, "timed_out")));
	assert_int_equal(number(json, "exit"), 3);
	assert_int_equal(number(json, "status"), 0);
	assert_int_equal(number(json, "total_ms"), 812);
	assert_int_equal(number(json, "denied"), 100);
	assert_int_equal(number(json, "violations"), 98);
	assert_int_equal(number(json, "delivered"), 60);
	assert_int_equal(number(json, "folded"), 30);
	assert_int_equal(number(json, "lost"), 10);
	json_decref(json);
}

static void an_end_without_a_status_has_null(void **state)
{
	const struct comet_scope_end end = { .exit_code = 6, .status = -1, .timed_out = true };
	json_t *json = parse_line(comet_scope_completed(&run, &end));

	(void)state;
	assert_true(json_is_null(json_object_get(json, "status")));
	assert_true(json_is_true(json_object_get(json, "timed_out")));
	json_decref(json);
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_violation_says_who_did_what_and_where),
		test(the_envelope_comes_first),
		test(marks_are_there_only_when_true),
		test(severity_info_is_told_apart),
		test(errors_have_their_names),
		test(numbers_beyond_63_bits_stay_positive),
		test(times_are_rfc3339_in_utc),
		test(a_start_tells_what_was_started_and_how),
		test(a_start_in_audit_mode_says_so),
		test(an_end_tells_the_outcome_and_the_counters),
		test(an_end_without_a_status_has_null),
	};

	return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
