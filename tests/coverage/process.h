/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What do rows about other processes share? A victim outside that does nothing, and is looked
 * after: a signal, a stop, a change of its memory, its priority, its limits is an effect. On the
 * declared side its place is taken by a child of the caller's own.
 */
#ifndef COMET_PROCESS_H
#define COMET_PROCESS_H

#include <signal.h>
#include <sys/types.h>

#include "tests/coverage/road.h"

/* What the victim has in its memory, at the same address in each process of this program. */
extern char process_memory[64];

/* For .outside: the victim, in a process group of its own, of the user who tries. */
void process_stay(const struct place *place);

/*
 * In .try: calls call with the victim's number, or with a child's, and returns what it returned.
 * In a pid namespace of its own the run has no process of the victim's number, nor a number for it.
 */
int process_on_other(const struct place *place, int (*call)(pid_t pid));

/* The same with a descriptor of it (pidfd_open). */
int process_on_other_fd(const struct place *place, int (*call)(int pidfd));

#endif /* COMET_PROCESS_H */
