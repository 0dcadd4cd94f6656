// SPDX-License-Identifier: Apache-2.0
/* On which roads can one learn what others do with a file? */
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int inotify_on(const char *path)
{
	long fd = road_must(inotify_init1(IN_CLOEXEC), "inotify_init");

	return road_result(inotify_add_watch((int)fd, path, IN_ALL_EVENTS));
}

static int watch_file(const struct place *place)
{
	return inotify_on(place->target);
}

static int watch_directory(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return inotify_on(place->dir);
}

static int watch_parent(const struct place *place)
{
	place_names(place, "%s", place->root);
	return inotify_on(place->root);
}

static int watch_descriptor(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return inotify_on(road_path("/proc/self/fd/%ld", fd));
}

static int dnotify(const struct place *place)
{
	int fd = open(place->dir, O_RDONLY | O_DIRECTORY);

	place_names(place, "%s", place->dir);
	if (fd < 0)
		return -errno;
	return road_result(fcntl(fd, F_NOTIFY, DN_MODIFY | DN_CREATE));
}

static int fanotify_on(const char *path, unsigned int what)
{
	long fd = road_must(fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY),
			    "fanotify_init");

	return road_result(
		fanotify_mark((int)fd, FAN_MARK_ADD | what, FAN_OPEN | FAN_MODIFY, AT_FDCWD, path));
}

/* As any user may: of root's rights fanotify_init would ask for more. */
static int fanotify_inode(const struct place *place)
{
	road_drop(CAP_SYS_ADMIN);
	return fanotify_on(place->target, 0);
}

static int fanotify_mount(const struct place *place)
{
	return fanotify_on(place->target, FAN_MARK_MOUNT);
}

static int fanotify_filesystem(const struct place *place)
{
	return fanotify_on(place->target, FAN_MARK_FILESYSTEM);
}

#define WATCH(words, event, how)                                                                   \
	.name = (words), .surface = "fs.read", .op = (event), .try = (how), .hidden = { ENOENT }
/* All files of a mount or a filesystem at once. */
#define WATCH_ALL(words, how)                                                                      \
	.name = (words), .surface = "kernel", .op = "capability", .try = (how),                    \
	.twin = watch_file, .granted = { EPERM }, .walled = { EPERM }

static const struct road file_notify[] = {
	{ WATCH("inotify_add_watch on a file", "notify", watch_file) },
	{ WATCH("inotify_add_watch on a directory", "notify", watch_directory) },
	{ WATCH("inotify_add_watch on a directory on the way to a declared one", "notify",
		watch_parent),
	  .twin = watch_directory },
	{ WATCH("inotify_add_watch on an O_PATH descriptor by /proc/self/fd", "notify",
		watch_descriptor) },
	{ WATCH("open and fcntl F_NOTIFY", "open", dnotify) },
	{ WATCH("fanotify_mark on a file", "notify", fanotify_inode) },
	{ WATCH_ALL("fanotify_mark on a mount", fanotify_mount) },
	{ WATCH_ALL("fanotify_mark on a filesystem", fanotify_filesystem) },
};
ROADS(file_notify);
