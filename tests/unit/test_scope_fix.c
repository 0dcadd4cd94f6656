// SPDX-License-Identifier: Apache-2.0
/* Does an event say what to add to the manifest, or why nothing helps? */
#include "tests/unit/test_scope.h"

static void assert_fix(enum comet_dialect dialect, enum comet_surface surface, enum comet_tail tail,
		       const char *requested, const char *fix)
{
	json_t *json;

	run.dialect = dialect;
	violation.head.surface = (__u8)surface;
	violation.head.tail = (__u8)tail;
	set_requested(requested, strlen(requested));
	json = parse_violation();
	assert_string_equal(text(json, "fix"), fix);
	json_decref(json);
}

static void the_fix_speaks_the_dialect_of_the_manifest(void **state)
{
	(void)state;
	assert_fix(COMET_DIALECT_SEED, COMET_SURFACE_FS_WRITE, COMET_TAIL_PATH, "/srv/x",
		   "capabilities:\n  fs:\n    write:\n      - /srv/x");
	assert_fix(COMET_DIALECT_SPEC, COMET_SURFACE_FS_WRITE, COMET_TAIL_PATH, "/srv/x",
		   "capabilities:\n  fs.write:\n    - /srv/x");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_EGRESS, COMET_TAIL_ADDR, "192.0.2.1:443/tcp",
		   "capabilities:\n  network_out:\n    - host: \"192.0.2.1\"\n      port: 443\n"
		   "      proto: https");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_EXEC, COMET_TAIL_PATH, "/usr/bin/id",
		   "capabilities:\n  exec:\n    - id");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_EXEC, COMET_TAIL_PATH, "/opt/x/bin/id",
		   "capabilities:\n  exec:\n    - /opt/x/bin/id");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_EXEC, COMET_TAIL_PATH, "/usr/bin/x/id",
		   "capabilities:\n  exec:\n    - /usr/bin/x/id");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_FS_WRITE, COMET_TAIL_PATH, "/proc/sys/x",
		   "capabilities:\n  fs_write:\n    - /proc/sys/x");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_IPC, COMET_TAIL_ADDR, "/run/docker.sock",
		   "capabilities:\n  fs_write:\n    - /run/docker.sock");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_SERVE, COMET_TAIL_ADDR, "0.0.0.0:8080/tcp",
		   "capabilities:\n  serve:\n    - 8080");
	assert_fix(COMET_DIALECT_SEED, COMET_SURFACE_SERVE, COMET_TAIL_ADDR, "[::]:53/udp",
		   "capabilities:\n  serve:\n    - 53/udp");
}

static void where_no_manifest_can_the_fix_is_a_sentence(void **state)
{
	(void)state;
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_TIME, COMET_TAIL_NONE, "settime",
		   "no manifest can grant setting the clock");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_KERNEL, COMET_TAIL_ADDR, "family 17 type 3",
		   "no manifest can grant this: it would let a process out of its policy");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_IPC, COMET_TAIL_ADDR, "@bus",
		   "only a UNIX socket with an absolute path can be granted, under fs.write");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_IPC, COMET_TAIL_VALUE, "SIGKILL",
		   "no manifest can grant signals to or tracing of processes outside the run");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_EGRESS, COMET_TAIL_ADDR,
		   "192.0.2.1:1/protocol 99", "no entry of a manifest can name this resource");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_SERVE, COMET_TAIL_ADDR, "[::]:0/tcp",
		   "a port that the kernel chooses cannot be named; bind to a declared one, or "
		   "declare \"*\" under serve");
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_FS_WRITE, COMET_TAIL_PATH, "/proc/3/comm",
		   "a process has another number in the next run: its files cannot be named");
	violation.head.flags = COMET_EVENT_TRUNCATED;
	assert_fix(COMET_DIALECT_GO, COMET_SURFACE_FS_READ, COMET_TAIL_PATH, "\xe2\x80\xa6/a",
		   "no manifest can name a path of over 4,095 bytes; grant a directory above it");
}

#define test(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_fix_speaks_the_dialect_of_the_manifest),
		test(where_no_manifest_can_the_fix_is_a_sentence),
	};

	return cmocka_run_group_tests_name("scope_fix", tests, NULL, NULL);
}
