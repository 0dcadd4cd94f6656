// SPDX-License-Identifier: Apache-2.0
/* What is this node, for the code that asks and for the reader of a message? */
#include <stdio.h>
#include <string.h>

#include "manifest/scalar.h"

const struct comet_node *comet_node_target(const struct comet_node *node)
{
	return node->kind == COMET_NODE_ALIAS ? node->target : node;
}

char *comet_node_describe(const struct comet_node *node, char *out, size_t capacity)
{
	struct comet_scalar scalar;
	char quoted[80];
	const char *tag;

	node = comet_node_target(node);
	if (node->kind == COMET_NODE_SEQUENCE || node->kind == COMET_NODE_MAPPING) {
		snprintf(out, capacity, "%s",
			 node->kind == COMET_NODE_MAPPING ? "a map" : "a list");
		return out;
	}
	comet_quote(node->text, node->size, quoted, sizeof(quoted));
	comet_scalar_read(node, &scalar, &tag);
	switch (scalar.kind) {
	case COMET_SCALAR_NULL:
		snprintf(out, capacity, "nothing");
		break;
	case COMET_SCALAR_BOOL:
		snprintf(out, capacity, "the boolean %s", quoted);
		break;
	case COMET_SCALAR_INT:
	case COMET_SCALAR_UNSIGNED:
	case COMET_SCALAR_FLOAT:
		snprintf(out, capacity, "the number %s", quoted);
		break;
	case COMET_SCALAR_TIMESTAMP:
		snprintf(out, capacity, "the date %s", quoted);
		break;
	case COMET_SCALAR_TEXT:
	case _COMET_SCALAR_MAX:
		snprintf(out, capacity, "the text \"%s\"", quoted);
		break;
	}
	return out;
}

bool comet_node_is_null(const struct comet_node *node)
{
	node = comet_node_target(node);
	return node->kind == COMET_NODE_SCALAR && strcmp(node->tag, COMET_TAG_NULL) == 0;
}

bool comet_node_is_merge(const struct comet_node *node)
{
	return node->kind == COMET_NODE_SCALAR && strcmp(node->tag, COMET_TAG_MERGE) == 0 &&
	       comet_bytes_are(node->text, node->size, "<<");
}
