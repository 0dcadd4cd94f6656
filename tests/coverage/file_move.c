// SPDX-License-Identifier: Apache-2.0
/* On which roads can a name be moved, or get a second one? Both ends of each. */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static const char *new_name(const struct place *place)
{
	const char *name = road_in(place, "new");

	place_names(place, "%s", name);
	return name;
}

static int link_out(const struct place *place)
{
	return road_result(link(place->target, road_mine(place, "new")));
}

static int link_in(const struct place *place)
{
	return road_result(link(place->mine, new_name(place)));
}

static int link_descriptor(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return road_result(linkat(AT_FDCWD, road_path("/proc/self/fd/%ld", fd), AT_FDCWD,
				  road_mine(place, "new"), AT_SYMLINK_FOLLOW));
}

static int link_empty(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return road_result(linkat((int)fd, "", AT_FDCWD, road_mine(place, "new"), AT_EMPTY_PATH));
}

static int move(const char *from, const char *to, unsigned int flags)
{
	return road_result(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags));
}

static int move_out(const struct place *place)
{
	return road_result(rename(place->target, road_mine(place, "new")));
}

static int move_in(const struct place *place)
{
	return road_result(rename(place->mine, new_name(place)));
}

static int move_over(const struct place *place)
{
	return road_result(rename(place->mine, place->target));
}

static int move_within(const struct place *place)
{
	new_name(place);
	return road_result(rename(place->target, road_in(place, "new")));
}

static int move_no_replace(const struct place *place)
{
	return move(place->mine, new_name(place), RENAME_NOREPLACE);
}

static int exchange(const struct place *place)
{
	return move(place->mine, place->target, RENAME_EXCHANGE);
}

static int exchange_back(const struct place *place)
{
	return move(place->target, place->mine, RENAME_EXCHANGE);
}

static int move_whiteout(const struct place *place)
{
	return move(place->target, road_mine(place, "new"), RENAME_WHITEOUT);
}

static int move_directory_over(const struct place *place)
{
	road_must(mkdir(road_mine(place, "d"), 0755), "mkdir");
	return road_result(rename(road_mine(place, "d"), place->target));
}

static void prepare_empty(const struct place *place)
{
	place_directory(place, place->dir);
	place_directory(place, place->target);
}

static void prepare_directory(const struct place *place)
{
	place_directory(place, place->dir);
	place_directory(place, place->target);
	place_file(place, road_in(place, "f/inner"), ROAD_CANARY, 0644);
}

#define MOVE(words, event, how)                                                                    \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { ENOENT }, \
	.readable = { EACCES }

static const struct road file_move[] = {
	{ MOVE("link out of it", "link", link_out), .flags = ROAD_CHANGES },
	{ MOVE("link into it", "link", link_in), .flags = ROAD_CHANGES },
	{ MOVE("link an O_PATH descriptor by /proc/self/fd", "link", link_descriptor),
	  .flags = ROAD_CHANGES },
	{ MOVE("link an O_PATH descriptor by AT_EMPTY_PATH", "link", link_empty),
	  .walled = { ENOENT }, .flags = ROAD_CHANGES | ROAD_TWIN_WALLED },
	{ MOVE("rename out of it", "rename", move_out), .flags = ROAD_CHANGES },
	{ MOVE("rename a directory out of it", "rename", move_out), .flags = ROAD_CHANGES,
	  .prepare = prepare_directory },
	{ MOVE("rename into it", "rename", move_in), .flags = ROAD_CHANGES },
	{ MOVE("rename over it", "rename", move_over), .flags = ROAD_CHANGES },
	{ MOVE("rename a directory over it", "rename", move_directory_over), .flags = ROAD_CHANGES,
	  .prepare = prepare_empty },
	{ MOVE("rename within it", "rename", move_within), .flags = ROAD_CHANGES },
	{ MOVE("rename into it with RENAME_NOREPLACE", "rename", move_no_replace),
	  .flags = ROAD_CHANGES },
	{ MOVE("rename with RENAME_EXCHANGE", "rename", exchange), .flags = ROAD_CHANGES },
	{ MOVE("rename with RENAME_EXCHANGE, named first", "rename", exchange_back),
	  .flags = ROAD_CHANGES },
	{ MOVE("rename out of it with RENAME_WHITEOUT", "rename", move_whiteout),
	  .flags = ROAD_CHANGES },
};
ROADS(file_move);
