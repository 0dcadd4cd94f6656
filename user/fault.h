/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of Comet is to break, so that tests can see what happens then? Only where it was
 * compiled with COMET_FAULTS (`make faults`): in a released build all of this is nothing.
 */
#ifndef COMET_FAULT_H
#define COMET_FAULT_H

#include <stdbool.h>
#include <sys/types.h>

#include "manifest/error.h"

struct bpf_object;

#ifdef COMET_FAULTS

/* Reads and forgets $COMET_FAULT; ends comet with 2 when it asks for what there is not. */
void comet_fault_read(void);

/* Is that fault, of those without an argument, asked for? */
bool comet_fault(const char *name);

/*
 * The run has come to a step: comet may be killed, stopped or run out of memory here. 0, or a
 * negative errno with a sentence where the step is to fail. error may be NULL: it cannot fail.
 */
int comet_fault_at(const char *step, struct comet_error *error);

/* The guard that kill-both kills besides comet. */
void comet_fault_guard(pid_t guard);

/* The programs and maps that are to be left out, made unloadable or cut. Before they are loaded. */
int comet_fault_object(struct bpf_object *object, struct comet_error *error);

/* What tells the set of programs and maps from one without these faults; "" where nothing does. */
const char *comet_fault_set(void);

#else

static inline void comet_fault_read(void)
{
}

static inline bool comet_fault(const char *name)
{
	(void)name;
	return false;
}

static inline int comet_fault_at(const char *step, struct comet_error *error)
{
	(void)step;
	(void)error;
	return 0;
}

static inline void comet_fault_guard(pid_t guard)
{
	(void)guard;
}

static inline int comet_fault_object(struct bpf_object *object, struct comet_error *error)
{
	(void)object;
	(void)error;
	return 0;
}

static inline const char *comet_fault_set(void)
{
	return "";
}

#endif /* COMET_FAULTS */

#endif /* COMET_FAULT_H */
