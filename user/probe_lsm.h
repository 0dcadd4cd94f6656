/* SPDX-License-Identifier: Apache-2.0 */
/* Which security modules did this kernel start with, and who says so? */
#ifndef COMET_PROBE_LSM_H
#define COMET_PROBE_LSM_H

#include <stdbool.h>

struct comet_lsm_list {
	char names[192]; /* comma-separated, in order; empty: nothing tells */
	char source[96]; /* where it was read */
	bool in_force;   /* said by the running kernel, not by its settings */
};

/*
 * Reads, in this order: securityfs, the command line's lsm=, the kernel configuration. root is put
 * before each path ("" on a host, a directory in tests); release names /boot/config-RELEASE.
 */
void comet_lsm_read(const char *root, const char *release, struct comet_lsm_list *list);

/* Is word an item of the comma-separated list? */
bool comet_lsm_has(const char *list, const char *word);

/* 1 the running kernel lists BPF among its modules, 0 not, -ENOSYS before 6.8. */
int comet_lsm_ask_kernel(void);

#endif /* COMET_PROBE_LSM_H */
