/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How is an operation that passes a hook counted? Each is repeated, and the instructions of one
 * printed, given a clock that advances one nanosecond an instruction (QEMU -icount shift=0).
 *
 * One line an operation: its hooks, with commas; the operation; instructions, or -1 where the
 * kernel has no such call; how many failed.
 */
#ifndef COMET_OPERATIONS_H
#define COMET_OPERATIONS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ANY_ERROR (-1) /* kernels differ */

struct operation {
	const char *hooks; /* as `comet doctor` names them, without "comet_" */
	const char *what;
	long count;
	int (*once)(void); /* what its last system call returns */
	int expected;      /* the errno that it gives after its hooks, 0, or ANY_ERROR */
	void (*prepare)(void);
};

static inline long long operations_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline int operation_failed(const struct operation *op)
{
	int result = op->once();

	if (op->expected == ANY_ERROR)
		return result >= 0;
	return (result < 0 ? errno : 0) != op->expected;
}

static inline void operation_count(const struct operation *op)
{
	long long start;
	long failed = 0;
	long i;

	if (op->prepare)
		op->prepare();
	if (op->once() < 0 && errno == ENOSYS) {
		printf("%s|%s|-1|0\n", op->hooks, op->what);
		return;
	}
	for (i = 0; i < op->count / 10; i++)
		op->once();
	start = operations_now();
	for (i = 0; i < op->count; i++)
		failed += operation_failed(op);
	printf("%s|%s|%lld|%ld\n", op->hooks, op->what, (operations_now() - start) / op->count,
	       failed);
	if (failed)
		fprintf(stderr, "%s: %s\n", op->what, strerror(errno));
}

static inline int operations_main(const struct operation *operations, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		operation_count(&operations[i]);
	return 0;
}

#define OPERATIONS_MAIN(operations)                                                                \
	int main(void)                                                                             \
	{                                                                                          \
		return operations_main(operations, sizeof(operations) / sizeof(operations[0]));    \
	}

#endif
