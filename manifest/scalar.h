/* SPDX-License-Identifier: Apache-2.0 */
/* What is an unquoted word: text, a number, a boolean, nothing? Answers as yaml.v3 does. */
#ifndef COMET_SCALAR_H
#define COMET_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest/document.h"

#define COMET_TAG_NULL "!!null"
#define COMET_TAG_BOOL "!!bool"
#define COMET_TAG_STR "!!str"
#define COMET_TAG_INT "!!int"
#define COMET_TAG_FLOAT "!!float"
#define COMET_TAG_TIMESTAMP "!!timestamp"
#define COMET_TAG_SEQ "!!seq"
#define COMET_TAG_MAP "!!map"
#define COMET_TAG_BINARY "!!binary"
#define COMET_TAG_MERGE "!!merge"

enum comet_scalar_kind {
	COMET_SCALAR_TEXT,
	COMET_SCALAR_NULL,
	COMET_SCALAR_BOOL,
	COMET_SCALAR_INT,      /* fits int64_t */
	COMET_SCALAR_UNSIGNED, /* fits only uint64_t */
	COMET_SCALAR_FLOAT,
	COMET_SCALAR_TIMESTAMP,
	_COMET_SCALAR_MAX,
};

struct comet_scalar {
	enum comet_scalar_kind kind;
	bool boolean;
	int64_t integer;
	double real;
};

/* The meaning of a word without quotes and tag. */
void comet_scalar_resolve(const char *text, size_t size, struct comet_scalar *scalar);
/* The short tag ("!!int") of that meaning. */
const char *comet_scalar_tag(const struct comet_scalar *scalar);

/*
 * The meaning of a scalar node, its quotes and its tag considered. -EINVAL when a tag contradicts
 * the text (`!!int x`); then *tag is the tag that the text has by itself.
 */
int comet_scalar_read(const struct comet_node *node, struct comet_scalar *scalar, const char **tag);

bool comet_node_is_null(const struct comet_node *node);
/* A plain `<<` key. */
bool comet_node_is_merge(const struct comet_node *node);

#endif /* COMET_SCALAR_H */
