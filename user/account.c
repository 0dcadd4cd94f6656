// SPDX-License-Identifier: Apache-2.0
/* As whom does the agent run? */
#define _GNU_SOURCE 1

#include "user/account.h"

#include <ctype.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/text.h"

/* Decimal digits only; (uid_t)-1 means "unchanged" to the kernel and is nobody's. */
static bool parse_id(const char *text, unsigned int *id)
{
	unsigned long long value;
	char *end;

	if (!text || !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value >= UINT_MAX)
		return false;
	*id = (unsigned int)value;
	return true;
}

static int refuse(struct comet_error *error, const char *what, const char *name, const char *why)
{
	_cleanup_free_ char *quoted = comet_text_quote(name, strlen(name));

	return comet_error_set(error, EINVAL, "no %s %s%s", what, quoted ? quoted : "?", why);
}

static int copy_texts(struct comet_account *account, const struct passwd *entry)
{
	account->name = strdup(entry->pw_name);
	account->home = strdup(entry->pw_dir);
	account->shell = strdup(entry->pw_shell[0] ? entry->pw_shell : "/bin/sh");
	return account->name && account->home && account->shell ? 0 : -ENOMEM;
}

/* Fills uid, and gid and the texts where the user database has an entry. */
static int find_user(const char *user, struct comet_account *account, bool *has_gid,
		     struct comet_error *error)
{
	const struct passwd *entry = getpwnam(user);
	unsigned int id;

	if (entry)
		id = entry->pw_uid;
	else if (parse_id(user, &id))
		entry = getpwuid(id);
	else
		return refuse(error, "user", user, "");
	account->uid = id;
	*has_gid = entry != NULL;
	if (!entry)
		return 0;
	account->gid = entry->pw_gid;
	if (copy_texts(account, entry) < 0)
		return comet_error_set(error, ENOMEM, "out of memory");
	return 0;
}

static int find_group(const char *group, struct comet_account *account, struct comet_error *error)
{
	const struct group *entry = getgrnam(group);
	unsigned int id;

	if (entry)
		id = entry->gr_gid;
	else if (!parse_id(group, &id))
		return refuse(error, "group", group, "");
	account->gid = id;
	return 0;
}

static int find_groups(struct comet_account *account, struct comet_error *error)
{
	int n = 0;

	if (!account->name)
		return 0;
	getgrouplist(account->name, account->gid, NULL, &n);
	account->groups = calloc((size_t)n + 1, sizeof(gid_t));
	if (!account->groups || getgrouplist(account->name, account->gid, account->groups, &n) < 0)
		return comet_error_set(error, ENOMEM, "cannot read the groups of %s",
				       account->name);
	account->n_groups = (size_t)n;
	return 0;
}

static int find_named(const char *user, struct comet_account *account, struct comet_error *error)
{
	_cleanup_free_ char *name = strdup(user);
	char *group = name ? strchr(name, ':') : NULL;
	bool has_gid = false;
	int err;

	if (!name)
		return comet_error_set(error, ENOMEM, "out of memory");
	if (group)
		*group++ = '\0';
	err = find_user(name, account, &has_gid, error);
	if (err < 0)
		return err;
	if (group)
		err = find_group(group, account, error);
	else if (!has_gid)
		err = refuse(error, "account for user", name, ": give a group too, as UID:GID");
	return err < 0 ? err : find_groups(account, error);
}

/* Who started comet: its groups are the ones that it was started with. */
static int find_invoking(struct comet_account *account, struct comet_error *error)
{
	const struct passwd *entry = getpwuid(getuid());
	int n = getgroups(0, NULL);

	account->uid = getuid();
	account->gid = getgid();
	if (entry && copy_texts(account, entry) < 0)
		return comet_error_set(error, ENOMEM, "out of memory");
	account->groups = calloc(n < 0 ? 1 : (size_t)n + 1, sizeof(gid_t));
	if (!account->groups)
		return comet_error_set(error, ENOMEM, "out of memory");
	n = getgroups(n, account->groups);
	account->n_groups = n < 0 ? 0 : (size_t)n;
	return 0;
}

static int find_behind_sudo(unsigned int uid, unsigned int gid, struct comet_account *account,
			    struct comet_error *error)
{
	const struct passwd *entry = getpwuid(uid);

	account->uid = uid;
	account->gid = gid;
	if (entry && copy_texts(account, entry) < 0)
		return comet_error_set(error, ENOMEM, "out of memory");
	return find_groups(account, error);
}

static int find(const char *user, struct comet_account *account, struct comet_error *error)
{
	unsigned int uid, gid;

	if (user)
		return find_named(user, account, error);
	/* Only root is believed what sudo is said to have set. */
	if (getuid() == 0 && parse_id(getenv("SUDO_UID"), &uid) &&
	    parse_id(getenv("SUDO_GID"), &gid) && uid != 0)
		return find_behind_sudo(uid, gid, account, error);
	return find_invoking(account, error);
}

int comet_account_find(const char *user, struct comet_account *account, struct comet_error *error)
{
	int err;

	memset(account, 0, sizeof(*account));
	err = find(user, account, error);
	if (err == 0 && getuid() != 0 && account->uid != getuid())
		err = comet_error_set(error, EINVAL, "--user: only root may choose another user");
	if (err < 0) {
		comet_account_free(account);
		return err;
	}
	account->other = account->uid != geteuid();
	return 0;
}

void comet_account_free(struct comet_account *account)
{
	free(account->groups);
	free(account->name);
	free(account->home);
	free(account->shell);
	memset(account, 0, sizeof(*account));
}

static bool is_member(const struct comet_account *account, gid_t gid)
{
	size_t i;

	if (account->gid == gid)
		return true;
	for (i = 0; i < account->n_groups; i++)
		if (account->groups[i] == gid)
			return true;
	return false;
}

bool comet_account_may_execute(const struct comet_account *account, uid_t uid, gid_t gid,
			       mode_t mode)
{
	if (account->uid == 0)
		return mode & (S_IXUSR | S_IXGRP | S_IXOTH);
	if (account->uid == uid)
		return mode & S_IXUSR;
	return mode & (is_member(account, gid) ? S_IXGRP : S_IXOTH);
}
