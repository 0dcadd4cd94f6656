// SPDX-License-Identifier: Apache-2.0
/* Where does a finding about the manifest go: error, warning, or "valid but not to be run"? */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "manifest/report.h"

#define SENTENCE_MAX 1800

struct comet_location comet_report_locate(const struct comet_report *report,
					  const struct comet_node *node)
{
	struct comet_location location = { .file = report->file };

	if (node) {
		location.line = node->line;
		location.column = node->column;
	}
	return location;
}

/* "file:line:column: sentence"; without a line only the file. */
static void put_place(const struct comet_location *location, const char *sentence, char *out,
		      size_t capacity)
{
	char file[600];

	comet_quote(location->file, strlen(location->file), file, sizeof(file));
	if (location->line)
		snprintf(out, capacity, "%s:%u:%u: %s", file, location->line, location->column,
			 sentence);
	else
		snprintf(out, capacity, "%s: %s", file, sentence);
}

static int fail_with(struct comet_report *report, const struct comet_location *location,
		     const char *sentence)
{
	char text[sizeof(report->error->text) + 1];

	put_place(location, sentence, text, sizeof(text));
	return comet_error_set(report->error, EINVAL, "%s", text);
}

int comet_report_no_memory(struct comet_report *report)
{
	return comet_error_set(report->error, ENOMEM, "no memory to read the manifest");
}

static int add_warning(struct comet_report *report, const struct comet_node *node,
		       const char *sentence)
{
	struct comet_manifest *manifest = report->manifest;
	struct comet_warning *warning;
	bool last = manifest->n_warnings == COMET_WARNINGS_MAX - 1;

	if (manifest->n_warnings == COMET_WARNINGS_MAX)
		return 0;
	if (manifest->n_warnings == report->warnings_room) {
		size_t room = report->warnings_room ? report->warnings_room * 2 : 8;
		struct comet_warning *bigger;

		bigger = comet_arena_array(report->arena, room, sizeof(*bigger));
		if (!bigger)
			return comet_report_no_memory(report);
		if (manifest->n_warnings)
			memcpy(bigger, manifest->warnings, manifest->n_warnings * sizeof(*bigger));
		manifest->warnings = bigger;
		report->warnings_room = room;
	}
	warning = &manifest->warnings[manifest->n_warnings];
	warning->location = comet_report_locate(report, node);
	if (last)
		sentence = "more warnings than this are not shown";
	warning->text = comet_arena_copy(report->arena, sentence, strlen(sentence));
	if (!warning->text)
		return comet_report_no_memory(report);
	manifest->n_warnings++;
	return 0;
}

int comet_report_fail(struct comet_report *report, const struct comet_node *node,
		      const char *format, ...)
{
	struct comet_location location = comet_report_locate(report, node);
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	return fail_with(report, &location, sentence);
}

int comet_report_warn(struct comet_report *report, const struct comet_node *node,
		      const char *format, ...)
{
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	return add_warning(report, node, sentence);
}

int comet_report_refuse(struct comet_report *report, const struct comet_node *node,
			const char *format, ...)
{
	struct comet_location location = comet_report_locate(report, node);
	char text[sizeof(report->error->text)];
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (!report->upstream_accepts)
		return fail_with(report, &location, sentence);
	if (!report->manifest->unenforceable) {
		put_place(&location, sentence, text, sizeof(text));
		report->manifest->unenforceable =
			comet_arena_copy(report->arena, text, strlen(text));
		if (!report->manifest->unenforceable)
			return comet_report_no_memory(report);
	}
	return add_warning(report, node, sentence);
}

int comet_report_strict(struct comet_report *report)
{
	const struct comet_manifest *manifest = report->manifest;

	if (manifest->unenforceable)
		return comet_error_set(report->error, EINVAL, "%s", manifest->unenforceable);
	if (manifest->n_warnings)
		return fail_with(report, &manifest->warnings[0].location,
				 manifest->warnings[0].text);
	return 0;
}
