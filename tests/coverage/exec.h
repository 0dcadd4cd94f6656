/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What do all rows about programs share? The program is a copy of sh(1), told to make the file
 * "ran" in the row's scratch directory: that it ran is seen from outside.
 */
#ifndef COMET_EXEC_H
#define COMET_EXEC_H

#include "tests/coverage/road.h"

/*
 * The row's program that nothing grants ('h'), the one that may be read ('r'), and the one that may
 * be started ('d'). Where the agent may write, no program is granted.
 */
const char *exec_program(const struct place *place, char which);
/* The one that the side at hand may start, or not. */
const char *exec_own(const struct place *place);

void exec_prepare(const struct place *place);
void exec_grants(const struct place *place);
bool exec_ran(const struct place *place);

/* A copy of from, by whoever runs this; to is made anew. */
void exec_copy(const char *from, const char *to);
void exec_copy_to(const char *from, int to);

/* The arguments for a program, after name as the first one; in a buffer that lasts. */
char *const *exec_words(const struct place *place, const char *name);
/* What a script does to the same end, with that file as its last argument. */
#define EXEC_SCRIPT "for x; do :; done\n: >\"$x\"\n"

/* Execs, and returns only if that failed. */
typedef void exec_call(const char *program, int fd, char *const argv[]);
void exec_execve(const char *program, int fd, char *const argv[]);
void exec_by_fd(const char *program, int fd, char *const argv[]);

/*
 * In a child: how the start ends. argv: NULL for exec_words(). fd is passed on to the call. Says
 * that the event must name program.
 */
int exec_start(const struct place *place, exec_call *call, const char *program, int fd,
	       char *const argv[]);

/* In .try: has something done outside, where exec_await() waits for it, and goes on after that. */
void exec_ask(const struct place *place);
/* In .outside; says that it is ready. */
void exec_await(const struct place *place);
void exec_answer(const struct place *place);

#endif /* COMET_EXEC_H */
