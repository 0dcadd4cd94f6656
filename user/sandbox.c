// SPDX-License-Identifier: Apache-2.0
/* What does a process of the run get, keep and lose before anybody else's code runs in it? */
#define _GNU_SOURCE 1

#include "user/sandbox.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "user/base.h"
#include "user/fault.h"

/*
 * What an agent that stays root keeps. With these, package managers unpack and configure, and
 * servers take a low port and change to their own user; every file they touch is still asked of
 * the policy. Left out on purpose, among others: DAC_READ_SEARCH (opens by handle), MKNOD,
 * SYS_CHROOT, SYS_PTRACE, SETPCAP and SETFCAP (nothing can gain by them under no_new_privs),
 * NET_RAW and NET_ADMIN, SYS_ADMIN, BPF.
 */
static const unsigned int root_keeps[] = {
	CAP_CHOWN,        /* install files for other users */
	CAP_DAC_OVERRIDE, /* reach files of other users: what root means to most programs */
	CAP_FOWNER,       /* set modes and times of such files */
	CAP_FSETID,       /* keep setgid on directories while doing so */
	CAP_KILL,         /* end the workers that changed to another user */
	CAP_NET_BIND_SERVICE,
	CAP_SETGID, /* servers and package managers drop to their own user */
	CAP_SETUID,
};

pid_t comet_sandbox_clone(int cgroup, int *pidfd, struct comet_error *error)
{
	int fd = -1;
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS | CLONE_PIDFD |
			 CLONE_INTO_CGROUP,
		.pidfd = (uintptr_t)&fd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup,
	};
	pid_t pid;

	if (comet_fault("host-pids"))
		args.flags &= ~(uint64_t)CLONE_NEWPID;
	if (comet_fault("host-ipc"))
		args.flags &= ~(uint64_t)CLONE_NEWIPC;
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return comet_error_set(error, errno,
				       "cannot start the run's first process in its cgroup and "
				       "namespaces: %s",
				       strerror(errno));
	if (pid > 0)
		*pidfd = fd;
	return pid;
}

int comet_sandbox_keep(int *const fds[], size_t n)
{
	int next = 3;
	size_t i;

	/* Out of the way first, so that none is overwritten by another. */
	for (i = 0; i < n; i++) {
		if (*fds[i] < 0)
			continue;
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, 3 + (int)n);
		if (*fds[i] < 0)
			return -errno;
	}
	for (i = 0; i < n; i++) {
		if (*fds[i] < 0)
			continue;
		if (dup3(*fds[i], next, O_CLOEXEC) < 0)
			return -errno;
		*fds[i] = next++;
	}
	return close_range((unsigned int)next, ~0U, 0) < 0 ? -errno : 0;
}

int comet_sandbox_renew_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return -errno;
	return 0;
}

void comet_sandbox_bind_to_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
}

/*
 * By hand: libcap-ng would read /proc/PID/status first, and this process is held already. The
 * kernel's own end of the list is the first number that it does not know.
 */
static int limit_bounds(void)
{
	unsigned long cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!capng_have_capability(CAPNG_BOUNDING_SET, (unsigned int)cap) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -errno;
	return 0;
}

int comet_sandbox_shed(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, CAP_KILL,
		      -1);
	if (limit_bounds() < 0 || capng_apply(CAPNG_SELECT_CAPS) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -EPERM;
	/* A change of credentials can undo both. */
	comet_sandbox_bind_to_parent();
	return 0;
}

static void choose_capabilities(const struct comet_account *account)
{
	size_t i;

	capng_clear(CAPNG_SELECT_ALL);
	if (account->uid != 0)
		return;
	if (comet_fault("keep-capabilities"))
		capng_fill(CAPNG_SELECT_BOTH);
	for (i = 0; i < COMET_ARRAY_SIZE(root_keeps); i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
			     root_keeps[i]);
}

static int change_user(const struct comet_account *account)
{
	if (setgroups(account->n_groups, account->groups) < 0 ||
	    setresgid(account->gid, account->gid, account->gid) < 0 ||
	    setresuid(account->uid, account->uid, account->uid) < 0)
		return -errno;
	return 0;
}

int comet_sandbox_drop(const struct comet_account *account, const char **step)
{
	int err;

	*step = "limit the capabilities";
	choose_capabilities(account);
	err = limit_bounds();
	if (err < 0)
		return err;
	*step = "change to the agent's user";
	err = change_user(account);
	if (err < 0)
		return err;
	*step = "drop the capabilities";
	if (capng_apply(CAPNG_SELECT_CAPS) < 0 || capng_apply(CAPNG_SELECT_AMBIENT) < 0)
		return -EPERM;
	*step = "set no_new_privs";
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}
