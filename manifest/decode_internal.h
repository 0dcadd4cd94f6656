/* SPDX-License-Identifier: Apache-2.0 */
/* What do decode.c (values) and decode_map.c (maps, merges) share? */
#ifndef COMET_DECODE_INTERNAL_H
#define COMET_DECODE_INTERNAL_H

#include "manifest/decode.h"

struct comet_decoder {
	struct comet_arena *arena;
	struct comet_decode_error *error;
	size_t used;     /* bytes of error->text */
	size_t n_faults; /* faults listed together; a fatal one replaces them */
	bool fatal;
	bool no_memory;
	size_t n_steps, n_alias_steps;
	unsigned int alias_depth, depth;
	struct comet_merged *merged; /* keys already given, while a merge is under way */
};

bool comet_decode_node(struct comet_decoder *d, const struct comet_node *node,
		       const struct comet_type *type, struct comet_value *value);
bool comet_decode_mapping(struct comet_decoder *d, const struct comet_node *node,
			  const struct comet_type *type, struct comet_value *value);

/* All of them return false, so that a caller can return their result. */
bool comet_decode_fatal(struct comet_decoder *d, const struct comet_node *node, const char *format,
			...) __attribute__((format(printf, 3, 4)));
bool comet_decode_no_memory(struct comet_decoder *d);
bool comet_decode_fault(struct comet_decoder *d, const struct comet_node *node,
			const struct comet_type *expected, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool comet_decode_wrong_type(struct comet_decoder *d, const struct comet_node *node,
			     const char *tag, const struct comet_type *type);

#endif /* COMET_DECODE_INTERNAL_H */
