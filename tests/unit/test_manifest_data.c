// SPDX-License-Identifier: Apache-2.0
/* Does every manifest of tests/data give exactly what stands beside it? */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <libgen.h>

#include "test_manifest.h"

#define FILES_MAX 200

static char *read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "re");
	char *bytes = calloc(1, 65536);

	if (!in)
		fail_msg("%s cannot be opened", path);
	assert_non_null(bytes);
	*size = fread(bytes, 1, 65535, in);
	assert_int_equal(fclose(in), 0);
	return bytes;
}

static bool check_file(const char *directory, const char *name, bool is_good)
{
	char *wanted_path = NULL;
	char *path = NULL;
	char *wanted;
	char *bytes;
	char *shown;
	size_t size;
	bool good;

	assert_true(asprintf(&path, "%s/%s", directory, name) > 0);
	assert_true(asprintf(&wanted_path, "%.*s.expected", (int)(strlen(path) - 5), path) > 0);
	wanted = read_file(wanted_path, &size);
	if (size && wanted[size - 1] == '\n' && !is_good)
		wanted[size - 1] = '\0';
	bytes = read_file(path, &size);
	shown = read_and_show_bytes(bytes, size, false);
	good = strcmp(shown, wanted) == 0 && is_good == (strncmp(shown, "error: ", 7) != 0);
	if (!good)
		print_error("%s\nwanted: %s\nfound:  %s\n", path, wanted, shown);
	free(shown);
	free(bytes);
	free(wanted);
	free(wanted_path);
	free(path);
	return good;
}

static void check_directory(const char *leaf, bool is_good, size_t least)
{
	char here[] = __FILE__;
	char *directory = NULL;
	struct dirent *entry;
	size_t failed = 0;
	size_t count = 0;
	DIR *listing;

	assert_true(asprintf(&directory, "%s/../data/manifest/%s", dirname(here), leaf) > 0);
	listing = opendir(directory);
	if (!listing)
		fail_msg("%s cannot be opened", directory);
	while ((entry = readdir(listing))) {
		size_t length = strlen(entry->d_name);

		if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
			continue;
		failed += !check_file(directory, entry->d_name, is_good);
		count++;
	}
	closedir(listing);
	free(directory);
	assert_int_equal(failed, 0);
	assert_in_range(count, least, FILES_MAX);
}

static void test_good_manifests(void **state)
{
	(void)state;
	check_directory("good", true, 9);
}

static void test_bad_manifests(void **state)
{
	(void)state;
	check_directory("bad", false, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_manifests),
		cmocka_unit_test(test_bad_manifests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
