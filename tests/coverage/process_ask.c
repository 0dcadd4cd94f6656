// SPDX-License-Identifier: Apache-2.0
/* What of a process outside can be asked for by its number, without looking into it? */
#include <linux/ioprio.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/coverage/process.h"

static int call_getpgid(pid_t pid)
{
	return road_result(getpgid(pid));
}

static int call_getsid(pid_t pid)
{
	return road_result(getsid(pid));
}

static int call_getpriority(pid_t pid)
{
	return road_result(syscall(SYS_getpriority, PRIO_PROCESS, pid));
}

static int call_getscheduler(pid_t pid)
{
	return road_result(sched_getscheduler(pid));
}

static int call_getaffinity(pid_t pid)
{
	cpu_set_t cpus;

	return road_result(sched_getaffinity(pid, sizeof(cpus), &cpus));
}

static int call_ioprio_get(pid_t pid)
{
	return road_result(syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid));
}

static int call_prlimit(pid_t pid)
{
	struct rlimit limit;

	return road_result(prlimit(pid, RLIMIT_NOFILE, NULL, &limit));
}

static int call_cpu_time(pid_t pid)
{
	struct timespec used;
	clockid_t clock;
	int failed = clock_getcpuclockid(pid, &clock);

	return failed ? -failed : road_result(clock_gettime(clock, &used));
}

/* From 6.13 on: numbers, user and groups, cgroup. */
static int call_get_info(int pidfd)
{
	unsigned long long info[8] = { 0 };
	int result = road_result(ioctl(pidfd, _IOWR(0xff, 11, info), info));

	return result == -ENOTTY || result == -EINVAL ? -ENOSYS : result;
}

#define TRY(call)                                                                                  \
	static int try_##call(const struct place *place)                                           \
	{                                                                                          \
		return process_on_other(place, call_##call);                                       \
	}
TRY(getpgid)
TRY(getsid)
TRY(getpriority)
TRY(getscheduler)
TRY(getaffinity)
TRY(ioprio_get)
TRY(prlimit)
TRY(cpu_time)

static int try_get_info(const struct place *place)
{
	return process_on_other_fd(place, call_get_info);
}

#define ASK(text, function)                                                                        \
	.name = text, .surface = "ipc", .try = function, .hidden = { ROAD_SUCCEEDS },              \
	.walled = { ESRCH }, .outside = process_stay, .flags = ROAD_LEAKS,                         \
	.why = "asks nothing that belongs to a process alone; in a run nobody outside has a "      \
	       "number to ask for"

static const struct road process_ask[] = {
	{ ASK("getpgid", try_getpgid) },
	{ ASK("getsid", try_getsid) },
	{ ASK("getpriority", try_getpriority) },
	{ ASK("sched_getscheduler", try_getscheduler) },
	{ ASK("sched_getaffinity", try_getaffinity) },
	{ ASK("ioprio_get", try_ioprio_get) },
	{ ASK("prlimit, to read a limit", try_prlimit) },
	{ ASK("clock_gettime of a process's CPU time", try_cpu_time) },
	{ ASK("ioctl PIDFD_GET_INFO", try_get_info), .since = 0x060d },
};
ROADS(process_ask);
