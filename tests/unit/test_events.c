// SPDX-License-Identifier: Apache-2.0
/* Does a record mean what it says, and is one that cannot be true refused? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>

#include "user/base.h"
#include "user/events.h"

static struct comet_event_large record;
static struct comet_violation violation;

static int start(void **state)
{
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_BOOTTIME, &now);
	memset(&record, 0, sizeof(record));
	memset(&violation, 0xa5, sizeof(violation));
	record.head = (struct comet_event){
		.version = COMET_WIRE_VERSION,
		.policy = 7,
		.sequence = 1,
		.time = (__u64)now.tv_sec * 1000000000ULL + (__u64)now.tv_nsec,
		.count = 1,
		.pid = 812,
		.error = ENOENT,
		.surface = COMET_SURFACE_FS_READ,
		.op = COMET_OP_OPEN,
		.severity = COMET_SEVERITY_VIOLATION,
		.comm = "python3",
	};
	return 0;
}

static int decode(void)
{
	return comet_events_decode(&record, sizeof(record), &violation);
}

static void set_tail(enum comet_tail kind, const void *bytes, size_t len)
{
	assert_true(len <= sizeof(record.tail));
	record.head.tail = (__u8)kind;
	record.head.tail_len = (__u16)len;
	memcpy(record.tail, bytes, len);
}

static void the_header_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(decode(), 0);
	assert_memory_equal(&violation.head, &record.head, sizeof(record.head));
}

static void a_record_may_be_as_short_as_its_tail(void **state)
{
	size_t size = sizeof(struct comet_event) + 11;

	(void)state;
	set_tail(COMET_TAIL_PATH, "shadow\0etc", 11);
	assert_int_equal(comet_events_decode(&record, size, &violation), 0);
	assert_int_equal(comet_events_decode(&record, size - 1, &violation), -EINVAL);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
	char big[sizeof(record) + 1] = { 0 };

	(void)state;
	memcpy(big, &record, sizeof(record));
	assert_int_equal(comet_events_decode(big, sizeof(record), &violation), 0);
	assert_int_equal(comet_events_decode(big, sizeof(big), &violation), -EINVAL);
	assert_int_equal(comet_events_decode(big, sizeof(record.head), &violation), 0);
	assert_int_equal(comet_events_decode(big, sizeof(record.head) - 1, &violation), -EINVAL);
	assert_int_equal(comet_events_decode(big, 0, &violation), -EINVAL);
	record.head.tail_len = COMET_TAIL_LARGE + 1;
	assert_int_equal(decode(), -EINVAL);
}

#define assert_field_refused(field, good, bad)                                                     \
	do {                                                                                       \
		record.head.field = (good);                                                        \
		assert_int_equal(decode(), 0);                                                     \
		record.head.field = (bad);                                                         \
		assert_int_equal(decode(), -EINVAL);                                               \
		record.head.field = (good);                                                        \
	} while (0)

static void fields_that_cannot_be_true_are_refused(void **state)
{
	(void)state;
	assert_field_refused(version, COMET_WIRE_VERSION, COMET_WIRE_VERSION + 1);
	assert_field_refused(surface, _COMET_SURFACE_MAX - 1, _COMET_SURFACE_MAX);
	assert_field_refused(op, _COMET_OP_MAX - 1, _COMET_OP_MAX);
	assert_field_refused(severity, COMET_SEVERITY_INFO, COMET_SEVERITY_VIOLATION + 1);
	assert_field_refused(layer, COMET_LAYERS_MAX - 1, COMET_LAYERS_MAX);
	assert_field_refused(error, 4095, 4096);
	assert_field_refused(error, 0, -1);
	assert_field_refused(count, 1, 0);
	assert_field_refused(tail, COMET_TAIL_NONE, COMET_TAIL_VALUE + 1);
}

static void tails_of_the_wrong_form_are_refused(void **state)
{
	struct comet_addr addr = { .family = AF_UNIX, .path_len = COMET_UNIX_PATH_MAX + 1 };
	__u64 value = 1;

	(void)state;
	set_tail(COMET_TAIL_PATH, "abc", 3);
	assert_int_equal(decode(), -EINVAL);
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_int_equal(decode(), -EINVAL);
	addr.path_len = 0;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_int_equal(decode(), 0);
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr) - 1);
	assert_int_equal(decode(), -EINVAL);
	set_tail(COMET_TAIL_VALUE, &value, sizeof(value));
	assert_int_equal(decode(), 0);
	set_tail(COMET_TAIL_VALUE, &value, sizeof(value) - 1);
	assert_int_equal(decode(), -EINVAL);
}

static void a_refused_record_changes_nothing(void **state)
{
	struct comet_violation before = violation;

	(void)state;
	record.head.version = 99;
	assert_int_equal(decode(), -EINVAL);
	assert_memory_equal(&violation, &before, sizeof(before));
}

static double seconds(const struct timespec *ts)
{
	return (double)ts->tv_sec + (double)ts->tv_nsec / 1e9;
}

static void wall_time_is_now_less_the_age(void **state)
{
	struct timespec now;

	(void)state;
	record.head.time -= 2500000000ULL;
	assert_int_equal(decode(), 0);
	clock_gettime(CLOCK_REALTIME, &now);
	assert_true(seconds(&now) - seconds(&violation.wall) > 2.4);
	assert_true(seconds(&now) - seconds(&violation.wall) < 3.5);
}

static void wall_time_lies_between_before_and_after(void **state)
{
	struct timespec before;
	struct timespec after;

	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_REALTIME, &before);
		start(state);
		assert_int_equal(decode(), 0);
		clock_gettime(CLOCK_REALTIME, &after);
		assert_true(seconds(&violation.wall) >= seconds(&before) - 1e-6);
		assert_true(seconds(&violation.wall) <= seconds(&after));
	}
}

static void a_time_from_the_future_is_now(void **state)
{
	struct timespec now;

	(void)state;
	record.head.time = UINT64_MAX;
	assert_int_equal(decode(), 0);
	clock_gettime(CLOCK_REALTIME, &now);
	assert_true(seconds(&now) - seconds(&violation.wall) < 1.0);
	assert_true(seconds(&violation.wall) <= seconds(&now));
}

static void every_surface_has_a_name_that_leads_back(void **state)
{
	enum comet_surface back = COMET_SURFACE_EGRESS;

	(void)state;
	for (int i = 0; i < _COMET_SURFACE_MAX; i++) {
		const char *name = comet_surface_to_str((enum comet_surface)i);

		assert_non_null(name);
		assert_string_not_equal(name, "unknown");
		assert_int_equal(comet_surface_from_str(name, &back), 0);
		assert_int_equal(back, i);
	}
	assert_string_equal(comet_surface_to_str(COMET_SURFACE_FS_WRITE), "fs.write");
	assert_string_equal(comet_surface_to_str(_COMET_SURFACE_MAX), "unknown");
	assert_int_equal(comet_surface_from_str("fs.writ", &back), -EINVAL);
	assert_int_equal(comet_surface_from_str("", &back), -EINVAL);
}

static void every_operation_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < _COMET_OP_MAX; i++) {
		assert_non_null(comet_op_to_str((enum comet_op)i));
		assert_string_not_equal(comet_op_to_str((enum comet_op)i), "unknown");
		for (int j = 0; j < i; j++)
			assert_string_not_equal(comet_op_to_str((enum comet_op)i),
						comet_op_to_str((enum comet_op)j));
	}
	assert_string_equal(comet_op_to_str(COMET_OP_SIGNAL), "signal");
	assert_string_equal(comet_op_to_str(_COMET_OP_MAX), "unknown");
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_header_is_passed_on),
		test(a_record_may_be_as_short_as_its_tail),
		test(sizes_that_do_not_fit_are_refused),
		test(fields_that_cannot_be_true_are_refused),
		test(tails_of_the_wrong_form_are_refused),
		test(a_refused_record_changes_nothing),
		test(wall_time_is_now_less_the_age),
		test(wall_time_lies_between_before_and_after),
		test(a_time_from_the_future_is_now),
		test(every_surface_has_a_name_that_leads_back),
		test(every_operation_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
