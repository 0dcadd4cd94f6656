/* SPDX-License-Identifier: Apache-2.0 */
/* How do Comet's words reach people on standard error, without ever waiting for them? */
#ifndef COMET_VOICE_H
#define COMET_VOICE_H

#include <stdbool.h>

/*
 * A reader that stalls, or a terminal that the agent has stopped, must not stop the supervisor: its
 * timeout would not come. Words that find no room are dropped; events and counters have them all.
 */
struct comet_voice {
	int fd;
	bool owned; /* a second opening of standard error, that does not block */
	bool socket;
	bool terminal;
	bool stalled; /* the last words found no room: the next ones do not wait at all */
};

void comet_voice_open(struct comet_voice *voice);
void comet_voice_close(struct comet_voice *voice);

/* Writes text as lines; a newline is added at its end where there is none. */
void comet_voice_say(struct comet_voice *voice, const char *text);

#endif /* COMET_VOICE_H */
