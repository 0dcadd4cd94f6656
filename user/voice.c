// SPDX-License-Identifier: Apache-2.0
/* How do Comet's words reach people on standard error, without ever waiting for them? */
#define _GNU_SOURCE 1

#include "user/voice.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/stream.h"

/* A busy reader gets this much time; one that stands still gets it once. */
#define PATIENCE_MS 500

void comet_voice_open(struct comet_voice *voice)
{
	struct stat st;
	int fd;

	*voice = (struct comet_voice){ .fd = STDERR_FILENO, .terminal = isatty(STDERR_FILENO) };
	if (fstat(STDERR_FILENO, &st) < 0)
		return;
	voice->socket = S_ISSOCK(st.st_mode);
	fd = comet_stream_again(STDERR_FILENO);
	if (fd < 0)
		return;
	voice->fd = fd;
	voice->owned = true;
}

void comet_voice_close(struct comet_voice *voice)
{
	if (voice->owned)
		close(voice->fd);
	*voice = (struct comet_voice){ .fd = STDERR_FILENO };
}

static ssize_t write_some(const struct comet_voice *voice, const char *text, size_t len)
{
	if (voice->socket)
		return send(voice->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* As much as a pipe that polls writable takes, where it could not be opened again. */
	return write(voice->fd, text, len < PIPE_BUF ? len : PIPE_BUF);
}

static bool has_room(struct comet_voice *voice)
{
	struct pollfd p = { .fd = voice->fd, .events = POLLOUT };

	if (poll(&p, 1, voice->stalled ? 0 : PATIENCE_MS) <= 0) {
		voice->stalled = true;
		return false;
	}
	/*
	 * No comparison straight into memory: where that store meets a page that a fork left to be
	 * copied, QEMU 7.2 forgets how the comparison went, and the words were dropped.
	 */
	if (voice->stalled)
		voice->stalled = false;
	return true;
}

static void write_all(struct comet_voice *voice, const char *text, size_t len)
{
	while (len > 0 && has_room(voice)) {
		ssize_t n = write_some(voice, text, len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

void comet_voice_say(struct comet_voice *voice, const char *text)
{
	/* The agent may have switched the terminal to raw mode. */
	const char *end = voice->terminal ? "\r\n" : "\n";
	_cleanup_free_ char *lines = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&lines, &size);

	if (!out)
		return;
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(out, "%.*s%s", (int)len, text, end);
		text += len + (text[len] == '\n');
	}
	if (fclose(out) == 0)
		write_all(voice, lines, size);
}
