// SPDX-License-Identifier: Apache-2.0
/* Which file does a command name mean, and which interpreter does a file name? */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "user/base.h"
#include "user/programs.h"
#include "user/programs_internal.h"

int comet_programs_open(const struct comet_programs *programs, const char *path)
{
	/* Links are followed as the run sees them, not as this process does. */
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int tries = 0;
	long fd;

	do
		fd = syscall(SYS_openat2, programs->root, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 100);
	return fd < 0 ? -errno : (int)fd;
}

char *comet_programs_absolute(const struct comet_programs *programs, const char *path)
{
	char *absolute = NULL;

	if (path[0] == '/')
		return strdup(path);
	if (asprintf(&absolute, "%s/%s", programs->directory, path) < 0)
		return NULL;
	return absolute;
}

static int check(const struct comet_programs *programs, const char *path)
{
	_cleanup_close_ int fd = comet_programs_open(programs, path);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) ||
	    !comet_account_may_execute(programs->account, st.st_uid, st.st_gid, st.st_mode))
		return -EACCES;
	return 0;
}

/* One candidate; *found is set when it can be executed. */
static int try_path(const struct comet_programs *programs, const char *path, char **found)
{
	_cleanup_free_ char *absolute = comet_programs_absolute(programs, path);
	int err;

	if (!absolute)
		return -ENOMEM;
	err = check(programs, absolute);
	if (err == 0)
		*found = COMET_TAKE_PTR(absolute);
	return err;
}

static int try_directory(const struct comet_programs *programs, const char *directory, size_t len,
			 const char *word, char **found)
{
	_cleanup_free_ char *path = NULL;

	/* An empty entry of PATH is the current directory. */
	if (asprintf(&path, "%.*s%s%s", (int)len, directory, len ? "/" : "", word) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return try_path(programs, path, found);
}

int comet_programs_find(const struct comet_programs *programs, const char *word, char **found)
{
	const char *entry = programs->path;
	int result = -ENOENT;
	int err;

	if (!*word)
		return -ENOENT;
	if (strchr(word, '/'))
		return try_path(programs, word, found);
	for (;;) {
		size_t len = strcspn(entry, ":");

		err = try_directory(programs, entry, len, word, found);
		if (err == 0 || err == -ENOMEM)
			return err;
		/* As execvp: one that may not be executed is told only when there is no other. */
		if (err == -EACCES)
			result = err;
		if (!entry[len])
			return result;
		entry += len + 1;
	}
}

bool comet_programs_shebang(const char *line, size_t len, char **interpreter, char **argument)
{
	static const char blank[] = " \t";
	_cleanup_free_ char *text = NULL;
	char *start, *end;

	if (len < 2 || line[0] != '#' || line[1] != '!')
		return false;
	text = strndup(line + 2, len - 2);
	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	start = text + strspn(text, blank);
	end = start + strcspn(start, blank);
	if (end == start)
		return false;
	*interpreter = strndup(start, (size_t)(end - start));
	end += strspn(end, blank);
	len = strlen(end);
	while (len > 0 && strchr(blank, end[len - 1]))
		len--;
	*argument = strndup(end, len);
	if (*interpreter && *argument)
		return true;
	free(*interpreter);
	free(*argument);
	return false;
}
