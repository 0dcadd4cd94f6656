// SPDX-License-Identifier: Apache-2.0
/* Do names of runs sort by time, and are they never twice the same? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/base.h"
#include "user/scope.h"
#include "user/ulid.h"

static void ulids_are_crockford_base32(void **state)
{
	const uint8_t zeros[COMET_ULID_RANDOM] = { 0 };
	uint8_t ones[COMET_ULID_RANDOM];
	char text_of[COMET_ULID_LEN + 1];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	comet_ulid_format(0, zeros, text_of);
	assert_string_equal(text_of, "00000000000000000000000000");
	comet_ulid_format((1ULL << 48) - 1, ones, text_of);
	assert_string_equal(text_of, "7zzzzzzzzzzzzzzzzzzzzzzzzz");
	/* The time of the example in the ULID specification. */
	comet_ulid_format(1469918176385ULL, zeros, text_of);
	assert_string_equal(text_of, "01aryz6s410000000000000000");
}

static void ulids_sort_by_time(void **state)
{
	uint8_t random[COMET_ULID_RANDOM];
	char last[COMET_ULID_LEN + 1] = "";
	char next[COMET_ULID_LEN + 1];

	(void)state;
	for (uint64_t ms = 1700000000000ULL; ms < 1700000000000ULL + (1ULL << 30); ms += 999983) {
		memset(random, (int)(0xff - ms % 256), sizeof(random));
		comet_ulid_format(ms, random, next);
		assert_true(strcmp(last, next) < 0);
		memcpy(last, next, sizeof(last));
	}
}

static void run_ids_are_unique_and_well_formed(void **state)
{
	char first[COMET_RUN_ID_LEN + 1];
	char second[COMET_RUN_ID_LEN + 1];

	(void)state;
	assert_int_equal(comet_scope_new_run_id(first), 0);
	usleep(2000);
	assert_int_equal(comet_scope_new_run_id(second), 0);
	assert_int_equal(strlen(first), COMET_RUN_ID_LEN);
	assert_int_equal(strncmp(first, "run_", 4), 0);
	assert_int_equal(strspn(first + 4, "0123456789abcdefghjkmnpqrstvwxyz"), COMET_ULID_LEN);
	assert_true(strcmp(first, second) < 0);
}

#define test(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(ulids_are_crockford_base32),
		test(ulids_sort_by_time),
		test(run_ids_are_unique_and_well_formed),
	};

	return cmocka_run_group_tests_name("ulid", tests, NULL, NULL);
}
