/* SPDX-License-Identifier: Apache-2.0 */
/* What has the agent printed? For `--json`, which holds it back until the end. */
#ifndef COMET_CAPTURE_H
#define COMET_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Output and errors together; what is beyond is read and dropped, so that the agent goes on. */
#define COMET_CAPTURE_MAX (10U << 20)

struct comet_stream {
	int fd; /* to read from */
	bool ended;
	char *bytes;
	size_t len;
	size_t room;
};

struct comet_capture {
	struct comet_stream output, errors;
	bool truncated;
};

/* Makes two pipes; *output and *errors get the ends for the agent. 0 or negative errno. */
int comet_capture_open(struct comet_capture *capture, int *output, int *errors);

/*
 * Takes one piece of what is there, without blocking; and notes the end. Returns whether there was
 * anything.
 */
bool comet_capture_read(struct comet_capture *capture, struct comet_stream *stream);

void comet_capture_close(struct comet_capture *capture);

#endif /* COMET_CAPTURE_H */
