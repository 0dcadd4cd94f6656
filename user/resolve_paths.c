// SPDX-License-Identifier: Apache-2.0
/*
 * Which objects do a policy's paths mean?
 *
 * A symbolic link that an agent put there must not lead the next run's policy to what the manifest
 * does not name. So a link is followed only where this very policy lets nobody change it: paths
 * are resolved, and resolved again without the links found in places that the first answer lets
 * the agent change, until no such link is left.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/mount.h"
#include "user/resolve_walk.h"

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
	const struct comet_tracer *tracer;
	struct comet_objects *objects;
	struct comet_links followed;
	struct comet_links refused;
	const char *doing;
	const char *path;
};

static int resolve_rules(struct resolver *resolver, struct comet_path_walk *walk)
{
	size_t i;

	for (i = 0; i < resolver->policy->n_paths; i++) {
		int r;

		walk->rule = &resolver->policy->paths[i];
		walk->index = (uint32_t)i;
		resolver->path = walk->rule->path;
		r = comet_path_walk(walk);
		if (r < 0)
			return r;
		resolver->objects->outcomes[i] = (unsigned char)r;
	}
	return 0;
}

static int resolve_once(struct resolver *resolver)
{
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct comet_tracer *tracer = resolver->tracer;
	const struct comet_trace begin = { .kind = COMET_TRACE_PASS };
	struct comet_path_walk walk = { .objects = resolver->objects,
					.followed = &resolver->followed,
					.refused = &resolver->refused,
					.target = resolver->target,
					.tracer = tracer,
					.root = root };
	int r = 0;

	if (root < 0)
		return -errno;
	resolver->followed.n = 0;
	resolver->objects->outcomes = calloc(resolver->policy->n_paths + 1, 1);
	if (!resolver->objects->outcomes)
		return -ENOMEM;
	if (tracer)
		r = tracer->trace(tracer->context, &begin);
	return r ? r : resolve_rules(resolver, &walk);
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

static int resolver_main(void *argument)
{
	struct resolver *resolver = argument;

	resolver->doing = "resolve";
	return resolve_all(resolver);
}

void comet_objects_warn(const struct comet_policy *policy, const struct comet_objects *objects,
			const struct comet_policy_target *target)
{
	static const char *const words[] = {
		[COMET_OUTCOME_MISSING] = "does not exist: it grants nothing",
		[COMET_OUTCOME_BY_NAME] = "does not exist: granted once it is made there",
		[COMET_OUTCOME_UNTRUSTED] =
			"leads through a symbolic link in a place that the agent, or any user, "
			"may change: the link is not followed",
		[COMET_OUTCOME_HIDDEN] = "does not exist: under isolation container it would have "
					 "to when the run starts, so it grants nothing",
	};
	size_t i;

	for (i = 0; target->warn && i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];
		char text[PATH_MAX + 160];

		if (objects->outcomes[i] <= COMET_OUTCOME_DONE || rule->optional)
			continue;
		snprintf(text, sizeof(text), "%s %s", rule->path, words[objects->outcomes[i]]);
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
			  const struct comet_policy_target *target,
			  const struct comet_tracer *tracer, struct comet_objects *objects,
			  struct comet_error *error)
{
	struct resolver resolver = { .policy = policy,
				     .target = target,
				     .tracer = tracer,
				     .objects = objects,
				     .doing = "enter the run's mount namespace",
				     .path = "" };
	int r;

	memset(objects, 0, sizeof(*objects));
	raise_descriptor_limit();
	r = comet_mount_visit(target->mount_ns, resolver_main, &resolver);
	if (r) {
		comet_error_set(error, -r, "cannot %s %s: %s", resolver.doing, resolver.path,
				strerror(-r));
		comet_objects_free(objects);
	}
	free(resolver.followed.all);
	free(resolver.refused.all);
	return r;
}
