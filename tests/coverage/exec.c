// SPDX-License-Identifier: Apache-2.0
/* How does a row start a program, and how does it know what came of it? */
#include "tests/coverage/exec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL "/usr/bin/dash"

static char *const no_environment[] = { NULL };

const char *exec_program(const struct place *place, char which)
{
	if (which == 'r')
		return road_path("%s/readable/%03u/program", place->root, place->number);
	return road_path("%s/programs/%03u-%c", place->root, place->number, which);
}

const char *exec_own(const struct place *place)
{
	return exec_program(place, "hr d"[place->side]);
}

void exec_copy_to(const char *from, int to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	char block[65536];
	ssize_t n;

	road_must(in, from);
	while ((n = read(in, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)n) != n)
			road_broken("writing a copy of %s", from);
	road_must(n, from);
	close(in);
}

void exec_copy(const char *from, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	road_must(out, to);
	exec_copy_to(from, out);
	road_must(fchmod(out, 0755), to);
	close(out);
}

void exec_prepare(const struct place *place)
{
	const char *directory = road_path("%s/programs", place->root);

	place_default(place);
	if (place->side == ROAD_READABLE)
		exec_copy(SHELL, exec_own(place));
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		road_broken("%s", directory);
	/* Both, as a row may need either on either side. */
	if (access(exec_program(place, 'd'), F_OK) == 0)
		return;
	exec_copy(SHELL, exec_program(place, 'd'));
	exec_copy(SHELL, exec_program(place, 'h'));
}

void exec_grants(const struct place *place)
{
	road_grant("exec %s", exec_program(place, 'd'));
}

bool exec_ran(const struct place *place)
{
	return access(road_mine(place, "ran"), F_OK) == 0;
}

char *const *exec_words(const struct place *place, const char *name)
{
	static char *words[] = { NULL, (char *)"-c", (char *)": >\"$0\"", NULL, NULL };

	words[0] = (char *)name;
	words[3] = (char *)road_mine(place, "ran");
	return words;
}

void exec_execve(const char *program, int fd, char *const argv[])
{
	(void)fd;
	execve(program, argv, no_environment);
}

void exec_by_fd(const char *program, int fd, char *const argv[])
{
	(void)program;
	syscall(SYS_execveat, fd, "", argv, no_environment, AT_EMPTY_PATH);
}

int exec_start(const struct place *place, exec_call *call, const char *program, int fd,
	       char *const argv[])
{
	int report[2], failed = 0, status;
	pid_t pid;

	place_names(place, "%s", program);
	road_must(pipe2(report, O_CLOEXEC), "pipe");
	pid = fork();
	road_must(pid, "fork");
	if (pid == 0) {
		call(program, fd, argv ? argv : exec_words(place, program));
		failed = errno;
		_exit(write(report[1], &failed, sizeof(failed)) == sizeof(failed));
	}
	close(report[1]);
	road_must(read(report[0], &failed, sizeof(failed)), "read");
	road_must(waitpid(pid, &status, 0), "waitpid");
	close(report[0]);
	if (!failed && status != 0)
		road_broken("%s ended with status %d", program, status);
	return -failed;
}

static void await(const char *path)
{
	while (access(path, F_OK) < 0)
		usleep(2000);
}

static void leave(const char *path)
{
	road_must(road_fd(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), path);
}

void exec_ask(const struct place *place)
{
	leave(road_mine(place, "ask"));
	await(road_mine(place, "answer"));
}

void exec_await(const struct place *place)
{
	road_ready(place);
	await(road_mine(place, "ask"));
}

void exec_answer(const struct place *place)
{
	leave(road_mine(place, "answer"));
}
