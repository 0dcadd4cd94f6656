/* SPDX-License-Identifier: Apache-2.0 */
/* What is upstream's verdict on a soyapack.v0 manifest? Its checks, its order, its words. */
#ifndef COMET_UPSTREAM_H
#define COMET_UPSTREAM_H

#include "manifest/decode.h"
#include "manifest/report.h"

/* The declared types of the format. */
extern const struct comet_type comet_upstream_manifest;
/* The block in the words of the code (fs_read) and of the specification (fs.read). */
extern const struct comet_type comet_upstream_capabilities;
extern const struct comet_type comet_upstream_spec_capabilities;

/* Decodes and validates; on success *value is the manifest. Errors go to report. */
int comet_upstream_read(struct comet_report *report, const struct comet_document *document,
			struct comet_value *value);

/* --- between the upstream_*.c files --- */

/* "soyapack: invalid manifest: " and the sentence, at value or, where that is absent, parent. */
int comet_upstream_invalid(struct comet_report *report, const struct comet_value *value,
			   const struct comet_value *parent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Whether the text is one of the words, which end with NULL. */
bool comet_value_is_among(const struct comet_value *text, const char *const *words);
/* The text as %q shows it. */
const char *comet_upstream_quote(struct comet_report *report, const struct comet_value *text);

int comet_upstream_check_kind(struct comet_report *report, const struct comet_value *manifest);
int comet_upstream_check_blocks(struct comet_report *report, const struct comet_value *manifest);

#endif /* COMET_UPSTREAM_H */
