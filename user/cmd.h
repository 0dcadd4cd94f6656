/* SPDX-License-Identifier: Apache-2.0 */
/* Which verbs are there, and what do they answer to the shell? */
#ifndef COMET_CMD_H
#define COMET_CMD_H

/* Exit codes; the manual's table. A command's own code passes through a run without violation. */
enum comet_exit {
	COMET_EXIT_OK = 0,
	COMET_EXIT_FAILED = 1, /* read verbs: the answer is no */
	COMET_EXIT_USAGE = 2,  /* usage, or a manifest that does not validate */
	COMET_EXIT_VIOLATION = 3,
	COMET_EXIT_TIMEOUT = 6,
	COMET_EXIT_CONFINE = 125, /* Comet could not confine: nothing was run */
	COMET_EXIT_NOT_EXECUTABLE = 126,
	COMET_EXIT_NOT_FOUND = 127,
};

/* argv[0] is the verb; fn returns the exit code. */
struct comet_verb {
	const char *name;
	const char *args; /* synopsis after the name */
	const char *help; /* one line */
	int (*fn)(int argc, char **argv);
};

int comet_cmd_run(int argc, char **argv);
int comet_cmd_pack(int argc, char **argv);
int comet_cmd_doctor(int argc, char **argv);
int comet_cmd_version(int argc, char **argv);

#endif /* COMET_CMD_H */
