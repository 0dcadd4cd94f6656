// SPDX-License-Identifier: Apache-2.0
/* How does a planned root come into being, and the run into it? */
#define _GNU_SOURCE 1

#include "user/root_build.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "user/base.h"
#include "user/mount.h"

/* Group 5 is tty's wherever there is such a group; the C library expects it on a terminal. */
#define PTS_GROUP "5"

#define ACL "system.posix_acl_access"
#define ACL_MAX 65536

struct build {
	const struct comet_place *root;
	int pins;
	int proc; /* the run's own, not mounted anywhere else */
	struct comet_root_sockets *sockets;
	struct comet_error *error;
};

/* Whose objects are there where the build stands? */
enum ground { GROUND_OWN, GROUND_BASE, GROUND_DECLARED };

static int fail(const struct build *build, const struct comet_place *place)
{
	_cleanup_free_ char *path = NULL;
	int err = errno ? errno : EIO;

	path = comet_place_path(place);
	return comet_error_set(build->error, err, "cannot show %s in the run's own root: %s",
			       path ? path : place->name, strerror(err));
}

static int open_child(int dir, const char *name)
{
	return dir < 0 ? -1 : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* Who may pass is the same as in the original. */
static int copy_acl(int old, const char *name, int made)
{
	_cleanup_close_ int fd = openat(old, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *acl = malloc(ACL_MAX);
	ssize_t n;

	if (fd < 0 || !acl)
		return -1;
	n = fgetxattr(fd, ACL, acl, ACL_MAX);
	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -1;
	return fsetxattr(made, ACL, acl, (size_t)n, 0);
}

static int make_directory(const struct comet_place *place, int old, int new)
{
	_cleanup_close_ int made = -1;
	struct stat st;

	if (mkdirat(new, place->name, 0700) < 0)
		return -1;
	made = openat(new, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made < 0)
		return -1;
	/*
	 * Decoys are open to all, so that the hooks are asked, not the modes, which make no event;
	 * and the same whatever this host has there.
	 */
	if (!place->passed)
		return fchmod(made, place->kind == COMET_PLACE_DECOY_DIRECTORY ? 0777 : 0755);
	if (fstatat(old, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	if (fchown(made, st.st_uid, st.st_gid) < 0 || fchmod(made, st.st_mode & 07777) < 0)
		return -1;
	return copy_acl(old, place->name, made);
}

static int make_file(const char *name, int new, mode_t mode)
{
	_cleanup_close_ int fd =
		openat(new, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -1 : 0;
}

/*
 * Of the mounts only the base set's are read-only: where the manifest has a word, the hooks answer
 * with the errno and the event that a mount's EROFS would come before.
 */
static int show(const struct comet_place *place, int old, int new, enum ground ground)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | (place->base ? MOUNT_ATTR_RDONLY : 0),
	};
	_cleanup_close_ int from = place->target ? open(place->target, O_PATH | O_CLOEXEC)
						 : open_child(old, place->name);
	_cleanup_close_ int tree = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode)) {
		errno = EAGAIN;
		return -1;
	}
	tree = comet_mount_clone(from, "");
	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)))
		return -1;
	if (ground == GROUND_OWN && (S_ISDIR(st.st_mode) ? mkdirat(new, place->name, 0755)
							 : make_file(place->name, new, 0444)))
		return -1;
	return comet_mount_attach(tree, new, place->name);
}

static int mount_proc(const struct build *build, const struct comet_place *place, int new)
{
	if (mkdirat(new, place->name, 0555) < 0)
		return -1;
	/* There no path of the run leads to the pins. */
	if (build->pins >= 0 && comet_mount_attach(build->pins, new, place->name) < 0)
		return -1;
	return comet_mount_attach(build->proc, new, place->name);
}

static int mount_pts(const struct comet_place *place, int new)
{
	_cleanup_close_ int fs = fsopen("devpts", FSOPEN_CLOEXEC);
	_cleanup_close_ int tree = -1;

	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0620", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "gid", PTS_GROUP, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	tree = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (tree < 0 || mkdirat(new, place->name, 0755) < 0)
		return -1;
	return comet_mount_attach(tree, new, place->name);
}

static int make(const struct build *build, const struct comet_place *place, int old, int new)
{
	switch (place->kind) {
	case COMET_PLACE_WAY:
	case COMET_PLACE_DECOY_DIRECTORY:
		return make_directory(place, old, new);
	case COMET_PLACE_LINK:
		return symlinkat(place->target, new, place->name);
	case COMET_PLACE_SHOWN:
		return show(place, old, new, GROUND_OWN);
	case COMET_PLACE_PROC:
		return mount_proc(build, place, new);
	case COMET_PLACE_PTS:
		return mount_pts(place, new);
	case COMET_PLACE_DECOY_FILE:
		return make_file(place->name, new, 0666);
	case COMET_PLACE_DECOY_SOCKET: /* bound by its path, later */
		break;
	}
	return 0;
}

static int make_children(const struct build *build, const struct comet_place *place, int old,
			 int new, enum ground ground);

static int make_place(const struct build *build, const struct comet_place *place, int old, int new,
		      enum ground ground)
{
	bool shown = place->kind == COMET_PLACE_SHOWN;
	_cleanup_close_ int old_child = -1;
	_cleanup_close_ int new_child = -1;
	int r = 0;

	if (ground == GROUND_OWN)
		r = make(build, place, old, new);
	else if (shown && place->writable)
		r = show(place, old, new, ground);
	if (r < 0)
		return fail(build, place);
	if (shown && (ground == GROUND_OWN || place->writable))
		ground = place->base && !place->writable ? GROUND_BASE : GROUND_DECLARED;
	if (!place->n_children || ground == GROUND_DECLARED || place->kind == COMET_PLACE_PROC ||
	    place->kind == COMET_PLACE_PTS || place->kind == COMET_PLACE_LINK)
		return 0;
	old_child = open_child(old, place->name);
	new_child = open_child(new, place->name);
	if (new_child < 0)
		return fail(build, place);
	return make_children(build, place, old_child, new_child, ground);
}

static int make_children(const struct build *build, const struct comet_place *place, int old,
			 int new, enum ground ground)
{
	size_t i;

	for (i = 0; i < place->n_children; i++) {
		int r = make_place(build, place->children[i], old, new, ground);

		if (r < 0)
			return r;
	}
	return 0;
}

void comet_root_sockets_close(struct comet_root_sockets *sockets)
{
	while (sockets->n)
		comet_close_fd(&sockets->fds[--sockets->n]);
	free(sockets->fds);
	sockets->fds = NULL;
}

/* By its path in the new root: that is what events name. */
static int listen_at(struct comet_root_sockets *sockets, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int *fds;

	fds = reallocarray(sockets->fds, sockets->n + 1, sizeof(*fds));

	if (!fds)
		return -1;
	sockets->fds = fds;
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, 1) < 0)
		return -1;
	fds[sockets->n++] = COMET_TAKE_FD(fd);
	return 0;
}

static int make_sockets(const struct build *build, const struct comet_place *place)
{
	size_t i;
	int r = 0;

	if (place->kind == COMET_PLACE_DECOY_SOCKET) {
		_cleanup_free_ char *path = comet_place_path(place);

		return path && listen_at(build->sockets, path) == 0 ? 0 : fail(build, place);
	}
	if (place->kind == COMET_PLACE_SHOWN || place->kind == COMET_PLACE_PROC ||
	    place->kind == COMET_PLACE_PTS)
		return 0;
	for (i = 0; r == 0 && i < place->n_children; i++)
		r = make_sockets(build, place->children[i]);
	return r;
}

static int cannot_change(const struct build *build)
{
	return comet_error_set(build->error, errno, "cannot change to the run's own root: %s",
			       strerror(errno));
}

static int build_all(void *context)
{
	struct build *build = context;
	_cleanup_close_ int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int proc = comet_mount_clone(AT_FDCWD, "/proc");
	_cleanup_close_ int new = comet_mount_tmpfs("0755");
	int r;

	/* This thread's own. */
	umask(0);
	if (old < 0 || proc < 0 || new < 0 || comet_mount_attach(new, AT_FDCWD, "/") < 0)
		return comet_error_set(build->error, errno, "cannot mount the run's own root: %s",
				       strerror(errno));
	build->proc = proc;
	r = make_children(build, build->root, old, new, GROUND_OWN);
	if (r == 0 && comet_mount_pivot(new) < 0)
		r = cannot_change(build);
	return r ? r : make_sockets(build, build->root);
}

int comet_root_build(const struct comet_place *root, int mount_ns, int pins,
		     struct comet_root_sockets *sockets, struct comet_error *error)
{
	struct build build = {
		.root = root,
		.pins = pins,
		.sockets = sockets,
		.error = error,
	};

	int r;

	error->text[0] = '\0';
	if (root->kind == COMET_PLACE_SHOWN)
		return comet_error_set(error, EINVAL,
				       "isolation container: the manifest declares all of /: "
				       "there is nothing to hide");
	r = comet_mount_visit(mount_ns, build_all, &build);
	if (r < 0 && !error->text[0])
		comet_error_set(error, -r, "cannot enter the run's mount namespace: %s",
				strerror(-r));
	return r;
}
