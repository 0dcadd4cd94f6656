/* SPDX-License-Identifier: Apache-2.0 */
/* Who cleans up after comet itself was killed? */
#ifndef COMET_GUARD_H
#define COMET_GUARD_H

#include <sys/types.h>

#include "manifest/error.h"
#include "user/cgroup.h"
#include "user/enforcer.h"

/* What there is to clean up. policy 0: none was added yet. */
struct comet_guarded {
	struct comet_cgroup *cgroup;
	struct comet_enforcer *enforcer;
	uint32_t policy;
	const char *run_id;
	const int *closed; /* descriptors that the guard must not keep open, -1 skipped */
	size_t n_closed;
};

struct comet_guard {
	pid_t pid;
	int line; /* its end tells the guard that comet died */
};

/*
 * Starts a small process in a session of its own, out of reach of what kills comet's group or
 * terminal. It holds comet's other descriptors, so that the objects which the policy grants stay
 * what they are until the last task of the run is dead.
 */
int comet_guard_start(struct comet_guard *guard, const struct comet_guarded *guarded,
		      struct comet_error *error);

/*
 * Nothing is left to clean up: lets the guard end by itself. For comet's own end: whoever closes
 * the last descriptors waits for the kernel to detach the programs (0.1 s each before 7.x), and
 * the caller's exit code need not wait for that.
 */
void comet_guard_release(struct comet_guard *guard);

/* The same, and reaps it. Safe to call twice. */
void comet_guard_dismiss(struct comet_guard *guard);

#endif /* COMET_GUARD_H */
