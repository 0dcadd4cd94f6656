// SPDX-License-Identifier: Apache-2.0
/* Which name servers does the host use? */
#define _GNU_SOURCE 1

#include <arpa/inet.h>

#include "user/base.h"
#include "user/resolve.h"

static bool is_address(const char *text)
{
	uint8_t bytes[16];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* The address of a `nameserver` line, in line itself; NULL for any other line. */
static char *read_line(char *line)
{
	char *save = NULL;
	char *word = strtok_r(line, " \t\r\n", &save);

	if (!word || !streq(word, "nameserver"))
		return NULL;
	word = strtok_r(NULL, " \t\r\n", &save);
	if (!word)
		return NULL;
	/* fe80::1%eth0: rules know addresses, not interfaces. */
	word[strcspn(word, "%")] = '\0';
	return is_address(word) ? word : NULL;
}

static int append(char ***list, size_t *n, const char *address)
{
	char **grown = reallocarray(*list, *n + 2, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*n] = strdup(address);
	grown[*n + 1] = NULL;
	return grown[(*n)++] ? 0 : -ENOMEM;
}

char **comet_nameservers_read(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	char **list = NULL;
	size_t size = 0;
	size_t n = 0;
	int err = 0;

	while (err == 0 && file && getline(&line, &size, file) >= 0) {
		char *address = read_line(line);

		if (address)
			err = append(&list, &n, address);
	}
	/* What the C library does. */
	if (err == 0 && n == 0)
		err = append(&list, &n, "127.0.0.1");
	if (err == 0)
		return list;
	comet_nameservers_free(list);
	return NULL;
}

void comet_nameservers_free(char **nameservers)
{
	char **entry;

	for (entry = nameservers; entry && *entry; entry++)
		free(*entry);
	free(nameservers);
}
