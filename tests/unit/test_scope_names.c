// SPDX-License-Identifier: Apache-2.0
/* Is an event one valid line, whatever bytes a name holds? */
#include "tests/unit/test_scope.h"

static void valid_utf8_is_kept_as_it_is(void **state)
{
	static const char *const names[] = {
		"/w/new\nline",       "/w/quo\"te",          "/w/back\\slash",
		"/w/esc\x1b[31m",     "/w/\xe2\x80\xa8",     "/w/\xe2\x80\xa9",
		"/w/del\x7f\xc2\x85", "/w/\xf0\x9f\x9a\x80", "/w/\xef\xbf\xbf",
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(names); i++) {
		json_t *json;

		set_requested(names[i], strlen(names[i]));
		json = parse_violation();
		assert_string_equal(text(json, "requested"), names[i]);
		assert_null(json_object_get(json, "requested_bytes"));
		json_decref(json);
	}
}

static void assert_bytes(const char *bytes, size_t len, const char *shown, const char *hex)
{
	json_t *json;

	set_requested(bytes, len);
	json = parse_violation();
	assert_string_equal(text(json, "requested"), shown);
	assert_string_equal(text(json, "requested_bytes"), hex);
	assert_non_null(strstr(text(json, "fix"), "cannot name these bytes"));
	json_decref(json);
}

static void other_bytes_are_replaced_and_told_in_hex(void **state)
{
	(void)state;
	assert_bytes("/w/\xff", 4, "/w/\xef\xbf\xbd", "2f772fff");
	assert_bytes("/\xc0\xaf", 3, "/\xef\xbf\xbd\xef\xbf\xbd", "2fc0af");
	assert_bytes("/\xed\xa0\x80", 4, "/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "2feda080");
	assert_bytes("/\xe2\x80", 3, "/\xef\xbf\xbd\xef\xbf\xbd", "2fe280");
	assert_bytes("/\xf4\x90\x80\x80", 5, "/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
		     "2ff4908080");
}

static void a_nul_inside_a_name_is_told_in_hex(void **state)
{
	(void)state;
	assert_bytes("/a\0b", 4,
		     "/a\xef\xbf\xbd"
		     "b",
		     "2f610062");
}

static void a_path_of_4095_bytes_is_whole(void **state)
{
	static const char fillers[] = { 'x', '\xff', '\x1b', '"' };
	char path[4096];

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(fillers); i++) {
		json_t *json;

		for (size_t j = 0; j < sizeof(path) - 1; j++)
			path[j] = j % 200 == 0 ? '/' : fillers[i];
		set_requested(path, sizeof(path) - 1);
		json = parse_violation();
		if (fillers[i] == '\xff')
			assert_int_equal(strlen(text(json, "requested_bytes")), 2 * 4095);
		else
			assert_memory_equal(text(json, "requested"), path, sizeof(path) - 1);
		json_decref(json);
	}
}

static void a_program_may_choose_its_comm(void **state)
{
	json_t *json;

	(void)state;
	memcpy(violation.head.comm, "\x1b[2J\n\xff\"\\xxxxxxxxxxxxx", COMET_COMM_LEN);
	json = parse_violation();
	assert_string_equal(text(json, "comm"), "\x1b[2J\n\xef\xbf\xbd\"\\xxxxxxxx");
	json_decref(json);
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(valid_utf8_is_kept_as_it_is),
		test(other_bytes_are_replaced_and_told_in_hex),
		test(a_nul_inside_a_name_is_told_in_hex),
		test(a_path_of_4095_bytes_is_whole),
		test(a_program_may_choose_its_comm),
	};

	return cmocka_run_group_tests_name("scope_names", tests, NULL, NULL);
}
