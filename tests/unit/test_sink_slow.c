// SPDX-License-Identifier: Apache-2.0
/* Does a reader that stalls cost a run neither its life nor whole lines? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "user/base.h"
#include "user/sink.h"

static char directory[64];
static char path[100];
static struct comet_error failure;

static int start(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/comet-test-sink-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/events", directory);
	failure.text[0] = '\0';
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
	return 0;
}

static struct comet_sink *open_sink(const char *spec)
{
	struct comet_sink *sink = NULL;

	assert_int_equal(comet_sink_open(spec, &sink, &failure), 0);
	assert_non_null(sink);
	return sink;
}

static int listen_at_path(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static struct comet_sink *open_unix_sink(void)
{
	char spec[160];

	snprintf(spec, sizeof(spec), "unix:%s", path);
	return open_sink(spec);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static char *long_line(size_t len)
{
	char *line = malloc(len + 1);

	assert_non_null(line);
	memset(line, 'x', len);
	line[len] = '\0';
	return line;
}

/* Until end of file; UINT64_MAX when a line has another length. Half a line at the end is none. */
static uint64_t count_whole_lines(int fd, size_t len)
{
	static char bytes[65536];
	uint64_t lines = 0;
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++, at++) {
			if (bytes[i] != '\n')
				continue;
			if (at != len)
				return UINT64_MAX;
			lines++;
			at = (size_t)-1;
		}
	}
	return lines;
}

struct reader {
	int fd;
	size_t len;
	uint64_t lines;
};

static void *read_after_a_while(void *argument)
{
	struct reader *reader = argument;

	usleep(300000);
	reader->lines = count_whole_lines(reader->fd, reader->len);
	return NULL;
}

static void a_subscriber_that_stalls_costs_a_second_and_then_events(void **state)
{
	int listener = listen_at_path();
	struct comet_sink *sink = open_unix_sink();
	int peer = accept(listener, NULL, NULL);
	_cleanup_free_ char *line = long_line(1000);
	const uint64_t total = 5000;
	double began = now();
	uint64_t accepted = 0;
	uint64_t lost;

	(void)state;
	for (uint64_t i = 0; i < total; i++) {
		int r = comet_sink_write(sink, line);

		assert_true(r == 0 || r == -ETIMEDOUT);
		accepted += r == 0;
	}
	assert_true(now() - began < 2.0);
	assert_true(accepted > COMET_SINK_QUEUE / 1001);
	assert_true(accepted < total);
	lost = comet_sink_flush(sink);
	assert_true(now() - began < 4.0);
	assert_true(lost >= total - accepted);
	assert_int_equal(comet_sink_close(sink), -ETIMEDOUT);
	assert_int_equal(count_whole_lines(peer, 1000) + lost, total);
	close(peer);
	close(listener);
}

static void a_subscriber_that_is_only_slow_gets_everything(void **state)
{
	int listener = listen_at_path();
	struct comet_sink *sink = open_unix_sink();
	struct reader reader = { .fd = accept(listener, NULL, NULL), .len = 3000 };
	_cleanup_free_ char *line = long_line(reader.len);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_after_a_while, &reader), 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(comet_sink_write(sink, line), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	pthread_join(thread, NULL);
	assert_int_equal(reader.lines, 2000);
	close(reader.fd);
	close(listener);
}

/* 64 KiB of pipe and no reader yet: the lines wait, and the pipe stays as blocking as it was. */
static void a_full_pipe_does_not_block(void **state)
{
	struct reader reader = { .len = 9999 };
	_cleanup_free_ char *line = long_line(reader.len);
	struct comet_sink *sink;
	pthread_t thread;
	char spec[32];
	double began;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(spec, sizeof(spec), "fd:%d", ends[1]);
	sink = open_sink(spec);
	close(ends[1]);
	began = now();
	for (int i = 0; i < 20; i++)
		assert_int_equal(comet_sink_write(sink, line), 0);
	assert_true(now() - began < 0.5);
	reader.fd = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_after_a_while, &reader), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	pthread_join(thread, NULL);
	assert_int_equal(reader.lines, 20);
	close(ends[0]);
}

static void a_line_longer_than_the_queue_is_taken_when_alone(void **state)
{
	_cleanup_free_ char *line = long_line(3 * COMET_SINK_QUEUE);
	struct comet_sink *sink = open_sink(path);
	struct stat st;

	(void)state;
	assert_int_equal(comet_sink_write(sink, line), 0);
	assert_int_equal(comet_sink_write(sink, "short"), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3 * (off_t)COMET_SINK_QUEUE + 7);
}

#define test(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_subscriber_that_stalls_costs_a_second_and_then_events),
		test(a_subscriber_that_is_only_slow_gets_everything),
		test(a_full_pipe_does_not_block),
		test(a_line_longer_than_the_queue_is_taken_when_alone),
	};

	return cmocka_run_group_tests_name("sink_slow", tests, NULL, NULL);
}
