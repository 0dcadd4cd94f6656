// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file or directory be opened for reading? */
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int open_plain(const struct place *place)
{
	return road_read_canary(open(place->target, O_RDONLY));
}

static int directory(const struct place *place)
{
	return (int)road_must(open(place->dir, O_PATH | O_DIRECTORY), "O_PATH of the directory");
}

static int openat_directory(const struct place *place)
{
	return road_read_canary(openat(directory(place), "f", O_RDONLY));
}

static int openat2_with(int dir, const char *name, __u64 resolve)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = resolve };

	return road_read_canary(syscall(SYS_openat2, dir, name, &how, sizeof(how)));
}

static int openat2_no_links(const struct place *place)
{
	return openat2_with(AT_FDCWD, place->target, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static int openat2_in_root(const struct place *place)
{
	return openat2_with(directory(place), "/../f", RESOLVE_IN_ROOT);
}

static int openat2_beneath(const struct place *place)
{
	return openat2_with(directory(place), "f", RESOLVE_BENEATH);
}

static int reopen(long fd, const char *what)
{
	road_must(fd, what);
	return road_read_canary(open(road_path("/proc/self/fd/%ld", fd), O_RDONLY));
}

static int reopen_path(const struct place *place)
{
	return reopen(open(place->target, O_PATH), "O_PATH");
}

static int reopen_tree(const struct place *place)
{
	return reopen(syscall(SYS_open_tree, AT_FDCWD, place->target, 0), "open_tree");
}

static int through_root(const struct place *place)
{
	return road_read_canary(open(road_path("/proc/self/root%s", place->target), O_RDONLY));
}

static int through_thread_root(const struct place *place)
{
	return road_read_canary(
		open(road_path("/proc/thread-self/root%s", place->target), O_RDONLY));
}

static int through_cwd(const struct place *place)
{
	road_must(chdir(place->scratch), "chdir");
	return road_read_canary(
		open(road_path("/proc/self/cwd/../..%s", place->target + strlen(place->root)),
		     O_RDONLY));
}

static int dots(const struct place *place)
{
	road_must(chdir(place->scratch), "chdir");
	return road_read_canary(
		open(road_path("../..%s", place->target + strlen(place->root)), O_RDONLY));
}

static int after_chdir(const struct place *place)
{
	road_must(chdir(place->dir), "chdir");
	return road_read_canary(open("f", O_RDONLY));
}

static int after_fchdir(const struct place *place)
{
	road_must(fchdir(directory(place)), "fchdir");
	return road_read_canary(open("./f", O_RDONLY));
}

static int link_to_file(const struct place *place)
{
	const char *name = road_mine(place, "link");

	road_must(symlink(place->target, name), "symlink");
	return road_read_canary(open(name, O_RDONLY));
}

static int link_to_directory(const struct place *place)
{
	road_must(symlink(place->dir, road_mine(place, "link")), "symlink");
	return road_read_canary(open(road_mine(place, "link/f"), O_RDONLY));
}

/* Looked at first by the name that is declared, so that its verdict may be remembered. */
static void make_second_name(const struct place *place)
{
	place_directory(place, place->dir);
	place_file(place, place->mine, ROAD_CANARY, 0644);
	road_must(link(place->mine, place->target), "link");
}

static int open_second_name(const struct place *place)
{
	road_must(road_read_canary(open(place->mine, O_RDONLY)), "the declared name");
	return road_read_canary(open(place->target, O_RDONLY));
}

static int open_existing_to_create(const struct place *place)
{
	return road_read_canary(open(place->target, O_RDONLY | O_CREAT, 0600));
}

static void make_fifo(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(mkfifo(place->target, 0600), place->target);
	road_must(chown(place->target, place->uid, place->uid), place->target);
}

static int open_fifo(const struct place *place)
{
	return road_fd(open(place->target, O_RDONLY | O_NONBLOCK));
}

static int list_fd(long fd)
{
	char entries[1024];
	long n;

	if (fd < 0)
		return -errno;
	n = syscall(SYS_getdents64, fd, entries, sizeof(entries));
	return n < 0 ? -errno : n > 0 ? 0 : -EBADMSG;
}

static int list(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return list_fd(open(place->dir, O_RDONLY | O_DIRECTORY));
}

static int list_parent(const struct place *place)
{
	place_names(place, "%s", place->root);
	return list_fd(open(place->root, O_RDONLY | O_DIRECTORY));
}

static int list_dot(const struct place *place)
{
	place_names(place, "%s", place->dir);
	return list_fd(openat(directory(place), ".", O_RDONLY | O_DIRECTORY));
}

/* A directory beside the row's own, so that its removal is no effect of the agent's. */
static const char *doomed(const struct place *place)
{
	return road_path("%s-doomed", place->dir);
}

static void make_doomed(const struct place *place)
{
	place_default(place);
	place_directory(place, doomed(place));
}

static void remove_doomed(const struct place *place)
{
	road_ready(place);
	while (access(road_mine(place, "go"), F_OK) < 0)
		usleep(1000);
	road_must(rmdir(doomed(place)), "rmdir");
	place_tell(place, "gone");
}

static void enter_doomed(const struct place *place)
{
	road_must(chdir(doomed(place)), "chdir");
	close((int)road_must(open(road_mine(place, "go"), O_WRONLY | O_CREAT, 0600), "go"));
	while (strcmp(place_told(place), "gone") != 0)
		usleep(1000);
}

static int open_deleted_cwd(const struct place *place)
{
	place_names(place, "%s", doomed(place));
	enter_doomed(place);
	return road_fd(open(".", O_RDONLY | O_DIRECTORY));
}

static int beyond_deleted_cwd(const struct place *place)
{
	enter_doomed(place);
	return road_read_canary(open(road_path("../%03u/f", place->number), O_RDONLY));
}

static void tell_handle(const struct place *place)
{
	union {
		struct file_handle handle;
		unsigned char bytes[sizeof(struct file_handle) + 128];
	} all = { .handle.handle_bytes = 128 };
	char text[2 * sizeof(all) + 1];
	size_t i, n;
	int mount;

	place_default(place);
	/* A filesystem without handles shows by the answer that none can be opened. */
	if (name_to_handle_at(AT_FDCWD, place->target, &all.handle, &mount, 0) < 0)
		return;
	n = sizeof(struct file_handle) + all.handle.handle_bytes;
	for (i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", all.bytes[i]);
	place_tell(place, "%s", text);
}

static int open_handle(const struct place *place)
{
	union {
		struct file_handle handle;
		unsigned char bytes[sizeof(struct file_handle) + 128];
	} all = {};
	const char *text = place_told(place);
	int fd = (int)road_must(open(place->scratch, O_RDONLY), "scratch");

	for (size_t i = 0; i < sizeof(all) && text[2 * i]; i++)
		sscanf(text + 2 * i, "%2hhx", &all.bytes[i]);
	return road_read_canary(open_by_handle_at(fd, &all.handle, O_RDONLY));
}

static void make_node(const struct place *place, mode_t type, dev_t device)
{
	place_directory(place, place->dir);
	road_must(mknod(place->target, type | 0600, device), place->target);
	road_must(chown(place->target, place->uid, place->uid), place->target);
}

/* The disk that this very file is on. */
static void make_block_device(const struct place *place)
{
	struct stat st;

	road_must(stat(place->root, &st), place->root);
	make_node(place, S_IFBLK, st.st_dev);
}

static void make_char_device(const struct place *place)
{
	make_node(place, S_IFCHR, makedev(1, 5));
}

static int read_device(const struct place *place)
{
	int fd = open(place->target, O_RDONLY);
	char block[512];

	if (fd < 0)
		return -errno;
	return read(fd, block, sizeof(block)) == sizeof(block) ? 0 : -EBADMSG;
}

static void grant_device(const struct place *place)
{
	road_grant("fs.read %s", place->target);
}

#define READ(words, how)                                                                           \
	.name = (words), .surface = "fs.read", .op = "open", .try = (how), .hidden = { ENOENT }

static const struct road file_open[] = {
	{ READ("open for reading", open_plain) },
	{ READ("openat below an O_PATH descriptor of its directory", openat_directory) },
	{ READ("openat2 with RESOLVE_NO_SYMLINKS", openat2_no_links) },
	{ READ("openat2 with RESOLVE_IN_ROOT", openat2_in_root) },
	{ READ("openat2 with RESOLVE_BENEATH", openat2_beneath) },
	{ READ("open with O_PATH, then again by /proc/self/fd", reopen_path) },
	{ READ("open_tree, then open by /proc/self/fd", reopen_tree) },
	{ READ("open through /proc/self/root", through_root) },
	{ READ("open through /proc/thread-self/root", through_thread_root) },
	{ READ("open through /proc/self/cwd", through_cwd) },
	{ READ("open with .. out of a declared directory", dots) },
	{ READ("chdir, then open", after_chdir) },
	{ READ("fchdir to an O_PATH descriptor, then open", after_fchdir) },
	{ READ("open through a symbolic link to the file", link_to_file) },
	{ READ("open through a symbolic link to its directory", link_to_directory) },
	{ READ("open an undeclared name of a file that has a declared one", open_second_name),
	  .prepare = make_second_name },
	{ .name = "open an existing file with O_RDONLY and O_CREAT",
	  .surface = "fs.read",
	  .op = "open",
	  .try = open_existing_to_create,
	  .hidden = { EACCES } },
	{ READ("open a FIFO", open_fifo), .prepare = make_fifo },
	{ READ("opendir and getdents", list) },
	{ READ("list a directory on the way to a declared one", list_parent), .twin = list },
	{ READ("openat \".\" of an O_PATH descriptor, and getdents", list_dot) },
	{ READ("open \".\" in a deleted working directory", open_deleted_cwd),
	  .prepare = make_doomed, .outside = remove_doomed },
	{ READ("open beyond a deleted working directory", beyond_deleted_cwd),
	  .prepare = make_doomed, .outside = remove_doomed },
	{ READ("open_by_handle_at", open_handle), .prepare = tell_handle, .walled = { EPERM },
	  .flags = ROAD_TWIN_WALLED },
	{
		.name = "read a block device by a node in a granted directory",
		.surface = "fs.read",
		.op = "open",
		.prepare = make_block_device,
		.grants = grant_device,
		.try = read_device,
		.granted = { ENOENT },
	},
	{
		.name = "read a character device by a node in a granted directory",
		.surface = "fs.read",
		.op = "open",
		.prepare = make_char_device,
		.grants = grant_device,
		.try = read_device,
		.granted = { ENOENT },
	},
};
ROADS(file_open);
