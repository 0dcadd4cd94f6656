/* SPDX-License-Identifier: Apache-2.0 */
/* Which host, port and protocol does `host:port/protocol` name? */
#ifndef COMET_TARGET_H
#define COMET_TARGET_H

#include "manifest/error.h"
#include "manifest/manifest.h"

struct comet_target {
	char host[256];    /* lower case, without brackets and without a trailing dot */
	unsigned int port; /* 1..65535 */
	enum comet_protocol protocol;
};

/*
 * Reads `host:port/protocol`; an IPv6 address stands in brackets. Whether the host is a name or
 * an address is not looked at. -EINVAL with a sentence.
 */
int comet_target_parse(const char *text, struct comet_target *target, struct comet_error *error);

#endif /* COMET_TARGET_H */
