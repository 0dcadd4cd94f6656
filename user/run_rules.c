// SPDX-License-Identifier: Apache-2.0
/* What does a run grant besides its manifest? What the operator has put into the agent's hands. */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "user/base.h"
#include "user/cmd.h"
#include "user/mounts.h"
#include "user/programs.h"
#include "user/run.h"
#include "user/selftest.h"

static int open_in_run(const struct comet_run *run, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};

	return (int)syscall(SYS_openat2, run->root, path, &how, sizeof(how));
}

/* Is the directory of that name in the run the one where comet stands? */
static bool is_here(const struct comet_run *run, const char *path)
{
	_cleanup_close_ int fd = open_in_run(run, path);
	struct stat there, here;

	return fd >= 0 && fstat(fd, &there) == 0 && stat(".", &here) == 0 &&
	       there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

static int choose_directory(struct comet_run *run)
{
	_cleanup_close_ int workdir = open_in_run(run, COMET_WORKDIR);
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	const char *chosen = "/";

	if (workdir >= 0)
		chosen = COMET_WORKDIR;
	else if (cwd && cwd[0] == '/' && is_here(run, cwd))
		chosen = cwd;
	run->directory = strdup(chosen);
	return run->directory ? 0 : -ENOMEM;
}

int comet_run_add_path(struct comet_run *run, const char *path, uint32_t access, bool self_only)
{
	const struct comet_path_rule rule = {
		.path = (char *)path,
		.access = access,
		.self_only = self_only,
		.optional = true,
		.source = COMET_SOURCE_RUN,
	};

	return comet_policy_add_path(run->policy, &rule, &run->error);
}

/* By name as well as by object: programs open the terminal again, by the name that ttyname(3)
 * gives. */
static int add_terminals(struct comet_run *run)
{
	char name[PATH_MAX];
	int err = 0;
	int fd;

	for (fd = 0; err == 0 && fd < 3; fd++)
		if (ttyname_r(fd, name, sizeof(name)) == 0)
			err = comet_run_add_path(run, name, COMET_FS_READ | COMET_FS_WRITE, true);
	return err;
}

/*
 * A semaphore is made under another name, linked and unlinked. Only in the run's own: where the
 * host has none, nor may the run make one.
 */
static int add_shared_memory(struct comet_run *run)
{
	const uint32_t access = COMET_FS_READ | COMET_FS_WRITE | COMET_FS_CHANGE;
	_cleanup_close_ int fd = open_in_run(run, COMET_SHARED_MEMORY);
	struct stat own, host;

	if (fd < 0 || fstat(fd, &own) < 0 ||
	    (stat(COMET_SHARED_MEMORY, &host) == 0 && host.st_dev == own.st_dev))
		return 0;
	return comet_run_add_path(run, COMET_SHARED_MEMORY, access, false);
}

static int program_code(int err)
{
	switch (err) {
	case 0:
		return 0;
	case -ENOENT:
		return COMET_EXIT_NOT_FOUND;
	case -EACCES:
		return COMET_EXIT_NOT_EXECUTABLE;
	case -EINVAL:
		return COMET_EXIT_USAGE;
	default:
		return COMET_EXIT_CONFINE;
	}
}

static int add_programs(struct comet_run *run)
{
	const char *path = comet_environment_get(run->environment, "PATH");
	const struct comet_programs programs = {
		.root = run->root,
		.directory = run->directory,
		.path = path ? path : COMET_DEFAULT_PATH,
		.account = &run->account,
		.warn = comet_run_report_warn,
		.warn_context = &run->report,
	};

	return program_code(comet_programs_grant(&programs, run->options.command[0], run->policy,
						 &run->program, &run->error));
}

int comet_run_add_rules(struct comet_run *run)
{
	if (choose_directory(run) < 0) {
		comet_error_set(&run->error, ENOMEM, "out of memory");
		return COMET_EXIT_CONFINE;
	}
	if (comet_run_add_path(run, run->directory, COMET_FS_STAT | COMET_FS_QUIET, true) < 0 ||
	    add_shared_memory(run) < 0 || add_terminals(run) < 0)
		return COMET_EXIT_CONFINE;
	return add_programs(run);
}

/* What the operator has opened is meant, a terminal too. */
static uint32_t access_of(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return 0;
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return COMET_FS_READ | COMET_FS_STAT | COMET_FS_DEVICE;
	case O_WRONLY:
		return COMET_FS_WRITE | COMET_FS_STAT | COMET_FS_DEVICE;
	default:
		return COMET_FS_READ | COMET_FS_WRITE | COMET_FS_STAT | COMET_FS_DEVICE;
	}
}

static int add_object(struct comet_run *run, int fd, uint32_t access)
{
	return comet_enforcer_add_object(run->enforcer, run->policy_id, fd, access, &run->error);
}

static int add_canary(struct comet_run *run)
{
	_cleanup_close_ int fd = comet_selftest_open(run->root, run->canary);

	if (fd < 0)
		return comet_error_set(&run->error, errno, "cannot open %s: %s", run->canary,
				       strerror(errno));
	return add_object(run, fd, COMET_FS_SELFTEST);
}

int comet_run_add_objects(struct comet_run *run)
{
	/* With --json the agent's output goes to pipes of comet's own. */
	int last = run->options.json ? STDIN_FILENO : STDERR_FILENO;
	int err = add_canary(run);
	int fd;

	for (fd = 0; err == 0 && fd <= last; fd++)
		err = add_object(run, fd, access_of(fd));
	if (err == 0 && run->terminal.fd >= 0)
		err = add_object(run, run->terminal.fd, access_of(run->terminal.fd));
	return err < 0 ? COMET_EXIT_CONFINE : 0;
}
