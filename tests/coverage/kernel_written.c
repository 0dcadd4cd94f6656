// SPDX-License-Identifier: Apache-2.0
/*
 * Which files act on the kernel when they are written to? A wide grant, of a directory in which
 * their filesystem happens to be mounted, is not meant for them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* One file: where it is, what to write, and what it says then. */
struct setting {
	const char *filesystem;
	const char *file;
	const char *written;
};

static const struct setting sysctl = { "proc", "sys/vm/page-cluster", "5" };
static const struct setting sysrq = { "proc", "sysrq-trigger", "h" };
static const struct setting parameter = { "sysfs", "module/printk/parameters/ignore_loglevel",
					  "Y" };
static const struct setting tracing = { "tracefs", "tracing_on", "0" };
static const struct setting limit = { "cgroup2", "cgroup.max.depth", "100" };

static const char *mounted(const struct place *place)
{
	return road_mine(place, "k");
}

static const char *file_of(const struct place *place, const struct setting *setting)
{
	return road_path("%s/%s", mounted(place), setting->file);
}

static void read_setting(const struct place *place, const struct setting *setting, char text[32])
{
	int fd = open(file_of(place, setting), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 31);

	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void mount_it(const struct place *place, const struct setting *setting)
{
	char text[32];

	place_default(place);
	place_directory(place, mounted(place));
	road_must(mount("none", mounted(place), setting->filesystem, 0, NULL), setting->filesystem);
	read_setting(place, setting, text);
	place_tell(place, "was %s", text);
}

static int write_it(const struct place *place, const struct setting *setting)
{
	int fd = open(file_of(place, setting), O_WRONLY | O_CLOEXEC), result;

	place_names(place, "%s", file_of(place, setting));
	if (fd < 0)
		return -errno;
	result = road_result(write(fd, setting->written, strlen(setting->written)));
	close(fd);
	return result;
}

/* Says whether it is another value now, and makes it the old one again. */
static bool is_changed(const struct place *place, const struct setting *setting)
{
	char text[32], was[32] = "";
	bool changed;
	int fd;

	snprintf(was, sizeof(was), "%s", place_told(place) + strlen("was "));
	read_setting(place, setting, text);
	changed = strcmp(was, text) != 0;
	fd = changed ? open(file_of(place, setting), O_WRONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && write(fd, was, strlen(was)) < 0)
		road_broken("%s", setting->file);
	umount2(mounted(place), MNT_DETACH);
	return changed;
}

static int write_mine(const struct place *place)
{
	return road_fd(open(place->mine, O_WRONLY | O_CLOEXEC));
}

#define EACH_SETTING(f) f(sysctl) f(sysrq) f(parameter) f(tracing) f(limit)
#define FUNCTIONS(name)                                                                            \
	static void mount_##name(const struct place *place)                                        \
	{                                                                                          \
		mount_it(place, &name);                                                            \
	}                                                                                          \
	static int write_##name(const struct place *place)                                         \
	{                                                                                          \
		return write_it(place, &name);                                                     \
	}                                                                                          \
	static bool changed_##name(const struct place *place)                                      \
	{                                                                                          \
		return is_changed(place, &name);                                                   \
	}
EACH_SETTING(FUNCTIONS)

/* File modes keep an ordinary user from them. */
#define WRITTEN(text, setting, where, how)                                                         \
	{                                                                                          \
		.name = text " that is mounted in a declared directory", .surface = where,         \
		.op = how, .try = write_##setting, .twin = write_mine, .granted = { EACCES },      \
		.walled = { EACCES }, .prepare = mount_##setting, .harmed = changed_##setting      \
	}

static const struct road kernel_written[] = {
	WRITTEN("write of a sysctl of a proc", sysctl, "fs.write", "open"),
	WRITTEN("write of sysrq-trigger of a proc", sysrq, "fs.write", "open"),
	WRITTEN("write of a kernel parameter of a sysfs", parameter, "fs.write", "open"),
	WRITTEN("write of tracing_on of a tracefs", tracing, "fs.write", "open"),
	WRITTEN("write of a cgroup's limit of a cgroup2", limit, "kernel", "cgroup_move"),
};
ROADS(kernel_written);
