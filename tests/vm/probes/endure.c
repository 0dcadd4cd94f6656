// SPDX-License-Identifier: Apache-2.0
/* What does a run do with many refusals, long paths and signals? */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

/* DIR FILES TIMES: opens 0, 1, ... FILES-1 in turn, TIMES in all; how often ENOENT came back. */
static int storm(char **words)
{
	int files = atoi(words[1]), times = atoi(words[2]);
	int i, fd, refused = 0;
	char path[256];

	for (i = 0; i < times; i++) {
		snprintf(path, sizeof(path), "%s/%d", words[0], i % files);
		fd = open(path, O_RDONLY);
		refused += fd < 0 && errno == ENOENT;
		if (fd >= 0)
			close(fd);
	}
	return refused;
}

/* Makes a file, a directory or a link of the path, or sends to that port, as i says. */
static int one_of_many(const char *path, int i, int udp)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(1024 + i % 64000)),
		/* A port may come twice, then at another address. */
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)i / 64000),
	};

	switch (i % 4) {
	case 0:
		return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	case 1:
		return mkdir(path, 0755);
	case 2:
		return symlink("anywhere", path);
	default:
		return (int)sendto(udp, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
	}
}

/* DIR TIMES: as many calls, no two alike; how many were refused. */
static int flood(char **words)
{
	int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int times = atoi(words[1]);
	int i, refused = 0;
	char path[256];

	for (i = 0; i < times; i++) {
		snprintf(path, sizeof(path), "%s/%d", words[0], i);
		refused += one_of_many(path, i, udp) < 0;
	}
	close(udp);
	return refused;
}

/* From now on it runs only where nobody else wants the first CPU. */
static int idle(char **words)
{
	const struct sched_param none = { 0 };
	cpu_set_t first;

	(void)words;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first) < 0)
		return -errno;
	return probe_errno(sched_setscheduler(0, SCHED_IDLE, &none));
}

/* DIR TIMES MS: opens 0, 1, ... of DIR, one after each pause; how many were refused. */
static int drip(char **words)
{
	int times = atoi(words[1]);
	int i, fd, refused = 0;
	char path[256];

	for (i = 0; i < times; i++) {
		usleep((useconds_t)atoi(words[2]) * 1000);
		snprintf(path, sizeof(path), "%s/%d", words[0], i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		refused += fd < 0;
		if (fd >= 0)
			close(fd);
	}
	return refused;
}

/* DIR NAME FILE: opens FILE in the deepest of directories of that name in one another. */
static int deep(char **words)
{
	int fd;

	if (chdir(words[0]) < 0)
		return -errno;
	while (chdir(words[1]) == 0)
		;
	fd = open(words[2], O_RDONLY);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* LOG: adds the number of each signal that comes, to the end of SIGTERM. */
static int signals(char **words)
{
	int fd = open(words[0], O_WRONLY | O_CREAT | O_APPEND, 0644);
	sigset_t all;
	int sig;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (fd < 0 || dprintf(fd, "ready\n") < 0)
		return -errno;
	do
		sig = sigwaitinfo(&all, NULL);
	while (dprintf(fd, "%d\n", sig) > 0 && sig != SIGTERM);
	return 0;
}

static const struct probe_op ops[] = {
	{ "storm", 3, storm }, { "flood", 2, flood },     { "drip", 3, drip }, { "idle", 0, idle },
	{ "deep", 3, deep },   { "signals", 1, signals }, { NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
