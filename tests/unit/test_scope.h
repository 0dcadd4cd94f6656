/* SPDX-License-Identifier: Apache-2.0 */
/* What do the tests of events share? One violation, to be changed by each test, and how to read. */
#ifndef COMET_TEST_SCOPE_H
#define COMET_TEST_SCOPE_H

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

static inline void set_requested(const char *bytes, size_t len)
{
	assert_true(len < sizeof(violation.requested));
	memcpy(violation.requested, bytes, len);
	violation.requested[len] = '\0';
	violation.requested_len = len;
}

/* One line that any reader splits as one, and that holds nothing that a terminal obeys. */
static inline json_t *parse_line(char *line)
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

static inline json_t *parse_violation(void)
{
	return parse_line(comet_scope_violation(&run, &violation));
}

static inline const char *text(const json_t *json, const char *key)
{
	const char *value = json_string_value(json_object_get(json, key));

	assert_non_null(value);
	return value;
}

#endif /* COMET_TEST_SCOPE_H */
