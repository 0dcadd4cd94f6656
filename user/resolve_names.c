// SPDX-License-Identifier: Apache-2.0
/* Which addresses does the host's own resolver give for a name, in bounded time? */
#define _GNU_SOURCE 1

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "user/base.h"
#include "user/resolve.h"

/* Processes at a time. */
#define LOOKUPS_MAX 32
/* More than a DNS answer over TCP holds in practice; a helper cannot make comet grow without end.
 */
#define ADDRESSES_MAX 4096

struct lookup {
	pid_t pid;
	int pipe;
	size_t name;
};

static void write_address(int out, const struct sockaddr *address)
{
	uint8_t bytes[16] = { [10] = 0xff, [11] = 0xff };

	if (address->sa_family == AF_INET)
		memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
	else if (address->sa_family == AF_INET6)
		memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	else
		return;
	/* Below PIPE_BUF: whole or not at all. */
	if (write(out, bytes, sizeof(bytes)) < 0)
		_exit(1);
}

static void __attribute__((noreturn)) look_up(const char *name, int out)
{
	/* Both families, also where this host has no route for one of them yet. */
	static const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL, *entry;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getaddrinfo(name, NULL, &hints, &found) != 0)
		_exit(1);
	for (entry = found; entry; entry = entry->ai_next)
		write_address(out, entry->ai_addr);
	_exit(0);
}

static int start(struct lookup *lookup, const char *name)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	lookup->pid = fork();
	if (lookup->pid == 0)
		look_up(name, ends[1]);
	close(ends[1]);
	if (lookup->pid < 0) {
		close(ends[0]);
		return -errno;
	}
	lookup->pipe = ends[0];
	return 0;
}

static int keep(struct comet_addresses *addresses, const uint8_t *bytes, size_t n)
{
	uint8_t(*grown)[16];

	if (addresses->n + n > ADDRESSES_MAX)
		n = ADDRESSES_MAX - addresses->n;
	if (n == 0)
		return 0;
	grown = reallocarray(addresses->list, addresses->n + n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	addresses->list = grown;
	memcpy(grown[addresses->n], bytes, n * sizeof(*grown));
	addresses->n += n;
	return 0;
}

/* Returns whether the helper may have more to say. */
static bool take(struct lookup *lookup, struct comet_addresses *addresses)
{
	uint8_t bytes[64 * 16];
	ssize_t n;

	do
		n = read(lookup->pipe, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	return n > 0 && keep(addresses, bytes, (size_t)n / 16) == 0;
}

static void finish(struct lookup *lookup)
{
	if (lookup->pid <= 0)
		return;
	kill(lookup->pid, SIGKILL);
	waitpid(lookup->pid, NULL, 0);
	comet_close_fd(&lookup->pipe);
	lookup->pid = 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void collect(struct lookup *lookups, size_t n, int64_t end, struct comet_addresses *found)
{
	struct pollfd fds[LOOKUPS_MAX];
	size_t open = n;
	size_t i;

	for (i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = lookups[i].pipe, .events = POLLIN };
	while (open > 0) {
		int64_t left = end - now_ms();

		if (left <= 0 || (poll(fds, n, (int)left) < 0 && errno != EINTR))
			return;
		for (i = 0; i < n; i++) {
			if (fds[i].fd < 0 || !fds[i].revents ||
			    take(&lookups[i], &found[lookups[i].name]))
				continue;
			fds[i].fd = -1;
			open--;
		}
	}
}

static int look_up_some(const char *const *names, size_t first, size_t n, int timeout_ms,
			struct comet_addresses *found)
{
	struct lookup lookups[LOOKUPS_MAX] = { 0 };
	size_t started = 0;
	int err = 0;
	size_t i;

	for (; err == 0 && started < n; started += err == 0) {
		lookups[started].name = first + started;
		err = start(&lookups[started], names[first + started]);
	}
	if (err == 0)
		collect(lookups, n, now_ms() + timeout_ms, found);
	for (i = 0; i < started; i++)
		finish(&lookups[i]);
	return err;
}

int comet_resolve_names(const char *const *names, size_t n, int timeout_ms,
			struct comet_addresses *found)
{
	size_t first;
	int err = 0;

	for (first = 0; err == 0 && first < n; first += LOOKUPS_MAX) {
		size_t some = n - first < LOOKUPS_MAX ? n - first : LOOKUPS_MAX;

		err = look_up_some(names, first, some, timeout_ms, found);
	}
	return err;
}
