// SPDX-License-Identifier: Apache-2.0
/* Is a manifest of the seed's dialect held to its fields, its types and its tier rule? */
#define _GNU_SOURCE 1
#include "test_manifest.h"

#define OK "Agent soyaos.ai/v0/clerk@1.2.3"
#define A10 "aaaaaaaaaa"
#define LABEL63 A10 A10 A10 A10 A10 A10 "aaa"
#define RULE "- host: api.example.com\n      port: 443\n      protocol: https"
#define ENTRY "expected an egress entry with host, port and protocol, found none for "
#define PORT "error: 12:13: expected a port from 1 to 65535, found "
#define PROTOCOL "error: 13:17: expected a protocol of http, https, grpc, tcp, quic, udp, found "

static void test_accepts_the_base_and_reads_all_of_it(void **state)
{
	char *shown = read_and_show(SEED_MANIFEST, true);

	(void)state;
	assert_string_equal(shown, "Agent soyaos.ai/v0/clerk@1.2.3, words of seed\n"
				   "tier read-only\n"
				   "egress api.example.com:443/https (11:13)\n"
				   "read /workdir (15:12)\n"
				   "write /workdir/out (16:13)\n");
	free(shown);
}

static void test_fields(void **state)
{
	static const struct vector vectors[] = {
		{ "soyaos.ai/v0", "soyaos.ai/v1",
		  "error: 1:13: expected \"soyaos.ai/v0\" for apiVersion, found \"soyaos.ai/v1\"" },
		{ "kind: Agent\n", "", "error: 1:1: expected the field \"kind\", found none" },
		{ "kind: Agent", "kind: Memory",
		  "error: 2:7: expected Agent, Tool, Skill or Model for kind, found \"Memory\"" },
		{ "kind: Agent", "kind: Tool", "Tool soyaos.ai/v0/clerk@1.2.3" },
		{ "kind: Agent", "kind: Skill", "Skill soyaos.ai/v0/clerk@1.2.3" },
		{ "kind: Agent", "kind: Model", "Model soyaos.ai/v0/clerk@1.2.3" },
		{ "name: clerk\n", "", "error: 1:1: expected the field \"name\", found none" },
		{ "name: clerk", "name: Clerk",
		  "error: 3:7: expected 1 to 63 of a-z, 0-9 and inner hyphens for name, found \"Clerk\"" },
		{ "name: clerk", "name: " LABEL63, "soyaos.ai/v0/" LABEL63 "@" },
		{ "name: clerk", "name: " LABEL63 "a",
		  "error: 3:7: expected 1 to 63 of a-z, 0-9 and inner hyphens for name, found \"" LABEL63
		  "a\"" },
		{ "name: clerk", "name: 7",
		  "error: 3:7: expected text for name, found the number 7 (put it in quotes)" },
		{ "name: clerk", "name: \"7\"", "soyaos.ai/v0/7@1.2.3" },
		{ "name: clerk", "name: true",
		  "error: 3:7: expected text for name, found the boolean true (put it in quotes)" },
		{ "version: 1.2.3", "version: 1.0",
		  "error: 4:10: expected text for version, found the number 1.0 (put it in quotes)" },
		{ "version: 1.2.3", "version: v1.0.0",
		  "error: 4:10: expected a SemVer 2.0.0 version for version, found \"v1.0.0\"" },
		{ "version: 1.2.3", "version: 1.2.3-alpha.0", "clerk@1.2.3-alpha.0" },
		{ "virtual_model_id: soya:clerk\n", "",
		  "error: 1:1: expected the field \"virtual_model_id\", found none" },
		{ "soya:clerk", "clerk",
		  "error: 5:19: expected soya:<name> for virtual_model_id, found \"clerk\"" },
		{ "soya:clerk", "soya:other", OK },
		{ "description: Files letters.\n", "",
		  "error: 1:1: expected the field \"description\", found none" },
		{ "Files letters.", "\"\"",
		  "error: 6:14: expected text for description, found \"\"" },
		{ "owner: example\n", "", "error: 1:1: expected the field \"owner\", found none" },
		{ "license: MIT\n", "", "error: 1:1: expected the field \"license\", found none" },
		{ "license: MIT", "license: [MIT]",
		  "error: 8:10: expected text for license, found a list" },
		{ "license: MIT",
		  "license:", "error: 8:9: expected text for license, found nothing" },
		{ "inputs: {type: object}\n", "",
		  "error: 1:1: expected the field \"inputs\", found none" },
		{ "inputs: {type: object}", "inputs: any",
		  "error: 18:9: expected a map, found the text \"any\"" },
		{ "outputs: {letter: letter.v1}\n", "",
		  "error: 1:1: expected the field \"outputs\", found none" },
		{ "letter: letter.v1", "letter: 1",
		  "error: 19:19: expected text for outputs, found the number 1 (put it in quotes)" },
		{ "prompts: {write: prompts/write.md}\n", "",
		  "error: 1:1: expected the field \"prompts\", found none" },
		{ "write: prompts/write.md", "write: /etc/passwd",
		  "error: 20:18: expected a path inside the pack for prompts, found \"/etc/passwd\" (write it relative to the manifest, without \"..\")" },
		{ "write: prompts/write.md", "write: ../other.md",
		  "error: 20:18: expected a path inside the pack for prompts, found \"../other.md\" (write it relative to the manifest, without \"..\")" },
		{ "inputs:", "templates: {a: t/a.html}\ninputs:", OK },
		{ "inputs:", "templates: [a]\ninputs:",
		  "error: 18:12: expected a map, found a list" },
		{ "inputs:", "examples: {a: examples/a.json, b: {input: {x: 1}}}\ninputs:", OK },
		{ "inputs:", "examples: {a: 1}\ninputs:",
		  "error: 18:15: expected text for an example, found the number 1 (put it in quotes)" },
		{ "inputs:", "upstream: {prefer: openai}\ninputs:", OK },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_keys(void **state)
{
	static const struct vector vectors[] = {
		{ "inputs:", "input: 1\ninputs:",
		  "error: 18:1: expected a known key at the top level, found \"input\" (did you mean \"inputs\"?)" },
		{ "inputs:", "gibberish: 1\ninputs:",
		  "error: 18:1: expected a known key at the top level, found \"gibberish\"" },
		{ "inputs:", "x-note: 1\ninputs:", OK },
		{ "inputs:", "X-note: 1\ninputs:",
		  "error: 18:1: expected a known key at the top level, found \"X-note\"" },
		{ "inputs:", "sla: {}\ninputs:", "warning 18:1: not enforced by this build: sla" },
		{ "inputs:", "secrets: []\ninputs:",
		  "warning 18:1: not enforced by this build: secrets" },
		{ "inputs:", "signed_by: x\ninputs:", "not enforced by this build: signed_by" },
		{ "inputs:", "compat: {}\ninputs:", "not enforced by this build: compat" },
		{ "  egress:", "  egres:",
		  "error: 10:3: expected a known key in capabilities, found \"egres\" (did you mean \"egress\"?)" },
		{ "  fs:", "  fs.raed:",
		  "error: 14:3: expected a known key in capabilities, found \"fs.raed\" (write fs: {read: [...]})" },
		{ "  egress:", "  network_out:",
		  "error: 10:3: expected a known key in capabilities, found \"network_out\" (write egress: [...])" },
		{ "    read:", "    raed:",
		  "error: 15:5: expected a known key in fs, found \"raed\" (did you mean \"read\"?)" },
		{ "  fs:", "  x-note: 1\n  fs:", OK },
		{ "      port: 443\n", "      port: 443\n      ports: 1\n",
		  "error: 13:7: expected a known key in an egress entry, found \"ports\" (did you mean \"port\"?)" },
		{ "  determinism_tier", "  exec: [git]\n  determinism_tier",
		  "error: 17:3: expected a known key in capabilities, found \"exec\"" },
		{ "  fs:\n", "  fs: {}\n  fs:\n",
		  "error: 15:3: mapping key \"fs\" already defined at line 14" },
		{ "      port: 443\n", "      port: 443\n      port: 80\n",
		  "error: 13:7: mapping key \"port\" already defined at line 12" },
		{ "inputs: {type: object}", "inputs: {a: {b: 1, b: 2}}",
		  "error: 18:20: mapping key \"b\" already defined at line 18" },
		{ "apiVersion", "api_version",
		  "error: 1:1: soyapack: parse: soyapack: unknown top-level field \"api_version\" (use the x- prefix for extensions)" },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_egress(void **state)
{
	static const struct vector vectors[] = {
		{ "\n    " RULE, " []", "!egress" },
		{ "\n    " RULE, " [\"*\"]", "egress *:0/any (10:12)" },
		{ "\n    " RULE, " [\"*\", \"*\"]",
		  "error: 10:12: expected an egress entry {host, port, protocol}, found the text \"*\" (\"*\" must be the only entry)" },
		{ "\n    " RULE, " [\"*.example.com\"]",
		  "error: 10:12: expected an egress entry {host, port, protocol}, found the text \"*.example.com\"" },
		{ "\n    " RULE, " \"*\"",
		  "error: 10:11: expected a list for egress, found the text \"*\"" },
		{ "\n    " RULE, "",
		  "error: 10:10: expected a list for egress, found nothing (write [] for none)" },
		{ "\n    " RULE, " [null]",
		  "error: 10:12: expected an egress entry {host, port, protocol}, found nothing" },
		{ "\n    " RULE, " [22:22]",
		  "error: 10:12: expected an egress entry {host, port, protocol}, found the text \"22:22\"" },
		{ "host: api.example.com\n      ", "", "error: 11:7: " ENTRY "host" },
		{ "      port: 443\n", "", "error: 11:7: " ENTRY "port" },
		{ "      protocol: https\n", "", "error: 11:7: " ENTRY "protocol" },
		{ "api.example.com", "\"*.example.com\"", "egress *.example.com:443/https" },
		{ "api.example.com", "\"*\"", "egress *:443/https" },
		{ "api.example.com", "192.168.1.1", "egress 192.168.1.1:443/https" },
		{ "api.example.com", "API.example.com.", "egress api.example.com:443/https" },
		{ "api.example.com", "5",
		  "error: 11:13: expected text for host, found the number 5 (put it in quotes)" },
		{ "api.example.com", "[a]", "error: 11:13: expected text for host, found a list" },
		{ "api.example.com", "{a: b}",
		  "error: 11:13: expected text for host, found a map" },
		{ "api.example.com", "", "error: 11:12: expected text for host, found nothing" },
		{ "api.example.com", "~", "error: 11:13: expected text for host, found nothing" },
		{ "api.example.com", "true",
		  "error: 11:13: expected text for host, found the boolean true (put it in quotes)" },
		{ "api.example.com", "1.0",
		  "error: 11:13: expected text for host, found the number 1.0 (put it in quotes)" },
		{ "api.example.com", "2026-01-01",
		  "error: 11:13: expected text for host, found the date 2026-01-01 (put it in quotes)" },
		{ "api.example.com", "no", "egress no:443/https" },
		{ "api.example.com", "on", "egress on:443/https" },
		{ "api.example.com", "\"127.1\"",
		  "error: 11:13: expected a host name, an address or a range, found \"127.1\" (programs read numbers like this as an IPv4 address: write four decimal numbers, or a name)" },
		{ "443", "0", PORT "the number 0" },
		{ "443", "-1", PORT "the number -1" },
		{ "443", "65535", "egress api.example.com:65535/https" },
		{ "443", "65536", PORT "the number 65536" },
		{ "443", "65979", PORT "the number 65979" },
		{ "443", "99999999999999999999", PORT "the number 99999999999999999999" },
		{ "443", "443.5", PORT "the number 443.5" },
		{ "443", "\"443\"", PORT "the text \"443\" (write the number without quotes)" },
		{ "443", "\"*\"", PORT "the text \"*\"" },
		{ "443", "0-65535", PORT "the text \"0-65535\"" },
		{ "443", "443-80", PORT "the text \"443-80\"" },
		{ "443", "[443, 0]", PORT "a list" },
		{ "443", "{a: 1}", PORT "a map" },
		{ "443", "~", PORT "nothing" },
		{ "443", "1:59", PORT "the text \"1:59\"" },
		{ "443", "0443",
		  "error: 12:13: expected a port in plain decimal digits, found the number 0443 (did you mean 291?)" },
		{ "443", "0x1bb",
		  "error: 12:13: expected a port in plain decimal digits, found the number 0x1bb (did you mean 443?)" },
		{ "443", "4_43",
		  "error: 12:13: expected a port in plain decimal digits, found the number 4_43 (did you mean 443?)" },
		{ "protocol: https", "protocol: http", "/http (" },
		{ "protocol: https", "protocol: grpc", "/grpc (" },
		{ "protocol: https", "protocol: tcp", "/tcp (" },
		{ "protocol: https", "protocol: quic", "/quic (" },
		{ "protocol: https", "protocol: udp", "/udp (" },
		{ "protocol: https", "protocol: HTTPS", PROTOCOL "the text \"HTTPS\"" },
		{ "protocol: https", "protocol: any", PROTOCOL "the text \"any\"" },
		{ "protocol: https", "protocol: tcp6", PROTOCOL "the text \"tcp6\"" },
		{ "protocol: https", "protocol: \"udp,tcp\"", PROTOCOL "the text \"udp,tcp\"" },
		{ "protocol: https", "protocol: sctp", PROTOCOL "the text \"sctp\"" },
		{ "protocol: https", "protocol: \"tcp\\0\"", PROTOCOL "the text \"tcp\\x00\"" },
		{ "protocol: https", "protocol: ~",
		  "error: 13:17: expected text for protocol, found nothing" },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_filesystem_and_block(void **state)
{
	static const struct vector vectors[] = {
		{ "read: [/workdir]", "read: []", "!read /" },
		{ "read: [/workdir]", "read: /workdir",
		  "error: 15:11: expected a list for fs.read, found the text \"/workdir\"" },
		{ "read: [/workdir]", "read:",
		  "error: 15:10: expected a list for fs.read, found nothing (write [] for none)" },
		{ "read: [/workdir]", "read: [5]",
		  "error: 15:12: expected text for a path, found the number 5 (put it in quotes)" },
		{ "read: [/workdir]", "read: [~]",
		  "error: 15:12: expected text for a path, found nothing" },
		{ "read: [/workdir]", "read: [workdir]",
		  "error: 15:12: expected an absolute path, found \"workdir\" (write an absolute path, one that starts with \"/\")" },
		{ "read: [/workdir]", "read: [/a/../b]",
		  "error: 15:12: expected an absolute path, found \"/a/../b\" (write the path without \"..\", which symbolic links can turn elsewhere)" },
		{ "read: [/workdir]", "read: [\"~/x\"]",
		  "error: 15:12: expected an absolute path, found \"~/x\" (nothing is expanded in a manifest: write the absolute path)" },
		{ "read: [/workdir]", "read: [/a//b/./c/]", "read /a/b/c (15:12)" },
		{ "  fs:\n    read: [/workdir]\n    write: [/workdir/out]\n", "", "!read /" },
		{ "  fs:\n    read: [/workdir]\n    write: [/workdir/out]\n", "  fs: [/workdir]\n",
		  "error: 14:7: expected a map, found a list" },
		{ "tier: read-only", "tier: pure",
		  "error: 17:21: expected read-only, side-effect or unrestricted for determinism_tier, found \"pure\"" },
		{ "tier: read-only", "tier: unrestricted", "tier unrestricted" },
		{ "  determinism_tier: read-only\n", "", "!tier" },
		{ "capabilities:\n  egress", "x-capabilities:\n  egress",
		  "error: 1:1: expected the field \"capabilities\", found none (write capabilities: {} to declare nothing)" },
		{ "capabilities:\n  egress", "capabilities: {}\nx-capabilities:\n  egress",
		  "!egress" },
		{ "capabilities:\n  egress", "capabilities:\nx-capabilities:\n  egress",
		  "error: 9:14: expected a map, found nothing" },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_tools_and_tier(void **state)
{
	static const struct vector vectors[] = {
		{ "builtin.http_get", "builtin.http_post",
		  "error: 22:17: expected no tool of kind builtin.http_post under determinism_tier read-only, found one (declare side-effect)" },
		{ "{kind: builtin.http_get", "{<<: {kind: builtin.http_post}",
		  "error: 22:22: expected no tool of kind builtin.http_post under determinism_tier read-only, found one (declare side-effect)" },
		{ "read-only\ninputs: {type: object}\noutputs: {letter: letter.v1}\nprompts: {write: prompts/write.md}\ntools:\n  fetch: {kind: builtin.http_get",
		  "side-effect\ninputs: {type: object}\noutputs: {letter: letter.v1}\nprompts: {write: prompts/write.md}\ntools:\n  fetch: {kind: builtin.http_post",
		  OK },
		{ "{kind: builtin.http_get, ", "{",
		  "error: 22:10: expected the field \"kind\", found none" },
		{ "kind: builtin.http_get", "kind: builtin.http_get, extra: 1",
		  "error: 22:35: expected a known key in a tool, found \"extra\"" },
		{ "params: {timeout: 15s}", "params: 1",
		  "error: 22:43: expected a map, found the number 1" },
		{ "tools:\n  fetch:", "tools: []\nx-tools:\n  fetch:",
		  "error: 21:8: expected a map, found a list" },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_the_base_and_reads_all_of_it),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_egress),
		cmocka_unit_test(test_filesystem_and_block),
		cmocka_unit_test(test_tools_and_tier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
