// SPDX-License-Identifier: Apache-2.0
/*
 * What does one open cost? Prints instructions per operation, given a clock that advances one
 * nanosecond an instruction (QEMU -icount shift=0).
 *
 * opens same PATH COUNT      open and close PATH again and again
 * opens each PREFIX COUNT    wait for a byte on standard input, then open and close PREFIX0,
 *                            PREFIX1, ...
 * opens fork COUNT           fork and wait
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 200 /* fills the caches that a steady state has */

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int open_close(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return 1;
	close(fd);
	return 0;
}

static void result(const char *what, long long start, long count, long failed)
{
	printf("%s %lld %ld\n", what, (now() - start) / count, failed);
}

static void same(const char *path, long count)
{
	long long start;
	long failed = 0;
	long i;

	for (i = 0; i < WARM_UP; i++)
		open_close(path);
	start = now();
	for (i = 0; i < count; i++)
		failed += open_close(path);
	result("same", start, count, failed);
}

static void each(const char *prefix, long count)
{
	char path[4096];
	long long start;
	long failed = 0;
	long i;

	if (read(STDIN_FILENO, path, 1) < 0)
		failed++;
	start = now();
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s%ld", prefix, i);
		failed += open_close(path);
	}
	result("each", start, count, failed);
}

static void forks(long count)
{
	long long start = now();
	long failed = 0;
	long i;

	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			failed++;
	}
	result("fork", start, count, failed);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "same") == 0)
		same(argv[2], atol(argv[3]));
	else if (argc == 4 && strcmp(argv[1], "each") == 0)
		each(argv[2], atol(argv[3]));
	else if (argc == 3 && strcmp(argv[1], "fork") == 0)
		forks(atol(argv[2]));
	else
		return 2;
	return 0;
}
