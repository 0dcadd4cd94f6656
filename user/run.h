/* SPDX-License-Identifier: Apache-2.0 */
/* What does one `comet run` own, and which steps lead to its start? */
#ifndef COMET_RUN_H
#define COMET_RUN_H

#include "manifest/manifest.h"
#include "manifest/policy.h"
#include "user/account.h"
#include "user/capture.h"
#include "user/cgroup.h"
#include "user/enforcer.h"
#include "user/guard.h"
#include "user/root_build.h"
#include "user/run_options.h"
#include "user/run_report.h"
#include "user/signals.h"
#include "user/supervise.h"
#include "user/terminal.h"

struct comet_run {
	struct comet_run_options options;
	struct comet_run_report report;
	struct comet_error error;

	/* Set by comet_run_prepare(). */
	struct comet_account account;
	char **environment;
	char *workdir; /* canonical; NULL: none asked for */
	struct comet_manifest *manifest;
	struct comet_policy *policy;
	int64_t timeout_ms;
	bool container;   /* isolation container: a root of its own */
	bool private_tmp; /* the manifest grants something in /tmp */

	/* Set by comet_run_confine(). */
	struct comet_enforcer *enforcer;
	uint32_t policy_id; /* 0: not added */
	struct comet_signals signals;
	struct comet_terminal terminal;
	struct comet_cgroup cgroup;
	struct comet_guard guard;
	struct comet_capture capture;
	char *canary;
	int record; /* of this run, locked: see leftovers.h */
	int control;
	int init; /* pidfd */
	pid_t init_pid;
	int pins; /* the run's bpffs, until all is pinned there; or -1 */
	int root; /* O_PATH descriptor of the run's root directory */
	struct comet_root_sockets sockets;
	char *directory; /* where the agent starts */
	char *program;   /* what is executed */
};

/* No descriptor, nothing owned. */
void comet_run_reset(struct comet_run *run);

/*
 * Each returns 0 or the exit code, with the sentence in run->error. What they have made is for
 * comet_run_release().
 */

/* All that needs no right and leaves no trace: user, manifest, policy, sink. */
int comet_run_prepare(struct comet_run *run);
/* From the programs in the kernel to the self-test: after it the agent may start. */
int comet_run_confine(struct comet_run *run);

/* The rights that this run gives besides the manifest's: program, terminal, directory. */
int comet_run_add_rules(struct comet_run *run);
/* One of these: COMET_FS_* on path, an absolute one, and unless self_only on what is below it. */
int comet_run_add_path(struct comet_run *run, const char *path, uint32_t access, bool self_only);
/* Under isolation container: the run changes into a root of its own. */
int comet_run_make_root(struct comet_run *run);
/* A descriptor of its mount namespace, or a negative errno with the sentence in run->error. */
int comet_run_open_mounts(struct comet_run *run);
/* The descriptors that the operator hands to the agent, and the canary. */
int comet_run_add_objects(struct comet_run *run);

/* (Re)starts the guard; the former one, if any, is dismissed once the new one stands. */
int comet_run_guard(struct comet_run *run);

/* Kills what is alive, removes what was made. Safe at any point, and twice. */
void comet_run_release(struct comet_run *run);

#endif /* COMET_RUN_H */
