/* SPDX-License-Identifier: Apache-2.0 */
/* Which set of programs and maps is in force on this host: one found, or one loaded? */
#ifndef COMET_INSTANCE_H
#define COMET_INSTANCE_H

#include "bpf/wire.h"
#include "manifest/error.h"

/* Root's own: the lock, the records of runs, the canaries of self-tests. */
#define COMET_RUN_DIRECTORY "/run/comet"

/* Descriptors that keep a set alive: it goes with the last holder, or with the last run's pins. */
struct comet_set {
	int maps[_COMET_MAP_MAX];
	int links[COMET_INSTANCE_LINKS];
	unsigned int n_links;
	int dump_program;   /* the iterator that tells identities */
	int packet_program; /* for each run's own cgroup */
};

/*
 * Serialises loading, adopting and giving out policy ids on this host: an exclusive flock on
 * /run/comet/lock. Returns the descriptor (closing it unlocks) or a negative errno.
 */
int comet_set_lock(struct comet_error *error);

/* What tells this build's set from another's: SHA-256 in hex, with a NUL. */
void comet_set_build(char build[65]);

/* Both want the lock held. 0, or -ENOENT when there is none to adopt. */
int comet_set_adopt(struct comet_set *set);
int comet_set_load(struct comet_set *set, struct comet_error *error);

/* A number never given before in this set; the lock must be held. */
int comet_set_next_policy(struct comet_set *set, __u32 *id);

/* Says why an entry, which the kernel refused with that errno, is not in the map; returns -code. */
int comet_set_not_added(const struct comet_set *set, enum comet_map map, int code,
			struct comet_error *error);

/* Closes what is open; safe on a set that was only partly filled after comet_set_init(). */
void comet_set_init(struct comet_set *set);
void comet_set_close(struct comet_set *set);

#endif /* COMET_INSTANCE_H */
