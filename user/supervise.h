/* SPDX-License-Identifier: Apache-2.0 */
/* What happens between the agent's start and the end of its last process? */
#ifndef COMET_SUPERVISE_H
#define COMET_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manifest/error.h"
#include "user/capture.h"
#include "user/cgroup.h"
#include "user/events.h"
#include "user/terminal.h"

struct comet_supervisor {
	int control; /* the supervisor's end of the control pair */
	int init;    /* pidfd of the run's pid 1 */
	int ring;    /* ring buffer map */
	const struct comet_cgroup *cgroup;
	struct comet_terminal *terminal;
	struct comet_capture *capture; /* NULL: the agent has comet's own output */
	int64_t timeout_ms;            /* 0: none */
	bool kill_on_violation;
	void (*started)(void *context, pid_t agent);
	void (*violation)(void *context, const struct comet_violation *violation);
	void (*child_ended)(void *context); /* SIGCHLD came */
	void *context;
};

struct comet_outcome {
	pid_t agent; /* 0: it never came so far */
	int status;  /* exit code as a shell gives it, 128+n on a signal; -1: none */
	bool timed_out;
	int exec_error; /* errno of the exec, 0: it worked */
	bool failed;    /* the agent could not be prepared: failure says why */
	struct comet_error failure;
};

/*
 * Starts program in directory and looks after the run until every process of it is dead and
 * everything they left in the ring buffer was handed over. 0, or a negative errno with a sentence;
 * then the run may be alive still.
 */
int comet_supervise(const struct comet_supervisor *supervisor, const char *program,
		    const char *directory, struct comet_outcome *outcome,
		    struct comet_error *error);

#endif /* COMET_SUPERVISE_H */
