/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses does a text name, and which addresses may a wildcard never reach? */
#ifndef COMET_ADDRESS_H
#define COMET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manifest/error.h"
#include "manifest/policy.h"

/* Longest text of comet_prefix_format(), with the terminating NUL. */
#define COMET_PREFIX_STRLEN 68

/*
 * IPv4 stands as ::ffff:a.b.c.d, its prefix length plus 96. Bits after the prefix are 0. zone: the
 * interface behind which one link-local address is meant (RFC 4007); empty: any.
 */
struct comet_prefix {
	uint8_t addr[16];
	uint8_t bits;
	char zone[COMET_ZONE_SIZE];
};

/* An IPv4 address or range, in the form of comet_prefix. */
bool comet_prefix_is_ipv4(const struct comet_prefix *prefix);

/* Are all addresses of inner in outer, bit by bit, and behind its interface? */
bool comet_prefix_contains(const struct comet_prefix *outer, const struct comet_prefix *inner);

/*
 * The same as a reader of a manifest means it: an IPv6 range, and be it ::/0, holds no IPv4
 * address.
 */
bool comet_prefix_names(const struct comet_prefix *outer, const struct comet_prefix *inner);

/* Does text stand for an address or CIDR, well formed or not? Then it is no host name. */
bool comet_address_is_literal(const char *text);

/*
 * Reads an IPv4 or IPv6 address (without brackets) or CIDR. -EINVAL with a sentence when it is
 * none, when bits are set after the prefix (the corrected form is shown), or when it has a zone
 * and is no single address of fe80::/10.
 */
int comet_address_parse(const char *text, struct comet_prefix *prefix, struct comet_error *error);

/* Writes the shortest form: 10.0.0.0/8, 127.0.0.1, fd00::/8, ::1. Returns buffer. */
const char *comet_prefix_format(const struct comet_prefix *prefix,
				char buffer[static COMET_PREFIX_STRLEN]);

/*
 * The kind of host in an egress entry, and for an address its prefix (else ::/128, so that
 * nothing is granted by mistake). -EINVAL with a sentence for what no resolver could be asked.
 */
int comet_host_parse(const char *host, enum comet_host *kind, struct comet_prefix *prefix,
		     struct comet_error *error);

/* Does the rule's host (lower case; NAME, SUFFIX or ANY) cover the name, in any case of letters? */
bool comet_host_covers(enum comet_host kind, const char *host, const char *name);

/* One row of the table of ranges that a wildcard does not reach. */
struct comet_special {
	const char *text;
	const char *why;
};

/* The table as the manual prints it; *n rows. */
const struct comet_special *comet_special_table(size_t *n);

/*
 * The table as rules need it: each row, and each IPv4 row again in the IPv6 forms that carry an
 * IPv4 address (NAT64, 6to4). Fills at most n elements; returns how many there are in all.
 */
size_t comet_special_prefixes(struct comet_prefix *prefixes, size_t n);

/* The narrowest row that holds the address, also embedded; NULL for a public address. */
const struct comet_special *comet_special_find(const uint8_t addr[static 16]);

#endif /* COMET_ADDRESS_H */
