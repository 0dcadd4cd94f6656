// SPDX-License-Identifier: Apache-2.0
/* Which environment does the agent get? */
#define _GNU_SOURCE 1

#include "user/account.h"
#include "user/base.h"

struct builder {
	char **entries;
	size_t n;
	size_t room;
	bool failed;
};

static size_t name_len(const char *entry)
{
	return strcspn(entry, "=");
}

static void put(struct builder *b, const char *entry)
{
	size_t len = name_len(entry);
	char *copy = strdup(entry);
	size_t i;

	if (!copy) {
		b->failed = true;
		return;
	}
	for (i = 0; i < b->n; i++) {
		if (name_len(b->entries[i]) != len || strncmp(b->entries[i], entry, len) != 0)
			continue;
		free(b->entries[i]);
		b->entries[i] = copy;
		return;
	}
	if (b->n == b->room) {
		free(copy);
		b->failed = true;
		return;
	}
	b->entries[b->n++] = copy;
}

static void put_value(struct builder *b, const char *name, const char *value)
{
	_cleanup_free_ char *entry = NULL;

	if (!value)
		return;
	if (asprintf(&entry, "%s=%s", name, value) < 0) {
		entry = NULL;
		b->failed = true;
		return;
	}
	put(b, entry);
}

const char *comet_environment_get(char *const *environment, const char *name)
{
	size_t len = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
			return *environment + len + 1;
	return NULL;
}

int comet_environment_replace(char **environment, const char *name, const char *value)
{
	size_t len = strlen(name);
	char *entry = NULL;

	while (*environment &&
	       (strncmp(*environment, name, len) != 0 || (*environment)[len] != '='))
		environment++;
	if (!*environment)
		return 0;
	if (value && asprintf(&entry, "%s=%s", name, value) < 0)
		return -ENOMEM;
	free(*environment);
	*environment = entry;
	while (!*environment && environment[1]) {
		environment[0] = environment[1];
		environment[1] = NULL;
		environment++;
	}
	return 0;
}

void comet_environment_free(char **environment)
{
	char **entry;

	for (entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}

static void put_user(struct builder *b, const struct comet_account *account)
{
	put_value(b, "HOME", account->home ? account->home : "/");
	put_value(b, "USER", account->name);
	put_value(b, "LOGNAME", account->name);
	put_value(b, "SHELL", account->shell);
}

char **comet_environment_make(const struct comet_account *account, char *const *host, bool clear,
			      const char *const *set, size_t n)
{
	struct builder b = { .room = n + 5 };
	size_t i;

	for (i = 0; host[i]; i++)
		b.room++;
	b.entries = calloc(b.room + 1, sizeof(*b.entries));
	if (!b.entries)
		return NULL;
	for (i = 0; host[i] && !clear; i++)
		put(&b, host[i]);
	if (account->other && !clear)
		put_user(&b, account);
	if (!comet_environment_get(b.entries, "PATH"))
		put(&b, "PATH=" COMET_DEFAULT_PATH);
	for (i = 0; i < n; i++)
		put(&b, set[i]);
	if (b.failed) {
		comet_environment_free(b.entries);
		return NULL;
	}
	return b.entries;
}
