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

int uring_do(const struct io_uring_sqe *request, unsigned int flags)
{
	struct io_uring_params params = { .flags = flags, .sq_thread_idle = 1000 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params), result;
	unsigned int *head, *tail, wake = 0;
	struct io_uring_sqe *requests;
	struct io_uring_cqe *answers;
	char *sent, *done;

	if (fd < 0)
		return -errno;
	sent = map(fd, params.sq_off.array + params.sq_entries * sizeof(unsigned int),
		   IORING_OFF_SQ_RING);
	done = map(fd, params.cq_off.cqes + params.cq_entries * sizeof(*answers),
		   IORING_OFF_CQ_RING);
	requests = map(fd, params.sq_entries * sizeof(*requests), IORING_OFF_SQES);
	requests[0] = *request;
	((unsigned int *)(sent + params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned int *)(sent + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (flags & IORING_SETUP_SQPOLL)
		wake = IORING_ENTER_SQ_WAKEUP;
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS | wake, NULL, 0) < 0)
		return -errno;
	head = (unsigned int *)(done + params.cq_off.head);
	tail = (unsigned int *)(done + params.cq_off.tail);
	while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head)
		usleep(1000);
	answers = (void *)(done + params.cq_off.cqes);
	result = answers[0].res;
	close(fd);
	return result;
}
