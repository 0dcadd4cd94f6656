// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file's extended attributes, ACLs and flags be changed? */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/coverage/attribute.h"
#include "tests/coverage/road.h"

#define ACL_VERSION 2
#define NOBODY 0xffffffff

/* The owner, one user more (12345), group, mask, others. */
#define ACL(rights)                                                                                \
	{                                                                                          \
		.version = ACL_VERSION,                                                            \
		.entries = { { 0x01, 6, NOBODY },                                                  \
			     { 0x02, rights, 12345 },                                              \
			     { 0x04, 4, NOBODY },                                                  \
			     { 0x10, 6, NOBODY },                                                  \
			     { 0x20, 4, NOBODY } },                                                \
	}

static const struct attribute_acl old_acl = ACL(4), new_acl = ACL(6);

void attribute_prepare(const struct place *place)
{
	place_default(place);
	road_must(setxattr(place->target, ATTRIBUTE, "0", 1, 0), ATTRIBUTE);
	road_must(setxattr(place->target, ATTRIBUTE_ACL, &old_acl, sizeof(old_acl), 0),
		  ATTRIBUTE_ACL);
}

static int descriptor(const struct place *place)
{
	return (int)road_must(open(place->target, O_RDONLY), "open for reading");
}

static int set_name(const struct place *place)
{
	return road_result(setxattr(place->target, ATTRIBUTE, "1", 1, 0));
}

static int lset_name(const struct place *place)
{
	return road_result(lsetxattr(place->target, ATTRIBUTE, "1", 1, 0));
}

static int set_descriptor_name(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return road_result(setxattr(road_path("/proc/self/fd/%ld", fd), ATTRIBUTE, "1", 1, 0));
}

static int fset(const struct place *place)
{
	return road_result(fsetxattr(descriptor(place), ATTRIBUTE, "1", 1, 0));
}

static int setxattrat(int dir, const char *path, unsigned int flags)
{
	struct attribute_args args = { .value = (unsigned long)"1", .size = 1 };

	return road_result(
		syscall(SYS_SETXATTRAT, dir, path, flags, ATTRIBUTE, &args, sizeof(args)));
}

static int set_at(const struct place *place)
{
	return setxattrat(AT_FDCWD, place->target, 0);
}

static int set_empty(const struct place *place)
{
	return setxattrat(descriptor(place), "", AT_EMPTY_PATH);
}

static int remove_name(const struct place *place)
{
	return road_result(removexattr(place->target, ATTRIBUTE));
}

static int fremove(const struct place *place)
{
	return road_result(fremovexattr(descriptor(place), ATTRIBUTE));
}

static int remove_at(const struct place *place)
{
	return road_result(syscall(SYS_REMOVEXATTRAT, AT_FDCWD, place->target, 0, ATTRIBUTE));
}

static int set_acl(const struct place *place)
{
	return road_result(setxattr(place->target, ATTRIBUTE_ACL, &new_acl, sizeof(new_acl), 0));
}

static int fset_acl(const struct place *place)
{
	return road_result(
		fsetxattr(descriptor(place), ATTRIBUTE_ACL, &new_acl, sizeof(new_acl), 0));
}

static int remove_acl(const struct place *place)
{
	return road_result(removexattr(place->target, ATTRIBUTE_ACL));
}

static int set_default_acl(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return road_result(
		setxattr(place->dir, ATTRIBUTE_DEFAULT_ACL, &new_acl, sizeof(new_acl), 0));
}

static int set_flags(const struct place *place)
{
	int flags = 0, fd = descriptor(place);

	road_must(ioctl(fd, FS_IOC_GETFLAGS, &flags), "FS_IOC_GETFLAGS");
	flags |= FS_NODUMP_FL;
	return road_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int set_immutable(const struct place *place)
{
	int flags = 0, fd = descriptor(place);

	road_must(ioctl(fd, FS_IOC_GETFLAGS, &flags), "FS_IOC_GETFLAGS");
	flags |= FS_IMMUTABLE_FL;
	return road_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int set_extended_flags(const struct place *place)
{
	struct fsxattr flags;
	int fd = descriptor(place);

	road_must(ioctl(fd, FS_IOC_FSGETXATTR, &flags), "FS_IOC_FSGETXATTR");
	flags.fsx_xflags |= FS_XFLAG_NODUMP;
	return road_result(ioctl(fd, FS_IOC_FSSETXATTR, &flags));
}

static int set_version(const struct place *place)
{
	int version = 7;

	return road_result(ioctl(descriptor(place), FS_IOC_SETVERSION, &version));
}

static int set_directory_flags(const struct place *place)
{
	int flags = 0, fd = (int)road_must(open(place->dir, O_RDONLY), "open for reading");

	place_names(place, "%s", place->dir);
	road_must(ioctl(fd, FS_IOC_GETFLAGS, &flags), "FS_IOC_GETFLAGS");
	flags |= FS_NODUMP_FL;
	return road_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int file_setattr(const struct place *place)
{
	struct attribute_flags flags = { .xflags = FS_XFLAG_NODUMP };

	return road_result(
		syscall(SYS_FILE_SETATTR, AT_FDCWD, place->target, &flags, sizeof(flags), 0));
}

static int file_setattr_empty(const struct place *place)
{
	struct attribute_flags flags = { .xflags = FS_XFLAG_NODUMP };

	return road_result(syscall(SYS_FILE_SETATTR, descriptor(place), "", &flags, sizeof(flags),
				   AT_EMPTY_PATH));
}

#define CHANGE(words, event, how)                                                                  \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how), .hidden = { ENOENT }, \
	.readable = { EACCES }, .prepare = attribute_prepare, .flags = ROAD_CHANGES
/* What can be opened at all is readable. */
#define CHANGE_OPENED(words, event, how)                                                           \
	.name = (words), .surface = "fs.write", .op = (event), .try = (how),                       \
	.readable = { EACCES }, .prepare = attribute_prepare, .flags = ROAD_CHANGES

static const struct road file_attribute[] = {
	{ CHANGE("setxattr", "setxattr", set_name) },
	{ CHANGE("lsetxattr", "setxattr", lset_name) },
	{ CHANGE("setxattr of an O_PATH descriptor by /proc/self/fd", "setxattr",
		 set_descriptor_name) },
	{ CHANGE_OPENED("fsetxattr", "setxattr", fset) },
	{ CHANGE("setxattrat", "setxattr", set_at), .since = 0x060d },
	{ CHANGE_OPENED("setxattrat with AT_EMPTY_PATH", "setxattr", set_empty), .since = 0x060d },
	{ CHANGE("removexattr", "setxattr", remove_name) },
	{ CHANGE_OPENED("fremovexattr", "setxattr", fremove) },
	{ CHANGE("removexattrat", "setxattr", remove_at), .since = 0x060d },
	{ CHANGE("set a POSIX ACL", "setxattr", set_acl) },
	{ CHANGE_OPENED("set a POSIX ACL by descriptor", "setxattr", fset_acl) },
	{ CHANGE("remove a POSIX ACL", "setxattr", remove_acl) },
	{ CHANGE("set a directory's default ACL", "setxattr", set_default_acl) },
	{ CHANGE_OPENED("ioctl FS_IOC_SETFLAGS", "ioctl", set_flags) },
	{ CHANGE_OPENED("ioctl FS_IOC_SETFLAGS on a directory", "ioctl", set_directory_flags) },
	{ CHANGE_OPENED("ioctl FS_IOC_FSSETXATTR", "ioctl", set_extended_flags) },
	/* ext4 has no such command where its metadata have checksums: the twin takes another. */
	{ CHANGE_OPENED("ioctl FS_IOC_SETVERSION", "ioctl", set_version), .twin = set_flags },
	{ CHANGE_OPENED("file_setattr", "ioctl", file_setattr), .since = 0x0611 },
	{
		.name = "file_setattr of what may not even be read",
		.surface = "fs.read",
		.op = "stat",
		.try = file_setattr,
		.hidden = { ENOENT },
		.flags = ROAD_CHANGES,
		.since = 0x0611,
	},
	{ CHANGE_OPENED("file_setattr with AT_EMPTY_PATH", "ioctl", file_setattr_empty),
	  .since = 0x0611 },
	{
		.name = "ioctl FS_IOC_SETFLAGS: make it immutable",
		.surface = "kernel",
		.op = "capability",
		.try = set_immutable,
		.twin = set_flags,
		.granted = { EPERM },
		.walled = { EPERM },
		.flags = ROAD_CHANGES,
	},
};
ROADS(file_attribute);
