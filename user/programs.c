// SPDX-License-Identifier: Apache-2.0
/* Which files does it take to execute the command and what the manifest lists under `exec`? */
#define _GNU_SOURCE 1

#include "user/programs.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "manifest/path.h"
#include "user/base.h"
#include "user/programs_internal.h"
#include "user/text.h"

/* The kernel itself follows no more than this many interpreters. */
#define CHAIN_MAX 4
/* What the kernel reads of a first line. */
#define LINE_MAX_BYTES 256

/* Why a file is granted: decides what a failure means and how the rules are marked. */
struct reason {
	enum comet_source source;
	struct comet_location location;
};

/* The path by which the kernel knows the object, seen from the run's root. */
static int read_link_text(int fd, char *text, size_t size)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, text, size - 1);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size - 1)
		return -ENAMETOOLONG;
	text[n] = '\0';
	return 0;
}

static int canonical(const struct comet_programs *programs, int fd, char **path)
{
	char text[COMET_PATH_MAX], root[COMET_PATH_MAX];
	size_t len;
	int err = read_link_text(fd, text, sizeof(text));

	if (err == 0)
		err = read_link_text(programs->root, root, sizeof(root));
	if (err < 0)
		return err;
	len = streq(root, "/") ? 0 : strlen(root);
	*path = strdup(strncmp(text, root, len) == 0 ? text + len : text);
	return *path ? 0 : -ENOMEM;
}

static int add_rule(struct comet_policy *policy, const char *path, uint32_t access,
		    const struct reason *reason, struct comet_error *error)
{
	struct comet_path_rule rule = {
		.path = (char *)path,
		.access = access,
		.self_only = true,
		.optional = true,
		.source = reason->source,
		.location = reason->location,
	};

	return comet_policy_add_path(policy, &rule, error);
}

/* The file itself, and where path is a link to it, the link for programs that look at it. */
static int grant_file(const struct comet_programs *programs, const char *path, int fd,
		      struct comet_policy *policy, const struct reason *reason,
		      struct comet_error *error)
{
	_cleanup_free_ char *clean = comet_path_clean(path);
	_cleanup_free_ char *file = NULL;
	int err = canonical(programs, fd, &file);

	if (err < 0)
		return comet_error_set(error, -err, "cannot read the path of a program: %s",
				       strerror(-err));
	err = add_rule(policy, file, COMET_FS_READ | COMET_FS_EXEC, reason, error);
	if (err == 0 && clean && !streq(clean, file))
		err = add_rule(policy, clean, COMET_FS_STAT, reason, error);
	return err;
}

/* The interpreter and its argument; false where the file is none of these scripts. */
static bool read_shebang(int fd, char **interpreter, char **argument)
{
	char name[64], line[LINE_MAX_BYTES];
	_cleanup_close_ int file = -1;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = file < 0 ? -1 : read(file, line, sizeof(line));
	return n > 0 && comet_programs_shebang(line, (size_t)n, interpreter, argument);
}

/* `env NAME`: the first word that is neither an option nor an assignment. */
static char *env_target(const char *interpreter, const char *argument)
{
	const char *slash = strrchr(interpreter, '/');

	if (!streq(slash ? slash + 1 : interpreter, "env"))
		return NULL;
	while (*argument) {
		size_t len = strcspn(argument, " \t");

		if (argument[0] != '-' && !memchr(argument, '=', len))
			return strndup(argument, len);
		argument += len;
		argument += strspn(argument, " \t");
	}
	return NULL;
}

static int not_there(struct comet_error *error, const char *script, const char *interpreter,
		     int err)
{
	_cleanup_free_ char *file = comet_text_quote(script, strlen(script));
	_cleanup_free_ char *name = comet_text_quote(interpreter, strlen(interpreter));

	return comet_error_set(error, -err, "%s names the interpreter %s: %s", file ? file : "?",
			       name ? name : "?", strerror(-err));
}

static int grant(const struct comet_programs *programs, const char *path, unsigned int depth,
		 struct comet_policy *policy, const struct reason *reason,
		 struct comet_error *error);

static int grant_word(const struct comet_programs *programs, const char *script, const char *word,
		      unsigned int depth, struct comet_policy *policy, const struct reason *reason,
		      struct comet_error *error)
{
	_cleanup_free_ char *path = NULL;
	int err = comet_programs_find(programs, word, &path);

	if (err < 0)
		return not_there(error, script, word, err);
	return grant(programs, path, depth, policy, reason, error);
}

/* path is absolute. Grants the file and what its first line names, and so on. */
static int grant(const struct comet_programs *programs, const char *path, unsigned int depth,
		 struct comet_policy *policy, const struct reason *reason,
		 struct comet_error *error)
{
	_cleanup_close_ int fd = comet_programs_open(programs, path);
	_cleanup_free_ char *interpreter = NULL;
	_cleanup_free_ char *argument = NULL;
	_cleanup_free_ char *target = NULL;
	_cleanup_free_ char *absolute = NULL;
	int err;

	if (fd < 0)
		return not_there(error, path, path, fd);
	err = grant_file(programs, path, fd, policy, reason, error);
	if (err < 0 || depth >= CHAIN_MAX || !read_shebang(fd, &interpreter, &argument))
		return err;
	/* The kernel does not search for an interpreter: without a slash it is a file here. */
	absolute = comet_programs_absolute(programs, interpreter);
	if (!absolute)
		return comet_error_set(error, ENOMEM, "out of memory");
	err = grant_word(programs, path, absolute, depth + 1, policy, reason, error);
	target = err < 0 ? NULL : env_target(interpreter, argument);
	if (target)
		err = grant_word(programs, path, target, depth + 1, policy, reason, error);
	return err;
}

static void warn(const struct comet_programs *programs, const struct comet_location *location,
		 const char *text)
{
	if (programs->warn)
		programs->warn(programs->warn_context, location, text);
}

/*
 * Does fs.write let the agent decide what stands at path? Then granting it as a program would let
 * one run choose what the next one may start, by a link or by a script's first line.
 */
static bool is_changeable(const struct comet_policy *policy, const char *path)
{
	_cleanup_free_ char *clean = comet_path_clean(path);
	size_t i;

	for (i = 0; clean && i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];

		if ((rule->access & COMET_FS_WRITE) && rule->source == COMET_SOURCE_MANIFEST &&
		    comet_path_covers(rule->path, clean))
			return true;
	}
	return !clean;
}

static int grant_entry(const struct comet_programs *programs, const struct comet_exec_rule *entry,
		       struct comet_policy *policy, struct comet_error *error)
{
	const struct reason reason = { .source = entry->source, .location = entry->location };
	_cleanup_free_ char *quoted = comet_text_quote(entry->program, strlen(entry->program));
	struct comet_error text;
	_cleanup_free_ char *path = NULL;
	int err = comet_programs_find(programs, entry->program, &path);

	if (err == -ENOENT || err == -EACCES || err == -ENOTDIR || err == -ELOOP) {
		comet_error_set(&text, 0, "exec %s: %s: grants nothing", quoted ? quoted : "?",
				err == -EACCES ? "not executable" : "not found");
		warn(programs, &entry->location, text.text);
		return 0;
	}
	if (err < 0)
		return comet_error_set(error, -err, "exec %s: %s", quoted ? quoted : "?",
				       strerror(-err));
	if (is_changeable(policy, path)) {
		comet_error_set(&text, 0,
				"exec %s: fs.write lets the agent change it: grants nothing",
				quoted ? quoted : "?");
		warn(programs, &entry->location, text.text);
		return 0;
	}
	err = grant(programs, path, 0, policy, &reason, error);
	if (err != -ENOENT && err != -EACCES)
		return err;
	/* Its interpreter is missing: the entry is of no use, the run may be all the same. */
	warn(programs, &entry->location, error->text);
	return 0;
}

static bool same_file(const struct comet_programs *programs, const char *a, const char *b)
{
	_cleanup_close_ int fd_a = comet_programs_open(programs, a);
	_cleanup_close_ int fd_b = comet_programs_open(programs, b);
	struct stat st_a, st_b;

	return fd_a >= 0 && fd_b >= 0 && fstat(fd_a, &st_a) == 0 && fstat(fd_b, &st_b) == 0 &&
	       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

/* The manifest declares /opt/bin/python, and PATH has another python: never the wrong one silently.
 */
static int check_declared(const struct comet_programs *programs, const char *command,
			  const char *path, const struct comet_policy *policy,
			  struct comet_error *error)
{
	const struct comet_exec_rule *other = NULL;
	size_t i;

	for (i = 0; i < policy->n_execs && !strchr(command, '/'); i++) {
		const struct comet_exec_rule *entry = &policy->execs[i];
		const char *slash = strrchr(entry->program, '/');

		if (!streq(slash ? slash + 1 : entry->program, command))
			continue;
		if (!slash || same_file(programs, entry->program, path))
			return 0;
		other = entry;
	}
	if (!other)
		return 0;
	return comet_error_set(
		error, EINVAL,
		"%s is %s here, but the manifest declares %s (line %u): give the full "
		"path of the one that is meant",
		command, path, other->program, other->location.line);
}

/* The operator starts what lies there, but not what a link there leads to. */
static int check_command(const struct comet_programs *programs, const char *path,
			 const struct comet_policy *policy, struct comet_error *error)
{
	_cleanup_close_ int fd = comet_programs_open(programs, path);
	_cleanup_free_ char *file = NULL;
	int err = fd < 0 ? fd : canonical(programs, fd, &file);

	if (err < 0)
		return comet_error_set(error, -err, "%s: %s", path, strerror(-err));
	if (!is_changeable(policy, path))
		return 0;
	if (!is_changeable(policy, file))
		return comet_error_set(error, EACCES,
				       "%s leads to %s through a link that fs.write lets the agent "
				       "change: give the full path of the one that is meant",
				       path, file);
	warn(programs, NULL,
	     "the program to start lies where fs.write lets the agent change it: one run decides "
	     "what the next one starts");
	return 0;
}

static int not_found(const char *command, int err, struct comet_error *error)
{
	_cleanup_free_ char *quoted = comet_text_quote(command, strlen(command));
	const char *why = strerror(-err);

	if (err == -ENOENT)
		why = strchr(command, '/') ? "not found" : "not found on the agent's PATH";
	else if (err == -EACCES)
		why = "not executable by the agent's user";
	return comet_error_set(error, err == -EACCES ? EACCES : ENOENT, "%s: %s",
			       quoted ? quoted : "?", why);
}

int comet_programs_grant(const struct comet_programs *programs, const char *command,
			 struct comet_policy *policy, char **program, struct comet_error *error)
{
	const struct reason reason = { .source = COMET_SOURCE_RUN };
	_cleanup_free_ char *path = NULL;
	size_t i;
	int err = comet_programs_find(programs, command, &path);

	if (err == -ENOMEM)
		return comet_error_set(error, ENOMEM, "out of memory");
	if (err < 0)
		return not_found(command, err, error);
	err = check_declared(programs, command, path, policy, error);
	if (err == 0)
		err = check_command(programs, path, policy, error);
	if (err == 0)
		err = grant(programs, path, 0, policy, &reason, error);
	for (i = 0; err == 0 && i < policy->n_execs; i++)
		err = grant_entry(programs, &policy->execs[i], policy, error);
	if (err == 0)
		*program = COMET_TAKE_PTR(path);
	return err;
}
