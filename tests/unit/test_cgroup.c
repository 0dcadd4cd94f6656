// SPDX-License-Identifier: Apache-2.0
/* Is the caller's cgroup v2 directory found on every kind of host, and nowhere else? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/cgroup.h"

#define ROOT_LINE "21 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
#define PURE                                                                                       \
	ROOT_LINE                                                                                  \
	"29 21 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "  \
	"rw\n"
#define HYBRID                                                                                     \
	ROOT_LINE                                                                                  \
	"30 21 0:27 / /sys/fs/cgroup ro,nosuid shared:10 - tmpfs tmpfs ro,mode=755\n"              \
	"31 30 0:28 / /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n" \
	"32 30 0:29 / /sys/fs/cgroup/unified rw shared:12 - cgroup2 cgroup2 rw\n"
#define HYBRID_OWN                                                                                 \
	"5:memory:/user.slice\n1:name=systemd:/user.slice/a.scope\n0::/user.slice/a.scope\n"

static void assert_found(const char *mountinfo, const char *own, const char *mount,
			 const char *path)
{
	struct comet_error error = { "" };
	char *found_mount = NULL, *found_path = NULL;

	if (comet_cgroup_locate(mountinfo, own, &found_mount, &found_path, &error) != 0)
		fail_msg("not found: %s", error.text);
	assert_string_equal(found_mount, mount);
	assert_string_equal(found_path, path);
	free(found_mount);
	free(found_path);
}

static void assert_refused(const char *mountinfo, const char *own, const char *part)
{
	struct comet_error error = { "" };
	char *mount = (char *)"unchanged", *path = (char *)"unchanged";

	assert_int_equal(comet_cgroup_locate(mountinfo, own, &mount, &path, &error), -ENOTSUP);
	assert_string_equal(mount, "unchanged");
	assert_string_equal(path, "unchanged");
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void a_host_with_v2_alone(void **state)
{
	(void)state;
	assert_found(PURE, "0::/system.slice/ssh.service\n", "/sys/fs/cgroup",
		     "/sys/fs/cgroup/system.slice/ssh.service");
	assert_found(PURE, "0::/\n", "/sys/fs/cgroup", "/sys/fs/cgroup");
}

static void a_hybrid_host_is_not_taken_for_v1(void **state)
{
	(void)state;
	assert_found(HYBRID, HYBRID_OWN, "/sys/fs/cgroup/unified",
		     "/sys/fs/cgroup/unified/user.slice/a.scope");
}

static void an_unusual_mount_point(void **state)
{
	(void)state;
	assert_found(ROOT_LINE "40 21 0:30 / /mnt/odd\\040cg\\134x rw - cgroup2 none rw\n",
		     "0::/a\n", "/mnt/odd cg\\x", "/mnt/odd cg\\x/a");
}

static void a_container_that_sees_a_part(void **state)
{
	(void)state;
	assert_found("40 21 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		     "0::/docker/abc/x\n", "/sys/fs/cgroup", "/sys/fs/cgroup/x");
	assert_found("40 21 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		     "0::/docker/abc\n", "/sys/fs/cgroup", "/sys/fs/cgroup");
	assert_refused("40 21 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		       "0::/docker/abcd\n", "does not hold");
}

static void a_mount_that_does_not_hold_the_caller_is_passed_over(void **state)
{
	(void)state;
	assert_found("40 21 0:30 /other /elsewhere rw - cgroup2 cgroup rw\n" PURE, "0::/mine\n",
		     "/sys/fs/cgroup", "/sys/fs/cgroup/mine");
}

static void a_cgroup_outside_the_namespace_is_refused(void **state)
{
	(void)state;
	assert_refused(PURE, "0::/../x\n", "cgroup namespace");
	assert_refused("40 21 0:30 /.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/\n",
		       "cgroup namespace");
}

static void a_host_without_v2_gets_the_remedy(void **state)
{
	static const char v1[] = ROOT_LINE
		"31 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

	(void)state;
	assert_refused(v1, "4:memory:/\n", "mount -t cgroup2");
	/* Used once, but not mounted any more. */
	assert_refused(v1, "4:memory:/\n0::/\n", "mount -t cgroup2");
	assert_refused("", "0::/\n", "mount -t cgroup2");
	assert_refused(PURE, "", "mount -t cgroup2");
}

static void lines_that_are_cut_short_are_passed_over(void **state)
{
	(void)state;
	assert_refused("40 21 0:30 / /sys\n40 21 0:30 / /sys rw -\n- cgroup2\n40\n", "0::/\n",
		       "not mounted");
	assert_found("- cgroup2 x\n" PURE, "0::/a", "/sys/fs/cgroup", "/sys/fs/cgroup/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_with_v2_alone),
		cmocka_unit_test(a_hybrid_host_is_not_taken_for_v1),
		cmocka_unit_test(an_unusual_mount_point),
		cmocka_unit_test(a_container_that_sees_a_part),
		cmocka_unit_test(a_mount_that_does_not_hold_the_caller_is_passed_over),
		cmocka_unit_test(a_cgroup_outside_the_namespace_is_refused),
		cmocka_unit_test(a_host_without_v2_gets_the_remedy),
		cmocka_unit_test(lines_that_are_cut_short_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
