// SPDX-License-Identifier: Apache-2.0
/* What does a run tell, and to whom? */
#define _GNU_SOURCE 1

#include "user/run_report.h"

#include <inttypes.h>

#include "manifest/util.h"
#include "user/base.h"
#include "user/text.h"

int comet_run_report_init(struct comet_run_report *report, const struct comet_run_options *options,
			  struct comet_error *error)
{
	const bool terminal = isatty(STDERR_FILENO);

	*report = (struct comet_run_report){
		.quiet = options->quiet,
		.json = options->json,
		.colour = comet_wants_colour(stderr),
	};
	comet_voice_open(&report->voice);
	/* Lines for people and NDJSON do not share one stream. */
	report->human = !options->quiet && !options->json &&
			(!options->events || (terminal && !streq(options->events, "-")));
	report->errors = json_array();
	report->audit = json_array();
	if (!report->errors || !report->audit)
		return comet_error_set(error, ENOMEM, "out of memory");
	return 0;
}

int comet_run_report_open(struct comet_run_report *report, const struct comet_run_options *options,
			  const struct comet_manifest *manifest, const struct comet_policy *policy,
			  struct comet_error *error)
{
	int err = comet_scope_new_run_id(report->run.id);

	if (err < 0)
		return comet_error_set(error, -err, "cannot make a run id: %s", strerror(-err));
	report->run.pack = policy->pack;
	report->run.digest = manifest->digest;
	report->run.dialect = manifest->dialect;
	report->run.determinism_tier = manifest->determinism_tier;
	report->run.manifest_file = manifest->file;
	report->run.audit = options->audit;
	return options->events ? comet_sink_open(options->events, &report->sink, error) : 0;
}

static void __attribute__((format(printf, 2, 3)))
print(struct comet_run_report *report, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		text = NULL;
	else
		comet_voice_say(&report->voice, text);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void comet_run_report_close(struct comet_run_report *report)
{
	uint64_t lost = comet_sink_flush(report->sink);
	int err = comet_sink_close(report->sink);

	report->sink = NULL;
	if (lost)
		print(report, "comet: %" PRIu64 " event%s could not be written in time", lost,
		      plural(lost));
	json_decref(report->errors);
	json_decref(report->audit);
	report->errors = NULL;
	report->audit = NULL;
	if (err < 0)
		print(report, "comet: not every event could be written to where --events says: %s",
		      strerror(-err));
	comet_voice_close(&report->voice);
}

void comet_run_report_warn(void *context, const struct comet_location *location, const char *text)
{
	struct comet_run_report *report = context;

	if (report->quiet)
		return;
	if (location && location->file && location->line)
		print(report, "%s:%u:%u: warning: %s", location->file, location->line,
		      location->column, text);
	else
		print(report, "comet: warning: %s", text);
}

void comet_run_report_error(struct comet_run_report *report, const char *text)
{
	_cleanup_free_ char *utf8 = comet_text_to_utf8(text, strlen(text));

	print(report, "comet: %s", text);
	if (report->errors && utf8)
		json_array_append_new(report->errors, json_string(utf8));
}

static void send(struct comet_run_report *report, const char *line)
{
	/* The sink keeps its first error, and comet_run_report_close() hands it on. */
	if (report->sink && line)
		comet_sink_write(report->sink, line);
}

void comet_run_report_started(struct comet_run_report *report, char *const argv[], uint32_t pid,
			      const char *cgroup)
{
	_cleanup_free_ char *line = comet_scope_started(&report->run, argv, pid, cgroup);

	report->started = true;
	send(report, line);
}

/* On standard error the program's name comes first; in the result it would be on every line. */
static size_t prefix_len(const char *text)
{
	return strncmp(text, "comet: ", 7) == 0 ? 7 : 0;
}

/* The words that a person would have read are the result's errors. */
static void keep_violation(struct comet_run_report *report, const char *line, const char *text)
{
	json_t *event;

	if (json_array_size(report->audit) >= COMET_RUN_REPORT_AUDIT_MAX) {
		report->audit_truncated = true;
		return;
	}
	event = json_loads(line, JSON_DECODE_ANY, NULL);
	if (event)
		json_array_append_new(report->audit, event);
	if (text)
		json_array_append_new(report->errors, json_string(text + prefix_len(text)));
}

void comet_run_report_violation(struct comet_run_report *report,
				const struct comet_violation *violation)
{
	_cleanup_free_ char *line = comet_scope_violation(&report->run, violation);
	_cleanup_free_ char *text = NULL;

	send(report, line);
	if (report->human || report->json)
		text = comet_scope_violation_text(&report->run, violation,
						  report->human && report->colour);
	if (report->human && text)
		comet_voice_say(&report->voice, text);
	if (report->json && line)
		keep_violation(report, line,
			       violation->head.severity == COMET_SEVERITY_VIOLATION ? text : NULL);
}

static void summarize(struct comet_run_report *report, const struct comet_scope_end *end)
{
	const struct comet_counters *c = &end->counters;

	if (c->violations && report->run.audit)
		print(report,
		      "comet: %" PRIu64 " violation%s of %s would have been refused (audit)",
		      (uint64_t)c->violations, plural(c->violations), report->run.pack);
	else if (c->violations)
		print(report, "comet: %" PRIu64 " violation%s of the manifest of %s",
		      (uint64_t)c->violations, plural(c->violations), report->run.pack);
	if (c->folded)
		print(report,
		      "comet: %" PRIu64
		      " refusal%s within a second of an equal one, without a line of %s own",
		      (uint64_t)c->folded, plural(c->folded), c->folded == 1 ? "its" : "their");
	if (c->lost)
		print(report,
		      "comet: %" PRIu64
		      " refusal%s could not be reported as events: they came faster "
		      "than they could be read",
		      (uint64_t)c->lost, plural(c->lost));
	if (c->dropped)
		print(report, "comet: the packet filter dropped %" PRIu64 " packet%s",
		      (uint64_t)c->dropped, plural(c->dropped));
}

void comet_run_report_completed(struct comet_run_report *report, const struct comet_scope_end *end)
{
	_cleanup_free_ char *line = NULL;

	if (!report->started)
		return;
	line = comet_scope_completed(&report->run, end);
	send(report, line);
	if (report->human)
		summarize(report, end);
}

/* As a list of lines; the newline at the end of the last one opens no further line. */
static json_t *lines(const struct comet_stream *stream)
{
	json_t *list = json_array();
	size_t start = 0;

	while (list && start < stream->len) {
		const char *line = stream->bytes + start;
		const char *end = memchr(line, '\n', stream->len - start);
		size_t len = end ? (size_t)(end - line) : stream->len - start;
		_cleanup_free_ char *utf8 = comet_text_to_utf8(line, len);

		json_array_append_new(list, utf8 ? json_string(utf8) : json_null());
		start += len + 1;
	}
	return list;
}

void comet_run_report_print_result(struct comet_run_report *report,
				   const struct comet_run_report_result *result)
{
	static const struct comet_stream nothing = { .fd = -1 };
	const struct comet_scope_end *end = result->end;
	const struct comet_capture *capture = result->capture;
	json_t *usage, *object;

	if (!report->json)
		return;
	usage = json_pack("{s:I, s:f}", "wall_ms", (json_int_t)end->total_ms, "vcpu_seconds",
			  (double)result->cpu_usec / 1e6);
	object = json_pack("{s:b, s:o, s:b, s:o, s:o, s:b, s:O, s:O, s:b, s:I, s:I, s:o}", "ok",
			   end->ok, "exit",
			   end->status < 0 ? json_null() : json_integer(end->status), "timed_out",
			   end->timed_out, "output", lines(capture ? &capture->output : &nothing),
			   "stderr", lines(capture ? &capture->errors : &nothing),
			   "output_truncated", capture && capture->truncated, "errors",
			   report->errors, "audit", report->audit, "audit_truncated",
			   report->audit_truncated || end->counters.lost > 0, "audit_lost",
			   (json_int_t)end->counters.lost, "violations",
			   (json_int_t)end->counters.violations, "usage", usage);
	if (!object || json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', stdout) < 0 || fflush(stdout) != 0)
		print(report, "comet: cannot print the result: %s", strerror(errno));
	json_decref(object);
}
