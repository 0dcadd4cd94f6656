/* SPDX-License-Identifier: Apache-2.0 */
/* What does the YAML say, and where? Bytes in, a bounded tree with places out; no meaning yet. */
#ifndef COMET_DOCUMENT_H
#define COMET_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "manifest/error.h"
#include "manifest/util.h"

#define COMET_DOCUMENT_SIZE_MAX ((size_t)16 * 1024 * 1024) /* bytes of a file */
#define COMET_DOCUMENT_NODES_MAX 500000                    /* scalars, lists, maps and aliases */
#define COMET_DOCUMENT_DEPTH_MAX 200                       /* lists and maps inside each other */

/* The numbers are the ones that upstream's message shows. */
enum comet_node_kind {
	COMET_NODE_SEQUENCE = 2,
	COMET_NODE_MAPPING = 4,
	COMET_NODE_SCALAR = 8,
	COMET_NODE_ALIAS = 16,
};

struct comet_node {
	enum comet_node_kind kind;
	unsigned int line, column; /* from 1 */
	bool plain;                /* scalar without quotes and block marks */
	bool cut;         /* the input ends in it without a newline: it may have been longer */
	bool busy;        /* alias that is being followed right now */
	const char *tag;  /* short form, "!!int"; never NULL for what is no alias */
	const char *text; /* scalar: its value; alias: name of the anchor; else "" */
	size_t size;      /* bytes of text, which may hold NUL */
	const struct comet_node *target; /* alias */
	struct comet_node **children;    /* list: items; map: key, value, key, value, ... */
	size_t n_children;
};

struct comet_document {
	struct comet_node *root; /* NULL: no document in the stream */
	struct comet_node rest;  /* where text follows that is not read; line 0 = none */
	bool rest_is_document;   /* it is a second document, marked as such */
};

/*
 * Reads the first document. The tree lives in arena, which the caller frees, also on failure.
 * Aliases stay nodes of their own (nothing is expanded here). -EINVAL with a sentence that starts
 * with name:line:column, -ENOMEM.
 */
int comet_document_parse(struct comet_arena *arena, const char *name, const void *bytes,
			 size_t size, struct comet_document *document, struct comet_error *error);

/* The node behind an alias, else the node itself. */
const struct comet_node *comet_node_target(const struct comet_node *node);

/* What a message says was found: `the number 5`, `a list`, `nothing`. Returns out. */
char *comet_node_describe(const struct comet_node *node, char *out, size_t capacity);

#endif /* COMET_DOCUMENT_H */
