// SPDX-License-Identifier: Apache-2.0
/* What does a run do with many refusals, long paths and signals? */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
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
	{ "storm", 3, storm },
	{ "deep", 3, deep },
	{ "signals", 1, signals },
	{ NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
