// SPDX-License-Identifier: Apache-2.0
/* Where does one path of a policy lead? A walk by hand, one component at a time. */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "bpf/kernel_fs.h"
#include "user/base.h"
#include "user/resolve_walk.h"

#define LINKS_MAX 40 /* as the kernel's own path walk */

/*
 * Reading, writing and starting an object all tell that it is there. What fs.write declares may be
 * made and deleted, too; the base set's devices and the standard streams may not.
 */
static uint32_t implied(const struct comet_path_rule *rule)
{
	uint32_t access = rule->access;

	if ((access & COMET_FS_WRITE) && rule->source == COMET_SOURCE_MANIFEST)
		access |= COMET_FS_CHANGE | COMET_FS_PLANT;
	if (access & (COMET_FS_READ | COMET_FS_WRITE | COMET_FS_EXEC))
		access |= COMET_FS_STAT;
	return access;
}

int comet_links_add(struct comet_links *links, const struct comet_link *link)
{
	struct comet_link *more = reallocarray(links->all, links->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	links->all = more;
	more[links->n++] = *link;
	return 0;
}

static bool has_link(const struct comet_links *links, const struct stat *st)
{
	size_t i;

	for (i = 0; i < links->n; i++) {
		if (links->all[i].ino == st->st_ino && links->all[i].dev == st->st_dev)
			return true;
	}
	return false;
}

/* A mark on a path, quiet or canary, makes nothing on the way to it visible. */
static uint32_t passing(const struct comet_path_rule *rule)
{
	return rule->access & ~(COMET_FS_QUIET | COMET_FS_CANARY) ? COMET_FS_STAT : 0;
}

static int tell(const struct comet_path_walk *walk, enum comet_trace_kind kind, const char *name,
		const char *target)
{
	const struct comet_trace trace = {
		.kind = kind, .rule = walk->index, .name = name, .target = target
	};

	return walk->tracer ? walk->tracer->trace(walk->tracer->context, &trace) : 0;
}

/* Directories on the way may be stat'ed and walked through, not listed. */
static int enter(struct comet_path_walk *walk, int fd)
{
	ssize_t node = comet_objects_add_node(walk->objects, fd);

	if (node < 0)
		return (int)node;
	walk->at = (size_t)node;
	walk->objects->nodes[walk->at].self |= passing(walk->rule);
	return 0;
}

static int enter_root(struct comet_path_walk *walk)
{
	int fd = fcntl(walk->root, F_DUPFD_CLOEXEC, 3);
	int r = fd < 0 ? -errno : enter(walk, fd);

	return r ? r : tell(walk, COMET_TRACE_ROOT, NULL, NULL);
}

static bool opens(const struct comet_path_rule *rule)
{
	return rule->access & (COMET_FS_READ | COMET_FS_WRITE);
}

/* A directory of terminals, which come and go while the run lasts. */
static bool holds_terminals(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == DEVPTS_SUPER_MAGIC;
}

static void grant_node(struct comet_path_walk *walk, size_t index)
{
	struct comet_node *node = &walk->objects->nodes[index];
	uint32_t access = implied(walk->rule);

	if (opens(walk->rule) && holds_terminals(node->fd))
		access |= COMET_FS_DEVICE;
	if (walk->rule->self_only)
		node->self |= access;
	else
		node->subtree |= access;
	if (walk->rule->proc)
		node->flags |= COMET_OBJECT_PROC;
	if (!node->rule)
		node->rule = walk->index;
}

static int grant_name(struct comet_path_walk *walk, const char *name, int fd)
{
	uint32_t access = implied(walk->rule);
	struct comet_named *named;
	ssize_t index = comet_objects_add_name(walk->objects, walk->at, name);

	if (index < 0)
		return (int)index;
	named = &walk->objects->names[index];
	/* A name that is not there yet may become a directory: then what is below it, too. */
	if (walk->rule->self_only || fd >= 0)
		named->self |= access;
	else
		named->subtree |= access;
	named->rule = walk->index;
	if ((access & COMET_FS_EXEC) && fd >= 0 && named->fd < 0) {
		named->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (named->fd < 0)
			return -errno;
	}
	return 0;
}

/*
 * In a directory like /tmp everybody makes links; the kernel's own rule (fs.protected_symlinks)
 * follows there only what the directory's owner made, and root's.
 */
static bool is_strangers(const struct comet_path_walk *walk, const struct stat *link)
{
	struct stat dir;

	if (fstat(walk->objects->nodes[walk->at].fd, &dir))
		return true;
	return (dir.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && link->st_uid != 0 &&
	       link->st_uid != dir.st_uid;
}

/* Puts the link's target before what is left to walk; the link itself may be stat'ed and read. */
static int follow(struct comet_path_walk *walk, const char *name, int fd, const struct stat *st)
{
	struct comet_link link = { .node = walk->at, .dev = st->st_dev, .ino = st->st_ino };
	char target[PATH_MAX];
	char rest[sizeof(walk->rest)];
	ssize_t index;
	ssize_t length;
	int r;

	index = comet_objects_add_name(walk->objects, walk->at, name);
	if (index < 0)
		return (int)index;
	walk->objects->names[index].self |= passing(walk->rule);
	if (has_link(walk->refused, st) || is_strangers(walk, st))
		return COMET_OUTCOME_UNTRUSTED;
	if (comet_links_add(walk->followed, &link))
		return -ENOMEM;
	length = readlinkat(fd, "", target, sizeof(target) - 1);
	if (length <= 0 || ++walk->links > LINKS_MAX)
		return COMET_OUTCOME_MISSING;
	target[length] = '\0';
	r = tell(walk, COMET_TRACE_LINK, name, target);
	if (r)
		return r;
	if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= (int)sizeof(rest))
		return COMET_OUTCOME_MISSING;
	memcpy(walk->rest, rest, sizeof(rest));
	if (target[0] == '/')
		r = enter_root(walk);
	return r ? r : COMET_OUTCOME_OPEN;
}

static bool last_component(const char *rest)
{
	return rest[strspn(rest, "/")] == '\0';
}

/* Cuts the first component off walk->rest. False: there is none. */
static bool next_component(struct comet_path_walk *walk, char name[NAME_MAX + 1])
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");

	if (!length || length > NAME_MAX)
		return false;
	memcpy(name, start, length);
	name[length] = '\0';
	memmove(walk->rest, start + length, strlen(start + length) + 1);
	return true;
}

static int missing(struct comet_path_walk *walk, const char *name)
{
	int r;

	if (!last_component(walk->rest) || streq(name, ".."))
		return COMET_OUTCOME_MISSING;
	if (grant_name(walk, name, -1))
		return -ENOMEM;
	r = tell(walk, COMET_TRACE_NAME, name, NULL);
	return r ? r : COMET_OUTCOME_BY_NAME;
}

/*
 * A file that is mounted where it stands cannot be replaced there, and hooks that do not know the
 * mount do not find the name: there the object itself has the rights, but for those that need one.
 */
static int grant_mounted(struct comet_path_walk *walk, int fd)
{
	struct statx sx;
	ssize_t node;
	int copy;

	if (!walk->target->by_mount)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH, 0, &sx))
		return -errno;
	if (!(sx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return 0;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	node = comet_objects_add_node(walk->objects, copy);
	if (node < 0)
		return (int)node;
	walk->objects->nodes[node].self |= implied(walk->rule) & ~(COMET_FS_EXEC | COMET_FS_PLANT);
	walk->objects->nodes[node].rule = walk->index;
	return 0;
}

/*
 * A device node acts on the whole host, wherever it stands, and so does a file of the kernel's own
 * filesystems: it opens for the rule that names it, not for the directory above. That holds for
 * the node that is there now, not for the name, which an agent that may rename could give to
 * another one.
 */
static int grant_acting(struct comet_path_walk *walk, int fd)
{
	struct statfs fs;
	struct stat st;
	ssize_t node;
	int copy;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	if (!opens(walk->rule) || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ||
				    comet_is_kernel_fs((unsigned long)fs.f_type)))
		return 0;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	node = comet_objects_add_node(walk->objects, copy);
	if (node < 0)
		return (int)node;
	walk->objects->nodes[node].self |= COMET_FS_DEVICE;
	return 0;
}

static int finish_file(struct comet_path_walk *walk, const char *name, int fd)
{
	int r = grant_name(walk, name, fd);

	if (!r)
		r = grant_mounted(walk, fd);
	if (!r)
		r = grant_acting(walk, fd);
	if (!r)
		r = tell(walk, COMET_TRACE_FILE, name, NULL);
	return r ? r : COMET_OUTCOME_DONE;
}

static int step(struct comet_path_walk *walk, const char *name)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (streq(name, "."))
		return COMET_OUTCOME_OPEN;
	fd = openat(walk->objects->nodes[walk->at].fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
									     : missing(walk, name);
	if (fstat(fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		/* Not a path: procfs's own links lead where no text does. */
		r = follow(walk, name, fd, &st);
		if (r == COMET_OUTCOME_MISSING && last_component(walk->rest))
			return grant_name(walk, name, fd) ? -ENOMEM : COMET_OUTCOME_MISSING;
		return r;
	}
	if (S_ISDIR(st.st_mode)) {
		r = enter(walk, COMET_TAKE_FD(fd));
		if (!r)
			r = tell(walk, COMET_TRACE_ENTER, name, NULL);
		return r ? r : COMET_OUTCOME_OPEN;
	}
	return last_component(walk->rest) ? finish_file(walk, name, fd) : COMET_OUTCOME_MISSING;
}

int comet_path_walk(struct comet_path_walk *walk)
{
	char name[NAME_MAX + 1];
	int r = tell(walk, COMET_TRACE_RULE, NULL, NULL);

	if (!r)
		r = enter_root(walk);
	if (r)
		return r;
	if (strlen(walk->rule->path) >= PATH_MAX)
		return COMET_OUTCOME_MISSING;
	snprintf(walk->rest, sizeof(walk->rest), "%s", walk->rule->path);
	walk->links = 0;
	while (next_component(walk, name)) {
		r = step(walk, name);
		if (r != COMET_OUTCOME_OPEN)
			return r;
	}
	if (!last_component(walk->rest))
		return COMET_OUTCOME_MISSING;
	grant_node(walk, walk->at);
	r = tell(walk, COMET_TRACE_HERE, NULL, NULL);
	return r ? r : COMET_OUTCOME_DONE;
}
