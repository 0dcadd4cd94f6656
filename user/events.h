/* SPDX-License-Identifier: Apache-2.0 */
/* What does a record of the ring buffer say? Bytes in, a checked violation out; no I/O here. */
#ifndef COMET_EVENTS_H
#define COMET_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bpf/wire.h"

struct comet_violation {
	struct comet_event head;
	struct timespec wall; /* UTC: receipt minus age, so a clock step does not falsify it */
	/*
	 * The resource as text: an absolute path, "host:port/transport", a socket's path ("@name"
	 * when abstract), a capability or call name. Raw bytes of names are kept; NUL-terminated.
	 */
	char requested[COMET_PATH_MAX + COMET_NAME_MAX + 64];
	size_t requested_len;
};

/* 0, or -EINVAL: not a record of this wire version, or lengths that do not fit. */
int comet_events_decode(const void *record, size_t size, struct comet_violation *violation);

const char *comet_surface_to_str(enum comet_surface surface); /* "fs.read", "egress", ... */
int comet_surface_from_str(const char *text, enum comet_surface *surface);
const char *comet_op_to_str(enum comet_op op); /* "open", "connect", ... */

#endif /* COMET_EVENTS_H */
