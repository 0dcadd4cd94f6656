// SPDX-License-Identifier: Apache-2.0
/* What does the run's pid 1 do? It mounts, starts the agent, reaps, passes signals on, reports. */
#define _GNU_SOURCE 1

#include "user/init.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "user/agent.h"
#include "user/base.h"
#include "user/control.h"
#include "user/fault.h"
#include "user/sandbox.h"
#include "user/selftest.h"

static void __attribute__((noreturn))
fail(const struct comet_init *init, const struct comet_error *error, int err)
{
	comet_control_send(init->control, COMET_MESSAGE_FAILED, -err, error->text,
			   strlen(error->text));
	_exit(1);
}

/*
 * In a child, because its exec must be able to succeed, and because the kernel treats pid 1
 * unlike the processes that are to be held.
 */
static void run_probes(const struct comet_init *init, const char *canary)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct comet_selftest result;

		comet_selftest_probe(canary, &result);
		comet_control_send(init->control, COMET_MESSAGE_PROBES, 0, &result, sizeof(result));
		_exit(0);
	}
	comet_fault_at("pid1-selftest", NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		struct comet_error error;
		int err = comet_error_set(
			&error, EPERM,
			"the self-test failed: its process did not report, so "
			"executing an undeclared program may have been let through");

		fail(init, &error, err);
	}
}

static pid_t start_agent(const struct comet_init *init, const struct comet_message *start)
{
	const char *program = start->text;
	const char *directory = program + strlen(program) + 1;
	pid_t pid = fork();

	if (pid == 0)
		comet_agent_main(init, program, directory);
	if (pid < 0) {
		struct comet_error error;
		int err = comet_error_set(&error, errno, "cannot start the agent's process: %s",
					  strerror(errno));

		fail(init, &error, err);
	}
	/* The agent does the same: whoever comes first. */
	setpgid(pid, pid);
	return pid;
}

/* Reports the agent's end and does not return from it; other children are only reaped. */
static void reap(const struct comet_init *init, pid_t agent)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != agent)
			continue;
		if (WIFSTOPPED(status)) {
			comet_control_send(init->control, COMET_MESSAGE_STOPPED, WSTOPSIG(status),
					   NULL, 0);
			continue;
		}
		comet_control_send(init->control, COMET_MESSAGE_EXITED, status, NULL, 0);
		_exit(0);
	}
}

/* What a terminal sends goes to the agent's group, as from a terminal; the rest to the agent. */
static void deliver(pid_t agent, int sig)
{
	switch (sig) {
	case SIGINT:
	case SIGQUIT:
	case SIGHUP:
	case SIGTSTP:
	case SIGCONT:
	case SIGWINCH:
		if (kill(-agent, sig) == 0)
			return;
		break;
	default:
		break;
	}
	kill(agent, sig);
}

/* Nobody else may write to, or keep open, what the operator gave to the agent. */
static void let_go_of_stdio(void)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
}

static void __attribute__((noreturn))
look_after(const struct comet_init *init, pid_t agent, int children)
{
	struct pollfd fds[2] = {
		{ .fd = init->control, .events = POLLIN },
		{ .fd = children, .events = POLLIN },
	};
	struct comet_message message;
	struct signalfd_siginfo info;

	for (;;) {
		/* Before the first poll too: the agent may have ended meanwhile. */
		reap(init, agent);
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && read(children, &info, sizeof(info)) < 0)
			continue;
		if (!fds[0].revents)
			continue;
		/* The supervisor is gone: so is the run. */
		if (comet_control_receive(init->control, 0, &message, NULL) < 0)
			_exit(1);
		if (message.type == COMET_MESSAGE_SIGNAL)
			deliver(agent, message.value);
	}
}

static void __attribute__((noreturn))
run_agent(struct comet_init *init, const struct comet_message *start)
{
	struct comet_error error;
	sigset_t set;
	pid_t agent;
	int children;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	comet_fault_at("pid1-start", NULL);
	agent = start_agent(init, start);
	comet_fault_at("pid1-forked", NULL);
	comet_close_fd(&init->terminal);
	comet_close_fd(&init->output);
	comet_close_fd(&init->errors);
	let_go_of_stdio();
	if (children < 0 || comet_sandbox_shed() < 0)
		fail(init, &error,
		     comet_error_set(&error, EPERM,
				     "cannot limit the rights of the run's first "
				     "process"));
	comet_fault_at("pid1-shed", NULL);
	look_after(init, agent, children);
}

void comet_init_main(struct comet_init *init)
{
	int *const keep[] = {
		&init->control, &init->terminal, &init->output, &init->errors, &init->mounts.pins,
	};
	struct comet_message message;
	struct comet_error error = { "" };
	int err;

	prctl(PR_SET_NAME, "comet-init");
	comet_sandbox_bind_to_parent();
	comet_fault_at("pid1-begun", NULL);
	err = comet_sandbox_keep(keep, COMET_ARRAY_SIZE(keep));
	if (err < 0)
		comet_error_set(&error, -err, "cannot close the run's descriptors: %s",
				strerror(-err));
	if (err == 0) {
		err = comet_sandbox_renew_keyring();
		if (err < 0)
			comet_error_set(&error, -err, "cannot give the run a keyring: %s",
					strerror(-err));
	}
	if (err == 0)
		err = comet_mounts_make(&init->mounts, &error);
	comet_fault_at("pid1-mounted", NULL);
	/* Before any other code runs here: by it the pins could be reached. */
	comet_close_fd(&init->mounts.pins);
	if (err < 0)
		fail(init, &error, err);
	comet_control_send(init->control, COMET_MESSAGE_MOUNTED, 0, NULL, 0);
	for (;;) {
		/* Also what tells that the parent died before it could be bound to. */
		if (comet_control_receive(init->control, -1, &message, NULL) < 0)
			_exit(1);
		if (message.type == COMET_MESSAGE_SELFTEST)
			run_probes(init, message.text);
		else if (message.type == COMET_MESSAGE_START)
			run_agent(init, &message);
	}
}
