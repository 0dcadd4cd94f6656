// SPDX-License-Identifier: Apache-2.0
/* Which files make a pack, and what do their places on the disk mean? */
#define _GNU_SOURCE 1
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_manifest.h"

#define BOTH "expected one capabilities block, found this file beside the block in the manifest"

static char directory[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/comet-test-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static void path_of(const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", directory, name);
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	path_of(name, path);
	out = fopen(path, "we");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static int tear_down(void **state)
{
	static const char *const names[] = { "soyapack.yaml", "capabilities.yml", "other.yaml" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(names); i++) {
		path_of(names[i], path);
		unlink(path);
		rmdir(path);
	}
	return rmdir(directory);
}

/* Everything of the pack with the directory's name cut out, or "error: ...". */
static char *load(const char *name, bool strict)
{
	struct comet_manifest *manifest = NULL;
	struct comet_error error = { "" };
	char path[256];
	char *text;
	char *at;

	if (*name)
		path_of(name, path);
	else
		snprintf(path, sizeof(path), "%s", directory);
	if (comet_manifest_load(path, strict, &manifest, &error) < 0) {
		assert_null(manifest);
		assert_true(asprintf(&text, "error: %s", error.text) > 0);
	} else {
		text = show(manifest);
		comet_manifest_free(manifest);
	}
	while ((at = strstr(text, directory)))
		memmove(at, at + strlen(directory), strlen(at + strlen(directory)) + 1);
	return text;
}

static void check_load(const char *name, bool strict, const char *expected)
{
	char *shown = load(name, strict);

	if (!strstr(shown, expected))
		print_error("wanted: %s\nfound:  %s\n", expected, shown);
	assert_non_null(strstr(shown, expected));
	free(shown);
}

static void test_directory_or_file(void **state)
{
	struct comet_manifest *manifest = NULL;
	char path[256];

	(void)state;
	put("soyapack.yaml", GO_MANIFEST);
	put("other.yaml", SEED_MANIFEST);
	check_load("", false, "Agent soyapack.v0/clerk@1.2.3");
	check_load("soyapack.yaml", false, "Agent soyapack.v0/clerk@1.2.3");
	check_load("other.yaml", false, "Agent soyaos.ai/v0/clerk@1.2.3");

	assert_int_equal(comet_manifest_load(directory, false, &manifest, NULL), 0);
	path_of("soyapack.yaml", path);
	assert_string_equal(manifest->file, path);
	assert_string_equal(manifest->directory, directory);
	assert_string_equal(manifest->egress[0].location.file, path);
	comet_manifest_free(manifest);

	manifest = NULL;
	snprintf(path, sizeof(path), "%s/", directory);
	assert_int_equal(comet_manifest_load(path, false, &manifest, NULL), 0);
	assert_string_equal(manifest->directory, directory);
	comet_manifest_free(manifest);
}

static void test_files_that_cannot_be_read(void **state)
{
	struct comet_error error;
	struct comet_manifest *manifest = NULL;
	char path[256];

	(void)state;
	check_load(
		"", false,
		"error: soyapack: open /soyapack.yaml: open /soyapack.yaml: no such file or directory");
	check_load("absent", false,
		   "error: soyapack: open /absent: open /absent: no such file or directory");
	path_of("soyapack.yaml", path);
	assert_int_equal(mkdir(path, 0700), 0);
	check_load("", false, "error: soyapack: read: read /soyapack.yaml: is a directory");
	path_of("other.yaml", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_load("other.yaml", false, "error: /other.yaml:1:1: soyapack: invalid manifest: ");
	assert_int_equal(comet_manifest_load("no\033such\nfile", false, &manifest, &error),
			 -ENOENT);
	assert_string_equal(
		error.text,
		"soyapack: open no\\x1bsuch\\nfile: open no\\x1bsuch\\nfile: no such file or directory");
}

static void test_block_in_a_file_of_its_own(void **state)
{
	char *text = edit(GO_MANIFEST, "  capabilities:\n", "  x:\n");
	static const char outside[] =
		"upstream does not read capabilities.yml: to it the pack declares nothing";

	(void)state;
	put("soyapack.yaml", text);
	check_load("", true, "words of go\nisolation container\nbudget 60\n");
	put("capabilities.yml",
	    "capabilities:\n  network.out:\n    - {host: a.example.com, port: 53, proto: udp}\n  fs.read: [/data]\n");
	check_load(
		"", false,
		"words of spec\nisolation container\nbudget 60\negress a.example.com:53/udp (3:14)\nread /data (4:13)\n");
	check_load("", false, outside);
	check_load("", true, outside);
	check_load("soyapack.yaml", false, "read /data (4:13)\n");
	put("capabilities.yml", "fs_read: [/data]\nexec: [git]\n");
	check_load(
		"", false,
		"words of go\nisolation container\nbudget 60\nread /data (1:11)\nexec git (2:8)\n");
	put("capabilities.yml", "fs: {write: [/data]}\n");
	check_load("", false,
		   "words of seed\nisolation container\nbudget 60\nwrite /data (1:14)\n");
	put("capabilities.yml", "# nothing\n");
	check_load("", false, "words of go\nisolation container\nbudget 60\n");
	put("capabilities.yml", "fs_read: [data]\n");
	check_load(
		"", false,
		"error: /capabilities.yml:1:11: expected an absolute path, found \"data\" (write an absolute path, one that starts with \"/\")");
	put("capabilities.yml", "fs_read: /data\n");
	check_load(
		"", false,
		"error: /capabilities.yml:1:10: expected a list of text, found the text \"/data\"");
	put("capabilities.yml", "[]\n");
	check_load("", false, "error: /capabilities.yml:1:1: expected a map, found a list");
	put("capabilities.yml", "fs_read: [\n");
	check_load("", false, "error: /capabilities.yml:2:1: soyapack: parse: yaml: ");
	put("capabilities.yml", "a: 1\na: 2\n");
	check_load(
		"", false,
		"error: /capabilities.yml:2:1: expected each key once, found \"a\" again (it stands at line 1 too)");
	put("capabilities.yml", "? &k fs_read\n: [/a]\n*k : [/b]\n");
	check_load("", false, "error: /capabilities.yml:3:1: expected each key once");
	free(text);

	/* Any other YAML file is a pack by itself. */
	put("other.yaml", SEED_MANIFEST);
	check_load("other.yaml", true, "read /workdir (15:12)\n");
}

static void test_two_blocks(void **state)
{
	(void)state;
	put("capabilities.yml", "fs_read: [/data]\n");
	put("soyapack.yaml", GO_MANIFEST);
	check_load("", false, "not to be run: /capabilities.yml: " BOTH);
	check_load("", true, "error: /capabilities.yml: " BOTH);
	check_load("", false, "read /workdir (19:15)\n");
	put("soyapack.yaml", SEED_MANIFEST);
	check_load("", false, "error: /capabilities.yml: " BOTH);
}

static void test_manifest_that_its_agent_could_rewrite(void **state)
{
	static const char rewrite[] =
		"this path holds the manifest itself, so the agent could rewrite what it is allowed";
	char path[256];
	char entry[300];
	char *text;

	(void)state;
	snprintf(entry, sizeof(entry), "[%s]", directory);
	text = edit(SEED_MANIFEST, "[/workdir/out]", entry);
	put("soyapack.yaml", text);
	check_load("", false, "warning 16:13: ");
	check_load("", false, rewrite);
	check_load("", true, rewrite);
	free(text);
	path_of("soyapack.yaml", path);
	snprintf(entry, sizeof(entry), "[%s]", path);
	text = edit(GO_MANIFEST, "[/workdir/out]", entry);
	put("soyapack.yaml", text);
	check_load("", false, rewrite);
	free(text);
	/* The name of the directory, and one byte more, is another directory. */
	snprintf(entry, sizeof(entry), "[%sx, %s/out]", directory, directory);
	text = edit(SEED_MANIFEST, "[/workdir/out]", entry);
	put("soyapack.yaml", text);
	check_load("", true, "words of seed");
	free(text);
	/* Reading it is no harm. */
	snprintf(entry, sizeof(entry), "read: [%s]", directory);
	text = edit(SEED_MANIFEST, "read: [/workdir]", entry);
	put("soyapack.yaml", text);
	check_load("", true, "words of seed");
	free(text);
}

static void test_digest(void **state)
{
	struct comet_manifest *manifest = NULL;
	char first[65];
	char *text;

	(void)state;
	assert_int_equal(comet_manifest_parse("a", SEED_MANIFEST, strlen(SEED_MANIFEST), true,
					      &manifest, NULL),
			 0);
	strcpy(first, manifest->digest);
	assert_int_equal(strlen(first), 64);
	comet_manifest_free(manifest);
	manifest = NULL;
	put("soyapack.yaml", SEED_MANIFEST);
	assert_int_equal(comet_manifest_load(directory, true, &manifest, NULL), 0);
	assert_string_equal(manifest->digest, first);
	comet_manifest_free(manifest);
	manifest = NULL;
	/* The block's own file is part of what was read. */
	text = edit(GO_MANIFEST, "  capabilities:\n", "  x:\n");
	put("soyapack.yaml", text);
	assert_int_equal(comet_manifest_load(directory, false, &manifest, NULL), 0);
	strcpy(first, manifest->digest);
	comet_manifest_free(manifest);
	manifest = NULL;
	put("capabilities.yml", "fs_read: [/data]\n");
	assert_int_equal(comet_manifest_load(directory, false, &manifest, NULL), 0);
	assert_string_not_equal(manifest->digest, first);
	comet_manifest_free(manifest);
	free(text);
}

static void test_strict(void **state)
{
	struct comet_error error;
	struct comet_manifest *manifest = NULL;
	char *text = edit(GO_MANIFEST, "exec: [git]", "exec: [./git]");

	(void)state;
	assert_int_equal(comet_manifest_parse("a\tb", text, strlen(text), true, &manifest, &error),
			 -EINVAL);
	assert_null(manifest);
	assert_string_equal(
		error.text,
		"a\\tb:21:12: expected the name of a program or an absolute path, found \"./git\"");
	free(text);
	text = edit(GO_MANIFEST, "exec: [git]", "exce: [git]");
	assert_int_equal(comet_manifest_parse("a", text, strlen(text), true, &manifest, &error),
			 -EINVAL);
	assert_string_equal(
		error.text,
		"a:21:5: \"exce\" is no capability, so it grants nothing (did you mean \"exec\"?)");
	assert_int_equal(comet_manifest_parse("a", text, strlen(text), true, &manifest, NULL),
			 -EINVAL);
	assert_int_equal(comet_manifest_parse("a", text, strlen(text), false, &manifest, &error),
			 0);
	assert_int_equal(manifest->n_warnings, 1);
	assert_null(manifest->unenforceable);
	comet_manifest_free(manifest);
	comet_manifest_free(NULL);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_directory_or_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_that_cannot_be_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_block_in_a_file_of_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_manifest_that_its_agent_could_rewrite, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_digest, set_up, tear_down),
		cmocka_unit_test(test_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
