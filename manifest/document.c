// SPDX-License-Identifier: Apache-2.0
/*
 * What does the YAML say, and where? libyaml's events become a tree. Everything that could grow
 * without bound is bounded here: size, nodes, depth, tags; aliases stay aliases, so a bomb costs
 * nothing until somebody follows them.
 */
#define _GNU_SOURCE 1 /* memmem */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "manifest/builder.h"

#define DIRECTIVES_MAX 100

static void locate_offset(const struct comet_builder *builder, size_t end, size_t *line,
			  size_t *column)
{
	*line = 0;
	*column = 0;
	for (size_t i = 0; i < end && i < builder->size; i++) {
		bool is_break = builder->bytes[i] == '\n';

		*line += is_break;
		*column = is_break ? 0 : *column + ((builder->bytes[i] & 0xc0) != 0x80);
	}
}

/* The reader knows only the offset of the byte that it could not read. */
static int fail_reader(struct comet_builder *builder)
{
	size_t line;
	size_t column;
	char text[256];

	locate_offset(builder, builder->parser.problem_offset, &line, &column);
	snprintf(text, sizeof(text), COMET_PARSE_PREFIX "%s", builder->parser.problem);
	return comet_builder_fail(builder, line, column, text);
}

/* libyaml's own words; the line in the text is counted as yaml.v3 counts it. */
static int fail_parser(struct comet_builder *builder)
{
	const yaml_parser_t *parser = &builder->parser;
	const char *problem = parser->problem ? parser->problem
					      : "unknown problem parsing YAML content";
	size_t line = parser->context_mark.line ? parser->context_mark.line
						: parser->problem_mark.line;
	char text[512];

	if (parser->error == YAML_MEMORY_ERROR)
		return comet_error_set(builder->error, ENOMEM, "no memory to read the manifest");
	if (parser->error == YAML_READER_ERROR)
		return fail_reader(builder);
	if (line && parser->error == YAML_SCANNER_ERROR)
		line++;
	if (line)
		snprintf(text, sizeof(text), COMET_PARSE_PREFIX "line %zu: %s", line, problem);
	else
		snprintf(text, sizeof(text), COMET_PARSE_PREFIX "%s", problem);
	return comet_builder_fail(builder, parser->problem_mark.line, parser->problem_mark.column,
				  text);
}

/*
 * An unquoted word at the very end of a file that lacks its last newline may be the first half of
 * another word: `/workd` of `/workdir/out`. Whoever grants something by it has to know.
 */
static void mark_cut(struct comet_builder *builder, const yaml_event_t *event)
{
	unsigned char end = builder->size ? builder->bytes[builder->size - 1] : '\n';

	/* UTF-16 has its newline in either of the last two bytes. */
	if (builder->parser.encoding != YAML_UTF8_ENCODING && builder->size > 1 && end == 0)
		end = builder->bytes[builder->size - 2];
	/* libyaml ends the last line itself, so the end of the stream is on the line after it. */
	if (builder->last && end != '\n' && end != '\r' &&
	    builder->last_line + 1 == event->start_mark.line)
		builder->last->cut = true;
}

/*
 * Only the first document is read. It also ends, without a word from the parser, where a line is
 * indented less than the first one, or at a directive: what follows is lost then.
 */
static int end_document(struct comet_builder *builder, const yaml_event_t *event)
{
	struct comet_document *document = builder->document;
	yaml_event_t next = { 0 };
	bool good = yaml_parser_parse(&builder->parser, &next);
	bool implicit = event->data.document_end.implicit;
	bool is_directive = next.type == YAML_DOCUMENT_START_EVENT &&
			    (next.data.document_start.version_directive ||
			     next.data.document_start.tag_directives.start !=
				     next.data.document_start.tag_directives.end);

	if (builder->parser.error == YAML_MEMORY_ERROR)
		return comet_builder_no_memory(builder);
	if (next.type == YAML_STREAM_END_EVENT && implicit)
		mark_cut(builder, event);
	if (next.type != YAML_STREAM_END_EVENT) {
		document->rest.line = (unsigned int)event->end_mark.line + 1;
		document->rest.column = (unsigned int)event->end_mark.column + 1;
		document->rest_is_document = !implicit || (good && !is_directive);
	}
	yaml_event_delete(&next);
	return 1;
}

/* Upstream's reader knows only YAML 1.1, and says so of a document that asks for another. */
static int check_version(struct comet_builder *builder, const yaml_event_t *event)
{
	const yaml_version_directive_t *version = event->data.document_start.version_directive;
	char text[96];

	if (!version || (version->major == 1 && version->minor == 1))
		return 0;
	snprintf(text, sizeof(text), COMET_PARSE_PREFIX "found incompatible YAML document");
	return comet_builder_fail(builder, event->start_mark.line, event->start_mark.column, text);
}

/*
 * libyaml skips a byte-order mark at the start of any line, upstream's reader only at the start of
 * the file: what is a key to one is another key to the other. Elsewhere it is a character.
 */
static int check_marks(struct comet_builder *builder)
{
	static const char mark[] = "\n\xef\xbb\xbf";
	const char *bytes = (const char *)builder->bytes;
	const char *found = memmem(bytes, builder->size, mark, strlen(mark));
	size_t line;
	size_t column;

	if (!found)
		return 0;
	locate_offset(builder, (size_t)(found + 1 - bytes), &line, &column);
	return comet_builder_fail(
		builder, line, column,
		"expected a byte-order mark only at the start of the file, found one at the start of a line");
}

/* libyaml compares each %TAG with all before it, so a file full of them would take hours. */
static int check_directives(struct comet_builder *builder)
{
	static const char narrow[] = "%TAG";
	static const char wide[] = { '%', 0, 'T', 0, 'A', 0, 'G' }; /* UTF-16 of either kind */
	const char *at = (const char *)builder->bytes;
	const char *end = at + builder->size;
	unsigned int count = 0;

	for (; at < end && (at = memchr(at, '%', (size_t)(end - at))); at++) {
		size_t left = (size_t)(end - at);

		count += (left >= 4 && memcmp(at, narrow, 4) == 0) ||
			 (left >= sizeof(wide) && memcmp(at, wide, sizeof(wide)) == 0);
		if (count > DIRECTIVES_MAX)
			return comet_builder_fail(
				builder, 0, 0, "expected at most 100 %TAG directives, found more");
	}
	return 0;
}

/* 1 = the document is complete. */
static int take_event(struct comet_builder *builder, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return comet_builder_scalar(builder, event);
	case YAML_ALIAS_EVENT:
		return comet_builder_alias(builder, event);
	case YAML_SEQUENCE_START_EVENT:
		return comet_builder_open(builder, event, COMET_NODE_SEQUENCE);
	case YAML_MAPPING_START_EVENT:
		return comet_builder_open(builder, event, COMET_NODE_MAPPING);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return comet_builder_end(builder);
	case YAML_DOCUMENT_END_EVENT:
		return end_document(builder, event);
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_DOCUMENT_START_EVENT:
		return check_version(builder, event);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
		break;
	}
	return 0;
}

static int build(struct comet_builder *builder)
{
	int r;

	do {
		yaml_event_t event;

		if (!yaml_parser_parse(&builder->parser, &event))
			return fail_parser(builder);
		r = take_event(builder, &event);
		yaml_event_delete(&event);
	} while (r == 0);
	return r < 0 ? r : 0;
}

int comet_document_parse(struct comet_arena *arena, const char *name, const void *bytes,
			 size_t size, struct comet_document *document, struct comet_error *error)
{
	struct comet_builder *builder;
	int r;

	builder = comet_arena_alloc(arena, sizeof(*builder));
	if (!builder)
		return comet_error_set(error, ENOMEM, "no memory to read the manifest");
	builder->arena = arena;
	builder->error = error;
	builder->document = document;
	builder->name = name;
	builder->bytes = bytes;
	builder->size = size;
	if (size > COMET_DOCUMENT_SIZE_MAX)
		return comet_error_set(error, EINVAL, "%s: expected at most %zu bytes, found more",
				       name, COMET_DOCUMENT_SIZE_MAX);
	if (!yaml_parser_initialize(&builder->parser))
		return comet_builder_no_memory(builder);
	yaml_parser_set_input_string(&builder->parser, size ? bytes : (const void *)"\n",
				     size ? size : 1);
	r = check_marks(builder);
	if (r == 0)
		r = check_directives(builder);
	if (r == 0)
		r = build(builder);
	if (r == 0)
		document->root = builder->root;
	comet_builder_close(builder);
	return r;
}
