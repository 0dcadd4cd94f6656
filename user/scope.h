/* SPDX-License-Identifier: Apache-2.0 */
/* How does a Scope event look? The only place that knows the JSON names. */
#ifndef COMET_SCOPE_H
#define COMET_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest/manifest.h"
#include "user/events.h"

#define COMET_RUN_ID_LEN 30 /* "run_" and a lower-case ULID */

struct comet_scope_run {
	char id[COMET_RUN_ID_LEN + 1];
	const char *pack;             /* "name@version" */
	const char *digest;           /* of the manifest */
	enum comet_dialect dialect;   /* of the `fix` */
	const char *determinism_tier; /* or NULL */
	const char *manifest_file;
	bool audit;
	bool container; /* isolation container, else process */
};

/* Fills id with "run_" and a new ULID (Crockford base32, lower case, 48 bits of milliseconds). */
int comet_scope_new_run_id(char id[COMET_RUN_ID_LEN + 1]);

struct comet_scope_end {
	bool ok;
	int exit_code; /* what comet exits with */
	int status;    /* the command's own exit code, 128+n on a signal; -1 none (timeout) */
	bool timed_out;
	int64_t total_ms;
	struct comet_counters counters;
};

/*
 * Each returns one line of JSON without newline, valid UTF-8 whatever the bytes in names
 * (invalid bytes as U+FFFD in the text, plus the exact bytes in a field of their own), to be
 * freed by the caller; NULL when memory is short.
 */
char *comet_scope_started(const struct comet_scope_run *run, char *const argv[], uint32_t pid,
			  const char *cgroup);
char *comet_scope_violation(const struct comet_scope_run *run, const struct comet_violation *v);
char *comet_scope_completed(const struct comet_scope_run *run, const struct comet_scope_end *end);

/* The same for a person: one short line (fix on a second), control characters escaped. */
char *comet_scope_violation_text(const struct comet_scope_run *run, const struct comet_violation *v,
				 bool colour);

#endif /* COMET_SCOPE_H */
