// SPDX-License-Identifier: Apache-2.0
/* Is the program that is granted the one that will be executed, with all it takes and no other? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/programs.h"

/* A small root directory: what stands in it is all that the run would see. */
struct tree {
	char path[64];
	int root;
	struct comet_account account;
	struct comet_programs programs;
	struct comet_policy policy;
	char warnings[1024];
};

static void warn(void *context, const struct comet_location *location, const char *text)
{
	struct tree *tree = context;
	size_t len = strlen(tree->warnings);

	snprintf(tree->warnings + len, sizeof(tree->warnings) - len, "%u: %s\n", location->line,
		 text);
}

static void put(const struct tree *tree, const char *name, const char *content, mode_t mode)
{
	int fd = openat(tree->root, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void put_link(const struct tree *tree, const char *name, const char *target)
{
	assert_int_equal(symlinkat(target, tree->root, name), 0);
}

static int make_tree(void **state)
{
	static const char *const dirs[] = { "bin", "opt", "opt/py", "place" };
	struct tree *tree = calloc(1, sizeof(*tree));
	size_t i;

	strcpy(tree->path, "/tmp/comet-programs-XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	tree->root = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		assert_int_equal(mkdirat(tree->root, dirs[i], 0755), 0);
	put(tree, "bin/tool", "\177ELF", 0755);
	put(tree, "bin/env", "\177ELF", 0755);
	put(tree, "bin/py3", "\177ELF", 0755);
	put(tree, "opt/py/py3", "\177ELF", 0755);
	put(tree, "bin/plain", "text", 0644);
	/* Absolute links mean the run's root, not the host's. */
	put_link(tree, "bin/python", "/bin/py3");
	tree->account = (struct comet_account){ .uid = 4321, .gid = 4321 };
	tree->programs = (struct comet_programs){
		.root = tree->root,
		.directory = "/place",
		.path = "/nowhere:/bin:/opt/py",
		.account = &tree->account,
		.warn = warn,
		.warn_context = tree,
	};
	*state = tree;
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int drop_tree(void **state)
{
	struct tree *tree = *state;
	size_t i;

	for (i = 0; i < tree->policy.n_paths; i++)
		free(tree->policy.paths[i].path);
	for (i = 0; i < tree->policy.n_execs; i++)
		free(tree->policy.execs[i].program);
	free(tree->policy.paths);
	free(tree->policy.execs);
	close(tree->root);
	nftw(tree->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(tree);
	return 0;
}

static void declare(struct tree *tree, const char *program, unsigned int line)
{
	const struct comet_exec_rule rule = {
		.program = (char *)program,
		.source = COMET_SOURCE_MANIFEST,
		.location = { .file = "m", .line = line, .column = 1 },
	};
	struct comet_error error;

	assert_int_equal(comet_policy_add_exec(&tree->policy, &rule, &error), 0);
}

static const struct comet_path_rule *rule_for(const struct tree *tree, const char *path)
{
	size_t i;

	for (i = 0; i < tree->policy.n_paths; i++)
		if (strcmp(tree->policy.paths[i].path, path) == 0)
			return &tree->policy.paths[i];
	return NULL;
}

static void assert_executable(const struct tree *tree, const char *path)
{
	const struct comet_path_rule *rule = rule_for(tree, path);

	if (!rule)
		fail_msg("%s is not granted", path);
	assert_int_equal(rule->access, COMET_FS_READ | COMET_FS_EXEC);
	assert_true(rule->self_only);
}

static void grant(struct tree *tree, const char *command, const char *program)
{
	struct comet_error error = { "" };
	char *found = NULL;

	if (comet_programs_grant(&tree->programs, command, &tree->policy, &found, &error) != 0)
		fail_msg("%s: %s", command, error.text);
	assert_string_equal(found, program);
	free(found);
}

static void assert_refused(struct tree *tree, const char *command, int err, const char *part)
{
	struct comet_error error = { "" };
	char *found = NULL;

	assert_int_equal(
		comet_programs_grant(&tree->programs, command, &tree->policy, &found, &error), err);
	assert_null(found);
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void a_word_is_looked_for_in_path(void **state)
{
	struct tree *tree = *state;

	grant(tree, "tool", "/bin/tool");
	assert_int_equal(tree->policy.n_paths, 1);
	assert_executable(tree, "/bin/tool");
	assert_int_equal(tree->policy.paths[0].source, COMET_SOURCE_RUN);
}

static void a_path_is_meant_from_the_agents_directory(void **state)
{
	struct tree *tree = *state;

	put(tree, "place/agent", "\177ELF", 0755);
	grant(tree, "./agent", "/place/./agent");
	assert_executable(tree, "/place/agent");
	assert_refused(tree, "agent", -ENOENT, "PATH");
}

static void an_empty_part_of_path_is_the_agents_directory(void **state)
{
	struct tree *tree = *state;

	put(tree, "place/agent", "\177ELF", 0755);
	tree->programs.path = "/bin:";
	grant(tree, "agent", "/place/agent");
	assert_executable(tree, "/place/agent");
}

static void links_are_followed_inside_the_run(void **state)
{
	struct tree *tree = *state;

	grant(tree, "python", "/bin/python");
	assert_executable(tree, "/bin/py3");
	assert_int_equal(rule_for(tree, "/bin/python")->access, COMET_FS_STAT);
	/* On the host this file exists; in the run it does not. */
	put_link(tree, "bin/out", "/usr/bin/env");
	assert_refused(tree, "out", -ENOENT, "not found");
}

static void what_is_not_executable_is_told_apart(void **state)
{
	struct tree *tree = *state;

	assert_refused(tree, "nothing", -ENOENT, "not found");
	assert_refused(tree, "plain", -EACCES, "not executable");
	assert_refused(tree, "/place", -EACCES, "not executable");
	/* A later match in PATH is better than an earlier one that may not be executed. */
	put(tree, "opt/py/plain", "\177ELF", 0755);
	grant(tree, "plain", "/opt/py/plain");
}

static void the_agents_user_counts(void **state)
{
	struct tree *tree = *state;

	put(tree, "bin/owners", "\177ELF", 0700);
	assert_refused(tree, "owners", -EACCES, "agent's user");
	tree->account.uid = 0;
	grant(tree, "owners", "/bin/owners");
}

static void the_interpreters_of_a_script_are_granted(void **state)
{
	struct tree *tree = *state;

	put(tree, "place/one", "#! /place/two -x\n", 0755);
	put(tree, "place/two", "#!/bin/tool\n", 0755);
	grant(tree, "./one", "/place/./one");
	assert_executable(tree, "/place/one");
	assert_executable(tree, "/place/two");
	assert_executable(tree, "/bin/tool");
	assert_int_equal(tree->policy.n_paths, 3);
}

static void env_is_followed_to_the_program_it_names(void **state)
{
	struct tree *tree = *state;

	put(tree, "place/a", "#!/bin/env -S A=1 python -I\n", 0755);
	grant(tree, "./a", "/place/./a");
	assert_executable(tree, "/bin/env");
	assert_executable(tree, "/bin/py3");
	assert_null(rule_for(tree, "/bin/tool"));
}

static void a_chain_ends_somewhere(void **state)
{
	struct tree *tree = *state;
	size_t i, n = 0;

	put(tree, "place/loop", "#!/place/loop\n", 0755);
	grant(tree, "/place/loop", "/place/loop");
	for (i = 0; i < tree->policy.n_paths; i++)
		n += strcmp(tree->policy.paths[i].path, "/place/loop") == 0;
	assert_int_equal(n, 5);
}

static void a_missing_interpreter_is_named(void **state)
{
	struct tree *tree = *state;

	put(tree, "place/a", "#!/bin/none\n", 0755);
	assert_refused(tree, "./a", -ENOENT, "/bin/none");
}

static void exec_entries_are_granted_or_warned_of(void **state)
{
	struct tree *tree = *state;

	declare(tree, "python", 7);
	declare(tree, "missing", 8);
	declare(tree, "/opt/none", 9);
	declare(tree, "plain", 10);
	grant(tree, "tool", "/bin/tool");
	assert_executable(tree, "/bin/py3");
	assert_int_equal(rule_for(tree, "/bin/py3")->source, COMET_SOURCE_MANIFEST);
	assert_int_equal(rule_for(tree, "/bin/py3")->location.line, 7);
	assert_string_equal(tree->warnings, "8: exec missing: not found: grants nothing\n"
					    "9: exec /opt/none: not found: grants nothing\n"
					    "10: exec plain: not executable: grants nothing\n");
	assert_null(rule_for(tree, "/bin/plain"));
}

static void another_program_of_the_declared_name_is_never_run_silently(void **state)
{
	struct tree *tree = *state;

	declare(tree, "/opt/py/py3", 5);
	assert_refused(tree, "py3", -EINVAL, "py3 is /bin/py3 here");
	assert_refused(tree, "py3", -EINVAL, "declares /opt/py/py3 (line 5)");
	grant(tree, "/opt/py/py3", "/opt/py/py3");
	/* The same file by another name is no other program; nor is a plain name ambiguous. */
	tree->programs.path = "/opt/py:/bin";
	grant(tree, "py3", "/opt/py/py3");
	tree->programs.path = "/bin";
	declare(tree, "py3", 6);
	grant(tree, "py3", "/bin/py3");
}

static void first_lines(void **state)
{
	static const struct {
		const char *line, *interpreter, *argument;
	} rows[] = {
		{ "#!/bin/sh\nrest", "/bin/sh", "" },
		{ "#! \t/bin/sh \t-e -u \n", "/bin/sh", "-e -u" },
		{ "#!sh", "sh", "" },
		{ "#!/bin/env python", "/bin/env", "python" },
	};
	static const char *const none[] = { "",      "#",       "#!",     "#!\n/bin/sh",
					    "#! \n", "\177ELF", "/bin/sh" };
	char *interpreter, *argument;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(comet_programs_shebang(rows[i].line, strlen(rows[i].line), &interpreter,
						   &argument));
		assert_string_equal(interpreter, rows[i].interpreter);
		assert_string_equal(argument, rows[i].argument);
		free(interpreter);
		free(argument);
	}
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (comet_programs_shebang(none[i], strlen(none[i]), &interpreter, &argument))
			fail_msg("\"%s\" names no interpreter", none[i]);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, drop_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(a_word_is_looked_for_in_path),
		WITH_TREE(a_path_is_meant_from_the_agents_directory),
		WITH_TREE(an_empty_part_of_path_is_the_agents_directory),
		WITH_TREE(links_are_followed_inside_the_run),
		WITH_TREE(what_is_not_executable_is_told_apart),
		WITH_TREE(the_agents_user_counts),
		WITH_TREE(the_interpreters_of_a_script_are_granted),
		WITH_TREE(env_is_followed_to_the_program_it_names),
		WITH_TREE(a_chain_ends_somewhere),
		WITH_TREE(a_missing_interpreter_is_named),
		WITH_TREE(exec_entries_are_granted_or_warned_of),
		WITH_TREE(another_program_of_the_declared_name_is_never_run_silently),
		cmocka_unit_test(first_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
