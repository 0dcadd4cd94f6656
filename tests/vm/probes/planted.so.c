// SPDX-License-Identifier: Apache-2.0
/*
 * What can code do that a declared program was made to load? As soon as it is loaded it opens the
 * file $PLANTED_FILE, connects to 127.0.0.2 at port $PLANTED_PORT, and starts $PLANTED_PROGRAM;
 * what came of it goes to the file $PLANTED_LOG.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int connect_to(const char *port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)atoi(port)),
		.sin_addr.s_addr = htonl(0x7f000002),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result;

	if (fd < 0)
		return -errno;
	result = probe_errno(connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
	return result;
}

static int start(const char *program)
{
	char *const argv[] = { (char *)program, NULL };
	char *const environment[] = { NULL };
	int err, status;
	pid_t pid;

	err = posix_spawn(&pid, program, NULL, NULL, argv, environment);
	if (err)
		return -err;
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -ECHILD;
}

static void __attribute__((constructor)) act(void)
{
	const char *log = getenv("PLANTED_LOG");
	int fd;

	if (!log)
		return;
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	probe_text[0] = '\0';
	probe_add(open_file(getenv("PLANTED_FILE")));
	probe_add(connect_to(getenv("PLANTED_PORT")));
	probe_add(start(getenv("PLANTED_PROGRAM")));
	dprintf(fd, "%s\n", probe_text);
	close(fd);
}
