// SPDX-License-Identifier: Apache-2.0
/* Does the probe read what the kernel says, and does each lack come with its remedy? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user/base.h"
#include "user/probe.h"
#include "user/probe_lsm.h"

static char root[64];

static void in_root(const char *path, char *full, size_t size)
{
	assert_true(snprintf(full, size, "%s%s", root, path) < (int)size);
}

static const char *const directories[] = { "/sys", "/sys/kernel", "/sys/kernel/security", "/proc",
					   "/boot" };
static const char *const files[] = { "/sys/kernel/security/lsm", "/proc/cmdline",
				     "/boot/config-6.1.0-test" };

static int start(void **state)
{
	char full[128];

	(void)state;
	snprintf(root, sizeof(root), "/tmp/comet-test-probe-XXXXXX");
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < COMET_ARRAY_SIZE(directories); i++) {
		in_root(directories[i], full, sizeof(full));
		assert_int_equal(mkdir(full, 0700), 0);
	}
	return 0;
}

static int stop(void **state)
{
	char full[128];

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(files); i++) {
		in_root(files[i], full, sizeof(full));
		unlink(full);
	}
	for (size_t i = COMET_ARRAY_SIZE(directories); i > 0; i--) {
		in_root(directories[i - 1], full, sizeof(full));
		rmdir(full);
	}
	return rmdir(root);
}

static void put_file(const char *path, const char *text)
{
	char full[128];
	FILE *file;

	in_root(path, full, sizeof(full));
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void assert_list(const char *names, const char *source, bool in_force)
{
	struct comet_lsm_list list;

	comet_lsm_read(root, "6.1.0-test", &list);
	assert_string_equal(list.names, names);
	assert_non_null(strstr(list.source, source));
	assert_int_equal(list.in_force, in_force);
}

static void a_module_is_a_whole_item_of_the_list(void **state)
{
	(void)state;
	assert_true(comet_lsm_has("bpf", "bpf"));
	assert_true(comet_lsm_has("landlock,bpf", "bpf"));
	assert_true(comet_lsm_has("bpf,landlock", "bpf"));
	assert_true(comet_lsm_has("a,bpf,b", "bpf"));
	assert_false(comet_lsm_has("", "bpf"));
	assert_false(comet_lsm_has("bpfx,xbpf", "bpf"));
	assert_false(comet_lsm_has("landlock,yama", "bpf"));
	assert_false(comet_lsm_has("bpf-lsm", "bpf"));
}

static void the_running_kernel_is_asked_first(void **state)
{
	(void)state;
	put_file(files[0], "lockdown,capability,landlock,yama,bpf");
	put_file(files[1], "quiet lsm=landlock\n");
	put_file(files[2], "CONFIG_LSM=\"yama\"\n");
	assert_list("lockdown,capability,landlock,yama,bpf", "/sys/kernel/security/lsm", true);
}

static void the_command_line_comes_before_the_configuration(void **state)
{
	(void)state;
	put_file(files[1], "BOOT_IMAGE=/vmlinuz xlsm=no lsm=one,two lsm=landlock,bpf quiet\n");
	put_file(files[2], "CONFIG_LSM=\"yama\"\n");
	assert_list("landlock,bpf", "/proc/cmdline", false);
}

static void the_configuration_is_the_last_resort(void **state)
{
	(void)state;
	put_file(files[1], "BOOT_IMAGE=/vmlinuz ro quiet\n");
	put_file(files[2], "# CONFIG_LSM_X is not set\nCONFIG_BPF_LSM=y\n"
			   "CONFIG_LSM=\"landlock,lockdown,bpf\"\n");
	assert_list("landlock,lockdown,bpf", "/boot/config-6.1.0-test", false);
}

static void nothing_known_is_an_empty_list(void **state)
{
	(void)state;
	assert_list("", "", false);
}

static void a_long_list_is_cut_and_does_no_harm(void **state)
{
	char text[3000];
	struct comet_lsm_list list;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put_file(files[0], text);
	comet_lsm_read(root, "6.1.0-test", &list);
	assert_int_equal(strlen(list.names), sizeof(list.names) - 1);
}

static const struct comet_hook *find_hook(const char *program)
{
	for (size_t i = 0; i < comet_n_hooks; i++)
		if (streq(comet_hooks[i].program, program))
			return &comet_hooks[i];
	return NULL;
}

static void hooks_are_a_sound_table(void **state)
{
	(void)state;
	assert_true(comet_n_hooks > 0);
	for (size_t i = 0; i < comet_n_hooks; i++) {
		const struct comet_hook *hook = &comet_hooks[i];

		assert_ptr_equal(find_hook(hook->program), hook);
		assert_int_equal(strncmp(hook->program, "comet_", 6), 0);
		assert_true(strlen(hook->target) > 0);
		assert_true(strlen(hook->needed_for) > 0);
		if (hook->instead)
			assert_non_null(find_hook(hook->instead));
	}
}

/* What may be missing must be covered by a hook that may not. */
static void optional_hooks_are_covered_by_required_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < comet_n_hooks; i++) {
		const struct comet_hook *hook = &comet_hooks[i];

		if (!hook->instead)
			continue;
		assert_false(hook->required);
		assert_true(find_hook(hook->instead)->required);
	}
}

static void a_hook_that_no_kernel_has_is_absent(void **state)
{
	const struct comet_hook absent = { .target = "bpf_lsm_no_such_hook" };
	const struct comet_hook present = { .target = "bpf_lsm_file_open" };
	int r = comet_probe_hook(&present);

	(void)state;
	/* Without kernel BTF nothing can be said, of neither. */
	if (r < 0) {
		print_message("kernel BTF cannot be read here: %s\n", strerror(-r));
		assert_true(comet_probe_hook(&absent) < 0);
		return;
	}
	assert_int_equal(r, 1);
	assert_int_equal(comet_probe_hook(&absent), 0);
}

static void every_lack_has_a_remedy_and_nothing_else_has(void **state)
{
	struct comet_check checks[COMET_CHECKS_MAX];
	size_t n = comet_probe_host(checks);

	(void)state;
	assert_true(n > 0 && n <= COMET_CHECKS_MAX);
	for (size_t i = 0; i < n; i++) {
		assert_true(strlen(checks[i].name) > 0);
		assert_true(strlen(checks[i].found) > 0);
		assert_int_equal(checks[i].ok, checks[i].remedy[0] == '\0');
		assert_null(strchr(checks[i].remedy, '\n'));
	}
}

static void the_first_lack_is_the_one_that_is_told(void **state)
{
	struct comet_check checks[COMET_CHECKS_MAX];
	struct comet_error error = { .text = "" };
	size_t n = comet_probe_host(checks);
	int r = comet_probe_require(&error);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (checks[i].ok)
			continue;
		assert_int_equal(r, -ENOTSUP);
		assert_non_null(strstr(error.text, checks[i].name));
		assert_non_null(strstr(error.text, checks[i].remedy));
		return;
	}
	assert_int_equal(r, 0);
}

static bool rights_are_said_to_be_missing(void)
{
	struct comet_check checks[COMET_CHECKS_MAX];
	size_t n = comet_probe_host(checks);

	for (size_t i = 0; i < n; i++)
		if (streq(checks[i].name, "rights"))
			return !checks[i].ok && strstr(checks[i].remedy, "root");
	return false;
}

static void a_process_without_rights_is_told_to_be_root(void **state)
{
	int status = -1;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		/* Drops every capability; fails only where there are none to drop. */
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(rights_are_said_to_be_missing() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_is_a_whole_item_of_the_list),
		cmocka_unit_test_setup_teardown(the_running_kernel_is_asked_first, start, stop),
		cmocka_unit_test_setup_teardown(the_command_line_comes_before_the_configuration,
						start, stop),
		cmocka_unit_test_setup_teardown(the_configuration_is_the_last_resort, start, stop),
		cmocka_unit_test_setup_teardown(nothing_known_is_an_empty_list, start, stop),
		cmocka_unit_test_setup_teardown(a_long_list_is_cut_and_does_no_harm, start, stop),
		cmocka_unit_test(hooks_are_a_sound_table),
		cmocka_unit_test(optional_hooks_are_covered_by_required_ones),
		cmocka_unit_test(a_hook_that_no_kernel_has_is_absent),
		cmocka_unit_test(every_lack_has_a_remedy_and_nothing_else_has),
		cmocka_unit_test(the_first_lack_is_the_one_that_is_told),
		cmocka_unit_test(a_process_without_rights_is_told_to_be_root),
	};

	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
