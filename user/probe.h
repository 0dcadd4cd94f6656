/* SPDX-License-Identifier: Apache-2.0 */
/* What can this kernel do, and what must an administrator change where it cannot? */
#ifndef COMET_PROBE_H
#define COMET_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "manifest/error.h"

/* One row of the hook table: the same table drives autoload and `comet doctor`. */
struct comet_hook {
	const char *program;    /* name of the BPF program */
	const char *target;     /* kernel function whose BTF shows that the hook exists */
	bool required;          /* missing: refusal to start */
	const char *needed_for; /* a few words for doctor */
	const char *instead;    /* program that covers for it where it is missing, or NULL */
};

extern const struct comet_hook comet_hooks[];
extern const size_t comet_n_hooks;

/* One thing the host must offer; filled by comet_probe_host(). */
struct comet_check {
	const char *name; /* "BPF LSM", "kernel BTF", "cgroup v2", "rights", ... */
	bool ok;
	char found[256];
	char remedy[512]; /* one sentence; empty when ok */
};

#define COMET_CHECKS_MAX 8

/* Fills checks, returns how many. Never fails: what cannot be read is a check that is not ok. */
size_t comet_probe_host(struct comet_check checks[COMET_CHECKS_MAX]);

/* 1 the kernel has the hook, 0 not, negative errno when kernel BTF cannot be read. */
int comet_probe_hook(const struct comet_hook *hook);

/* 0, or -ENOTSUP with the first failed check's remedy as one sentence. */
int comet_probe_require(struct comet_error *error);

#endif /* COMET_PROBE_H */
