// SPDX-License-Identifier: Apache-2.0
/* Do both sides of the border read the same bytes? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/wire.h"
#include "user/base.h"
#include "user/events.h"

#define assert_offset(type, field, value) assert_int_equal(offsetof(struct type, field), value)

/* Moving a field is a new COMET_WIRE_VERSION: this test is where that is noticed. */
static void event_fields_stand_where_version_1_put_them(void **state)
{
	(void)state;
	assert_int_equal(COMET_WIRE_VERSION, 2);
	assert_offset(comet_event, version, 0);
	assert_offset(comet_event, policy, 4);
	assert_offset(comet_event, sequence, 8);
	assert_offset(comet_event, time, 16);
	assert_offset(comet_event, cgroup, 24);
	assert_offset(comet_event, count, 32);
	assert_offset(comet_event, pid, 40);
	assert_offset(comet_event, tid, 44);
	assert_offset(comet_event, ppid, 48);
	assert_offset(comet_event, uid, 52);
	assert_offset(comet_event, error, 56);
	assert_offset(comet_event, flags, 60);
	assert_offset(comet_event, layer, 64);
	assert_offset(comet_event, surface, 65);
	assert_offset(comet_event, op, 66);
	assert_offset(comet_event, severity, 67);
	assert_offset(comet_event, tail, 68);
	assert_offset(comet_event, tail_len, 70);
	assert_offset(comet_event, comm, 72);
}

static void tails_follow_the_header_without_a_gap(void **state)
{
	(void)state;
	assert_offset(comet_event_small, tail, sizeof(struct comet_event));
	assert_offset(comet_event_large, tail, sizeof(struct comet_event));
	assert_int_equal(sizeof(struct comet_event_small),
			 sizeof(struct comet_event) + COMET_TAIL_SMALL);
	assert_int_equal(sizeof(struct comet_event_large),
			 sizeof(struct comet_event) + COMET_TAIL_LARGE);
}

static void address_fields_stand_where_version_1_put_them(void **state)
{
	(void)state;
	assert_offset(comet_addr, family, 0);
	assert_offset(comet_addr, type, 2);
	assert_offset(comet_addr, protocol, 4);
	assert_offset(comet_addr, port, 6);
	assert_offset(comet_addr, addr, 8);
	assert_offset(comet_addr, scope_id, 24);
	assert_offset(comet_addr, path_len, 28);
	assert_offset(comet_addr, path, 32);
}

/* The trie compares bits from the first byte after prefixlen. */
static void fixed_part_of_a_net_key_ends_where_the_address_begins(void **state)
{
	(void)state;
	assert_int_equal(
		8 * (offsetof(struct comet_net_key, addr) - offsetof(struct comet_net_key, policy)),
		COMET_NET_FIXED_BITS);
	assert_offset(comet_net_key, prefixlen, 0);
}

static void tail_length_and_text_fit_their_fields(void **state)
{
	struct comet_violation v;

	(void)state;
	assert_true(COMET_TAIL_LARGE <= UINT16_MAX);
	/* "…" before and a NUL behind the longest path. */
	assert_true(sizeof(v.requested) > COMET_TAIL_LARGE + strlen("\xe2\x80\xa6"));
	assert_true(sizeof(((struct comet_addr *)0)->path) >= COMET_UNIX_PATH_MAX);
}

static void a_chain_of_chunks_holds_the_longest_name(void **state)
{
	(void)state;
	assert_true(COMET_NAME_CHUNKS * COMET_NAME_CHUNK >= COMET_NAME_MAX);
	assert_true((COMET_NAME_CHUNKS - 1) * COMET_NAME_CHUNK < COMET_NAME_MAX);
	assert_int_equal(sizeof(((struct comet_name_key *)0)->name), COMET_NAME_CHUNK);
}

static void rights_and_marks_are_distinct_bits(void **state)
{
	const unsigned int bits[] = { COMET_FS_READ,    COMET_FS_WRITE, COMET_FS_EXEC,
				      COMET_FS_STAT,    COMET_FS_QUIET, COMET_FS_CANARY,
				      COMET_FS_SELFTEST };
	unsigned int seen = 0;

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(bits); i++) {
		assert_int_equal(__builtin_popcount(bits[i]), 1);
		assert_false(seen & bits[i]);
		seen |= bits[i];
	}
	assert_false(COMET_EVENT_AUDIT & COMET_EVENT_TRUNCATED);
	assert_false((COMET_EVENT_AUDIT | COMET_EVENT_TRUNCATED) & COMET_EVENT_KILLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_fields_stand_where_version_1_put_them),
		cmocka_unit_test(tails_follow_the_header_without_a_gap),
		cmocka_unit_test(address_fields_stand_where_version_1_put_them),
		cmocka_unit_test(fixed_part_of_a_net_key_ends_where_the_address_begins),
		cmocka_unit_test(tail_length_and_text_fit_their_fields),
		cmocka_unit_test(a_chain_of_chunks_holds_the_longest_name),
		cmocka_unit_test(rights_and_marks_are_distinct_bits),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
