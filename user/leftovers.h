/* SPDX-License-Identifier: Apache-2.0 */
/* What do runs leave behind whose comet and guard were both killed, and who removes it? */
#ifndef COMET_LEFTOVERS_H
#define COMET_LEFTOVERS_H

#include "manifest/error.h"
#include "user/cgroup.h"

/*
 * Each run has a record: a file that names its cgroup, locked for as long as its comet or its guard
 * lives. A record that nobody has locked is a dead run's, and the next comet clears up after it.
 */

/* The record of a run that is about to make its cgroup: its descriptor, or a negative errno. */
int comet_leftovers_record(const char *run_id, const struct comet_cgroup *cgroup,
			   struct comet_error *error);

/* Nothing of that run is left. */
void comet_leftovers_forget(const char *run_id);

/*
 * Kills what is left of dead runs, removes their cgroups, canaries and records. What cannot be
 * removed now keeps its record.
 */
void comet_leftovers_clear(void);

#endif /* COMET_LEFTOVERS_H */
