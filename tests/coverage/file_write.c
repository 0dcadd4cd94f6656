// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file's content be changed, or a new file come to be? */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* Writes a byte where it could be opened for that. */
static int write_to(int fd)
{
	if (fd < 0)
		return -errno;
	return write(fd, "x", 1) == 1 ? 0 : -errno;
}

static int write_only(const struct place *place)
{
	return write_to(open(place->target, O_WRONLY));
}

static int read_and_write(const struct place *place)
{
	return write_to(open(place->target, O_RDWR));
}

static int append(const struct place *place)
{
	return write_to(open(place->target, O_WRONLY | O_APPEND));
}

static int open_to_create(const struct place *place)
{
	return write_to(open(place->target, O_WRONLY | O_CREAT, 0600));
}

static int openat2_write(const struct place *place)
{
	struct open_how how = { .flags = O_WRONLY, .resolve = RESOLVE_NO_SYMLINKS };

	return write_to((int)syscall(SYS_openat2, AT_FDCWD, place->target, &how, sizeof(how)));
}

static int reopen_path(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return write_to(open(road_path("/proc/self/fd/%ld", fd), O_RDWR));
}

static int reopen_read_only(const struct place *place)
{
	long fd = road_must(open(place->target, O_RDONLY), "open for reading");

	return write_to(open(road_path("/proc/self/fd/%ld", fd), O_RDWR));
}

/* Neither for reading nor for writing: ioctl alone. */
static int open_mode_3(const struct place *place)
{
	return road_fd(open(place->target, O_WRONLY | O_RDWR));
}

static int open_truncating(const struct place *place)
{
	return road_fd(open(place->target, O_RDONLY | O_TRUNC));
}

static int creat_existing(const struct place *place)
{
	return road_fd(creat(place->target, 0600));
}

static int truncate_name(const struct place *place)
{
	return road_result(truncate(place->target, 1));
}

static int truncate_descriptor_name(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return road_result(truncate(road_path("/proc/self/fd/%ld", fd), 1));
}

static int ftruncate_it(const struct place *place)
{
	int fd = open(place->target, O_RDWR);

	return fd < 0 ? -errno : road_result(ftruncate(fd, 1));
}

static int allocate(const struct place *place)
{
	int fd = open(place->target, O_WRONLY);

	return fd < 0 ? -errno : road_result(fallocate(fd, 0, 0, 8192));
}

static int map_shared(const struct place *place)
{
	int fd = open(place->target, O_RDWR);
	char *text;

	if (fd < 0)
		return -errno;
	text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	text[0] = 'x';
	return road_result(msync(text, 4096, MS_SYNC));
}

static int copied(int to, long (*copy)(int from, int to), const struct place *place)
{
	long from = road_must(open(place->mine, O_RDONLY), "mine");

	if (to < 0)
		return -errno;
	return copy((int)from, to) > 0 ? 0 : -errno;
}

static long copy_by_range(int from, int to)
{
	return copy_file_range(from, NULL, to, NULL, 4, 0);
}

static long copy_by_sendfile(int from, int to)
{
	return sendfile(to, from, NULL, 4);
}

static long copy_by_splice(int from, int to)
{
	int ends[2];

	road_must(pipe(ends), "pipe");
	road_must(splice(from, NULL, ends[1], NULL, 4, 0), "splice");
	return splice(ends[0], NULL, to, NULL, 4, 0);
}

static int copy_file_range_into(const struct place *place)
{
	return copied(open(place->target, O_WRONLY), copy_by_range, place);
}

static int sendfile_into(const struct place *place)
{
	return copied(open(place->target, O_WRONLY), copy_by_sendfile, place);
}

static int splice_into(const struct place *place)
{
	return copied(open(place->target, O_WRONLY), copy_by_splice, place);
}

/* The name of what is to be made. */
static const char *new_name(const struct place *place)
{
	const char *name = road_in(place, "new");

	place_names(place, "%s", name);
	return name;
}

static int create(const struct place *place)
{
	return road_fd(open(new_name(place), O_WRONLY | O_CREAT, 0600));
}

static int create_for_reading(const struct place *place)
{
	return road_fd(open(new_name(place), O_RDONLY | O_CREAT, 0600));
}

static int create_exclusively(const struct place *place)
{
	return road_fd(open(new_name(place), O_WRONLY | O_CREAT | O_EXCL, 0600));
}

static int creat_new(const struct place *place)
{
	return road_fd(creat(new_name(place), 0600));
}

static int openat2_create(const struct place *place)
{
	struct open_how how = {
		.flags = O_WRONLY | O_CREAT,
		.mode = 0600,
		.resolve = RESOLVE_BENEATH,
	};
	long dir = road_must(open(place->dir, O_PATH), "O_PATH of the directory");

	new_name(place);
	return road_fd(syscall(SYS_openat2, dir, "new", &how, sizeof(how)));
}

static int create_through_link(const struct place *place)
{
	const char *name = road_mine(place, "link");

	road_must(symlink(new_name(place), name), "symlink");
	return road_fd(open(name, O_WRONLY | O_CREAT, 0600));
}

static int temporary(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return road_fd(open(place->dir, O_TMPFILE | O_RDWR, 0600));
}

static int my_temporary(const struct place *place)
{
	return (int)road_must(open(place->scratch, O_TMPFILE | O_RDWR, 0600), "O_TMPFILE");
}

static int link_temporary(const struct place *place)
{
	return road_result(linkat(AT_FDCWD, road_path("/proc/self/fd/%d", my_temporary(place)),
				  AT_FDCWD, new_name(place), AT_SYMLINK_FOLLOW));
}

static int link_temporary_empty(const struct place *place)
{
	return road_result(
		linkat(my_temporary(place), "", AT_FDCWD, new_name(place), AT_EMPTY_PATH));
}

#define WRITE(words, event, how)                                                                   \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { ENOENT }, \
	.readable = { EACCES }
/* Answered alike whether the name is there or not. */
#define CREATE(words, event, how)                                                                  \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { EACCES }, \
	.readable = { EACCES }, .flags = ROAD_CHANGES

static const struct road file_write[] = {
	{ WRITE("open for writing", "open", write_only), .flags = ROAD_CHANGES },
	{ WRITE("open for reading and writing", "open", read_and_write), .flags = ROAD_CHANGES },
	{ WRITE("open with O_APPEND", "open", append), .flags = ROAD_CHANGES },
	{ WRITE("openat2 for writing", "open", openat2_write), .flags = ROAD_CHANGES },
	{ WRITE("open with access mode 3", "open", open_mode_3) },
	{ WRITE("open with O_PATH, then for writing by /proc/self/fd", "open", reopen_path),
	  .flags = ROAD_CHANGES },
	{
		.name = "open for reading, then for writing by /proc/self/fd",
		.surface = "fs.write",
		.op = "open",
		.try = reopen_read_only,
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
	{ WRITE("open with O_RDONLY and O_TRUNC", "truncate", open_truncating),
	  .flags = ROAD_CHANGES },
	{ WRITE("truncate", "truncate", truncate_name), .flags = ROAD_CHANGES },
	{ WRITE("truncate an O_PATH descriptor by /proc/self/fd", "truncate",
		truncate_descriptor_name),
	  .flags = ROAD_CHANGES },
	{ WRITE("open and ftruncate", "open", ftruncate_it), .flags = ROAD_CHANGES },
	{ WRITE("open and fallocate", "open", allocate), .flags = ROAD_CHANGES },
	{ WRITE("open and map shared and writable", "open", map_shared), .flags = ROAD_CHANGES },
	{ WRITE("copy_file_range into it", "open", copy_file_range_into), .flags = ROAD_CHANGES },
	{ WRITE("sendfile into it", "open", sendfile_into), .flags = ROAD_CHANGES },
	{ WRITE("splice into it", "open", splice_into), .flags = ROAD_CHANGES },
	{ WRITE("open with O_TMPFILE", "open", temporary) },
	{ WRITE("link an O_TMPFILE file by /proc/self/fd", "link", link_temporary),
	  .flags = ROAD_CHANGES },
	{ WRITE("link an O_TMPFILE file by AT_EMPTY_PATH", "link", link_temporary_empty),
	  .walled = { ENOENT }, .flags = ROAD_CHANGES | ROAD_TWIN_WALLED },
	{ CREATE("open an existing file with O_CREAT", "open", open_to_create) },
	{ CREATE("creat of an existing file", "truncate", creat_existing) },
	{ CREATE("open with O_CREAT", "create", create) },
	{ CREATE("open with O_RDONLY and O_CREAT", "create", create_for_reading) },
	{ CREATE("open with O_CREAT and O_EXCL", "create", create_exclusively) },
	{ CREATE("creat", "create", creat_new) },
	{ CREATE("openat2 with O_CREAT", "create", openat2_create) },
	{ CREATE("open with O_CREAT through a dangling symbolic link", "create",
		 create_through_link) },
};
ROADS(file_write);
