// SPDX-License-Identifier: Apache-2.0
/* Can a process leave the cgroup that it is held by? */
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"

#define CGROUPS "/sys/fs/cgroup"

static const char *elsewhere(const struct place *place, const char *name)
{
	return road_path(CGROUPS "/road-%03u-%d/%s", place->number, place->side, name);
}

/* A cgroup outside whose files the one who tries may write to, as far as file modes go. */
static void make_cgroup(const struct place *place)
{
	static const char *const files[] = { "",
					     "cgroup.procs",
					     "cgroup.threads",
					     "cgroup.kill",
					     "cgroup.freeze",
					     "cgroup.max.descendants" };

	place_default(place);
	rmdir(elsewhere(place, "")); /* of the persona before */
	if (mkdir(elsewhere(place, ""), 0755) < 0 && errno != EEXIST)
		road_broken("%s", elsewhere(place, ""));
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		road_must(chown(elsewhere(place, files[i]), place->uid, place->uid), files[i]);
}

static void grant_cgroup(const struct place *place)
{
	road_grant("fs.read %s", elsewhere(place, ""));
}

static int join(const struct place *place, const char *file, long number)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	int result;

	place_names(place, "%s", file);
	if (fd < 0)
		return -errno;
	result = dprintf(fd, "%ld", number) < 0 ? -errno : 0;
	close(fd);
	return result;
}

static int join_procs(const struct place *place)
{
	return join(place, elsewhere(place, "cgroup.procs"), getpid());
}

static int join_threads(const struct place *place)
{
	return join(place, elsewhere(place, "cgroup.threads"), syscall(SYS_gettid));
}

static int join_root_procs(const struct place *place)
{
	return join(place, CGROUPS "/cgroup.procs", getpid());
}

static int join_root_threads(const struct place *place)
{
	return join(place, CGROUPS "/cgroup.threads", 0);
}

/* By a descriptor that was opened for nothing but its path. */
static int join_reopened(const struct place *place)
{
	const char *file = elsewhere(place, "cgroup.procs");
	int fd = open(file, O_PATH | O_CLOEXEC), result;

	road_must(fd, file);
	result = join(place, road_path("/proc/self/fd/%d", fd), 0);
	place_names(place, "%s", file);
	return result;
}

static int read_members(const struct place *place)
{
	return road_fd(open(elsewhere(place, "cgroup.procs"), O_RDONLY | O_CLOEXEC));
}

static int clone_into(int dir)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (__u64)dir,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : road_result(waitpid((pid_t)pid, NULL, 0));
}

static int clone_elsewhere(const struct place *place)
{
	int dir = open(elsewhere(place, ""), O_PATH | O_DIRECTORY | O_CLOEXEC);

	road_must(dir, "a cgroup");
	return clone_into(dir);
}

static int fork_here(const struct place *place)
{
	pid_t pid = fork();

	(void)place;
	if (pid == 0)
		_exit(0);
	return road_result(waitpid(pid, NULL, 0));
}

static int make_child_cgroup(const struct place *place)
{
	place_names(place, "%s", elsewhere(place, "child"));
	return road_result(mkdir(elsewhere(place, "child"), 0755));
}

static bool child_is_there(const struct place *place)
{
	return rmdir(elsewhere(place, "child")) == 0;
}

static int kill_cgroup(const struct place *place)
{
	place_names(place, "%s", elsewhere(place, "cgroup.kill"));
	return road_fd(open(elsewhere(place, "cgroup.kill"), O_WRONLY | O_CLOEXEC));
}

static int freeze_cgroup(const struct place *place)
{
	return join(place, elsewhere(place, "cgroup.freeze"), 1);
}

static int limit_cgroup(const struct place *place)
{
	return join(place, elsewhere(place, "cgroup.max.descendants"), 1);
}

static bool holds_one(const struct place *place, const char *name)
{
	char text[8] = "";
	int fd = open(elsewhere(place, name), O_RDONLY | O_CLOEXEC);

	road_must(fd, name);
	road_must(read(fd, text, sizeof(text) - 1), name);
	close(fd);
	return text[0] == '1';
}

static bool is_frozen(const struct place *place)
{
	return holds_one(place, "cgroup.freeze");
}

static bool is_limited(const struct place *place)
{
	return holds_one(place, "cgroup.max.descendants");
}

#define LEAVE(text, function)                                                                      \
	.name = text, .surface = "kernel", .op = "cgroup_move", .try = function,                   \
	.twin = read_members, .hidden = { EACCES }, .prepare = make_cgroup, .grants = grant_cgroup

static const struct road process_cgroup[] = {
	{ LEAVE("joining another cgroup (cgroup.procs)", join_procs) },
	{ LEAVE("joining another cgroup (cgroup.threads)", join_threads) },
	{ LEAVE("joining another cgroup through a descriptor of O_PATH", join_reopened) },
	/* File modes keep an ordinary user from these two. */
	{ LEAVE("joining the root cgroup (cgroup.procs)", join_root_procs), .walled = { EACCES } },
	{ LEAVE("joining the root cgroup (cgroup.threads)", join_root_threads),
	  .walled = { EACCES } },
	{ LEAVE("killing another cgroup (cgroup.kill)", kill_cgroup) },
	{ LEAVE("freezing another cgroup (cgroup.freeze)", freeze_cgroup), .harmed = is_frozen },
	{ LEAVE("limiting another cgroup", limit_cgroup), .harmed = is_limited },
	{
		.name = "clone3 into another cgroup",
		.surface = "kernel",
		.op = "clone_into_cgroup",
		.try = clone_elsewhere,
		.twin = fork_here,
		.hidden = { EPERM },
		.prepare = make_cgroup,
	},
	{
		.name = "making a cgroup elsewhere",
		.surface = "fs.write",
		.op = "mkdir",
		.try = make_child_cgroup,
		.twin = read_members,
		.hidden = { ENOENT },
		.prepare = make_cgroup,
		.grants = grant_cgroup,
		.harmed = child_is_there,
	},
};
ROADS(process_cgroup);
