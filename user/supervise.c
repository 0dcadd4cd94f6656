// SPDX-License-Identifier: Apache-2.0
/* What happens between the agent's start and the end of its last process? */
#define _GNU_SOURCE 1

#include "user/supervise.h"

#include <bpf/libbpf.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "user/base.h"
#include "user/control.h"
#include "user/fault.h"
#include "user/signals.h"

enum source {
	SOURCE_CONTROL,
	SOURCE_RING,
	SOURCE_SIGNALS,
	SOURCE_TIMER,
	SOURCE_OUTPUT,
	SOURCE_ERRORS,
	SOURCE_INIT,
};

struct loop {
	const struct comet_supervisor *s;
	struct comet_outcome *outcome;
	struct ring_buffer *ring;
	int poll, signals, timer;
	unsigned int records; /* taken in this turn */
	bool wants_terminal;  /* the agent was stopped because it has not got the terminal */
	bool ended;
};

static void send_signal(const struct loop *loop, int sig)
{
	comet_control_send(loop->s->control, COMET_MESSAGE_SIGNAL, sig, NULL, 0);
}

/* Then the other sources have their turn: a flood of refusals must not outlive the timeout. */
#define RECORDS_PER_TURN 256

static int on_record(void *context, void *record, size_t size)
{
	struct loop *loop = context;
	struct comet_violation violation;

	/* A record that cannot be read still stands in the policy's counters. */
	if (comet_events_decode(record, size, &violation) < 0)
		return 0;
	loop->s->violation(loop->s->context, &violation);
	comet_fault_at("violation", NULL);
	if (loop->s->kill_on_violation && violation.head.severity == COMET_SEVERITY_VIOLATION &&
	    !(violation.head.flags & COMET_EVENT_AUDIT))
		comet_cgroup_kill(loop->s->cgroup);
	return ++loop->records < RECORDS_PER_TURN ? 0 : -EAGAIN;
}

/* Returns whether there may be more. */
static bool read_ring(struct loop *loop)
{
	loop->records = 0;
	return ring_buffer__consume(loop->ring) < 0;
}

static void read_stream(struct loop *loop, struct comet_stream *stream)
{
	comet_capture_read(loop->s->capture, stream);
	/* It stays readable at its end. */
	if (stream->ended)
		epoll_ctl(loop->poll, EPOLL_CTL_DEL, stream->fd, NULL);
}

/* As a job of comet's own shell: the whole run rests, and comet with it. */
static void suspend(struct loop *loop, int sig)
{
	bool was_given = loop->s->terminal->given;
	sigset_t pending;

	comet_cgroup_freeze(loop->s->cgroup, true);
	loop->s->terminal->given = false;
	comet_signals_stop(sig == SIGSTOP ? SIGTSTP : sig);
	comet_cgroup_freeze(loop->s->cgroup, false);
	sigpending(&pending);
	if (sigismember(&pending, SIGCONT))
		return;
	/* Not stopped: there is no shell that could continue comet, so nothing may wait for it. */
	loop->s->terminal->given = was_given;
	if (sig != SIGSTOP)
		send_signal(loop, SIGCONT);
}

static void on_stopped(struct loop *loop, int sig)
{
	struct comet_terminal *terminal = loop->s->terminal;

	if (terminal->fd < 0)
		return;
	loop->wants_terminal = sig == SIGTTIN || sig == SIGTTOU;
	if (loop->wants_terminal && comet_terminal_is_ours(terminal)) {
		comet_terminal_give(terminal, loop->outcome->agent);
		loop->wants_terminal = false;
		send_signal(loop, SIGCONT);
		return;
	}
	suspend(loop, sig);
}

static void on_continued(struct loop *loop)
{
	struct comet_terminal *terminal = loop->s->terminal;

	if ((terminal->eager || loop->wants_terminal) && loop->outcome->agent > 0 &&
	    comet_terminal_is_ours(terminal))
		comet_terminal_give(terminal, loop->outcome->agent);
	loop->wants_terminal = false;
	send_signal(loop, SIGCONT);
}

static void on_message(struct loop *loop, const struct comet_message *message, pid_t sender)
{
	struct comet_outcome *outcome = loop->outcome;

	switch ((enum comet_message_type)message->type) {
	case COMET_MESSAGE_HELLO:
		outcome->agent = sender;
		loop->s->started(loop->s->context, sender);
		comet_fault_at("started", NULL);
		break;
	case COMET_MESSAGE_NO_EXEC:
		outcome->exec_error = message->value;
		break;
	case COMET_MESSAGE_STOPPED:
		on_stopped(loop, message->value);
		break;
	case COMET_MESSAGE_EXITED:
		outcome->status = WIFSIGNALED(message->value) ? 128 + WTERMSIG(message->value)
							      : WEXITSTATUS(message->value);
		comet_fault_at("exited", NULL);
		break;
	case COMET_MESSAGE_FAILED:
		outcome->failed = true;
		comet_error_set(&outcome->failure, message->value, "%s", message->text);
		break;
	case COMET_MESSAGE_SELFTEST:
	case COMET_MESSAGE_START:
	case COMET_MESSAGE_SIGNAL:
	case COMET_MESSAGE_MOUNTED:
	case COMET_MESSAGE_PROBES:
	case _COMET_MESSAGE_MAX:
		break;
	}
}

/* All that is there, before anything of the ring buffer: the start comes before its violations. */
static void read_control(struct loop *loop)
{
	struct comet_message message;
	pid_t sender = 0;
	int err;

	while ((err = comet_control_receive(loop->s->control, 0, &message, &sender)) == 0)
		on_message(loop, &message, sender);
	/* At its end it stays readable; the pidfd tells the rest. */
	if (err != -ETIMEDOUT)
		epoll_ctl(loop->poll, EPOLL_CTL_DEL, loop->s->control, NULL);
}

static void read_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD)
		loop->s->child_ended(loop->s->context);
	else if (info.ssi_signo == SIGCONT)
		on_continued(loop);
	else
		send_signal(loop, (int)info.ssi_signo);
}

static void on_timeout(struct loop *loop)
{
	uint64_t times;

	if (read(loop->timer, &times, sizeof(times)) != sizeof(times))
		return;
	/* Where the agent has ended already, only its descendants are late. */
	loop->outcome->timed_out = loop->outcome->status < 0;
	comet_cgroup_kill(loop->s->cgroup);
}

static void on_init_ended(struct loop *loop)
{
	siginfo_t info;

	/* The kernel lets pid 1 end only after every other process of its namespace. */
	waitid(P_PIDFD, (id_t)loop->s->init, &info, WEXITED);
	loop->ended = true;
}

static void dispatch(struct loop *loop, enum source source)
{
	switch (source) {
	case SOURCE_CONTROL:
		read_control(loop);
		break;
	case SOURCE_RING:
		read_control(loop);
		read_ring(loop);
		break;
	case SOURCE_SIGNALS:
		read_signal(loop);
		break;
	case SOURCE_TIMER:
		on_timeout(loop);
		break;
	case SOURCE_OUTPUT:
		read_stream(loop, &loop->s->capture->output);
		break;
	case SOURCE_ERRORS:
		read_stream(loop, &loop->s->capture->errors);
		break;
	case SOURCE_INIT:
		on_init_ended(loop);
		break;
	}
}

static int watch(const struct loop *loop, int fd, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

	return epoll_ctl(loop->poll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int watch_all(struct loop *loop)
{
	const struct comet_supervisor *s = loop->s;
	int err = watch(loop, s->control, SOURCE_CONTROL);

	if (err == 0)
		err = watch(loop, s->init, SOURCE_INIT);
	if (err == 0 && !comet_fault("reader-stopped"))
		err = watch(loop, ring_buffer__epoll_fd(loop->ring), SOURCE_RING);
	if (err == 0)
		err = watch(loop, loop->signals, SOURCE_SIGNALS);
	if (err == 0)
		err = watch(loop, loop->timer, SOURCE_TIMER);
	if (err == 0 && s->capture)
		err = watch(loop, s->capture->output.fd, SOURCE_OUTPUT);
	if (err == 0 && s->capture)
		err = watch(loop, s->capture->errors.fd, SOURCE_ERRORS);
	return err;
}

static int open_loop(struct loop *loop)
{
	sigset_t set;

	comet_signals_listened(&set);
	loop->poll = epoll_create1(EPOLL_CLOEXEC);
	loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->poll < 0 || loop->signals < 0 || loop->timer < 0)
		return -errno;
	loop->ring = ring_buffer__new(loop->s->ring, on_record, loop, NULL);
	if (!loop->ring)
		return -errno;
	return watch_all(loop);
}

static void close_loop(struct loop *loop)
{
	ring_buffer__free(loop->ring);
	comet_close_fd(&loop->timer);
	comet_close_fd(&loop->signals);
	comet_close_fd(&loop->poll);
}

static int start(const struct loop *loop, const char *program, const char *directory)
{
	struct itimerspec timeout = {
		.it_value.tv_sec = loop->s->timeout_ms / 1000,
		.it_value.tv_nsec = loop->s->timeout_ms % 1000 * 1000000,
	};
	char text[COMET_MESSAGE_TEXT_MAX];
	int len = snprintf(text, sizeof(text), "%s%c%s", program, '\0', directory);

	if (timerfd_settime(loop->timer, 0, &timeout, NULL) < 0)
		return -errno;
	return comet_control_send(loop->s->control, COMET_MESSAGE_START, 0, text, (size_t)len);
}

static void drain(struct loop *loop)
{
	struct comet_capture *capture = loop->s->capture;

	read_control(loop);
	while (read_ring(loop))
		;
	while (capture && comet_capture_read(capture, &capture->output))
		;
	while (capture && comet_capture_read(capture, &capture->errors))
		;
	if (loop->outcome->timed_out)
		loop->outcome->status = -1;
	/* Pid 1 was killed with the rest before it could report. */
	else if (loop->outcome->status < 0)
		loop->outcome->status = 128 + SIGKILL;
}

int comet_supervise(const struct comet_supervisor *supervisor, const char *program,
		    const char *directory, struct comet_outcome *outcome, struct comet_error *error)
{
	struct loop loop = {
		.s = supervisor,
		.outcome = outcome,
		.poll = -1,
		.signals = -1,
		.timer = -1,
	};
	struct epoll_event events[8];
	int err, i, n;

	*outcome = (struct comet_outcome){ .status = -1 };
	err = open_loop(&loop);
	if (err == 0)
		err = comet_fault_at("start", error);
	if (err == 0)
		err = start(&loop, program, directory);
	comet_fault_at("start-sent", NULL);
	while (err == 0 && !loop.ended) {
		n = epoll_wait(loop.poll, events, COMET_ARRAY_SIZE(events), -1);
		if (n < 0 && errno != EINTR)
			err = -errno;
		for (i = 0; i < n; i++)
			dispatch(&loop, events[i].data.u32);
	}
	comet_fault_at("drain", NULL);
	if (err == 0)
		drain(&loop);
	close_loop(&loop);
	if (err < 0)
		return comet_error_set(error, -err, "cannot look after the run: %s",
				       strerror(-err));
	return 0;
}
