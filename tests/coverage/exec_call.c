// SPDX-License-Identifier: Apache-2.0
/* By which calls, and under which names, can an undeclared program be started? */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/exec.h"

static char *const no_environment[] = { NULL };

static int by_execve(const struct place *place)
{
	return exec_start(place, exec_execve, exec_own(place), -1, NULL);
}

/* What may not be read can be opened so all the same: no hook sees it. */
static int opened(const struct place *place)
{
	return (int)road_must(open(exec_own(place), O_PATH | O_CLOEXEC), "O_PATH");
}

static void call_execveat(const char *program, int fd, char *const argv[])
{
	syscall(SYS_execveat, fd, strrchr(program, '/') + 1, argv, no_environment, 0);
}

static int by_execveat(const struct place *place)
{
	const char *program = exec_own(place);
	int length = (int)(strrchr(program, '/') - program);
	int fd = open(road_path("%.*s", length, program), O_PATH | O_DIRECTORY | O_CLOEXEC);

	road_must(fd, "the program's directory");
	return exec_start(place, call_execveat, program, fd, NULL);
}

static int by_empty_path(const struct place *place)
{
	return exec_start(place, exec_by_fd, exec_own(place), opened(place), NULL);
}

static void call_fexecve(const char *program, int fd, char *const argv[])
{
	(void)program;
	fexecve(fd, argv, no_environment);
}

static int by_fexecve(const struct place *place)
{
	return exec_start(place, call_fexecve, exec_own(place), opened(place), NULL);
}

static void call_proc_fd(const char *program, int fd, char *const argv[])
{
	(void)program;
	execve(road_path("/proc/self/fd/%d", fd), argv, no_environment);
}

static int by_proc_fd(const struct place *place)
{
	return exec_start(place, call_proc_fd, exec_own(place), opened(place), NULL);
}

static void call_proc_root(const char *program, int fd, char *const argv[])
{
	(void)fd;
	execve(road_path("/proc/self/root%s", program), argv, no_environment);
}

static int by_proc_root(const struct place *place)
{
	return exec_start(place, call_proc_root, exec_own(place), -1, NULL);
}

static void call_relative(const char *program, int fd, char *const argv[])
{
	const char *name = strrchr(program, '/') + 1;

	(void)fd;
	road_must(chdir(road_path("%.*s", (int)(name - program), program)), "chdir");
	execve(road_path("./%s", name), argv, no_environment);
}

static int by_relative_name(const struct place *place)
{
	return exec_start(place, call_relative, exec_own(place), -1, NULL);
}

static int by_symlink(const struct place *place)
{
	const char *name = road_mine(place, "link");
	int result;

	road_must(symlink(exec_own(place), name), "symlink");
	result = exec_start(place, exec_execve, name, -1, NULL);
	place_names(place, "%s", exec_own(place));
	return result;
}

static int with_other_name(const struct place *place)
{
	return exec_start(place, exec_execve, exec_own(place), -1,
			  exec_words(place, exec_program(place, 'd')));
}

static void call_in_vfork(const char *program, int fd, char *const argv[])
{
	static volatile int failed;
	int status = 0;
	pid_t pid;

	(void)fd;
	failed = 0;
	pid = vfork();
	if (pid == 0) {
		execve(program, argv, no_environment);
		failed = errno;
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		failed = errno;
	if (!failed)
		_exit(status != 0);
	errno = failed;
}

static int after_vfork(const struct place *place)
{
	return exec_start(place, call_in_vfork, exec_own(place), -1, NULL);
}

static void call_posix_spawn(const char *program, int fd, char *const argv[])
{
	int status = 0;
	pid_t pid;

	(void)fd;
	errno = posix_spawn(&pid, program, NULL, NULL, argv, no_environment);
	if (errno == 0)
		_exit(waitpid(pid, &status, 0) != pid || status != 0);
}

static int by_posix_spawn(const struct place *place)
{
	return exec_start(place, call_posix_spawn, exec_own(place), -1, NULL);
}

#ifdef __x86_64__
/* The call of 32-bit programs, whose pointers have 32 bits. */
static void call_compat(const char *program, int fd, char *const argv[])
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *pointers = (uint32_t *)low;
	char *text = low + 64;
	long result;

	(void)fd;
	if (low == MAP_FAILED)
		road_broken("mmap");
	for (int i = 0; argv[i] && i < 8; i++) {
		pointers[i] = (uint32_t)(uintptr_t)strcpy(text, argv[i]);
		text += strlen(text) + 1;
	}
	strcpy(text, program);
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(11), "b"(text), "c"(pointers), "d"(0)
		     : "memory", "r8", "r9", "r10", "r11");
	errno = (int)-result;
}

static int by_compat_call(const struct place *place)
{
	return exec_start(place, call_compat, exec_own(place), -1, NULL);
}
#endif

/* From 6.14 on: asks whether it could be started, and starts nothing. */
static void call_check(const char *program, int fd, char *const argv[])
{
	(void)fd;
	if (syscall(SYS_execveat, AT_FDCWD, program, argv, no_environment, 0x10000) == 0)
		_exit(0);
	if (errno == EINVAL)
		errno = ENOSYS;
}

static int check_alone(const struct place *place)
{
	return exec_start(place, call_check, exec_own(place), -1, NULL);
}

#define PROGRAM(text, function)                                                                    \
	.name = text, .surface = "exec", .op = "exec", .try = function, .hidden = { ENOENT },      \
	.readable = { EACCES }, .prepare = exec_prepare, .grants = exec_grants,                    \
	.harmed = exec_ran, .flags = ROAD_CHANGES

static const struct road exec_calls[] = {
	{ PROGRAM("execve", by_execve) },
	{ PROGRAM("execveat of a name in a directory", by_execveat) },
	{ PROGRAM("execveat of a descriptor (AT_EMPTY_PATH)", by_empty_path) },
	{ PROGRAM("fexecve", by_fexecve) },
	{
		.name = "execveat with AT_EXECVE_CHECK",
		.surface = "exec",
		.op = "exec",
		.try = check_alone,
		.hidden = { ENOENT },
		.prepare = exec_prepare,
		.grants = exec_grants,
		.harmed = exec_ran,
		.since = 0x060e,
	},
	{
		.name = "execveat with AT_EXECVE_CHECK of what may be read alone",
		.surface = "exec",
		.try = check_alone,
		.readable = { ROAD_SUCCEEDS },
		.prepare = exec_prepare,
		.grants = exec_grants,
		.harmed = exec_ran,
		.flags = ROAD_LEAKS,
		.since = 0x060e,
		.why = "starts nothing; the kernel asks no hook that judges programs, so the "
		       "answer is that of the file's mode",
	},
	{ PROGRAM("execve of /proc/self/fd/N", by_proc_fd) },
	{ PROGRAM("execve below /proc/self/root", by_proc_root) },
	{ PROGRAM("execve of a relative name", by_relative_name) },
	{ PROGRAM("execve of a symbolic link", by_symlink) },
	{ PROGRAM("execve with the first argument of a declared program", with_other_name) },
	{ PROGRAM("vfork and execve", after_vfork) },
	{ PROGRAM("posix_spawn", by_posix_spawn) },
#ifdef __x86_64__
	{ PROGRAM("execve by the call of 32-bit programs", by_compat_call) },
#endif
};
ROADS(exec_calls);
