// SPDX-License-Identifier: Apache-2.0
/* Can a program come to be that acts with rights of its own, even where writing is granted? */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/coverage/attribute.h"
#include "tests/coverage/road.h"

static const char *new_name(const struct place *place)
{
	return road_in(place, "new");
}

static int chmod_setuid(const struct place *place)
{
	return road_result(chmod(place->target, 04755));
}

static int chmod_setgid(const struct place *place)
{
	return road_result(chmod(place->target, 02755));
}

static int chmod_plain(const struct place *place)
{
	return road_result(chmod(place->target, 01755));
}

static int fchmod_setuid(const struct place *place)
{
	return road_result(fchmod((int)road_must(open(place->target, O_RDWR), "open"), 04755));
}

static int fchmodat2_setuid(const struct place *place)
{
	return road_result(
		syscall(SYS_FCHMODAT2, AT_FDCWD, place->target, 04755, AT_SYMLINK_NOFOLLOW));
}

static int fchmodat2_plain(const struct place *place)
{
	return road_result(
		syscall(SYS_FCHMODAT2, AT_FDCWD, place->target, 0755, AT_SYMLINK_NOFOLLOW));
}

static int create_setuid(const struct place *place)
{
	return road_fd(open(new_name(place), O_WRONLY | O_CREAT, 04755));
}

static int create_setgid(const struct place *place)
{
	return road_fd(open(new_name(place), O_WRONLY | O_CREAT | O_EXCL, 02755));
}

static int create_plain(const struct place *place)
{
	return road_fd(open(new_name(place), O_WRONLY | O_CREAT, 0755));
}

static int mknod_setuid(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFREG | 04755, 0));
}

static int mknod_plain(const struct place *place)
{
	return road_result(mknod(new_name(place), S_IFREG | 0755, 0));
}

/* No name yet, but a name can be given to it. */
static int temporary_setuid(const struct place *place)
{
	long fd = open(place->dir, O_TMPFILE | O_RDWR, 04755);

	if (fd < 0)
		return -errno;
	return road_result(linkat(AT_FDCWD, road_path("/proc/self/fd/%ld", fd), AT_FDCWD,
				  new_name(place), AT_SYMLINK_FOLLOW));
}

static int temporary_plain(const struct place *place)
{
	long fd = open(place->dir, O_TMPFILE | O_RDWR, 0755);

	if (fd < 0)
		return -errno;
	return road_result(linkat(AT_FDCWD, road_path("/proc/self/fd/%ld", fd), AT_FDCWD,
				  new_name(place), AT_SYMLINK_FOLLOW));
}

static void prepare_setuid(const struct place *place)
{
	place_default(place);
	/* The twin's is an ordinary file. */
	if (place->side == ROAD_GRANTED)
		road_must(chmod(place->target, 04755), place->target);
}

static int write_it(const struct place *place)
{
	int fd = open(place->target, O_WRONLY);

	return fd < 0 ? -errno : write(fd, "x", 1) == 1 ? 0 : -errno;
}

static int truncate_it(const struct place *place)
{
	return road_result(truncate(place->target, 1));
}

/* struct vfs_cap_data, revision 2, with every capability */
static const unsigned int capabilities[5] = { 0x02000001, ~0U, 0, ~0U, 0 };

static int set_capability(const struct place *place)
{
	return road_result(setxattr(place->target, "security.capability", capabilities,
				    sizeof(capabilities), 0));
}

static int set_trusted(const struct place *place)
{
	return road_result(setxattr(place->target, "trusted.road", "1", 1, 0));
}

static int set_plain(const struct place *place)
{
	return road_result(setxattr(place->target, "user.road", "1", 1, 0));
}

#define SETID(words, how, nearest)                                                                 \
	.name = (words), .surface = "kernel", .op = "setid", .try = (how), .twin = (nearest),      \
	.granted = { EPERM }, .flags = ROAD_CHANGES

static const struct road file_setid[] = {
	{ SETID("chmod with a set-user-ID bit", chmod_setuid, chmod_plain) },
	{ SETID("chmod with a set-group-ID bit", chmod_setgid, chmod_plain) },
	{ SETID("fchmod with a set-user-ID bit", fchmod_setuid, chmod_plain) },
	{ SETID("fchmodat2 with a set-user-ID bit", fchmodat2_setuid, fchmodat2_plain),
	  .since = 0x0606 },
	{ SETID("create with a set-user-ID bit", create_setuid, create_plain) },
	{ SETID("create with a set-group-ID bit", create_setgid, create_plain) },
	{ SETID("mknod with a set-user-ID bit", mknod_setuid, mknod_plain) },
	{ SETID("O_TMPFILE with a set-user-ID bit", temporary_setuid, temporary_plain) },
	{ SETID("open a set-user-ID program for writing", write_it, write_it),
	  .prepare = prepare_setuid },
	{ SETID("truncate a set-user-ID program", truncate_it, truncate_it),
	  .prepare = prepare_setuid },
	{
		.name = "set security.capability",
		.surface = "kernel",
		.try = set_capability,
		.twin = set_plain,
		.granted = { EPERM },
		.walled = { EPERM },
		.flags = ROAD_CHANGES,
	},
	{
		.name = "set a trusted attribute",
		.surface = "kernel",
		.op = "capability",
		.try = set_trusted,
		.twin = set_plain,
		.granted = { EPERM },
		.walled = { EPERM },
		.flags = ROAD_CHANGES | ROAD_ANY_NAME,
	},
};
ROADS(file_setid);
