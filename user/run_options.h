/* SPDX-License-Identifier: Apache-2.0 */
/* What did the operator ask of `comet run`? */
#ifndef COMET_RUN_OPTIONS_H
#define COMET_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manifest/error.h"
#include "manifest/manifest.h"

/* Strings belong to the argv that was parsed. */
struct comet_run_options {
	const char *pack;
	char **command;      /* NULL-terminated; the tail of argv */
	const char *workdir; /* NULL: none */
	const char *user;    /* NAME|UID[:GROUP|GID]; NULL: the invoking user */
	const char *events;  /* NULL: none */
	const char **env;    /* NAME=VALUE, in the order given; the array is owned */
	size_t n_env;
	int64_t timeout_ms;             /* 0: none */
	enum comet_isolation isolation; /* COMET_ISOLATION_UNSET: as the manifest has it */
	bool clear_env;
	bool audit;
	bool kill; /* --on-violation=kill */
	bool json;
	bool quiet;
	bool strict;
	bool help; /* the help was asked for and printed: nothing else is set */
};

/*
 * argv[0] is the verb. 0, or -EINVAL with a sentence; the sentence is empty where argp has said it
 * on standard error already. To be freed with comet_run_options_free() in both cases.
 */
int comet_run_options_parse(int argc, char **argv, struct comet_run_options *options,
			    struct comet_error *error);
void comet_run_options_free(struct comet_run_options *options);

/* "2", "0.25": seconds, above 0 and at most ten years. -EINVAL for anything else. */
int comet_run_timeout_parse(const char *text, int64_t *ms);

#endif /* COMET_RUN_OPTIONS_H */
