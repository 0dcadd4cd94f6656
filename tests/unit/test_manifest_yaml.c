// SPDX-License-Identifier: Apache-2.0
/* What YAML is read, how is it bounded, and is half a manifest ever more than a whole one? */
#define _GNU_SOURCE 1
#include <sys/resource.h>
#include <time.h>

#include "test_manifest.h"

#define PARSE "soyapack: parse: yaml: "
#define OK "Agent soyapack.v0/clerk@1.2.3"
#define BOM "\xef\xbb\xbf"

static void test_syntax(void **state)
{
	static const struct vector vectors[] = {
		{ "  image", "\timage",
		  "error: 13:1: " PARSE "line 13: found character that cannot start any token" },
		{ "kind", "\tkind",
		  "error: 2:1: " PARSE "line 2: found a tab character that violates indentation" },
		{ "exec: [git]", "exec:\t[git]\t", "exec git" },
		{ "name: clerk", "name: \xff",
		  "error: 3:7: " PARSE "invalid leading UTF-8 octet" },
		{ "name: clerk", "name: \xc3(", "error: 3:8: " PARSE "invalid trailing UTF-8 octet" },
		{ "name: clerk", "name: \x01",
		  "error: 3:7: " PARSE "control characters are not allowed" },
		{ "exec: [git]", "exec: [git", "error: 22:21: " PARSE "line 20: did not find expected ',' or ']'" },
		{ "exec: [git]", "exec: *missing",
		  "error: 21:11: " PARSE "unknown anchor 'missing' referenced" },
		{ "exec: [git]", "exec: [g?t]",
		  "error: 21:12: " PARSE "line 20: did not find expected ',' or ']'" },
		{ "exec: [git]", "exec: [\"g?t\"]", "exec g?t" },
		{ "exec: [git]", "exec: [git, ]", "exec git" },
		{ "exec: [git]", "exec: [\n  git,\n  sh ]", "exec git (22:3)\nexec sh (23:3)\n" },
		{ "exec: [git]", "exec:\n    - git\n    - 'sh'\n    - |-\n     make", "exec git (22:7)\nexec sh (23:7)\nexec make (24:7)\n" },
		{ "spec_version", "--- # start\nspec_version", OK },
		{ "spec_version", "%YAML 1.1\n---\nspec_version", OK },
		{ "spec_version", "%YAML 1.2\n---\nspec_version",
		  "error: 1:1: " PARSE "found incompatible YAML document" },
		{ "spec_version", "%OTHER 1\n---\nspec_version",
		  "error: 1:7: " PARSE "found unknown directive name" },
		{ "exec: [git]", "exec: [git] # done", "exec git" },
		{ "image: html-base@0.1.0", "image: !custom x", OK },
		{ "budget_seconds_max: 60", "budget_seconds_max: !!int x",
		  "error: 15:23: " PARSE "cannot decode !!str `x` as a !!int" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_anchors_aliases_and_merges(void **state)
{
	static const struct vector vectors[] = {
		{ "fs_read: [/workdir]\n    fs_write: [/workdir/out]",
		  "fs_read: &p [/a, /b]\n    fs_write: *p",
		  "read /a (19:18)\nread /b (19:22)\nwrite /a (19:18)\nwrite /b (19:22)\n" },
		{ "[/workdir]", "[&w /workdir, *w]", "read /workdir (19:15)\nread /workdir (19:15)\n" },
		{ "{host: api.example.com, port: 443, proto: https}",
		  "&base {host: a.example, port: 443, proto: https}\n      - {<<: *base, host: b.example}",
		  "egress a.example:443/https (18:22)\negress b.example:443/https (19:27)\n" },
		{ "{host: api.example.com, port: 443, proto: https}",
		  "{<<: [{port: 1, proto: http}, {port: 2, host: h}], proto: grpc}",
		  "egress h:1/grpc (18:55)\n" },
		{ "sandbox:\n", "x-base: &b {image: other, isolation: process}\nsandbox:\n  <<: *b\n",
		  "isolation container" },
		{ "isolation: container\n", "<<: {isolation: process, image: y}\n", "isolation process" },
		{ "sandbox:", "x-a: &a [*a]\nsandbox:",
		  "error: 12:10: soyapack: parse: soyapack: decode extension \"x-a\": yaml: anchor 'a' value contains itself" },
		{ "isolation: container", "<<: text",
		  "error: 14:7: " PARSE "map merge requires map or sequence of maps as the value" },
		{ "exec: [git]", "unread: &a [*a]", OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

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
	struct rusage usage;

	(void)state;
	check_repeated(cut_go, "    - /some/path\n", 20000, "", "read /some/path (20019:7)\n");
	check_repeated(cut_go, "    - /some/path\n", 20001, "",
		       "not to be run: pack.yaml:20:5: expected at most 20000 entries, found 20001");
	check_repeated(cut_go, "    - /some/path\n", 100000, "", "entries, found 100000");
	check_repeated(cut_go, "    - /some/path/that/is/long/enough/to/make/ten/megabytes\n", 170000,
		       "", "entries, found 170000");
	check_repeated(cut_go, "    - a\n", 1000000, "",
		       "expected at most 500000 values and keys, found more");
	check_repeated(SEED_MANIFEST, "# ten megabytes of comment\n", 400000, "", "words of seed");
	check_repeated(SEED_MANIFEST, "# seventeen megabytes of comment\n", 600000, "",
		       "error:  expected at most 16777216 bytes, found more");
	check_repeated(GO_MANIFEST "x-deep: ", "[", 5000, "",
		       "expected at most 200 lists and maps inside each other, found more");
	check_repeated(GO_MANIFEST "x-deep:\n", "? ", 5000, "\n",
		       "expected at most 200 lists and maps inside each other, found more");
	check_repeated(cut_go, "    ", 1, "- \"/", "error: ");
	check_repeated(GO_MANIFEST "x-tags: [", "!<tag:yaml.org,2002:"
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
}

/* One path of a megabyte, one of the longest length that there is, and one byte more. */
static void test_long_paths(void **state)
{
	char *go = edit(GO_MANIFEST, "fs_read: [/workdir]", "fs_read: [\"");
	char *head = strndup(go, (size_t)(strstr(go, "\n    fs_write") - go));

	(void)state;
	check_repeated(head, "/abcd", 819, "\"]\n", "read /abcd");
	check_repeated(head, "/abcd", 820, "\"]\n", "a path has at most 4095 bytes");
	check_repeated(head, "/abcdefghi", 100000, "\"]\n", "a path has at most 4095 bytes");
	free(go);
	free(head);
}

/* The same manifest in other bytes is the same policy. */
static void test_encodings(void **state)
{
	char *plain = read_and_show(SEED_MANIFEST, false);
	char *with_bom;
	char *text;
	char *out;

	(void)state;
	assert_true(asprintf(&text, BOM "%s", SEED_MANIFEST) > 0);
	with_bom = read_and_show(text, false);
	assert_string_equal(plain, with_bom);
	free(with_bom);
	free(text);

	for (unsigned int form = 0; form < 3; form++) {
		static const char *const breaks[] = { "\r\n", "\r", "  \n" };
		char *shown;

		text = calloc(3, strlen(SEED_MANIFEST) + 1);
		assert_non_null(text);
		out = text;
		for (const char *in = SEED_MANIFEST; *in; in++) {
			if (*in == '\n')
				out = stpcpy(out, breaks[form]);
			else
				*out++ = *in;
		}
		shown = read_and_show(text, false);
		assert_string_equal(plain, shown);
		free(shown);
		free(text);
	}

	for (unsigned int little = 0; little < 2; little++) {
		size_t n = strlen(SEED_MANIFEST);
		char *shown;

		text = calloc(2, n + 1);
		assert_non_null(text);
		text[0] = little ? '\xff' : '\xfe';
		text[1] = little ? '\xfe' : '\xff';
		for (size_t i = 0; i < n; i++)
			text[2 + 2 * i + !little] = SEED_MANIFEST[i];
		shown = read_and_show_bytes(text, 2 * n + 2, false);
		assert_string_equal(plain, shown);
		free(shown);
		free(text);
	}
	free(plain);
}

static void test_what_follows_the_document(void **state)
{
	static const struct {
		const char *tail;
		const char *expected;
	} rows[] = {
		{ "---\nname: elsewhere\n", "warning 23:1: only the first document is read, and another follows here\n" },
		{ "---\n: : [\n", "warning 23:1: only the first document is read" },
		{ "...\n", "exec git" },
		{ "...\nname: elsewhere\n", "only the first document is read" },
		{ "%YAML 1.1\n---\nname: more\n",
		  "not to be run: pack.yaml:23:1: expected the end of the file, found text that does not belong to the document above" },
	};
	char *text;
	char *shown;

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		assert_true(asprintf(&text, "%s%s", GO_MANIFEST, rows[i].tail) > 0);
		shown = read_and_show(text, false);
		if (!strstr(shown, rows[i].expected))
			print_error("wanted: %s\nfound:  %s\n", rows[i].expected, shown);
		assert_non_null(strstr(shown, rows[i].expected));
		assert_null(strstr(shown, "elsewhere"));
		free(shown);
		free(text);
	}
	text = edit(SEED_MANIFEST, "inputs", "%YAML 1.1\n---\ninputs");
	shown = read_and_show(text, false);
	assert_string_equal(shown,
			    "error: 18:1: expected the end of the file, found text that does not belong to the document above (it is indented less, or a directive)");
	free(shown);
	free(text);

	text = edit(GO_MANIFEST, "name", BOM "name");
	shown = read_and_show(text, false);
	assert_string_equal(shown,
			    "error: 3:1: expected a byte-order mark only at the start of the file, found one at the start of a line");
	free(shown);
	free(text);
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
		const struct comet_entry *a = list == 0 ? inner->fs_read :
					      list == 1 ? inner->fs_write :
							  inner->exec;
		const struct comet_entry *b = list == 0 ? outer->fs_read :
					      list == 1 ? outer->fs_write :
							  outer->exec;
		size_t n = list == 0 ? inner->n_fs_read :
			   list == 1 ? inner->n_fs_write :
				       inner->n_exec;
		size_t m = list == 0 ? outer->n_fs_read :
			   list == 1 ? outer->n_fs_write :
				       outer->n_exec;

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

static void test_cut_words_are_told(void **state)
{
	static const char cut[] = "expected a newline after the last line, found the end of the file in ";
	size_t whole = strlen(GO_MANIFEST) - strlen("    determinism_tier: read-only\n");
	char *text = strndup(GO_MANIFEST, whole);
	char *block = edit(text, "exec: [git]\n", "exec:\n    - git");
	char *shown = read_and_show(block, false);

	(void)state;
	assert_non_null(strstr(shown, cut));
	assert_non_null(strstr(shown, "not to be run: pack.yaml:22:7: "));
	assert_null(strstr(shown, "exec git"));
	free(shown);
	shown = edit(block, "- git", "- git\n");
	free(block);
	block = read_and_show(shown, true);
	assert_non_null(strstr(block, "exec git"));
	free(block);
	free(shown);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_anchors_aliases_and_merges),
		cmocka_unit_test(test_alias_bombs),
		cmocka_unit_test(test_size_limits),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_what_follows_the_document),
		cmocka_unit_test(test_no_prefix_grants_more),
		cmocka_unit_test(test_cut_words_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
