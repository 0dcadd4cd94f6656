// SPDX-License-Identifier: Apache-2.0
/* Who cleans up after comet itself was killed? */
#define _GNU_SOURCE 1

#include "user/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "user/base.h"
#include "user/fault.h"
#include "user/leftovers.h"

static void detach(void)
{
	_cleanup_close_ int null = -1;
	sigset_t all;
	int fd;

	setsid();
	prctl(PR_SET_NAME, "comet-guard");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* Neither a pipe of the caller's nor its directory may live on through the guard. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (chdir("/") < 0)
		return;
}

static void __attribute__((noreturn)) guard_main(const struct comet_guarded *guarded, int line)
{
	char byte;
	ssize_t n;
	int err;

	do
		n = read(line, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		_exit(0);
	comet_fault_at("guard-woken", NULL);
	/* The tasks first: the policy must hold the last of them to its end. */
	err = comet_cgroup_destroy(guarded->cgroup);
	comet_fault_at("guard-cgroup-removed", NULL);
	if (guarded->policy)
		comet_enforcer_remove(guarded->enforcer, guarded->policy);
	comet_fault_at("guard-policy-removed", NULL);
	if (err == 0)
		comet_leftovers_forget(guarded->run_id);
	comet_fault_at("guard-record-removed", NULL);
	comet_enforcer_close(guarded->enforcer);
	_exit(0);
}

int comet_guard_start(struct comet_guard *guard, const struct comet_guarded *guarded,
		      struct comet_error *error)
{
	_cleanup_close_ int ours = -1;
	_cleanup_close_ int theirs = -1;
	int ends[2];
	size_t i;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return comet_error_set(error, errno, "cannot make a pipe: %s", strerror(errno));
	theirs = ends[0];
	ours = ends[1];
	pid = fork();
	if (pid < 0)
		return comet_error_set(error, errno, "cannot start the guard process: %s",
				       strerror(errno));
	if (pid == 0) {
		close(ours);
		detach();
		for (i = 0; i < guarded->n_closed; i++)
			if (guarded->closed[i] >= 0)
				close(guarded->closed[i]);
		guard_main(guarded, theirs);
	}
	comet_fault_guard(pid);
	guard->pid = pid;
	guard->line = COMET_TAKE_FD(ours);
	return 0;
}

void comet_guard_release(struct comet_guard *guard)
{
	if (guard->line >= 0 && write(guard->line, "", 1) < 0 && errno != EPIPE)
		kill(guard->pid, SIGKILL);
	comet_close_fd(&guard->line);
}

void comet_guard_dismiss(struct comet_guard *guard)
{
	comet_guard_release(guard);
	if (guard->pid > 0)
		waitpid(guard->pid, NULL, 0);
	guard->pid = 0;
}
