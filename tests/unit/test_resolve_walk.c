// SPDX-License-Identifier: Apache-2.0
/* Which rights does one path give to which objects and names? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/resolve_walk.h"

#define READ (COMET_FS_READ | COMET_FS_STAT)

/* A directory of our own that stands for the root, and one walk in it. */
static char directory[] = "/tmp/comet-walk-XXXXXX";
static struct comet_objects objects;
static struct comet_links followed;
static struct comet_links refused;
static const struct comet_policy_target target;
static struct comet_path_walk walk;
static struct comet_path_rule rule;

static int set_up(void **state)
{
	int root;

	(void)state;
	assert_non_null(mkdtemp(directory));
	root = open(directory, O_PATH | O_DIRECTORY);
	assert_true(root >= 0);
	assert_int_equal(mkdirat(root, "d", 0700), 0);
	assert_int_equal(close(openat(root, "d/f", O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(symlinkat("d/f", root, "to-file"), 0);
	assert_int_equal(symlinkat("/d", root, "d/to-root"), 0);
	assert_int_equal(symlinkat("nothing", root, "to-nothing"), 0);
	assert_int_equal(symlinkat("loop", root, "loop"), 0);
	close(root);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "loop", "to-nothing", "d/to-root", "to-file",
					     "d/f",  "d",          "." };

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(names); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		if (streq(names[i], "."))
			assert_int_equal(rmdir(directory), 0);
		else
			assert_int_equal(remove(path), 0);
	}
	return 0;
}

static int start(void **state)
{
	(void)state;
	memset(&walk, 0, sizeof(walk));
	walk.root = open(directory, O_PATH | O_DIRECTORY);
	walk.objects = &objects;
	walk.followed = &followed;
	walk.refused = &refused;
	walk.target = &target;
	walk.rule = &rule;
	walk.index = 7;
	rule = (struct comet_path_rule){ .access = COMET_FS_READ };
	return 0;
}

static int finish(void **state)
{
	(void)state;
	close(walk.root);
	comet_objects_free(&objects);
	free(followed.all);
	free(refused.all);
	memset(&followed, 0, sizeof(followed));
	memset(&refused, 0, sizeof(refused));
	return 0;
}

static void assert_walk(const char *path, enum comet_outcome end)
{
	rule.path = (char *)path;
	assert_int_equal(comet_path_walk(&walk), end);
}

static const struct comet_named *named(const char *name)
{
	for (size_t i = 0; i < objects.n_names; i++)
		if (streq(objects.names[i].name, name))
			return &objects.names[i];
	fail_msg("no rule on the name %s", name);
	return NULL;
}

/* All objects that are no directories. */
static size_t count_devices(uint32_t *self)
{
	size_t n = 0;

	for (size_t i = 0; i < objects.n_nodes; i++) {
		struct stat st;

		assert_int_equal(fstat(objects.nodes[i].fd, &st), 0);
		if (S_ISDIR(st.st_mode))
			continue;
		*self = objects.nodes[i].self;
		assert_int_equal(objects.nodes[i].subtree, 0);
		n++;
	}
	return n;
}

static void a_directory_gives_what_is_below_it(void **state)
{
	(void)state;
	assert_walk("/d", COMET_OUTCOME_DONE);
	assert_int_equal(objects.n_nodes, 2);
	assert_int_equal(objects.nodes[0].subtree, 0);
	assert_int_equal(objects.nodes[0].self, COMET_FS_STAT);
	assert_int_equal(objects.nodes[1].subtree, READ);
	assert_int_equal(objects.nodes[1].rule, 7);
	assert_int_equal(objects.n_names, 0);
}

static void itself_alone_is_not_what_is_below(void **state)
{
	(void)state;
	rule.self_only = true;
	assert_walk("/d", COMET_OUTCOME_DONE);
	assert_int_equal(objects.nodes[1].subtree, 0);
	assert_int_equal(objects.nodes[1].self, READ);
}

static void a_file_is_granted_by_its_name(void **state)
{
	uint32_t self;

	(void)state;
	rule.access |= COMET_FS_WRITE;
	assert_walk("/d/f", COMET_OUTCOME_DONE);
	assert_int_equal(named("f")->self,
			 READ | COMET_FS_WRITE | COMET_FS_CHANGE | COMET_FS_PLANT);
	assert_int_equal(named("f")->subtree, 0);
	assert_int_equal(count_devices(&self), 0);
}

static void a_missing_name_is_granted_once_it_is_there(void **state)
{
	(void)state;
	assert_walk("/d/new", COMET_OUTCOME_BY_NAME);
	assert_int_equal(named("new")->subtree, READ);
	assert_walk("/no/new", COMET_OUTCOME_MISSING);
	assert_walk("/d/f/new", COMET_OUTCOME_MISSING);
	assert_walk("/d/no/..", COMET_OUTCOME_MISSING);
}

static void links_are_followed_and_remembered(void **state)
{
	(void)state;
	assert_walk("/to-file", COMET_OUTCOME_DONE);
	assert_int_equal(named("to-file")->self, COMET_FS_STAT);
	assert_int_equal(named("f")->self, READ);
	assert_int_equal(followed.n, 1);
	/* What is absolute starts at the root that was given. */
	assert_walk("/d/to-root/f", COMET_OUTCOME_DONE);
	assert_int_equal(followed.n, 2);
	assert_walk("/to-nothing", COMET_OUTCOME_BY_NAME);
	assert_int_equal(named("nothing")->subtree, READ);
	assert_walk("/loop", COMET_OUTCOME_MISSING);
}

static void a_refused_link_leads_nowhere(void **state)
{
	(void)state;
	assert_walk("/to-file", COMET_OUTCOME_DONE);
	assert_int_equal(comet_links_add(&refused, &followed.all[0]), 0);
	comet_objects_free(&objects);
	assert_walk("/to-file", COMET_OUTCOME_UNTRUSTED);
	assert_int_equal(named("to-file")->self, COMET_FS_STAT);
	assert_int_equal(objects.n_names, 1);
	assert_walk("/d/to-root/f", COMET_OUTCOME_DONE);
}

static void in_the_real_root(void)
{
	close(walk.root);
	walk.root = open("/", O_PATH | O_DIRECTORY);
	assert_true(walk.root >= 0);
}

static void a_device_is_opened_where_it_is_named(void **state)
{
	uint32_t self = 0;

	(void)state;
	in_the_real_root();
	assert_walk("/dev/null", COMET_OUTCOME_DONE);
	assert_int_equal(count_devices(&self), 1);
	assert_int_equal(self, COMET_FS_DEVICE);
	/* By the node that is there: a name could be given to another one. */
	assert_int_equal(named("null")->self, READ);
}

static void a_device_is_not_opened_for_its_directory(void **state)
{
	uint32_t self = 0;

	(void)state;
	in_the_real_root();
	rule.access |= COMET_FS_WRITE;
	assert_walk("/dev", COMET_OUTCOME_DONE);
	assert_int_equal(count_devices(&self), 0);
	for (size_t i = 0; i < objects.n_nodes; i++)
		assert_false((objects.nodes[i].self | objects.nodes[i].subtree) & COMET_FS_DEVICE);
}

static void a_mark_on_a_device_opens_nothing(void **state)
{
	uint32_t self = 0;

	(void)state;
	in_the_real_root();
	rule.access = COMET_FS_CANARY;
	assert_walk("/dev/null", COMET_OUTCOME_DONE);
	assert_int_equal(count_devices(&self), 0);
	assert_int_equal(named("null")->self, COMET_FS_CANARY);
}

#define test(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_directory_gives_what_is_below_it),
		test(itself_alone_is_not_what_is_below),
		test(a_file_is_granted_by_its_name),
		test(a_missing_name_is_granted_once_it_is_there),
		test(links_are_followed_and_remembered),
		test(a_refused_link_leads_nowhere),
		test(a_device_is_opened_where_it_is_named),
		test(a_device_is_not_opened_for_its_directory),
		test(a_mark_on_a_device_opens_nothing),
	};

	return cmocka_run_group_tests_name("resolve_walk", tests, set_up, tear_down);
}
