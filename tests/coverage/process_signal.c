// SPDX-License-Identifier: Apache-2.0
/* By which calls can a process outside be signalled? */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/process.h"

static int call_kill(pid_t pid)
{
	return road_result(kill(pid, SIGUSR1));
}

static int call_kill_group(pid_t pid)
{
	return road_result(kill(-pid, SIGUSR1));
}

static int call_kill_zero(pid_t pid)
{
	return road_result(kill(pid, 0));
}

static int call_stop(pid_t pid)
{
	return road_result(kill(pid, SIGSTOP));
}

static int call_tkill(pid_t pid)
{
	return road_result(syscall(SYS_tkill, pid, SIGUSR1));
}

static int call_tgkill(pid_t pid)
{
	return road_result(syscall(SYS_tgkill, pid, pid, SIGUSR1));
}

static siginfo_t queued(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGUSR1;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	return info;
}

static int call_queue(pid_t pid)
{
	siginfo_t info = queued();

	return road_result(syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &info));
}

static int call_queue_thread(pid_t pid)
{
	siginfo_t info = queued();

	return road_result(syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGUSR1, &info));
}

static int call_pidfd(int fd)
{
	return road_result(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}

#define TRY(call)                                                                                  \
	static int try_##call(const struct place *place)                                           \
	{                                                                                          \
		return process_on_other(place, call_##call);                                       \
	}
TRY(kill)
TRY(kill_group)
TRY(kill_zero)
TRY(stop)
TRY(tkill)
TRY(tgkill)
TRY(queue)
TRY(queue_thread)

static int try_pidfd(const struct place *place)
{
	return process_on_other_fd(place, call_pidfd);
}

/* A signal that nobody inside minds. */
static int signal_everybody(const struct place *place)
{
	(void)place;
	return road_result(kill(-1, SIGURG));
}

static int signal_own_group(const struct place *place)
{
	(void)place;
	road_must(setpgid(0, 0), "setpgid");
	return road_result(kill(0, SIGURG));
}

static int signal_first(const struct place *place)
{
	(void)place;
	return road_result(kill(1, SIGURG));
}

static int signal_self(const struct place *place)
{
	(void)place;
	return road_result(kill(getpid(), SIGURG));
}

/* The number of a process of this name, whosever it is, once there is one. */
static pid_t find(const char *name)
{
	char line[64] = "";
	FILE *found;

	for (;;) {
		found = popen(road_path("pgrep -ox %s", name), "re");
		if (!found)
			road_broken("pgrep");
		if (fgets(line, sizeof(line), found)) {
			pclose(found);
			return (pid_t)atoi(line);
		}
		pclose(found);
		usleep(50000);
	}
}

static void tell_comet(const struct place *place)
{
	place_tell(place, "%d", find("comet"));
	road_ready(place);
}

static void tell_guard(const struct place *place)
{
	place_tell(place, "%d", find("comet-guard"));
	road_ready(place);
}

static int signal_told(const struct place *place, int sig)
{
	pid_t pid = (pid_t)atoi(place_told(place));

	if (place->side == ROAD_DECLARED)
		return process_on_other(place, sig == SIGKILL ? call_kill : call_stop);
	/* In a pid namespace of its own this may be the number of somebody of the run. */
	if (road_walled() && kill(pid, 0) == 0)
		return -ESRCH;
	return road_result(kill(pid, sig));
}

static int kill_told(const struct place *place)
{
	return signal_told(place, SIGKILL);
}

static int stop_told(const struct place *place)
{
	return signal_told(place, SIGSTOP);
}

static int own_pipe(void)
{
	int ends[2];

	road_must(pipe(ends), "pipe");
	return ends[0];
}

static int set_owner(const struct place *place)
{
	return road_result(fcntl(own_pipe(), F_SETOWN, atoi(place_told(place))));
}

static int set_owner_group(const struct place *place)
{
	return road_result(fcntl(own_pipe(), F_SETOWN, -atoi(place_told(place))));
}

static int set_owner_ex(const struct place *place)
{
	struct f_owner_ex owner = { .type = F_OWNER_PID, .pid = atoi(place_told(place)) };

	return road_result(fcntl(own_pipe(), F_SETOWN_EX, &owner));
}

static int own_oneself(const struct place *place)
{
	(void)place;
	return road_result(fcntl(own_pipe(), F_SETOWN, getpid()));
}

static int own_by_group(const struct place *place)
{
	(void)place;
	return road_result(fcntl(own_pipe(), F_SETOWN, -getpgrp()));
}

static int set_owner_by_ioctl(const struct place *place, unsigned long request)
{
	int pid = atoi(place_told(place));

	return road_result(ioctl(own_pipe(), request, &pid));
}

static int ioctl_setown(const struct place *place)
{
	return set_owner_by_ioctl(place, 0x8901 /* FIOSETOWN */);
}

static int ioctl_setpgrp(const struct place *place)
{
	return set_owner_by_ioctl(place, 0x8902 /* SIOCSPGRP */);
}

#define SIGNAL(text, function)                                                                     \
	.name = text, .surface = "ipc", .op = "signal", .try = function, .hidden = { EPERM },      \
	.walled = { ESRCH }

static const struct road process_signal[] = {
	{ SIGNAL("kill", try_kill), .outside = process_stay },
	{ SIGNAL("kill of a process group", try_kill_group), .outside = process_stay },
	{ SIGNAL("kill with signal 0", try_kill_zero), .outside = process_stay },
	{ SIGNAL("kill with SIGSTOP", try_stop), .outside = process_stay },
	{ SIGNAL("tkill", try_tkill), .outside = process_stay },
	{ SIGNAL("tgkill", try_tgkill), .outside = process_stay },
	{ SIGNAL("rt_sigqueueinfo", try_queue), .outside = process_stay },
	{ SIGNAL("rt_tgsigqueueinfo", try_queue_thread), .outside = process_stay },
	{ SIGNAL("pidfd_send_signal", try_pidfd), .outside = process_stay },
	{
		/* Reaches all of the run, so it succeeds; who is outside is passed over. */
		.name = "kill(-1)",
		.surface = "ipc",
		.op = "signal",
		.try = signal_everybody,
		.twin = signal_own_group,
		.hidden = { ROAD_SUCCEEDS, EPERM },
		.walled = { ROAD_SUCCEEDS },
		.outside = process_stay,
	},
	{
		/* The run's own, of a pid namespace: it takes no signal from within. */
		.name = "kill of process 1",
		.surface = "ipc",
		.op = "signal",
		.try = signal_first,
		.twin = signal_self,
		.hidden = { EPERM },
		.walled = { ROAD_SUCCEEDS, EPERM },
	},
	{ SIGNAL("kill of Comet", kill_told), .outside = tell_comet },
	{ SIGNAL("stopping Comet", stop_told), .outside = tell_comet },
	{ SIGNAL("kill of Comet's guard", kill_told), .outside = tell_guard },
	{ SIGNAL("F_SETOWN", set_owner), .twin = own_oneself, .outside = process_stay },
	{ SIGNAL("F_SETOWN of a process group", set_owner_group), .twin = own_by_group,
	  .outside = process_stay },
	{ SIGNAL("F_SETOWN_EX", set_owner_ex), .twin = own_oneself, .outside = process_stay },
	{
		.name = "ioctl FIOSETOWN",
		.surface = "kernel",
		.op = "ioctl",
		.try = ioctl_setown,
		.twin = own_oneself,
		.hidden = { EPERM },
		.outside = process_stay,
	},
	{
		.name = "ioctl SIOCSPGRP",
		.surface = "kernel",
		.op = "ioctl",
		.try = ioctl_setpgrp,
		.twin = own_oneself,
		.hidden = { EPERM },
		.outside = process_stay,
	},
};
ROADS(process_signal);
