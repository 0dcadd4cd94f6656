// SPDX-License-Identifier: Apache-2.0
/*
 * On which roads does the kernel answer before any hook can see what was asked for? Each tells
 * whether an undeclared name exists, or what kind of thing it is, and no more.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
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

static int symlink_existing(const struct place *place)
{
	return road_result(symlink("somewhere", place->target));
}

static int symlink_new(const struct place *place)
{
	return road_result(symlink("somewhere", road_in(place, "new")));
}

static int mknod_existing(const struct place *place)
{
	return road_result(mkfifo(place->target, 0600));
}

static int mknod_new(const struct place *place)
{
	return road_result(mkfifo(road_in(place, "new"), 0600));
}

static int rename_existing(const struct place *place)
{
	return road_result(syscall(SYS_renameat2, AT_FDCWD, place->mine, AT_FDCWD, place->target,
				   RENAME_NOREPLACE));
}

static int rename_new(const struct place *place)
{
	return road_result(syscall(SYS_renameat2, AT_FDCWD, place->mine, AT_FDCWD,
				   road_in(place, "new"), RENAME_NOREPLACE));
}

static int bind_to(const struct place *place, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long s = road_must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");

	strcpy(address.sun_path, name);
	road_must(chdir(place->dir), "chdir");
	return road_result(bind((int)s, (void *)&address, sizeof(address)));
}

static int bind_existing(const struct place *place)
{
	return bind_to(place, "f");
}

static int bind_new(const struct place *place)
{
	return bind_to(place, "new");
}

/* Where a link leads that cannot be read: followed, and then asked for by another way. */
static void make_link_to_directory(const struct place *place)
{
	place_directory(place, place->dir);
	place_directory(place, road_in(place, "d"));
	road_must(symlink("d", place->target), place->target);
}

static int ends_in(const char *text, ssize_t n, const char *end)
{
	size_t want = strlen(end);

	if (n < 0)
		return -errno;
	return (size_t)n >= want && memcmp(text + n - want, end, want) == 0 ? 0 : -EBADMSG;
}

static int link_by_descriptor(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");
	char text[512];

	return ends_in(text, readlink(road_path("/proc/self/fd/%ld", fd), text, sizeof(text)),
		       road_in(place, "d"));
}

static int link_by_directory(const struct place *place)
{
	char text[512];

	road_must(chdir(place->target), "chdir");
	return ends_in(text, syscall(SYS_getcwd, text, sizeof(text)) - 1, road_in(place, "d"));
}

static int inode_number(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");
	char text[512] = "";
	int info = open(road_path("/proc/self/fdinfo/%ld", fd), O_RDONLY);

	if (info < 0)
		return -errno;
	road_must(read(info, text, sizeof(text) - 1), "fdinfo");
	return strstr(text, "ino:") ? 0 : -EBADMSG;
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

static int get_trusted(const struct place *place)
{
	char text[64];

	return road_result(getxattr(place->target, "trusted.coverage", text, sizeof(text)));
}

static int read_link_of_file(const struct place *place)
{
	char text[64];

	return road_result(readlink(place->target, text, sizeof(text)));
}

static int unmount(const struct place *place)
{
	return road_result(umount2(place->target, 0));
}

static int change_root(const struct place *place)
{
	return road_result(chroot(place->dir));
}

static int quota(const struct place *place)
{
	return road_result(syscall(SYS_quotactl, QCMD(Q_SYNC, USRQUOTA), place->target, 0, NULL));
}

static int link_elsewhere(const struct place *place)
{
	return road_result(link(place->target, "/dev/shm/coverage"));
}

static int link_here(const struct place *place)
{
	return road_result(link(place->target, road_in(place, "new")));
}

/* A program that runs all the while, outside. */
static void make_program(const struct place *place)
{
	int from = (int)road_must(open("/bin/sleep", O_RDONLY), "/bin/sleep");
	int to;

	place_directory(place, place->dir);
	place_file(place, place->target, "", 0755);
	to = (int)road_must(open(place->target, O_WRONLY), place->target);
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(to);
	close(from);
}

static void run_program(const struct place *place)
{
	int ends[2];
	char byte;

	road_must(pipe2(ends, O_CLOEXEC), "pipe2");
	if (road_must(fork(), "fork") == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(place->target, "sleep", "1000", NULL);
		road_broken("%s", place->target);
	}
	close(ends[1]);
	/* Its end is the end of execve's. */
	if (read(ends[0], &byte, 1) == 0)
		road_ready(place);
	pause();
}

static int write_program(const struct place *place)
{
	return road_fd(open(place->target, O_WRONLY));
}

static int write_mine(const struct place *place)
{
	return road_fd(open(place->mine, O_WRONLY));
}

#define EXISTS "the kernel asks no hook that sees the path; tells that the name exists"
#define EARLIER "the kernel answers before it asks a hook; tells that the name exists"
#define KIND "the kernel answers before it asks a hook; tells what kind of thing it is"

#define LEADS "the kernel asks no hook that sees the path; tells where the link leads"

#define LEAK_AS(words, how, answer, reason, more)                                                  \
	.name = (words), .surface = "fs.read", .try = (how), .hidden = { answer },                 \
	.flags = ROAD_LEAKS | (more), .why = (reason)
#define LEAK(words, how, answer, reason) LEAK_AS(words, how, answer, reason, 0)
/* In the run's own /proc alone: another is not granted. */
#define LEAK_INSIDE(words, how, answer, reason)                                                    \
	LEAK_AS(words, how, answer, reason, ROAD_TWIN_INSIDE)

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
	{ LEAK("symlink at an existing name", symlink_existing, EEXIST, EARLIER),
	  .twin = symlink_new },
	{ LEAK("mknod of an existing name", mknod_existing, EEXIST, EARLIER), .twin = mknod_new },
	{ LEAK("rename to an existing name with RENAME_NOREPLACE", rename_existing, EEXIST,
	       EARLIER),
	  .twin = rename_new },
	{ LEAK("bind a UNIX socket to an existing name", bind_existing, EADDRINUSE, EARLIER),
	  .twin = bind_new },
	{ LEAK_INSIDE("open a symbolic link with O_PATH, then readlink of /proc/self/fd",
		      link_by_descriptor, ROAD_SUCCEEDS, LEADS),
	  .prepare = make_link_to_directory },
	{ LEAK("chdir to a symbolic link, then getcwd", link_by_directory, ROAD_SUCCEEDS, LEADS),
	  .prepare = make_link_to_directory },
	{ LEAK_INSIDE("open with O_PATH, then read /proc/self/fdinfo", inode_number, ROAD_SUCCEEDS,
		      "the kernel asks no hook; tells the inode number") },
	{ LEAK("open a name below a file", open_below_file, ENOTDIR, KIND), .twin = open_file },
	{ LEAK("open a file with O_DIRECTORY", open_file_as_directory, ENOTDIR, KIND),
	  .twin = open_file },
	{ LEAK("open a directory for writing", open_directory_to_write, EISDIR, KIND),
	  .twin = open_file },
	{ LEAK("open a symbolic link with O_NOFOLLOW", open_link, ELOOP, KIND),
	  .prepare = make_link, .twin = read_link },
	{ LEAK("truncate a directory", truncate_directory, EISDIR, KIND), .twin = truncate_file },
	{ LEAK("readlink of a file", read_link_of_file, EINVAL, KIND), .twin = open_file },
	{ LEAK_INSIDE("getxattr of a trusted attribute", get_trusted, ENODATA, EARLIER),
	  .twin = open_file },
	{ LEAK_INSIDE("umount2 of what is no mount", unmount, EPERM, EARLIER), .twin = open_file },
	{ LEAK_INSIDE("chroot without the right to it", change_root, EPERM, EARLIER),
	  .twin = change_directory },
	{ LEAK("quotactl on what is no device", quota, ENOTBLK, EXISTS), .twin = open_file },
	{ LEAK("link to another mount", link_elsewhere, EXDEV, EARLIER), .twin = link_here },
	{ LEAK("open a running program for writing", write_program, ETXTBSY,
	       "the kernel answers before it asks a hook; tells that the program runs"),
	  .prepare = make_program, .outside = run_program, .twin = write_mine },
};
ROADS(file_leak);
