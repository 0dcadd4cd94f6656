// SPDX-License-Identifier: Apache-2.0
/* Is a path judged by its components, and by what it leads to? */
#include "tests/unit/test_explain.h"

#include <sys/stat.h>
#include <unistd.h>

#include "manifest/path.h"

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
	static const char *const names[] = { "open/loop",     "alias",  "open/dangling", "open/out",
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

static void grant(struct comet_policy *made, const char *path, unsigned int line)
{
	const struct comet_path_rule rule = {
		.path = (char *)path,
		.access = COMET_FS_READ | COMET_FS_WRITE,
		.location = AT(line),
	};

	assert_int_equal(comet_policy_add_path(made, &rule, NULL), 0);
}

/* Without the base set, which names /dev/null. */
static void a_device_is_opened_by_its_own_entry_alone(void **state)
{
	struct comet_policy *kept = policy;

	(void)state;
	policy = calloc(1, sizeof(*policy));
	assert_non_null(policy);
	grant(policy, "/dev", 50);
	assert_allowed("fs.read", "/dev/no-such-file", 50);
	assert_refused("fs.read", "/dev/null");
	assert_refused("fs.write", "/dev/null");
	assert_note("fs.read", "/dev/null",
		    "only an entry that names the node itself opens. It answers ENOENT, and");
	assert_note("fs.write", "/dev/null",
		    "only an entry that names the node itself opens. It answers EACCES, and");
	grant(policy, "/dev/null", 51);
	assert_allowed("fs.read", "/dev/null", 51);
	assert_allowed("fs.write", "/dev/null", 51);
	comet_policy_free(policy);
	policy = kept;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleaned_paths),
		cmocka_unit_test(a_prefix_ends_at_a_component),
		cmocka_unit_test(what_a_path_leads_to_counts),
		cmocka_unit_test(a_device_is_opened_by_its_own_entry_alone),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
