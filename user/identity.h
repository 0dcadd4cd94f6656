/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel object stands behind each descriptor of this process? */
#ifndef COMET_IDENTITY_H
#define COMET_IDENTITY_H

#include <stddef.h>

#include "bpf/wire.h"

struct comet_identities {
	struct comet_identity *by_fd; /* inode 0: not open when asked */
	size_t n;
};

/* Reads the iterator over this process's descriptors. 0 or a negative errno. */
int comet_identities_read(int dump_program, struct comet_identities *identities);

/* NULL when fd was not open. */
const struct comet_identity *comet_identities_find(const struct comet_identities *identities,
						   int fd);

void comet_identities_free(struct comet_identities *identities);

#endif /* COMET_IDENTITY_H */
