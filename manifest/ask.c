// SPDX-License-Identifier: Apache-2.0
/* Which rule decides on one program, and how is an answer put together? */
#define _GNU_SOURCE 1

#include "manifest/ask.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/path.h"
#include "manifest/util.h"

#define LINKS_MAX 40
#define QUOTE_SIZE 600
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

int comet_answer_add_note(struct comet_answer *answer, const char *format, ...)
{
	char *sentence, *all;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&sentence, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	if (!answer->note) {
		answer->note = sentence;
		return 0;
	}
	n = asprintf(&all, "%s %s", answer->note, sentence);
	free(sentence);
	if (n < 0)
		return -ENOMEM;
	free(answer->note);
	answer->note = all;
	return 0;
}

int comet_answer_set_match(struct comet_answer *answer, const char *text, enum comet_source source,
			   const struct comet_location *location)
{
	free(answer->matched);
	answer->matched = strdup(text);
	answer->source = source;
	answer->location = *location;
	return answer->matched ? 0 : -ENOMEM;
}

static char *resolve(const char *path, unsigned int links);

/* A link to what is not there: where would a file made through it appear? */
static char *resolve_link(const char *path, unsigned int links)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	char *joined, *real;
	int n;

	if (len < 0)
		return NULL;
	target[len] = '\0';
	if (target[0] == '/')
		return resolve(target, links + 1);
	n = asprintf(&joined, "%.*s/%s", (int)(strrchr(path, '/') - path), path, target);
	if (n < 0) {
		errno = ENOMEM;
		return NULL;
	}
	real = resolve(joined, links + 1);
	free(joined);
	return real;
}

static char *resolve(const char *path, unsigned int links)
{
	char *real = realpath(path, NULL);
	const char *name = strrchr(path, '/');
	char *parent, *parent_real;
	struct stat st;
	int n;

	if (real || (errno != ENOENT && errno != ENOTDIR))
		return real;
	if (links > LINKS_MAX) {
		errno = ELOOP;
		return NULL;
	}
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return resolve_link(path, links);
	parent = strndup(path, name == path ? 1 : (size_t)(name - path));
	parent_real = parent ? resolve(parent, links) : NULL;
	free(parent);
	if (!parent_real)
		return NULL;
	n = asprintf(&real, "%s/%s", strcmp(parent_real, "/") == 0 ? "" : parent_real, name + 1);
	free(parent_real);
	if (n >= 0)
		return real;
	errno = ENOMEM;
	return NULL;
}

char *comet_path_resolve(const char *path)
{
	char *real = resolve(path, 0);
	char *clean;

	if (!real)
		return NULL;
	clean = comet_path_clean(real);
	free(real);
	return clean;
}

/* The file that a program's name stands for here; NULL with errno ENOENT or ENOMEM. */
static char *find_program(const char *program)
{
	const char *path = getenv("PATH");

	if (program[0] == '/')
		return realpath(program, NULL);
	if (!path || path[0] == '\0')
		path = DEFAULT_PATH;
	while (*path) {
		size_t len = strcspn(path, ":");
		char *file, *real = NULL;

		if (asprintf(&file, "%.*s/%s", (int)len, path, program) < 0) {
			errno = ENOMEM;
			return NULL;
		}
		if (path[0] == '/' && access(file, X_OK) == 0)
			real = realpath(file, NULL);
		free(file);
		if (real)
			return real;
		path += len;
		path += *path == ':';
	}
	errno = ENOENT;
	return NULL;
}

/* The same text, or the same file. 1, 0 or -ENOMEM. */
static int is_program(const struct comet_exec_rule *rule, const char *program, const char *file)
{
	char *rule_file;
	int same;

	if (strcmp(rule->program, program) == 0)
		return 1;
	if (!file)
		return 0;
	rule_file = find_program(rule->program);
	if (!rule_file)
		return errno == ENOMEM ? -ENOMEM : 0;
	same = strcmp(rule_file, file) == 0;
	free(rule_file);
	return same;
}

static int decide(const struct comet_policy *policy, const char *program, const char *file,
		  struct comet_answer *answer)
{
	char quoted[QUOTE_SIZE];
	int r;

	for (size_t i = 0; i < policy->n_execs; i++) {
		const struct comet_exec_rule *rule = &policy->execs[i];

		r = is_program(rule, program, file);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		answer->allowed = true;
		r = comet_answer_set_match(answer, rule->program, rule->source, &rule->location);
		if (r < 0)
			return r;
		if (!file)
			return comet_answer_add_note(answer, "It is not installed here.");
		return comet_answer_add_note(answer, "Here it is %s.",
					     comet_quote(file, strlen(file), quoted,
							 sizeof(quoted)));
	}
	return comet_answer_add_note(
		answer,
		"It answers EACCES, and to try is a violation; only the program that comet run is told to start needs no entry.");
}

int comet_ask_exec(const struct comet_policy *policy, const char *program,
		   struct comet_answer *answer, struct comet_error *error)
{
	char quoted[QUOTE_SIZE];
	char *file;
	int r;

	if (program[0] == '\0' || (program[0] != '/' && strchr(program, '/')))
		return comet_error_set(
			error, EINVAL, "\"%s\" is no program: expected a name or an absolute path",
			comet_quote(program, strlen(program), quoted, sizeof(quoted)));
	answer->resource = program[0] == '/' ? comet_path_clean(program) : strdup(program);
	if (!answer->resource)
		return -ENOMEM;
	file = find_program(answer->resource);
	if (!file && errno == ENOMEM)
		return -ENOMEM;
	r = decide(policy, answer->resource, file, answer);
	free(file);
	return r;
}
