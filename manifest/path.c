// SPDX-License-Identifier: Apache-2.0
/* How do two paths relate, as text? */
#include "manifest/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *comet_path_clean(const char *path)
{
	size_t used = 0;
	char *clean;

	if (path[0] != '/') {
		errno = EINVAL;
		return NULL;
	}
	clean = malloc(strlen(path) + 1);
	if (!clean)
		return NULL;
	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (used > 0 && clean[--used] != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			clean[used++] = '/';
			memcpy(clean + used, path, len);
			used += len;
		}
		path += len;
	}
	if (used == 0)
		clean[used++] = '/';
	clean[used] = '\0';
	return clean;
}

bool comet_path_covers(const char *prefix, const char *path)
{
	size_t len = strlen(prefix);

	if (len == 1)
		return true;
	return strncmp(prefix, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}
