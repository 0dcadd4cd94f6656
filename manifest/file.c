// SPDX-License-Identifier: Apache-2.0
/* Which bytes does a manifest file hold? */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/document.h"
#include "manifest/file.h"

#define FIRST_ROOM ((size_t)64 * 1024)

/* Go says "no such file or directory" where C says "No such file or directory". */
static int fail(const struct comet_file *file, int code, bool opening, struct comet_error *error)
{
	char reason[128];
	char name[600];

	snprintf(reason, sizeof(reason), "%s", strerror(code));
	reason[0] = (char)tolower((unsigned char)reason[0]);
	comet_quote(file->name, strlen(file->name), name, sizeof(name));
	if (opening)
		return comet_error_set(error, code, "soyapack: open %s: open %s: %s", name, name,
				       reason);
	return comet_error_set(error, code, "soyapack: read: read %s: %s", name, reason);
}

static int fail_size(const struct comet_file *file, struct comet_error *error)
{
	char name[600];

	comet_quote(file->name, strlen(file->name), name, sizeof(name));
	return comet_error_set(error, EINVAL, "%s: expected at most %zu bytes, found more", name,
			       COMET_DOCUMENT_SIZE_MAX);
}

/* The size that stat(2) tells is not trusted: pipes have none, and files grow. */
static int read_all(struct comet_file *file, int fd, struct comet_error *error)
{
	size_t room = FIRST_ROOM;

	file->bytes = malloc(room);
	while (file->bytes) {
		ssize_t n = read(fd, (char *)file->bytes + file->size, room - file->size);
		void *bigger;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(file, errno, false, error);
		if (n == 0)
			return 0;
		file->size += (size_t)n;
		if (file->size > COMET_DOCUMENT_SIZE_MAX)
			return fail_size(file, error);
		if (file->size < room)
			continue;
		room *= 2;
		bigger = realloc(file->bytes, room);
		if (!bigger)
			break;
		file->bytes = bigger;
	}
	return comet_error_set(error, ENOMEM, "no memory to read the manifest");
}

int comet_file_read(struct comet_file *file, struct comet_error *error)
{
	/* A FIFO without a writer must not hang whoever looks at a pack: it is an empty file. */
	int fd = open(file->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r;

	if (fd < 0)
		return fail(file, errno, true, error);
	if (fcntl(fd, F_SETFL, 0) < 0) {
		r = fail(file, errno, true, error);
		close(fd);
		return r;
	}
	r = read_all(file, fd, error);
	close(fd);
	return r;
}

void comet_file_free(struct comet_file *file)
{
	free(file->bytes);
	free(file->name);
	memset(file, 0, sizeof(*file));
}
