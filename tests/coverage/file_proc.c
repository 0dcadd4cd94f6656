// SPDX-License-Identifier: Apache-2.0
/* What does /proc lead to, of a process outside? */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* What a victim has to show: the target open, mapped, and its directory as its own. */
static void *show(const struct place *place)
{
	int fd = open(place->target, O_RDONLY);
	void *memory;

	road_must(dup2(fd, 100), place->target);
	road_must(chdir(place->dir), place->dir);
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, 100, 0);
	if (memory == MAP_FAILED)
		road_broken("mapping %s", place->target);
	return memory;
}

static void live_outside(const struct place *place)
{
	char *memory = show(place);

	place_tell(place, "%d %lx-%lx", getpid(), (long)memory, (long)memory + 4096);
	road_ready(place);
}

/* Of the process outside; for the twin, of a child with the same to show. */
static const char *of_victim(const struct place *place, const char *file)
{
	int pid, ends[2];
	char *memory;

	if (place->side != ROAD_DECLARED) {
		pid = atoi(place_told(place));
	} else {
		road_must(pipe(ends), "pipe");
		pid = fork();
		if (pid == 0) {
			memory = show(place);
			road_must(write(ends[1], &memory, sizeof(memory)), "pipe");
			for (;;)
				pause();
		}
		close(ends[1]);
		road_must(read(ends[0], &memory, sizeof(memory)), "pipe");
	}
	return road_path("/proc/%d/%s", pid, file);
}

static int read_some(const char *path, off_t offset)
{
	int fd = open(path, O_RDONLY);
	char byte;

	if (fd < 0)
		return -errno;
	return pread(fd, &byte, 1, offset) == 1 ? 0 : -errno;
}

static int environment(const struct place *place)
{
	return read_some(of_victim(place, "environ"), 0);
}

static int command_line(const struct place *place)
{
	return read_some(of_victim(place, "cmdline"), 0);
}

static int memory_map(const struct place *place)
{
	return read_some(of_victim(place, "maps"), 0);
}

/* The program's own memory is at the same place in parent and child. */
static int memory(const struct place *place)
{
	return read_some(of_victim(place, "mem"), (off_t)(unsigned long)"text");
}

static int list_descriptors(const struct place *place)
{
	return road_fd(open(of_victim(place, "fd"), O_RDONLY | O_DIRECTORY));
}

static int read_program_link(const struct place *place)
{
	char text[256];

	return road_result(readlink(of_victim(place, "exe"), text, sizeof(text)));
}

static int through_root(const struct place *place)
{
	return road_read_canary(
		open(road_path("%s%s", of_victim(place, "root"), place->target), O_RDONLY));
}

static int through_cwd(const struct place *place)
{
	return road_read_canary(open(of_victim(place, "cwd/f"), O_RDONLY));
}

static int through_descriptor(const struct place *place)
{
	return road_read_canary(open(of_victim(place, "fd/100"), O_RDONLY));
}

static int through_mapping(const struct place *place)
{
	const char *range = strchr(place_told(place), ' ');

	return road_read_canary(open(
		of_victim(place, road_path("map_files/%s", range ? range + 1 : "")), O_RDONLY));
}

/* Behind walls /proc does not show it. */
#define PROC(words, event, how)                                                                    \
	.name = (words), .surface = "fs.read", .op = (event), .try = (how),                        \
	.outside = live_outside, .hidden = { ENOENT }, .walled = { ENOENT },                       \
	.flags = ROAD_ANY_NAME | ROAD_TWIN_INSIDE
/* The link leads there without opening anything; who may trace the process may follow it. */
#define PROC_LINK(words, how)                                                                      \
	.name = (words), .surface = "ipc", .op = "ptrace", .try = (how), .outside = live_outside,  \
	.hidden = { EACCES, EPERM }, .walled = { ENOENT }

static const struct road file_proc[] = {
	{ PROC("read /proc/PID/environ of a process outside", "open", environment) },
	{ PROC("read /proc/PID/cmdline of a process outside", "open", command_line) },
	{ PROC("read /proc/PID/maps of a process outside", "open", memory_map) },
	{ PROC("read /proc/PID/mem of a process outside", "open", memory) },
	{ PROC("list /proc/PID/fd of a process outside", "open", list_descriptors) },
	{ PROC("readlink /proc/PID/exe of a process outside", "readlink", read_program_link) },
	{ PROC_LINK("open through /proc/PID/root of a process outside", through_root) },
	{ PROC_LINK("open through /proc/PID/cwd of a process outside", through_cwd) },
	{ PROC_LINK("open through /proc/PID/fd of a process outside", through_descriptor) },
	{ PROC_LINK("open through /proc/PID/map_files of a process outside", through_mapping),
	  .twin = through_descriptor, .also = "capability" },
};
ROADS(file_proc);
