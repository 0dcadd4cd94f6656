// SPDX-License-Identifier: Apache-2.0
/* Does anything give way while Comet is in trouble? An agent that tries again and again. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

static void tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(65);
	close(fd);
}

static long send_to(const char *port, const char *word)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long n = sendto(fd, word, strlen(word), 0, (struct sockaddr *)&to, sizeof(to));

	close(fd);
	return n;
}

/*
 * FILE PORT DIR TIMES WORD: opens FILE and sends WORD to PORT, TIMES times (0: without end). Puts
 * WORD into DIR/ready after the first round, and into DIR/got whenever the file could be opened.
 */
static int press(char **words)
{
	char ready[512], got[512];
	int times = atoi(words[3]);
	int i, fd;

	snprintf(ready, sizeof(ready), "%s/ready", words[2]);
	snprintf(got, sizeof(got), "%s/got", words[2]);
	for (i = 0; !times || i < times; i++) {
		fd = open(words[0], O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			tell(got, words[4]);
		close(fd);
		send_to(words[1], words[4]);
		if (i == 0)
			tell(ready, words[4]);
	}
	return 0;
}

/* PORT WORD: sends it once. */
static int send_word(char **words)
{
	return probe_errno(send_to(words[0], words[1]));
}

/* FILE: its text, or why not. */
static int read_file(char **words)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, probe_text, sizeof(probe_text) - 1);
	int r = probe_errno(n);

	probe_text[n < 0 ? 0 : n] = '\0';
	close(fd);
	return r;
}

/* FILE: makes it. */
static int make(char **words)
{
	int fd = open(words[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int r = probe_errno(fd);

	close(fd);
	return r;
}

/* FIFO: waits until somebody has opened and closed its other end. */
static int gate(char **words)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd < 0)
		return -errno;
	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
	return 0;
}

/* PID, or 0 for a child of its own: SIGTERM. */
static int end(char **words)
{
	pid_t pid = atoi(words[0]);
	pid_t child = pid ? 0 : fork();
	int r;

	while (!pid && !child)
		pause();
	if (child < 0)
		return -errno;
	r = probe_errno(kill(pid ? pid : child, SIGTERM));
	if (child > 0 && r == 0)
		waitpid(child, NULL, 0);
	return r;
}

/* PID: traces it, for a moment. */
static int trace(char **words)
{
	pid_t pid = atoi(words[0]);
	int r = probe_errno(ptrace(PTRACE_SEIZE, pid, NULL, NULL));

	if (r == 0 && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, NULL, 0) > 0)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return r;
}

static const struct probe_op ops[] = {
	{ "press", 5, press }, { "send", 2, send_word }, { "read", 1, read_file },
	{ "make", 1, make },   { "gate", 1, gate },      { "end", 1, end },
	{ "trace", 1, trace }, { NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
