// SPDX-License-Identifier: Apache-2.0
/* Do keys, types and capabilities of soyapack.v0 get upstream's verdict and words? */
#define _GNU_SOURCE 1
#include "test_manifest.h"

#define INVALID "soyapack: invalid manifest: "
#define PARSE "soyapack: parse: "
#define ERRORS PARSE "yaml: unmarshal errors:\n  "
#define UNKNOWN PARSE "soyapack: unknown top-level field "
#define USE_PREFIX " (use the x- prefix for extensions)"
#define OK "Agent soyapack.v0/clerk@1.2.3"
#define PORT "error: 18:39: " INVALID "capabilities.network_out[0].port must be in [1,65535], got "
#define ITEM_PORT                                                                                  \
	"error: 18:9: " INVALID "capabilities.network_out[0].port must be in [1,65535], got "
#define PROTO INVALID "capabilities.network_out[0].proto must be one of http/https/grpc/quic, got "
#define ROOT_KIND PARSE "soyapack: manifest must be a YAML mapping at top level (got kind="

static void test_top_level_keys(void **state)
{
	static const struct vector vectors[] = {
		{ "entry:", "apiVersion: soyaos.ai/v0\nentry:",
		  "error: 10:1: " UNKNOWN "\"apiVersion\"" USE_PREFIX },
		{ "entry:", "tools: {}\nentry:", "error: 10:1: " UNKNOWN "\"tools\"" USE_PREFIX },
		{ "entry:", "X-bar: 1\nentry:", "error: 10:1: " UNKNOWN "\"X-bar\"" USE_PREFIX },
		{ "entry:", "1: 1\nentry:", "error: 10:1: " UNKNOWN "\"1\"" USE_PREFIX },
		{ "entry:", "<<: {}\nentry:", "error: 10:1: " UNKNOWN "\"<<\"" USE_PREFIX },
		{ "entry:", "? [a]\n: 1\nentry:", "error: 10:3: " UNKNOWN "\"\"" USE_PREFIX },
		{ "entry:", "b: 1\na: 2\nentry:", "error: 10:1: " UNKNOWN "\"b\"" USE_PREFIX },
		{ "entry:", "x-bar: 1\nentry:", OK },
		{ "entry:", "x-: 1\nentry:", OK },
		{ "entry:", "x-bar: 1\nx-bar: 2\nentry:", OK },
		{ "entry:", "x-bar: {a: 1, a: 2}\nentry:",
		  "error: 10:15: " PARSE
		  "soyapack: decode extension \"x-bar\": yaml: unmarshal errors:\n  line 10: mapping key \"a\" already defined at line 10" },
		{ "entry:", "x-bar: !!int a\nentry:",
		  "error: 10:8: " PARSE
		  "soyapack: decode extension \"x-bar\": yaml: cannot decode !!str `a` as a !!int" },
		{ "name: clerk", "name: clerk\nname: other",
		  "error: 4:1: " ERRORS "line 4: mapping key \"name\" already defined at line 3" },
		{ "image: html-base@0.1.0", "image: a\n  image: b",
		  "error: 14:3: " ERRORS
		  "line 14: mapping key \"image\" already defined at line 13" },
		{ "    exec: [git]\n", "    exec: [git]\n    exec: [git]\n    fs_read: [/]\n",
		  "error: 23:5: " ERRORS
		  "line 23: mapping key \"fs_read\" already defined at line 19\n  line 22: mapping key \"exec\" already defined at line 21" },
		{ "exec: [git]", "unknown: {a: 1, a: 2}", OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_wrong_types_are_all_listed(void **state)
{
	static const struct vector vectors[] = {
		{ "fs_read: [/workdir]", "fs_read: /workdir",
		  "error: 19:14: " ERRORS
		  "line 19: cannot unmarshal !!str `/workdir` into []string" },
		{ "fs_read: [/workdir]", "fs_read: {a: b}",
		  "error: 19:14: " ERRORS "line 19: cannot unmarshal !!map into []string" },
		{ "[{name: Example Authors}]", "Example Authors",
		  "error: 6:10: " ERRORS
		  "line 6: cannot unmarshal !!str `Example...` into []soyapack.Author" },
		{ "exec: [git]", "exec: [{a: b}]",
		  "error: 21:12: " ERRORS "line 21: cannot unmarshal !!map into string" },
		{ "port: 443", "port: \"443\"",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!str `443` into int" },
		{ "port: 443", "port: \"*\"",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!str `*` into int" },
		{ "port: 443", "port: [443]",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!seq into int" },
		{ "port: 443", "port: {a: 443}",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!map into int" },
		{ "port: 443", "port: true",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!bool `true` into int" },
		{ "port: 443", "port: 2026-01-01",
		  "error: 18:39: " ERRORS
		  "line 18: cannot unmarshal !!timestamp `2026-01-01` into int" },
		{ "port: 443", "port: 22:22",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!str `22:22` into int" },
		{ "port: 443", "port: 0-65535",
		  "error: 18:39: " ERRORS "line 18: cannot unmarshal !!str `0-65535` into int" },
		{ "port: 443", "port: 99999999999999999999",
		  "error: 18:39: " ERRORS
		  "line 18: cannot unmarshal !!float `9999999...` into int" },
		{ "name: clerk", "name: [a]",
		  "error: 3:7: " ERRORS "line 3: cannot unmarshal !!seq into string" },
		{ "kind: Agent", "kind: {a: b}",
		  "error: 2:7: " ERRORS "line 2: cannot unmarshal !!map into soyapack.Kind" },
		{ "host: api.example.com", "host: {a: b}",
		  "error: 18:16: " ERRORS "line 18: cannot unmarshal !!map into string" },
		{ "fs_read: [/workdir]\n    fs_write: [/workdir/out]",
		  "fs_read: a\n    fs_write: b",
		  "error: 19:14: " ERRORS
		  "line 19: cannot unmarshal !!str `a` into []string\n  line 20: cannot unmarshal !!str `b` into []string" },
		{ "fs_read: [/workdir]", "fs_read: !x /workdir",
		  "error: 19:14: " ERRORS "line 19: cannot unmarshal !x `/workdir` into []string" },
		{ "fs_read: [/workdir]", "fs_read: !x%1b%5B31m a",
		  "error: 19:14: " ERRORS
		  "line 19: cannot unmarshal !x\\x1b[31m `a` into []string" },
		{ "fs_read: [/workdir]", "fs_read: \"\\e[31m\"",
		  "error: 19:14: " ERRORS
		  "line 19: cannot unmarshal !!str `\\x1b[31m` into []string" },
		{ "budget_seconds_max: 60", "budget_seconds_max: soon",
		  "error: 15:23: " ERRORS "line 15: cannot unmarshal !!str `soon` into int" },
	};
	static const struct vector lists[] = {
		{ "NET", "\"*\"",
		  "error: 17:18: " ERRORS
		  "line 17: cannot unmarshal !!str `*` into []soyapack.EgressRule" },
		{ "NET", "[\"*\"]",
		  "error: 17:19: " ERRORS
		  "line 17: cannot unmarshal !!str `*` into soyapack.EgressRule" },
		{ "NET", "[null]", "!egress" },
		{ "NET", "null", "!egress" },
		{ "NET", "[]", "!egress" },
	};
	static const struct vector blocks[] = {
		{ "BLOCK", "[]",
		  "error: 16:17: " ERRORS
		  "line 16: cannot unmarshal !!seq into soyapack.Capabilities" },
		{ "BLOCK", "text",
		  "error: 16:17: " ERRORS
		  "line 16: cannot unmarshal !!str `text` into soyapack.Capabilities" },
		{ "BLOCK", "null", "!read" },
		{ "BLOCK", "{}", "!read" },
	};
	char *net = edit(GO_MANIFEST, "\n      - {host: api.example.com, port: 443, proto: https}",
			 " NET");
	char *block = strndup(GO_MANIFEST,
			      (size_t)(strstr(GO_MANIFEST, "    network_out") - GO_MANIFEST));
	char *named = edit(block, "capabilities:\n", "capabilities: BLOCK\n");

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
	check_vectors(net, lists, COMET_ARRAY_SIZE(lists));
	check_vectors(named, blocks, COMET_ARRAY_SIZE(blocks));
	free(net);
	free(block);
	free(named);
}

static void test_ports(void **state)
{
	static const struct vector vectors[] = {
		{ "443", "1", "egress api.example.com:1/https" },
		{ "443", "65535", "egress api.example.com:65535/https" },
		{ "443", "443.5", "egress api.example.com:443/https" },
		{ "443", "0443", "egress api.example.com:291/https" },
		{ "443", "0o443", "egress api.example.com:291/https" },
		{ "443", "0x1bb", "egress api.example.com:443/https" },
		{ "443", "4_43", "egress api.example.com:443/https" },
		{ "443", "0b110111011", "egress api.example.com:443/https" },
		{ "443", "4.43e2", "egress api.example.com:443/https" },
		{ "443", "+443", "egress api.example.com:443/https" },
		{ "443", "!!int 443", "egress api.example.com:443/https" },
		{ "443", "0", PORT "0" },
		{ "443", "-1", PORT "-1" },
		{ "443", "65536", PORT "65536" },
		{ "443", "65979", PORT "65979" },
		{ "443", "0.9", PORT "0" },
		{ "443", "-.inf", PORT "-9223372036854775808" },
		{ "443", "9223372036854775807", PORT "9223372036854775807" },
		{ "443", "null", ITEM_PORT "0" },
		{ "port: 443, ", "", ITEM_PORT "0" },
		{ "port: 443", "port: ", ITEM_PORT "0" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_hosts_and_protocols(void **state)
{
	static const struct vector vectors[] = {
		{ "host: api.example.com", "host: \"\"",
		  "error: 18:16: " INVALID "capabilities.network_out[0].host is required" },
		{ "host: api.example.com, ", "",
		  "error: 18:9: " INVALID "capabilities.network_out[0].host is required" },
		{ "host: api.example.com", "host: ~",
		  "error: 18:9: " INVALID "capabilities.network_out[0].host is required" },
		{ "api.example.com", "\"*\"", "egress *:443/https" },
		{ "api.example.com", "\"*.openai.com\"", "egress *.openai.com:443/https" },
		{ "api.example.com", "192.168.1.1", "egress 192.168.1.1:443/https" },
		{ "api.example.com", "API.Example.COM.", "egress api.example.com:443/https" },
		{ "proto: https", "proto: http", "egress api.example.com:443/http (" },
		{ "proto: https", "proto: grpc", "egress api.example.com:443/grpc" },
		{ "proto: https", "proto: quic", "egress api.example.com:443/quic" },
		{ "proto: https", "proto: tcp", "error: 18:51: " PROTO "\"tcp\"" },
		{ "proto: https", "proto: udp", "error: 18:51: " PROTO "\"udp\"" },
		{ "proto: https", "proto: ftp", "error: 18:51: " PROTO "\"ftp\"" },
		{ "proto: https", "proto: HTTPS", "error: 18:51: " PROTO "\"HTTPS\"" },
		{ "proto: https", "proto: \"udp,tcp\"", "error: 18:51: " PROTO "\"udp,tcp\"" },
		{ "proto: https", "proto: sctp", "error: 18:51: " PROTO "\"sctp\"" },
		{ "proto: https", "proto: any", "error: 18:51: " PROTO "\"any\"" },
		{ ", proto: https", "", "error: 18:9: " PROTO "\"\"" },
		{ "fs_read", "resources: {timeout_s: -5}\n    fs_read", OK },
		{ "determinism_tier: read-only", "determinism_tier: stateful", "tier stateful" },
		{ "determinism_tier: read-only", "determinism_tier: whatever", "tier whatever" },
		{ "exec: [git]", "exec: [1, true]", "exec 1 (21:12)\nexec true (21:15)\n" },
		{ "exec: [git]", "exec: [~, git]", "exec git" },
		{ "sandbox:\n", "sandbox:\n  unknown: 1\n", OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* The block of a Skill stands at the top level; an Agent may have it there too. */
static void test_top_level_block(void **state)
{
	static const struct vector vectors[] = {
		{ "sandbox:", "capabilities:\n  fs_read: [/data]\nx-sandbox:",
		  "read /data (13:13)" },
		{ "sandbox:",
		  "capabilities:\n  network_out: [{host: h, port: 0, proto: http}]\nx-sandbox:",
		  "error: 13:33: " INVALID
		  "capabilities.network_out[0].port must be in [1,65535], got 0" },
		{ "sandbox:", "capabilities: null\nsandbox:", "read /workdir" },
		{ "sandbox:", "sandbox: null\nx-sandbox:", "!read" },
		/* With two blocks a fault in either rejects, and the sandbox's is the one read. */
		{ "sandbox:", "capabilities: {fs_read: [/data]}\nsandbox:", "read /workdir" },
		{ "sandbox:", "capabilities: {fs_read: [/data]}\nsandbox:", "!read /data" },
		{ "sandbox:", "capabilities: {fs_read: [/data]}\nsandbox:",
		  "not to be run: pack.yaml:12:15: expected one capabilities block, found a second one beside sandbox.capabilities of line 18" },
		{ "sandbox:",
		  "capabilities: {network_out: [{host: h, port: 80, proto: tcp}]}\nsandbox:",
		  "error: 12:57: " PROTO "\"tcp\"" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* Every document that is no manifest at all. */
static void test_other_documents(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} rows[] = {
		{ "", "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "# only a comment\n",
		  "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "---\n",
		  "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "null\n",
		  "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "{}\n", "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "[]\n", "error: 1:1: " ROOT_KIND "2)" },
		{ "- a\n", "error: 1:1: " ROOT_KIND "2)" },
		{ "text\n", "error: 1:1: " ROOT_KIND "8)" },
		{ "\"\"\n", "error: 1:1: " ROOT_KIND "8)" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		char *shown = read_and_show(rows[i].text, false);

		assert_string_equal(shown, rows[i].expected);
		free(shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_level_keys),
		cmocka_unit_test(test_wrong_types_are_all_listed),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_hosts_and_protocols),
		cmocka_unit_test(test_top_level_block),
		cmocka_unit_test(test_other_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
