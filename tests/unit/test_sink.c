// SPDX-License-Identifier: Apache-2.0
/* Do whole lines arrive, and does a reader that is gone or was never there hurt nobody? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

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

static void assert_refused(const char *spec, int code, const char *word)
{
	struct comet_sink *sink = NULL;

	failure.text[0] = '\0';
	assert_int_equal(comet_sink_open(spec, &sink, &failure), code);
	assert_null(sink);
	assert_non_null(strstr(failure.text, word));
}

static void assert_file(const char *expected)
{
	char text[4096] = "";
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
}

static void a_file_is_made_for_its_owner_only_and_appended_to(void **state)
{
	struct comet_sink *sink;
	mode_t old = umask(0);
	struct stat st;

	(void)state;
	sink = open_sink(path);
	umask(old);
	assert_int_equal(comet_sink_write(sink, "{\"a\":1}"), 0);
	assert_int_equal(comet_sink_write(sink, "{\"a\":2}"), 0);
	assert_int_equal(comet_sink_flush(sink), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	sink = open_sink(path);
	assert_int_equal(comet_sink_write(sink, "{\"a\":3}"), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	assert_file("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
}

static void places_that_cannot_take_events_are_refused(void **state)
{
	char missing[192];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/no/such/events", directory);
	assert_refused("", -EINVAL, "FILE");
	assert_refused(directory, -EISDIR, "directory");
	assert_refused(missing, -ENOENT, "No such file");
	assert_refused("fd:", -EINVAL, "number");
	assert_refused("fd:x", -EINVAL, "number");
	assert_refused("fd:-1", -EINVAL, "number");
	assert_refused("fd: 1", -EINVAL, "number");
	assert_refused("fd:1x", -EINVAL, "number");
	assert_refused("fd:99999999999999999999", -EINVAL, "number");
	assert_refused("fd:987654", -EBADF, "no such descriptor");
	assert_refused("unix:", -EINVAL, "107 bytes");
	assert_refused("unix:/tmp/comet-test-sink-no-such-socket", -ENOENT, "No such file");
}

static void a_name_in_a_message_is_quoted(void **state)
{
	(void)state;
	assert_refused("/no\x1b[2Jwhere/\n", -ENOENT, "\"/no\\x1b[2Jwhere/\\n\"");
}

static void a_fifo_without_a_reader_is_refused_at_once(void **state)
{
	struct comet_sink *sink;
	char bytes[16] = "";
	int reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, -ENXIO, "nobody reads this FIFO");

	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	sink = open_sink(path);
	assert_int_equal(comet_sink_write(sink, "line"), 0);
	assert_int_equal(read(reader, bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "line\n", 5);
	assert_int_equal(comet_sink_close(sink), 0);
	close(reader);
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

static void a_socket_named_as_a_file_gets_a_hint(void **state)
{
	int listener = listen_at_path();

	(void)state;
	assert_refused(path, -ENXIO, "write unix:");
	close(listener);
}

static void a_unix_subscriber_gets_whole_lines(void **state)
{
	int listener = listen_at_path();
	struct comet_sink *sink = open_unix_sink();
	int peer = accept(listener, NULL, NULL);
	char bytes[64] = "";

	(void)state;
	assert_int_equal(comet_sink_write(sink, "one"), 0);
	assert_int_equal(comet_sink_write(sink, "two"), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	assert_int_equal(recv(peer, bytes, sizeof(bytes), MSG_WAITALL), 8);
	assert_string_equal(bytes, "one\ntwo\n");
	close(peer);
	close(listener);
}

static void a_peer_that_hangs_up_is_an_error_and_no_signal(void **state)
{
	int listener = listen_at_path();
	struct comet_sink *sink = open_unix_sink();
	int peer = accept(listener, NULL, NULL);

	(void)state;
	assert_int_equal(comet_sink_write(sink, "one"), 0);
	close(peer);
	assert_int_equal(comet_sink_write(sink, "two"), -EPIPE);
	assert_int_equal(comet_sink_write(sink, "three"), -EPIPE);
	assert_int_equal(comet_sink_flush(sink), 2);
	assert_int_equal(comet_sink_close(sink), -EPIPE);
	close(listener);
}

static void a_pipe_without_a_reader_is_an_error_and_no_signal(void **state)
{
	struct comet_sink *sink;
	sigset_t pending;
	char spec[32];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(spec, sizeof(spec), "fd:%d", ends[1]);
	sink = open_sink(spec);
	close(ends[0]);
	assert_int_equal(comet_sink_write(sink, "one"), -EPIPE);
	assert_int_equal(comet_sink_close(sink), -EPIPE);
	assert_int_equal(sigpending(&pending), 0);
	assert_false(sigismember(&pending, SIGPIPE));
	close(ends[1]);
}

static void a_descriptor_must_be_open_for_writing(void **state)
{
	struct comet_sink *sink;
	char spec[32];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(spec, sizeof(spec), "fd:%d", ends[0]);
	assert_refused(spec, -EBADF, "not open for writing");
	snprintf(spec, sizeof(spec), "fd:%d", ends[1]);
	sink = open_sink(spec);
	assert_int_equal(comet_sink_close(sink), 0);
	/* The sink had a copy: the caller's descriptor is still there, and was not changed. */
	assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	close(ends[0]);
	close(ends[1]);
}

static void the_copy_does_not_survive_exec(void **state)
{
	struct pollfd end = { 0 };
	struct comet_sink *sink;
	char spec[32];
	int hung_up;
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	end.fd = ends[0];
	snprintf(spec, sizeof(spec), "fd:%d", ends[1]);
	sink = open_sink(spec);
	child = fork();
	if (child == 0) {
		execl("/bin/sleep", "sleep", "30", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	assert_int_equal(comet_sink_close(sink), 0);
	/* The pipe is hung up only when nobody holds its other end. */
	hung_up = poll(&end, 1, 10000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(hung_up, 1);
	assert_int_equal(end.revents, POLLHUP);
	close(ends[0]);
}

static void dash_is_standard_error(void **state)
{
	struct comet_sink *sink;
	int saved = dup(STDERR_FILENO);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)state;
	assert_true(dup2(file, STDERR_FILENO) >= 0);
	sink = open_sink("-");
	dup2(saved, STDERR_FILENO);
	assert_int_equal(comet_sink_write(sink, "line"), 0);
	assert_int_equal(comet_sink_close(sink), 0);
	close(saved);
	close(file);
	assert_file("line\n");
}

static void a_full_disk_is_an_error_that_is_kept(void **state)
{
	struct comet_sink *sink = open_sink("/dev/full");

	(void)state;
	assert_int_equal(comet_sink_write(sink, "line"), -ENOSPC);
	assert_int_equal(comet_sink_flush(sink), 1);
	assert_int_equal(comet_sink_close(sink), -ENOSPC);
}

static void nothing_is_easily_closed(void **state)
{
	(void)state;
	assert_int_equal(comet_sink_flush(NULL), 0);
	assert_int_equal(comet_sink_close(NULL), 0);
}

#define test(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_file_is_made_for_its_owner_only_and_appended_to),
		test(places_that_cannot_take_events_are_refused),
		test(a_name_in_a_message_is_quoted),
		test(a_fifo_without_a_reader_is_refused_at_once),
		test(a_socket_named_as_a_file_gets_a_hint),
		test(a_unix_subscriber_gets_whole_lines),
		test(a_peer_that_hangs_up_is_an_error_and_no_signal),
		test(a_pipe_without_a_reader_is_an_error_and_no_signal),
		test(a_descriptor_must_be_open_for_writing),
		test(the_copy_does_not_survive_exec),
		test(dash_is_standard_error),
		test(a_full_disk_is_an_error_that_is_kept),
		test(nothing_is_easily_closed),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
