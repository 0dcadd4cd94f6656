/* SPDX-License-Identifier: Apache-2.0 */
/* What does reading a document carry along? Between document.c (events) and builder.c (nodes). */
#ifndef COMET_BUILDER_H
#define COMET_BUILDER_H

#include <yaml.h>

#include "manifest/document.h"

/* Upstream's words for what its YAML reader refuses. */
#define COMET_PARSE_PREFIX "soyapack: parse: yaml: "

struct comet_frame {
	struct comet_node *node;
	size_t first; /* its first child in the list of pending nodes */
};

struct comet_builder {
	yaml_parser_t parser;
	struct comet_arena *arena;
	struct comet_error *error;
	struct comet_document *document;
	const char *name;
	const unsigned char *bytes;
	size_t size;

	struct comet_node *root;
	struct comet_frame frames[COMET_DOCUMENT_DEPTH_MAX];
	unsigned int depth;
	struct comet_node **pending; /* children of the open frames, innermost last */
	size_t n_pending, pending_room;
	size_t n_nodes;
	void *anchors;           /* tsearch tree of struct anchor: no hash to collide on purpose */
	struct comet_node *last; /* the scalar or alias that ended the input so far */
	size_t last_line;        /* where it ended, from 0 */
};

/* All return 0 or a negative errno with the error set. */
int comet_builder_scalar(struct comet_builder *builder, const yaml_event_t *event);
int comet_builder_alias(struct comet_builder *builder, const yaml_event_t *event);
int comet_builder_open(struct comet_builder *builder, const yaml_event_t *event,
		       enum comet_node_kind kind);
int comet_builder_end(struct comet_builder *builder);

/* line and column from 0. */
int comet_builder_fail(struct comet_builder *builder, size_t line, size_t column, const char *text);
int comet_builder_no_memory(struct comet_builder *builder);
void comet_builder_close(struct comet_builder *builder);

#endif /* COMET_BUILDER_H */
