// SPDX-License-Identifier: Apache-2.0
/*
 * What values does a node give a declared type? Each step counts like yaml.v3's, so that its rule
 * against alias bombs (the share of nodes reached through aliases) gives the same verdict here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "manifest/decode.h"
#include "manifest/decode_internal.h"
#include "manifest/scalar.h"

#define DEPTH_MAX 1000 /* aliases inside anchored nodes can nest deeper than the text does */

bool comet_decode_fatal(struct comet_decoder *d, const struct comet_node *node, const char *format,
			...)
{
	va_list args;

	if (d->fatal)
		return false;
	d->fatal = true;
	d->error->node = node;
	d->error->expected = NULL;
	va_start(args, format);
	vsnprintf(d->error->text, sizeof(d->error->text), format, args);
	va_end(args);
	return false;
}

bool comet_decode_no_memory(struct comet_decoder *d)
{
	d->no_memory = true;
	d->fatal = true;
	return false;
}

bool comet_decode_fault(struct comet_decoder *d, const struct comet_node *node,
			const struct comet_type *expected, const char *format, ...)
{
	size_t room = sizeof(d->error->text) - d->used;
	va_list args;
	int n;

	if (d->n_faults++ == 0) {
		d->error->node = node;
		d->error->expected = expected;
		d->used = (size_t)snprintf(d->error->text, room, "yaml: unmarshal errors:");
		room -= d->used;
	}
	if (room < 4)
		return false;
	d->used += (size_t)snprintf(d->error->text + d->used, room, "\n  ");
	room = sizeof(d->error->text) - d->used;
	va_start(args, format);
	n = vsnprintf(d->error->text + d->used, room, format, args);
	va_end(args);
	d->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
	return false;
}

/* The value is shown as upstream shows it, but for control bytes, which would reach a terminal. */
bool comet_decode_wrong_type(struct comet_decoder *d, const struct comet_node *node,
			     const char *tag, const struct comet_type *type)
{
	bool whole = node->size <= 10;
	char quoted[64];

	if (*node->tag)
		tag = node->tag;
	/* A list or map has no text; a scalar that claims to be one is shown glued to its tag. */
	if (strcmp(tag, COMET_TAG_SEQ) == 0 || strcmp(tag, COMET_TAG_MAP) == 0) {
		comet_show(node->text, node->size, quoted, sizeof(quoted));
		return comet_decode_fault(d, node, type, "line %u: cannot unmarshal %s%s into %s",
					  node->line, tag, quoted, type->name);
	}
	comet_show(node->text, whole ? node->size : 7, quoted, sizeof(quoted));
	return comet_decode_fault(d, node, type, "line %u: cannot unmarshal %s `%s%s` into %s",
				  node->line, tag, quoted, whole ? "" : "...", type->name);
}

/* yaml.v3: 99 % of the steps may come from aliases up to 400,000 steps, 10 % from 4,000,000 on. */
static bool count_step(struct comet_decoder *d, const struct comet_node *node)
{
	const double low = 400000;
	const double high = 4000000;
	double steps = (double)++d->n_steps;
	double allowed = steps <= low    ? 0.99
			 : steps >= high ? 0.10
					 : 0.99 - 0.89 * ((steps - low) / (high - low));

	if (d->alias_depth)
		d->n_alias_steps++;
	if (d->n_alias_steps > 100 && d->n_steps > 1000 &&
	    (double)d->n_alias_steps / steps > allowed)
		return comet_decode_fatal(d, node, "yaml: document contains excessive aliasing");
	if (d->depth > DEPTH_MAX)
		return comet_decode_fatal(
			d, node,
			"expected at most %d aliases and lists inside each other, found more",
			DEPTH_MAX);
	return !d->fatal;
}

static bool decode_alias(struct comet_decoder *d, const struct comet_node *alias,
			 const struct comet_type *type, struct comet_value *value)
{
	struct comet_node *mark = (struct comet_node *)alias;
	bool good;

	if (mark->busy)
		return comet_decode_fatal(d, alias, "yaml: anchor '%.100s' value contains itself",
					  alias->text);
	mark->busy = true;
	d->alias_depth++;
	good = comet_decode_node(d, alias->target, type, value);
	d->alias_depth--;
	mark->busy = false;
	/* `*a` at the end of a cut file may have been `*ab`: the value has to show it. */
	if (good && alias->cut)
		value->node = alias;
	return good;
}

static bool to_integer(const struct comet_scalar *scalar, int64_t *integer)
{
	if (scalar->kind == COMET_SCALAR_INT) {
		*integer = scalar->integer;
		return true;
	}
	/* 2^63 itself passes upstream's comparison and wraps there to the least value. */
	if (scalar->kind != COMET_SCALAR_FLOAT || !(scalar->real <= 9223372036854775808.0))
		return false;
	if (scalar->real >= 9223372036854775808.0 || scalar->real < -9223372036854775808.0)
		*integer = INT64_MIN;
	else
		*integer = (int64_t)scalar->real;
	return true;
}

static bool to_boolean(const struct comet_node *node, const struct comet_scalar *scalar,
		       int64_t *boolean)
{
	static const char *const words[2][8] = {
		{ "n", "N", "no", "No", "NO", "off", "Off", "OFF" },
		{ "y", "Y", "yes", "Yes", "YES", "on", "On", "ON" },
	};

	if (scalar->kind == COMET_SCALAR_BOOL) {
		*boolean = scalar->boolean;
		return true;
	}
	if (scalar->kind != COMET_SCALAR_TEXT)
		return false;
	for (int yes = 0; yes < 2; yes++) {
		for (size_t i = 0; i < COMET_ARRAY_SIZE(words[yes]); i++) {
			if (!comet_bytes_are(node->text, node->size, words[yes][i]))
				continue;
			*boolean = yes;
			return true;
		}
	}
	return false;
}

/* A list, map or untyped value can be nothing; a text or number stays as it was. */
static bool decode_null(const struct comet_type *type)
{
	return type->kind == COMET_TYPE_LIST || type->kind == COMET_TYPE_MAP ||
	       type->kind == COMET_TYPE_ANY;
}

static bool decode_scalar(struct comet_decoder *d, const struct comet_node *node,
			  const struct comet_type *type, struct comet_value *value)
{
	struct comet_scalar scalar;
	const char *tag;
	bool good = false;

	if (comet_scalar_read(node, &scalar, &tag) < 0) {
		char quoted[256];

		comet_show(node->text, node->size, quoted, sizeof(quoted));
		return comet_decode_fatal(d, node, "yaml: cannot decode %s `%s` as a %s", tag,
					  quoted, node->tag);
	}
	if (scalar.kind == COMET_SCALAR_NULL)
		return decode_null(type);

	switch (type->kind) {
	case COMET_TYPE_TEXT:
	case COMET_TYPE_ANY:
		good = true;
		break;
	case COMET_TYPE_INT:
		good = to_integer(&scalar, &value->integer);
		break;
	case COMET_TYPE_FLOAT:
		good = scalar.kind == COMET_SCALAR_INT || scalar.kind == COMET_SCALAR_UNSIGNED ||
		       scalar.kind == COMET_SCALAR_FLOAT;
		break;
	case COMET_TYPE_BOOL:
		good = to_boolean(node, &scalar, &value->integer);
		break;
	case COMET_TYPE_RECORD:
	case COMET_TYPE_LIST:
	case COMET_TYPE_MAP:
	case _COMET_TYPE_MAX:
		break;
	}
	if (!good)
		return comet_decode_wrong_type(d, node, tag, type);
	/* Upstream would take the decoded bytes; nobody could read here what that grants. */
	if (type->kind == COMET_TYPE_TEXT && strcmp(node->tag, COMET_TAG_BINARY) == 0)
		return comet_decode_fatal(d, node, "expected text, found a !!binary value");
	value->node = node;
	value->text = node->text;
	value->size = node->size;
	return true;
}

static bool decode_sequence(struct comet_decoder *d, const struct comet_node *node,
			    const struct comet_type *type, struct comet_value *value)
{
	static const struct comet_type any = { .kind = COMET_TYPE_ANY, .name = "interface {}" };
	const struct comet_type *element = type->element;
	struct comet_value spare;

	if (type->kind == COMET_TYPE_ANY)
		element = &any;
	else if (type->kind != COMET_TYPE_LIST)
		return comet_decode_wrong_type(d, node, COMET_TAG_SEQ, type);

	value->node = node;
	value->n_items = 0;
	value->items = NULL;
	if (type->kind == COMET_TYPE_LIST && node->n_children) {
		value->items =
			comet_arena_array(d->arena, node->n_children, sizeof(struct comet_value));
		if (!value->items)
			return comet_decode_no_memory(d);
	}
	for (size_t i = 0; i < node->n_children && !d->fatal; i++) {
		struct comet_value *item = value->items ? &value->items[value->n_items] : &spare;

		memset(item, 0, sizeof(*item));
		if (comet_decode_node(d, node->children[i], element, item) && value->items)
			value->n_items++;
	}
	return !d->fatal;
}

bool comet_decode_node(struct comet_decoder *d, const struct comet_node *node,
		       const struct comet_type *type, struct comet_value *value)
{
	bool good = false;

	if (!count_step(d, node))
		return false;
	d->depth++;
	switch (node->kind) {
	case COMET_NODE_ALIAS:
		good = decode_alias(d, node, type, value);
		break;
	case COMET_NODE_SCALAR:
		good = decode_scalar(d, node, type, value);
		break;
	case COMET_NODE_SEQUENCE:
		good = decode_sequence(d, node, type, value);
		break;
	case COMET_NODE_MAPPING:
		good = comet_decode_mapping(d, node, type, value);
		break;
	}
	d->depth--;
	return good && !d->fatal;
}

int comet_decode(struct comet_arena *arena, const struct comet_node *node,
		 const struct comet_type *type, struct comet_value *value,
		 struct comet_decode_error *error)
{
	struct comet_decoder d = { .arena = arena, .error = error };

	comet_decode_node(&d, node, type, value);
	if (d.no_memory)
		return -ENOMEM;
	return d.fatal || d.n_faults ? -EINVAL : 0;
}

const char *comet_decode_first(struct comet_decode_error *error)
{
	static const char heading[] = "yaml: unmarshal errors:\n  ";
	char *text = error->text;

	if (strncmp(text, heading, strlen(heading)) != 0)
		return strncmp(text, "yaml: ", 6) == 0 ? text + 6 : text;
	text += strlen(heading);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "line ", 5) == 0 && strchr(text, ':'))
		text = strchr(text, ':') + 2;
	return text;
}

const struct comet_value *comet_value_field(const struct comet_value *record, const char *name)
{
	static const struct comet_value absent = { .text = "" };

	for (size_t i = 0; record->type && i < record->type->n_fields; i++)
		if (strcmp(record->type->fields[i].name, name) == 0)
			return record->items[i].node ? &record->items[i] : &absent;
	return &absent;
}
