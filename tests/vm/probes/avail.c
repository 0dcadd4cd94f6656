// SPDX-License-Identifier: Apache-2.0
/* What must ordinary programs be able to do without asking? Without an order: nothing, well. */
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

static int read_whole(const char *path)
{
	char block[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, block, sizeof(block));
	while (n > 0);
	close(fd);
	return probe_errno(n);
}

static int list_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	char target[256], path[300];
	struct dirent *entry;
	int result = 0;

	if (!list)
		return -errno;
	while (result == 0 && (entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		result = probe_errno(readlink(path, target, sizeof(target)));
	}
	closedir(list);
	return result;
}

static int look_at_self(void)
{
	static const char *const files[] = {
		"/proc/self/maps",    "/proc/self/status",      "/proc/self/cgroup",
		"/proc/self/cmdline", "/proc/thread-self/stat",
	};
	char target[256];
	int result = list_descriptors();
	size_t i;

	for (i = 0; result == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		result = read_whole(files[i]);
	if (result == 0)
		result = probe_errno(readlink("/proc/self/exe", target, sizeof(target)));
	return result;
}

static void *look_in_thread(void *result)
{
	*(int *)result = look_at_self();
	return NULL;
}

/* The process, a thread of it, a child, and a thread of the child. */
static int self(char **words)
{
	pthread_t thread;
	int result, status;
	pid_t pid;

	(void)words;
	probe_add(look_at_self());
	if (pthread_create(&thread, NULL, look_in_thread, &result) != 0)
		exit(65);
	pthread_join(thread, NULL);
	probe_add(result);
	pid = fork();
	if (pid == 0) {
		result = look_at_self();
		if (result || pthread_create(&thread, NULL, look_in_thread, &result) != 0)
			_exit(-result);
		pthread_join(thread, NULL);
		_exit(-result);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		exit(66);
	probe_add(-WEXITSTATUS(status));
	return 0;
}

static int interfaces(char **words)
{
	struct if_nameindex *names = if_nameindex();
	struct ifaddrs *addresses, *a;
	int found = 0;

	(void)words;
	if (!names || getifaddrs(&addresses) < 0)
		return -errno;
	for (a = addresses; a; a = a->ifa_next)
		if (strcmp(a->ifa_name, "lo") == 0 && a->ifa_addr &&
		    a->ifa_addr->sa_family == AF_INET)
			found = 1;
	for (; names->if_index; names++)
		if (strcmp(names->if_name, "lo") == 0)
			found |= 2;
	freeifaddrs(addresses);
	return found == 3 ? 0 : -ENODEV;
}

static int move(char **words)
{
	return probe_errno(rename(words[0], words[1]));
}

static int exchange(char **words)
{
	return probe_errno(renameat2(AT_FDCWD, words[0], AT_FDCWD, words[1], RENAME_EXCHANGE));
}

struct spawner {
	char *program;
	int times;
	int failed;
};

static void *spawn_many(void *context)
{
	static char *const environment[] = { NULL };
	struct spawner *spawner = context;
	char *const argv[] = { spawner->program, NULL };
	int i, status;
	pid_t pid;

	for (i = 0; i < spawner->times; i++)
		if (posix_spawn(&pid, spawner->program, NULL, NULL, argv, environment) != 0 ||
		    waitpid(pid, &status, 0) != pid || status != 0)
			spawner->failed++;
	return NULL;
}

/* THREADS TIMES PROGRAM: how many starts failed, or ok. */
static int spawn(char **words)
{
	struct spawner spawners[64];
	pthread_t threads[64];
	int i, n = atoi(words[0]), failed = 0;

	if (n < 1 || n > 64)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		spawners[i] = (struct spawner){ words[2], atoi(words[1]), 0 };
		if (pthread_create(&threads[i], NULL, spawn_many, &spawners[i]) != 0)
			exit(67);
	}
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		failed += spawners[i].failed;
	}
	return failed;
}

static const struct probe_op ops[] = {
	{ "self", 0, self },         { "interfaces", 0, interfaces }, { "rename", 2, move },
	{ "exchange", 2, exchange }, { "spawn", 3, spawn },           { NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
