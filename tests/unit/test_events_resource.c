// SPDX-License-Identifier: Apache-2.0
/* Is the resource of a record put into the words that people and manifests use? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base.h"
#include "user/events.h"

static struct comet_event_large record;
static struct comet_violation violation;

static int start(void **state)
{
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_BOOTTIME, &now);
	memset(&record, 0, sizeof(record));
	memset(&violation, 0xa5, sizeof(violation));
	record.head = (struct comet_event){
		.version = COMET_WIRE_VERSION,
		.policy = 7,
		.sequence = 1,
		.time = (__u64)now.tv_sec * 1000000000ULL + (__u64)now.tv_nsec,
		.count = 1,
		.pid = 812,
		.error = ENOENT,
		.surface = COMET_SURFACE_FS_READ,
		.op = COMET_OP_OPEN,
		.severity = COMET_SEVERITY_VIOLATION,
		.comm = "python3",
	};
	return 0;
}

static int decode(void)
{
	return comet_events_decode(&record, sizeof(record), &violation);
}

static void set_tail(enum comet_tail kind, const void *bytes, size_t len)
{
	assert_true(len <= sizeof(record.tail));
	record.head.tail = (__u8)kind;
	record.head.tail_len = (__u16)len;
	memcpy(record.tail, bytes, len);
}

static void assert_requested(const char *expected)
{
	assert_int_equal(decode(), 0);
	assert_string_equal(violation.requested, expected);
	assert_int_equal(violation.requested_len, strlen(expected));
}

static void assert_path(const char *tail, size_t len, const char *expected)
{
	set_tail(COMET_TAIL_PATH, tail, len);
	assert_requested(expected);
}

static void path_is_put_together_from_leaf_to_root(void **state)
{
	(void)state;
	assert_path("shadow\0etc", 11, "/etc/shadow");
	assert_path("a", 2, "/a");
	assert_path("c\0b\0a", 6, "/a/b/c");
}

static void no_component_is_the_root(void **state)
{
	(void)state;
	assert_path("", 0, "/");
}

static void a_file_that_stands_nowhere_is_not_the_root(void **state)
{
	static const char words[] = "(a file whose path the kernel does not know)";

	(void)state;
	assert_path("/", 2, words);
	assert_path("leaf\0/", 7, words);
	assert_path("a/", 3, "/a/");
}

static void a_cut_path_is_marked(void **state)
{
	(void)state;
	record.head.flags = COMET_EVENT_TRUNCATED;
	assert_path("c\0b", 4, "\xe2\x80\xa6/b/c");
	assert_path("", 0, "\xe2\x80\xa6/");
}

static void the_longest_tail_fits(void **state)
{
	char tail[COMET_TAIL_LARGE];

	(void)state;
	for (size_t i = 0; i < sizeof(tail); i++)
		tail[i] = i % 256 == 255 ? '\0' : 'x';
	record.head.flags = COMET_EVENT_TRUNCATED;
	set_tail(COMET_TAIL_PATH, tail, sizeof(tail));
	assert_int_equal(decode(), 0);
	assert_int_equal(violation.requested_len, sizeof(tail) + 3);
	assert_int_equal(violation.requested[violation.requested_len], '\0');
	assert_int_equal(violation.requested[violation.requested_len - 1], 'x');
}

static void a_path_of_nothing_but_separators_is_kept(void **state)
{
	(void)state;
	assert_path("\0\0\0", 3, "///");
}

static void raw_bytes_of_names_are_kept(void **state)
{
	(void)state;
	assert_path("\xff\n\"\\\x1b\xe2\x80\xa8\0w", 11, "/w/\xff\n\"\\\x1b\xe2\x80\xa8");
}

static void assert_addr(struct comet_addr addr, const char *expected)
{
	record.head.op = COMET_OP_CONNECT;
	record.head.surface = COMET_SURFACE_EGRESS;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_requested(expected);
}

static struct comet_addr inet(int family, const char *host, __u16 port, __u16 protocol)
{
	struct comet_addr addr = {
		.family = (__u16)family,
		.type = protocol == IPPROTO_UDP ? SOCK_DGRAM : SOCK_STREAM,
		.protocol = protocol,
		.port = port,
	};

	assert_int_equal(inet_pton(family, host, addr.addr), 1);
	return addr;
}

static void ipv4_is_host_port_protocol(void **state)
{
	struct comet_addr addr = inet(AF_INET, "192.0.2.1", 443, IPPROTO_TCP);

	(void)state;
	assert_addr(addr, "192.0.2.1:443/tcp");
	addr.protocol = 262;
	assert_addr(addr, "192.0.2.1:443/tcp");
	addr.protocol = IPPROTO_UDP;
	assert_addr(addr, "192.0.2.1:443/udp");
	addr.protocol = 0;
	assert_addr(addr, "192.0.2.1:443/tcp");
	addr.type = SOCK_DGRAM;
	assert_addr(addr, "192.0.2.1:443/udp");
	addr.protocol = 99;
	assert_addr(addr, "192.0.2.1:443/protocol 99");
}

static void rest_of_the_address_field_does_not_count_for_ipv4(void **state)
{
	struct comet_addr addr = inet(AF_INET, "192.0.2.1", 53, IPPROTO_UDP);

	(void)state;
	memset(addr.addr + 4, 0xff, 12);
	addr.path_len = 3;
	assert_addr(addr, "192.0.2.1:53/udp");
}

static void ipv6_is_bracketed_with_its_scope(void **state)
{
	struct comet_addr addr = inet(AF_INET6, "2001:db8::1", 443, IPPROTO_UDP);

	(void)state;
	assert_addr(addr, "[2001:db8::1]:443/udp");
	addr.scope_id = 0x7ffffff0; /* no interface that there is */
	assert_addr(addr, "[2001:db8::1%2147483632]:443/udp");
	addr.scope_id = 1;
	assert_addr(addr, "[2001:db8::1%lo]:443/udp");
}

static void mapped_ipv4_is_shown_as_ipv4(void **state)
{
	(void)state;
	assert_addr(inet(AF_INET6, "::ffff:192.0.2.7", 80, IPPROTO_TCP), "192.0.2.7:80/tcp");
	assert_addr(inet(AF_INET6, "::fffe:192.0.2.7", 80, IPPROTO_TCP),
		    "[::fffe:c000:207]:80/tcp");
}

static void assert_local(enum comet_op op, struct comet_addr addr, const char *expected)
{
	record.head.op = (__u8)op;
	record.head.surface = COMET_SURFACE_SERVE;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_requested(expected);
}

static void a_port_to_serve_has_the_address_of_its_socket(void **state)
{
	(void)state;
	assert_local(COMET_OP_LISTEN, inet(AF_INET, "0.0.0.0", 8080, IPPROTO_TCP),
		     "0.0.0.0:8080/tcp");
	assert_local(COMET_OP_LISTEN, inet(AF_INET6, "::", 8080, 262), "[::]:8080/tcp");
	assert_local(COMET_OP_BIND, inet(AF_INET6, "::", 53, IPPROTO_UDP), "[::]:53/udp");
	assert_local(COMET_OP_BIND, inet(AF_INET, "127.0.0.1", 53, IPPROTO_UDP),
		     "127.0.0.1:53/udp");
	assert_local(COMET_OP_LISTEN, inet(AF_INET6, "::ffff:127.0.0.1", 80, IPPROTO_TCP),
		     "127.0.0.1:80/tcp");
	assert_local(COMET_OP_LISTEN, inet(AF_INET, "0.0.0.0", 0, IPPROTO_TCP), "0.0.0.0:0/tcp");
}

static void other_families_are_numbers(void **state)
{
	(void)state;
	assert_addr((struct comet_addr){ .family = 17, .type = 3 }, "family 17 type 3");
}

static void a_new_socket_has_a_family_and_no_address(void **state)
{
	struct comet_addr addr = { .family = AF_INET, .type = SOCK_RAW, .protocol = IPPROTO_ICMP };

	(void)state;
	record.head.op = COMET_OP_SOCKET;
	record.head.surface = COMET_SURFACE_KERNEL;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_requested("family 2 type 3");
}

static void unix_sockets_are_paths_or_names(void **state)
{
	struct comet_addr addr = { .family = AF_UNIX, .type = SOCK_STREAM };

	(void)state;
	assert_addr(addr, "(unnamed)");

	memcpy(addr.path, "/run/docker.sock", 17);
	addr.path_len = 17;
	assert_addr(addr, "/run/docker.sock");
	addr.path_len = 4;
	assert_addr(addr, "/run");

	memcpy(addr.path, "\0bus", 4);
	addr.path_len = 4;
	assert_addr(addr, "@bus");
	addr.path_len = 1;
	assert_addr(addr, "@");
}

static void the_longest_unix_path_has_no_nul(void **state)
{
	struct comet_addr addr = { .family = AF_UNIX, .path_len = COMET_UNIX_PATH_MAX };

	(void)state;
	memset(addr.path, 'u', sizeof(addr.path));
	addr.padding = 0x75757575;
	record.head.op = COMET_OP_CONNECT;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_int_equal(decode(), 0);
	assert_int_equal(violation.requested_len, COMET_UNIX_PATH_MAX);
}

static void an_abstract_name_keeps_its_nuls(void **state)
{
	struct comet_addr addr = { .family = AF_UNIX, .path = "\0a\0b", .path_len = 4 };

	(void)state;
	record.head.op = COMET_OP_CONNECT;
	set_tail(COMET_TAIL_ADDR, &addr, sizeof(addr));
	assert_int_equal(decode(), 0);
	assert_int_equal(violation.requested_len, 4);
	assert_memory_equal(violation.requested, "@a\0b", 5);
}

static void assert_value(enum comet_op op, __u64 value, const char *expected)
{
	record.head.op = (__u8)op;
	set_tail(COMET_TAIL_VALUE, &value, sizeof(value));
	assert_requested(expected);
}

static void values_mean_what_their_operation_says(void **state)
{
	(void)state;
	assert_value(COMET_OP_SIGNAL, 9, "SIGKILL");
	assert_value(COMET_OP_SIGNAL, 12345, "signal 12345");
	assert_value(COMET_OP_SIGNAL, UINT64_MAX, "signal 18446744073709551615");
	assert_value(COMET_OP_PTRACE, 1, "pid 1");
	assert_value(COMET_OP_BPF, 5, "bpf command 5");
	assert_value(COMET_OP_CGROUP_MOVE, 42, "cgroup 42");
	assert_value(COMET_OP_SETTIME, 0, "settime");
	assert_value(COMET_OP_MOUNT, 4096, "mount");
}

static void without_a_tail_the_operation_is_what_was_requested(void **state)
{
	(void)state;
	record.head.surface = COMET_SURFACE_KERNEL;
	record.head.op = COMET_OP_PIVOT_ROOT;
	assert_requested("pivot_root");
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(path_is_put_together_from_leaf_to_root),
		test(no_component_is_the_root),
		test(a_file_that_stands_nowhere_is_not_the_root),
		test(a_cut_path_is_marked),
		test(the_longest_tail_fits),
		test(a_path_of_nothing_but_separators_is_kept),
		test(raw_bytes_of_names_are_kept),
		test(ipv4_is_host_port_protocol),
		test(rest_of_the_address_field_does_not_count_for_ipv4),
		test(ipv6_is_bracketed_with_its_scope),
		test(mapped_ipv4_is_shown_as_ipv4),
		test(a_port_to_serve_has_the_address_of_its_socket),
		test(other_families_are_numbers),
		test(a_new_socket_has_a_family_and_no_address),
		test(unix_sockets_are_paths_or_names),
		test(the_longest_unix_path_has_no_nul),
		test(an_abstract_name_keeps_its_nuls),
		test(values_mean_what_their_operation_says),
		test(without_a_tail_the_operation_is_what_was_requested),
	};

	return cmocka_run_group_tests_name("events_resource", tests, NULL, NULL);
}
