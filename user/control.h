/* SPDX-License-Identifier: Apache-2.0 */
/* How do the supervisor, the run's pid 1 and the agent before its exec talk? */
#ifndef COMET_CONTROL_H
#define COMET_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/wire.h"

enum comet_message_type {
	/* To the run's pid 1. */
	COMET_MESSAGE_SELFTEST, /* text: path of the canary */
	COMET_MESSAGE_START,    /* text: path of the program, NUL, working directory */
	COMET_MESSAGE_SIGNAL,   /* value: to be delivered to the agent */
	/* From it. */
	COMET_MESSAGE_MOUNTED,
	COMET_MESSAGE_FAILED,  /* value: errno; text: one sentence */
	COMET_MESSAGE_PROBES,  /* text: struct comet_selftest */
	COMET_MESSAGE_STOPPED, /* value: signal that stopped the agent */
	COMET_MESSAGE_EXITED,  /* value: wait status of the agent */
	/* From the agent, before its exec; the sender's pid is the agent's. */
	COMET_MESSAGE_HELLO,
	COMET_MESSAGE_NO_EXEC, /* value: errno */
	_COMET_MESSAGE_MAX,
};

#define COMET_MESSAGE_TEXT_MAX (2 * COMET_PATH_MAX)

struct comet_message {
	uint32_t type;
	int32_t value;
	char text[COMET_MESSAGE_TEXT_MAX];
};

/* A pair of close-on-exec sockets; one message is one datagram, in order, and the end is seen. */
int comet_control_pair(int *supervisor, int *init);

/* text may be NULL with len 0. 0 or negative errno. */
int comet_control_send(int fd, enum comet_message_type type, int value, const void *text,
		       size_t len);

/*
 * The next message; text is NUL-terminated. pid (may be NULL) gets the sender's pid as this
 * process sees it. timeout_ms -1 waits for ever. 0, -EPIPE at the end, -ETIMEDOUT, -EBADMSG, or
 * another negative errno.
 */
int comet_control_receive(int fd, int timeout_ms, struct comet_message *message, pid_t *pid);

#endif /* COMET_CONTROL_H */
