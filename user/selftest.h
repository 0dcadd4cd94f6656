/* SPDX-License-Identifier: Apache-2.0 */
/* Is the run really held, before anything runs in it? */
#ifndef COMET_SELFTEST_H
#define COMET_SELFTEST_H

#include <stdbool.h>

#include "manifest/error.h"

/* What each probe answered: errno, 0 for "it was let through". */
struct comet_selftest {
	int open_error;
	int connect_error;
	int exec_error;
};

/*
 * The path of a run's canary: in what covers Comet's own directory in every run (see mounts.c), or
 * in a root of the run's own. malloc'ed; NULL: no memory.
 */
char *comet_selftest_canary(const char *run_id, bool own_root);

/* Makes it: an empty executable file of mode 0755. root: a descriptor of the run's root. */
int comet_selftest_make(int root, const char *canary, struct comet_error *error);

/* An O_PATH descriptor of it, or -1 with errno. */
int comet_selftest_open(int root, const char *canary);

/* Removes it. No canary and no root are fine. */
void comet_selftest_remove(int root, const char *canary);

/*
 * Tries to open the canary, to reach COMET_SELFTEST_ADDR and to execute the canary. To be called in
 * a process of its own (an exec that succeeds does not come back), which is not the run's pid 1.
 */
void comet_selftest_probe(const char *canary, struct comet_selftest *result);

/* 0 when all three were refused as they must be; else -EPERM with a sentence naming which not. */
int comet_selftest_judge(const struct comet_selftest *result, struct comet_error *error);

#endif /* COMET_SELFTEST_H */
