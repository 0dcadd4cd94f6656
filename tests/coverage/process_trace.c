// SPDX-License-Identifier: Apache-2.0
/* By which calls can a process outside be looked into, or changed? */
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/process.h"

static int call_attach(pid_t pid)
{
	long result = ptrace(PTRACE_ATTACH, pid, NULL, NULL);

	if (result < 0)
		return -errno;
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int call_seize(pid_t pid)
{
	return road_result(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
}

static int call_readv(pid_t pid)
{
	char text[sizeof(ROAD_CANARY)] = "";
	struct iovec to = { text, sizeof(text) };
	struct iovec from = { process_memory, sizeof(text) };

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0)
		return -errno;
	return strcmp(text, ROAD_CANARY) == 0 ? 0 : -EBADMSG;
}

static int call_writev(pid_t pid)
{
	char text[] = "written";
	struct iovec from = { text, sizeof(text) };
	struct iovec to = { process_memory, sizeof(text) };

	return road_result(process_vm_writev(pid, &from, 1, &to, 1, 0));
}

static int call_madvise(int fd)
{
	struct iovec page = { (void *)((unsigned long)process_memory & ~4095UL), 4096 };

	return road_result(syscall(SYS_process_madvise, fd, &page, 1, MADV_COLD, 0));
}

static int call_getfd(int fd)
{
	return road_fd(syscall(SYS_pidfd_getfd, fd, 0, 0));
}

static int call_kcmp(pid_t pid)
{
	return road_result(syscall(SYS_kcmp, getpid(), pid, KCMP_VM, 0, 0));
}

static int call_robust_list(pid_t pid)
{
	void *head;
	size_t size;

	return road_result(syscall(SYS_get_robust_list, pid, &head, &size));
}

#define TRY(call)                                                                                  \
	static int try_##call(const struct place *place)                                           \
	{                                                                                          \
		return process_on_other(place, call_##call);                                       \
	}
#define TRY_FD(call)                                                                               \
	static int try_##call(const struct place *place)                                           \
	{                                                                                          \
		return process_on_other_fd(place, call_##call);                                    \
	}
TRY(attach)
TRY(seize)
TRY(readv)
TRY(writev)
TRY(kcmp)
TRY(robust_list)
TRY_FD(madvise)
TRY_FD(getfd)

#define TRACE(text, function)                                                                      \
	.name = text, .surface = "ipc", .op = "ptrace", .try = function,                           \
	.hidden = { EPERM, EACCES }, .walled = { ESRCH }, .outside = process_stay

static const struct road process_trace[] = {
	{ TRACE("ptrace PTRACE_ATTACH", try_attach) },
	{ TRACE("ptrace PTRACE_SEIZE", try_seize) },
	{ TRACE("process_vm_readv", try_readv) },
	{ TRACE("process_vm_writev", try_writev) },
	{
		/* The kernel asks for CAP_SYS_NICE besides, and for others when it was refused. */
		.name = "process_madvise",
		.surface = "ipc",
		.op = "ptrace",
		.also = "capability",
		.try = try_madvise,
		.hidden = { EPERM, EACCES },
		.walled = { ESRCH, EPERM },
		.outside = process_stay,
		.flags = ROAD_TWIN_WALLED,
	},
	{ TRACE("pidfd_getfd", try_getfd) },
	{ TRACE("kcmp", try_kcmp) },
	{ TRACE("get_robust_list", try_robust_list) },
};
ROADS(process_trace);
