// SPDX-License-Identifier: Apache-2.0
/* Is every question answered as the kernel would, and by the right line? */
#include "tests/unit/test_explain.h"

static void reads(void **state)
{
	(void)state;
	assert_allowed("fs.read", "/workdir", 20);
	assert_allowed("fs.read", "/workdir/", 20);
	assert_allowed("fs.read", "/workdir/notes.md", 20);
	assert_allowed("fs.read", "/workdir/inputs/a", 21);
	assert_allowed("fs.read", "//workdir/./x/../inputs", 21);
	assert_allowed("fs_read", "/data/set/1", 22);
	assert_refused("fs.read", "/workdir-evil");
	assert_refused("fs.read", "/workdir-evil/x");
	assert_refused("fs.read", "/workdir/../etc/shadow");
	assert_refused("fs.read", "/data");
	assert_refused("fs.read", "/data/sets");
	assert_refused("fs.read", "/");
	/* Writing does not imply reading, except where /workdir gives it. */
	assert_refused("fs.read", "/spool/out/x");
	assert_allowed("fs.read", "/workdir/out/x", 20);
}

static void writes(void **state)
{
	(void)state;
	assert_allowed("fs.write", "/workdir/out", 30);
	assert_allowed("fs.write", "/workdir/out/a/b", 30);
	assert_refused("fs.write", "/workdir/outx");
	assert_refused("fs.write", "/workdir");
	assert_refused("fs.write", "/workdir/out/../x");
	assert_refused("fs.write", "/data/set");
	assert_refused("fs.write", "/usr/bin/x");
}

static void the_base_set_answers_for_itself(void **state)
{
	struct comet_answer answer = ask("fs.read", "/usr/lib/no-such-library.so");

	(void)state;
	assert_true(answer.allowed);
	assert_int_equal(answer.source, COMET_SOURCE_BASE);
	assert_null(answer.location.file);
	assert_string_equal(answer.matched, "/usr");
	comet_answer_clear(&answer);
	assert_allowed("fs.read", "/dev/null", 0);
	assert_allowed("fs.write", "/dev/null", 0);
	assert_refused("fs.read", "/dev/sda");
	assert_refused("fs.write", "/proc/self/comm");
	assert_allowed("fs.read", "/proc/self/maps", 0);
	assert_allowed("fs.read", "/proc/thread-self/stat", 0);
	assert_allowed("fs.read", "/proc/1/status", 0);
	assert_allowed("fs.read", "/proc/mounts", 0);
	assert_refused("fs.write", "/proc/mounts");
	assert_refused("fs.read", "/proc/selfish");
	assert_refused("fs.read", "/proc/1x");
	assert_allowed("fs.read", "/proc", 0);
}

static void the_nearest_mark_decides(void **state)
{
	static const struct {
		const char *path;
		uint32_t mark;
	} rows[] = {
		{ "/etc/no-such-setting", COMET_FS_QUIET },
		{ "/etc/ssl/private/key.pem", COMET_FS_CANARY },
		{ "/etc/ssh/ssh_host_ed25519_key", COMET_FS_CANARY },
		{ "/etc/ssh/ssh_config.d/x", COMET_FS_QUIET },
		{ "/home/agent", COMET_FS_QUIET },
		{ "/home/agent/.config/tool/settings", COMET_FS_QUIET },
		{ "/home/agent/.config/gcloud/token", COMET_FS_CANARY },
		{ "/home/agent/.ssh/id_ed25519", COMET_FS_CANARY },
		{ "/home/agent/thesis.txt", COMET_FS_CANARY },
		{ "/home/other/.bashrc", COMET_FS_CANARY },
		{ "/root/.bashrc", COMET_FS_CANARY },
		{ "/dev/no-such-device", 0 },
		{ "/srv/no-such-data", 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct comet_answer answer = ask("fs.read", rows[i].path);

		assert_false(answer.allowed);
		if (answer.mark != rows[i].mark)
			fail_msg("%s: mark %u", rows[i].path, answer.mark);
		comet_answer_clear(&answer);
	}
}

static void notes_tell_what_happens(void **state)
{
	(void)state;
	assert_note("fs.read", "/data", "walked through");
	assert_note("fs.read", "/spool/out", "does not imply reading");
	assert_note("fs.read", "/srv/no-such-data", "is a violation");
	assert_note("fs.read", "/etc/no-such-setting", "quiet set");
	assert_note("fs.read", "/home/other", "canary");
	assert_note("fs.write", "/data/set/x", "EACCES");
	assert_note("fs.write", "/srv/no-such-data", "ENOENT");
	assert_note("exec", "no-such-tool-either", "EACCES");
	assert_note("egress", "other.test:444/tcp", "ECONNREFUSED");
	assert_note("egress", "10.0.0.1:80/http", "10.0.0.0/8");
}

static void destinations(void **state)
{
	(void)state;
	assert_allowed("egress", "api.test:443/https", 10);
	assert_allowed("egress", "API.Test.:443/tcp", 10);
	assert_allowed("egress", "api.test:443/grpc", 10);
	assert_refused("egress", "api.test:443/quic");
	assert_refused("egress", "api.test:8443/https");
	assert_refused("egress", "xapi.test:443/https");
	assert_allowed("network.out", "a.cdn.test:443/https", 12);
	assert_allowed("network_out", "a.cdn.test:443/https", 12);
	assert_refused("egress", "cdn.test:443/https");
	/* A pattern is not in force before names are resolved while the run goes on. */
	assert_refused("egress", "b.cdn.test:443/https");
	assert_note("egress", "b.cdn.test:443/https", "*.cdn.test covers the name");
	assert_allowed("egress", "10.1.2.3:53/udp", 13);
	assert_refused("egress", "10.1.2.3:53/tcp");
	assert_refused("egress", "11.0.0.0:53/udp");
	assert_allowed("egress", "[2001:db8::1]:443/udp", 14);
	assert_refused("egress", "[2001:db8::1]:443/tcp");
	assert_refused("egress", "[2001:db8::2]:443/udp");
	assert_allowed("egress", "anything.test:80/http", 15);
	assert_allowed("egress", "1.1.1.1:80/tcp", 15);
	assert_refused("egress", "127.0.0.1:80/tcp");
	assert_refused("egress", "[::ffff:127.0.0.1]:80/tcp");
	assert_refused("egress", "0.0.0.0:80/tcp");
	/* Through a wildcard localhost is no more than its address. */
	assert_refused("egress", "localhost:80/http");
	assert_refused("egress", "x.localhost:80/http");
	assert_allowed("egress", "127.0.0.53:53/udp", 0);
	assert_refused("egress", "127.0.0.54:53/udp");
}

static void the_matched_entry_is_shown(void **state)
{
	static const struct {
		const char *resource, *matched;
	} rows[] = {
		{ "api.test:443/https", "api.test:443/tcp" },
		{ "10.1.2.3:53/udp", "10.0.0.0/8:53/udp" },
		{ "[2001:db8::1]:443/quic", "[2001:db8::1]:443/udp" },
		{ "1.1.1.1:80/http", "*:80/tcp" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct comet_answer answer = ask("egress", rows[i].resource);

		assert_string_equal(answer.matched, rows[i].matched);
		comet_answer_clear(&answer);
	}
	assert_note("egress", "api.test:8443/https", "port 443 by TCP");
}

static void programs(void **state)
{
	(void)state;
	assert_allowed("exec", "sh", 40);
	assert_allowed("exec", "/bin/sh", 40);
	assert_allowed("exec", "no-such-tool", 41);
	assert_note("exec", "no-such-tool", "not installed");
	assert_refused("exec", "id");
	assert_refused("exec", "/usr/bin/no-such-tool");
	assert_refused("exec", "/tmp/sh");
}

static void ports(void **state)
{
	struct comet_serve every[] = { { { 0, IPPROTO_UDP }, AT(60) } };
	struct comet_manifest other = manifest;
	struct comet_policy *kept = policy;

	(void)state;
	assert_allowed("serve", "8080", 50);
	assert_allowed("serve", "8080/tcp", 50);
	assert_allowed("serve", "53/udp", 51);
	assert_refused("serve", "8081");
	assert_refused("serve", "808");
	assert_refused("serve", "8080/udp");
	assert_refused("serve", "53");
	assert_note("serve", "8081", "EACCES");
	assert_note("serve", "8080/udp", "declared for TCP, not for UDP");
	assert_note("serve", "53/tcp", "declared for UDP, not for TCP");

	other.serve = every;
	other.n_serve = 1;
	assert_int_equal(comet_policy_compile(&other, NULL, &policy, NULL), 0);
	assert_allowed("serve", "1/udp", 60);
	assert_allowed("serve", "65535/udp", 60);
	assert_refused("serve", "1/tcp");
	comet_policy_free(policy);
	policy = kept;
}

static void questions_without_an_answer(void **state)
{
	static const struct {
		const char *surface, *resource, *part;
	} rows[] = {
		{ "fs.raed", "/x", "fs.read, fs.write, egress, exec or serve" },
		{ "", "/x", "surface" },
		{ "fs.read", "x", "absolute" },
		{ "fs.read", "", "absolute" },
		{ "exec", "bin/sh", "name or an absolute path" },
		{ "exec", "", "name or an absolute path" },
		{ "egress", "api.test", "host:port/protocol" },
		{ "egress", "api.test:443", "host:port/protocol" },
		{ "egress", "api.test/https", "host:port/protocol" },
		{ "egress", "api.test:0/https", "host:port/protocol" },
		{ "egress", "api.test:65536/https", "host:port/protocol" },
		{ "egress", "api.test:0443/https", "host:port/protocol" },
		{ "egress", "api.test:443/HTTPS", "host:port/protocol" },
		{ "egress", "api.test:443/sctp", "host:port/protocol" },
		{ "egress", ":443/https", "host:port/protocol" },
		{ "egress", "::1:443/tcp", "host:port/protocol" },
		{ "egress", "[::1:443/tcp", "host:port/protocol" },
		{ "egress", "*:443/https", "one host" },
		{ "egress", "*.cdn.test:443/https", "one host" },
		{ "egress", "[2001:db8::/32]:443/tcp", "one host" },
		{ "egress", "127.1:443/tcp", "no address" },
		{ "serve", "", "no port" },
		{ "serve", "0", "no port" },
		{ "serve", "65536", "no port" },
		{ "serve", "080", "no port" },
		{ "serve", "8080/", "no port" },
		{ "serve", "8080/http", "no port" },
		{ "serve", "8080/TCP", "no port" },
		{ "serve", "/tcp", "no port" },
		{ "serve", "*", "no port" },
		{ "serve", "8080/tcp/udp", "no port" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct comet_answer answer = { .allowed = true };
		struct comet_error error = { "" };

		if (comet_explain_query(&manifest, policy, rows[i].surface, rows[i].resource,
					&answer, &error) != -EINVAL)
			fail_msg("%s %s was answered", rows[i].surface, rows[i].resource);
		assert_true(answer.allowed);
		if (!strstr(error.text, rows[i].part))
			fail_msg("%s %s: %s", rows[i].surface, rows[i].resource, error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(writes),
		cmocka_unit_test(the_base_set_answers_for_itself),
		cmocka_unit_test(the_nearest_mark_decides),
		cmocka_unit_test(notes_tell_what_happens),
		cmocka_unit_test(destinations),
		cmocka_unit_test(the_matched_entry_is_shown),
		cmocka_unit_test(programs),
		cmocka_unit_test(ports),
		cmocka_unit_test(questions_without_an_answer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
