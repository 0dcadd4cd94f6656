// SPDX-License-Identifier: Apache-2.0
/*
 * Which objects do a policy's paths mean? Walks each path by hand, one component at a time.
 *
 * A symbolic link that an agent put there must not lead the next run's policy to what the manifest
 * does not name. So a link is followed only where this very policy lets nobody change it: paths
 * are resolved, and resolved again without the links found in places that the first answer lets
 * the agent change, until no such link is left.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/objects.h"

#define LINKS_MAX 40  /* as the kernel's own path walk */
#define PASSES_MAX 16 /* each refuses at least one more link */

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

/* A link that was met: where, and which. */
struct link {
	size_t node;
	dev_t dev;
	ino_t ino;
};

struct links {
	struct link *all;
	size_t n;
};

static int add_link(struct links *links, const struct link *link)
{
	struct link *more = reallocarray(links->all, links->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	links->all = more;
	more[links->n++] = *link;
	return 0;
}

static bool has_link(const struct links *links, const struct stat *st)
{
	size_t i;

	for (i = 0; i < links->n; i++) {
		if (links->all[i].ino == st->st_ino && links->all[i].dev == st->st_dev)
			return true;
	}
	return false;
}

/* State of one path's walk. */
struct path_walk {
	struct comet_objects *objects;
	struct links *followed;
	const struct links *refused;
	const struct comet_path_rule *rule;
	uint32_t index; /* of the rule */
	int root;
	size_t at;               /* node of the directory that was reached */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	int links;
};

/* A mark on a path, quiet or canary, makes nothing on the way to it visible. */
static uint32_t passing(const struct comet_path_rule *rule)
{
	return rule->access & ~(COMET_FS_QUIET | COMET_FS_CANARY) ? COMET_FS_STAT : 0;
}

enum step { STEP_ON, STEP_DONE, STEP_MISSING, STEP_BY_NAME, STEP_UNTRUSTED };

/* Directories on the way may be stat'ed and walked through, not listed. */
static int enter(struct path_walk *walk, int fd)
{
	ssize_t node = comet_objects_add_node(walk->objects, fd);

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
static bool is_strangers(const struct path_walk *walk, const struct stat *link)
{
	struct stat dir;

	if (fstat(walk->objects->nodes[walk->at].fd, &dir))
		return true;
	return (dir.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && link->st_uid != 0 &&
	       link->st_uid != dir.st_uid;
}

/* Puts the link's target before what is left to walk; the link itself may be stat'ed and read. */
static int follow(struct path_walk *walk, const char *name, int fd, const struct stat *st)
{
	struct link link = { .node = walk->at, .dev = st->st_dev, .ino = st->st_ino };
	char target[PATH_MAX];
	char rest[sizeof(walk->rest)];
	ssize_t index;
	ssize_t length;

	index = comet_objects_add_name(walk->objects, walk->at, name);
	if (index < 0)
		return (int)index;
	walk->objects->names[index].self |= passing(walk->rule);
	if (has_link(walk->refused, st) || is_strangers(walk, st))
		return STEP_UNTRUSTED;
	if (add_link(walk->followed, &link))
		return -ENOMEM;
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
	return grant_name(walk, name, -1) ? -ENOMEM : STEP_BY_NAME;
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
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
									     : missing(walk, name);
	if (fstat(fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		/* Not a path: procfs's own links lead where no text does. */
		r = follow(walk, name, fd, &st);
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

/* Does a grant of this policy let the agent change what stands in the node's directory? */
static int is_changeable(const struct comet_objects *objects, size_t index)
{
	_cleanup_close_ int at = fcntl(objects->nodes[index].fd, F_DUPFD_CLOEXEC, 3);
	struct stat here, above;

	if (at < 0 || fstat(at, &here))
		return -errno;
	for (;;) {
		const struct comet_node *node = comet_objects_find_node(objects, at);
		int up;

		if (node && (node->subtree & COMET_FS_CHANGE))
			return 1;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -errno;
		close(at);
		at = up;
		if (fstat(at, &above))
			return -errno;
		if (above.st_ino == here.st_ino && above.st_dev == here.st_dev)
			return 0;
		here = above;
	}
}

struct resolver {
	const struct comet_policy *policy;
	const struct comet_policy_target *target;
	struct comet_objects *objects;
	unsigned char *outcomes; /* enum step of each rule, for the warnings */
	struct links followed;
	struct links refused;
	int result;
	const char *doing;
	const char *path;
};

static int resolve_once(struct resolver *resolver)
{
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct path_walk walk = { .objects = resolver->objects,
				  .followed = &resolver->followed,
				  .refused = &resolver->refused,
				  .root = root };
	size_t i;

	if (root < 0)
		return -errno;
	resolver->followed.n = 0;
	for (i = 0; i < resolver->policy->n_paths; i++) {
		int r;

		walk.rule = &resolver->policy->paths[i];
		walk.index = (uint32_t)i;
		resolver->path = walk.rule->path;
		r = resolve_rule(&walk);
		if (r < 0)
			return r;
		resolver->outcomes[i] = (unsigned char)r;
	}
	return 0;
}

/* How many of the links that were followed stand where the agent may change them; or an error. */
static int refuse_links(struct resolver *resolver)
{
	int found = 0;
	size_t i;

	for (i = 0; i < resolver->followed.n; i++) {
		const struct link *link = &resolver->followed.all[i];
		int r = is_changeable(resolver->objects, link->node);

		if (r > 0) {
			found++;
			r = add_link(&resolver->refused, link);
		}
		if (r < 0)
			return r;
	}
	return found;
}

static int resolve_all(struct resolver *resolver)
{
	int pass;

	for (pass = 0; pass < PASSES_MAX; pass++) {
		int r = resolve_once(resolver);

		if (r == 0)
			r = refuse_links(resolver);
		if (r <= 0)
			return r;
		comet_objects_free(resolver->objects);
	}
	return -ELOOP;
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

static void warn_all(const struct resolver *resolver)
{
	static const char *const words[] = {
		[STEP_MISSING] = "does not exist: it grants nothing",
		[STEP_BY_NAME] = "does not exist: granted once it is made there",
		[STEP_UNTRUSTED] = "leads through a symbolic link in a place that the agent, or "
				   "any user, may change: the link is not followed",
	};
	const struct comet_policy_target *target = resolver->target;
	size_t i;

	for (i = 0; target->warn && i < resolver->policy->n_paths; i++) {
		const struct comet_path_rule *rule = &resolver->policy->paths[i];
		char text[PATH_MAX + 160];

		if (resolver->outcomes[i] <= STEP_DONE || rule->optional)
			continue;
		snprintf(text, sizeof(text), "%s %s", rule->path, words[resolver->outcomes[i]]);
		target->warn(target->warn_context, &rule->location, text);
	}
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
	resolver.outcomes = calloc(policy->n_paths + 1, 1);
	if (!resolver.outcomes)
		return comet_error_set(error, ENOMEM, "no memory");
	r = pthread_create(&thread, NULL, resolver_main, &resolver);
	if (r == 0)
		pthread_join(thread, NULL);
	if (r)
		comet_error_set(error, r, "cannot start a thread: %s", strerror(r));
	else if (resolver.result)
		comet_error_set(error, -resolver.result, "cannot %s %s: %s", resolver.doing,
				resolver.path, strerror(-resolver.result));
	else
		warn_all(&resolver);
	if (resolver.result)
		comet_objects_free(objects);
	free(resolver.outcomes);
	free(resolver.followed.all);
	free(resolver.refused.all);
	return r ? -r : resolver.result;
}
