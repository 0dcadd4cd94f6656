// SPDX-License-Identifier: Apache-2.0
/* Does an event say what to add to the manifest, or why nothing helps? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "user/base.h"
#include "user/scope.h"
#include "user/text.h"

static struct comet_violation violation;
static struct comet_scope_run run;

static int start(void **state)
{
	(void)state;
	run = (struct comet_scope_run){
		.id = "run_01jdzn3v0000000000000000aa",
		.pack = "estate-muse@0.1.0",
		.digest = "abc123",
		.dialect = COMET_DIALECT_GO,
		.determinism_tier = "read-only",
		.manifest_file = "soyapack.yaml",
	};
	memset(&violation, 0, sizeof(violation));
	violation.head = (struct comet_event){
		.version = COMET_WIRE_VERSION,
		.sequence = 41,
		.cgroup = 4711,
		.count = 1,
		.pid = 812,
		.tid = 813,
		.ppid = 800,
		.uid = 1000,
		.error = ENOENT,
		.layer = 1,
		.surface = COMET_SURFACE_FS_READ,
		.op = COMET_OP_OPEN,
		.severity = COMET_SEVERITY_VIOLATION,
		.tail = COMET_TAIL_PATH,
		.comm = "python3",
	};
	violation.wall = (struct timespec){ .tv_sec = 951782399, .tv_nsec = 7999999 };
	violation.requested_len =
		(size_t)snprintf(violation.requested, sizeof(violation.requested), "/etc/shadow");
	return 0;
}

static void set_requested(const char *bytes, size_t len)
{
	assert_true(len < sizeof(violation.requested));
	memcpy(violation.requested, bytes, len);
	violation.requested[len] = '\0';
	violation.requested_len = len;
}

/* One line that any reader splits as one, and that holds nothing that a terminal obeys. */
static json_t *parse_line(char *line)
{
	json_error_t error;
	json_t *json;
	size_t len;

	assert_non_null(line);
	len = strlen(line);
	assert_true(comet_text_is_utf8(line, len));
	for (size_t i = 0; i < len; i++)
		assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
	assert_null(strstr(line, "\xe2\x80\xa8"));
	assert_null(strstr(line, "\xe2\x80\xa9"));
	json = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	free(line);
	assert_non_null(json);
	return json;
}

static json_t *parse_violation(void)
{
	return parse_line(comet_scope_violation(&run, &violation));
}

static const char *text(const json_t *json, const char *key)
{
	const char *value = json_string_value(json_object_get(json, key));

	assert_non_null(value);
	return value;
}

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
		   "capabilities:\n  exec:\n    - /usr/bin/id");
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
