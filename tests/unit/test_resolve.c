// SPDX-License-Identifier: Apache-2.0
/* Do host names become the addresses they stand for, in bounded time, and nothing else? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/resolve.h"

static const uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };

struct heard {
	unsigned int n;
	char text[1024];
};

static void warn(void *context, const struct comet_location *location, const char *text)
{
	struct heard *heard = context;

	heard->n++;
	snprintf(heard->text, sizeof(heard->text), "%u: %s", location->line, text);
}

static void add(struct comet_policy *policy, enum comet_host kind, const char *host, uint16_t port)
{
	const struct comet_net_rule rule = {
		.host = (char *)host,
		.kind = kind,
		.transport = IPPROTO_TCP,
		.port = port,
		.verdict = COMET_NET_ALLOW,
		.source = COMET_SOURCE_MANIFEST,
		.location = { .file = "m", .line = port, .column = 1 },
	};
	struct comet_error error;

	assert_int_equal(comet_policy_add_net(policy, &rule, &error), 0);
}

static void drop(struct comet_policy *policy)
{
	size_t i;

	for (i = 0; i < policy->n_nets; i++)
		free(policy->nets[i].host);
	free(policy->nets);
}

/* A name that every system resolves: a minimal one has no /etc/hosts. */
#define RESOLVABLE "127.0.0.1"

static void a_name_becomes_literal_rules_with_its_place(void **state)
{
	struct comet_policy policy = { 0 };
	struct heard heard = { 0 };
	struct comet_error error;
	bool found = false;
	size_t i;

	(void)state;
	add(&policy, COMET_HOST_NAME, RESOLVABLE, 443);
	assert_int_equal(comet_resolve_policy(&policy, warn, &heard, &error), 0);
	assert_int_equal(heard.n, 0);
	assert_int_equal(policy.nets[0].kind, COMET_HOST_NAME);
	for (i = 1; i < policy.n_nets; i++) {
		const struct comet_net_rule *rule = &policy.nets[i];

		assert_int_equal(rule->kind, COMET_HOST_LITERAL);
		assert_int_equal(rule->bits, 128);
		assert_int_equal(rule->port, 443);
		assert_int_equal(rule->transport, IPPROTO_TCP);
		assert_int_equal(rule->verdict, COMET_NET_ALLOW);
		assert_int_equal(rule->location.line, 443);
		assert_string_equal(rule->host, RESOLVABLE);
		found |= memcmp(rule->addr, loopback, sizeof(loopback)) == 0;
	}
	assert_true(found);
	drop(&policy);
}

static void a_name_in_two_rules_serves_both(void **state)
{
	struct comet_policy policy = { 0 };
	struct comet_error error;
	size_t i, n[2] = { 0 };

	(void)state;
	add(&policy, COMET_HOST_NAME, RESOLVABLE, 1);
	add(&policy, COMET_HOST_NAME, RESOLVABLE, 2);
	assert_int_equal(comet_resolve_policy(&policy, NULL, NULL, &error), 0);
	for (i = 2; i < policy.n_nets; i++)
		n[policy.nets[i].port - 1]++;
	assert_true(n[0] > 0);
	assert_int_equal(n[0], n[1]);
	drop(&policy);
}

static void a_name_without_address_grants_nothing_and_is_told(void **state)
{
	struct comet_policy policy = { 0 };
	struct heard heard = { 0 };
	struct comet_error error;

	(void)state;
	/* Reserved for this by RFC 6761. */
	add(&policy, COMET_HOST_NAME, "nothing.invalid", 9);
	assert_int_equal(comet_resolve_policy(&policy, warn, &heard, &error), 0);
	assert_int_equal(policy.n_nets, 1);
	assert_int_equal(heard.n, 1);
	assert_string_equal(heard.text, "9: nothing.invalid does not resolve: grants nothing");
	drop(&policy);
}

static void wildcards_are_told_and_literals_are_left_alone(void **state)
{
	struct comet_policy policy = { 0 };
	struct heard heard = { 0 };
	struct comet_error error;

	(void)state;
	add(&policy, COMET_HOST_SUFFIX, "*.example.com", 3);
	add(&policy, COMET_HOST_LITERAL, "127.0.0.1", 4);
	add(&policy, COMET_HOST_ANY, "*", 5);
	assert_int_equal(comet_resolve_policy(&policy, warn, &heard, &error), 0);
	assert_int_equal(policy.n_nets, 3);
	assert_int_equal(heard.n, 1);
	assert_non_null(strstr(heard.text, "3: *.example.com grants nothing yet"));
	drop(&policy);
}

static void more_names_than_helpers_at_a_time(void **state)
{
	const char *names[70];
	struct comet_addresses found[70] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 70; i++)
		names[i] = i % 2 ? "127.0.0.1" : "nothing.invalid";
	assert_int_equal(comet_resolve_names(names, 70, 5000, found), 0);
	for (i = 0; i < 70; i++) {
		assert_int_equal(found[i].n, i % 2);
		if (i % 2)
			assert_memory_equal(found[i].list[0], loopback, sizeof(loopback));
		free(found[i].list);
	}
}

static void both_families_take_the_same_form(void **state)
{
	static const uint8_t six[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 5 };
	static const char *const names[] = { "2001:db8::5", "127.0.0.1" };
	struct comet_addresses found[2] = { 0 };

	(void)state;
	assert_int_equal(comet_resolve_names(names, 2, 5000, found), 0);
	assert_int_equal(found[0].n, 1);
	assert_memory_equal(found[0].list[0], six, sizeof(six));
	assert_memory_equal(found[1].list[0], loopback, sizeof(loopback));
	free(found[0].list);
	free(found[1].list);
}

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void name_servers_of_the_host(void **state)
{
	char path[] = "/tmp/comet-resolv-XXXXXX";
	char **list;

	(void)state;
	write_file(path, "# nameserver 9.9.9.9\nsearch nameserver 8.8.8.8\n"
			 "nameserver 192.0.2.1\n\tnameserver\t2001:db8::1  # x\n"
			 "nameserver fe80::1%eth0\nnameserver host.name\nnameserver\n"
			 "nameservers 192.0.2.2\n");
	list = comet_nameservers_read(path);
	unlink(path);
	assert_non_null(list);
	assert_string_equal(list[0], "192.0.2.1");
	assert_string_equal(list[1], "2001:db8::1");
	assert_string_equal(list[2], "fe80::1");
	assert_null(list[3]);
	comet_nameservers_free(list);
}

static void without_name_servers_the_local_one_is_meant(void **state)
{
	char path[] = "/tmp/comet-resolv-XXXXXX";
	char **list = comet_nameservers_read("/nonexistent/resolv.conf");

	(void)state;
	assert_string_equal(list[0], "127.0.0.1");
	assert_null(list[1]);
	comet_nameservers_free(list);
	write_file(path, "search example.com\n");
	list = comet_nameservers_read(path);
	unlink(path);
	assert_string_equal(list[0], "127.0.0.1");
	assert_null(list[1]);
	comet_nameservers_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_becomes_literal_rules_with_its_place),
		cmocka_unit_test(a_name_in_two_rules_serves_both),
		cmocka_unit_test(a_name_without_address_grants_nothing_and_is_told),
		cmocka_unit_test(wildcards_are_told_and_literals_are_left_alone),
		cmocka_unit_test(more_names_than_helpers_at_a_time),
		cmocka_unit_test(both_families_take_the_same_form),
		cmocka_unit_test(name_servers_of_the_host),
		cmocka_unit_test(without_name_servers_the_local_one_is_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
