// SPDX-License-Identifier: Apache-2.0
/* Is a run's own root planned with the decoys where they are looked for, and nowhere else? */
#include "tests/unit/test_policy.h"

#include "manifest/base.h"
#include "user/root_decoys.h"
#include "user/root_plan.h"

#define HOME "/home/agent"

static struct comet_place *new_root(void)
{
	struct comet_place *root = comet_place_new_root();

	assert_non_null(root);
	return root;
}

static struct comet_place *reach(struct comet_place *root, const char *path)
{
	struct comet_place *place = comet_place_reach(root, path);

	assert_non_null(place);
	return place;
}

/* Walks by names alone; NULL where there is none. */
static const struct comet_place *find(const struct comet_place *root, const char *path)
{
	char copy[256], *rest = copy, *name;

	snprintf(copy, sizeof(copy), "%s", path);
	while (root && (name = strsep(&rest, "/")))
		if (*name)
			root = comet_place_find(root, name);
	return root;
}

static void assert_path(const struct comet_place *place, const char *expected)
{
	char *path = comet_place_path(place);

	assert_non_null(path);
	assert_string_equal(path, expected);
	free(path);
}

static struct comet_place *link_to(struct comet_place *root, const char *path, const char *target)
{
	struct comet_place *link = reach(root, path);

	link->kind = COMET_PLACE_LINK;
	link->target = strdup(target);
	return link;
}

static void places_are_found_and_named_by_their_paths(void **state)
{
	struct comet_place *root = new_root();
	struct comet_place *deep = reach(root, "/b/c/d");
	size_t i;

	(void)state;
	assert_path(root, "/");
	assert_path(deep, "/b/c/d");
	assert_ptr_equal(reach(root, "//b/./c/../c/d/"), deep);
	assert_ptr_equal(reach(root, "/../.."), root);
	assert_null(find(root, "/b/d"));
	reach(root, "/a");
	reach(root, "/c");
	assert_ptr_equal(find(root, "/b/c/d"), deep);
	assert_int_equal(root->n_children, 3);
	for (i = 1; i < root->n_children; i++)
		assert_true(strcmp(root->children[i - 1]->name, root->children[i]->name) < 0);
	comet_place_free(root);
}

static void links_of_the_plan_are_followed(void **state)
{
	struct comet_place *root = new_root();

	(void)state;
	link_to(root, "/var/run", "/run");
	link_to(root, "/var/lock", "../run/lock");
	assert_path(reach(root, "/var/run/x"), "/run/x");
	assert_path(reach(root, "/var/lock/y"), "/run/lock/y");
	link_to(root, "/loop", "loop");
	errno = 0;
	assert_null(comet_place_reach(root, "/loop/x"));
	assert_int_equal(errno, ELOOP);
	comet_place_free(root);
}

static void what_is_shown_is_left_as_it_is(void **state)
{
	struct comet_place *root = new_root();
	struct comet_place *shown = reach(root, "/usr");

	(void)state;
	shown->kind = COMET_PLACE_SHOWN;
	assert_ptr_equal(reach(root, "/usr/local/x"), shown);
	assert_int_equal(shown->n_children, 0);
	assert_true(comet_place_is_inside(shown));
	reach(root, "/etc/shadow")->kind = COMET_PLACE_DECOY_FILE;
	assert_path(reach(root, "/etc/shadow/below"), "/etc/shadow");
	assert_false(comet_place_is_inside(root));
	comet_place_free(root);
}

static struct comet_policy *policy_of(const struct comet_manifest *manifest)
{
	const struct comet_policy_options options = { .home = HOME };

	return compile(manifest, &options);
}

static struct comet_place *plan_of(const struct comet_policy *policy)
{
	struct comet_place *root = new_root();

	reach(root, "/proc")->kind = COMET_PLACE_PROC;
	assert_int_equal(comet_root_add_decoys(root, policy), 0);
	return root;
}

static void every_canary_has_its_decoy(void **state)
{
	const struct comet_manifest manifest = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = policy_of(&manifest);
	struct comet_place *root = plan_of(policy);
	size_t n, i;
	const struct comet_base_entry *rows = comet_base_table(COMET_SOURCE_CANARY, &n);

	(void)state;
	for (i = 0; i < n; i++) {
		char path[256];
		const struct comet_place *place;

		snprintf(path, sizeof(path), "%s%s", rows[i].path[0] == '~' ? HOME : "",
			 rows[i].path + (rows[i].path[0] == '~'));
		place = find(root, path);
		if (strncmp(path, "/proc/", 6) == 0)
			assert_null(place);
		else if (!place || place->kind < COMET_PLACE_DECOY_DIRECTORY)
			fail_msg("%s has no decoy", path);
	}
	comet_place_free(root);
	comet_policy_free(policy);
}

static void decoys_are_what_is_looked_for(void **state)
{
	static const struct {
		const char *path;
		enum comet_place_kind kind;
	} cases[] = {
		{ "/etc/shadow", COMET_PLACE_DECOY_FILE },
		{ "/etc/ssh", COMET_PLACE_DECOY_DIRECTORY },
		{ HOME "/.ssh", COMET_PLACE_DECOY_DIRECTORY },
		{ HOME "/.ssh/id_ed25519", COMET_PLACE_DECOY_FILE },
		{ HOME "/.netrc", COMET_PLACE_DECOY_FILE },
		{ HOME "/.config/sops/age", COMET_PLACE_WAY },
		{ HOME "/.config/sops/age/keys.txt", COMET_PLACE_DECOY_FILE },
		{ HOME, COMET_PLACE_WAY },
		{ "/run/docker.sock", COMET_PLACE_DECOY_SOCKET },
		{ "/home", COMET_PLACE_DECOY_DIRECTORY },
	};
	const struct comet_manifest manifest = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = policy_of(&manifest);
	struct comet_place *root = plan_of(policy);
	size_t i;

	(void)state;
	for (i = 0; i < N(cases); i++) {
		const struct comet_place *place = find(root, cases[i].path);

		if (!place || place->kind != cases[i].kind)
			fail_msg("%s is of another kind", cases[i].path);
	}
	comet_place_free(root);
	comet_policy_free(policy);
}

/* The manifest's word comes before the decoys'. */
static void decoys_yield_to_what_is_granted(void **state)
{
	const struct comet_manifest manifest = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = policy_of(&manifest);
	struct comet_place *root = new_root();
	struct comet_place *ssh = reach(root, HOME "/.ssh"),
			   *key = reach(root, "/root/.ssh/id_rsa");

	(void)state;
	ssh->kind = COMET_PLACE_SHOWN;
	key->kind = COMET_PLACE_SHOWN;
	reach(root, "/root")->passed = reach(root, "/root/.ssh")->passed = true;
	link_to(root, "/var/run", "/run");
	assert_int_equal(comet_root_add_decoys(root, policy), 0);
	assert_int_equal(ssh->kind, COMET_PLACE_SHOWN);
	assert_int_equal(ssh->n_children, 0);
	assert_int_equal(key->kind, COMET_PLACE_SHOWN);
	assert_int_equal(find(root, "/root")->kind, COMET_PLACE_WAY);
	assert_int_equal(find(root, "/root/.ssh/id_ed25519")->kind, COMET_PLACE_DECOY_FILE);
	assert_int_equal(find(root, "/run/docker.sock")->kind, COMET_PLACE_DECOY_SOCKET);
	assert_null(find(root, "/var/run/docker.sock"));
	comet_place_free(root);
	comet_policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_found_and_named_by_their_paths),
		cmocka_unit_test(links_of_the_plan_are_followed),
		cmocka_unit_test(what_is_shown_is_left_as_it_is),
		cmocka_unit_test(every_canary_has_its_decoy),
		cmocka_unit_test(decoys_are_what_is_looked_for),
		cmocka_unit_test(decoys_yield_to_what_is_granted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
