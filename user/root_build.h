/* SPDX-License-Identifier: Apache-2.0 */
/* How does a planned root come into being, and the run into it? */
#ifndef COMET_ROOT_BUILD_H
#define COMET_ROOT_BUILD_H

#include "manifest/error.h"
#include "user/root_plan.h"

/* The sockets of decoys: somebody must listen, else the kernel refuses before any hook is asked. */
struct comet_root_sockets {
	int *fds;
	size_t n;
};

void comet_root_sockets_close(struct comet_root_sockets *sockets);

/*
 * Builds root in memory and makes it the root of every process of the mount namespace; what was
 * there before is not mounted any more. pins, from comet_pins_make() or -1, comes to lie under the
 * run's /proc. 0 or a negative errno with a sentence; then the namespace is of no more use.
 */
int comet_root_build(const struct comet_place *root, int mount_ns, int pins,
		     struct comet_root_sockets *sockets, struct comet_error *error);

#endif /* COMET_ROOT_BUILD_H */
