/* SPDX-License-Identifier: Apache-2.0 */
/* What holds a run to the end of its last task, whoever of Comet is killed? */
#ifndef COMET_PINS_H
#define COMET_PINS_H

#include <stdbool.h>

#include "manifest/error.h"

/*
 * Descriptors do not: a process that dies closes them first, and the kernel may take seconds to
 * detach the programs before it goes on to tell pid 1 of the run of that death. When comet and its
 * guard were killed at once, the agent would run unheld meanwhile. Therefore the links are pinned
 * in a bpffs of the run's own. It is mounted in the run's mount namespace alone, and so it goes
 * with the last task of the run, when that has executed all of its code.
 */

/*
 * Before 6.5 the kernel detaches a program in the very task that dropped its last pin. There that
 * would be a task of the run, for whose end pid 1 waits on its way out, for whose progress the
 * detaching waits in turn (synchronize_rcu_tasks()): neither would ever end.
 */
bool comet_pins_are_safe(void);

/* Makes that bpffs, not mounted yet: its descriptor (close-on-exec), or a negative errno. */
int comet_pins_make(struct comet_error *error);

/* Pins the link there under a name; whether it is mounted does not matter. */
int comet_pins_add(int pins, const char *name, int link, struct comet_error *error);

#endif /* COMET_PINS_H */
