// SPDX-License-Identifier: Apache-2.0
/* Does a reader see every grant with its line, and the remedy of a refusal? */
#include "tests/unit/test_explain.h"

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
		"  8080/tcp                soyapack.yaml:50:9\n",
		"  53/udp                  soyapack.yaml:51:9\n",
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
	struct comet_manifest empty = { .file = (char *)"f",
					.name = (char *)"n",
					.version = (char *)"1",
					.kind = (char *)"Skill" };
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
	assert_int_equal(n, 5);
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
		       "  to allow it, merge into the capabilities block, soyapack.yaml:23:7:\n"
		       "    capabilities:\n"
		       "      fs_write:\n"
		       "        - /data/set/x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_grant_is_printed_with_its_line),
		cmocka_unit_test(an_empty_manifest_prints_that_nothing_is_declared),
		cmocka_unit_test(answers_are_printed_with_line_or_remedy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
