// SPDX-License-Identifier: Apache-2.0
/*
 * Where do events go? Lines wait in a queue that is written out as the other end takes them, so
 * that a reader that stalls can neither stall the run nor receive half a line.
 */
#include "user/sink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "user/base.h"
#include "user/stream.h"
#include "user/text.h"

struct comet_sink {
	int fd;
	bool socket;
	bool regular;
	bool dead; /* the other end is gone: nothing more is tried */
	int error; /* the first one, negative errno */
	uint64_t lost;
	int patience_ms; /* what is left of COMET_SINK_PATIENCE_MS */
	char *queue;
	size_t size; /* of queue */
	size_t used;
};

static int set_error(struct comet_sink *sink, int code)
{
	if (!sink->error)
		sink->error = code;
	return code;
}

/* SIGPIPE belongs to the program; a write here must not raise it. */
static ssize_t write_quietly(int fd, const void *bytes, size_t len)
{
	static const struct timespec at_once = { 0 };
	sigset_t pipe_set, old, pending;
	ssize_t n;
	int saved;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	n = write(fd, bytes, len);
	saved = errno;
	if (n < 0 && saved == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe_set, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return n;
}

static bool is_writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0;
}

/*
 * One attempt that does not block. Where a stream that others share could not be opened again, a
 * pipe that polls writable takes PIPE_BUF bytes, if nobody else writes to it just then.
 */
static ssize_t write_some(struct comet_sink *sink, const char *bytes, size_t len)
{
	if (sink->socket)
		return send(sink->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sink->regular)
		return write_quietly(sink->fd, bytes, len);
	if (!is_writable(sink->fd)) {
		errno = EAGAIN;
		return -1;
	}
	return write_quietly(sink->fd, bytes, len < PIPE_BUF ? len : PIPE_BUF);
}

static uint64_t count_lines(const char *bytes, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += bytes[i] == '\n';
	return n;
}

/* 0 when the queue is empty, -EAGAIN when the other end takes no more now, else the error. */
static int flush_queue(struct comet_sink *sink)
{
	size_t done = 0;
	int r = 0;

	while (done < sink->used && !r) {
		ssize_t n = write_some(sink, sink->queue + done, sink->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			r = -EIO;
		else if (errno != EINTR)
			r = errno == EWOULDBLOCK ? -EAGAIN : -errno;
	}
	sink->used -= done;
	if (done > 0 && sink->used > 0)
		memmove(sink->queue, sink->queue + done, sink->used);
	if (sink->used == 0)
		sink->patience_ms = COMET_SINK_PATIENCE_MS;
	if (r == -EPIPE || r == -ECONNRESET || r == -ENOTCONN || r == -EBADF) {
		sink->dead = true;
		sink->lost += count_lines(sink->queue, sink->used);
		sink->used = 0;
	}
	return r;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Writes until at most `keep` bytes wait in the queue, or patience or the other end is gone. */
static int drain(struct comet_sink *sink, size_t keep)
{
	int r = flush_queue(sink);

	while (r == -EAGAIN && sink->used > keep && sink->patience_ms > 0) {
		struct pollfd p = { .fd = sink->fd, .events = POLLOUT };
		int64_t start = now_ms();

		if (poll(&p, 1, sink->patience_ms) < 0 && errno != EINTR)
			return -errno;
		sink->patience_ms -= (int)(now_ms() - start);
		r = flush_queue(sink);
	}
	return r;
}

static int share(int fd)
{
	int again = comet_stream_again(fd);

	return again < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : again;
}

static int open_fd(const char *number, struct comet_error *error)
{
	unsigned long value;
	char *end;
	int flags;
	int fd;

	errno = 0;
	value = strtoul(number, &end, 10);
	if (*number < '0' || *number > '9' || *end || errno || value > INT32_MAX)
		return comet_error_set(error, EINVAL,
				       "--events fd:N needs the number of an open descriptor");
	flags = fcntl((int)value, F_GETFL);
	if (flags < 0)
		return comet_error_set(error, EBADF, "--events fd:%lu: no such descriptor is open",
				       value);
	if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return comet_error_set(error, EBADF,
				       "--events fd:%lu: the descriptor is not open for writing",
				       value);
	fd = share((int)value);
	if (fd < 0)
		return comet_error_set(error, errno, "--events fd:%lu: %s", value, strerror(errno));
	return fd;
}

/* Why open(2) said no, in words for the two cases that its errno hides. */
static int explain_open(const char *path, const char *name, int code, struct comet_error *error)
{
	struct stat st;

	if (code == ENXIO && stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return comet_error_set(
			error, code, "--events %s: nobody reads this FIFO; start its reader first",
			name);
	if (code == ENXIO && stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		return comet_error_set(error, code, "--events %s: this is a socket; write unix:%s",
				       name, name);
	return comet_error_set(error, code, "--events %s: %s", name, strerror(code));
}

static int open_file(const char *path, struct comet_error *error)
{
	_cleanup_free_ char *name = comet_text_quote(path, strlen(path));
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!name)
		return comet_error_set(error, ENOMEM, "--events: out of memory");
	/* O_NONBLOCK: a FIFO without a reader is an error now instead of a wait without end. */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return explain_open(path, name, errno, error);
	if (fstat(fd, &st) < 0)
		return comet_error_set(error, errno, "--events %s: %s", name, strerror(errno));
	if (S_ISBLK(st.st_mode))
		return comet_error_set(error, EINVAL,
				       "--events %s: a block device is no place for events", name);
	return COMET_TAKE_FD(fd);
}

static int open_unix(const char *path, struct comet_error *error)
{
	_cleanup_free_ char *name = comet_text_quote(path, strlen(path));
	const struct timeval patience = { .tv_sec = COMET_SINK_PATIENCE_MS / 1000,
					  .tv_usec = COMET_SINK_PATIENCE_MS % 1000 * 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;

	if (!name)
		return comet_error_set(error, ENOMEM, "--events: out of memory");
	if (*path == '\0' || strlen(path) >= sizeof(addr.sun_path))
		return comet_error_set(error, EINVAL,
				       "--events unix:%s: the path must have 1 to %zu bytes", name,
				       sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* A listener whose backlog is full makes connect(2) wait as long as a send may take. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return comet_error_set(error, errno, "--events unix:%s: %s", name,
				       errno == EAGAIN ? "the listener accepts no connection"
						       : strerror(errno));
	return COMET_TAKE_FD(fd);
}

static int open_spec(const char *spec, struct comet_error *error)
{
	int fd;

	if (*spec == '\0')
		return comet_error_set(
			error, EINVAL,
			"--events needs FILE, fd:N, unix:PATH or - for standard error");
	if (strncmp(spec, "fd:", 3) == 0)
		return open_fd(spec + 3, error);
	if (strncmp(spec, "unix:", 5) == 0)
		return open_unix(spec + 5, error);
	if (!streq(spec, "-"))
		return open_file(spec, error);
	fd = share(STDERR_FILENO);
	if (fd < 0)
		return comet_error_set(error, errno, "--events -: standard error is closed");
	return fd;
}

int comet_sink_open(const char *spec, struct comet_sink **sink, struct comet_error *error)
{
	_cleanup_free_ struct comet_sink *new = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;

	fd = open_spec(spec, error);
	if (fd < 0)
		return fd;
	new = calloc(1, sizeof(*new));
	if (!new)
		return comet_error_set(error, ENOMEM, "--events: out of memory");
	if (fstat(fd, &st) < 0)
		return comet_error_set(error, errno, "--events: %s", strerror(errno));
	new->socket = S_ISSOCK(st.st_mode);
	new->regular = S_ISREG(st.st_mode);
	new->patience_ms = COMET_SINK_PATIENCE_MS;
	new->fd = COMET_TAKE_FD(fd);
	*sink = COMET_TAKE_PTR(new);
	return 0;
}

/* One line may be longer than the queue: it is let in when it is alone. */
static bool has_room(const struct comet_sink *sink, size_t len)
{
	return sink->used == 0 || sink->used + len <= COMET_SINK_QUEUE;
}

static int enqueue(struct comet_sink *sink, const char *line, size_t len)
{
	if (sink->used + len > sink->size) {
		size_t size = sink->used + len > COMET_SINK_QUEUE ? len : COMET_SINK_QUEUE;
		char *queue = realloc(sink->queue, size);

		if (!queue)
			return -ENOMEM;
		sink->queue = queue;
		sink->size = size;
	}
	memcpy(sink->queue + sink->used, line, len - 1);
	sink->queue[sink->used + len - 1] = '\n';
	sink->used += len;
	return 0;
}

int comet_sink_write(struct comet_sink *sink, const char *line)
{
	size_t len = strlen(line) + 1;
	int r = 0;

	if (!has_room(sink, len))
		r = drain(sink, len < COMET_SINK_QUEUE ? COMET_SINK_QUEUE - len : 0);
	if (sink->dead || !has_room(sink, len)) {
		sink->lost++;
		return set_error(sink, sink->dead ? -EPIPE : r == -EAGAIN ? -ETIMEDOUT : r);
	}
	r = enqueue(sink, line, len);
	if (r) {
		sink->lost++;
		return set_error(sink, r);
	}
	r = flush_queue(sink);
	return r == 0 || r == -EAGAIN ? 0 : set_error(sink, r);
}

uint64_t comet_sink_flush(struct comet_sink *sink)
{
	int r;

	if (!sink || sink->dead)
		return sink ? sink->lost : 0;
	sink->patience_ms = COMET_SINK_PATIENCE_MS;
	r = drain(sink, 0);
	if (r)
		set_error(sink, r == -EAGAIN ? -ETIMEDOUT : r);
	sink->lost += count_lines(sink->queue, sink->used);
	sink->used = 0;
	return sink->lost;
}

int comet_sink_close(struct comet_sink *sink)
{
	int error;

	if (!sink)
		return 0;
	comet_sink_flush(sink);
	if (close(sink->fd) < 0)
		set_error(sink, -errno);
	error = sink->error;
	free(sink->queue);
	free(sink);
	return error;
}
