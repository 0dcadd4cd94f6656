// SPDX-License-Identifier: Apache-2.0
/* Where is cgroup v2 mounted, and which directory of it is the caller's own cgroup? Text only. */
#define _GNU_SOURCE 1

#include "user/base.h"
#include "user/cgroup.h"

/* The fields of a line of mountinfo that count here; they point into a copy of the line. */
struct mount_line {
	char *root; /* which part of the hierarchy is mounted */
	char *point;
	char *type;
};

/* The kernel writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
		    text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
					(text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /point options [optional...] - type source options" */
static bool split_line(char *line, struct mount_line *fields)
{
	char *save = NULL;
	char *word = strtok_r(line, " ", &save);
	unsigned int i;

	for (i = 0; word && !streq(word, "-"); i++) {
		if (i == 3)
			fields->root = word;
		else if (i == 4)
			fields->point = word;
		word = strtok_r(NULL, " ", &save);
	}
	fields->type = word ? strtok_r(NULL, " ", &save) : NULL;
	if (i < 6 || !fields->type)
		return false;
	unescape(fields->root);
	unescape(fields->point);
	return true;
}

/* The caller's cgroup in the v2 hierarchy: the line "0::/path". */
static char *own_path(const char *own)
{
	while (own && *own) {
		const char *end = strchrnul(own, '\n');

		if (strncmp(own, "0::/", 4) == 0)
			return strndup(own + 3, (size_t)(end - own - 3));
		own = *end ? end + 1 : end;
	}
	return NULL;
}

/* What is left of path below root, with its leading slash; NULL when it is not below. */
static const char *below(const char *root, const char *path)
{
	size_t len = strlen(root);

	/* Outside of the caller's cgroup namespace the kernel shows the way up. */
	if (strncmp(path, "/..", 3) == 0)
		return NULL;
	if (streq(root, "/"))
		return path;
	if (strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path + len;
}

static int take_mount(const struct mount_line *fields, const char *own, char **mount, char **path,
		      struct comet_error *error)
{
	const char *rest = below(fields->root, own);
	_cleanup_free_ char *point = strdup(fields->point);
	_cleanup_free_ char *full = NULL;

	if (!point || asprintf(&full, "%s%s", streq(point, "/") ? "" : point,
			       streq(rest, "/") ? "" : rest) < 0) {
		full = NULL;
		return comet_error_set(error, ENOMEM, "out of memory");
	}
	if (mount)
		*mount = COMET_TAKE_PTR(point);
	if (path)
		*path = COMET_TAKE_PTR(full);
	return 0;
}

static int not_mounted(struct comet_error *error)
{
	return comet_error_set(error, ENOTSUP,
			       "cgroup v2 is not mounted: mount it (mount -t cgroup2 none "
			       "/sys/fs/cgroup/unified), or boot with "
			       "systemd.unified_cgroup_hierarchy=1");
}

int comet_cgroup_locate(const char *mountinfo, const char *own, char **mount, char **path,
			struct comet_error *error)
{
	_cleanup_free_ char *text = strdup(mountinfo);
	_cleanup_free_ char *cgroup = own_path(own);
	bool elsewhere = false;
	char *save = NULL;
	char *line;

	if (!text)
		return comet_error_set(error, ENOMEM, "out of memory");
	/* The kernel leaves the line out as long as nobody has mounted cgroup v2. */
	if (!cgroup)
		return not_mounted(error);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mount_line fields = { 0 };

		if (!split_line(line, &fields) || !streq(fields.type, "cgroup2"))
			continue;
		if (below(fields.root, cgroup))
			return take_mount(&fields, cgroup, mount, path, error);
		elsewhere = true;
	}
	if (elsewhere)
		return comet_error_set(error, ENOTSUP,
				       "the cgroup v2 mount here does not hold comet's own cgroup "
				       "%s: run comet in the host's cgroup namespace",
				       cgroup);
	return not_mounted(error);
}
