// SPDX-License-Identifier: Apache-2.0
/* Is every question answered as the kernel would, with the right line, and the right remedy? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/explain.h"
#include "manifest/fix.h"
#include "manifest/path.h"

#define AT(n) { .file = "soyapack.yaml", .line = (n), .column = 9 }
#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct comet_egress egress[] = {
	{ (char *)"api.test", 443, COMET_PROTOCOL_HTTPS, AT(10) },
	{ (char *)"*.cdn.test", 443, COMET_PROTOCOL_HTTPS, AT(11) },
	{ (char *)"a.cdn.test", 443, COMET_PROTOCOL_HTTPS, AT(12) },
	{ (char *)"10.0.0.0/8", 53, COMET_PROTOCOL_UDP, AT(13) },
	{ (char *)"2001:db8::1", 443, COMET_PROTOCOL_QUIC, AT(14) },
	{ (char *)"*", 80, COMET_PROTOCOL_HTTP, AT(15) },
};
static struct comet_entry fs_read[] = {
	{ (char *)"/workdir", AT(20) },
	{ (char *)"/workdir/inputs", AT(21) },
	{ (char *)"/data/set", AT(22) },
};
static struct comet_entry fs_write[] = { { (char *)"/workdir/out", AT(30) },
					 { (char *)"/spool/out", AT(31) } };
static struct comet_entry exec[] = { { (char *)"sh", AT(40) }, { (char *)"no-such-tool", AT(41) } };

static struct comet_manifest manifest = {
	.file = (char *)"soyapack.yaml",
	.name = (char *)"pack",
	.version = (char *)"1.0.0",
	.kind = (char *)"Agent",
	.dialect = COMET_DIALECT_GO,
	.egress = egress,
	.n_egress = N(egress),
	.fs_read = fs_read,
	.n_fs_read = N(fs_read),
	.fs_write = fs_write,
	.n_fs_write = N(fs_write),
	.exec = exec,
	.n_exec = N(exec),
};
static struct comet_policy *policy;

static int set_up(void **state)
{
	static const char *const servers[] = { "127.0.0.53", NULL };
	struct comet_policy_options options = { .home = "/home/agent", .nameservers = servers };

	(void)state;
	return comet_policy_compile(&manifest, &options, &policy, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	comet_policy_free(policy);
	return 0;
}

static struct comet_answer ask(const char *surface, const char *resource)
{
	struct comet_answer answer = { 0 };
	struct comet_error error = { "" };

	if (comet_explain_query(&manifest, policy, surface, resource, &answer, &error) != 0)
		fail_msg("%s %s: %s", surface, resource, error.text);
	return answer;
}

static void assert_allowed(const char *surface, const char *resource, unsigned int line)
{
	struct comet_answer answer = ask(surface, resource);

	if (!answer.allowed)
		fail_msg("%s %s: not allowed", surface, resource);
	if (answer.location.line != line)
		fail_msg("%s %s: line %u", surface, resource, answer.location.line);
	assert_non_null(answer.matched);
	assert_null(answer.fix);
	assert_null(answer.unfixable);
	comet_answer_clear(&answer);
}

static void assert_refused(const char *surface, const char *resource)
{
	struct comet_answer answer = ask(surface, resource);

	if (answer.allowed)
		fail_msg("%s %s: allowed by %s", surface, resource, answer.matched);
	assert_null(answer.matched);
	assert_non_null(answer.fix);
	comet_answer_clear(&answer);
}

static void assert_note(const char *surface, const char *resource, const char *part)
{
	struct comet_answer answer = ask(surface, resource);

	if (!answer.note || !strstr(answer.note, part))
		fail_msg("%s %s: \"%s\" does not say \"%s\"", surface, resource,
			 answer.note ? answer.note : "", part);
	comet_answer_clear(&answer);
}

static void cleaned_paths(void **state)
{
	static const struct {
		const char *path, *clean;
	} rows[] = {
		{ "/", "/" },
		{ "//", "/" },
		{ "/..", "/" },
		{ "/a/", "/a" },
		{ "/a//b/./c", "/a/b/c" },
		{ "/a/../b", "/b" },
		{ "/a/b/../../..", "/" },
		{ "/a/...", "/a/..." },
		{ "/a/..b", "/a/..b" },
		{ "/a/.", "/a" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		char *clean = comet_path_clean(rows[i].path);

		assert_string_equal(clean, rows[i].clean);
		free(clean);
	}
	assert_null(comet_path_clean("a"));
	assert_int_equal(errno, EINVAL);
	assert_null(comet_path_clean(""));
}

static void a_prefix_ends_at_a_component(void **state)
{
	(void)state;
	assert_true(comet_path_covers("/workdir", "/workdir"));
	assert_true(comet_path_covers("/workdir", "/workdir/a/b"));
	assert_false(comet_path_covers("/workdir", "/workdir-evil"));
	assert_false(comet_path_covers("/workdir", "/work"));
	assert_true(comet_path_covers("/", "/anything"));
	assert_true(comet_path_covers("/", "/"));
}

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
	assert_refused("fs.read", "/proc/selfish");
	assert_refused("fs.read", "/proc/1x");
	assert_refused("fs.read", "/proc");
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

/* A directory of our own with links in it, and a policy that grants parts of it. */
struct tree {
	char directory[32];
	char paths[8][64];
	struct comet_manifest manifest;
	struct comet_entry read, write;
	struct comet_policy *policy;
};

static const char *in_tree(struct tree *tree, size_t slot, const char *name)
{
	snprintf(tree->paths[slot], sizeof(tree->paths[slot]), "%s/%s", tree->directory, name);
	return tree->paths[slot];
}

static void make_tree(struct tree *tree)
{
	FILE *file;

	memset(tree, 0, sizeof(*tree));
	strcpy(tree->directory, "/tmp/comet-explain-XXXXXX");
	assert_non_null(mkdtemp(tree->directory));
	assert_int_equal(mkdir(in_tree(tree, 0, "open"), 0700), 0);
	assert_int_equal(mkdir(in_tree(tree, 1, "closed"), 0700), 0);
	file = fopen(in_tree(tree, 2, "closed/secret"), "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(symlink("../closed/secret", in_tree(tree, 3, "open/out")), 0);
	assert_int_equal(symlink("../closed/new", in_tree(tree, 4, "open/dangling")), 0);
	assert_int_equal(symlink("open", in_tree(tree, 5, "alias")), 0);
	assert_int_equal(symlink("loop", in_tree(tree, 6, "open/loop")), 0);
	tree->manifest = manifest;
	tree->read = (struct comet_entry){ strdup(in_tree(tree, 7, "open")), AT(50) };
	tree->manifest.fs_read = &tree->read;
	tree->manifest.n_fs_read = 1;
	tree->write = (struct comet_entry){ strdup(in_tree(tree, 7, "alias")), AT(51) };
	tree->manifest.fs_write = &tree->write;
	tree->manifest.n_fs_write = 1;
	assert_int_equal(comet_policy_compile(&tree->manifest, NULL, &tree->policy, NULL), 0);
}

static void remove_tree(struct tree *tree)
{
	static const char *const names[] = { "open/loop", "alias", "open/dangling", "open/out",
					     "closed/secret", "closed", "open" };

	comet_policy_free(tree->policy);
	free(tree->read.text);
	free(tree->write.text);
	for (size_t i = 0; i < N(names); i++)
		assert_int_equal(remove(in_tree(tree, 7, names[i])), 0);
	assert_int_equal(rmdir(tree->directory), 0);
}

static void assert_in_tree(struct tree *tree, const char *surface, const char *name,
			   unsigned int line, const char *part)
{
	struct comet_answer answer = { 0 };

	assert_int_equal(comet_explain_query(&tree->manifest, tree->policy, surface,
					     in_tree(tree, 7, name), &answer, NULL),
			 0);
	if (answer.allowed != (line != 0) || answer.location.line != line)
		fail_msg("%s %s: allowed %d, line %u", surface, name, answer.allowed,
			 answer.location.line);
	if (part && (!answer.note || !strstr(answer.note, part)))
		fail_msg("%s %s: \"%s\"", surface, name, answer.note ? answer.note : "");
	comet_answer_clear(&answer);
}

static void what_a_path_leads_to_counts(void **state)
{
	struct tree tree;

	(void)state;
	make_tree(&tree);
	assert_in_tree(&tree, "fs.read", "open", 50, NULL);
	assert_in_tree(&tree, "fs.read", "open/new", 50, NULL);
	assert_in_tree(&tree, "fs.read", "closed/secret", 0, NULL);
	assert_in_tree(&tree, "fs.read", "open/out", 0, "closed/secret, which is not");
	/* An entry that is a link grants what it leads to, and so does a question. */
	assert_in_tree(&tree, "fs.write", "open/new", 51, NULL);
	assert_in_tree(&tree, "fs.write", "alias/new", 51, "open/new, which is granted");
	assert_in_tree(&tree, "fs.read", "alias/new", 50, "which is granted");
	assert_in_tree(&tree, "fs.write", "alias/out", 0, "which is not");
	/* A link to nothing: the file would be made where it points. */
	assert_in_tree(&tree, "fs.write", "open/dangling", 0, "closed/new");
	assert_in_tree(&tree, "fs.write", "alias/dangling", 0, "closed/new");
	assert_in_tree(&tree, "fs.read", "open/loop", 50, NULL);
	remove_tree(&tree);
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

static void questions_without_an_answer(void **state)
{
	static const struct {
		const char *surface, *resource, *part;
	} rows[] = {
		{ "fs.raed", "/x", "fs.read, fs.write, egress or exec" },
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

static void fixes_in_every_dialect(void **state)
{
	static const struct {
		enum comet_dialect dialect;
		enum comet_surface surface;
		const char *resource, *yaml;
	} rows[] = {
		{ COMET_DIALECT_SEED, COMET_SURFACE_EGRESS, "api.test:443/https",
		  "capabilities:\n  egress:\n    - host: api.test\n      port: 443\n"
		  "      protocol: https" },
		{ COMET_DIALECT_SPEC, COMET_SURFACE_EGRESS, "api.test:443/tcp",
		  "capabilities:\n  network.out:\n    - host: api.test\n      port: 443\n"
		  "      proto: https" },
		{ COMET_DIALECT_SPEC, COMET_SURFACE_EGRESS, "api.test:443/quic",
		  "capabilities:\n  network.out:\n    - host: api.test\n      port: 443\n"
		  "      proto: udp" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "[2001:db8::1]:53/udp",
		  "capabilities:\n  network_out:\n    - host: \"2001:db8::1\"\n      port: 53\n"
		  "      proto: quic" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "10.0.0.1:5432/tcp",
		  "capabilities:\n  network_out:\n    - host: \"10.0.0.1\"\n      port: 5432\n"
		  "      proto: http" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "api.test:50051/grpc",
		  "capabilities:\n  network_out:\n    - host: api.test\n      port: 50051\n"
		  "      proto: grpc" },
		{ COMET_DIALECT_SEED, COMET_SURFACE_DNS, "api.test.",
		  "capabilities:\n  egress:\n    - host: api.test\n      port: 443\n"
		  "      protocol: https" },
		{ COMET_DIALECT_SEED, COMET_SURFACE_FS_READ, "/data",
		  "capabilities:\n  fs:\n    read:\n      - /data" },
		{ COMET_DIALECT_SEED, COMET_SURFACE_FS_WRITE, "/data",
		  "capabilities:\n  fs:\n    write:\n      - /data" },
		{ COMET_DIALECT_SPEC, COMET_SURFACE_FS_READ, "/data",
		  "capabilities:\n  fs.read:\n    - /data" },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_WRITE, "/data",
		  "capabilities:\n  fs_write:\n    - /data" },
		{ COMET_DIALECT_GO, COMET_SURFACE_IPC, "/run/a.sock",
		  "capabilities:\n  fs_write:\n    - /run/a.sock" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EXEC, "git",
		  "capabilities:\n  exec:\n    - git" },
		{ COMET_DIALECT_SPEC, COMET_SURFACE_EXEC, "/opt/a/git",
		  "capabilities:\n  exec:\n    - /opt/a/git" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EXEC, "yes",
		  "capabilities:\n  exec:\n    - \"yes\"" },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/a \"b\"\\\n\x1b: #c",
		  "capabilities:\n  fs_read:\n    - \"/a \\\"b\\\"\\\\\\x0a\\x1b: #c\"" },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/\xe6\x97\xa5\xc2\x85\xe2\x80\xa8",
		  "capabilities:\n  fs_read:\n    - \"/\xe6\x97\xa5\\x85\\u2028\"" },
	};
	char text[COMET_FIX_MAX];

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		assert_int_equal(comet_explain_fix(rows[i].dialect, rows[i].surface,
						   rows[i].resource, text, sizeof(text)),
				 0);
		assert_string_equal(text, rows[i].yaml);
	}
}

/* The block stands alone in each of these, so that a fix can take its place. */
static const char *const frames[] = {
	[COMET_DIALECT_SEED] = "apiVersion: soyaos.ai/v0\nkind: Tool\nname: a\nversion: 1.0.0\n"
			       "description: d\nowner: o\nlicense: MIT\ninputs: {}\noutputs: {}\n",
	[COMET_DIALECT_SPEC] = "spec_version: soyapack.v0\nkind: Skill\nname: a\nversion: 1.0.0\n"
			       "description: d\nauthors: [{name: n}]\nlicense: MIT\n"
			       "runtime: {compat: '>=0'}\ndeterminism: pure\naffinity: any\n"
			       "entry: e\n",
	[COMET_DIALECT_GO] = "spec_version: soyapack.v0\nkind: Skill\nname: a\nversion: 1.0.0\n"
			     "description: d\nauthors: [{name: n}]\nlicense: MIT\n"
			     "runtime: {compat: '>=0'}\ndeterminism: pure\naffinity: any\n"
			     "entry: e\n",
};

static void assert_fixed_by(enum comet_dialect dialect, const char *surface, const char *resource,
			    const char *fix)
{
	struct comet_manifest *fixed = NULL;
	struct comet_policy *made = NULL;
	struct comet_answer answer = { 0 };
	struct comet_error error = { "" };
	char text[2048];
	int n = snprintf(text, sizeof(text), "%s%s\n", frames[dialect], fix);

	if (comet_manifest_parse("f", text, (size_t)n, false, &fixed, &error) != 0 ||
	    comet_policy_compile(fixed, NULL, &made, &error) != 0)
		fail_msg("%s\n%s", text, error.text);
	assert_null(fixed->unenforceable);
	/* A block with nothing but exec shows no dialect. */
	if (strcmp(surface, "exec") != 0)
		assert_int_equal(fixed->dialect, dialect);
	assert_int_equal(comet_explain_query(fixed, made, surface, resource, &answer, &error), 0);
	if (!answer.allowed)
		fail_msg("%s %s is not allowed by\n%s", surface, resource, text);
	comet_answer_clear(&answer);
	comet_policy_free(made);
	comet_manifest_free(fixed);
}

static void a_fix_does_what_it_says(void **state)
{
	static const char *const questions[][2] = {
		{ "fs.read", "/srv/x" },
		{ "fs.read", "/srv/a \"b\" \\ #: \xe6\x97\xa5\n\x1b" },
		{ "fs.write", "/srv/- x" },
		{ "egress", "api.test:443/https" },
		{ "egress", "api.test:443/tcp" },
		{ "egress", "api.test:22/tcp" },
		{ "egress", "api.test:50051/grpc" },
		{ "egress", "no:80/http" },
		{ "egress", "10.0.0.1:53/udp" },
		{ "egress", "[2001:db8::1]:443/quic" },
		{ "exec", "git" },
		{ "exec", "true" },
		{ "exec", "/opt/x/true" },
	};

	(void)state;
	for (int dialect = 0; dialect < _COMET_DIALECT_MAX; dialect++) {
		struct comet_manifest empty = manifest;
		struct comet_policy *made = NULL;

		empty.dialect = (enum comet_dialect)dialect;
		empty.n_egress = 0;
		empty.n_fs_read = 0;
		empty.n_fs_write = 0;
		empty.n_exec = 0;
		assert_int_equal(comet_policy_compile(&empty, NULL, &made, NULL), 0);
		for (size_t i = 0; i < N(questions); i++) {
			struct comet_answer answer = { 0 };

			assert_int_equal(comet_explain_query(&empty, made, questions[i][0],
							     questions[i][1], &answer, NULL),
					 0);
			assert_false(answer.allowed);
			assert_true(answer.fix || (dialect == COMET_DIALECT_SEED &&
						   answer.surface == COMET_SURFACE_EXEC));
			if (answer.fix)
				assert_fixed_by(empty.dialect, questions[i][0], questions[i][1],
						answer.fix);
			comet_answer_clear(&answer);
		}
		comet_policy_free(made);
	}
}

static void what_no_manifest_can_fix(void **state)
{
	static const struct {
		enum comet_dialect dialect;
		enum comet_surface surface;
		const char *resource;
		int code;
	} rows[] = {
		{ COMET_DIALECT_SEED, COMET_SURFACE_EXEC, "git", EOPNOTSUPP },
		{ COMET_DIALECT_GO, COMET_SURFACE_TIME, "clock_settime", EOPNOTSUPP },
		{ COMET_DIALECT_GO, COMET_SURFACE_KERNEL, "bpf", EOPNOTSUPP },
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "0.0.0.0:80/tcp", EOPNOTSUPP },
		{ _COMET_DIALECT_MAX, COMET_SURFACE_FS_READ, "/x", EOPNOTSUPP },
		{ COMET_DIALECT_GO, COMET_SURFACE_IPC, "@abstract", EINVAL },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "x", EINVAL },
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "api.test", EINVAL },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/a\xff", EILSEQ },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/\xc0\xaf", EILSEQ },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/\xed\xa0\x80", EILSEQ },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/\xe0\x80\xaf", EILSEQ },
		{ COMET_DIALECT_GO, COMET_SURFACE_FS_READ, "/\xe6\x97", EILSEQ },
	};
	char text[COMET_FIX_MAX];

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		strcpy(text, "old");
		assert_int_equal(comet_explain_fix(rows[i].dialect, rows[i].surface,
						   rows[i].resource, text, sizeof(text)),
				 -rows[i].code);
		assert_string_equal(text, "");
		if (rows[i].code == EOPNOTSUPP && rows[i].dialect < _COMET_DIALECT_MAX)
			assert_non_null(comet_explain_unfixable(rows[i].dialect, rows[i].surface));
	}
}

static void the_longest_fix_fits(void **state)
{
	char path[COMET_PATH_MAX], text[COMET_FIX_MAX];

	(void)state;
	memset(path, '\x01', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(comet_explain_fix(COMET_DIALECT_SEED, COMET_SURFACE_FS_READ, path, text,
					   sizeof(text)),
			 0);
	assert_int_equal(comet_explain_fix(COMET_DIALECT_SEED, COMET_SURFACE_FS_READ, path, text,
					   2000),
			 -ENOBUFS);
	assert_string_equal(text, "");
}

static char *print_all(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	comet_explain_print(out, &manifest, policy);
	fclose(out);
	return text;
}

static void every_grant_is_printed_with_its_line(void **state)
{
	static const char *const parts[] = {
		"pack@1.0.0 · Agent · soyapack.yaml\n",
		"\nexec: programs",
		"  api.test:443/https      soyapack.yaml:10:9\n",
		"  *.cdn.test:443/https    soyapack.yaml:11:9  nothing yet",
		"  *:80/http               soyapack.yaml:15:9  public addresses only\n",
		"  10.0.0.0/8:53/udp       soyapack.yaml:13:9\n",
		"  [2001:db8::1]:443/quic  soyapack.yaml:14:9\n",
		"  /workdir/inputs         soyapack.yaml:21:9\n",
		"  /workdir/out            soyapack.yaml:30:9\n",
		"  no-such-tool            soyapack.yaml:41:9\n",
		"  169.254.169.254     cloud metadata\n",
		"  127.0.0.53 port 53\n",
		"    read        /usr\n",
		"    read write  /dev/null\n",
		"    stat        /proc/self (the link)\n",
		"    ~ (itself)\n",
		"    ~/.ssh\n",
		"    /etc/shadow\n",
	};
	char *text = print_all();

	(void)state;
	for (size_t i = 0; i < N(parts); i++)
		if (!strstr(text, parts[i]))
			fail_msg("missing: %s", parts[i]);
	assert_null(strchr(text, '\033'));
	free(text);
}

static void an_empty_manifest_prints_that_nothing_is_declared(void **state)
{
	struct comet_manifest empty = { .file = (char *)"f", .name = (char *)"n",
					.version = (char *)"1", .kind = (char *)"Skill" };
	struct comet_policy *made = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int n = 0;

	(void)state;
	assert_int_equal(comet_policy_compile(&empty, NULL, &made, NULL), 0);
	comet_explain_print(out, &empty, made);
	fclose(out);
	for (const char *at = text; (at = strstr(at, "nothing declared")); at++)
		n++;
	assert_int_equal(n, 4);
	assert_null(strstr(text, "cloud metadata"));
	comet_policy_free(made);
	free(text);
}

static void assert_printed(const char *surface, const char *resource, const char *expected)
{
	struct comet_answer answer = ask(surface, resource);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	comet_answer_print(out, &manifest, &answer);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	comet_answer_clear(&answer);
}

static void answers_are_printed_with_line_or_remedy(void **state)
{
	(void)state;
	assert_printed("fs.write", "/workdir/out/x",
		       "allowed: fs.write /workdir/out/x\n"
		       "  by /workdir/out, soyapack.yaml:30:9\n");
	assert_printed("fs.read", "/usr/no-such-file",
		       "allowed: fs.read /usr/no-such-file\n"
		       "  by /usr, base set\n");
	assert_printed("fs.write", "/data/set/x",
		       "not allowed: fs.write /data/set/x\n"
		       "  no match\n"
		       "  It answers EACCES, and to try is a violation.\n"
		       "  to allow it, add to soyapack.yaml:\n"
		       "    capabilities:\n"
		       "      fs_write:\n"
		       "        - /data/set/x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleaned_paths),
		cmocka_unit_test(a_prefix_ends_at_a_component),
		cmocka_unit_test(reads),
		cmocka_unit_test(writes),
		cmocka_unit_test(the_base_set_answers_for_itself),
		cmocka_unit_test(the_nearest_mark_decides),
		cmocka_unit_test(notes_tell_what_happens),
		cmocka_unit_test(what_a_path_leads_to_counts),
		cmocka_unit_test(destinations),
		cmocka_unit_test(the_matched_entry_is_shown),
		cmocka_unit_test(programs),
		cmocka_unit_test(questions_without_an_answer),
		cmocka_unit_test(fixes_in_every_dialect),
		cmocka_unit_test(a_fix_does_what_it_says),
		cmocka_unit_test(what_no_manifest_can_fix),
		cmocka_unit_test(the_longest_fix_fits),
		cmocka_unit_test(every_grant_is_printed_with_its_line),
		cmocka_unit_test(an_empty_manifest_prints_that_nothing_is_declared),
		cmocka_unit_test(answers_are_printed_with_line_or_remedy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
