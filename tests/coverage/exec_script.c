// SPDX-License-Identifier: Apache-2.0
/* Do scripts, their interpreters and handlers of other formats start what nobody declared? */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/exec.h"

#define HANDLERS "/proc/sys/fs/binfmt_misc"

/* Scripts that are declared, whatever side it is. */
static const char *script_of(const struct place *place, char which, const char *name)
{
	return road_path("%s/programs/%03u-%c.%s", place->root, place->number, which, name);
}

static const char *own_script(const struct place *place, const char *name)
{
	return script_of(place, "hr d"[place->side], name);
}

static void write_text(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		road_broken("writing");
}

/* Where it exists, it stays the same file. */
static void write_script(const char *path, const char *first)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	road_must(fd, path);
	write_text(fd, first);
	write_text(fd, "\n" EXEC_SCRIPT);
	road_must(fchmod(fd, 0755), path);
	close(fd);
}

static const char *line_for(const char *interpreter)
{
	return road_path("#!%s", interpreter);
}

static int start_script(const struct place *place, exec_call *call, const char *script, int fd)
{
	char *const argv[] = { (char *)script, (char *)road_mine(place, "ran"), NULL };

	return exec_start(place, call, script, fd, argv);
}

/* A script in the place of the row's program, of an interpreter that is declared. */
static const char *interpreter(const struct place *place)
{
	return script_of(place, 'd', "shell");
}

static void prepare_script(const struct place *place)
{
	exec_prepare(place);
	if (access(interpreter(place), F_OK) < 0)
		exec_copy(exec_program(place, 'd'), interpreter(place));
	write_script(exec_own(place), line_for(interpreter(place)));
}

/* The interpreter is so, too. */
static void grant_script(const struct place *place)
{
	road_grant("exec %s", exec_program(place, 'd'));
}

static int start_by_name(const struct place *place)
{
	return start_script(place, exec_execve, exec_own(place), -1);
}

static int start_by_fd(const struct place *place)
{
	/* Not to be closed: the interpreter is told /dev/fd/N. */
	int fd = open(exec_own(place), O_PATH);

	road_must(fd, "O_PATH");
	return start_script(place, exec_by_fd, exec_own(place), fd);
}

static int start_declared(const struct place *place)
{
	int result = start_script(place, exec_execve, own_script(place, "a"), -1);

	place_names(place, "%s", exec_own(place));
	return result;
}

static void prepare_declared(const struct place *place)
{
	exec_prepare(place);
	write_script(own_script(place, "a"), line_for(exec_program(place, 'd')));
}

/* Scripts a, b and c that lead to a declared program while the manifest is read. */
static void prepare_chain(const struct place *place)
{
	exec_prepare(place);
	write_script(own_script(place, "a"), line_for(own_script(place, "b")));
	write_script(own_script(place, "b"), line_for(own_script(place, "c")));
	write_script(own_script(place, "c"), line_for(exec_program(place, 'd')));
}

static void grant_chains(const struct place *place)
{
	for (const char *which = "hrd"; *which; which++)
		road_grant("exec %s", script_of(place, *which, "a"));
}

/* But on the declared side, another interpreter, which nobody declared. */
static void redirect(const struct place *place, const char *name)
{
	exec_await(place);
	write_script(own_script(place, name), line_for(exec_own(place)));
	exec_answer(place);
}

static void redirect_first(const struct place *place)
{
	redirect(place, "a");
}

static void redirect_last(const struct place *place)
{
	redirect(place, "c");
}

static int start_redirected(const struct place *place)
{
	exec_ask(place);
	return start_declared(place);
}

/* The file is declared, and starts with an assignment, for the shell that is its handler. */
static void make_handler(const struct place *place, const char *flags)
{
	unsigned id = place->number * 10 + (unsigned)place->side;
	int fd;

	exec_prepare(place);
	write_script(own_script(place, "a"), road_path("ROAD_%05u=1", id));
	if (access(HANDLERS "/register", F_OK) < 0)
		road_must(mount("none", HANDLERS, "binfmt_misc", 0, NULL), "mount binfmt_misc");
	/* Of the persona before. */
	fd = open(road_path(HANDLERS "/road-%05u", id), O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		write_text(fd, "-1");
	close(fd);
	fd = open(HANDLERS "/register", O_WRONLY | O_CLOEXEC);
	road_must(fd, "register");
	write_text(fd,
		   road_path(":road-%05u:M::ROAD_%05u=::%s:%s", id, id, exec_own(place), flags));
	close(fd);
}

static void prepare_handler(const struct place *place)
{
	make_handler(place, "");
}

static void prepare_open_handler(const struct place *place)
{
	make_handler(place, "F");
}

static void grant_handled(const struct place *place)
{
	grant_chains(place);
	exec_grants(place);
}

static int open_register(const struct place *place)
{
	place_names(place, HANDLERS "/register");
	return road_fd(open(HANDLERS "/register", O_WRONLY | O_CLOEXEC));
}

static int open_mine(const struct place *place)
{
	return road_fd(open(place->mine, O_WRONLY | O_CLOEXEC));
}

#ifdef __x86_64__
/* openat(AT_FDCWD, rdi, O_RDONLY) */
static const unsigned char open_code[] = {
	0x48, 0x89, 0xfe,                         /* mov %rdi, %rsi */
	0x48, 0xc7, 0xc7, 0x9c, 0xff, 0xff, 0xff, /* mov $-100, %rdi */
	0x31, 0xd2,                               /* xor %edx, %edx */
	0xb8, 0x01, 0x01, 0x00, 0x00,             /* mov $257, %eax */
	0x0f, 0x05, 0xc3,                         /* syscall; ret */
};

static int run_code(const struct place *place)
{
	int fd = open(road_mine(place, "code"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	long (*code)(const char *path);
	long result;
	void *map;

	road_must(fd, "a file");
	road_must(write(fd, open_code, sizeof(open_code)), "write");
	map = mmap(NULL, sizeof(open_code), PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		road_broken("mapping a writable file as code");
	memcpy(&code, &map, sizeof(code));
	result = code(place->target);
	if (result < 0)
		return (int)result;
	return road_read_canary(result);
}
#endif

#define SCRIPT(text, function, before)                                                             \
	.name = text, .surface = "exec", .op = "exec", .try = function, .hidden = { ENOENT },      \
	.readable = { EACCES }, .prepare = before, .harmed = exec_ran, .flags = ROAD_CHANGES

static const struct road exec_scripts[] = {
	{ SCRIPT("execve of a script of a declared interpreter", start_by_name, prepare_script),
	  .grants = grant_script },
	{ SCRIPT("execveat of a script's descriptor", start_by_fd, prepare_script),
	  .grants = grant_script },
	{ SCRIPT("a declared script whose interpreter was changed", start_redirected,
		 prepare_declared),
	  .outside = redirect_first, .grants = grant_chains },
	{ SCRIPT("the end of a chain of three scripts", start_redirected, prepare_chain),
	  .outside = redirect_last, .grants = grant_chains },
	{ SCRIPT("the handler of a format (binfmt_misc)", start_declared, prepare_handler),
	  .grants = grant_handled },
	{ SCRIPT("the handler of a format, opened beforehand (flag F)", start_declared,
		 prepare_open_handler),
	  .grants = grant_handled },
	{
		.name = "registering a handler (binfmt_misc)",
		.surface = "fs.write",
		.op = "open",
		.try = open_register,
		.twin = open_mine,
		.hidden = { ENOENT },
		.prepare = prepare_handler,
		/* The run's own /proc has none. */
		.walled = { ENOENT },
		.flags = ROAD_ROOT,
	},
#ifdef __x86_64__
	{
		.name = "open by code in a mapping (PROT_EXEC) of a writable file",
		.surface = "fs.read",
		.op = "open",
		.try = run_code,
		.hidden = { ENOENT },
	},
#endif
};
ROADS(exec_scripts);
