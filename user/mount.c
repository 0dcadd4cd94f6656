// SPDX-License-Identifier: Apache-2.0
/* How is one mount made, and how is one namespace of mounts seen from another? */
#define _GNU_SOURCE 1

#include "user/mount.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "user/base.h"

int comet_mount_clone(int dir, const char *path)
{
	return open_tree(dir, path,
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW |
				 AT_EMPTY_PATH);
}

int comet_mount_attach(int tree, int dir, const char *path)
{
	return move_mount(tree, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH);
}

int comet_mount_tmpfs(const char *mode)
{
	_cleanup_close_ int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "mode", mode, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "source", "comet", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int comet_mount_pivot(int root)
{
	/* Both names are the new root's: the old one comes to lie on top of it and is taken off. */
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0)
		return -1;
	return chdir("/");
}

struct visit {
	int mount_ns;
	int (*visit)(void *context);
	void *context;
	int result;
};

/* setns(2) into a mount namespace moves the caller's root and current directory with it. */
static void *visit_main(void *argument)
{
	struct visit *visit = argument;

	if (unshare(CLONE_FS) < 0 || setns(visit->mount_ns, CLONE_NEWNS) < 0)
		visit->result = -errno;
	else
		visit->result = visit->visit(visit->context);
	return NULL;
}

int comet_mount_visit(int mount_ns, int (*visit)(void *context), void *context)
{
	struct visit job = { .mount_ns = mount_ns, .visit = visit, .context = context };
	pthread_t thread;
	int err = pthread_create(&thread, NULL, visit_main, &job);

	if (err)
		return -err;
	pthread_join(thread, NULL);
	return job.result;
}
