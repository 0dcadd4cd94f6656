// SPDX-License-Identifier: Apache-2.0
/* By which calls could files be shown in another place? */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static const char *mount_point(const struct place *place)
{
	const char *path = road_mine(place, "m");

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		road_broken("%s", path);
	return path;
}

/* A mount that is there to be moved or taken away. */
static const char *made_mount(const struct place *place)
{
	return road_mine(place, "t");
}

static void make_mount(const struct place *place)
{
	place_default(place);
	place_directory(place, made_mount(place));
	road_must(mount("none", made_mount(place), "tmpfs", 0, NULL), "mount");
}

static bool mount_is_gone(const struct place *place)
{
	return umount2(made_mount(place), MNT_DETACH) < 0;
}

/* Says so, and takes it away. */
static bool is_mounted(const struct place *place)
{
	return umount2(road_mine(place, "m"), MNT_DETACH) == 0;
}

/* The hidden file, where it would then be. */
static int look(const struct place *place, long result)
{
	if (result < 0)
		return -errno;
	return road_read_canary(open(road_mine(place, "m/f"), O_RDONLY | O_CLOEXEC));
}

static int bind_directory(const struct place *place)
{
	const char *at = mount_point(place);

	return look(place, mount(place->dir, at, NULL, MS_BIND | MS_REC, NULL));
}

static int mount_tmpfs(const struct place *place)
{
	return road_result(mount("none", mount_point(place), "tmpfs", 0, NULL));
}

static int mount_proc(const struct place *place)
{
	return road_result(mount("none", mount_point(place), "proc", 0, NULL));
}

static int mount_overlay(const struct place *place)
{
	const char *at = mount_point(place);

	return look(place, mount("none", at, "overlay", 0,
				 road_path("lowerdir=%s:%s", place->dir, place->scratch)));
}

static int remount(const struct place *place)
{
	(void)place;
	return road_result(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int remount_filesystem(const struct place *place)
{
	(void)place;
	return road_result(mount(NULL, "/", NULL, MS_REMOUNT | MS_NOATIME, NULL));
}

static int change_propagation(const struct place *place)
{
	(void)place;
	return road_result(mount(NULL, "/", NULL, MS_PRIVATE, NULL));
}

static int move_old(const struct place *place)
{
	return road_result(mount(made_mount(place), mount_point(place), NULL, MS_MOVE, NULL));
}

static int unmount(const struct place *place)
{
	return road_result(umount2(made_mount(place), MNT_DETACH));
}

static int expire(const struct place *place)
{
	return road_result(umount2(made_mount(place), MNT_EXPIRE));
}

static int pivot(const struct place *place)
{
	const char *at = mount_point(place);

	return road_result(syscall(SYS_pivot_root, at, at));
}

static int clone_tree(const struct place *place)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, place->dir, OPEN_TREE_CLONE);

	if (tree < 0)
		return -errno;
	return road_read_canary(openat(tree, "f", O_RDONLY | O_CLOEXEC));
}

static int open_filesystem(const struct place *place)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", 0);

	(void)place;
	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	return road_fd(syscall(SYS_fsmount, fs, 0, 0));
}

static int pick_filesystem(const struct place *place)
{
	(void)place;
	return road_fd(syscall(SYS_fspick, AT_FDCWD, "/", 0));
}

static int move_new(const struct place *place)
{
	const char *at = mount_point(place);

	return road_result(syscall(SYS_move_mount, AT_FDCWD, made_mount(place), AT_FDCWD, at, 0));
}

static int set_attributes(const struct place *place)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_NOSUID };

	(void)place;
	return road_result(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)));
}

/* From 6.15 on. */
static int clone_tree_with_attributes(const struct place *place)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	return road_fd(syscall(467 /* open_tree_attr */, AT_FDCWD, place->dir, OPEN_TREE_CLONE,
			       &attr, sizeof(attr)));
}

/* From 7.0 on; older kernels know no such flag. */
static int open_tree_as_namespace(const struct place *place)
{
	int result = road_fd(syscall(SYS_open_tree, AT_FDCWD, place->dir, 1U << 1));

	return result == -EINVAL ? -ENOSYS : result;
}

/* A descriptor for a place is to be had, of a copy it is not. */
static int open_tree_plainly(const struct place *place)
{
	return road_fd(syscall(SYS_open_tree, AT_FDCWD, place->scratch, 0));
}

#define MOUNT(text, function)                                                                      \
	.name = text, .surface = "kernel", .try = function, .twin = open_tree_plainly,             \
	.hidden = { EPERM }, .walled = { EPERM }
#define ADD(text, function) MOUNT(text, function), .harmed = is_mounted
#define MADE(text, function) MOUNT(text, function), .prepare = make_mount, .harmed = mount_is_gone

static const struct road kernel_mount[] = {
	{ ADD("mount of a directory elsewhere (MS_BIND)", bind_directory) },
	{ ADD("mount of a tmpfs", mount_tmpfs) },
	{ ADD("mount of a proc", mount_proc) },
	{ ADD("mount of an overlay", mount_overlay) },
	{ MOUNT("remount of a mount (MS_REMOUNT with MS_BIND)", remount) },
	{ MOUNT("remount of a filesystem (MS_REMOUNT)", remount_filesystem) },
	{ MOUNT("change of propagation (MS_PRIVATE)", change_propagation) },
	{ MADE("moving a mount (MS_MOVE)", move_old) },
	{ MADE("umount2 MNT_DETACH", unmount) },
	{ MADE("umount2 MNT_EXPIRE", expire) },
	{ MOUNT("pivot_root", pivot) },
	{ MOUNT("open_tree OPEN_TREE_CLONE", clone_tree) },
	{ MOUNT("open_tree OPEN_TREE_NAMESPACE", open_tree_as_namespace), .since = 0x0700 },
	{ MOUNT("open_tree_attr OPEN_TREE_CLONE", clone_tree_with_attributes), .since = 0x060f },
	{ MOUNT("fsopen and fsmount", open_filesystem) },
	{ MOUNT("fspick", pick_filesystem) },
	{ MADE("move_mount", move_new) },
	{ MOUNT("mount_setattr", set_attributes) },
};
ROADS(kernel_mount);
