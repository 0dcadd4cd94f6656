// SPDX-License-Identifier: Apache-2.0
/* Does a policy hold what its manifest declares, and nothing else? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/address.h"
#include "manifest/base.h"
#include "manifest/policy.h"

#define AT(n) { .file = "soyapack.yaml", .line = (n), .column = 9 }
#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct comet_manifest manifest_with_egress(struct comet_egress *egress, size_t n)
{
	return (struct comet_manifest){
		.name = (char *)"pack",
		.version = (char *)"1.0.0",
		.egress = egress,
		.n_egress = n,
	};
}

static struct comet_policy *compile(const struct comet_manifest *manifest,
				    const struct comet_policy_options *options)
{
	struct comet_policy *policy = NULL;
	struct comet_error error = { "" };

	if (comet_policy_compile(manifest, options, &policy, &error) != 0)
		fail_msg("%s", error.text);
	return policy;
}

static void assert_not_compiled(const struct comet_manifest *manifest,
				const struct comet_policy_options *options, int code,
				const char *part)
{
	struct comet_policy *policy = (struct comet_policy *)"unchanged";
	struct comet_error error = { "" };

	assert_int_equal(comet_policy_compile(manifest, options, &policy, &error), -code);
	assert_string_equal((char *)policy, "unchanged");
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static const struct comet_path_rule *find_path(const struct comet_policy *policy, const char *path,
					       uint32_t access)
{
	for (size_t i = 0; i < policy->n_paths; i++)
		if (strcmp(policy->paths[i].path, path) == 0 && policy->paths[i].access == access)
			return &policy->paths[i];
	return NULL;
}

static size_t count_paths(const struct comet_policy *policy, enum comet_source source)
{
	size_t n = 0;

	for (size_t i = 0; i < policy->n_paths; i++)
		n += policy->paths[i].source == source;
	return n;
}

/* What the kernel would say. */
static bool reaches(const struct comet_policy *policy, uint8_t transport, uint16_t port,
		    const char *address)
{
	const struct comet_net_rule *rule;
	struct comet_prefix prefix;

	assert_int_equal(comet_address_parse(address, &prefix, NULL), 0);
	assert_int_equal(prefix.bits, 128);
	rule = comet_policy_net_lookup(policy, transport, port, prefix.addr);
	return rule && rule->verdict == COMET_NET_ALLOW;
}

static void paths_keep_access_and_line(void **state)
{
	struct comet_entry read[] = { { (char *)"/data//in/", AT(11) } };
	struct comet_entry write[] = { { (char *)"/workdir/out", AT(13) } };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	const struct comet_path_rule *rule;
	struct comet_policy *policy;

	(void)state;
	m.fs_read = read;
	m.n_fs_read = 1;
	m.fs_write = write;
	m.n_fs_write = 1;
	policy = compile(&m, NULL);
	assert_string_equal(policy->pack, "pack@1.0.0");
	rule = find_path(policy, "/data/in", COMET_FS_READ);
	assert_non_null(rule);
	assert_int_equal(rule->source, COMET_SOURCE_MANIFEST);
	assert_int_equal(rule->location.line, 11);
	assert_false(rule->self_only);
	assert_false(rule->optional);
	rule = find_path(policy, "/workdir/out", COMET_FS_WRITE);
	assert_non_null(rule);
	assert_int_equal(rule->location.line, 13);
	assert_null(find_path(policy, "/workdir/out", COMET_FS_READ));
	assert_int_equal(count_paths(policy, COMET_SOURCE_MANIFEST), 2);
	comet_policy_free(policy);
}

static void workdir_is_always_readable_and_never_writable(void **state)
{
	struct comet_policy_options options = { .workdir = "/somewhere" };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, NULL);
	const struct comet_path_rule *rule = find_path(policy, "/workdir", COMET_FS_READ);

	(void)state;
	assert_non_null(rule);
	assert_int_equal(rule->source, COMET_SOURCE_BASE);
	assert_null(find_path(policy, "/workdir", COMET_FS_WRITE));
	comet_policy_free(policy);
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/somewhere", COMET_FS_READ));
	assert_null(find_path(policy, "/workdir", COMET_FS_READ));
	comet_policy_free(policy);
}

static void equal_entries_are_one_and_the_manifest_keeps_the_line(void **state)
{
	struct comet_entry read[] = {
		{ (char *)"/workdir", AT(11) },
		{ (char *)"/data", AT(12) },
		{ (char *)"/data/", AT(13) },
		{ (char *)"/datax", AT(14) },
	};
	struct comet_entry exec[] = {
		{ (char *)"git", AT(20) },
		{ (char *)"git", AT(21) },
		{ (char *)"/usr/bin/git", AT(22) },
	};
	struct comet_egress egress[] = {
		{ (char *)"a.test", 443, COMET_PROTOCOL_HTTPS, AT(30) },
		{ (char *)"a.test", 443, COMET_PROTOCOL_GRPC, AT(31) },
		{ (char *)"a.test", 443, COMET_PROTOCOL_QUIC, AT(32) },
		{ (char *)"10.0.0.1", 443, COMET_PROTOCOL_TCP, AT(33) },
		{ (char *)"::ffff:10.0.0.1", 443, COMET_PROTOCOL_TCP, AT(34) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy;

	(void)state;
	m.fs_read = read;
	m.n_fs_read = N(read);
	m.exec = exec;
	m.n_exec = N(exec);
	policy = compile(&m, NULL);
	assert_int_equal(count_paths(policy, COMET_SOURCE_MANIFEST), 3);
	assert_int_equal(find_path(policy, "/workdir", COMET_FS_READ)->location.line, 11);
	assert_int_equal(find_path(policy, "/data", COMET_FS_READ)->location.line, 12);
	assert_int_equal(policy->n_execs, 2);
	assert_int_equal(policy->execs[0].location.line, 20);
	assert_string_equal(policy->execs[1].program, "/usr/bin/git");
	assert_int_equal(policy->n_nets, 3);
	assert_int_equal(policy->nets[0].location.line, 30);
	assert_int_equal(policy->nets[1].location.line, 32);
	assert_int_equal(policy->nets[2].location.line, 33);
	comet_policy_free(policy);
}

static void one_path_read_and_written_is_two_rules(void **state)
{
	struct comet_entry both[] = { { (char *)"/data", AT(11) } };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy;

	(void)state;
	m.fs_read = both;
	m.fs_write = both;
	m.n_fs_read = 1;
	m.n_fs_write = 1;
	policy = compile(&m, NULL);
	assert_non_null(find_path(policy, "/data", COMET_FS_READ));
	assert_non_null(find_path(policy, "/data", COMET_FS_WRITE));
	comet_policy_free(policy);
}

static void kinds_and_transports_of_egress(void **state)
{
	struct comet_egress egress[] = {
		{ (char *)"api.test", 443, COMET_PROTOCOL_HTTPS, AT(1) },
		{ (char *)"*.cdn.test", 443, COMET_PROTOCOL_QUIC, AT(2) },
		{ (char *)"10.0.0.0/8", 53, COMET_PROTOCOL_UDP, AT(3) },
		{ (char *)"2001:db8::1", 80, COMET_PROTOCOL_HTTP, AT(4) },
	};
	static const struct {
		enum comet_host kind;
		uint8_t transport;
		uint8_t bits;
	} expected[] = {
		{ COMET_HOST_NAME, IPPROTO_TCP, 128 },
		{ COMET_HOST_SUFFIX, IPPROTO_UDP, 128 },
		{ COMET_HOST_LITERAL, IPPROTO_UDP, 104 },
		{ COMET_HOST_LITERAL, IPPROTO_TCP, 128 },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_int_equal(policy->n_nets, N(expected));
	for (size_t i = 0; i < N(expected); i++) {
		assert_int_equal(policy->nets[i].kind, expected[i].kind);
		assert_int_equal(policy->nets[i].transport, expected[i].transport);
		assert_int_equal(policy->nets[i].bits, expected[i].bits);
		assert_int_equal(policy->nets[i].verdict, COMET_NET_ALLOW);
		assert_string_equal(policy->nets[i].host, egress[i].host);
		assert_int_equal(policy->nets[i].port, egress[i].port);
	}
	assert_true(reaches(policy, IPPROTO_UDP, 53, "10.255.255.255"));
	assert_true(reaches(policy, IPPROTO_UDP, 53, "::ffff:10.0.0.0"));
	assert_false(reaches(policy, IPPROTO_UDP, 53, "11.0.0.0"));
	assert_false(reaches(policy, IPPROTO_TCP, 53, "10.0.0.1"));
	assert_false(reaches(policy, IPPROTO_UDP, 54, "10.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 80, "2001:db8::1"));
	assert_false(reaches(policy, IPPROTO_TCP, 80, "2001:db8::2"));
	/* An unresolved name grants no address at all, not even "::". */
	assert_false(reaches(policy, IPPROTO_TCP, 443, "::"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "1.1.1.1"));
	comet_policy_free(policy);
}

static void every_port_by_both_transports(void **state)
{
	struct comet_egress egress[] = { { (char *)"*", 0, COMET_PROTOCOL_ANY, AT(5) } };
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "1.1.1.1"));
	assert_true(reaches(policy, IPPROTO_UDP, 65535, "2606:4700:4700::1111"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "127.0.0.1"));
	assert_false(reaches(policy, IPPROTO_UDP, 53, "169.254.169.254"));
	assert_int_equal(policy->n_nets, 2 * (1 + comet_special_prefixes(NULL, 0)));
	comet_policy_free(policy);
}

static void a_wildcard_reaches_public_addresses_only(void **state)
{
	struct comet_egress egress[] = { { (char *)"*", 443, COMET_PROTOCOL_HTTPS, AT(5) } };
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);
	struct comet_prefix specials[128];
	size_t n = comet_special_prefixes(specials, 128);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "93.184.216.34"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "2a00::1"));
	assert_false(reaches(policy, IPPROTO_UDP, 443, "93.184.216.34"));
	assert_false(reaches(policy, IPPROTO_TCP, 80, "93.184.216.34"));
	for (size_t i = 0; i < n; i++) {
		const struct comet_net_rule *rule =
			comet_policy_net_lookup(policy, IPPROTO_TCP, 443, specials[i].addr);

		assert_non_null(rule);
		assert_int_equal(rule->verdict, COMET_NET_DENY);
		assert_int_equal(rule->location.line, 5);
	}
	comet_policy_free(policy);
}

static void a_literal_inside_a_special_range_wins(void **state)
{
	struct comet_egress egress[] = {
		{ (char *)"*", 443, COMET_PROTOCOL_HTTPS, AT(5) },
		{ (char *)"10.1.0.0/16", 443, COMET_PROTOCOL_HTTPS, AT(6) },
		{ (char *)"127.0.0.1", 80, COMET_PROTOCOL_HTTP, AT(7) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "10.1.0.0"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "10.1.255.255"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "10.2.0.0"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "10.0.255.255"));
	/* Named for another port only. */
	assert_false(reaches(policy, IPPROTO_TCP, 443, "127.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 80, "127.0.0.1"));
	/* The other ways to the local host are not named by it. */
	assert_false(reaches(policy, IPPROTO_TCP, 80, "0.0.0.0"));
	assert_false(reaches(policy, IPPROTO_TCP, 80, "127.0.0.2"));
	assert_false(reaches(policy, IPPROTO_TCP, 80, "::1"));
	comet_policy_free(policy);
}

static size_t count_denials(const struct comet_policy *policy)
{
	size_t n = 0;

	for (size_t i = 0; i < policy->n_nets; i++)
		n += policy->nets[i].verdict == COMET_NET_DENY;
	return n;
}

static void a_literal_equal_to_a_special_range_replaces_it(void **state)
{
	struct comet_egress egress[] = {
		{ (char *)"*", 443, COMET_PROTOCOL_HTTPS, AT(5) },
		{ (char *)"10.0.0.0/8", 443, COMET_PROTOCOL_HTTPS, AT(6) },
		{ (char *)"172.16.0.0/12", 443, COMET_PROTOCOL_QUIC, AT(7) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "10.9.9.9"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "172.16.0.1"));
	/* Embedded in IPv6 it is another address, which nobody named. */
	assert_false(reaches(policy, IPPROTO_TCP, 443, "64:ff9b::10.9.9.9"));
	assert_int_equal(count_denials(policy), comet_special_prefixes(NULL, 0) - 1);
	comet_policy_free(policy);
}

static void a_literal_around_special_ranges_names_them(void **state)
{
	struct comet_egress egress[] = {
		{ (char *)"*", 443, COMET_PROTOCOL_HTTPS, AT(5) },
		{ (char *)"10.0.0.0/7", 443, COMET_PROTOCOL_HTTPS, AT(6) },
		{ (char *)"169.254.0.0/16", 443, COMET_PROTOCOL_HTTPS, AT(7) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "10.9.9.9"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "11.9.9.9"));
	/* The metadata address within, too. */
	assert_true(reaches(policy, IPPROTO_TCP, 443, "169.254.169.254"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "192.168.0.1"));
	assert_int_equal(count_denials(policy), comet_special_prefixes(NULL, 0) - 3);
	comet_policy_free(policy);
}

static void all_of_ipv4_and_all_of_ipv6_as_literals(void **state)
{
	struct comet_egress four[] = { { (char *)"0.0.0.0/0", 443, COMET_PROTOCOL_TCP, AT(5) } };
	struct comet_egress six[] = { { (char *)"::/0", 443, COMET_PROTOCOL_TCP, AT(5) } };
	struct comet_egress both[] = { four[0], six[0] };
	struct comet_egress star[] = {
		{ (char *)"*", 443, COMET_PROTOCOL_TCP, AT(4) },
		six[0],
	};
	struct comet_manifest m = manifest_with_egress(four, 1);
	struct comet_policy *policy = compile(&m, NULL);

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 443, "127.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "1.1.1.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "::1"));
	comet_policy_free(policy);

	m = manifest_with_egress(six, 1);
	policy = compile(&m, NULL);
	assert_false(reaches(policy, IPPROTO_TCP, 443, "127.0.0.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "1.1.1.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "::1"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "64:ff9b::1.1.1.1"));
	comet_policy_free(policy);

	m = manifest_with_egress(both, 2);
	policy = compile(&m, NULL);
	assert_true(reaches(policy, IPPROTO_TCP, 443, "127.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "::1"));
	comet_policy_free(policy);

	/* `*` with ::/0 beside it: public IPv4, every IPv6. */
	m = manifest_with_egress(star, 2);
	policy = compile(&m, NULL);
	assert_true(reaches(policy, IPPROTO_TCP, 443, "1.1.1.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 443, "10.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 443, "fd00::1"));
	comet_policy_free(policy);
}

static void the_exact_port_comes_first_and_every_port_second(void **state)
{
	struct comet_egress egress[] = {
		{ (char *)"*", 0, COMET_PROTOCOL_ANY, AT(4) },
		{ (char *)"10.0.0.1", 80, COMET_PROTOCOL_HTTP, AT(5) },
		{ (char *)"*", 8080, COMET_PROTOCOL_HTTP, AT(6) },
		{ (char *)"::/0", 90, COMET_PROTOCOL_TCP, AT(7) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy = compile(&m, NULL);
	static const uint8_t private[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

	(void)state;
	assert_true(reaches(policy, IPPROTO_TCP, 80, "10.0.0.1"));
	assert_false(reaches(policy, IPPROTO_UDP, 80, "10.0.0.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 81, "10.0.0.1"));
	assert_true(reaches(policy, IPPROTO_TCP, 80, "1.1.1.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 8080, "10.0.0.1"));
	/* ::/0 alone would hold IPv4 back; the wildcard for every port still grants it. */
	assert_true(reaches(policy, IPPROTO_TCP, 90, "1.1.1.1"));
	assert_false(reaches(policy, IPPROTO_TCP, 90, "10.0.0.1"));
	/* The line of the exact port is named first. */
	assert_int_equal(comet_policy_net_lookup(policy, IPPROTO_TCP, 8080, private)->location.line,
			 6);
	comet_policy_free(policy);
}

static void name_servers_stand_in_the_base_set(void **state)
{
	static const char *const servers[] = { "127.0.0.53", "fe80::1%eth0", "169.254.169.254",
					       NULL };
	static const char *const bad[] = { "resolver", NULL };
	struct comet_policy_options options = { .nameservers = servers };
	struct comet_egress egress[] = { { (char *)"*", 53, COMET_PROTOCOL_UDP, AT(5) } };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, &options);

	(void)state;
	assert_int_equal(policy->n_nets, 6);
	for (size_t i = 0; i < policy->n_nets; i++)
		assert_int_equal(policy->nets[i].source, COMET_SOURCE_BASE);
	assert_true(reaches(policy, IPPROTO_UDP, 53, "127.0.0.53"));
	assert_true(reaches(policy, IPPROTO_TCP, 53, "127.0.0.53"));
	assert_true(reaches(policy, IPPROTO_UDP, 53, "fe80::1"));
	assert_false(reaches(policy, IPPROTO_UDP, 54, "127.0.0.53"));
	assert_false(reaches(policy, IPPROTO_UDP, 53, "127.0.0.54"));
	comet_policy_free(policy);

	/* A name server on a special address is not lost to a wildcard for port 53. */
	m = manifest_with_egress(egress, 1);
	policy = compile(&m, &options);
	assert_true(reaches(policy, IPPROTO_UDP, 53, "169.254.169.254"));
	assert_false(reaches(policy, IPPROTO_UDP, 53, "169.254.169.253"));
	comet_policy_free(policy);

	options.nameservers = bad;
	assert_not_compiled(&m, &options, EINVAL, "name server: ");
}

static void faults_are_told_with_their_place(void **state)
{
	struct comet_egress egress[] = { { (char *)"10.1.2.3/8", 443, COMET_PROTOCOL_HTTPS,
					   AT(14) } };
	struct comet_entry entry[] = { { (char *)"out", AT(15) } };
	struct comet_policy_options options = { .home = "home" };
	struct comet_manifest m = manifest_with_egress(egress, 1);

	(void)state;
	assert_not_compiled(&m, NULL, EINVAL, "soyapack.yaml:14:9: ");
	assert_not_compiled(&m, NULL, EINVAL, "10.0.0.0/8");
	m.n_egress = 0;
	m.fs_read = entry;
	m.n_fs_read = 1;
	assert_not_compiled(&m, NULL, EINVAL, "soyapack.yaml:15:9: \"out\" is a relative path");
	m.n_fs_read = 0;
	m.fs_write = entry;
	m.n_fs_write = 1;
	assert_not_compiled(&m, NULL, EINVAL, "relative");
	m.n_fs_write = 0;
	assert_not_compiled(&m, &options, EINVAL, "home");
}

static void programs(void **state)
{
	static const struct {
		const char *program, *part; /* part NULL: accepted */
	} rows[] = {
		{ "git", NULL },
		{ "/usr/bin/git", NULL },
		{ "g++", NULL },
		{ "-c", NULL },
		{ "", "empty" },
		{ ".", "directory" },
		{ "..", "directory" },
		{ "bin/git", "relative" },
		{ "./git", "relative" },
		{ "/usr/bin/", "directory" },
	};
	struct comet_entry entry = { .location = AT(3) };
	struct comet_manifest m = manifest_with_egress(NULL, 0);

	(void)state;
	m.exec = &entry;
	m.n_exec = 1;
	for (size_t i = 0; i < N(rows); i++) {
		entry.text = (char *)rows[i].program;
		if (rows[i].part)
			assert_not_compiled(&m, NULL, EINVAL, rows[i].part);
		else
			comet_policy_free(compile(&m, NULL));
	}
}

static char *long_path(size_t len, size_t name)
{
	char *path = malloc(len + 1);

	assert_non_null(path);
	for (size_t i = 0; i < len; i++)
		path[i] = i % (name + 1) == 0 ? '/' : 'a';
	path[len] = '\0';
	if (path[len - 1] == '/')
		path[len - 1] = 'a';
	return path;
}

static void limits_of_paths(void **state)
{
	static const struct {
		size_t len, name;
		const char *part; /* NULL: accepted */
	} rows[] = {
		{ 4095, 200, NULL },
		{ 4096, 200, "the limit is 4095" },
		{ 256, 255, NULL },
		{ 257, 256, "the limit is 255" },
	};
	struct comet_entry entry = { .location = AT(3) };
	struct comet_manifest m = manifest_with_egress(NULL, 0);

	(void)state;
	m.fs_read = &entry;
	m.n_fs_read = 1;
	for (size_t i = 0; i < N(rows); i++) {
		entry.text = long_path(rows[i].len, rows[i].name);
		if (rows[i].part)
			assert_not_compiled(&m, NULL, ENAMETOOLONG, rows[i].part);
		else
			comet_policy_free(compile(&m, NULL));
		free(entry.text);
	}
}

static void limit_of_rules_with_the_first_entry_over_it(void **state)
{
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_entry *entries = calloc(COMET_POLICY_RULES_MAX + 1, sizeof(*entries));
	char (*names)[16] = calloc(COMET_POLICY_RULES_MAX + 1, sizeof(*names));
	struct comet_policy *policy;
	char expected[64];
	size_t base;

	(void)state;
	assert_non_null(entries);
	assert_non_null(names);
	for (size_t i = 0; i <= COMET_POLICY_RULES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "/p/%zu", i);
		entries[i].text = names[i];
		entries[i].location = (struct comet_location)AT((unsigned int)i + 1);
	}
	m.exec = entries;
	m.n_exec = COMET_POLICY_RULES_MAX;
	policy = compile(&m, NULL);
	assert_int_equal(policy->n_execs, COMET_POLICY_RULES_MAX);
	base = policy->n_paths;
	comet_policy_free(policy);
	m.n_exec = COMET_POLICY_RULES_MAX + 1;
	assert_not_compiled(&m, NULL, E2BIG, "soyapack.yaml:20001:9: ");
	assert_not_compiled(&m, NULL, E2BIG, "limit of 20000");
	m.n_exec = 0;

	/* The base set counts; the place is that of the entry all the same. */
	m.fs_read = entries;
	m.n_fs_read = COMET_POLICY_RULES_MAX - base;
	policy = compile(&m, NULL);
	assert_int_equal(policy->n_paths, COMET_POLICY_RULES_MAX);
	comet_policy_free(policy);
	m.n_fs_read++;
	snprintf(expected, sizeof(expected), "soyapack.yaml:%zu:9: ", m.n_fs_read);
	assert_not_compiled(&m, NULL, E2BIG, expected);
	free(entries);
	free(names);
}

static void the_tables_hold_no_contradiction(void **state)
{
	static const enum comet_source sources[] = { COMET_SOURCE_BASE, COMET_SOURCE_QUIET,
						     COMET_SOURCE_CANARY };

	(void)state;
	for (size_t i = 0; i < N(sources); i++) {
		size_t n;
		const struct comet_base_entry *rows = comet_base_table(sources[i], &n);

		assert_true(n > 0);
		for (size_t row = 0; row < n; row++) {
			uint32_t access = rows[row].access;
			const char *path = rows[row].path;

			assert_true(path[0] == '/' || strncmp(path, "~", 2) == 0 ||
				    strncmp(path, "~/", 2) == 0);
			assert_non_null(rows[row].why);
			if (sources[i] == COMET_SOURCE_QUIET)
				assert_int_equal(access, COMET_FS_QUIET);
			else if (sources[i] == COMET_SOURCE_CANARY)
				assert_int_equal(access, COMET_FS_CANARY);
			else
				assert_int_equal(access & (COMET_FS_QUIET | COMET_FS_CANARY |
							   COMET_FS_EXEC),
						 0);
			/* Only devices can be written. */
			if (access & COMET_FS_WRITE)
				assert_int_equal(strncmp(path, "/dev/", 5), 0);
			for (size_t other = 0; other < row; other++)
				assert_string_not_equal(path, rows[other].path);
		}
	}
}

static void the_base_set_grants_no_canary(void **state)
{
	size_t n_base, n_canaries;
	const struct comet_base_entry *base = comet_base_table(COMET_SOURCE_BASE, &n_base);
	const struct comet_base_entry *canaries =
		comet_base_table(COMET_SOURCE_CANARY, &n_canaries);

	(void)state;
	for (size_t i = 0; i < n_base; i++) {
		for (size_t j = 0; j < n_canaries; j++) {
			size_t len = strlen(base[i].path);

			if (strncmp(base[i].path, canaries[j].path, len) == 0 &&
			    (canaries[j].path[len] == '\0' || canaries[j].path[len] == '/'))
				assert_int_equal(base[i].scope != COMET_BASE_TREE, 1);
		}
	}
}

static void home_decides_on_its_marks(void **state)
{
	struct comet_policy_options options = { .home = "/root/" };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, &options);
	const struct comet_path_rule *rule = find_path(policy, "/root", COMET_FS_QUIET);

	(void)state;
	assert_non_null(rule);
	assert_true(rule->self_only);
	assert_true(rule->optional);
	/* The agent's own home is no canary, other homes are. */
	assert_null(find_path(policy, "/root", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/root/.ssh", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/root/.bashrc", COMET_FS_QUIET));
	comet_policy_free(policy);

	options.home = "/home/agent";
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/root", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home/agent/.aws", COMET_FS_CANARY));
	comet_policy_free(policy);

	/* Without a home nothing is called "~". */
	policy = compile(&m, NULL);
	for (size_t i = 0; i < policy->n_paths; i++)
		assert_int_equal(policy->paths[i].path[0], '/');
	assert_null(find_path(policy, "/.ssh", COMET_FS_CANARY));
	comet_policy_free(policy);

	options.home = "/";
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/.ssh", COMET_FS_CANARY));
	rule = find_path(policy, "/", COMET_FS_QUIET);
	assert_non_null(rule);
	assert_true(rule->self_only);
	comet_policy_free(policy);
}

static void own_procfs_is_marked(void **state)
{
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, NULL);
	const struct comet_path_rule *rule = find_path(policy, "/proc", COMET_FS_STAT);

	(void)state;
	assert_non_null(rule);
	assert_true(rule->proc);
	assert_true(rule->self_only);
	comet_policy_free(policy);
}

static void sources_have_words(void **state)
{
	(void)state;
	for (int i = 0; i < _COMET_SOURCE_MAX; i++)
		assert_non_null(comet_source_to_str((enum comet_source)i));
	assert_string_equal(comet_source_to_str(COMET_SOURCE_CANARY), "canary");
	assert_null(comet_source_to_str(_COMET_SOURCE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_keep_access_and_line),
		cmocka_unit_test(workdir_is_always_readable_and_never_writable),
		cmocka_unit_test(equal_entries_are_one_and_the_manifest_keeps_the_line),
		cmocka_unit_test(one_path_read_and_written_is_two_rules),
		cmocka_unit_test(kinds_and_transports_of_egress),
		cmocka_unit_test(every_port_by_both_transports),
		cmocka_unit_test(a_wildcard_reaches_public_addresses_only),
		cmocka_unit_test(a_literal_inside_a_special_range_wins),
		cmocka_unit_test(a_literal_equal_to_a_special_range_replaces_it),
		cmocka_unit_test(a_literal_around_special_ranges_names_them),
		cmocka_unit_test(all_of_ipv4_and_all_of_ipv6_as_literals),
		cmocka_unit_test(the_exact_port_comes_first_and_every_port_second),
		cmocka_unit_test(name_servers_stand_in_the_base_set),
		cmocka_unit_test(faults_are_told_with_their_place),
		cmocka_unit_test(programs),
		cmocka_unit_test(limits_of_paths),
		cmocka_unit_test(limit_of_rules_with_the_first_entry_over_it),
		cmocka_unit_test(the_tables_hold_no_contradiction),
		cmocka_unit_test(the_base_set_grants_no_canary),
		cmocka_unit_test(home_decides_on_its_marks),
		cmocka_unit_test(own_procfs_is_marked),
		cmocka_unit_test(sources_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
