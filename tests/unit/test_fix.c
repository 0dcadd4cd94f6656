// SPDX-License-Identifier: Apache-2.0
/* Does the proposed YAML allow what was refused? */
#include "tests/unit/test_explain.h"

#include "manifest/fix.h"

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
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "[fe80::1%Eth0]:53/udp",
		  "capabilities:\n  network_out:\n    - host: \"fe80::1%Eth0\"\n      port: 53\n"
		  "      proto: quic" },
		{ COMET_DIALECT_GO, COMET_SURFACE_EGRESS, "[ff02::1%eth0]:53/udp",
		  "capabilities:\n  network_out:\n    - host: \"ff02::1\"\n      port: 53\n"
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
		{ COMET_DIALECT_SEED, COMET_SURFACE_SERVE, "0.0.0.0:8080/tcp",
		  "capabilities:\n  serve:\n    - 8080" },
		{ COMET_DIALECT_SPEC, COMET_SURFACE_SERVE, "[::]:53/udp",
		  "capabilities:\n  serve:\n    - 53/udp" },
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "127.0.0.1:65535/tcp",
		  "capabilities:\n  serve:\n    - 65535" },
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "1/udp",
		  "capabilities:\n  serve:\n    - 1/udp" },
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
	/* A block with nothing but these shows no dialect. */
	if (strcmp(surface, "exec") != 0 && strcmp(surface, "serve") != 0)
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
		{ "serve", "8080" },
		{ "serve", "53/udp" },
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
		empty.n_serve = 0;
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
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "0.0.0.0:0/tcp", EINVAL },
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "0.0.0.0:80/sctp", EINVAL },
		{ COMET_DIALECT_GO, COMET_SURFACE_SERVE, "*", EINVAL },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixes_in_every_dialect),
		cmocka_unit_test(a_fix_does_what_it_says),
		cmocka_unit_test(what_no_manifest_can_fix),
		cmocka_unit_test(the_longest_fix_fits),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
