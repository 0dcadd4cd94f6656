// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file's mode, owner and times be changed? */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "tests/coverage/attribute.h"
#include "tests/coverage/road.h"

static int path_descriptor(const struct place *place)
{
	return (int)road_must(open(place->target, O_PATH), "O_PATH");
}

/* For rows on what may be read: there alone it can be opened at all. */
static int descriptor(const struct place *place)
{
	return (int)road_must(open(place->target, O_RDONLY), "open for reading");
}

static const char *by_descriptor(const struct place *place)
{
	return road_path("/proc/self/fd/%d", path_descriptor(place));
}

static int chmod_name(const struct place *place)
{
	return road_result(chmod(place->target, 0600));
}

static int chmod_descriptor_name(const struct place *place)
{
	return road_result(chmod(by_descriptor(place), 0600));
}

static int fchmod_it(const struct place *place)
{
	return road_result(fchmod(descriptor(place), 0600));
}

static int fchmodat2_name(const struct place *place)
{
	return road_result(
		syscall(SYS_FCHMODAT2, AT_FDCWD, place->target, 0600, AT_SYMLINK_NOFOLLOW));
}

static int fchmodat2_empty(const struct place *place)
{
	return road_result(syscall(SYS_FCHMODAT2, path_descriptor(place), "", 0600, AT_EMPTY_PATH));
}

/* To who owns it already: an ordinary user may do that as well, and it shows in ctime. */
static int chown_name(const struct place *place)
{
	return road_result(chown(place->target, place->uid, place->uid));
}

static int chown_other(const struct place *place)
{
	return road_result(chown(place->target, 12345, 12345));
}

static int chown_descriptor_name(const struct place *place)
{
	return road_result(chown(by_descriptor(place), place->uid, place->uid));
}

static int lchown_name(const struct place *place)
{
	return road_result(lchown(place->target, place->uid, place->uid));
}

static int fchown_it(const struct place *place)
{
	return road_result(fchown(descriptor(place), place->uid, place->uid));
}

static int fchownat_empty(const struct place *place)
{
	return road_result(
		fchownat(path_descriptor(place), "", place->uid, place->uid, AT_EMPTY_PATH));
}

static void make_link(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(symlink("somewhere", place->target), place->target);
	road_must(lchown(place->target, place->uid, place->uid), place->target);
}

static const struct timespec past[2] = { { .tv_sec = 12345 }, { .tv_sec = 12345 } };

static int utimensat_name(const struct place *place)
{
	return road_result(utimensat(AT_FDCWD, place->target, past, 0));
}

static int utimensat_link(const struct place *place)
{
	return road_result(utimensat(AT_FDCWD, place->target, past, AT_SYMLINK_NOFOLLOW));
}

static int utimensat_empty(const struct place *place)
{
	return road_result(syscall(SYS_utimensat, path_descriptor(place), "", past, AT_EMPTY_PATH));
}

static int utimensat_descriptor_name(const struct place *place)
{
	return road_result(utimensat(AT_FDCWD, by_descriptor(place), past, 0));
}

static int futimens_it(const struct place *place)
{
	return road_result(futimens(descriptor(place), past));
}

static int touch(const struct place *place)
{
	return road_result(utimensat(AT_FDCWD, place->target, NULL, 0));
}

static int touch_descriptor(const struct place *place)
{
	return road_result(futimens(descriptor(place), NULL));
}

static int utime_name(const struct place *place)
{
	struct utimbuf times = { 12345, 12345 };

#ifdef SYS_utime
	return road_result(syscall(SYS_utime, place->target, &times));
#else
	return road_result(utime(place->target, &times));
#endif
}

static int utimes_name(const struct place *place)
{
	struct timeval times[2] = { { .tv_sec = 12345 }, { .tv_sec = 12345 } };

#ifdef SYS_utimes
	return road_result(syscall(SYS_utimes, place->target, times));
#else
	return road_result(utimes(place->target, times));
#endif
}

#define CHANGE(words, event, how)                                                                  \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { ENOENT }, \
	.readable = { EACCES }, .flags = ROAD_CHANGES
/* What can be opened at all is readable. */
#define CHANGE_OPENED(words, event, how)                                                           \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how),                       \
	.readable = { EACCES }, .flags = ROAD_CHANGES

static const struct road file_change[] = {
	{ CHANGE("chmod", "chmod", chmod_name) },
	{ CHANGE("chmod of an O_PATH descriptor by /proc/self/fd", "chmod",
		 chmod_descriptor_name) },
	{ CHANGE_OPENED("fchmod", "chmod", fchmod_it) },
	{ CHANGE("fchmodat2", "chmod", fchmodat2_name), .since = 0x0606 },
	{ CHANGE("fchmodat2 with AT_EMPTY_PATH", "chmod", fchmodat2_empty), .since = 0x0606 },
	{ CHANGE("chown", "chown", chown_name) },
	{ .name = "chown to another owner",
	  .surface = "fs.write",
	  .op = "chown",
	  .try = chown_other,
	  .hidden = { ENOENT },
	  .readable = { EACCES },
	  .flags = ROAD_CHANGES | ROAD_ROOT },
	{ CHANGE("chown of an O_PATH descriptor by /proc/self/fd", "chown",
		 chown_descriptor_name) },
	{ CHANGE("lchown of a symbolic link", "chown", lchown_name), .prepare = make_link },
	{ CHANGE_OPENED("fchown", "chown", fchown_it) },
	{ CHANGE("fchownat with AT_EMPTY_PATH", "chown", fchownat_empty) },
	{ CHANGE("utimensat", "utimes", utimensat_name) },
	{ CHANGE("utimensat of a symbolic link", "utimes", utimensat_link), .prepare = make_link },
	{ CHANGE("utimensat with AT_EMPTY_PATH", "utimes", utimensat_empty) },
	{ CHANGE("utimensat of an O_PATH descriptor by /proc/self/fd", "utimes",
		 utimensat_descriptor_name) },
	{ CHANGE_OPENED("futimens", "utimes", futimens_it) },
	{ CHANGE("utimensat to the present", "utimes", touch) },
	{ CHANGE_OPENED("futimens to the present", "utimes", touch_descriptor) },
	{ CHANGE("utime", "utimes", utime_name) },
	{ CHANGE("utimes", "utimes", utimes_name) },
};
ROADS(file_change);
