// SPDX-License-Identifier: Apache-2.0
/* Which objects do a policy's paths mean? Walks each path by hand, one component at a time. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "user/base.h"
#include "user/objects.h"

#define LINKS_MAX 40 /* as the kernel's own path walk */

/* Two descriptors mean one node when they agree in these. */
struct node_key {
	uint64_t mount;
	uint64_t dev;
	uint64_t ino;
	size_t node;
};

struct name_key {
	size_t node;
	const char *name; /* the entry's own */
	size_t index;
};

static int compare_nodes(const void *a, const void *b)
{
	const struct node_key *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->mount < y->mount ? -1 : x->mount > y->mount;
}

static int compare_names(const void *a, const void *b)
{
	const struct name_key *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The array doubles at powers of two: its length says when. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

/* Takes fd. The index of the node, or a negative errno. */
static ssize_t add_node(struct comet_objects *objects, int fd)
{
	_cleanup_close_ int own = fd;
	struct statx sx;
	struct node_key *key, **found;
	struct comet_node *nodes;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &sx))
		return -errno;
	key = malloc(sizeof(*key));
	if (!key)
		return -ENOMEM;
	*key = (struct node_key){ .mount = sx.stx_mnt_id,
				  .dev = makedev(sx.stx_dev_major, sx.stx_dev_minor),
				  .ino = sx.stx_ino,
				  .node = objects->n_nodes };
	found = tsearch(key, &objects->node_index, compare_nodes);
	if (!found) {
		free(key);
		return -ENOMEM;
	}
	if (*found != key) {
		free(key);
		return (ssize_t)(*found)->node;
	}
	nodes = grow(objects->nodes, objects->n_nodes, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	objects->nodes = nodes;
	nodes[objects->n_nodes] = (struct comet_node){ .fd = COMET_TAKE_FD(own) };
	return (ssize_t)objects->n_nodes++;
}

/* The entry for a name in a directory, made when there is none; its index or negative errno. */
static ssize_t add_name(struct comet_objects *objects, size_t node, const char *name)
{
	struct comet_named *names;
	struct name_key *key, **found;
	char *copy;

	key = malloc(sizeof(*key));
	copy = strdup(name);
	names = grow(objects->names, objects->n_names, sizeof(*names));
	if (names)
		objects->names = names;
	if (!key || !copy || !names)
		goto no_memory;
	*key = (struct name_key){ .node = node, .name = copy, .index = objects->n_names };
	found = tsearch(key, &objects->name_index, compare_names);
	if (!found)
		goto no_memory;
	if (*found != key) {
		free(key);
		free(copy);
		return (ssize_t)(*found)->index;
	}
	names[objects->n_names] = (struct comet_named){ .node = node, .name = copy, .fd = -1 };
	objects->nodes[node].flags |= COMET_OBJECT_NAMES;
	return (ssize_t)objects->n_names++;

no_memory:
	free(key);
	free(copy);
	return -ENOMEM;
}

/*
 * Reading, writing and starting an object all tell that it is there. What fs.write declares may be
 * made and deleted, too; the base set's devices and the standard streams may not.
 */
static uint32_t implied(const struct comet_path_rule *rule)
{
	uint32_t access = rule->access;

	if ((access & COMET_FS_WRITE) && rule->source == COMET_SOURCE_MANIFEST)
		access |= COMET_FS_CHANGE;
	if (access & (COMET_FS_READ | COMET_FS_WRITE | COMET_FS_EXEC))
		access |= COMET_FS_STAT;
	return access;
}

/* State of one path's walk. */
struct path_walk {
	struct comet_objects *objects;
	const struct comet_path_rule *rule;
	uint32_t index;      /* of the rule */
	int root;
	size_t at;           /* node of the directory that was reached */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	int links;
};

/* A mark on a path, quiet or canary, makes nothing on the way to it visible. */
static uint32_t passing(const struct comet_path_rule *rule)
{
	return rule->access & ~(COMET_FS_QUIET | COMET_FS_CANARY) ? COMET_FS_STAT : 0;
}

enum step { STEP_ON, STEP_DONE, STEP_MISSING };

/* Directories on the way may be stat'ed and walked through, not listed. */
static int enter(struct path_walk *walk, int fd)
{
	ssize_t node = add_node(walk->objects, fd);

	if (node < 0)
		return (int)node;
	walk->at = (size_t)node;
	walk->objects->nodes[walk->at].self |= passing(walk->rule);
	return 0;
}

static int enter_root(struct path_walk *walk)
{
	int fd = fcntl(walk->root, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? -errno : enter(walk, fd);
}

static void grant_node(struct path_walk *walk, size_t index)
{
	struct comet_node *node = &walk->objects->nodes[index];
	uint32_t access = implied(walk->rule);

	if (walk->rule->self_only)
		node->self |= access;
	else
		node->subtree |= access;
	if (walk->rule->proc)
		node->flags |= COMET_OBJECT_PROC;
	if (!node->rule)
		node->rule = walk->index;
}

static int grant_name(struct path_walk *walk, const char *name, int fd)
{
	uint32_t access = implied(walk->rule);
	struct comet_named *named;
	ssize_t index = add_name(walk->objects, walk->at, name);

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

/* Puts the link's target before what is left to walk; the link itself may be stat'ed and read. */
static int follow(struct path_walk *walk, const char *name, int fd)
{
	char target[PATH_MAX];
	char rest[sizeof(walk->rest)];
	ssize_t index;
	ssize_t length;

	index = add_name(walk->objects, walk->at, name);
	if (index < 0)
		return (int)index;
	walk->objects->names[index].self |= passing(walk->rule);
	length = readlinkat(fd, "", target, sizeof(target) - 1);
	if (length <= 0 || ++walk->links > LINKS_MAX)
		return STEP_MISSING;
	target[length] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= (int)sizeof(rest))
		return STEP_MISSING;
	memcpy(walk->rest, rest, sizeof(rest));
	if (target[0] == '/') {
		int r = enter_root(walk);

		if (r)
			return r;
	}
	return STEP_ON;
}

static bool last_component(const char *rest)
{
	return rest[strspn(rest, "/")] == '\0';
}

/* Cuts the first component off walk->rest. False: there is none. */
static bool next_component(struct path_walk *walk, char name[NAME_MAX + 1])
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

static int missing(struct path_walk *walk, const char *name)
{
	if (!last_component(walk->rest) || streq(name, ".."))
		return STEP_MISSING;
	return grant_name(walk, name, -1) ? -ENOMEM : STEP_MISSING;
}

static int step(struct path_walk *walk, const char *name)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (streq(name, "."))
		return STEP_ON;
	fd = openat(walk->objects->nodes[walk->at].fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ?
			       -errno :
			       missing(walk, name);
	if (fstat(fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		/* Not a path: procfs's own links lead where no text does. */
		r = follow(walk, name, fd);
		if (r == STEP_MISSING && last_component(walk->rest))
			return grant_name(walk, name, fd) ? -ENOMEM : STEP_MISSING;
		return r;
	}
	if (S_ISDIR(st.st_mode)) {
		r = enter(walk, COMET_TAKE_FD(fd));
		return r ? r : STEP_ON;
	}
	if (!last_component(walk->rest))
		return STEP_MISSING;
	r = grant_name(walk, name, fd);
	return r ? r : STEP_DONE;
}

static int resolve_rule(struct path_walk *walk)
{
	char name[NAME_MAX + 1];
	int r = enter_root(walk);

	if (r)
		return r;
	if (strlen(walk->rule->path) >= PATH_MAX)
		return STEP_MISSING;
	snprintf(walk->rest, sizeof(walk->rest), "%s", walk->rule->path);
	walk->links = 0;
	while (next_component(walk, name)) {
		r = step(walk, name);
		if (r != STEP_ON)
			return r;
	}
	if (!last_component(walk->rest))
		return STEP_MISSING;
	grant_node(walk, walk->at);
	return STEP_DONE;
}

static void warn_missing(const struct comet_policy_target *target,
			 const struct comet_path_rule *rule, bool by_name)
{
	char text[PATH_MAX + 128];

	if (!target->warn || rule->optional)
		return;
	snprintf(text, sizeof(text),
		 by_name ? "%s does not exist: granted once it is made there" :
			   "%s does not exist: it grants nothing",
		 rule->path);
	target->warn(target->warn_context, &rule->location, text);
}

struct resolver {
	const struct comet_policy *policy;
	const struct comet_policy_target *target;
	struct comet_objects *objects;
	int result;
	const char *doing;
	const char *path;
};

static int resolve_all(struct resolver *resolver)
{
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct path_walk walk = { .objects = resolver->objects, .root = root };
	size_t i;

	if (root < 0)
		return -errno;
	for (i = 0; i < resolver->policy->n_paths; i++) {
		size_t names = resolver->objects->n_names;
		int r;

		walk.rule = &resolver->policy->paths[i];
		walk.index = (uint32_t)i;
		resolver->path = walk.rule->path;
		r = resolve_rule(&walk);
		if (r < 0)
			return r;
		if (r == STEP_MISSING)
			warn_missing(resolver->target, walk.rule,
				     resolver->objects->n_names > names);
	}
	return 0;
}

/* A thread of its own: setns(2) into a mount namespace moves the caller's root and cwd with it. */
static void *resolver_main(void *argument)
{
	struct resolver *resolver = argument;

	resolver->doing = "enter the mount namespace";
	resolver->path = "";
	if (unshare(CLONE_FS) || setns(resolver->target->mount_ns, CLONE_NEWNS)) {
		resolver->result = -errno;
		return NULL;
	}
	resolver->doing = "resolve";
	resolver->result = resolve_all(resolver);
	return NULL;
}

/* One descriptor for each directory that a rule names or passes. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max = 1024 * 1024;
	/* Without the right to raise it, EMFILE tells. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int comet_objects_resolve(const struct comet_policy *policy,
			  const struct comet_policy_target *target, struct comet_objects *objects,
			  struct comet_error *error)
{
	struct resolver resolver = { .policy = policy, .target = target, .objects = objects };
	pthread_t thread;
	int r;

	memset(objects, 0, sizeof(*objects));
	raise_descriptor_limit();
	r = pthread_create(&thread, NULL, resolver_main, &resolver);
	if (r)
		return comet_error_set(error, r, "cannot start a thread: %s", strerror(r));
	pthread_join(thread, NULL);
	if (resolver.result) {
		comet_objects_free(objects);
		return comet_error_set(error, -resolver.result, "cannot %s %s: %s", resolver.doing,
				       resolver.path, strerror(-resolver.result));
	}
	return 0;
}

void comet_objects_free(struct comet_objects *objects)
{
	size_t i;

	for (i = 0; i < objects->n_nodes; i++)
		comet_close_fd(&objects->nodes[i].fd);
	for (i = 0; i < objects->n_names; i++) {
		comet_close_fd(&objects->names[i].fd);
		free(objects->names[i].name);
	}
	free(objects->nodes);
	free(objects->names);
	tdestroy(objects->node_index, free);
	tdestroy(objects->name_index, free);
	memset(objects, 0, sizeof(*objects));
}
