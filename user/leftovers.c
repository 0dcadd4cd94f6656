// SPDX-License-Identifier: Apache-2.0
/* What do runs leave behind whose comet and guard were both killed, and who removes it? */
#define _GNU_SOURCE 1

#include "user/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/fault.h"
#include "user/instance.h"
#include "user/scope.h"

#define PREFIX "run_" /* of every run's id */

static void closedir_ptr(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int record_path(const char *run_id, char *path, size_t size)
{
	return snprintf(path, size, COMET_RUN_DIRECTORY "/%s", run_id) < (int)size ? 0
										   : -ENAMETOOLONG;
}

/*
 * A comet that clears up may have come between the two calls and removed the file: then it is made
 * again. It cannot take a record that says something, for that is locked.
 */
static int make_locked(const char *path)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (mkdir(COMET_RUN_DIRECTORY, 0700) && errno != EEXIST)
			return -errno;
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != ENOENT)
			return -errno;
		if (fd < 0)
			continue;
		while (flock(fd, LOCK_EX)) {
			if (errno != EINTR)
				return -errno;
		}
		if (fstat(fd, &st))
			return -errno;
		if (st.st_nlink)
			return COMET_TAKE_FD(fd);
	}
	return -EBUSY;
}

int comet_leftovers_record(const char *run_id, const struct comet_cgroup *cgroup,
			   struct comet_error *error)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	size_t length = strlen(cgroup->path);
	int err = record_path(run_id, path, sizeof(path));

	if (err == 0)
		err = fd = make_locked(path);
	if (err >= 0) {
		ssize_t n = write(fd, cgroup->path, length);

		err = n == (ssize_t)length ? 0 : n < 0 ? -errno : -ENOSPC;
	}
	if (err < 0)
		return comet_error_set(error, -err, "cannot record the run in %s: %s", path,
				       strerror(-err));
	return COMET_TAKE_FD(fd);
}

void comet_leftovers_forget(const char *run_id)
{
	char path[64];

	if (record_path(run_id, path, sizeof(path)) == 0)
		unlink(path);
}

/* The record's cgroup, malloc'ed; NULL where it does not name one of this run's. */
static char *read_cgroup(int fd, const char *run_id)
{
	char text[COMET_PATH_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	const char *slash;

	if (n <= 0)
		return NULL;
	text[n] = '\0';
	slash = strrchr(text, '/');
	if (text[0] != '/' || !slash || strncmp(slash, "/comet-", 7) || !streq(slash + 7, run_id))
		return NULL;
	return strdup(text);
}

static void clear(int dir, const char *run_id)
{
	_cleanup_close_ int fd = openat(dir, run_id, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct comet_cgroup cgroup = { .fd = -1 };

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return;
	cgroup.path = read_cgroup(fd, run_id);
	if (comet_cgroup_destroy(&cgroup) < 0)
		return;
	unlinkat(dir, run_id, 0);
}

void comet_leftovers_clear(void)
{
	_cleanup_(closedir_ptr) DIR *list = opendir(COMET_RUN_DIRECTORY);
	struct dirent *entry;

	if (comet_fault("keep-leftovers"))
		return;
	while (list && (entry = readdir(list)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    strlen(entry->d_name) == COMET_RUN_ID_LEN)
			clear(dirfd(list), entry->d_name);
}
