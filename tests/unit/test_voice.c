// SPDX-License-Identifier: Apache-2.0
/* Do Comet's words arrive where they can, and never hold it up where they cannot? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "user/voice.h"

static int saved = -1;

/* Standard error is fd until give_back(). */
static void take(int fd)
{
	saved = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
}

static void give_back(void)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void assert_arrives(int reader, const char *expected)
{
	char got[256] = "";
	ssize_t n = read(reader, got, sizeof(got) - 1);

	assert_int_equal(n, (ssize_t)strlen(expected));
	assert_string_equal(got, expected);
}

static void say_to(int fd, const char *text)
{
	struct comet_voice voice;

	take(fd);
	comet_voice_open(&voice);
	comet_voice_say(&voice, text);
	comet_voice_close(&voice);
	give_back();
}

static void a_pipe_and_a_socket_get_whole_lines(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	say_to(ends[1], "one\n  two");
	assert_arrives(ends[0], "one\n  two\n");
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	say_to(ends[1], "three");
	assert_arrives(ends[0], "three\n");
	close(ends[0]);
	close(ends[1]);
}

static void a_file_is_written_on_where_it_ends(void **state)
{
	char path[] = "/tmp/comet-voice-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, "before\n", 7), 7);
	say_to(fd, "after");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_arrives(fd, "before\nafter\n");
	close(fd);
}

static void fill(int fd)
{
	char bytes[4096] = { 0 };
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void stall(int reader, int writer)
{
	struct comet_voice voice;
	double start = seconds();
	int i;

	fill(writer);
	take(writer);
	comet_voice_open(&voice);
	/* Only the first one waits, and not for long. */
	for (i = 0; i < 100; i++)
		comet_voice_say(&voice, "nobody listens");
	assert_false(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK);
	comet_voice_close(&voice);
	give_back();
	assert_true(seconds() - start < 5);
	close(reader);
	close(writer);
}

static void a_reader_that_stalls_stops_nobody(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	stall(ends[0], ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	stall(ends[0], ends[1]);
}

/* There is room, but not for all of it. */
static void a_text_without_end_stops_nobody(void **state)
{
	char *text = malloc(4 << 20);
	double start = seconds();
	int ends[2];

	(void)state;
	assert_non_null(text);
	memset(text, 'x', (4 << 20) - 1);
	text[(4 << 20) - 1] = '\0';
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	say_to(ends[1], text);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(pipe(ends), 0);
	say_to(ends[1], text);
	close(ends[0]);
	close(ends[1]);
	free(text);
	assert_true(seconds() - start < 5);
}

static void words_arrive_again_after_a_stall(void **state)
{
	struct comet_voice voice;
	char bytes[65536];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	fill(ends[1]);
	take(ends[1]);
	comet_voice_open(&voice);
	comet_voice_say(&voice, "lost");
	while (read(ends[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
	comet_voice_say(&voice, "heard");
	comet_voice_close(&voice);
	give_back();
	assert_arrives(ends[0], "heard\n");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_and_a_socket_get_whole_lines),
		cmocka_unit_test(a_file_is_written_on_where_it_ends),
		cmocka_unit_test(a_reader_that_stalls_stops_nobody),
		cmocka_unit_test(a_text_without_end_stops_nobody),
		cmocka_unit_test(words_arrive_again_after_a_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
