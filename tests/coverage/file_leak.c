// SPDX-License-Identifier: Apache-2.0
/*
 * On which roads does the kernel answer before any hook can see what was asked for? Each tells
 * whether an undeclared name exists, or what kind of thing it is, and no more.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int access_name(const struct place *place)
{
	return road_result(access(place->target, R_OK));
}

static int faccessat2_name(const struct place *place)
{
	return road_result(
		syscall(SYS_faccessat2, AT_FDCWD, place->target, F_OK, AT_SYMLINK_NOFOLLOW));
}

static int change_directory(const struct place *place)
{
	return road_result(chdir(place->dir));
}

static int statfs_name(const struct place *place)
{
	struct statfs fs;

	return road_result(statfs(place->target, &fs));
}

static int open_path(const struct place *place)
{
	return road_fd(open(place->target, O_PATH));
}

static int get_handle(const struct place *place)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + 128];
	} all = { .handle.handle_bytes = 128 };
	int mount;

	return road_result(name_to_handle_at(AT_FDCWD, place->target, &all.handle, &mount, 0));
}

static int mkdir_existing(const struct place *place)
{
	return road_result(mkdir(place->target, 0755));
}

static int mkdir_new(const struct place *place)
{
	return road_result(mkdir(road_in(place, "new"), 0755));
}

static int create_existing(const struct place *place)
{
	return road_fd(open(place->target, O_WRONLY | O_CREAT | O_EXCL, 0600));
}

static int create_new(const struct place *place)
{
	return road_fd(open(road_in(place, "new"), O_WRONLY | O_CREAT | O_EXCL, 0600));
}

static int link_existing(const struct place *place)
{
	return road_result(link(place->mine, place->target));
}

static int link_new(const struct place *place)
{
	return road_result(link(place->mine, road_in(place, "new")));
}

static int open_below_file(const struct place *place)
{
	return road_fd(open(road_in(place, "f/x"), O_RDONLY));
}

static int open_file(const struct place *place)
{
	return road_fd(open(place->target, O_RDONLY));
}

static int open_file_as_directory(const struct place *place)
{
	return road_fd(open(place->target, O_RDONLY | O_DIRECTORY));
}

static int open_directory_to_write(const struct place *place)
{
	return road_fd(open(place->dir, O_WRONLY));
}

static void make_link(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(symlink("somewhere", place->target), place->target);
}

static int open_link(const struct place *place)
{
	return road_fd(open(place->target, O_RDONLY | O_NOFOLLOW));
}

static int read_link(const struct place *place)
{
	char text[64];

	return road_result(readlink(place->target, text, sizeof(text)));
}

static int truncate_directory(const struct place *place)
{
	return road_result(truncate(place->dir, 0));
}

static int truncate_file(const struct place *place)
{
	return road_result(truncate(place->target, 0));
}

#define EXISTS "the kernel asks no hook that sees the path; tells that the name exists"
#define EARLIER "the kernel answers before it asks a hook; tells that the name exists"
#define KIND "the kernel answers before it asks a hook; tells what kind of thing it is"

#define LEAK(words, how, answer, reason)                                                           \
	.name = (words), .surface = "fs.read", .try = (how), .hidden = { answer },                 \
	.flags = ROAD_LEAKS, .why = (reason)

static const struct road file_leak[] = {
	{ LEAK("access", access_name, ROAD_SUCCEEDS, EXISTS) },
	{ LEAK("faccessat2", faccessat2_name, ROAD_SUCCEEDS, EXISTS) },
	{ LEAK("chdir", change_directory, ROAD_SUCCEEDS, EXISTS) },
	{ LEAK("statfs", statfs_name, ROAD_SUCCEEDS, EXISTS) },
	{ LEAK("open with O_PATH", open_path, ROAD_SUCCEEDS,
	       "the kernel asks no hook; the descriptor tells that the name exists, and no more") },
	{ LEAK("name_to_handle_at", get_handle, ROAD_SUCCEEDS,
	       "the kernel asks no hook that sees the path; tells that the name exists, and its "
	       "inode number") },
	{ LEAK("mkdir of an existing name", mkdir_existing, EEXIST, EARLIER), .twin = mkdir_new },
	{ LEAK("open an existing file with O_CREAT and O_EXCL", create_existing, EEXIST, EARLIER),
	  .twin = create_new },
	{ LEAK("link to an existing name", link_existing, EEXIST, EARLIER), .twin = link_new },
	{ LEAK("open a name below a file", open_below_file, ENOTDIR, KIND), .twin = open_file },
	{ LEAK("open a file with O_DIRECTORY", open_file_as_directory, ENOTDIR, KIND),
	  .twin = open_file },
	{ LEAK("open a directory for writing", open_directory_to_write, EISDIR, KIND),
	  .twin = open_file },
	{ LEAK("open a symbolic link with O_NOFOLLOW", open_link, ELOOP, KIND),
	  .prepare = make_link, .twin = read_link },
	{ LEAK("truncate a directory", truncate_directory, EISDIR, KIND), .twin = truncate_file },
};
ROADS(file_leak);
