/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How does a static probe take its orders? Each argument is one: words separated by spaces, the
 * first names an operation. Each answers with one line: ok, the name of an errno, or a text.
 */
#ifndef COMET_PROBE_H
#define COMET_PROBE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PROBE_WORDS_MAX 8

struct probe_op {
	const char *name;
	int n_words; /* that follow the name */
	/* 0, a negative errno, or a positive number to print; or 0 after filling probe_text. */
	int (*run)(char **words);
};

static char probe_text[4096];

static inline const char *probe_word(int result)
{
	static char number[16];

	if (result > 0) {
		snprintf(number, sizeof(number), "%d", result);
		return number;
	}
	return result == 0 ? "ok" : strerrorname_np(-result);
}

/* For operations of several steps: "ok+EACCES". */
static inline void probe_add(int result)
{
	size_t len = strlen(probe_text);

	snprintf(probe_text + len, sizeof(probe_text) - len, "%s%s", len ? "+" : "",
		 probe_word(result));
}

/* What a system call returned, as the functions here pass it on. */
static inline int probe_errno(long result)
{
	return result < 0 ? -errno : 0;
}

static inline int probe_one(const struct probe_op *ops, char *order)
{
	char *words[PROBE_WORDS_MAX] = { NULL };
	char *save = NULL;
	int n = 0;
	int result;

	while (n < PROBE_WORDS_MAX && (words[n] = strtok_r(n ? NULL : order, " ", &save)))
		n++;
	while (n > 0 && ops->name &&
	       (ops->n_words != n - 1 || strcmp(ops->name, words[0]) != 0))
		ops++;
	if (n == 0 || !ops->name) {
		fprintf(stderr, "no such order: %s with %d words\n", n ? words[0] : "(empty)", n - 1);
		return -1;
	}
	probe_text[0] = '\0';
	result = ops->run(words + 1);
	printf("%s\n", probe_text[0] ? probe_text : probe_word(result));
	fflush(stdout);
	return 0;
}

/* ops ends with a row without a name. */
static inline int probe_all(const struct probe_op *ops, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (probe_one(ops, argv[i]) < 0)
			return 64;
	return 0;
}

#endif
