/* SPDX-License-Identifier: Apache-2.0 */
/* Is the run really held, before anything runs in it? */
#ifndef COMET_SELFTEST_H
#define COMET_SELFTEST_H

#include "manifest/error.h"

/* What each probe answered: errno, 0 for "it was let through". */
struct comet_selftest {
	int open_error;
	int connect_error;
	int exec_error;
};

/* The canary of a run, in a directory that only root can enter. malloc'ed; NULL: no memory. */
char *comet_selftest_canary(const char *run_id);

/* Makes it: an empty executable file of mode 0755. */
int comet_selftest_make(const char *canary, struct comet_error *error);

/* Removes the canary, and its directory where no other run uses it. NULL is fine. */
void comet_selftest_remove(const char *canary);

/*
 * Tries to open the canary, to reach COMET_SELFTEST_ADDR and to execute the canary. To be called in
 * a process of its own (an exec that succeeds does not come back), which is not the run's pid 1.
 */
void comet_selftest_probe(const char *canary, struct comet_selftest *result);

/* 0 when all three were refused as they must be; else -EPERM with a sentence naming which not. */
int comet_selftest_judge(const struct comet_selftest *result, struct comet_error *error);

#endif /* COMET_SELFTEST_H */
