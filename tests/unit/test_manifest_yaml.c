// SPDX-License-Identifier: Apache-2.0
/* What YAML is read, in which bytes, and what is told of a file that goes on or ends too soon? */
#define _GNU_SOURCE 1
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
		{ "name: clerk", "name: \xff", "error: 3:7: " PARSE "invalid leading UTF-8 octet" },
		{ "name: clerk", "name: \xc3(",
		  "error: 3:8: " PARSE "invalid trailing UTF-8 octet" },
		{ "name: clerk", "name: \x01",
		  "error: 3:7: " PARSE "control characters are not allowed" },
		{ "exec: [git]", "exec: [git",
		  "error: 22:21: " PARSE "line 20: did not find expected ',' or ']'" },
		{ "exec: [git]", "exec: *missing",
		  "error: 21:11: " PARSE "unknown anchor 'missing' referenced" },
		{ "exec: [git]", "exec: [g?t]",
		  "error: 21:12: " PARSE "line 20: did not find expected ',' or ']'" },
		{ "exec: [git]", "exec: [\"g?t\"]", "exec g?t" },
		{ "exec: [git]", "exec: [git, ]", "exec git" },
		{ "exec: [git]", "exec: [\n  git,\n  sh ]", "exec git (22:3)\nexec sh (23:3)\n" },
		{ "exec: [git]", "exec:\n    - git\n    - 'sh'\n    - |-\n     make",
		  "exec git (22:7)\nexec sh (23:7)\nexec make (24:7)\n" },
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
		{ "[/workdir]", "[&w /workdir, *w]",
		  "read /workdir (19:15)\nread /workdir (19:15)\n" },
		{ "{host: api.example.com, port: 443, proto: https}",
		  "&base {host: a.example, port: 443, proto: https}\n      - {<<: *base, host: b.example}",
		  "egress a.example:443/https (18:22)\negress b.example:443/https (19:27)\n" },
		{ "{host: api.example.com, port: 443, proto: https}",
		  "{<<: [{port: 1, proto: http}, {port: 2, host: h}], proto: grpc}",
		  "egress h:1/grpc (18:55)\n" },
		{ "sandbox:\n",
		  "x-base: &b {image: other, isolation: process}\nsandbox:\n  <<: *b\n",
		  "isolation container" },
		{ "isolation: container\n", "<<: {isolation: process, image: y}\n",
		  "isolation process" },
		{ "sandbox:", "x-a: &a [*a]\nsandbox:",
		  "error: 12:10: soyapack: parse: soyapack: decode extension \"x-a\": yaml: anchor 'a' value contains itself" },
		{ "isolation: container", "<<: text",
		  "error: 14:7: " PARSE "map merge requires map or sequence of maps as the value" },
		{ "exec: [git]", "unread: &a [*a]", OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
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
		{ "---\nname: elsewhere\n",
		  "warning 23:1: only the first document is read, and another follows here\n" },
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
	assert_string_equal(
		shown,
		"error: 18:1: expected the end of the file, found text that does not belong to the document above (it is indented less, or a directive)");
	free(shown);
	free(text);

	text = edit(GO_MANIFEST, "name", BOM "name");
	shown = read_and_show(text, false);
	assert_string_equal(
		shown,
		"error: 3:1: expected a byte-order mark only at the start of the file, found one at the start of a line");
	free(shown);
	free(text);
}

static void test_cut_words_are_told(void **state)
{
	static const char cut[] =
		"expected a newline after the last line, found the end of the file in ";
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
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_what_follows_the_document),
		cmocka_unit_test(test_cut_words_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
