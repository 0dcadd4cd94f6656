// SPDX-License-Identifier: Apache-2.0
/* By which calls can a process outside be slowed down, hurried, limited or moved? */
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/process.h"

static int call_setpriority(pid_t pid)
{
	return road_result(setpriority(PRIO_PROCESS, (id_t)pid, 5));
}

static int call_setpriority_group(pid_t pid)
{
	return road_result(setpriority(PRIO_PGRP, (id_t)pid, 5));
}

static int call_setaffinity(pid_t pid)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return road_result(sched_setaffinity(pid, sizeof(cpus), &cpus));
}

static int call_setscheduler(pid_t pid)
{
	struct sched_param param = { 0 };

	return road_result(sched_setscheduler(pid, SCHED_BATCH, &param));
}

static int call_setparam(pid_t pid)
{
	struct sched_param param = { 0 };

	return road_result(sched_setparam(pid, &param));
}

/* linux/sched/types.h does not go with sched.h. */
struct attr {
	unsigned size;
	unsigned policy;
	unsigned long long flags;
	int nice;
	unsigned priority;
	unsigned long long runtime, deadline, period;
};

static int call_setattr(pid_t pid)
{
	struct attr attr = { .size = sizeof(attr), .policy = SCHED_IDLE };

	return road_result(syscall(SYS_sched_setattr, pid, &attr, 0));
}

#define IDLE IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)

static int call_ioprio(pid_t pid)
{
	return road_result(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, pid, IDLE));
}

static int call_ioprio_group(pid_t pid)
{
	return road_result(syscall(SYS_ioprio_set, IOPRIO_WHO_PGRP, pid, IDLE));
}

static int call_prlimit(pid_t pid)
{
	const struct rlimit limit = { 16, 16 };

	return road_result(prlimit(pid, RLIMIT_NOFILE, &limit, NULL));
}

static int call_move_pages(pid_t pid)
{
	void *page = (void *)((unsigned long)process_memory & ~4095UL);
	int node = 0, status;

	return road_result(syscall(SYS_move_pages, pid, 1UL, &page, &node, &status, MPOL_MF_MOVE));
}

static int call_migrate_pages(pid_t pid)
{
	unsigned long node = 1;

	return road_result(syscall(SYS_migrate_pages, pid, 2UL, &node, &node));
}

#define TRY(call)                                                                                  \
	static int try_##call(const struct place *place)                                           \
	{                                                                                          \
		return process_on_other(place, call_##call);                                       \
	}
TRY(setpriority)
TRY(setpriority_group)
TRY(setaffinity)
TRY(setscheduler)
TRY(setparam)
TRY(setattr)
TRY(ioprio)
TRY(ioprio_group)
TRY(prlimit)
TRY(move_pages)
TRY(migrate_pages)

/* All of the user's processes that have a number here. */
static int setpriority_user(const struct place *place)
{
	return road_result(setpriority(PRIO_USER, place->uid, 1));
}

static int setpriority_self(const struct place *place)
{
	(void)place;
	return road_result(setpriority(PRIO_PROCESS, 0, 1));
}

static int ioprio_user(const struct place *place)
{
	return road_result(syscall(SYS_ioprio_set, IOPRIO_WHO_USER, place->uid, IDLE));
}

static int ioprio_self(const struct place *place)
{
	(void)place;
	return road_result(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IDLE));
}

#define SCHEDULE(text, function)                                                                   \
	.name = text, .surface = "ipc", .op = "schedule", .try = function, .hidden = { EPERM },    \
	.walled = { ESRCH }, .outside = process_stay

static const struct road process_schedule[] = {
	{ SCHEDULE("setpriority", try_setpriority) },
	{ SCHEDULE("setpriority of a process group", try_setpriority_group) },
	{
		/* It changes those that it may, and says that there are others. */
		.name = "setpriority of a user",
		.surface = "ipc",
		.op = "schedule",
		.try = setpriority_user,
		.twin = setpriority_self,
		.hidden = { EPERM },
		.walled = { ROAD_SUCCEEDS },
	},
	{ SCHEDULE("sched_setaffinity", try_setaffinity) },
	{ SCHEDULE("sched_setscheduler", try_setscheduler) },
	{ SCHEDULE("sched_setparam", try_setparam) },
	{ SCHEDULE("sched_setattr", try_setattr) },
	{ SCHEDULE("ioprio_set", try_ioprio) },
	{ SCHEDULE("ioprio_set of a process group", try_ioprio_group) },
	{
		.name = "ioprio_set of a user",
		.surface = "ipc",
		.op = "schedule",
		.try = ioprio_user,
		.twin = ioprio_self,
		.hidden = { EPERM },
		.walled = { ROAD_SUCCEEDS },
	},
	{
		.name = "prlimit",
		.surface = "ipc",
		.op = "rlimit",
		.try = try_prlimit,
		.hidden = { EPERM },
		.walled = { ESRCH },
		.outside = process_stay,
	},
	{
		.name = "move_pages",
		.surface = "ipc",
		.try = try_move_pages,
		.hidden = { EPERM },
		.walled = { ESRCH },
		.outside = process_stay,
	},
	{
		.name = "migrate_pages",
		.surface = "ipc",
		.try = try_migrate_pages,
		.hidden = { EPERM },
		.walled = { ESRCH },
		.outside = process_stay,
	},
};
ROADS(process_schedule);
