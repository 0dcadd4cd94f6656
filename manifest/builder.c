// SPDX-License-Identifier: Apache-2.0
/* How do YAML events become nodes, and where does that stop: nodes, depth, tags, anchors? */
#define _GNU_SOURCE 1 /* tdestroy */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/builder.h"
#include "manifest/scalar.h"

#define TAG_MAX 256 /* bytes; a %TAG prefix could make every tag as long as the file */
#define LONG_TAG_PREFIX "tag:yaml.org,2002:"

struct anchor {
	const char *name;
	const struct comet_node *node;
};

static int compare_anchors(const void *a, const void *b)
{
	return strcmp(((const struct anchor *)a)->name, ((const struct anchor *)b)->name);
}

static void leave_in_arena(void *anchor)
{
	(void)anchor;
}

void comet_builder_close(struct comet_builder *builder)
{
	yaml_parser_delete(&builder->parser);
	tdestroy(builder->anchors, leave_in_arena);
	free(builder->pending);
}

int comet_builder_fail(struct comet_builder *builder, size_t line, size_t column, const char *text)
{
	char name[512];

	comet_quote(builder->name, strlen(builder->name), name, sizeof(name));
	return comet_error_set(builder->error, EINVAL, "%s:%zu:%zu: %s", name, line + 1, column + 1,
			       text);
}

int comet_builder_no_memory(struct comet_builder *builder)
{
	return comet_error_set(builder->error, ENOMEM, "no memory to read the manifest");
}

static int append(struct comet_builder *builder, struct comet_node *node)
{
	if (builder->depth == 0) {
		builder->root = node;
		return 0;
	}
	if (builder->n_pending == builder->pending_room) {
		size_t room = builder->pending_room ? builder->pending_room * 2 : 64;
		struct comet_node **bigger = realloc(builder->pending, room * sizeof(*bigger));

		if (!bigger)
			return comet_builder_no_memory(builder);
		builder->pending = bigger;
		builder->pending_room = room;
	}
	builder->pending[builder->n_pending++] = node;
	return 0;
}

static int add_node(struct comet_builder *builder, const yaml_event_t *event,
		    enum comet_node_kind kind, struct comet_node **added)
{
	struct comet_node *node;
	char text[128];

	if (++builder->n_nodes > COMET_DOCUMENT_NODES_MAX) {
		snprintf(text, sizeof(text),
			 "expected at most %d values and keys, found more (split the pack)",
			 COMET_DOCUMENT_NODES_MAX);
		return comet_builder_fail(builder, event->start_mark.line, event->start_mark.column,
					  text);
	}
	node = comet_arena_alloc(builder->arena, sizeof(*node));
	if (!node)
		return comet_builder_no_memory(builder);
	node->kind = kind;
	node->line = (unsigned int)event->start_mark.line + 1;
	node->column = (unsigned int)event->start_mark.column + 1;
	node->text = "";
	*added = node;
	return append(builder, node);
}

static int set_anchor(struct comet_builder *builder, const yaml_char_t *name,
		      struct comet_node *node)
{
	struct anchor *anchor;
	struct anchor **found;

	if (!name)
		return 0;
	anchor = comet_arena_alloc(builder->arena, sizeof(*anchor));
	if (!anchor)
		return comet_builder_no_memory(builder);
	anchor->name =
		comet_arena_copy(builder->arena, (const char *)name, strlen((const char *)name));
	if (!anchor->name)
		return comet_builder_no_memory(builder);
	found = tsearch(anchor, &builder->anchors, compare_anchors);
	if (!found)
		return comet_builder_no_memory(builder);
	/* The same name again: later aliases mean the later node. */
	(*found)->node = node;
	return 0;
}

/* "tag:yaml.org,2002:int" to "!!int"; no tag, or "!", leaves the default. */
static int set_tag(struct comet_builder *builder, const yaml_event_t *event, const yaml_char_t *tag,
		   const char *fallback, struct comet_node *node)
{
	const char *text = (const char *)tag;
	size_t prefix = strlen(LONG_TAG_PREFIX);
	char shown[4 * TAG_MAX + 1];

	node->tag = fallback;
	if (!text || !*text || strcmp(text, "!") == 0)
		return 0;
	if (strlen(text) > TAG_MAX)
		return comet_builder_fail(
			builder, event->start_mark.line, event->start_mark.column,
			"expected a tag of at most 256 bytes, found a longer one");
	/* `%1b` in a tag is a byte like any other, and tags go into messages. */
	comet_show(text, strlen(text), shown, sizeof(shown));
	if (strncmp(shown, LONG_TAG_PREFIX, prefix) == 0)
		node->tag = comet_arena_format(builder->arena, "!!%s", shown + prefix);
	else
		node->tag = comet_arena_copy(builder->arena, shown, strlen(shown));
	return node->tag ? 0 : comet_builder_no_memory(builder);
}

/* Upstream's scanner ends an unquoted word in brackets at a question mark, and then gives up. */
static int check_question_mark(struct comet_builder *builder, const yaml_event_t *event)
{
	const struct comet_node *parent = builder->depth ? builder->frames[builder->depth - 1].node
							 : NULL;
	char text[96];

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !parent || parent->plain ||
	    !memchr(event->data.scalar.value, '?', event->data.scalar.length))
		return 0;
	if (parent->line > 1)
		snprintf(text, sizeof(text),
			 COMET_PARSE_PREFIX "line %u: did not find expected ',' or '%c'",
			 parent->line - 1, parent->kind == COMET_NODE_MAPPING ? '}' : ']');
	else
		snprintf(text, sizeof(text), COMET_PARSE_PREFIX "did not find expected ',' or '%c'",
			 parent->kind == COMET_NODE_MAPPING ? '}' : ']');
	return comet_builder_fail(builder, event->start_mark.line, event->start_mark.column, text);
}

int comet_builder_scalar(struct comet_builder *builder, const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;
	struct comet_scalar meaning;
	struct comet_node *node;
	const char *tag = COMET_TAG_STR;
	int r;

	r = check_question_mark(builder, event);
	if (r == 0)
		r = add_node(builder, event, COMET_NODE_SCALAR, &node);
	if (r < 0)
		return r;
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->text = comet_arena_copy(builder->arena, value, size);
	if (!node->text)
		return comet_builder_no_memory(builder);
	node->size = size;
	if (node->plain) {
		comet_scalar_resolve(value, size, &meaning);
		tag = comet_bytes_are(value, size, "<<") ? COMET_TAG_MERGE
							 : comet_scalar_tag(&meaning);
	}
	r = set_tag(builder, event, event->data.scalar.tag, tag, node);
	if (r < 0)
		return r;
	builder->last = event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
					event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE
				? NULL
				: node;
	builder->last_line = event->end_mark.line;
	return set_anchor(builder, event->data.scalar.anchor, node);
}

int comet_builder_alias(struct comet_builder *builder, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct anchor wanted = { .name = name };
	struct anchor **found = tfind(&wanted, &builder->anchors, compare_anchors);
	struct comet_node *node;
	char text[256];
	int r;

	if (!found) {
		snprintf(text, sizeof(text),
			 COMET_PARSE_PREFIX "unknown anchor '%.100s' referenced", name);
		return comet_builder_fail(builder, event->start_mark.line, event->start_mark.column,
					  text);
	}
	r = add_node(builder, event, COMET_NODE_ALIAS, &node);
	if (r < 0)
		return r;
	node->text = (*found)->name;
	node->size = strlen(node->text);
	node->target = (*found)->node;
	builder->last = node;
	builder->last_line = event->end_mark.line;
	return 0;
}

int comet_builder_open(struct comet_builder *builder, const yaml_event_t *event,
		       enum comet_node_kind kind)
{
	bool is_map = kind == COMET_NODE_MAPPING;
	struct comet_node *node;
	char text[96];
	int r;

	if (builder->depth == COMET_DOCUMENT_DEPTH_MAX) {
		snprintf(text, sizeof(text),
			 "expected at most %d lists and maps inside each other, found more",
			 COMET_DOCUMENT_DEPTH_MAX);
		return comet_builder_fail(builder, event->start_mark.line, event->start_mark.column,
					  text);
	}
	r = add_node(builder, event, kind, &node);
	if (r < 0)
		return r;
	r = set_tag(builder, event,
		    is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag,
		    is_map ? COMET_TAG_MAP : COMET_TAG_SEQ, node);
	if (r < 0)
		return r;
	node->plain = is_map ? event->data.mapping_start.style != YAML_FLOW_MAPPING_STYLE
			     : event->data.sequence_start.style != YAML_FLOW_SEQUENCE_STYLE;
	builder->frames[builder->depth].node = node;
	builder->frames[builder->depth].first = builder->n_pending;
	builder->depth++;
	builder->last = NULL;
	return set_anchor(builder,
			  is_map ? event->data.mapping_start.anchor
				 : event->data.sequence_start.anchor,
			  node);
}

int comet_builder_end(struct comet_builder *builder)
{
	struct comet_frame *frame = &builder->frames[--builder->depth];
	struct comet_node *node = frame->node;

	node->n_children = builder->n_pending - frame->first;
	builder->n_pending = frame->first;
	/* A closing bracket proves that what stands before it is whole. */
	if (!node->plain)
		builder->last = NULL;
	if (!node->n_children)
		return 0;
	node->children =
		comet_arena_array(builder->arena, node->n_children, sizeof(struct comet_node *));
	if (!node->children)
		return comet_builder_no_memory(builder);
	memcpy(node->children, builder->pending + frame->first,
	       node->n_children * sizeof(struct comet_node *));
	return 0;
}
