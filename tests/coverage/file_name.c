// SPDX-License-Identifier: Apache-2.0
/* On which roads can a name be made or removed? */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static const char *new_name(const struct place *place)
{
	const char *name = road_in(place, "new");

	place_names(place, "%s", name);
	return name;
}

static int make_directory(const struct place *place)
{
	return road_result(mkdir(new_name(place), 0755));
}

static int make_directory_at(const struct place *place)
{
	long dir = road_must(open(place->dir, O_PATH), "O_PATH of the directory");

	new_name(place);
	return road_result(mkdirat((int)dir, "new", 0755));
}

static int make_file(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFREG | 0600, 0));
}

static int make_fifo(const struct place *place)
{
	return road_result(mkfifo(new_name(place), 0600));
}

static int make_socket(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFSOCK | 0600, 0));
}

/* Its address is short, so it goes by the directory. */
static int bind_socket(const struct place *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "new" };
	long s = road_must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");

	new_name(place);
	road_must(chdir(place->dir), "chdir");
	return road_result(bind((int)s, (void *)&address, sizeof(address)));
}

static int make_char_device(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFCHR | 0600, makedev(1, 1)));
}

static int make_block_device(const struct place *place)
{
	struct stat st;

	road_must(stat(place->mine, &st), place->mine);
	return road_result(mknod(new_name(place), S_IFBLK | 0600, st.st_dev));
}

static int make_whiteout(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFCHR | 0600, 0));
}

static int make_link(const struct place *place)
{
	return road_result(symlink("somewhere", new_name(place)));
}

static int remove_name(const struct place *place)
{
	return road_result(unlink(place->target));
}

static void prepare_directory(const struct place *place)
{
	place_directory(place, place->dir);
	place_directory(place, place->target);
}

static int remove_directory(const struct place *place)
{
	return road_result(rmdir(place->target));
}

static int remove_directory_at(const struct place *place)
{
	long dir = road_must(open(place->dir, O_PATH), "O_PATH of the directory");

	return road_result(unlinkat((int)dir, "f", AT_REMOVEDIR));
}

#define CHANGE(words, event, how)                                                                  \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { ENOENT }, \
	.readable = { EACCES }, .flags = ROAD_CHANGES
#define DEVICE(words, how)                                                                         \
	.name = (words), .surface = "kernel", .op = "mknod", .try = (how), .twin = make_fifo,      \
	.hidden = { EPERM }, .readable = { EPERM }, .granted = { EPERM }, .flags = ROAD_CHANGES

static const struct road file_name[] = {
	{ CHANGE("mkdir", "mkdir", make_directory) },
	{ CHANGE("mkdirat below an O_PATH descriptor", "mkdir", make_directory_at) },
	{ CHANGE("mknod of a FIFO", "mknod", make_fifo) },
	{ CHANGE("mknod of a socket", "mknod", make_socket) },
	{ CHANGE("bind a UNIX socket to a path", "mknod", bind_socket) },
	{
		.name = "mknod of a regular file",
		.surface = "fs.write",
		.op = "create",
		.try = make_file,
		.hidden = { EACCES },
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
	{ DEVICE("mknod of a character device", make_char_device) },
	{ DEVICE("mknod of a block device", make_block_device) },
	{ DEVICE("mknod of a whiteout", make_whiteout) },
	{ CHANGE("symlink", "symlink", make_link) },
	{ CHANGE("unlink", "unlink", remove_name) },
	{ CHANGE("rmdir", "rmdir", remove_directory), .prepare = prepare_directory },
	{ CHANGE("unlinkat with AT_REMOVEDIR", "rmdir", remove_directory_at),
	  .prepare = prepare_directory },
};
ROADS(file_name);
