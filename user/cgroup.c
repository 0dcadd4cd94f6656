// SPDX-License-Identifier: Apache-2.0
/* How is a run's cgroup made, emptied and removed? */
#define _GNU_SOURCE 1

#include "user/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "user/base.h"
#include "user/fault.h"

/* How long the tasks of a killed cgroup may take to die before it is left behind. */
#define EMPTY_TIMEOUT_MS 10000

static void closedir_ptr(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int read_text(int dir, const char *name, char **text)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *file = NULL;
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	file = fdopen(fd, "r");
	if (!file)
		return -errno;
	COMET_TAKE_FD(fd);
	*text = NULL;
	/* No NUL in these files: one "line" is the whole file. */
	n = getdelim(text, &size, '\0', file);
	if (n < 0) {
		free(*text);
		*text = strdup("");
	}
	return *text ? 0 : -ENOMEM;
}

static int locate(char **mount, char **path, struct comet_error *error)
{
	_cleanup_free_ char *mountinfo = NULL;
	_cleanup_free_ char *own = NULL;
	int err = read_text(AT_FDCWD, "/proc/self/mountinfo", &mountinfo);

	if (err < 0)
		return comet_error_set(error, -err, "cannot read /proc/self/mountinfo: %s",
				       strerror(-err));
	err = read_text(AT_FDCWD, "/proc/self/cgroup", &own);
	if (err < 0)
		return comet_error_set(error, ENOTSUP, "cannot read /proc/self/cgroup: %s",
				       strerror(-err));
	return comet_cgroup_locate(mountinfo, own, mount, path, error);
}

int comet_cgroup_root(char **path, struct comet_error *error)
{
	return locate(path, NULL, error);
}

/* The number by which BPF programs know the cgroup: its kernfs node, as in a file handle. */
static int read_id(int fd, uint64_t *id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = { .handle.handle_bytes = sizeof(uint64_t) };
	int mount_id;

	if (name_to_handle_at(fd, "", &h.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return -errno;
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return 0;
}

/* A child of a threaded cgroup cannot hold whole processes: the kernel calls it invalid. */
static int check_type(const struct comet_cgroup *cgroup, struct comet_error *error)
{
	_cleanup_free_ char *type = NULL;
	int err = read_text(cgroup->fd, "cgroup.type", &type);

	if (err < 0)
		return comet_error_set(error, -err, "cannot read %s/cgroup.type: %s", cgroup->path,
				       strerror(-err));
	if (strncmp(type, "domain\n", 7) == 0)
		return 0;
	return comet_error_set(error, ENOTSUP,
			       "comet's own cgroup is threaded and cannot hold a run: start comet "
			       "from another cgroup (%s would be of type %.*s)",
			       cgroup->path, (int)strcspn(type, "\n"), type);
}

static int fill(struct comet_cgroup *cgroup, struct comet_error *error)
{
	int err;

	cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup->fd < 0)
		return comet_error_set(error, errno, "cannot open cgroup %s: %s", cgroup->path,
				       strerror(errno));
	err = check_type(cgroup, error);
	if (err < 0)
		return err;
	err = read_id(cgroup->fd, &cgroup->id);
	if (err < 0)
		return comet_error_set(error, -err, "cannot get the id of cgroup %s: %s",
				       cgroup->path, strerror(-err));
	return 0;
}

int comet_cgroup_plan(const char *run_id, struct comet_cgroup *cgroup, struct comet_error *error)
{
	_cleanup_free_ char *parent = NULL;
	char *path;
	int err = locate(NULL, &parent, error);

	if (err < 0)
		return err;
	if (asprintf(&path, "%s/comet-%s", parent, run_id) < 0)
		return comet_error_set(error, ENOMEM, "out of memory");
	*cgroup = (struct comet_cgroup){ .path = path, .fd = -1 };
	return 0;
}

int comet_cgroup_make(struct comet_cgroup *cgroup, struct comet_error *error)
{
	int err;

	if (mkdir(cgroup->path, 0755) < 0)
		return comet_error_set(error, errno, "cannot make cgroup %s: %s", cgroup->path,
				       strerror(errno));
	comet_fault_at("cgroup-made", NULL);
	err = fill(cgroup, error);
	if (err < 0)
		comet_cgroup_destroy(cgroup);
	return err;
}

/* Where cgroup.kill is missing (before 5.14): again and again, as tasks may fork meanwhile. */
static int kill_each(int dir)
{
	_cleanup_free_ char *procs = NULL;
	_cleanup_(closedir_ptr) DIR *list = NULL;
	char *save = NULL;
	struct dirent *entry;
	char *line;
	int fd;

	if (read_text(dir, "cgroup.procs", &procs) == 0)
		for (line = strtok_r(procs, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			if (atoi(line) > 0)
				kill(atoi(line), SIGKILL);
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list)
		return -errno;
	while ((entry = readdir(list))) {
		_cleanup_close_ int child = -1;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		child = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (child >= 0)
			kill_each(child);
	}
	return 0;
}

int comet_cgroup_kill(const struct comet_cgroup *cgroup)
{
	_cleanup_close_ int fd = openat(cgroup->fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1", 1) == 1)
		return 0;
	if (errno == ENODEV)
		return 0; /* removed meanwhile */
	return kill_each(cgroup->fd);
}

void comet_cgroup_freeze(const struct comet_cgroup *cgroup, bool frozen)
{
	_cleanup_close_ int fd = openat(cgroup->fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, frozen ? "1" : "0", 1) < 0)
		return;
}

static bool is_populated(int dir)
{
	_cleanup_free_ char *events = NULL;

	return read_text(dir, "cgroup.events", &events) == 0 && strstr(events, "populated 1");
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_empty(const struct comet_cgroup *cgroup)
{
	_cleanup_close_ int events = openat(cgroup->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	int64_t end = now_ms() + EMPTY_TIMEOUT_MS;

	while (is_populated(cgroup->fd)) {
		struct pollfd p = { .fd = events, .events = POLLPRI };
		char byte;

		if (now_ms() >= end)
			return -EBUSY;
		comet_cgroup_kill(cgroup);
		/* A read arms the notification; the short timeout covers a change in between. */
		if (events >= 0 && pread(events, &byte, 1, 0) < 0)
			return 0;
		poll(&p, 1, 20);
	}
	return 0;
}

/* Depth first: a cgroup with children cannot be removed. */
static void remove_children(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedir_ptr) DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		_cleanup_close_ int child = -1;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		child = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (child < 0)
			continue;
		remove_children(child);
		unlinkat(dir, entry->d_name, AT_REMOVEDIR);
	}
}

uint64_t comet_cgroup_cpu_usec(const struct comet_cgroup *cgroup)
{
	_cleanup_free_ char *stat = NULL;
	uint64_t usec = 0;

	if (read_text(cgroup->fd, "cpu.stat", &stat) < 0 ||
	    sscanf(stat, "usage_usec %" SCNu64, &usec) != 1)
		return 0;
	return usec;
}

/*
 * In another directory files of the same names could be anybody's, and would be obeyed. What the
 * kernel does not tell counts as a cgroup: nothing that may live is forgotten.
 */
static bool is_no_cgroup(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != CGROUP2_SUPER_MAGIC;
}

static void forget(struct comet_cgroup *cgroup)
{
	comet_close_fd(&cgroup->fd);
	free(cgroup->path);
	cgroup->path = NULL;
}

int comet_cgroup_destroy(struct comet_cgroup *cgroup)
{
	int err = 0;
	int i;

	if (!cgroup->path)
		return 0;
	/* A guard may know the plan only, and a record may name anything. */
	if (cgroup->fd < 0)
		cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cgroup->fd >= 0 && is_no_cgroup(cgroup->fd)) {
		forget(cgroup);
		return 0;
	}
	if (cgroup->fd >= 0)
		err = wait_empty(cgroup);
	/* A dying task can pin it for a moment after the last one has left. */
	for (i = 0; i < 50; i++) {
		if (cgroup->fd >= 0)
			remove_children(cgroup->fd);
		if (rmdir(cgroup->path) == 0 || errno == ENOENT) {
			err = 0;
			break;
		}
		err = -errno;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	forget(cgroup);
	return err;
}
