// SPDX-License-Identifier: Apache-2.0
/* Can a process go to other namespaces, or to another root? */
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/process.h"

#define EACH_NAMESPACE(f)                                                                          \
	f(mnt, CLONE_NEWNS) f(uts, CLONE_NEWUTS) f(ipc, CLONE_NEWIPC) f(user, CLONE_NEWUSER)       \
		f(pid, CLONE_NEWPID) f(net, CLONE_NEWNET) f(cgroup, CLONE_NEWCGROUP)               \
			f(time, CLONE_NEWTIME)

static int clone_with(unsigned long long flags)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : road_result(waitpid((pid_t)pid, NULL, 0));
}

#define FUNCTIONS(name, flag)                                                                      \
	static int unshare_##name(const struct place *place)                                       \
	{                                                                                          \
		(void)place;                                                                       \
		return road_result(unshare(flag));                                                 \
	}                                                                                          \
	static int clone_##name(const struct place *place)                                         \
	{                                                                                          \
		(void)place;                                                                       \
		return clone_with(flag);                                                           \
	}                                                                                          \
	static int call_join_##name(int pidfd)                                                     \
	{                                                                                          \
		return road_result(setns(pidfd, flag));                                            \
	}                                                                                          \
	static int join_##name(const struct place *place)                                          \
	{                                                                                          \
		return process_on_other_fd(place, call_join_##name);                               \
	}
EACH_NAMESPACE(FUNCTIONS)

/* What unshare(2) may be used for. */
static int unshare_files(const struct place *place)
{
	(void)place;
	return road_result(unshare(CLONE_FILES | CLONE_FS));
}

static int clone_plainly(const struct place *place)
{
	(void)place;
	return clone_with(0);
}

static int unshare_user_and_mounts(const struct place *place)
{
	(void)place;
	return road_result(unshare(CLONE_NEWUSER | CLONE_NEWNS));
}

static int clone_old(const struct place *place)
{
	long pid = syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);

	(void)place;
	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : road_result(waitpid((pid_t)pid, NULL, 0));
}

/* A process of a number that somebody outside may wait for. */
static int clone_with_number(const struct place *place)
{
	pid_t number = 30000 + (pid_t)place->number;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (__u64)(uintptr_t)&number,
		.set_tid_size = 1,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : road_result(waitpid((pid_t)pid, NULL, 0));
}

/* The namespace of the victim by its name. */
static int open_namespace(const struct place *place)
{
	return road_fd(open(road_path("/proc/%s/ns/mnt", place_told(place)), O_RDONLY | O_CLOEXEC));
}

/* By a pidfd alone, from 6.11 on. */
static int call_get_namespace(int pidfd)
{
	int fd = ioctl(pidfd, _IO(0xff, 3) /* PIDFD_GET_MNT_NAMESPACE */, 0);

	if (fd < 0 && errno == ENOTTY)
		return -ENOSYS;
	return road_fd(fd);
}

static int get_namespace(const struct place *place)
{
	return process_on_other_fd(place, call_get_namespace);
}

static int open_below_other_root(const struct place *place)
{
	if (chroot(place->dir) < 0)
		return -errno;
	return road_read_canary(open("/f", O_RDONLY | O_CLOEXEC));
}

#define UNSHARE(ns, flag)                                                                          \
	{                                                                                          \
		.name = "unshare " #flag,                                                          \
		.surface = "kernel",                                                               \
		.try = unshare_##ns,                                                               \
		.twin = unshare_files,                                                             \
		.hidden = { EPERM },                                                               \
		.walled = { EPERM },                                                               \
	},
#define CLONE(ns, flag)                                                                            \
	{                                                                                          \
		.name = "clone3 " #flag,                                                           \
		.surface = "kernel",                                                               \
		.try = clone_##ns,                                                                 \
		.twin = clone_plainly,                                                             \
		.hidden = { EPERM },                                                               \
		.walled = { EPERM },                                                               \
	},
#define JOIN(ns, flag)                                                                             \
	{                                                                                          \
		.name = "setns " #flag,                                                            \
		.surface = "ipc",                                                                  \
		.op = "ptrace",                                                                    \
		.try = join_##ns,                                                                  \
		.twin = unshare_files,                                                             \
		.hidden = { EPERM },                                                               \
		.walled = { ESRCH },                                                               \
		.outside = process_stay,                                                           \
	},

static const struct road process_namespace[] = {
	EACH_NAMESPACE(UNSHARE) EACH_NAMESPACE(CLONE) EACH_NAMESPACE(JOIN){
		.name = "unshare CLONE_NEWUSER with CLONE_NEWNS",
		.surface = "kernel",
		.op = "userns",
		.try = unshare_user_and_mounts,
		.twin = unshare_files,
		.hidden = { EPERM },
	},
	{
		.name = "clone CLONE_NEWNS",
		.surface = "kernel",
		.try = clone_old,
		.twin = clone_plainly,
		.hidden = { EPERM },
		.walled = { EPERM },
	},
	{
		.name = "clone3 with a number of one's choice (set_tid)",
		.surface = "kernel",
		.op = "capability",
		.try = clone_with_number,
		.twin = clone_plainly,
		.hidden = { EPERM },
		.walled = { EPERM },
	},
	{
		.name = "open of /proc/PID/ns/mnt",
		.surface = "ipc",
		.op = "ptrace",
		.try = open_namespace,
		.twin = unshare_files,
		.hidden = { EACCES, EPERM },
		.walled = { ENOENT },
		.outside = process_stay,
	},
	{
		.name = "ioctl PIDFD_GET_MNT_NAMESPACE",
		.surface = "ipc",
		.op = "ptrace",
		.try = get_namespace,
		.twin = unshare_files,
		.hidden = { EACCES, EPERM },
		.walled = { ESRCH },
		.outside = process_stay,
		.since = 0x060b,
	},
	{
		/* Another root changes no answer: the object decides. */
		.name = "open below another root (chroot)",
		.surface = "fs.read",
		.op = "open",
		.try = open_below_other_root,
		.hidden = { ENOENT },
		.walled = { EPERM },
		.flags = ROAD_TWIN_WALLED,
	},
};
ROADS(process_namespace);
