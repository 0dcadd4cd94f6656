// SPDX-License-Identifier: Apache-2.0
/* What values does a YAML map give: which keys count, which are there twice, what a merge adds? */
#define _GNU_SOURCE 1 /* tdestroy */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/decode_internal.h"
#include "manifest/scalar.h"

#define FIELDS_MAX 64

static const struct comet_type text_type = { .kind = COMET_TYPE_TEXT, .name = "string" };
static const struct comet_type any_type = { .kind = COMET_TYPE_ANY, .name = "interface {}" };

struct key {
	const struct comet_node *node;
	size_t index; /* of the pair */
	size_t next;  /* pair with the same key, or SIZE_MAX */
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;
	int order;

	if (x->node->kind != y->node->kind)
		return x->node->kind < y->node->kind ? -1 : 1;
	if (x->node->size != y->node->size)
		return x->node->size < y->node->size ? -1 : 1;
	order = memcmp(x->node->text, y->node->text, x->node->size);
	if (order)
		return order;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_positions(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Links each key to its next twin; false when there are none. */
static bool link_twins(struct key *keys, size_t n)
{
	bool found = false;

	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++) {
		const struct comet_node *node = keys[i].node;

		keys[i].next = SIZE_MAX;
		if (i + 1 == n || keys[i + 1].node->kind != node->kind ||
		    !(keys[i + 1].node->size == node->size &&
		      memcmp(keys[i + 1].node->text, node->text, node->size) == 0))
			continue;
		keys[i].next = keys[i + 1].index;
		found = true;
	}
	if (found)
		qsort(keys, n, sizeof(*keys), compare_positions);
	return found;
}

static bool unique_keys(struct comet_decoder *d, const struct comet_node *node)
{
	size_t n = node->n_children / 2;
	struct key *keys = calloc(n ? n : 1, sizeof(*keys));
	char quoted[256];

	if (!keys)
		return comet_decode_no_memory(d);
	for (size_t i = 0; i < n; i++) {
		keys[i].node = node->children[2 * i];
		keys[i].index = i;
	}
	if (!link_twins(keys, n)) {
		free(keys);
		return true;
	}
	/* Every pair is told, as upstream does, until the message is full. */
	for (size_t i = 0; i < n; i++) {
		for (size_t j = keys[i].next; j != SIZE_MAX; j = keys[j].next) {
			const struct comet_node *twin = keys[j].node;

			if (d->used + 16 > sizeof(d->error->text))
				break;
			comet_quote(twin->text, twin->size, quoted, sizeof(quoted));
			comet_decode_fault(d, twin, NULL,
					   "line %u: mapping key \"%s\" already defined at line %u",
					   twin->line, quoted, keys[i].node->line);
		}
	}
	free(keys);
	return false;
}

/* Keys that a merge must not give again. A text and a number that look alike are two keys. */
struct merged_key {
	bool is_text;
	const char *text;
	size_t size;
};

struct comet_merged {
	void *tree;
};

static int compare_merged(const void *a, const void *b)
{
	const struct merged_key *x = a;
	const struct merged_key *y = b;

	if (x->is_text != y->is_text)
		return x->is_text ? 1 : -1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->text, y->text, x->size);
}

static void leave_in_arena(void *key)
{
	(void)key;
}

/* *known tells whether the key was there before. */
static bool note_key(struct comet_decoder *d, struct comet_merged *merged, bool is_text,
		     const char *text, size_t size, bool *known)
{
	struct merged_key *key = comet_arena_alloc(d->arena, sizeof(*key));
	struct merged_key **found;

	if (!key)
		return comet_decode_no_memory(d);
	key->is_text = is_text;
	key->text = text;
	key->size = size;
	found = tsearch(key, &merged->tree, compare_merged);
	if (!found)
		return comet_decode_no_memory(d);
	*known = *found != key;
	return true;
}

/* Like a Go map key of interface type: any scalar, but no list and no map. */
static bool decode_any_key(struct comet_decoder *d, const struct comet_node *key,
			   struct comet_merged *merged, bool *known)
{
	const struct comet_node *target = comet_node_target(key);
	struct comet_value ignored = { 0 };
	struct comet_scalar scalar;
	const char *tag;

	*known = false;
	if (!comet_decode_node(d, key, &any_type, &ignored))
		return false;
	if (target->kind != COMET_NODE_SCALAR)
		return comet_decode_fatal(d, key, "yaml: invalid map key: a list or a map");
	if (!merged)
		return true;
	comet_scalar_read(target, &scalar, &tag);
	return note_key(d, merged, scalar.kind == COMET_SCALAR_TEXT, target->text, target->size,
			known);
}

static bool merge_one(struct comet_decoder *d, const struct comet_node *from,
		      const struct comet_type *type, struct comet_value *value)
{
	if (comet_node_target(from)->kind != COMET_NODE_MAPPING)
		return comet_decode_fatal(
			d, from, "yaml: map merge requires map or sequence of maps as the value");
	comet_decode_node(d, from, type, value);
	return !d->fatal;
}

/* Adds what `<<` points to, for the keys that the map itself does not give. */
static bool merge(struct comet_decoder *d, const struct comet_node *parent,
		  const struct comet_node *from, const struct comet_type *type,
		  struct comet_value *value)
{
	struct comet_merged *outer = d->merged;
	struct comet_merged own = { 0 };
	bool known;

	if (!outer) {
		for (size_t i = 0; i < parent->n_children && !d->fatal; i += 2)
			decode_any_key(d, parent->children[i], &own, &known);
		d->merged = &own;
	}
	if (from->kind == COMET_NODE_SEQUENCE) {
		for (size_t i = 0; i < from->n_children && !d->fatal; i++)
			merge_one(d, from->children[i], type, value);
	} else if (!d->fatal) {
		merge_one(d, from, type, value);
	}
	d->merged = outer;
	tdestroy(own.tree, leave_in_arena);
	return !d->fatal;
}

static const struct comet_field *find_field(const struct comet_type *type,
					    const struct comet_value *name)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (comet_bytes_are(name->text, name->size, type->fields[i].name))
			return &type->fields[i];
	return NULL;
}

static bool decode_pair(struct comet_decoder *d, const struct comet_node *key,
			const struct comet_node *child, const struct comet_type *type,
			struct comet_value *value, bool *done)
{
	struct comet_merged *merged = d->merged;
	const struct comet_field *field;
	struct comet_value name = { 0 };
	size_t index;
	bool known = false;

	d->merged = NULL;
	if (comet_decode_node(d, key, &text_type, &name)) {
		if (merged && !note_key(d, merged, true, name.text, name.size, &known))
			return false;
		field = known ? NULL : find_field(type, &name);
		index = field ? (size_t)(field - type->fields) : 0;
		if (field && done[index]) {
			comet_decode_fault(d, key, NULL, "line %u: field %s already set in type %s",
					   key->line, field->name, type->name);
		} else if (field) {
			done[index] = true;
			comet_decode_node(d, child, field->type, &value->items[index]);
		}
	}
	d->merged = merged;
	return !d->fatal;
}

static bool decode_record(struct comet_decoder *d, const struct comet_node *node,
			  const struct comet_type *type, struct comet_value *value)
{
	const struct comet_node *from = NULL;
	bool done[FIELDS_MAX] = { false };

	value->node = value->node ? value->node : node;
	value->type = type;
	value->n_items = type->n_fields;
	if (!value->items)
		value->items = comet_arena_array(d->arena, type->n_fields, sizeof(*value->items));
	if (!value->items)
		return comet_decode_no_memory(d);
	for (size_t i = 0; i < node->n_children; i += 2) {
		const struct comet_node *key = node->children[i];

		if (comet_node_is_merge(key))
			from = node->children[i + 1];
		else if (!decode_pair(d, key, node->children[i + 1], type, value, done))
			return false;
	}
	return !from || merge(d, node, from, type, value);
}

/* One pair of a map with text keys; a null counts as the element's zero. */
static bool decode_element(struct comet_decoder *d, const struct comet_node *key,
			   const struct comet_node *child, const struct comet_type *type,
			   struct comet_value *value)
{
	struct comet_merged *merged = d->merged;
	struct comet_value *item = &value->items[value->n_items];
	struct comet_value name = { 0 };
	bool known = false;
	bool good = false;

	d->merged = NULL;
	memset(item, 0, sizeof(*item));
	if (comet_decode_node(d, key, &text_type, &name)) {
		if (merged && !note_key(d, merged, true, name.text, name.size, &known))
			return false;
		if (!known)
			good = comet_decode_node(d, child, type->element, item) ||
			       comet_node_is_null(child);
	}
	d->merged = merged;
	if (good && !d->fatal) {
		item->key = comet_node_target(key);
		item->node = item->node ? item->node : comet_node_target(child);
		item->text = item->text ? item->text : "";
		value->n_items++;
	}
	return !d->fatal;
}

static bool decode_text_map(struct comet_decoder *d, const struct comet_node *node,
			    const struct comet_type *type, struct comet_value *value)
{
	const struct comet_node *from = NULL;
	struct comet_value *bigger;

	bigger =
		comet_arena_array(d->arena, value->n_items + node->n_children / 2, sizeof(*bigger));
	if (!bigger)
		return comet_decode_no_memory(d);
	if (value->n_items)
		memcpy(bigger, value->items, value->n_items * sizeof(*bigger));
	value->items = bigger;
	value->node = value->node ? value->node : node;
	for (size_t i = 0; i < node->n_children; i += 2) {
		const struct comet_node *key = node->children[i];

		if (comet_node_is_merge(key))
			from = node->children[i + 1];
		else if (!decode_element(d, key, node->children[i + 1], type, value))
			return false;
	}
	return !from || merge(d, node, from, type, value);
}

static bool decode_any_map(struct comet_decoder *d, const struct comet_node *node,
			   struct comet_value *value)
{
	struct comet_merged *merged = d->merged;
	const struct comet_node *from = NULL;

	value->node = node;
	d->merged = NULL;
	for (size_t i = 0; i < node->n_children && !d->fatal; i += 2) {
		const struct comet_node *key = node->children[i];
		struct comet_value ignored = { 0 };
		bool known;

		if (comet_node_is_merge(key))
			from = node->children[i + 1];
		else if (decode_any_key(d, key, merged, &known) && !known)
			comet_decode_node(d, node->children[i + 1], &any_type, &ignored);
	}
	d->merged = merged;
	if (d->fatal)
		return false;
	return !from || merge(d, node, from, &any_type, value);
}

bool comet_decode_mapping(struct comet_decoder *d, const struct comet_node *node,
			  const struct comet_type *type, struct comet_value *value)
{
	if (!unique_keys(d, node))
		return false;
	switch (type->kind) {
	case COMET_TYPE_RECORD:
		return decode_record(d, node, type, value);
	case COMET_TYPE_MAP:
		return decode_text_map(d, node, type, value);
	case COMET_TYPE_ANY:
		return decode_any_map(d, node, value);
	case COMET_TYPE_TEXT:
	case COMET_TYPE_INT:
	case COMET_TYPE_FLOAT:
	case COMET_TYPE_BOOL:
	case COMET_TYPE_LIST:
	case _COMET_TYPE_MAX:
		break;
	}
	return comet_decode_wrong_type(d, node, COMET_TAG_MAP, type);
}
