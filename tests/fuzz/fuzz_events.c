// SPDX-License-Identifier: Apache-2.0
/* Can any record of the ring buffer make a Scope event that is not one valid line? */
#include <jansson.h>
#include <stdint.h>

#include "user/base.h"
#include "user/events.h"
#include "user/scope.h"
#include "user/text.h"

/* jansson would stop at an assertion's message only; abort() is what the fuzzer sees. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct comet_scope_run *run, const struct comet_violation *v)
{
	_cleanup_free_ char *line = comet_scope_violation(run, v);
	json_error_t error;
	json_t *json;

	require(line);
	require(comet_text_is_utf8(line, strlen(line)));
	require(!strpbrk(line, "\n\r\x7f"));
	require(!strstr(line, "\xe2\x80\xa8") && !strstr(line, "\xe2\x80\xa9"));
	json = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	require(json);
	require(json_is_string(json_object_get(json, "requested")));
	require(json_is_string(json_object_get(json, "fix")));
	json_decref(json);
}

/* The fix may have lines of its own; nothing else of a terminal's language gets through. */
static void check_text(const struct comet_scope_run *run, const struct comet_violation *v)
{
	_cleanup_free_ char *text = comet_scope_violation_text(run, v, false);

	require(text);
	require(comet_text_is_utf8(text, strlen(text)));
	for (const char *c = text; *c; c++)
		require((unsigned char)*c >= 0x20 || *c == '\n');
	require(!strchr(text, 0x7f));
}

static void check(const struct comet_scope_run *run, const void *record, size_t size)
{
	static struct comet_violation v;

	if (comet_events_decode(record, size, &v) < 0)
		return;
	require(v.requested_len < sizeof(v.requested));
	require(v.requested[v.requested_len] == '\0');
	check_json(run, &v);
	check_text(run, &v);
}

/* Bends a header into one that passes, so that every input gets as far as its tail. */
static void repair(char *record, size_t size)
{
	struct comet_event head;
	size_t room = size - sizeof(head);

	memcpy(&head, record, sizeof(head));
	head.version = COMET_WIRE_VERSION;
	head.count += head.count == 0;
	head.error = (int)((unsigned int)head.error % 4096);
	head.layer %= COMET_LAYERS_MAX;
	head.surface %= _COMET_SURFACE_MAX;
	head.op %= _COMET_OP_MAX;
	head.severity %= COMET_SEVERITY_VIOLATION + 1;
	head.tail %= COMET_TAIL_VALUE + 1;
	head.tail_len = (__u16)(head.tail_len % (room + 1));
	if (head.tail == COMET_TAIL_PATH && head.tail_len > 0)
		record[sizeof(head) + head.tail_len - 1] = '\0';
	if (head.tail == COMET_TAIL_ADDR && room >= sizeof(struct comet_addr))
		head.tail_len = sizeof(struct comet_addr);
	if (head.tail == COMET_TAIL_VALUE && room >= sizeof(__u64))
		head.tail_len = sizeof(__u64);
	memcpy(record, &head, sizeof(head));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct comet_scope_run run = {
		.id = "run_01jdzn3v0000000000000000aa",
		.pack = "fuzz@1.0.0",
		.dialect = size % _COMET_DIALECT_MAX,
	};
	/* A block of its own: a read past the record is a read past memory. */
	_cleanup_free_ char *record = malloc(size ? size : 1);

	if (!record)
		return 0;
	memcpy(record, data, size);
	check(&run, record, size);
	if (size >= sizeof(struct comet_event)) {
		repair(record, size);
		check(&run, record, size);
	}
	return 0;
}
