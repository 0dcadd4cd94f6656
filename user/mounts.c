// SPDX-License-Identifier: Apache-2.0
/* Which files does a run see where? */
#define _GNU_SOURCE 1

#include "user/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "user/base.h"

/*
 * Pid 1 of the run is Comet's own and may not be looked into: not there is a better answer than
 * "permission denied". The group that would be exempt (by default root's) is one nobody is in.
 */
#define PROC_OPTIONS "hidepid=2,gid=4294967294"

static void closedir_ptr(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* A copy, with all that is mounted below it, that is not mounted anywhere yet. */
static int clone_tree(const char *path)
{
	return open_tree(AT_FDCWD, path,
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
}

static int attach(int tree, int dir, const char *path)
{
	return move_mount(tree, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS);
}

/* An unmounted tmpfs for the new root. */
static int make_tmpfs(void)
{
	_cleanup_close_ int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "source", "comet", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int copy_link(const char *path, int root, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlinkat(target, root, name);
}

static int make_empty_file(int root, const char *name)
{
	_cleanup_close_ int fd =
		openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);

	return fd < 0 ? -1 : 0;
}

/* The same entry in the new root: a link as a copy, anything else as a mount of the old one. */
static int copy_entry(int root, const char *name)
{
	char path[NAME_MAX + 2];
	_cleanup_close_ int tree = -1;
	struct stat st;

	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISLNK(st.st_mode))
		return copy_link(path, root, name);
	if (S_ISDIR(st.st_mode) ? mkdirat(root, name, 0755) : make_empty_file(root, name))
		return -1;
	/* The run gets a /proc of its own. */
	if (streq(name, "proc"))
		return 0;
	tree = clone_tree(path);
	return tree < 0 ? -1 : attach(tree, root, name);
}

static int copy_entries(int root, struct comet_error *error)
{
	_cleanup_(closedir_ptr) DIR *list = opendir("/");
	struct dirent *entry;

	if (!list)
		return comet_error_set(error, errno, "cannot list /: %s", strerror(errno));
	while ((entry = readdir(list))) {
		if (streq(entry->d_name, ".") || streq(entry->d_name, ".."))
			continue;
		if (copy_entry(root, entry->d_name) < 0)
			return comet_error_set(error, errno,
					       "cannot show /%s in the run's own root: %s",
					       entry->d_name, strerror(errno));
	}
	return 0;
}

/* From here on the tmpfs is "/", and the old root is not mounted any more. */
static int enter_root(int root)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	/* Both names are the new root's: the old one comes to lie on top of it and is taken off. */
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return -1;
	/* What is written to a tmpfs would be lost without a word. */
	return mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof(read_only));
}

/*
 * The host has no /workdir, and making one is not for Comet to do: a root in memory that holds
 * every entry of the host's root and an empty /workdir besides.
 */
static int make_root(struct comet_error *error)
{
	_cleanup_close_ int root = make_tmpfs();
	int err;

	if (root < 0 || attach(root, AT_FDCWD, "/") < 0)
		return comet_error_set(error, errno, "cannot mount the run's own root: %s",
				       strerror(errno));
	err = copy_entries(root, error);
	if (err < 0)
		return err;
	if (mkdirat(root, &COMET_WORKDIR[1], 0755) < 0)
		return comet_error_set(error, errno, "cannot make %s in the run's own root: %s",
				       COMET_WORKDIR, strerror(errno));
	if (enter_root(root) < 0)
		return comet_error_set(error, errno, "cannot change to the run's own root: %s",
				       strerror(errno));
	return 0;
}

static int mount_workdir(const char *workdir, struct comet_error *error)
{
	/* Before the new root: the directory may lie where something is mounted over it. */
	_cleanup_close_ int tree = clone_tree(workdir);
	struct stat st;
	int err;

	if (tree < 0)
		return comet_error_set(error, errno, "cannot bind %s: %s", workdir,
				       strerror(errno));
	if (stat(COMET_WORKDIR, &st) < 0 || !S_ISDIR(st.st_mode)) {
		err = make_root(error);
		if (err < 0)
			return err;
	}
	if (attach(tree, AT_FDCWD, COMET_WORKDIR) < 0)
		return comet_error_set(error, errno, "cannot mount %s at %s: %s", workdir,
				       COMET_WORKDIR, strerror(errno));
	return 0;
}

/* The pins lie under the run's /proc: there no path of the run leads to them. */
static int mount_proc(int pins, struct comet_error *error)
{
	if (pins >= 0 && attach(pins, AT_FDCWD, "/proc") < 0)
		return comet_error_set(error, errno, "cannot mount the run's BPF filesystem: %s",
				       strerror(errno));
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, PROC_OPTIONS) < 0)
		return comet_error_set(error, errno, "cannot mount the run's own /proc: %s",
				       strerror(errno));
	return 0;
}

static int mount_memory(const char *path, struct comet_error *error)
{
	if (mount("comet", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		return comet_error_set(error, errno, "cannot mount the run's own %s: %s", path,
				       strerror(errno));
	return 0;
}

int comet_mounts_make(const struct comet_mounts *mounts, struct comet_error *error)
{
	int err = 0;

	/* Neither does a mount made here reach the host, nor one made on the host later the run. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return comet_error_set(error, errno, "cannot make the run's mounts private: %s",
				       strerror(errno));
	if (mounts->workdir)
		err = mount_workdir(mounts->workdir, error);
	if (err < 0)
		return err;
	if (access(COMET_SHARED_MEMORY, F_OK) == 0)
		err = mount_memory(COMET_SHARED_MEMORY, error);
	if (err == 0 && mounts->private_tmp)
		err = mount_memory("/tmp", error);
	if (err < 0)
		return err;
	return mount_proc(mounts->pins, error);
}
