// SPDX-License-Identifier: Apache-2.0
/* Which files does a run see where? */
#define _GNU_SOURCE 1

#include "user/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/instance.h"
#include "user/mount.h"

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
	tree = comet_mount_clone(AT_FDCWD, path);
	return tree < 0 ? -1 : comet_mount_attach(tree, root, name);
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

/*
 * The host has no /workdir, and making one is not for Comet to do: a root in memory that holds
 * every entry of the host's root and an empty /workdir besides.
 */
static int make_root(struct comet_error *error)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	_cleanup_close_ int root = comet_mount_tmpfs("0755");
	int err;

	if (root < 0 || comet_mount_attach(root, AT_FDCWD, "/") < 0)
		return comet_error_set(error, errno, "cannot mount the run's own root: %s",
				       strerror(errno));
	err = copy_entries(root, error);
	if (err < 0)
		return err;
	if (mkdirat(root, &COMET_WORKDIR[1], 0755) < 0)
		return comet_error_set(error, errno, "cannot make %s in the run's own root: %s",
				       COMET_WORKDIR, strerror(errno));
	/* What is written to a tmpfs would be lost without a word. */
	if (comet_mount_pivot(root) < 0 ||
	    mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof(read_only)) < 0)
		return comet_error_set(error, errno, "cannot change to the run's own root: %s",
				       strerror(errno));
	return 0;
}

/* Where the host has a link, what it leads to is meant. */
static int attach_at(int tree, const char *path)
{
	return move_mount(tree, "", AT_FDCWD, path,
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS);
}

static int mount_workdir(const char *workdir, struct comet_error *error)
{
	/* Before the new root: the directory may lie where something is mounted over it. */
	_cleanup_close_ int tree = comet_mount_clone(AT_FDCWD, workdir);
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
	if (attach_at(tree, COMET_WORKDIR) < 0)
		return comet_error_set(error, errno, "cannot mount %s at %s: %s", workdir,
				       COMET_WORKDIR, strerror(errno));
	return 0;
}

/* The pins lie under the run's /proc: there no path of the run leads to them. */
static int mount_proc(int pins, struct comet_error *error)
{
	if (pins >= 0 && attach_at(pins, "/proc") < 0)
		return comet_error_set(error, errno, "cannot mount the run's BPF filesystem: %s",
				       strerror(errno));
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, PROC_OPTIONS) < 0)
		return comet_error_set(error, errno, "cannot mount the run's own /proc: %s",
				       strerror(errno));
	return 0;
}

static int mount_memory(const char *path, const char *mode, struct comet_error *error)
{
	if (mount("comet", path, "tmpfs", MS_NOSUID | MS_NODEV, mode) < 0)
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
	/*
	 * Records and the lock of all runs are for no agent, whatever its manifest declares: a
	 * record says whom the next comet kills, and a lock is held by who may but read its file.
	 * First, so that it covers them in what is mounted elsewhere, too.
	 */
	err = mount_memory(COMET_RUN_DIRECTORY, "mode=0755", error);
	if (err == 0 && mounts->workdir)
		err = mount_workdir(mounts->workdir, error);
	if (err < 0)
		return err;
	if (access(COMET_SHARED_MEMORY, F_OK) == 0)
		err = mount_memory(COMET_SHARED_MEMORY, "mode=1777", error);
	if (err == 0 && mounts->private_tmp)
		err = mount_memory("/tmp", "mode=1777", error);
	if (err == 0)
		err = mount_proc(mounts->pins, error);
	/* Where the caller stood is not for the run, and may not be in it. */
	if (err == 0 && chdir("/") < 0)
		err = comet_error_set(error, errno, "cannot change to the run's root: %s",
				      strerror(errno));
	return err;
}
