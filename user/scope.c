// SPDX-License-Identifier: Apache-2.0
/* How does a Scope event look? The only place that knows the JSON names. */
#include "user/scope.h"

#include <jansson.h>
#include <sys/utsname.h>

#include "user/base.h"
#include "user/scope_fix.h"
#include "user/text.h"

static const char *const severity_names[] = {
	[COMET_SEVERITY_INFO] = "info",
	[COMET_SEVERITY_VIOLATION] = "violation",
};
_Static_assert(COMET_ARRAY_SIZE(severity_names) == COMET_SEVERITY_VIOLATION + 1,
	       "a name for each severity");

static void json_decref_ptr(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ _cleanup_(json_decref_ptr)

/* Each returns 0 or -1 (no memory), so that a caller can collect them with |=. */
static int put_text(json_t *event, const char *key, const char *text, size_t len)
{
	_cleanup_free_ char *clean = comet_text_to_utf8(text, len);

	return clean ? json_object_set_new(event, key, json_string(clean)) : -1;
}

static int put_str(json_t *event, const char *key, const char *text)
{
	return put_text(event, key, text, strlen(text));
}

static int put_true(json_t *event, const char *key, bool value)
{
	return value ? json_object_set_new(event, key, json_true()) : 0;
}

static int put_bool(json_t *event, const char *key, bool value)
{
	return json_object_set_new(event, key, json_boolean(value));
}

static int put_int(json_t *event, const char *key, int64_t value)
{
	return json_object_set_new(event, key, json_integer(value));
}

/* JSON readers know no more than 63 bits. */
static int put_u64(json_t *event, const char *key, uint64_t value)
{
	return put_int(event, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* RFC 3339, UTC, milliseconds. */
static int put_time(json_t *event, const char *key, const struct timespec *ts)
{
	char text[64];
	struct tm tm;

	if (!gmtime_r(&ts->tv_sec, &tm))
		return -1;
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 ts->tv_nsec / 1000000);
	return put_str(event, key, text);
}

/* The envelope that every event shares; wall NULL = now. */
static json_t *new_event(const struct comet_scope_run *run, const char *kind,
			 const struct timespec *wall)
{
	_cleanup_json_ json_t *event = json_object();
	_cleanup_free_ char *pack = NULL;
	struct timespec now;
	int r = 0;

	if (!event)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	if (asprintf(&pack, "soya:%s", run->pack) < 0) {
		pack = NULL;
		return NULL;
	}
	r |= put_str(event, "kind", kind);
	r |= put_str(event, "run_id", run->id);
	r |= put_time(event, "ts", wall ? wall : &now);
	r |= put_str(event, "pack", pack);
	return r ? NULL : COMET_TAKE_PTR(event);
}

static char *to_line(const json_t *event)
{
	_cleanup_free_ char *json = json_dumps(event, JSON_COMPACT);

	return json ? comet_text_json_line(json) : NULL;
}

static int put_argv(json_t *event, char *const argv[])
{
	json_t *list = json_array();
	int r = 0;

	for (size_t i = 0; argv[i] && list; i++) {
		_cleanup_free_ char *clean = comet_text_to_utf8(argv[i], strlen(argv[i]));

		r |= clean ? json_array_append_new(list, json_string(clean)) : -1;
	}
	return json_object_set_new(event, "argv", list) | r;
}

char *comet_scope_started(const struct comet_scope_run *run, char *const argv[], uint32_t pid,
			  const char *cgroup)
{
	_cleanup_json_ json_t *event = new_event(run, "run_started", NULL);
	struct utsname kernel;
	int r = 0;

	if (!event)
		return NULL;
	r |= put_argv(event, argv);
	r |= put_int(event, "pid", pid);
	r |= put_str(event, "cgroup", cgroup);
	if (run->digest)
		r |= put_str(event, "digest", run->digest);
	if (run->determinism_tier)
		r |= put_str(event, "determinism_tier", run->determinism_tier);
	r |= put_str(event, "mode", run->audit ? "audit" : "enforce");
	r |= put_str(event, "isolation", run->container ? "container" : "process");
	r |= put_str(event, "comet_version", COMET_VERSION);
	if (uname(&kernel) == 0)
		r |= put_str(event, "kernel", kernel.release);
	return r ? NULL : to_line(event);
}

static int put_errno(json_t *event, int error)
{
	const char *name = error ? strerrorname_np(error) : NULL;
	char number[16];

	snprintf(number, sizeof(number), "%d", error);
	return put_str(event, "errno", name ? name : number);
}

static int put_process(json_t *event, const struct comet_event *head)
{
	int r = 0;

	r |= put_int(event, "pid", head->pid);
	r |= put_int(event, "tid", head->tid);
	r |= put_int(event, "ppid", head->ppid);
	r |= put_int(event, "uid", head->uid);
	r |= put_text(event, "comm", head->comm, strnlen(head->comm, sizeof(head->comm)));
	r |= put_u64(event, "cgroup", head->cgroup);
	return r;
}

static int put_marks(json_t *event, const struct comet_violation *v)
{
	int r = 0;

	r |= put_true(event, "would_deny", v->head.flags & COMET_EVENT_AUDIT);
	r |= put_true(event, "killed", v->head.flags & COMET_EVENT_KILLED);
	r |= put_true(event, "truncated", v->head.flags & COMET_EVENT_TRUNCATED);
	if (!comet_text_is_utf8(v->requested, v->requested_len)) {
		_cleanup_free_ char *hex = comet_text_to_hex(v->requested, v->requested_len);

		r |= hex ? put_str(event, "requested_bytes", hex) : -1;
	}
	return r;
}

char *comet_scope_violation(const struct comet_scope_run *run, const struct comet_violation *v)
{
	_cleanup_json_ json_t *event = new_event(run, "capability_violation", &v->wall);
	_cleanup_free_ char *fix = comet_scope_fix(run, v, NULL);
	int r = 0;

	if (!event || !fix)
		return NULL;
	r |= put_str(event, "surface", comet_surface_to_str((enum comet_surface)v->head.surface));
	r |= put_text(event, "requested", v->requested, v->requested_len);
	r |= put_str(event, "matched", "no match");
	r |= put_str(event, "op", comet_op_to_str((enum comet_op)v->head.op));
	r |= put_errno(event, v->head.error);
	r |= put_str(event, "severity", severity_names[v->head.severity]);
	r |= put_int(event, "layer", v->head.layer);
	r |= put_u64(event, "count", v->head.count);
	r |= put_u64(event, "sequence", v->head.sequence);
	r |= put_process(event, &v->head);
	r |= put_marks(event, v);
	r |= put_str(event, "fix", fix);
	return r ? NULL : to_line(event);
}

char *comet_scope_completed(const struct comet_scope_run *run, const struct comet_scope_end *end)
{
	_cleanup_json_ json_t *event = new_event(run, "run_completed", NULL);
	int r = 0;

	if (!event)
		return NULL;
	r |= put_bool(event, "ok", end->ok);
	r |= put_int(event, "exit", end->exit_code);
	if (end->status >= 0)
		r |= put_int(event, "status", end->status);
	else
		r |= json_object_set_new(event, "status", json_null());
	r |= put_bool(event, "timed_out", end->timed_out);
	r |= put_int(event, "total_ms", end->total_ms);
	r |= put_u64(event, "violations", end->counters.violations);
	r |= put_u64(event, "denied", end->counters.denied);
	r |= put_u64(event, "delivered", end->counters.delivered);
	r |= put_u64(event, "folded", end->counters.folded);
	r |= put_u64(event, "lost", end->counters.lost);
	r |= put_u64(event, "dropped", end->counters.dropped);
	return r ? NULL : to_line(event);
}
