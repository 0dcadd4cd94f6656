// SPDX-License-Identifier: Apache-2.0
/* Does what was granted yesterday stay granted where somebody outside has moved it since? */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* The row's own directory stays as it is: what is moved goes beside it. */
static const char *beside(const struct place *place)
{
	return road_path("%s-beside", place->dir);
}

static void prepare_beside(const struct place *place)
{
	place_default(place);
	place_directory(place, beside(place));
	place_directory(place, road_mine(place, "d"));
	place_file(place, road_mine(place, "d/f"), ROAD_CANARY, 0644);
}

/* Moves scratch/what there, once the agent has made scratch/go. */
static void move_when_told(const struct place *place, const char *what)
{
	road_ready(place);
	while (access(road_mine(place, "go"), F_OK) < 0)
		usleep(1000);
	road_must(rename(road_mine(place, what), road_path("%s/%s", beside(place), what)),
		  "rename");
	place_tell(place, "moved");
}

static void move_directory(const struct place *place)
{
	move_when_told(place, "d");
}

static void move_file(const struct place *place)
{
	move_when_told(place, "f");
}

static void have_moved(const struct place *place)
{
	close((int)road_must(open(road_mine(place, "go"), O_WRONLY | O_CREAT, 0600), "go"));
	while (strcmp(place_told(place), "moved") != 0)
		usleep(1000);
}

static int open_below_moved(const struct place *place)
{
	int fd = (int)road_must(open(road_mine(place, "d"), O_PATH), "O_PATH");

	if (road_read_canary(openat(fd, "f", O_RDONLY)) < 0)
		road_broken("before it is moved");
	have_moved(place);
	place_names(place, "%s/d/f", beside(place));
	return road_read_canary(openat(fd, "f", O_RDONLY));
}

static int reopen_moved(const struct place *place)
{
	int fd = (int)road_must(open(place->mine, O_RDWR), "open");

	have_moved(place);
	place_names(place, "%s/f", beside(place));
	return road_fd(open(road_path("/proc/self/fd/%d", fd), O_RDONLY));
}

static int write_below_moved(const struct place *place)
{
	int fd = (int)road_must(open(road_mine(place, "d"), O_PATH), "O_PATH");

	have_moved(place);
	place_names(place, "%s/d/f", beside(place));
	return road_fd(openat(fd, "f", O_WRONLY));
}

static int create_below_moved(const struct place *place)
{
	int fd = (int)road_must(open(road_mine(place, "d"), O_PATH), "O_PATH");

	have_moved(place);
	place_names(place, "%s/d/new", beside(place));
	return road_fd(openat(fd, "new", O_WRONLY | O_CREAT, 0600));
}

static bool has_new(const struct place *place)
{
	return access(road_path("%s/d/new", beside(place)), F_OK) == 0;
}

#define READ(words, how, who)                                                                      \
	.name = (words), .surface = "fs.read", .op = "open", .try = (how), .outside = (who),       \
	.hidden = { ENOENT }, .prepare = prepare_beside

static const struct road file_later[] = {
	{ READ("open below a directory that was moved away", open_below_moved, move_directory) },
	{ READ("open a file again that was moved away", reopen_moved, move_file) },
	{
		.name = "write below a directory that was moved away",
		.surface = "fs.write",
		.op = "open",
		.try = write_below_moved,
		.prepare = prepare_beside,
		.outside = move_directory,
		.hidden = { ENOENT },
		.readable = { EACCES },
	},
	{
		.name = "create below a directory that was moved away",
		.surface = "fs.write",
		.op = "create",
		.try = create_below_moved,
		.prepare = prepare_beside,
		.outside = move_directory,
		.harmed = has_new,
		.hidden = { EACCES },
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
};
ROADS(file_later);
