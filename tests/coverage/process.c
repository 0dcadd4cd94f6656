// SPDX-License-Identifier: Apache-2.0
/* Who is done to, and how is it known that something was? */
#include "tests/coverage/process.h"

#include <linux/ioprio.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not oftener: there are hundreds of them, on a machine that is emulated. */
#define GLANCE 300000

/* Far above what a run's own pid namespace gets to in a run of all rows. */
#define FIRST_NUMBER 20000

char process_memory[64] = ROAD_CANARY;

static void __attribute__((noreturn)) hurt(int sig)
{
	(void)sig;
	_exit(1);
}

static void __attribute__((noreturn)) be_victim(uid_t uid)
{
	static const int ignored_by_default[] = { SIGURG, SIGWINCH, SIGCHLD, SIGCONT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < sizeof(ignored_by_default) / sizeof(int); i++)
		signal(ignored_by_default[i], hurt);
	setpgid(0, 0);
	if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		_exit(2);
	/* A change of user makes it untraceable for its own user. */
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (strcmp(process_memory, ROAD_CANARY) == 0)
		usleep(GLANCE);
	_exit(3);
}

/* All that can be changed from outside and told from outside, in one line. */
static void describe(pid_t pid, char *text, size_t size)
{
	struct rlimit64 limit = { 0 };
	struct sched_param param = { 0 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	sched_getaffinity(pid, sizeof(cpus), &cpus);
	sched_getparam(pid, &param);
	prlimit64(pid, RLIMIT_NOFILE, NULL, &limit);
	snprintf(text, size, "%d %d %d %d %ld %lu %lu", getpriority(PRIO_PROCESS, (id_t)pid),
		 sched_getscheduler(pid), param.sched_priority, CPU_COUNT(&cpus),
		 syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid), (unsigned long)limit.rlim_cur,
		 (unsigned long)limit.rlim_max);
}

void process_stay(const struct place *place)
{
	pid_t number = FIRST_NUMBER + (pid_t)place->number * 4 + (pid_t)place->side;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (__u64)(uintptr_t)&number,
		.set_tid_size = 1,
	};
	char before[256], now[256];
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	road_must(pid, "clone3");
	if (pid == 0)
		be_victim(place->uid);
	place_tell(place, "%d", pid);
	/* Until it is whom it is to be: then its group is its own. */
	while (getpgid(pid) != pid)
		usleep(1000);
	describe(pid, before, sizeof(before));
	road_ready(place);
	do {
		usleep(GLANCE);
		describe(pid, now, sizeof(now));
	} while (strcmp(before, now) == 0 && waitpid(pid, NULL, WNOHANG | WUNTRACED) == 0);
	place_happened(place);
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	road_must(pid, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	setpgid(pid, pid);
	return pid;
}

int process_on_other(const struct place *place, int (*call)(pid_t pid))
{
	bool own = place->side == ROAD_DECLARED;
	pid_t pid = own ? make_child() : (pid_t)atoi(place_told(place));
	int result;

	if (pid <= 0)
		road_broken("whom?");
	result = call(pid);
	if (own) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return result;
}

static int (*on_fd)(int pidfd);

static int with_fd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), result;

	if (fd < 0)
		return -errno;
	result = on_fd(fd);
	close(fd);
	return result;
}

int process_on_other_fd(const struct place *place, int (*call)(int pidfd))
{
	on_fd = call;
	return process_on_other(place, with_fd);
}
