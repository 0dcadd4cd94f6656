// SPDX-License-Identifier: Apache-2.0
/* Is the run really held, before anything runs in it? */
#define _GNU_SOURCE 1

#include "user/selftest.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/enforcer.h"
#include "user/fault.h"
#include "user/instance.h"

char *comet_selftest_canary(const char *run_id, bool own_root)
{
	char *path = NULL;

	return asprintf(&path, "%s/canary-%s", own_root ? "" : COMET_RUN_DIRECTORY, run_id) < 0
		       ? NULL
		       : path;
}

/* From the directory that is the run's root. */
static const char *below(const char *canary)
{
	return canary + 1;
}

int comet_selftest_make(int root, const char *canary, struct comet_error *error)
{
	_cleanup_close_ int fd = openat(root, below(canary),
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);

	/* Otherwise the exec probe would be refused by the mode and prove nothing. */
	if (fd < 0 || fchmod(fd, 0755) < 0)
		return comet_error_set(error, errno, "cannot make %s for the self-test: %s", canary,
				       strerror(errno));
	return 0;
}

int comet_selftest_open(int root, const char *canary)
{
	return openat(root, below(canary), O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

void comet_selftest_remove(int root, const char *canary)
{
	if (canary && root >= 0)
		unlinkat(root, below(canary), 0);
}

static int probe_open(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : 0;
}

/* A UDP connect sends nothing, so nothing leaves the host if it is let through. */
static int probe_connect(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(COMET_SELFTEST_PORT),
	};

	if (fd < 0)
		return errno;
	inet_pton(AF_INET, COMET_SELFTEST_ADDR, &to.sin_addr);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}

static int probe_exec(const char *path)
{
	char *const argv[] = { (char *)path, NULL };
	char *const envp[] = { NULL };

	execve(path, argv, envp);
	return errno;
}

void comet_selftest_probe(const char *canary, struct comet_selftest *result)
{
	result->open_error = probe_open(canary);
	result->connect_error = probe_connect();
	result->exec_error = probe_exec(canary);
}

static int check(const char *what, int expected, int got, struct comet_error *error)
{
	if (got == expected)
		return 0;
	return comet_error_set(error, EPERM,
			       "the self-test failed: %s was to be refused with %s, but %s%s: the "
			       "command was not run",
			       what, strerrorname_np(expected),
			       got ? "it gave " : "it was let through", got ? strerror(got) : "");
}

int comet_selftest_judge(const struct comet_selftest *result, struct comet_error *error)
{
	int err = check("opening an undeclared file", ENOENT, result->open_error, error);

	if (err == 0)
		err = check("connecting to an undeclared address", ECONNREFUSED,
			    result->connect_error, error);
	if (err == 0)
		err = check("executing an undeclared program", EACCES, result->exec_error, error);
	return comet_fault("no-selftest") ? 0 : err;
}
