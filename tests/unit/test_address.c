// SPDX-License-Identifier: Apache-2.0
/* Does every text name exactly the addresses that it says, and is every special range known? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/address.h"

static struct comet_prefix parse(const char *text)
{
	struct comet_prefix prefix = { 0 };
	struct comet_error error = { "" };

	if (comet_address_parse(text, &prefix, &error) != 0)
		fail_msg("%s: %s", text, error.text);
	return prefix;
}

static void assert_refused(const char *text, const char *part)
{
	struct comet_prefix prefix = { .bits = 77 };
	struct comet_error error = { "" };

	if (comet_address_parse(text, &prefix, &error) != -EINVAL)
		fail_msg("%s was accepted", text);
	assert_int_equal(prefix.bits, 77);
	if (!strstr(error.text, part))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, error.text, part);
}

static void texts_and_their_shortest_forms(void **state)
{
	static const struct {
		const char *text, *form;
		uint8_t bits;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1", 128 },
		{ "10.0.0.0/8", "10.0.0.0/8", 104 },
		{ "0.0.0.0/0", "0.0.0.0/0", 96 },
		{ "0.0.0.0", "0.0.0.0", 128 },
		{ "192.168.1.1/32", "192.168.1.1", 128 },
		{ "192.168.1.0/31", "192.168.1.0/31", 127 },
		{ "::", "::", 128 },
		{ "::/0", "::/0", 0 },
		{ "::1/128", "::1", 128 },
		{ "2001:DB8::/32", "2001:db8::/32", 32 },
		{ "fe80::/64", "fe80::/64", 64 },
		{ "2001:db8::2/127", "2001:db8::2/127", 127 },
		{ "::ffff:10.0.0.1", "10.0.0.1", 128 },
		{ "::ffff:a00:1", "10.0.0.1", 128 },
		{ "::ffff:10.0.0.0/104", "10.0.0.0/8", 104 },
		{ "::ffff:0:0/96", "0.0.0.0/0", 96 },
		{ "::/95", "::/95", 95 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comet_prefix prefix = parse(rows[i].text);
		char buffer[COMET_PREFIX_STRLEN];

		assert_int_equal(prefix.bits, rows[i].bits);
		assert_string_equal(comet_prefix_format(&prefix, buffer), rows[i].form);
	}
}

static void the_mapped_form_is_the_address(void **state)
{
	static const uint8_t expected[16] = { [10] = 0xff, 0xff, 10, 1, 2, 3 };
	struct comet_prefix prefix = parse("10.1.2.3");

	(void)state;
	assert_memory_equal(prefix.addr, expected, sizeof(expected));
	prefix = parse("::ffff:10.1.2.3");
	assert_memory_equal(prefix.addr, expected, sizeof(expected));
}

static void what_is_no_address(void **state)
{
	(void)state;
	assert_refused("", "no address");
	assert_refused("10.0.0", "no address");
	assert_refused("10.0.0.256", "no address");
	assert_refused("010.0.0.1", "no address");
	assert_refused("2130706433", "no address");
	assert_refused("0x7f000001", "no address");
	assert_refused("127.1", "no address");
	assert_refused(" 127.0.0.1", "no address");
	assert_refused("1:2", "no address");
	assert_refused("[::1]", "without brackets");
	assert_refused("https://10.0.0.1/", "URL");
	assert_refused("a:\x1b[31m", "\\");
}

static void zones(void **state)
{
	static const char *const wrong[] = {
		"fe80::1%",          "fe80::1%eth0/64",  "fe80::%eth0/64",           "fec0::1%eth0",
		"2001:db8::1%eth0",  "169.254.1.1%eth0", "fe80::1%sixteen_long_xxx", "fe80::1%a b",
		"::ffff:10.0.0.1%a",
	};
	struct comet_prefix zoned, other, plain;
	char text[COMET_PREFIX_STRLEN];

	(void)state;
	assert_int_equal(comet_address_parse("fe80::1%fifteen_long_xx", &zoned, NULL), 0);
	assert_string_equal(zoned.zone, "fifteen_long_xx");
	assert_string_equal(comet_prefix_format(&zoned, text), "fe80::1%fifteen_long_xx");
	assert_int_equal(comet_address_parse("fe80::1%Eth0", &other, NULL), 0);
	assert_int_equal(comet_address_parse("fe80::1", &plain, NULL), 0);
	assert_true(comet_prefix_contains(&zoned, &zoned));
	assert_false(comet_prefix_contains(&zoned, &other));
	assert_true(comet_prefix_contains(&plain, &zoned));
	assert_false(comet_prefix_contains(&zoned, &plain));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(wrong[i], "zone");
}

static void what_is_no_prefix_length(void **state)
{
	(void)state;
	assert_refused("10.0.0.0/33", "0 to 32");
	assert_refused("10.0.0.0/", "0 to 32");
	assert_refused("10.0.0.0/08", "0 to 32");
	assert_refused("10.0.0.0/-1", "0 to 32");
	assert_refused("10.0.0.0/8/8", "0 to 32");
	assert_refused("10.0.0.0/4294967304", "0 to 32");
	assert_refused("::/129", "0 to 128");
	assert_refused("::/ 8", "0 to 128");
}

static void bits_after_the_prefix_are_shown_corrected(void **state)
{
	(void)state;
	assert_refused("10.1.2.3/8", "write 10.0.0.0/8 for the range, or 10.1.2.3 for the one");
	assert_refused("10.0.0.1/31", "write 10.0.0.0/31");
	assert_refused("0.0.0.1/0", "write 0.0.0.0/0");
	assert_refused("2001:db8::1/32", "write 2001:db8::/32");
	assert_refused("fe80:0:0:1::1/64", "write fe80:0:0:1::/64");
	assert_refused("::1/127", "write ::/127");
}

static void first_and_last_address_of_a_range(void **state)
{
	static const struct {
		const char *range, *first, *last, *before, *after;
	} rows[] = {
		{ "10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0" },
		{ "172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0" },
		{ "192.0.2.4/31", "192.0.2.4", "192.0.2.5", "192.0.2.3", "192.0.2.6" },
		{ "192.0.2.4/32", "192.0.2.4", "192.0.2.4", "192.0.2.3", "192.0.2.5" },
		{ "0.0.0.0/0", "0.0.0.0", "255.255.255.255", "::fffe:ffff:ffff", "::1:0:0:0" },
		{ "2001:db8:1::/64", "2001:db8:1::", "2001:db8:1:0:ffff:ffff:ffff:ffff",
		  "2001:db8:0:ffff:ffff:ffff:ffff:ffff", "2001:db8:1:1::" },
		{ "2001:db8::4/127", "2001:db8::4", "2001:db8::5", "2001:db8::3", "2001:db8::6" },
		{ "2001:db8::4/128", "2001:db8::4", "2001:db8::4", "2001:db8::3", "2001:db8::5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comet_prefix range = parse(rows[i].range);
		struct comet_prefix first = parse(rows[i].first), last = parse(rows[i].last);
		struct comet_prefix before = parse(rows[i].before), after = parse(rows[i].after);

		assert_true(comet_prefix_contains(&range, &first));
		assert_true(comet_prefix_contains(&range, &last));
		assert_false(comet_prefix_contains(&range, &before));
		assert_false(comet_prefix_contains(&range, &after));
	}
}

static void a_range_holds_ranges_but_no_wider_one(void **state)
{
	struct comet_prefix wide = parse("10.0.0.0/8"), narrow = parse("10.3.0.0/16");

	(void)state;
	assert_true(comet_prefix_contains(&wide, &narrow));
	assert_false(comet_prefix_contains(&narrow, &wide));
	assert_true(comet_prefix_contains(&wide, &wide));
}

static void an_ipv6_range_names_no_ipv4_address(void **state)
{
	struct comet_prefix all = parse("::/0"), all4 = parse("0.0.0.0/0");
	struct comet_prefix host4 = parse("10.0.0.1"), host6 = parse("2001:db8::1");

	(void)state;
	assert_true(comet_prefix_contains(&all, &host4));
	assert_false(comet_prefix_names(&all, &host4));
	assert_true(comet_prefix_names(&all, &host6));
	assert_true(comet_prefix_names(&all4, &host4));
	assert_false(comet_prefix_names(&all4, &host6));
	assert_true(comet_prefix_is_ipv4(&all4));
	assert_false(comet_prefix_is_ipv4(&all));
}

static void kinds_of_hosts(void **state)
{
	static const struct {
		const char *host;
		enum comet_host kind;
		uint8_t bits;
	} rows[] = {
		{ "*", COMET_HOST_ANY, 0 },
		{ "*.example.com", COMET_HOST_SUFFIX, 128 },
		{ "*.com", COMET_HOST_SUFFIX, 128 },
		{ "api.example.com", COMET_HOST_NAME, 128 },
		{ "localhost", COMET_HOST_NAME, 128 },
		{ "_srv.a-b.c", COMET_HOST_NAME, 128 },
		{ "1e100.net", COMET_HOST_NAME, 128 },
		{ "xn--bcher-kva.example", COMET_HOST_NAME, 128 },
		{ "dead.beef", COMET_HOST_NAME, 128 },
		{ "127.0.0.1", COMET_HOST_LITERAL, 128 },
		{ "::1", COMET_HOST_LITERAL, 128 },
		{ "10.0.0.0/8", COMET_HOST_LITERAL, 104 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comet_prefix prefix = { 0 };
		enum comet_host kind = _COMET_HOST_MAX;

		assert_int_equal(comet_host_parse(rows[i].host, &kind, &prefix, NULL), 0);
		assert_int_equal(kind, rows[i].kind);
		assert_int_equal(prefix.bits, rows[i].bits);
	}
}

static void hosts_that_nobody_could_resolve(void **state)
{
	static const struct {
		const char *host, *part;
	} rows[] = {
		{ "", "1 to 253" },
		{ "a..b", "empty" },
		{ ".a", "empty" },
		{ "a.", "empty" },
		{ "*.", "1 to 253" },
		{ "*.*.com", "wildcard" },
		{ "api.*.com", "wildcard" },
		{ "*example.com", "wildcard" },
		{ "a b", "letters" },
		{ "a\nb", "letters" },
		{ "b\xc3\xbc"
		  "cher.example",
		  "xn--" },
		{ "127.1", "no address" },
		{ "0x7f.1", "no address" },
		{ "example.0x1f", "no address" },
		{ "*.10", "no address" },
		{ "example.com:443", "no address" },
		{ "https://example.com", "URL" },
		{ "example.com/path", "no address" },
		{ "a123456789012345678901234567890123456789012345678901234567890123.com",
		  "63 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comet_prefix prefix;
		struct comet_error error = { "" };
		enum comet_host kind;

		if (comet_host_parse(rows[i].host, &kind, &prefix, &error) != -EINVAL)
			fail_msg("\"%s\" was accepted", rows[i].host);
		if (!strstr(error.text, rows[i].part))
			fail_msg("\"%s\": %s", rows[i].host, error.text);
	}
}

static void which_names_a_pattern_covers(void **state)
{
	(void)state;
	assert_true(comet_host_covers(COMET_HOST_NAME, "api.test", "API.Test"));
	assert_true(comet_host_covers(COMET_HOST_NAME, "api.test", "api.test."));
	assert_false(comet_host_covers(COMET_HOST_NAME, "api.test", "api.test.evil"));
	assert_false(comet_host_covers(COMET_HOST_NAME, "api.test", "xapi.test"));
	assert_true(comet_host_covers(COMET_HOST_SUFFIX, "*.api.test", "a.api.test"));
	assert_true(comet_host_covers(COMET_HOST_SUFFIX, "*.api.test", "a.b.API.test."));
	assert_false(comet_host_covers(COMET_HOST_SUFFIX, "*.api.test", "api.test"));
	assert_false(comet_host_covers(COMET_HOST_SUFFIX, "*.api.test", ".api.test"));
	assert_false(comet_host_covers(COMET_HOST_SUFFIX, "*.api.test", "evilapi.test"));
	assert_true(comet_host_covers(COMET_HOST_ANY, "*", "anything"));
	assert_false(comet_host_covers(COMET_HOST_LITERAL, "10.0.0.1", "10.0.0.1"));
}

static void the_special_table_is_well_formed(void **state)
{
	struct comet_prefix prefixes[128];
	size_t n_rows, n, ipv4 = 0;
	const struct comet_special *rows = comet_special_table(&n_rows);

	(void)state;
	for (size_t i = 0; i < n_rows; i++) {
		struct comet_prefix prefix = parse(rows[i].text);
		char buffer[COMET_PREFIX_STRLEN];

		assert_string_equal(comet_prefix_format(&prefix, buffer), rows[i].text);
		ipv4 += comet_prefix_is_ipv4(&prefix);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(rows[i].text, rows[j].text);
	}
	n = comet_special_prefixes(prefixes, 128);
	assert_int_equal(n, n_rows + 2 * ipv4);
	assert_true(n <= 128);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(&prefixes[i], &prefixes[j], sizeof(prefixes[0]));
	assert_int_equal(comet_special_prefixes(NULL, 0), n);
}

static void special_and_public_addresses(void **state)
{
	static const struct {
		const char *address, *range; /* NULL: public */
	} rows[] = {
		{ "0.0.0.0", "0.0.0.0/8" },
		{ "9.255.255.255", NULL },
		{ "10.0.0.1", "10.0.0.0/8" },
		{ "100.63.255.255", NULL },
		{ "100.64.0.0", "100.64.0.0/10" },
		{ "100.100.100.200", "100.100.100.200" },
		{ "100.128.0.0", NULL },
		{ "127.255.255.255", "127.0.0.0/8" },
		{ "168.63.129.16", "168.63.129.16" },
		{ "168.63.129.17", NULL },
		{ "169.254.0.1", "169.254.0.0/16" },
		{ "169.254.169.254", "169.254.169.254" },
		{ "172.15.255.255", NULL },
		{ "172.31.255.255", "172.16.0.0/12" },
		{ "192.0.2.1", "192.0.2.0/24" },
		{ "198.19.255.255", "198.18.0.0/15" },
		{ "198.20.0.0", NULL },
		{ "223.255.255.255", NULL },
		{ "224.0.0.1", "224.0.0.0/4" },
		{ "255.255.255.255", "255.255.255.255" },
		{ "1.1.1.1", NULL },
		{ "::", "::" },
		{ "::1", "::1" },
		{ "::2", "::/96" },
		{ "::127.0.0.1", "::/96" },
		{ "::ffff:0:127.0.0.1", "::ffff:0:0:0/96" },
		{ "64:ff9b::8.8.8.8", NULL },
		{ "64:ff9b::10.0.0.1", "10.0.0.0/8" },
		{ "64:ff9b::169.254.169.254", "169.254.169.254" },
		{ "64:ff9b:1::1", "64:ff9b:1::/48" },
		{ "2002:808:808::1", NULL },
		{ "2002:7f00:1::1", "127.0.0.0/8" },
		{ "2001::1", "2001::/23" },
		{ "2001:200::1", NULL },
		{ "2001:db8::1", "2001:db8::/32" },
		{ "2606:4700:4700::1111", NULL },
		{ "fd00:ec2::254", "fd00:ec2::254" },
		{ "fd00:ec2::255", "fc00::/7" },
		{ "fe80::1", "fe80::/10" },
		{ "ff02::1", "ff00::/8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct comet_prefix prefix = parse(rows[i].address);
		const struct comet_special *found = comet_special_find(prefix.addr);

		if (!rows[i].range && found)
			fail_msg("%s is held for %s", rows[i].address, found->text);
		if (rows[i].range && !found)
			fail_msg("%s is held for public", rows[i].address);
		if (found)
			assert_string_equal(found->text, rows[i].range);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_and_their_shortest_forms),
		cmocka_unit_test(the_mapped_form_is_the_address),
		cmocka_unit_test(what_is_no_address),
		cmocka_unit_test(zones),
		cmocka_unit_test(what_is_no_prefix_length),
		cmocka_unit_test(bits_after_the_prefix_are_shown_corrected),
		cmocka_unit_test(first_and_last_address_of_a_range),
		cmocka_unit_test(a_range_holds_ranges_but_no_wider_one),
		cmocka_unit_test(an_ipv6_range_names_no_ipv4_address),
		cmocka_unit_test(kinds_of_hosts),
		cmocka_unit_test(hosts_that_nobody_could_resolve),
		cmocka_unit_test(which_names_a_pattern_covers),
		cmocka_unit_test(the_special_table_is_well_formed),
		cmocka_unit_test(special_and_public_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
