/* SPDX-License-Identifier: Apache-2.0 */
/* How is one mount made, and how is one namespace of mounts seen from another? */
#ifndef COMET_MOUNT_H
#define COMET_MOUNT_H

#include <stdbool.h>

/*
 * A copy of what (dir, path) names, a link's own, with all that is mounted below it; it is not
 * mounted anywhere yet. path "" stands for dir itself. A descriptor, or -1 with errno.
 */
int comet_mount_clone(int dir, const char *path);

/* Mounts such a descriptor at (dir, path), whose links are not followed. 0, or -1 with errno. */
int comet_mount_attach(int tree, int dir, const char *path);

/* An empty tmpfs of that mode that is not mounted anywhere yet. A descriptor, or -1 with errno. */
int comet_mount_tmpfs(const char *mode);

/*
 * root, a descriptor of the root of a mount that lies on "/", becomes the root of the caller and of
 * every process of its mount namespace that stood at the old one, which is not mounted any more.
 */
int comet_mount_pivot(int root);

/*
 * Calls visit in a thread of its own whose root and current directory are those of the mount
 * namespace. Returns its result, or a negative errno.
 */
int comet_mount_visit(int mount_ns, int (*visit)(void *context), void *context);

#endif /* COMET_MOUNT_H */
