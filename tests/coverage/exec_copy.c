// SPDX-License-Identifier: Apache-2.0
/* Can a program start from another place than the one that is declared? */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/coverage/exec.h"

/* Where /lib64/ld-linux-x86-64.so.2 and the like lead to on Debian. */
#if defined(__x86_64__)
#define LOADER "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER "/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1"
#endif

/* What the copies are copies of: a program that may be started where it stands. */
static const char *declared(const struct place *place)
{
	return exec_program(place, 'd');
}

static int start_declared(const struct place *place)
{
	return exec_start(place, exec_execve, declared(place), -1, NULL);
}

static int start_copy(const struct place *place)
{
	const char *copy = road_mine(place, "program");

	exec_copy(declared(place), copy);
	return exec_start(place, exec_execve, copy, -1, NULL);
}

static int start_renamed_copy(const struct place *place)
{
	const char *copy = road_mine(place, "program");
	const char *name = road_mine(place, "touch");

	exec_copy(declared(place), copy);
	road_must(rename(copy, name), "rename");
	return exec_start(place, exec_execve, name, -1, NULL);
}

static void prepare_link(const struct place *place)
{
	exec_prepare(place);
	road_must(link(declared(place), road_mine(place, "hard")), "link");
}

static int start_hard_link(const struct place *place)
{
	return exec_start(place, exec_execve, road_mine(place, "hard"), -1, NULL);
}

/* A name may be granted, but not for whatever comes to stand there. */
static void grant_both(const struct place *place)
{
	exec_grants(place);
	road_grant("exec %s", exec_program(place, 'h'));
}

static void replace_program(const struct place *place)
{
	const char *other = road_path("%s.new", exec_program(place, 'h'));

	exec_await(place);
	if (place->side == ROAD_HIDDEN) {
		exec_copy(declared(place), other);
		road_must(rename(other, exec_program(place, 'h')), "rename");
	}
	exec_answer(place);
}

static int start_replaced(const struct place *place)
{
	exec_ask(place);
	return exec_start(place, exec_execve, exec_own(place), -1, NULL);
}

/* fd is for writing: nothing that is open so can be started. */
static int reopen(int fd)
{
	int reading = open(road_path("/proc/self/fd/%d", fd), O_RDONLY);

	road_must(reading, "a descriptor for reading");
	close(fd);
	return reading;
}

static int in_memory(const struct place *place)
{
	int fd = memfd_create("program", 0);

	road_must(fd, "memfd_create");
	exec_copy_to(declared(place), fd);
	return fd;
}

static int start_unnamed(const struct place *place, exec_call *call, int fd)
{
	return exec_start(place, call, road_path("/proc/self/fd/%d", fd), fd, NULL);
}

static int start_memory(const struct place *place)
{
	return start_unnamed(place, exec_by_fd, in_memory(place));
}

static int start_memory_by_proc(const struct place *place)
{
	return start_unnamed(place, exec_execve, in_memory(place));
}

static int start_sealed_memory(const struct place *place)
{
	int fd = memfd_create("program", MFD_ALLOW_SEALING);

	road_must(fd, "memfd_create");
	exec_copy_to(declared(place), fd);
	road_must(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
		  "sealing");
	return start_unnamed(place, exec_by_fd, fd);
}

/* Also where its interpreter is declared. */
static int start_script_in_memory(const struct place *place)
{
	int fd = memfd_create("script", 0);

	road_must(fd, "memfd_create");
	if (dprintf(fd, "#!%s\n" EXEC_SCRIPT, declared(place)) < 0)
		road_broken("writing a script");
	return start_unnamed(place, exec_by_fd, fd);
}

static int start_temporary(const struct place *place)
{
	int fd = open(place->scratch, O_TMPFILE | O_RDWR, 0755);

	road_must(fd, "O_TMPFILE");
	exec_copy_to(declared(place), fd);
	return start_unnamed(place, exec_by_fd, reopen(fd));
}

static int start_deleted(const struct place *place)
{
	const char *copy = road_mine(place, "program");
	int fd;

	exec_copy(declared(place), copy);
	fd = (int)road_must(open(copy, O_RDONLY), copy);
	road_must(unlink(copy), copy);
	return start_unnamed(place, exec_by_fd, fd);
}

static int start_by(const struct place *place, const char *program)
{
	char *argv[6] = { (char *)program };

	memcpy(argv + 1, exec_words(place, exec_program(place, 'h')), 5 * sizeof(argv[0]));

	return exec_start(place, exec_execve, program, -1, argv);
}

static int start_loader(const struct place *place)
{
	return start_by(place, LOADER);
}

static int start_copied_loader(const struct place *place)
{
	const char *copy = road_mine(place, "loader");

	exec_copy(LOADER, copy);
	return start_by(place, copy);
}

#define COPY(text, function)                                                                       \
	.name = text, .surface = "exec", .op = "exec", .try = function, .twin = start_declared,    \
	.hidden = { EACCES }, .prepare = exec_prepare, .grants = exec_grants, .harmed = exec_ran
#define UNNAMED(text, function)                                                                    \
	{                                                                                          \
		COPY(text, function), .flags = ROAD_CHANGES | ROAD_ANY_NAME                        \
	}

static const struct road exec_copies[] = {
	{ COPY("execve of a copy of a declared program", start_copy), .flags = ROAD_CHANGES },
	{ COPY("execve of a copy under the declared program's name", start_renamed_copy),
	  .flags = ROAD_CHANGES },
	{
		.name = "execve of a hard link to a declared program",
		.surface = "exec",
		.op = "exec",
		.try = start_hard_link,
		.twin = start_declared,
		.hidden = { EACCES },
		.prepare = prepare_link,
		.grants = exec_grants,
		.harmed = exec_ran,
		.flags = ROAD_CHANGES,
	},
	{
		.name = "execve of what was renamed over a declared program",
		.surface = "exec",
		.op = "exec",
		.try = start_replaced,
		.hidden = { EACCES },
		.prepare = exec_prepare,
		.outside = replace_program,
		.grants = grant_both,
		.harmed = exec_ran,
		.flags = ROAD_CHANGES,
	},
	UNNAMED("execveat of a memfd", start_memory),
	UNNAMED("execve of a memfd by /proc/self/fd/N", start_memory_by_proc),
	UNNAMED("execveat of a sealed memfd", start_sealed_memory),
	UNNAMED("execveat of a script in a memfd", start_script_in_memory),
	UNNAMED("execveat of an O_TMPFILE file", start_temporary),
	UNNAMED("execveat of a deleted program", start_deleted),
	{ COPY("ld.so PROGRAM", start_loader), .flags = ROAD_CHANGES },
	{ COPY("a copy of ld.so, PROGRAM", start_copied_loader), .flags = ROAD_CHANGES },
};
ROADS(exec_copies);
