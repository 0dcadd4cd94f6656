// SPDX-License-Identifier: Apache-2.0
//
// Whose content does open(2) give while its name is swapped between a file and a link?
//
// usage: swap NAME OTHER TIMES: one thread exchanges the two, the other opens and reads NAME, and
// prints how often it read "plain", was told that the file is missing, or anything else.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct names {
	const char *name;
	const char *other;
	atomic_bool done;
};

static void *exchange(void *argument)
{
	struct names *names = argument;

	while (!names->done)
		renameat2(AT_FDCWD, names->name, AT_FDCWD, names->other, RENAME_EXCHANGE);
	return NULL;
}

enum answer { PLAIN, MISSING, OTHER, ANSWERS };

static enum answer look(const char *name)
{
	char text[64] = "";
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? MISSING : OTHER;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && strcmp(text, "plain\n") == 0 ? PLAIN : OTHER;
}

int main(int argc, char **argv)
{
	long count[ANSWERS] = { 0 };
	struct names names;
	pthread_t thread;

	if (argc != 4)
		return 2;
	names = (struct names){ .name = argv[1], .other = argv[2] };
	if (pthread_create(&thread, NULL, exchange, &names))
		return 1;
	for (long times = atol(argv[3]); times > 0; times--)
		count[look(names.name)]++;
	names.done = true;
	pthread_join(thread, NULL);
	printf("plain %ld missing %ld other %ld\n", count[PLAIN], count[MISSING], count[OTHER]);
	return 0;
}
