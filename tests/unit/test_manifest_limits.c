// SPDX-License-Identifier: Apache-2.0
/* Is what a manifest can cost bounded, and is half of one ever more than the whole? */
#define _GNU_SOURCE 1
#include <sys/resource.h>
#include <time.h>

#include "test_manifest.h"

#define OK "Agent soyapack.v0/clerk@1.2.3"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Three hundred bytes that would be a billion nodes. */
static void test_alias_bombs(void **state)
{
	static const char bomb[] = "x-a: &a [x,x,x,x,x,x,x,x,x]\n"
				   "x-b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
				   "x-c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
				   "x-d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
				   "x-e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
				   "x-f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
				   "x-g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
	static const char *const bases[] = { GO_MANIFEST, SEED_MANIFEST };
	double start = seconds();

	(void)state;
	assert_in_range(strlen(bomb), 200, 300);
	for (size_t i = 0; i < COMET_ARRAY_SIZE(bases); i++) {
		char *text = NULL;
		char *shown;

		assert_true(asprintf(&text, "%s%s", bases[i], bomb) > 0);
		shown = read_and_show(text, false);
		assert_non_null(strstr(shown, "error: "));
		assert_non_null(strstr(shown, "document contains excessive aliasing"));
		free(shown);
		free(text);
	}
	assert_true(seconds() - start < 1.0);
}

static char *repeat(const char *head, const char *part, size_t count, const char *tail)
{
	size_t length = strlen(part);
	char *text = malloc(strlen(head) + length * count + strlen(tail) + 1);
	char *end;

	assert_non_null(text);
	end = stpcpy(text, head);
	for (size_t i = 0; i < count; i++)
		end = stpcpy(end, part);
	stpcpy(end, tail);
	return text;
}

static void check_repeated(const char *head, const char *part, size_t count, const char *tail,
			   const char *expected)
{
	double start = seconds();
	char *text = repeat(head, part, count, tail);
	char *shown = read_and_show(text, false);

	if (!strstr(shown, expected))
		print_error("wanted: %s\nfound:  %.500s\n", expected, shown);
	assert_non_null(strstr(shown, expected));
	assert_true(seconds() - start < 20.0);
	free(shown);
	free(text);
}

static void test_size_limits(void **state)
{
	char *go = edit(GO_MANIFEST, "fs_read: [/workdir]", "fs_read:");
	char *cut_go = strndup(go, (size_t)(strstr(go, "    fs_write") - go));
	char *seed = edit(SEED_MANIFEST, "inputs: {type: object}\n", "");
	char *cut_seed = edit(seed, "read: [/workdir]\n    write: [/workdir/out]\n", "");
	char *closing = repeat("", "]", 200, "\n");
	struct rusage usage;

	(void)state;
	check_repeated(cut_go, "    - /some/path\n", 20000, "", "read /some/path (20019:7)\n");
	check_repeated(
		cut_go, "    - /some/path\n", 20001, "",
		"not to be run: pack.yaml:20:5: expected at most 20000 entries, found 20001");
	check_repeated(cut_go, "    - /some/path\n", 100000, "", "entries, found 100000");
	check_repeated(cut_go, "    - /some/path/that/is/long/enough/to/make/ten/megabytes\n",
		       170000, "", "entries, found 170000");
	check_repeated(cut_go, "    - a\n", 1000000, "",
		       "expected at most 500000 values and keys, found more");
	check_repeated(SEED_MANIFEST, "# ten megabytes of comment\n", 400000, "", "words of seed");
	check_repeated(SEED_MANIFEST, "# seventeen megabytes of comment\n", 600000, "",
		       "error:  expected at most 16777216 bytes, found more");
	check_repeated(GO_MANIFEST "x-deep: ", "[", 199, closing + 1, OK);
	check_repeated(GO_MANIFEST "x-deep: ", "[", 200, closing,
		       "expected at most 200 lists and maps inside each other, found more");
	check_repeated(GO_MANIFEST "x-deep: ", "[", 5000, "",
		       "expected at most 200 lists and maps inside each other, found more");
	check_repeated(GO_MANIFEST "x-deep:\n", "? ", 5000, "\n",
		       "expected at most 200 lists and maps inside each other, found more");
	check_repeated(cut_go, "    ", 1, "- \"/", "error: ");
	check_repeated(
		GO_MANIFEST "x-tags: [",
		"!<tag:yaml.org,2002:"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx> a,",
		1, "]\n", "expected a tag of at most 256 bytes, found a longer one");
	check_repeated("", "%TAG !e! tag:x\n", 101, "---\na: b\n",
		       "error: 1:1: expected at most 100 %TAG directives, found more");
	check_repeated("", "%TAG ! tag:x\n", 1, "---\n" GO_MANIFEST, OK);
	check_repeated(cut_seed, "x-a: 1\n", 1001, "", "mapping key \"x-a\" already defined");
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	/* Kilobytes, the sanitizer's own share included. */
	assert_true(usage.ru_maxrss < 1500000);
	free(go);
	free(cut_go);
	free(seed);
	free(cut_seed);
	free(closing);
}

/* One path of a megabyte, one of the longest length that there is, and one byte more. */
static void test_long_paths(void **state)
{
	char *go = edit(GO_MANIFEST, "fs_read: [/workdir]", "fs_read: [\"");
	char *head = strndup(go, (size_t)(strstr(go, "\n    fs_write") - go));

	(void)state;
	check_repeated(head, "/abcd", 819, "\"]\n", "read /abcd");
	check_repeated(head, "/abcd", 818, "/abcde\"]\n", "a path has at most 4095 bytes");
	check_repeated(head, "/abcd", 820, "\"]\n", "a path has at most 4095 bytes");
	check_repeated(head, "/abcdefghi", 100000, "\"]\n", "a path has at most 4095 bytes");
	free(go);
	free(head);
}

/* Is each line of inner, places aside, one of outer's? */
static bool is_within(const struct comet_manifest *inner, const struct comet_manifest *outer)
{
	for (size_t i = 0; i < inner->n_egress; i++) {
		const struct comet_egress *a = &inner->egress[i];
		bool found = false;

		for (size_t j = 0; j < outer->n_egress && !found; j++)
			found = strcmp(a->host, outer->egress[j].host) == 0 &&
				a->port == outer->egress[j].port &&
				a->protocol == outer->egress[j].protocol;
		if (!found)
			return false;
	}
	for (unsigned int list = 0; list < 3; list++) {
		const struct comet_entry *a = list == 0   ? inner->fs_read
					      : list == 1 ? inner->fs_write
							  : inner->exec;
		const struct comet_entry *b = list == 0   ? outer->fs_read
					      : list == 1 ? outer->fs_write
							  : outer->exec;
		size_t n = list == 0   ? inner->n_fs_read
			   : list == 1 ? inner->n_fs_write
				       : inner->n_exec;
		size_t m = list == 0   ? outer->n_fs_read
			   : list == 1 ? outer->n_fs_write
				       : outer->n_exec;

		for (size_t i = 0; i < n; i++) {
			bool found = false;

			for (size_t j = 0; j < m && !found; j++)
				found = strcmp(a[i].text, b[j].text) == 0;
			if (!found)
				return false;
		}
	}
	return true;
}

/* Cut after every byte: refused, not to be run, or at most what the whole grants. */
static void test_no_prefix_grants_more(void **state)
{
	static const char *const texts[] = {
		GO_MANIFEST,
		SEED_MANIFEST,
		GO_MANIFEST "x-last: [a]\n",
		"spec_version: soyapack.v0\nkind: Skill\nname: a\nversion: 1.0.0\ndescription: d\n"
		"authors: [{name: x}]\nlicense: MIT\nruntime: {compat: a}\ndeterminism: pure\nentry: e\n"
		"capabilities:\n  network.out:\n  - proto: tcp\n    host: api.example.com\n    port: 443\n"
		"  fs.read:\n  - /workdir\n  - &a /data/in\n  - &ab /data/out\n  fs.write:\n  - *ab\n"
		"  exec:\n  - git\n  - |-\n    make\n  - >-\n    cmake\n  - 'sh'\n",
		"apiVersion: soyaos.ai/v0\nkind: Tool\nname: a\nversion: 1.0.0\ndescription: d\n"
		"owner: o\nlicense: MIT\ninputs: {}\noutputs: {}\n"
		"capabilities:\n  egress:\n  - protocol: https\n    host: api.example.com\n    port: 443\n"
		"  fs:\n    write:\n    - /data/out\n    read:\n    - /workdir/in\n",
	};
	size_t accepted = 0;

	(void)state;
	for (size_t t = 0; t < COMET_ARRAY_SIZE(texts); t++) {
		struct comet_manifest *whole = NULL;
		size_t size = strlen(texts[t]);

		assert_int_equal(comet_manifest_parse("whole", texts[t], size, false, &whole, NULL),
				 0);
		assert_null(whole->unenforceable);
		for (size_t n = 0; n < size; n++) {
			struct comet_manifest *part = NULL;

			if (comet_manifest_parse("part", texts[t], n, false, &part, NULL) < 0)
				continue;
			accepted += !part->unenforceable;
			if (!part->unenforceable && !is_within(part, whole))
				fail_msg("text %zu grants more after %zu bytes", t, n);
			comet_manifest_free(part);
		}
		comet_manifest_free(whole);
	}
	/* The check must not hold for want of prefixes that are accepted at all. */
	assert_true(accepted > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alias_bombs),
		cmocka_unit_test(test_size_limits),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_no_prefix_grants_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
