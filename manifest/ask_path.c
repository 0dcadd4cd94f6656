// SPDX-License-Identifier: Apache-2.0
/* Which rule decides on reading or writing one path? */
#define _GNU_SOURCE 1

#include "manifest/ask.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "manifest/path.h"
#include "manifest/util.h"

#define QUOTE_SIZE 600
#define MARKS (COMET_FS_QUIET | COMET_FS_CANARY)

/* The one question, in its two forms. */
struct question {
	const struct comet_policy *policy;
	uint32_t access;  /* COMET_FS_READ or COMET_FS_WRITE */
	const char *path; /* cleaned text */
	const char *real; /* what it leads to; NULL when that cannot be seen from here */
};

static bool covers(const struct comet_path_rule *rule, const char *rule_path, const char *path)
{
	if (rule->self_only)
		return strcmp(rule_path, path) == 0;
	return comet_path_covers(rule_path, path);
}

/* In the run's own procfs every process and thread may be read. */
static bool is_process(const struct comet_path_rule *rule, const char *path)
{
	const char *name;
	size_t len;

	if (!rule->proc || !comet_path_covers(rule->path, path))
		return false;
	name = path + strlen(rule->path);
	if (name[0] != '/')
		return false;
	len = strcspn(++name, "/");
	if (len == 4 && strncmp(name, "self", len) == 0)
		return true;
	if (len == 11 && strncmp(name, "thread-self", len) == 0)
		return true;
	return len > 0 && strspn(name, "0123456789") == len;
}

static const struct comet_path_rule *nearer(const struct comet_path_rule *best,
					    const struct comet_path_rule *rule)
{
	size_t old = best ? strlen(best->path) : 0, new = strlen(rule->path);

	if (!best || new > old || (new == old && rule->source < best->source))
		return rule;
	return best;
}

/* The nearest grant by the text of the paths. */
static const struct comet_path_rule *find_by_text(const struct comet_policy *policy,
						  uint32_t access, const char *path)
{
	const struct comet_path_rule *best = NULL;

	for (size_t i = 0; i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];

		if ((rule->access & access) && covers(rule, rule->path, path))
			best = nearer(best, rule);
		else if (access == COMET_FS_READ && is_process(rule, path))
			best = nearer(best, rule);
	}
	return best;
}

/* The same by objects: rules are bound to what their paths lead to. -ENOMEM, or 0 with *found. */
static int find_by_object(const struct comet_policy *policy, uint32_t access, const char *real,
			  const struct comet_path_rule **found)
{
	const struct comet_path_rule *best = NULL;

	for (size_t i = 0; i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];
		char *rule_real;

		if (!(rule->access & access))
			continue;
		rule_real = comet_path_resolve(rule->path);
		if (!rule_real && errno == ENOMEM)
			return -ENOMEM;
		if (covers(rule, rule_real ? rule_real : rule->path, real))
			best = nearer(best, rule);
		free(rule_real);
	}
	*found = best;
	return 0;
}

/* Does a rule name this very node, so that it may be opened? 1, 0 or -ENOMEM. */
static int names_device(const struct comet_policy *policy, const char *real)
{
	for (size_t i = 0; i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];
		char *rule_real;
		bool same;

		if (!(rule->access & (COMET_FS_READ | COMET_FS_WRITE)))
			continue;
		rule_real = comet_path_resolve(rule->path);
		if (!rule_real && errno == ENOMEM)
			return -ENOMEM;
		same = rule_real && strcmp(rule_real, real) == 0;
		free(rule_real);
		if (same)
			return 1;
	}
	return 0;
}

/* A device node that stands here, and that is no terminal. */
static bool is_device(const char *real)
{
	struct statfs fs;
	struct stat st;

	return real && lstat(real, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) &&
	       (statfs(real, &fs) != 0 || fs.f_type != DEVPTS_SUPER_MAGIC);
}

static uint32_t find_mark(const struct comet_policy *policy, const char *path)
{
	uint32_t mark = 0;
	size_t nearest = 0;

	for (size_t i = 0; i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];
		size_t len = strlen(rule->path);

		if (!(rule->access & MARKS) || !covers(rule, rule->path, path))
			continue;
		if (len < nearest || (len == nearest && mark == COMET_FS_CANARY))
			continue;
		mark = rule->access & COMET_FS_CANARY ? COMET_FS_CANARY : COMET_FS_QUIET;
		nearest = len;
	}
	return mark;
}

/* Is there a grant below path? Then path can be walked through. */
static bool is_on_the_way(const struct comet_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->n_paths; i++)
		if (!(policy->paths[i].access & MARKS) &&
		    comet_path_covers(path, policy->paths[i].path))
			return true;
	return false;
}

static int note_read_errno(const struct question *q, struct comet_answer *answer)
{
	answer->mark = find_mark(q->policy, q->real ? q->real : q->path);
	if (answer->mark == COMET_FS_CANARY)
		return comet_answer_add_note(
			answer, "It answers ENOENT, and to try is always a violation (canary).");
	if (answer->mark == COMET_FS_QUIET)
		return comet_answer_add_note(
			answer,
			"It answers ENOENT and is reported, but taken for an ordinary probe, not for a violation (quiet set).");
	return comet_answer_add_note(answer, "It answers ENOENT, and to try is a violation.");
}

static int note_refused_read(const struct question *q, struct comet_answer *answer)
{
	int r = 0;

	if (find_by_text(q->policy, COMET_FS_WRITE, q->path))
		r = comet_answer_add_note(
			answer, "It can be written and stat'ed; writing does not imply reading.");
	else if (is_on_the_way(q->policy, q->path))
		r = comet_answer_add_note(
			answer,
			"It can be stat'ed and walked through on the way to what is granted below it, not listed.");
	return r < 0 ? r : note_read_errno(q, answer);
}

static int note_refused_write(const struct question *q, struct comet_answer *answer)
{
	bool readable = find_by_text(q->policy, COMET_FS_READ, q->path);

	return comet_answer_add_note(answer, "It answers %s, and to try is a violation.",
				     readable ? "EACCES" : "ENOENT");
}

/* Its directory is granted, but that opens no device. */
static int note_device(const struct question *q, struct comet_answer *answer)
{
	int r = comet_answer_add_note(
		answer,
		"It is a device node, which only an entry that names the node itself opens.");

	if (r < 0)
		return r;
	return q->access == COMET_FS_READ ? note_read_errno(q, answer)
					  : note_refused_write(q, answer);
}

/* How text and object led to the verdict, where they differ. */
static int note_object(const struct question *q, const struct comet_path_rule *text,
		       const struct comet_path_rule *object, struct comet_answer *answer)
{
	char quoted[QUOTE_SIZE];

	comet_quote(q->real, strlen(q->real), quoted, sizeof(quoted));
	if (object)
		return comet_answer_add_note(answer, "Here it leads to %s, which is granted.",
					     quoted);
	if (text)
		return comet_answer_add_note(
			answer,
			"The path is granted as text, but here it leads to %s, which is not: what counts is the object.",
			quoted);
	return comet_answer_add_note(answer, "Here it leads to %s.", quoted);
}

static int decide(const struct question *q, struct comet_answer *answer)
{
	const struct comet_path_rule *text = find_by_text(q->policy, q->access, q->path);
	const struct comet_path_rule *object = text;
	const struct comet_path_rule *rule;
	int r = 0;

	/*
	 * The caller's own processes are not the run's: /proc/self here says nothing, nor does a
	 * link that leads there (/proc/mounts, /etc/mtab).
	 */
	if (!text && q->real) {
		rule = find_by_text(q->policy, q->access, q->real);
		if (rule && is_process(rule, q->real))
			text = rule;
	}
	if (text && (is_process(text, q->path) || (q->real && is_process(text, q->real)))) {
		answer->allowed = true;
		return comet_answer_set_match(answer, text->path, text->source, &text->location);
	}
	if (q->real) {
		r = find_by_object(q->policy, q->access, q->real, &object);
		if (r == 0 && strcmp(q->real, q->path) != 0)
			r = note_object(q, text, object, answer);
	}
	if (r == 0 && object && is_device(q->real)) {
		r = names_device(q->policy, q->real);
		if (r == 0)
			return note_device(q, answer);
	}
	if (r < 0)
		return r;
	rule = object ? object : text;
	answer->allowed = object;
	if (answer->allowed)
		return comet_answer_set_match(answer, rule->path, rule->source, &rule->location);
	if (q->access == COMET_FS_READ)
		return note_refused_read(q, answer);
	return note_refused_write(q, answer);
}

int comet_ask_path(const struct comet_policy *policy, const char *path, struct comet_answer *answer,
		   struct comet_error *error)
{
	struct question q = {
		.policy = policy,
		.access = answer->surface == COMET_SURFACE_FS_WRITE ? COMET_FS_WRITE
								    : COMET_FS_READ,
	};
	char quoted[QUOTE_SIZE];
	char *real;
	int r;

	answer->resource = comet_path_clean(path);
	if (!answer->resource && errno == EINVAL)
		return comet_error_set(error, EINVAL, "\"%s\" is no absolute path",
				       comet_quote(path, strlen(path), quoted, sizeof(quoted)));
	if (!answer->resource)
		return -ENOMEM;
	real = comet_path_resolve(answer->resource);
	if (!real && errno == ENOMEM)
		return -ENOMEM;
	q.path = answer->resource;
	q.real = real;
	r = decide(&q, answer);
	free(real);
	return r;
}
