/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What values does a node give a declared type? The way of yaml.v3, by which upstream reads a
 * manifest: which texts are numbers, what a null does, how merges and aliases count, which
 * mistakes are listed together and in which words.
 */
#ifndef COMET_DECODE_H
#define COMET_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manifest/document.h"
#include "manifest/util.h"

enum comet_type_kind {
	COMET_TYPE_TEXT,
	COMET_TYPE_INT,
	COMET_TYPE_FLOAT,
	COMET_TYPE_BOOL,
	COMET_TYPE_RECORD, /* unknown keys are ignored */
	COMET_TYPE_LIST,
	COMET_TYPE_MAP, /* text keys; duplicate keys are an error */
	COMET_TYPE_ANY, /* checked like upstream's untyped values, not kept */
	_COMET_TYPE_MAX,
};

struct comet_type {
	enum comet_type_kind kind;
	const char *name;                 /* as upstream's messages spell it */
	const char *plain;                /* as a reader would say it: "a list of text" */
	const struct comet_type *element; /* LIST, MAP */
	const struct comet_field *fields; /* RECORD */
	size_t n_fields;
};

struct comet_field {
	const char *name;
	const struct comet_type *type;
};

struct comet_value {
	const struct comet_type *type; /* RECORD */
	const struct comet_node *node; /* what gave the value, aliases followed; NULL = absent */
	const struct comet_node *key;  /* MAP element: its key */
	const char *text;              /* TEXT; never NULL when node is not */
	size_t size;                   /* TEXT */
	int64_t integer;               /* INT, BOOL */
	struct comet_value *items;     /* RECORD: by field; LIST, MAP: in the order of the text */
	size_t n_items;
};

struct comet_decode_error {
	char text[1536];                   /* all of it, in upstream's words, from "yaml: " on */
	const struct comet_node *node;     /* the first fault; NULL if it has no place */
	const struct comet_type *expected; /* first fault, when it is a wrong type */
};

/* Decodes node into *value (zeroed by the caller). -EINVAL with *error set, -ENOMEM. */
int comet_decode(struct comet_arena *arena, const struct comet_node *node,
		 const struct comet_type *type, struct comet_value *value,
		 struct comet_decode_error *error);

/* The first fault alone, without upstream's heading and line (the caller shows the place). */
const char *comet_decode_first(struct comet_decode_error *error);

/* The field of a record, by name; an empty value when the record or the field is absent. */
const struct comet_value *comet_value_field(const struct comet_value *record, const char *name);

static inline bool comet_value_is_empty(const struct comet_value *text)
{
	return !text->node || text->size == 0;
}

#endif /* COMET_DECODE_H */
