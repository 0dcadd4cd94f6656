// SPDX-License-Identifier: Apache-2.0
/* Which addresses does a policy let through, by the rules that the kernel looks up? */
#include "tests/unit/test_policy.h"

#include <netinet/in.h>

#include "manifest/address.h"

/* What the kernel would say. */
static bool reaches(const struct comet_policy *policy, uint8_t transport, uint16_t port,
		    const char *address)
{
	const struct comet_net_rule *rule;
	struct comet_prefix prefix;

	assert_int_equal(comet_address_parse(address, &prefix, NULL), 0);
	assert_int_equal(prefix.bits, 128);
	rule = comet_policy_net_lookup(policy, transport, port, &prefix);
	return rule && rule->verdict == COMET_NET_ALLOW;
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
			comet_policy_net_lookup(policy, IPPROTO_TCP, 443, &specials[i]);

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
	static const struct comet_prefix private = {
		.addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
		.bits = 128,
	};

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
	assert_int_equal(
		comet_policy_net_lookup(policy, IPPROTO_TCP, 8080, &private)->location.line, 6);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_transports_of_egress),
		cmocka_unit_test(every_port_by_both_transports),
		cmocka_unit_test(a_wildcard_reaches_public_addresses_only),
		cmocka_unit_test(a_literal_inside_a_special_range_wins),
		cmocka_unit_test(a_literal_equal_to_a_special_range_replaces_it),
		cmocka_unit_test(a_literal_around_special_ranges_names_them),
		cmocka_unit_test(all_of_ipv4_and_all_of_ipv6_as_literals),
		cmocka_unit_test(the_exact_port_comes_first_and_every_port_second),
		cmocka_unit_test(name_servers_stand_in_the_base_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
