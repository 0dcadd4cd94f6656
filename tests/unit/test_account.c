// SPDX-License-Identifier: Apache-2.0
/* Does the agent run as whom the operator means, and with the environment that was asked for? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/account.h"

static const char *const host[] = {
	"PATH=/host/bin", "HOME=/host", "USER=host", "X=1", "X2=2", NULL
};

static char **make(const struct comet_account *account, bool clear, const char *const *set,
		   size_t n)
{
	char **environment = comet_environment_make(account, (char *const *)host, clear, set, n);

	assert_non_null(environment);
	return environment;
}

static void assert_value(char **environment, const char *name, const char *value)
{
	const char *got = comet_environment_get(environment, name);

	if (!got || !value)
		assert_ptr_equal(got, value);
	else
		assert_string_equal(got, value);
}

static size_t length(char **environment)
{
	size_t n = 0;

	while (environment[n])
		n++;
	return n;
}

static void the_same_user_inherits_everything(void **state)
{
	const struct comet_account same = { .uid = 5 };
	char **environment = make(&same, false, NULL, 0);

	(void)state;
	assert_int_equal(length(environment), 5);
	assert_value(environment, "PATH", "/host/bin");
	assert_value(environment, "HOME", "/host");
	comet_environment_free(environment);
}

static void another_user_gets_its_own_home_and_names(void **state)
{
	char name[] = "agent", home[] = "/home/agent", shell[] = "/bin/sh";
	const struct comet_account other = {
		.uid = 5, .name = name, .home = home, .shell = shell, .other = true
	};
	char **environment = make(&other, false, NULL, 0);

	(void)state;
	assert_value(environment, "HOME", "/home/agent");
	assert_value(environment, "USER", "agent");
	assert_value(environment, "LOGNAME", "agent");
	assert_value(environment, "SHELL", "/bin/sh");
	assert_value(environment, "PATH", "/host/bin");
	assert_value(environment, "X", "1");
	comet_environment_free(environment);
}

static void what_is_set_comes_last(void **state)
{
	static const char *const set[] = { "X=3", "HOME=/mine", "NEW=a=b", "NEW=c", "EMPTY=" };
	const struct comet_account other = { .uid = 5, .other = true };
	char **environment = make(&other, false, set, 5);

	(void)state;
	assert_value(environment, "X", "3");
	assert_value(environment, "X2", "2");
	assert_value(environment, "HOME", "/mine");
	assert_value(environment, "NEW", "c");
	assert_value(environment, "EMPTY", "");
	comet_environment_free(environment);
}

static void cleared_means_only_what_is_given_and_a_path(void **state)
{
	static const char *const set[] = { "A=1" };
	static const char *const path[] = { "PATH=/only" };
	const struct comet_account other = { .uid = 5, .other = true };
	char **environment = make(&other, true, set, 1);

	(void)state;
	assert_int_equal(length(environment), 2);
	assert_value(environment, "A", "1");
	assert_value(environment, "PATH", COMET_DEFAULT_PATH);
	assert_value(environment, "X", NULL);
	comet_environment_free(environment);
	environment = make(&other, true, path, 1);
	assert_int_equal(length(environment), 1);
	assert_value(environment, "PATH", "/only");
	comet_environment_free(environment);
}

static void a_value_is_replaced_only_where_it_is(void **state)
{
	const struct comet_account same = { .uid = 5 };
	char **environment = make(&same, false, NULL, 0);

	(void)state;
	assert_int_equal(comet_environment_replace(environment, "X", "9"), 0);
	assert_value(environment, "X", "9");
	assert_int_equal(comet_environment_replace(environment, "NONE", "9"), 0);
	assert_value(environment, "NONE", NULL);
	assert_int_equal(comet_environment_replace(environment, "HOME", NULL), 0);
	assert_int_equal(length(environment), 4);
	assert_value(environment, "HOME", NULL);
	assert_value(environment, "X2", "2");
	comet_environment_free(environment);
}

static void assert_unknown(const char *user, const char *part)
{
	struct comet_account account;
	struct comet_error error = { "" };

	assert_int_equal(comet_account_find(user, &account, &error), -EINVAL);
	if (!strstr(error.text, part))
		fail_msg("%s: \"%s\" does not say \"%s\"", user, error.text, part);
}

/* Only root may choose, so anybody else can only check that this is so. */
static void users_by_name_and_number(void **state)
{
	struct comet_account account;
	struct comet_error error = { "" };

	(void)state;
	assert_unknown("no such user", "no user");
	assert_unknown("-1", "no user");
	assert_unknown("4294967295", "no user");
	assert_unknown("", "no user");
	assert_unknown("root:no such group", "no group");
	if (getuid() != 0) {
		assert_unknown("root", "only root may choose");
		return;
	}
	assert_int_equal(comet_account_find("root", &account, &error), 0);
	assert_int_equal(account.uid, 0);
	assert_false(account.other);
	comet_account_free(&account);
	assert_unknown("3999999999", "give a group too");
	assert_int_equal(comet_account_find("3999999999:7", &account, &error), 0);
	assert_int_equal(account.uid, 3999999999U);
	assert_int_equal(account.gid, 7);
	assert_int_equal(account.n_groups, 0);
	assert_true(account.other);
	comet_account_free(&account);
}

static void under_sudo_the_user_behind_it(void **state)
{
	struct comet_account account;
	struct comet_error error = { "" };
	bool root = getuid() == 0;

	(void)state;
	setenv("SUDO_UID", "4711", 1);
	setenv("SUDO_GID", "4712", 1);
	assert_int_equal(comet_account_find(NULL, &account, &error), 0);
	assert_int_equal(account.uid, root ? 4711 : getuid());
	assert_int_equal(account.gid, root ? 4712 : getgid());
	comet_account_free(&account);
	/* What is no number counts for nothing. */
	setenv("SUDO_UID", "4711x", 1);
	assert_int_equal(comet_account_find(NULL, &account, &error), 0);
	assert_int_equal(account.uid, getuid());
	comet_account_free(&account);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void who_may_execute(void **state)
{
	gid_t groups[] = { 30, 31 };
	const struct comet_account user = { .uid = 10, .gid = 20, .groups = groups, .n_groups = 2 };
	const struct comet_account root = { 0 };

	(void)state;
	assert_true(comet_account_may_execute(&user, 10, 99, 0100));
	assert_false(comet_account_may_execute(&user, 10, 20, 0011));
	assert_true(comet_account_may_execute(&user, 1, 20, 0010));
	assert_true(comet_account_may_execute(&user, 1, 31, 0010));
	assert_false(comet_account_may_execute(&user, 1, 31, 0101));
	assert_true(comet_account_may_execute(&user, 1, 1, 0001));
	assert_false(comet_account_may_execute(&user, 1, 1, 0110));
	assert_true(comet_account_may_execute(&root, 1, 1, 0001));
	assert_false(comet_account_may_execute(&root, 1, 1, 0666));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_user_inherits_everything),
		cmocka_unit_test(another_user_gets_its_own_home_and_names),
		cmocka_unit_test(what_is_set_comes_last),
		cmocka_unit_test(cleared_means_only_what_is_given_and_a_path),
		cmocka_unit_test(a_value_is_replaced_only_where_it_is),
		cmocka_unit_test(users_by_name_and_number),
		cmocka_unit_test(under_sudo_the_user_behind_it),
		cmocka_unit_test(who_may_execute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
