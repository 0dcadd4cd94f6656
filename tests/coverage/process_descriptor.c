// SPDX-License-Identifier: Apache-2.0
/* What can be done to a process outside of which one has a descriptor, however it came? */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/coverage/process.h"

#define SO_PEERPIDFD_NUMBER 77
#define PIDFS_ROOT (-10002)
#define SIGNAL_PROCESS_GROUP (1U << 2)

static int signal_by(int pidfd, unsigned int flags)
{
	return road_result(syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, flags));
}

/* From 6.9 on. */
static int call_signal_group(int pidfd)
{
	int result = signal_by(pidfd, SIGNAL_PROCESS_GROUP);

	return result == -EINVAL ? -ENOSYS : result;
}

static int signal_group(const struct place *place)
{
	return process_on_other_fd(place, call_signal_group);
}

static int call_release(int pidfd)
{
	return road_result(syscall(SYS_process_mrelease, pidfd, 0));
}

static int release(const struct place *place)
{
	return process_on_other_fd(place, call_release);
}

static int call_release_killed(int pidfd)
{
	int result;

	road_must(syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0), "pidfd_send_signal");
	result = call_release(pidfd);
	return result == -ESRCH ? 0 : result; /* it is gone already */
}

static int release_killed(const struct place *place)
{
	return process_on_other_fd(place, call_release_killed);
}

/* From 6.18 on, and for root. */
static int call_mark(int pidfd)
{
	int result = road_result(fsetxattr(pidfd, "trusted.road", "x", 1, 0));

	return result == -EOPNOTSUPP ? -ENOSYS : result;
}

static int mark(const struct place *place)
{
	return process_on_other_fd(place, call_mark);
}

static int call_poll(int pidfd)
{
	return road_result(fcntl(pidfd, F_GETFD));
}

static int hold_own(const struct place *place)
{
	return process_on_other_fd(place, call_poll);
}

/* A process outside that anybody may speak to, and that is looked after. */
static void be_peer(const struct place *place, int ready)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (setresgid(place->uid, place->uid, place->uid) < 0 ||
	    setresuid(place->uid, place->uid, place->uid) < 0)
		_exit(2);
	/* A change of user makes it untraceable for its own user, and forgets what it asked for. */
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", road_mine(place, "s"));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 4) < 0 ||
	    write(ready, "", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

static void keep_peer(const struct place *place)
{
	int ready[2];
	char byte;
	pid_t pid;

	road_must(pipe(ready), "pipe");
	pid = fork();
	road_must(pid, "fork");
	if (pid == 0)
		be_peer(place, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		road_broken("the peer");
	road_ready(place);
	road_must(waitpid(pid, NULL, WUNTRACED), "waitpid");
	place_happened(place);
}

/* A descriptor of whoever is at the other end: it takes no number to get one. */
static int peer_of(int fd)
{
	int pidfd;
	socklen_t size = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD_NUMBER, &pidfd, &size) == 0)
		return pidfd;
	if (errno != ENOPROTOOPT)
		road_broken("SO_PEERPIDFD");
	return -ENOSYS;
}

static int with_peer(const struct place *place, int (*call)(int pidfd))
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ends[2], pidfd;

	if (place->side == ROAD_DECLARED) { /* it is the caller itself */
		road_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	} else {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s", road_mine(place, "s"));
		ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		road_must(connect(ends[0], (struct sockaddr *)&address, sizeof(address)),
			  "connecting to a declared socket");
	}
	pidfd = peer_of(ends[0]);
	return pidfd < 0 ? pidfd : call(pidfd);
}

static int call_signal(int pidfd)
{
	signal(SIGUSR1, SIG_IGN);
	return signal_by(pidfd, 0);
}

static int call_getfd(int pidfd)
{
	return road_fd(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int signal_peer(const struct place *place)
{
	return with_peer(place, call_signal);
}

static int take_from_peer(const struct place *place)
{
	return with_peer(place, call_getfd);
}

/* A file handle of a process, as anybody outside can tell it: 6.17 opens it again. */
union handle {
	struct file_handle head;
	char space[sizeof(struct file_handle) + 32];
};

static bool handle_of(int pidfd, union handle *handle)
{
	int mount;

	handle->head.handle_bytes = 32;
	return name_to_handle_at(pidfd, "", &handle->head, &mount, AT_EMPTY_PATH) == 0;
}

static void tell_handle(const struct place *place, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	char text[128] = "-";
	union handle handle;

	road_must(pidfd, "pidfd_open");
	if (handle_of(pidfd, &handle))
		for (unsigned int i = 0; i < handle.head.handle_bytes; i++)
			snprintf(text + i * 2, sizeof(text) - i * 2, "%02x",
				 (unsigned char)handle.head.f_handle[i]);
	place_tell(place, "handle %d %s", handle.head.handle_type, text);
	close(pidfd);
}

static void stay_and_tell_handle(const struct place *place)
{
	pid_t keeper = fork();

	road_must(keeper, "fork");
	if (keeper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		process_stay(place);
		pause();
	}
	while (atoi(place_told(place)) <= 0)
		usleep(1000);
	tell_handle(place, (pid_t)atoi(place_told(place)));
}

static int open_handle(union handle *handle)
{
	int pidfd = open_by_handle_at(PIDFS_ROOT, &handle->head, 0), result;

	if (pidfd < 0)
		return errno == EBADF ? -ENOSYS : -errno;
	result = signal_by(pidfd, 0);
	close(pidfd);
	return result;
}

static int signal_by_handle(const struct place *place)
{
	union handle handle = { 0 };
	const char *told;
	unsigned int byte;
	char text[128];

	while (strncmp(told = place_told(place), "handle ", 7) != 0)
		usleep(1000);
	if (sscanf(told, "handle %d %127s", &handle.head.handle_type, text) != 2)
		road_broken("a handle: %s", told);
	if (strcmp(text, "-") == 0)
		return -ENOSYS;
	for (unsigned int i = 0; sscanf(text + i * 2, "%2x", &byte) == 1; i++) {
		handle.head.f_handle[i] = (unsigned char)byte;
		handle.head.handle_bytes = i + 1;
	}
	return open_handle(&handle);
}

static int call_own_handle(int pidfd)
{
	union handle handle = { 0 };

	return handle_of(pidfd, &handle) ? open_handle(&handle) : -ENOSYS;
}

static int signal_own_by_handle(const struct place *place)
{
	return process_on_other_fd(place, call_own_handle);
}

/* Whoever adopts it would be its tracer: the host's process 1, or the run's own. */
static int traced_by_adopter(void)
{
	pid_t parent = getpid();
	int report[2], failed = 0;

	road_must(pipe(report), "pipe");
	parent = fork();
	road_must(parent, "fork");
	if (parent == 0) {
		parent = getpid();
		if (fork() != 0)
			_exit(0);
		while (getppid() == parent)
			usleep(1000);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			failed = errno;
		_exit(write(report[1], &failed, sizeof(failed)) < 0);
	}
	waitpid(parent, NULL, 0);
	road_must(read(report[0], &failed, sizeof(failed)), "read");
	return -failed;
}

static int trace_me_there(const struct place *place)
{
	(void)place;
	return traced_by_adopter();
}

static int trace_me_here(const struct place *place)
{
	pid_t pid = fork();
	int status;

	(void)place;
	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? errno : 0);
	road_must(waitpid(pid, &status, 0), "waitpid");
	return -WEXITSTATUS(status);
}

#define BY_DESCRIPTOR(text, asked, function, who)                                                  \
	.name = text, .surface = "ipc", .op = asked, .try = function, .hidden = { EPERM },         \
	.outside = who

static const struct road process_descriptor[] = {
	{ BY_DESCRIPTOR("pidfd_send_signal to a process group", "signal", signal_group,
			process_stay),
	  .walled = { ESRCH }, .since = 0x0609 },
	/* In another pid namespace the kernel takes no such descriptor. */
	{ BY_DESCRIPTOR("pidfd_send_signal to the peer of a UNIX socket (SO_PEERPIDFD)", "signal",
			signal_peer, keep_peer),
	  .walled = { EINVAL }, .since = 0x0605 },
	/* Root outside has more capabilities than root in a run. */
	{ BY_DESCRIPTOR("pidfd_getfd of the peer of a UNIX socket (SO_PEERPIDFD)", "ptrace",
			take_from_peer, keep_peer),
	  .walled = { EPERM }, .since = 0x0605 },
	{ BY_DESCRIPTOR("open_by_handle_at of a process (pidfs), pidfd_send_signal", "signal",
			signal_by_handle, stay_and_tell_handle),
	  .twin = signal_own_by_handle, .walled = { ESTALE }, .since = 0x0611 },
	{
		.name = "setxattr of a process (pidfs)",
		.surface = "kernel",
		.op = "capability",
		.try = mark,
		.twin = hold_own,
		.hidden = { EPERM },
		.walled = { ESRCH },
		.outside = process_stay,
		.since = 0x0612,
		.hooked = 0x0612, /* where there are none, the object may not be changed at all */
	},
	{
		.name = "process_mrelease",
		.surface = "ipc",
		.try = release,
		.twin = release_killed,
		.hidden = { EINVAL },
		.walled = { ESRCH },
		.outside = process_stay,
		.flags = ROAD_NO_EVENT,
		.why = "the kernel frees nothing but the memory of who is being killed already",
	},
	{
		/*
		 * In a run its own first process adopts it, which is held alike; of root's it has
		 * fewer capabilities.
		 */
		.name = "ptrace PTRACE_TRACEME of a parent outside",
		.surface = "ipc",
		.op = "ptrace",
		.try = trace_me_there,
		.twin = trace_me_here,
		.hidden = { EPERM },
		.walled = { ROAD_SUCCEEDS, EPERM },
	},
};
ROADS(process_descriptor);
