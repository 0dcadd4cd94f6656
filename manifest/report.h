/* SPDX-License-Identifier: Apache-2.0 */
/* Where does a finding about the manifest go: error, warning, or "valid but not to be run"? */
#ifndef COMET_REPORT_H
#define COMET_REPORT_H

#include <stdbool.h>

#include "manifest/document.h"
#include "manifest/manifest.h"
#include "manifest/util.h"

#define COMET_WARNINGS_MAX 200 /* kept; a manifest of 16 MiB could earn millions */

/* Carried through the reading of one manifest. */
struct comet_report {
	struct comet_manifest *manifest;
	struct comet_arena *arena;
	struct comet_error *error;
	const char *file;      /* the file that the nodes at hand come from; owned by arena */
	bool upstream_accepts; /* so what cannot be enforced is no error but not to be run */
	size_t warnings_room;
};

struct comet_location comet_report_locate(const struct comet_report *report,
					  const struct comet_node *node);

/* All take a sentence without place; node NULL = the file as a whole. */

/* An error: returns -EINVAL. */
int comet_report_fail(struct comet_report *report, const struct comet_node *node,
		      const char *format, ...) __attribute__((format(printf, 3, 4)));
/* 0, or -ENOMEM. */
int comet_report_warn(struct comet_report *report, const struct comet_node *node,
		      const char *format, ...) __attribute__((format(printf, 3, 4)));
/*
 * Something that cannot be enforced exactly. Where upstream accepts the manifest: a warning, the
 * first such sentence is kept in manifest->unenforceable, 0. Else an error, -EINVAL.
 */
int comet_report_refuse(struct comet_report *report, const struct comet_node *node,
			const char *format, ...) __attribute__((format(printf, 3, 4)));
int comet_report_no_memory(struct comet_report *report);

/* With strict: what was refused or warned of is an error. */
int comet_report_strict(struct comet_report *report);

#endif /* COMET_REPORT_H */
