// SPDX-License-Identifier: Apache-2.0
/* Which rules of a policy say the same? */
#define _GNU_SOURCE 1

#include "manifest/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(unsigned int a, unsigned int b)
{
	return (a > b) - (a < b);
}

static int compare_paths(const void *left, const void *right)
{
	const struct comet_path_rule *a = left, *b = right;
	int r = strcmp(a->path, b->path);

	if (r == 0)
		r = compare_numbers(a->access, b->access);
	if (r == 0)
		r = compare_numbers(a->self_only, b->self_only);
	return r ? r : compare_numbers(a->proc, b->proc);
}

static int compare_nets(const void *left, const void *right)
{
	const struct comet_net_rule *a = left, *b = right;
	bool named = a->kind == COMET_HOST_NAME || a->kind == COMET_HOST_SUFFIX;
	int r = compare_numbers(a->kind, b->kind);

	if (r == 0)
		r = compare_numbers(a->transport, b->transport);
	if (r == 0)
		r = compare_numbers(a->port, b->port);
	if (r == 0)
		r = compare_numbers(a->verdict, b->verdict);
	if (r == 0)
		r = compare_numbers(a->bits, b->bits);
	if (r == 0)
		r = memcmp(a->addr, b->addr, sizeof(a->addr));
	if (r == 0)
		r = strcmp(a->zone, b->zone);
	/* Two spellings of one address are one rule. */
	return r || !named ? r : strcmp(a->host, b->host);
}

static int compare_execs(const void *left, const void *right)
{
	const struct comet_exec_rule *a = left, *b = right;

	return strcmp(a->program, b->program);
}

static int compare_serves(const void *left, const void *right)
{
	const struct comet_serve_rule *a = left, *b = right;
	int r = compare_numbers(a->port.transport, b->port.transport);

	return r ? r : compare_numbers(a->port.number, b->port.number);
}

/* What merge() must know of the four kinds of rules. */
struct kind {
	size_t size;
	size_t text;   /* offset of the string that the rule owns */
	size_t source; /* offset of its enum comet_source */
	int (*compare)(const void *left, const void *right);
};

#define KIND(type, member, fn)                                                                     \
	{                                                                                          \
		sizeof(type), offsetof(type, member), offsetof(type, source), fn                   \
	}
static const struct kind path_kind = KIND(struct comet_path_rule, path, compare_paths);
static const struct kind net_kind = KIND(struct comet_net_rule, host, compare_nets);
static const struct kind exec_kind = KIND(struct comet_exec_rule, program, compare_execs);
static const struct kind serve_kind = KIND(struct comet_serve_rule, text, compare_serves);

static char **text_of(const struct kind *kind, char *rule)
{
	return (char **)(rule + kind->text);
}

/* Equal rules beside each other, the one to keep first. */
static int order_rules(const void *left, const void *right, void *context)
{
	const char *a = *(char *const *)left, *b = *(char *const *)right;
	const struct kind *kind = context;
	int r = kind->compare(a, b);

	if (r == 0)
		r = compare_numbers(*(const enum comet_source *)(a + kind->source),
				    *(const enum comet_source *)(b + kind->source));
	return r ? r : (a > b) - (a < b);
}

/* Returns how many rules are left. order has room for n pointers. */
static size_t merge(const struct kind *kind, void *rules, size_t n, char **order)
{
	char *rule = rules;
	const char *kept = NULL;
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = rule + i * kind->size;
	qsort_r(order, n, sizeof(*order), order_rules, (void *)kind);
	for (size_t i = 0; i < n; i++) {
		if (!kept || kind->compare(kept, order[i]) != 0) {
			kept = order[i];
			continue;
		}
		free(*text_of(kind, order[i]));
		*text_of(kind, order[i]) = NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (*text_of(kind, rule + i * kind->size))
			memmove(rule + left++ * kind->size, rule + i * kind->size, kind->size);
	return left;
}

int comet_policy_merge(struct comet_policy *policy, struct comet_error *error)
{
	size_t most = policy->n_paths;
	char **order;

	if (policy->n_nets > most)
		most = policy->n_nets;
	if (policy->n_execs > most)
		most = policy->n_execs;
	if (policy->n_serves > most)
		most = policy->n_serves;
	order = calloc(most + 1, sizeof(*order));
	if (!order)
		return comet_error_set(error, ENOMEM, "out of memory");
	policy->n_paths = merge(&path_kind, policy->paths, policy->n_paths, order);
	policy->n_nets = merge(&net_kind, policy->nets, policy->n_nets, order);
	policy->n_execs = merge(&exec_kind, policy->execs, policy->n_execs, order);
	policy->n_serves = merge(&serve_kind, policy->serves, policy->n_serves, order);
	free(order);
	return 0;
}
