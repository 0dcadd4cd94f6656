// SPDX-License-Identifier: Apache-2.0
/* On which roads can one learn about a file without opening it? */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/coverage/attribute.h"
#include "tests/coverage/road.h"

static struct stat st;
static struct statx stx;

static int path_descriptor(const struct place *place)
{
	return (int)road_must(open(place->target, O_PATH | O_NOFOLLOW), "O_PATH");
}

static int stat_name(const struct place *place)
{
	return road_result(stat(place->target, &st));
}

static int lstat_name(const struct place *place)
{
	return road_result(lstat(place->target, &st));
}

static int fstatat_name(const struct place *place)
{
	return road_result(fstatat(AT_FDCWD, place->target, &st, AT_SYMLINK_NOFOLLOW));
}

static int statx_name(const struct place *place)
{
	return road_result(statx(AT_FDCWD, place->target, 0, STATX_ALL, &stx));
}

static int fstat_descriptor(const struct place *place)
{
	return road_result(fstat(path_descriptor(place), &st));
}

static int fstatat_empty(const struct place *place)
{
	return road_result(fstatat(path_descriptor(place), "", &st, AT_EMPTY_PATH));
}

static int statx_empty(const struct place *place)
{
	return road_result(statx(path_descriptor(place), "", AT_EMPTY_PATH, STATX_ALL, &stx));
}

static int statx_null(const struct place *place)
{
	long n = syscall(SYS_statx, path_descriptor(place), NULL, AT_EMPTY_PATH, STATX_ALL, &stx);

	/* Before 6.11 there had to be a name. */
	return n < 0 && errno == EFAULT ? -ENOSYS : road_result(n);
}

static int stat_directory(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return road_result(stat(place->dir, &st));
}

static void make_link(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(symlink("somewhere", place->target), place->target);
	road_must(lchown(place->target, place->uid, place->uid), place->target);
}

static int readlink_name(const struct place *place)
{
	char text[64];

	return road_result(readlink(place->target, text, sizeof(text)));
}

static int readlink_empty(const struct place *place)
{
	char text[64];

	return road_result(readlinkat(path_descriptor(place), "", text, sizeof(text)));
}

static int getxattr_name(const struct place *place)
{
	char value[64];

	return road_result(getxattr(place->target, ATTRIBUTE, value, sizeof(value)));
}

static int lgetxattr_name(const struct place *place)
{
	char value[64];

	return road_result(lgetxattr(place->target, ATTRIBUTE, value, sizeof(value)));
}

static int getxattr_descriptor_name(const struct place *place)
{
	char value[64];

	return road_result(getxattr(road_path("/proc/self/fd/%d", path_descriptor(place)),
				    ATTRIBUTE, value, sizeof(value)));
}

static int getxattrat_name(const struct place *place)
{
	char value[64];
	struct attribute_args args = { .value = (unsigned long)value, .size = sizeof(value) };

	return road_result(syscall(SYS_GETXATTRAT, AT_FDCWD, place->target, 0, ATTRIBUTE, &args,
				   sizeof(args)));
}

static int listxattr_name(const struct place *place)
{
	char names[256];

	return road_result(listxattr(place->target, names, sizeof(names)));
}

static int get_acl(const struct place *place)
{
	struct attribute_acl acl;

	return road_result(getxattr(place->target, ATTRIBUTE_ACL, &acl, sizeof(acl)));
}

static int file_getattr(const struct place *place)
{
	struct attribute_flags flags;

	return road_result(
		syscall(SYS_FILE_GETATTR, AT_FDCWD, place->target, &flags, sizeof(flags), 0));
}

static int get_flags(const struct place *place)
{
	int flags, fd = open(place->target, O_RDONLY);

	return fd < 0 ? -errno : road_result(ioctl(fd, FS_IOC_GETFLAGS, &flags));
}

#define TELL(words, event, how)                                                                    \
	.name = (words), .surface = "fs.read", .op = (event), .try = (how), .hidden = { ENOENT }

static const struct road file_stat[] = {
	{ TELL("stat", "stat", stat_name) },
	{ TELL("lstat of a symbolic link", "stat", lstat_name), .prepare = make_link },
	{ TELL("fstatat", "stat", fstatat_name) },
	{ TELL("statx", "stat", statx_name) },
	{ TELL("stat of a directory", "stat", stat_directory) },
	{ TELL("fstat of an O_PATH descriptor", "stat", fstat_descriptor) },
	{ TELL("fstatat with AT_EMPTY_PATH", "stat", fstatat_empty) },
	{ TELL("statx with AT_EMPTY_PATH", "stat", statx_empty) },
	{ TELL("statx without a path", "stat", statx_null), .since = 0x060b },
	{ TELL("readlink", "readlink", readlink_name), .prepare = make_link },
	{ TELL("readlinkat of an O_PATH descriptor", "readlink", readlink_empty),
	  .prepare = make_link },
	{ TELL("getxattr", "getxattr", getxattr_name), .prepare = attribute_prepare },
	{ TELL("lgetxattr", "getxattr", lgetxattr_name), .prepare = attribute_prepare },
	{ TELL("getxattr of an O_PATH descriptor by /proc/self/fd", "getxattr",
	       getxattr_descriptor_name),
	  .prepare = attribute_prepare },
	{ TELL("getxattrat", "getxattr", getxattrat_name), .prepare = attribute_prepare,
	  .since = 0x060d },
	{ TELL("listxattr", "getxattr", listxattr_name), .prepare = attribute_prepare },
	{ TELL("get a POSIX ACL", "getxattr", get_acl), .prepare = attribute_prepare },
	{ TELL("file_getattr", "stat", file_getattr), .since = 0x0611 },
	{ TELL("open and ioctl FS_IOC_GETFLAGS", "open", get_flags) },
};
ROADS(file_stat);
