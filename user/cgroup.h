/* SPDX-License-Identifier: Apache-2.0 */
/* Where does a run live? Its cgroup: found, made, emptied and removed. */
#ifndef COMET_CGROUP_H
#define COMET_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest/error.h"

/* Mount point of cgroup v2 (also on hybrid hosts); malloc'ed. -ENOTSUP with a remedy. */
int comet_cgroup_root(char **path, struct comet_error *error);

struct comet_cgroup {
	char *path;
	int fd;      /* O_DIRECTORY descriptor, for CLONE_INTO_CGROUP */
	uint64_t id; /* kernfs node id, as BPF sees it (name_to_handle_at) */
};

/*
 * Chooses <cgroup of the caller>/comet-<run_id>: below the caller's own cgroup, so that the limits
 * around the caller hold for the run too. Only the path is set, and owned by cgroup, for a guard
 * that must stand before there is anything to guard.
 */
int comet_cgroup_plan(const char *run_id, struct comet_cgroup *cgroup, struct comet_error *error);

/* Makes what was planned; on failure it is gone again, and the plan with it. */
int comet_cgroup_make(struct comet_cgroup *cgroup, struct comet_error *error);

/* SIGKILL to every task in it and below; does not wait. 0 or negative errno. */
int comet_cgroup_kill(const struct comet_cgroup *cgroup);

/* Suspends its tasks, or lets them go on. SIGKILL works meanwhile. */
void comet_cgroup_freeze(const struct comet_cgroup *cgroup, bool frozen);

/* CPU time that its tasks have used so far, in microseconds; 0 where the kernel does not tell. */
uint64_t comet_cgroup_cpu_usec(const struct comet_cgroup *cgroup);

/*
 * SIGKILL to every task in it and below, waits until it is empty (bounded), removes it, and frees
 * what cgroup owns, also on failure. A cgroup that another process removed is no failure.
 */
int comet_cgroup_destroy(struct comet_cgroup *cgroup);

/*
 * The text side of the search, for tests. mountinfo and own are the contents of
 * /proc/self/mountinfo and /proc/self/cgroup. *mount gets the mount point of cgroup v2 and *path
 * the directory of the caller's own cgroup below it, both malloc'ed; either may be NULL.
 */
int comet_cgroup_locate(const char *mountinfo, const char *own, char **mount, char **path,
			struct comet_error *error);

#endif /* COMET_CGROUP_H */
