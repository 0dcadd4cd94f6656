// SPDX-License-Identifier: Apache-2.0
/* Which security modules did this kernel start with, and who says so? */
#include "user/probe_lsm.h"

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "user/base.h"

/* Newer than Debian 12's headers; the number is the same on every architecture. */
#ifndef SYS_lsm_list_modules
#define SYS_lsm_list_modules 461
#endif
#define LSM_ID_BPF 109 /* linux/lsm.h */

bool comet_lsm_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

int comet_lsm_ask_kernel(void)
{
	uint64_t ids[64];
	uint32_t size = sizeof(ids);
	long n = syscall(SYS_lsm_list_modules, ids, &size, 0);

	if (n < 0)
		return -errno;
	for (long i = 0; i < n; i++)
		if (ids[i] == LSM_ID_BPF)
			return 1;
	return 0;
}

/*
 * The text after the last occurrence of key at the start of a word (command line) or line
 * (configuration), up to a blank, without quotes. gzopen() reads plain files as well.
 */
static bool find_value(const char *root, const char *path, const char *key, char *value,
		       size_t size)
{
	char file[PATH_MAX];
	char line[4096];
	bool found = false;
	gzFile in;

	if (snprintf(file, sizeof(file), "%s%s", root, path) >= (int)sizeof(file))
		return false;
	in = gzopen(file, "re");
	if (!in)
		return false;
	while (gzgets(in, line, sizeof(line))) {
		char *save = NULL;

		for (char *word = strtok_r(line, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save)) {
			if (strncmp(word, key, strlen(key)) != 0)
				continue;
			word += strlen(key);
			word += *word == '"';
			word[strcspn(word, "\"")] = '\0';
			snprintf(value, size, "%s", word);
			found = true;
		}
	}
	gzclose(in);
	return found;
}

void comet_lsm_read(const char *root, const char *release, struct comet_lsm_list *list)
{
	static const char securityfs[] = "/sys/kernel/security/lsm";
	static const char command_line[] = "/proc/cmdline";
	char config[128];
	const char *const configs[] = { "/proc/config.gz", config };

	*list = (struct comet_lsm_list){ .in_force = false };
	if (find_value(root, securityfs, "", list->names, sizeof(list->names))) {
		list->in_force = true;
		snprintf(list->source, sizeof(list->source), "%s", securityfs);
		return;
	}
	if (find_value(root, command_line, "lsm=", list->names, sizeof(list->names))) {
		snprintf(list->source, sizeof(list->source), "lsm= in %s", command_line);
		return;
	}
	snprintf(config, sizeof(config), "/boot/config-%s", release);
	for (size_t i = 0; i < COMET_ARRAY_SIZE(configs); i++) {
		if (find_value(root, configs[i], "CONFIG_LSM=", list->names, sizeof(list->names))) {
			snprintf(list->source, sizeof(list->source), "CONFIG_LSM in %.64s",
				 configs[i]);
			return;
		}
	}
}
