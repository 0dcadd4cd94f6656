/* SPDX-License-Identifier: Apache-2.0 */
/* What must be added to a manifest so that a refused access is allowed? */
#ifndef COMET_FIX_H
#define COMET_FIX_H

#include <stddef.h>

#include "bpf/wire.h"
#include "manifest/manifest.h"

/* Room for the longest path with every byte escaped. */
#define COMET_FIX_MAX (4 * COMET_PATH_MAX + 256)

/*
 * Writes the YAML in the words of the dialect, from `capabilities:` down, lines separated by and
 * not ending in a newline. resource as in events and questions: a path, `host:port/protocol`
 * ([v6]:port/protocol), a host name (dns: entered for 443/https), a program, for ipc the path of a
 * UNIX socket, and for serve `port/protocol` or the socket's own address.
 *
 * -EOPNOTSUPP: no entry of that dialect can allow it; -EINVAL: resource is none of the above;
 * -EILSEQ: the resource is not UTF-8, which YAML cannot hold; -ENOBUFS: the buffer is too small.
 * The buffer then holds an empty text.
 */
int comet_explain_fix(enum comet_dialect dialect, enum comet_surface surface, const char *resource,
		      char *buffer, size_t size);

/* Why the dialect has no entry for the surface, one sentence; NULL when it has one. */
const char *comet_explain_unfixable(enum comet_dialect dialect, enum comet_surface surface);

#endif /* COMET_FIX_H */
