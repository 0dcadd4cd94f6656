/* SPDX-License-Identifier: Apache-2.0 */
/* Which files does a run see where? */
#ifndef COMET_MOUNTS_H
#define COMET_MOUNTS_H

#include <stdbool.h>

#include "manifest/error.h"

#define COMET_WORKDIR "/workdir"

/* Semaphores and shared memory of POSIX: a run has its own, as it has of System V's. */
#define COMET_SHARED_MEMORY "/dev/shm"

struct comet_mounts {
	const char *workdir; /* canonical path of the directory for COMET_WORKDIR, or NULL */
	bool private_tmp;    /* an empty /tmp of the run's own */
	int pins;            /* from comet_pins_make(), or -1 */
};

/*
 * Arranges the mounts of the caller's mount namespace, which must be its own; needs CAP_SYS_ADMIN,
 * and the pid namespace whose /proc is meant. Nothing is made on the host's filesystems.
 */
int comet_mounts_make(const struct comet_mounts *mounts, struct comet_error *error);

#endif /* COMET_MOUNTS_H */
