// SPDX-License-Identifier: Apache-2.0
/* Do the base set, the quiet set and the canaries hold no secret and no contradiction? */
#include "tests/unit/test_policy.h"

#include "manifest/base.h"

static void the_tables_hold_no_contradiction(void **state)
{
	static const enum comet_source sources[] = { COMET_SOURCE_BASE, COMET_SOURCE_QUIET,
						     COMET_SOURCE_CANARY };

	(void)state;
	for (size_t i = 0; i < N(sources); i++) {
		size_t n;
		const struct comet_base_entry *rows = comet_base_table(sources[i], &n);

		assert_true(n > 0);
		for (size_t row = 0; row < n; row++) {
			uint32_t access = rows[row].access;
			const char *path = rows[row].path;

			assert_true(path[0] == '/' || strncmp(path, "~", 2) == 0 ||
				    strncmp(path, "~/", 2) == 0);
			assert_non_null(rows[row].why);
			if (sources[i] == COMET_SOURCE_QUIET)
				assert_int_equal(access, COMET_FS_QUIET);
			else if (sources[i] == COMET_SOURCE_CANARY)
				assert_int_equal(access, COMET_FS_CANARY);
			else
				assert_int_equal(access & (COMET_FS_QUIET | COMET_FS_CANARY |
							   COMET_FS_EXEC),
						 0);
			/* Only devices can be written. */
			if (access & COMET_FS_WRITE)
				assert_int_equal(strncmp(path, "/dev/", 5), 0);
			for (size_t other = 0; other < row; other++)
				assert_string_not_equal(path, rows[other].path);
		}
	}
}

static void the_base_set_grants_no_canary(void **state)
{
	size_t n_base, n_canaries;
	const struct comet_base_entry *base = comet_base_table(COMET_SOURCE_BASE, &n_base);
	const struct comet_base_entry *canaries =
		comet_base_table(COMET_SOURCE_CANARY, &n_canaries);

	(void)state;
	for (size_t i = 0; i < n_base; i++) {
		for (size_t j = 0; j < n_canaries; j++) {
			size_t len = strlen(base[i].path);

			if (strncmp(base[i].path, canaries[j].path, len) == 0 &&
			    (canaries[j].path[len] == '\0' || canaries[j].path[len] == '/'))
				assert_int_equal(base[i].scope != COMET_BASE_TREE, 1);
		}
	}
}

static void home_decides_on_its_marks(void **state)
{
	struct comet_policy_options options = { .home = "/root/" };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, &options);
	const struct comet_path_rule *rule = find_path(policy, "/root", COMET_FS_QUIET);

	(void)state;
	assert_non_null(rule);
	assert_true(rule->self_only);
	assert_true(rule->optional);
	/* The agent's own home is no canary, other homes are. */
	assert_null(find_path(policy, "/root", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/root/.ssh", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/root/.bashrc", COMET_FS_QUIET));
	comet_policy_free(policy);

	options.home = "/home/agent";
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/root", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home", COMET_FS_CANARY));
	assert_non_null(find_path(policy, "/home/agent/.aws", COMET_FS_CANARY));
	comet_policy_free(policy);

	/* Without a home nothing is called "~". */
	policy = compile(&m, NULL);
	for (size_t i = 0; i < policy->n_paths; i++)
		assert_int_equal(policy->paths[i].path[0], '/');
	assert_null(find_path(policy, "/.ssh", COMET_FS_CANARY));
	comet_policy_free(policy);

	options.home = "/";
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/.ssh", COMET_FS_CANARY));
	rule = find_path(policy, "/", COMET_FS_QUIET);
	assert_non_null(rule);
	assert_true(rule->self_only);
	comet_policy_free(policy);
}

static void own_procfs_is_marked(void **state)
{
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, NULL);
	const struct comet_path_rule *rule = find_path(policy, "/proc", COMET_FS_READ);

	(void)state;
	assert_non_null(rule);
	assert_true(rule->proc);
	assert_true(rule->self_only);
	comet_policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tables_hold_no_contradiction),
		cmocka_unit_test(the_base_set_grants_no_canary),
		cmocka_unit_test(home_decides_on_its_marks),
		cmocka_unit_test(own_procfs_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
