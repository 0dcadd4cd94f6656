// SPDX-License-Identifier: Apache-2.0
/* What has the agent printed? */
#define _GNU_SOURCE 1

#include "user/capture.h"

#include <fcntl.h>

#include "user/base.h"

static int open_stream(struct comet_stream *stream, int *agent)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	stream->fd = ends[0];
	*agent = ends[1];
	/* Only this end: the agent's own must behave as any pipe does. */
	return fcntl(stream->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

int comet_capture_open(struct comet_capture *capture, int *output, int *errors)
{
	int err = open_stream(&capture->output, output);

	return err < 0 ? err : open_stream(&capture->errors, errors);
}

static void keep(struct comet_capture *capture, struct comet_stream *stream, const char *bytes,
		 size_t len)
{
	size_t left = COMET_CAPTURE_MAX - capture->output.len - capture->errors.len;
	char *grown;

	if (len > left) {
		capture->truncated = true;
		len = left;
	}
	if (stream->len + len > stream->room) {
		size_t room = stream->room ? 2 * stream->room : 65536;

		grown = realloc(stream->bytes, room > stream->len + len ? room : stream->len + len);
		if (!grown) {
			capture->truncated = true;
			return;
		}
		stream->bytes = grown;
		stream->room = room > stream->len + len ? room : stream->len + len;
	}
	memcpy(stream->bytes + stream->len, bytes, len);
	stream->len += len;
}

bool comet_capture_read(struct comet_capture *capture, struct comet_stream *stream)
{
	char bytes[65536];
	ssize_t n;

	if (stream->ended)
		return false;
	do
		n = read(stream->fd, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > 0)
		keep(capture, stream, bytes, (size_t)n);
	else
		stream->ended = true;
	return n > 0;
}

void comet_capture_close(struct comet_capture *capture)
{
	comet_close_fd(&capture->output.fd);
	comet_close_fd(&capture->errors.fd);
	free(capture->output.bytes);
	free(capture->errors.bytes);
	*capture = (struct comet_capture){ .output.fd = -1, .errors.fd = -1 };
}
