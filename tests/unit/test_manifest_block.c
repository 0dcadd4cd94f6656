// SPDX-License-Identifier: Apache-2.0
/* What do the three dialects grant, what is warned of, and what is valid but not to be run? */
#define _GNU_SOURCE 1
#include "test_manifest.h"

#define UPSTREAM_WORDS                                                                             \
	"(Comet grants what the block says; upstream's words are network_out, fs_read, fs_write)"
#define HOST "expected a host name, an address or a range, found "
#define PATH "expected an absolute path, found "
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A250 A50 A50 A50 A50 A50

/* GO_MANIFEST up to its block, and another block of the same indentation. */
static char *with_block(const char *block)
{
	const char *end = strstr(GO_MANIFEST, "    network_out");
	char *text = NULL;

	assert_true(asprintf(&text, "%.*s%s", (int)(end - GO_MANIFEST), GO_MANIFEST, block) > 0);
	return text;
}

static void check_block(const char *block, const char *expected)
{
	char *text = with_block(block);
	char *shown = read_and_show(text, false);

	if (!strstr(shown, expected))
		print_error("wanted: %s\nfound:  %s\n", expected, shown);
	assert_non_null(strstr(shown, expected));
	free(shown);
	free(text);
}

static void test_reads_the_words_of_the_specification(void **state)
{
	static const char block[] = "    network.out:\n"
				    "      - {host: api.example.com, port: 443, proto: tcp}\n"
				    "      - {host: dns.example.com, port: 53, proto: udp}\n"
				    "    fs.read: [/workdir]\n"
				    "    fs.write: [/workdir/out]\n"
				    "    exec: [git]\n"
				    "    determinism_tier: read-only\n";

	(void)state;
	check_block(
		block,
		"words of spec\nisolation container\nbudget 60\ntier read-only\n"
		"egress api.example.com:443/tcp (18:16)\n"
		"egress dns.example.com:53/udp (19:16)\n"
		"read /workdir (20:15)\nwrite /workdir/out (21:16)\nexec git (22:12)\n"
		"warning 17:5: upstream reads this block as deny-all: it does not know \"network.out\" " UPSTREAM_WORDS);
}

static void test_reads_the_words_of_the_seed(void **state)
{
	static const char block[] = "    egress:\n"
				    "      - {host: api.example.com, port: 443, protocol: grpc}\n"
				    "    fs: {read: [/workdir], write: [/workdir/out]}\n"
				    "    resources: {timeout_s: 5}\n";

	(void)state;
	check_block(
		block,
		"words of seed\nisolation container\nbudget 60\n"
		"egress api.example.com:443/grpc (18:16)\n"
		"read /workdir (19:17)\nwrite /workdir/out (19:36)\n"
		"warning 17:5: upstream reads this block as deny-all: it does not know \"egress\" " UPSTREAM_WORDS);
}

/* In words that upstream skips it has no verdict, so every fault is a plain error. */
static void test_faults_in_nested_dialects_are_errors(void **state)
{
	static const struct {
		const char *block;
		const char *expected;
	} rows[] = {
		{ "    network.out: [{host: h, port: 0, proto: tcp}]\n",
		  "error: 17:35: expected a port from 1 to 65535, found 0" },
		{ "    network.out: [{host: h, port: 65536, proto: tcp}]\n",
		  "error: 17:35: expected a port from 1 to 65535, found 65536" },
		{ "    network.out: [{host: h, port: x, proto: tcp}]\n",
		  "error: 17:35: expected a whole number, found the text \"x\"" },
		{ "    network.out: [{host: h, port: 80, proto: grpc}]\n",
		  "error: 17:46: expected a proto of http, https, tcp, udp, found \"grpc\"" },
		{ "    network.out: [{host: h, port: 80}]\n",
		  "error: 17:19: expected a proto of http, https, tcp, udp, found \"\"" },
		{ "    network.out: [{port: 80, proto: tcp}]\n",
		  "error: 17:19: expected a host, found none" },
		{ "    network.out: [text]\n",
		  "error: 17:19: expected a map with host, port and proto, found the text \"text\"" },
		{ "    fs.read: /workdir\n",
		  "error: 17:14: expected a list of text, found the text \"/workdir\"" },
		{ "    fs.read: [workdir]\n",
		  "error: 17:15: " PATH
		  "\"workdir\" (write an absolute path, one that starts with \"/\")" },
		{ "    egress: [{host: h, port: 0, protocol: tcp}]\n",
		  "error: 17:30: expected a port from 1 to 65535, found the number 0" },
		{ "    fs: [/workdir]\n", "error: 17:9: expected a map, found a list" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++)
		check_block(rows[i].block, rows[i].expected);
}

static void test_misspelt_keys_are_warned_of(void **state)
{
	(void)state;
	check_block(
		"    fs_raed: [/workdir]\n",
		"warning 17:5: \"fs_raed\" is no capability, so it grants nothing (did you mean \"fs_read\"?)");
	check_block("    fs.raed: [/workdir]\n", "(did you mean \"fs.read\"?)");
	check_block("    egres: []\n", "(did you mean \"egress\"?)");
	check_block("    Network-Out: []\n", "(did you mean \"network_out\"?)");
	check_block("    gibberish: []\n",
		    "warning 17:5: \"gibberish\" is no capability, so it grants nothing\n");
	check_block("    x-note: []\n", "budget 60\n");
	check_block(
		"    network_out: [{host: h, port: 1, proto: http, prot: 2}]\n",
		"warning 17:51: \"prot\" means nothing in an egress entry (did you mean \"port\"?)");
}

static void test_one_dialect_per_block(void **state)
{
	(void)state;
	check_block(
		"    fs_read: [/a]\n    fs.write: [/b]\n",
		"read /a (17:15)\n"
		"warning 18:5: expected the keys of one dialect in the block, found \"fs.write\" beside \"fs_read\" of line 17");
	check_block("    fs.write: [/b]\n    fs_read: [/a]\n",
		    "not to be run: pack.yaml:18:5: expected the keys of one dialect");
	/* Upstream's words are what is read, whichever came first. */
	check_block("    fs.write: [/b]\n    fs_read: [/a]\n",
		    "words of go\nisolation container\nbudget 60\nread /a (18:15)\nwarning 18:5: ");
	check_block("    egress: []\n    fs_read: [/a]\n", "not to be run: pack.yaml:18:5: ");
}

static void test_allowed_calls_that_nothing_would_hold_to(void **state)
{
	(void)state;
	check_block("    syscalls: [read]\n",
		    "not to be run: pack.yaml:17:15: this build cannot hold an agent to syscalls");
	check_block("    syscalls: []\n", "budget 60\n");
}

static void test_what_is_not_enforced_is_said(void **state)
{
	static const char *const keys[][2] = {
		{ "llm: {model: any}", "llm" },
		{ "mcp_tools: [tool.x]", "mcp_tools" },
		{ "memory: [{name: a, access: ro}]", "memory" },
		{ "storage_nas: [{kind: nfs, mount: /m, access: ro}]", "storage_nas" },
		{ "secrets: [TOKEN]", "secrets" },
		{ "resources: {cpu: 2}", "resources.cpu" },
		{ "resources: {ram_mb: 2}", "resources.ram_mb" },
		{ "resources: {gpu: 2}", "resources.gpu" },
		{ "network_out: [{host: h, port: 1, proto: http, pin: ab}]", "pin" },
		{ "network_out: [{host: h, port: 1, proto: http, quota_per_call: 1}]",
		  "quota_per_call" },
		{ "mcp.tools: [tool.x]", "mcp.tools" },
		{ "storage.nas: [{kind: nfs, mount: /m, access: ro}]", "storage.nas" },
		{ "storage: {nas: []}", "storage" },
	};
	static const char *const silent[] = { "syscalls: []", "llm: ~", "secrets: []",
					      "resources: {cpu: 0}" };
	char line[200];
	char expected[200];

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(keys); i++) {
		snprintf(line, sizeof(line), "    %s\n", keys[i][0]);
		snprintf(expected, sizeof(expected), "not enforced by this build: %s\n",
			 keys[i][1]);
		check_block(line, expected);
	}
	for (size_t i = 0; i < COMET_ARRAY_SIZE(silent); i++) {
		char *text;
		char *shown;

		snprintf(line, sizeof(line), "    %s\n", silent[i]);
		text = with_block(line);
		shown = read_and_show(text, true);
		assert_null(strstr(shown, "error"));
		free(shown);
		free(text);
	}
}

static void test_time_limits(void **state)
{
	(void)state;
	check_block("    resources: {timeout_s: 5}\n", "budget 60\n");
	check_block(
		"    resources: {timeout_s: -5}\n",
		"not to be run: pack.yaml:17:28: expected a time limit of 0 to 2147483647 seconds, found -5");
	static const struct vector vectors[] = {
		{ "  budget_seconds_max: 60\n", "", "!budget" },
		{ "budget_seconds_max: 60", "budget_seconds_max: -1",
		  "not to be run: pack.yaml:15:23: expected a time limit of 0 to 2147483647 seconds, found -1" },
		{ "budget_seconds_max: 60", "budget_seconds_max: 99999999999",
		  "seconds, found 99999999999" },
		{ "  budget_seconds_max: 60\n  capabilities:\n",
		  "  capabilities:\n    resources: {timeout_s: 7}\n", "budget 7\n" },
		{ "isolation: container", "isolation: microvm",
		  "not to be run: pack.yaml:14:14: expected an isolation of process or container, found microvm (Comet is not a virtual machine monitor)" },
	};
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* Upstream accepts all of these paths, and none of them grants anything. */
static void test_paths_that_cannot_be_enforced(void **state)
{
	static const struct vector vectors[] = {
		{ "[/workdir]", "[workdir]",
		  "not to be run: pack.yaml:19:15: " PATH
		  "\"workdir\" (write an absolute path, one that starts with \"/\")" },
		{ "[/workdir]", "[workdir]", "!read workdir" },
		{ "[/workdir]", "[\"\"]", "not to be run: pack.yaml:19:15: " PATH "\"\" (write" },
		{ "[/workdir]", "[\"~\"]",
		  "(nothing is expanded in a manifest: write the absolute path)" },
		{ "[/workdir]", "[~user/x]", "(nothing is expanded in a manifest" },
		{ "[/workdir]", "[$HOME/x]", "(nothing is expanded in a manifest" },
		{ "[/workdir]", "[\"%h\"]", "(nothing is expanded in a manifest" },
		{ "[/workdir]", "[/workdir/../etc]", "(write the path without \"..\"" },
		{ "[/workdir]", "[/workdir/..]", "(write the path without \"..\"" },
		{ "[/workdir]", "[\"/a\\0b\"]", PATH "\"/a\\x00b\" (a path has no NUL)" },
		{ "[/workdir]", "[no, 1.0, 2026-01-01]", PATH "\"no\"" },
		{ "[/workdir]", "[/workdir/" A250 "aaaaa]", "read /workdir/" A250 "aaaaa (" },
		{ "[/workdir]", "[/workdir/" A250 "aaaaaa]",
		  "(a name in a path has at most 255 bytes)" },
		{ "[/workdir]", "[/W/./, /W//sub/, /W/, //W]",
		  "read /W (19:15)\nread /W/sub (19:22)\nread /W (19:32)\nread /W (19:37)\n" },
		{ "[/workdir]", "[/W-evil]", "read /W-evil (" },
		{ "[/workdir]", "[/..a/b..]", "read /..a/b.. (" },
		{ "[/workdir]", "[/]", "warning 19:15: \"/\" grants every file there is" },
		{ "[/workdir]", "[/data/*.txt]",
		  "warning 19:15: \"/data/*.txt\" is taken letter by letter" },
		{ "[/workdir]", "[\"/a\\nb\"]", "read /a\nb (" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_programs(void **state)
{
	static const struct vector vectors[] = {
		{ "[git]", "[/usr/bin/git]", "exec /usr/bin/git (21:12)\n" },
		{ "[git]", "[/usr/bin/git]",
		  "warning 21:12: upstream compares only base names, so it never allows an entry with a slash" },
		{ "[git]", "[./git]",
		  "not to be run: pack.yaml:21:12: expected the name of a program or an absolute path, found \"./git\"" },
		{ "[git]", "[\"\"]", "absolute path, found \"\"" },
		{ "[git]", "[/]", "absolute path, found \"/\"" },
		{ "[git]", "[..]", "absolute path, found \"..\"" },
		{ "[git]", "[\"a\\0b\"]", "absolute path, found \"a\\x00b\"" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_hosts_that_cannot_be_enforced(void **state)
{
	static const struct vector vectors[] = {
		{ "api.example.com", "2130706433",
		  "not to be run: pack.yaml:18:16: " HOST
		  "\"2130706433\" (programs read numbers like this as an IPv4 address: write four decimal numbers, or a name)" },
		{ "api.example.com", "0x7f000001", HOST "\"0x7f000001\" (programs read" },
		{ "api.example.com", "127.1", HOST "\"127.1\" (programs read" },
		{ "api.example.com", "1.0", HOST "\"1.0\" (programs read" },
		{ "api.example.com", "0177.0.0.1", HOST "\"0177.0.0.1\" (programs read" },
		{ "api.example.com", "256.1.1.1", HOST "\"256.1.1.1\" (" },
		{ "api.example.com", "a..b", HOST "\"a..b\" (" },
		{ "api.example.com", ".", HOST "\".\" (" },
		{ "api.example.com", "..", HOST "\"..\" (" },
		{ "api.example.com", "\"a b\"", HOST "\"a b\" (a host has no spaces)" },
		{ "api.example.com", "\"a\\0b\"", HOST "\"a\\x00b\" (a host has no NUL)" },
		{ "api.example.com", "https://a.b",
		  HOST
		  "\"https://a.b\" (write the host alone: the scheme belongs in the protocol field)" },
		{ "api.example.com", "a.b:443",
		  HOST "\"a.b:443\" (write the host alone: the port belongs in the port field)" },
		{ "api.example.com", "\"[::1]\"", HOST "\"[::1]\" (" },
		{ "api.example.com", "a.b/path", HOST "\"a.b/path\" (" },
		{ "api.example.com", "a*.b", HOST "\"a*.b\" (" },
		{ "api.example.com", "\"*.*.b\"", HOST "\"*.*.b\" (" },
		{ "api.example.com",
		  "b\xc3\xbc"
		  "cher.example",
		  HOST
		  "\"b\xc3\xbc"
		  "cher.example\" (write an international name in its ASCII form, which starts with xn--)" },
		{ "api.example.com", A250 ".aaaa", HOST },
		{ "api.example.com", A50 "aaaaaaaaaaaaaa.b", HOST },
		{ "api.example.com", "10.0.0.1/8", HOST "\"10.0.0.1/8\" (" },
		{ "api.example.com", "10.0.0.0/33", HOST "\"10.0.0.0/33\" (" },
		{ "api.example.com", "\"fd00::1%eth0\"", HOST "\"fd00::1%eth0\" (" },
		/* Allowed twins. */
		{ "api.example.com", "127.0.0.1", "egress 127.0.0.1:443/https" },
		{ "api.example.com", "\"::1\"", "egress ::1:443/https" },
		{ "api.example.com", "10.0.0.0/8", "egress 10.0.0.0/8:443/https" },
		{ "api.example.com", "172.16.0.0/12", "egress 172.16.0.0/12:443/https" },
		{ "api.example.com", "192.0.2.7/32", "egress 192.0.2.7/32:443/https" },
		{ "api.example.com", "0.0.0.0/0", "egress 0.0.0.0/0:443/https" },
		{ "api.example.com", "\"::/0\"", "egress ::/0:443/https" },
		{ "api.example.com", "no", "egress no:443/https" },
		{ "api.example.com", "true", "egress true:443/https" },
		{ "api.example.com", "2026-01-01", "egress 2026-01-01:443/https" },
		{ "api.example.com", "_dmarc.a-b.example", "egress _dmarc.a-b.example:443/https" },
		{ "api.example.com", A50 "aaaaaaaaaaaaa.b", "egress " A50 "aaaaaaaaaaaaa.b:443" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_the_words_of_the_specification),
		cmocka_unit_test(test_reads_the_words_of_the_seed),
		cmocka_unit_test(test_faults_in_nested_dialects_are_errors),
		cmocka_unit_test(test_misspelt_keys_are_warned_of),
		cmocka_unit_test(test_one_dialect_per_block),
		cmocka_unit_test(test_allowed_calls_that_nothing_would_hold_to),
		cmocka_unit_test(test_what_is_not_enforced_is_said),
		cmocka_unit_test(test_time_limits),
		cmocka_unit_test(test_paths_that_cannot_be_enforced),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_hosts_that_cannot_be_enforced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
