// SPDX-License-Identifier: Apache-2.0
/*
 * Which objects do a policy's paths mean, and which symbolic links may lead there?
 *
 * A symbolic link that an agent put there must not lead the next run's policy to what the manifest
 * does not name. So a link is followed only where this very policy lets nobody change it: paths
 * are resolved, and resolved again without the links found in places that the first answer lets
 * the agent change, until no such link is left.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/path_walk.h"

#define PASSES_MAX 16 /* each refuses at least one more link */

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
	unsigned char *outcomes; /* enum comet_step of each rule, for the warnings */
	struct comet_links followed;
	struct comet_links refused;
	int result;
	const char *doing;
	const char *path;
};

static int resolve_once(struct resolver *resolver)
{
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct comet_path_walk walk = { .objects = resolver->objects,
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
		r = comet_path_walk(&walk);
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
		const struct comet_link *link = &resolver->followed.all[i];
		int r = is_changeable(resolver->objects, link->node);

		if (r > 0) {
			found++;
			r = comet_links_add(&resolver->refused, link);
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
		[COMET_STEP_MISSING] = "does not exist: it grants nothing",
		[COMET_STEP_BY_NAME] = "does not exist: granted once it is made there",
		[COMET_STEP_UNTRUSTED] =
			"leads through a symbolic link in a place that the agent, or "
			"any user, may change: the link is not followed",
	};
	const struct comet_policy_target *target = resolver->target;
	size_t i;

	for (i = 0; target->warn && i < resolver->policy->n_paths; i++) {
		const struct comet_path_rule *rule = &resolver->policy->paths[i];
		char text[PATH_MAX + 160];

		if (resolver->outcomes[i] <= COMET_STEP_DONE || rule->optional)
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
