/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses do the manifest's host names stand for when the run starts? */
#ifndef COMET_RESOLVE_H
#define COMET_RESOLVE_H

#include "manifest/error.h"
#include "manifest/policy.h"
#include "user/enforcer.h"

/* How long one name may take. */
#define COMET_RESOLVE_TIMEOUT_MS 5000

/*
 * Adds, for each rule with a host name, one literal rule for each address (A and AAAA) of it. A
 * name without address, and a wildcard, is warned of once and grants nothing.
 */
int comet_resolve_policy(struct comet_policy *policy, comet_warn_fn warn, void *warn_context,
			 struct comet_error *error);

struct comet_addresses {
	uint8_t (*list)[16]; /* IPv4 as ::ffff:a.b.c.d; owned */
	size_t n;
};

/*
 * Looks all names up at the same time, each in a process of its own, so that one which hangs or
 * crashes costs no more than its time. found has n elements; a name without address has none.
 */
int comet_resolve_names(const char *const *names, size_t n, int timeout_ms,
			struct comet_addresses *found);

/*
 * The addresses on `nameserver` lines of a file like /etc/resolv.conf, without their zone;
 * 127.0.0.1 where it has none or cannot be read. NULL-terminated, malloc'ed; NULL: no memory.
 */
char **comet_nameservers_read(const char *path);
void comet_nameservers_free(char **nameservers);

#endif /* COMET_RESOLVE_H */
