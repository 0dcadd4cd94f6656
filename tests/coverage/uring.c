// SPDX-License-Identifier: Apache-2.0
/* What does io_uring answer to one request? */
#include "tests/coverage/uring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static void *map(int fd, size_t size, off_t what)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

	if (memory == MAP_FAILED)
		road_broken("mapping a ring");
	return memory;
}

#define REQUESTS_MAX 4

void uring_do_all(const struct io_uring_sqe *wanted, int *results, unsigned int n,
		  unsigned int flags)
{
	struct io_uring_params params = { .flags = flags, .sq_thread_idle = 1000 };
	int fd = (int)syscall(SYS_io_uring_setup, REQUESTS_MAX, &params), none[REQUESTS_MAX];
	unsigned int *tail, wake = flags & IORING_SETUP_SQPOLL ? IORING_ENTER_SQ_WAKEUP : 0;
	struct io_uring_sqe *requests;
	struct io_uring_cqe *answers;
	char *sent, *done;

	for (unsigned int i = 0; i < n; i++)
		results[i] = -errno;
	if (fd < 0)
		return;
	memset(none, -1, sizeof(none));
	/* A table for files that have no descriptor; a kernel without one shows by the answers. */
	syscall(SYS_io_uring_register, fd, IORING_REGISTER_FILES, none, REQUESTS_MAX);
	if (wanted[0].personality)
		road_must(syscall(SYS_io_uring_register, fd, IORING_REGISTER_PERSONALITY, NULL, 0),
			  "a personality");
	sent = map(fd, params.sq_off.array + params.sq_entries * sizeof(unsigned int),
		   IORING_OFF_SQ_RING);
	done = map(fd, params.cq_off.cqes + params.cq_entries * sizeof(*answers),
		   IORING_OFF_CQ_RING);
	requests = map(fd, params.sq_entries * sizeof(*requests), IORING_OFF_SQES);
	tail = (unsigned int *)(done + params.cq_off.tail);
	answers = (void *)(done + params.cq_off.cqes);
	for (unsigned int i = 0; i < n; i++) {
		requests[i] = wanted[i];
		((unsigned int *)(sent + params.sq_off.array))[i] = i;
		__atomic_store_n((unsigned int *)(sent + params.sq_off.tail), i + 1,
				 __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS | wake, NULL, 0) <
		    0)
			road_broken("io_uring_enter");
		/* A send without copying answers twice: the second says that the memory is free. */
		while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) <= i)
			usleep(1000);
		results[i] = answers[i].res;
		__atomic_store_n((unsigned int *)(done + params.cq_off.head), i + 1,
				 __ATOMIC_RELEASE);
	}
	close(fd);
}

int uring_do(const struct io_uring_sqe *request, unsigned int flags)
{
	int result;

	uring_do_all(request, &result, 1, flags);
	return result;
}
