// SPDX-License-Identifier: Apache-2.0
/* Which addresses may a wildcard never reach? */
#include "manifest/address.h"

#include <string.h>

#define IPV4_OFFSET 96

/*
 * Everything that is not an address on the public Internet, and the public-looking addresses on
 * which cloud providers answer their own guests. What the manifest names literally is not held
 * to this table.
 */
static const struct comet_special table[] = {
	{ "0.0.0.0/8", "this host: 0.0.0.0 reaches the local host" },
	{ "10.0.0.0/8", "private" },
	{ "100.64.0.0/10", "shared by carrier NAT" },
	{ "100.100.100.200", "cloud metadata" },
	{ "127.0.0.0/8", "loopback" },
	{ "168.63.129.16", "cloud metadata" },
	{ "169.254.0.0/16", "link-local" },
	{ "169.254.169.254", "cloud metadata" },
	{ "172.16.0.0/12", "private" },
	{ "192.0.0.0/24", "protocol assignments" },
	{ "192.0.0.192", "cloud metadata" },
	{ "192.0.2.0/24", "documentation" },
	{ "192.88.99.0/24", "6to4 relay" },
	{ "192.168.0.0/16", "private" },
	{ "198.18.0.0/15", "benchmarks" },
	{ "198.51.100.0/24", "documentation" },
	{ "203.0.113.0/24", "documentation" },
	{ "224.0.0.0/4", "multicast" },
	{ "240.0.0.0/4", "reserved" },
	{ "255.255.255.255", "broadcast" },
	{ "::/96", "IPv4-compatible, outdated" },
	{ "::", "this host: reaches the local host" },
	{ "::1", "loopback" },
	{ "::ffff:0:0:0/96", "IPv4-translated" },
	{ "64:ff9b:1::/48", "local NAT64" },
	{ "100::/64", "discard" },
	{ "100:0:0:1::/64", "dummy" },
	{ "2001::/23", "protocol assignments, Teredo" },
	{ "2001:db8::/32", "documentation" },
	{ "3fff::/20", "documentation" },
	{ "5f00::/16", "segment routing" },
	{ "fc00::/7", "private" },
	{ "fd00:ec2::254", "cloud metadata" },
	{ "fd20:ce::254", "cloud metadata" },
	{ "fe80::/10", "link-local" },
	{ "fec0::/10", "site-local, outdated" },
	{ "ff00::/8", "multicast" },
};

#define TABLE_ROWS (sizeof(table) / sizeof(table[0]))

/* IPv6 ranges that carry an IPv4 address right after their prefix. */
static const struct {
	uint8_t addr[4];
	bool is_96; /* NAT64 64:ff9b::/96; else 6to4 2002::/16 */
} carriers[] = {
	{ { 0x00, 0x64, 0xff, 0x9b }, true },
	{ { 0x20, 0x02 }, false },
};

#define N_CARRIERS (sizeof(carriers) / sizeof(carriers[0]))

const struct comet_special *comet_special_table(size_t *n)
{
	*n = TABLE_ROWS;
	return table;
}

static struct comet_prefix embed(const struct comet_prefix *ipv4, size_t carrier)
{
	struct comet_prefix result = { 0 };
	size_t start = carriers[carrier].is_96 ? 12 : 2;

	memcpy(result.addr, carriers[carrier].addr, sizeof(carriers[carrier].addr));
	memcpy(result.addr + start, ipv4->addr + 12, 4);
	result.bits = (uint8_t)(start * 8 + ipv4->bits - IPV4_OFFSET);
	return result;
}

/* The prefixes of one row; returns how many. */
static size_t row_prefixes(size_t row, struct comet_prefix prefixes[static 1 + N_CARRIERS])
{
	size_t n = 1;

	/* The unit tests hold every row to be well formed. */
	if (comet_address_parse(table[row].text, &prefixes[0], NULL) < 0)
		return 0;
	if (!comet_prefix_is_ipv4(&prefixes[0]))
		return n;
	for (size_t i = 0; i < N_CARRIERS; i++)
		prefixes[n++] = embed(&prefixes[0], i);
	return n;
}

size_t comet_special_prefixes(struct comet_prefix *prefixes, size_t n)
{
	size_t found = 0;

	for (size_t row = 0; row < TABLE_ROWS; row++) {
		struct comet_prefix all[1 + N_CARRIERS];
		size_t count = row_prefixes(row, all);

		for (size_t i = 0; i < count; i++, found++)
			if (found < n)
				prefixes[found] = all[i];
	}
	return found;
}

const struct comet_special *comet_special_find(const uint8_t addr[static 16])
{
	const struct comet_special *best = NULL;
	struct comet_prefix host = { .bits = 128 };
	unsigned int best_bits = 0;

	memcpy(host.addr, addr, sizeof(host.addr));
	for (size_t row = 0; row < TABLE_ROWS; row++) {
		struct comet_prefix all[1 + N_CARRIERS];
		size_t count = row_prefixes(row, all);

		for (size_t i = 0; i < count; i++) {
			if (!comet_prefix_contains(&all[i], &host) || all[i].bits < best_bits)
				continue;
			best = &table[row];
			best_bits = all[i].bits;
		}
	}
	return best;
}
