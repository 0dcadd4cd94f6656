// SPDX-License-Identifier: Apache-2.0
/* What is to stand where in a root of the run's own? As the policy's paths lead through the host's.
 */
#include "user/root_plan.h"

#include "manifest/path.h"
#include "user/base.h"
#include "user/mounts.h"
#include "user/objects.h"

#define ACCESS (COMET_FS_READ | COMET_FS_WRITE | COMET_FS_EXEC)

struct planner {
	const struct comet_policy *policy;
	struct comet_place *root;
	struct comet_place *at;
	const struct comet_path_rule *rule;
	struct comet_place *
		*missing; /* for each rule, the directory in which its name is missing */
};

/* /workdir, which every run may read, is declared for writing further down. */
static bool is_base(const struct comet_path_rule *rule)
{
	return rule->source == COMET_SOURCE_BASE && !comet_path_covers(COMET_WORKDIR, rule->path);
}

static void show(struct comet_place *place, const struct comet_path_rule *rule)
{
	place->base = is_base(rule) && (place->kind != COMET_PLACE_SHOWN || place->base);
	place->kind = COMET_PLACE_SHOWN;
	if ((rule->access & COMET_FS_WRITE) && rule->source == COMET_SOURCE_MANIFEST)
		place->writable = true;
}

static int begin(struct planner *planner)
{
	comet_place_free(planner->root);
	free(planner->missing);
	planner->root = comet_place_new_root();
	planner->missing = calloc(planner->policy->n_paths + 1, sizeof(*planner->missing));
	return planner->root && planner->missing ? 0 : -ENOMEM;
}

static int enter(struct planner *planner, const char *name)
{
	struct comet_place *at = planner->at;

	if (streq(name, ".."))
		at = at->parent ? at->parent : at;
	else
		at = comet_place_add(at, name);
	if (!at)
		return -ENOMEM;
	/* The host's tree is changing under the walk. */
	if (at->kind == COMET_PLACE_LINK)
		return -EAGAIN;
	at->passed = true;
	planner->at = at;
	return 0;
}

static int follow(struct planner *planner, const char *name, const char *target)
{
	struct comet_place *place = comet_place_add(planner->at, name);

	if (!place)
		return -ENOMEM;
	if (place->kind == COMET_PLACE_LINK)
		return 0;
	if (place->passed || place->kind != COMET_PLACE_WAY)
		return -EAGAIN;
	place->kind = COMET_PLACE_LINK;
	place->target = strdup(target);
	return place->target ? 0 : -ENOMEM;
}

static int finish(struct planner *planner, const char *name)
{
	struct comet_place *place = comet_place_add(planner->at, name);

	if (!place)
		return -ENOMEM;
	show(place, planner->rule);
	return 0;
}

static int trace(void *context, const struct comet_trace *trace)
{
	struct planner *planner = context;

	if (trace->kind == COMET_TRACE_PASS)
		return begin(planner);
	planner->rule = &planner->policy->paths[trace->rule];
	/* Marks show nothing: canaries get decoys. */
	if (!(planner->rule->access & (ACCESS | COMET_FS_STAT)))
		return 0;
	switch (trace->kind) {
	case COMET_TRACE_ROOT:
		planner->at = planner->root;
		return 0;
	case COMET_TRACE_ENTER:
		return enter(planner, trace->name);
	case COMET_TRACE_LINK:
		return follow(planner, trace->name, trace->target);
	case COMET_TRACE_FILE:
		return planner->rule->access & ACCESS ? finish(planner, trace->name) : 0;
	case COMET_TRACE_HERE:
		planner->at->meant = true;
		if ((planner->rule->access & ACCESS) && !planner->rule->self_only)
			show(planner->at, planner->rule);
		return 0;
	case COMET_TRACE_NAME:
		planner->missing[trace->rule] = planner->at;
		return 0;
	case COMET_TRACE_PASS:
	case COMET_TRACE_RULE:
		break;
	}
	return 0;
}

/* A directory on the way to nothing that is there need not be there either. */
static void prune(struct comet_place *place)
{
	size_t i, n = 0;

	for (i = 0; i < place->n_children; i++) {
		struct comet_place *child = place->children[i];

		prune(child);
		if (child->kind == COMET_PLACE_WAY && !child->meant && !child->n_children)
			comet_place_free(child);
		else
			place->children[n++] = child;
	}
	place->n_children = n;
}

/*
 * Pseudo terminals, where the manifest does not declare the host's whole /dev: alone, /dev/ptmx
 * would not find the host's /dev/pts, which holds the terminals of others.
 */
static int add_terminals(struct comet_place *root)
{
	struct comet_place *dev = comet_place_reach(root, "/dev");
	struct comet_place *ptmx, *pts;

	if (!dev)
		return -errno;
	if (comet_place_is_inside(dev))
		return 0;
	ptmx = comet_place_add(dev, "ptmx");
	pts = comet_place_add(dev, "pts");
	if (!ptmx || !pts)
		return -ENOMEM;
	pts->kind = COMET_PLACE_PTS;
	ptmx->kind = COMET_PLACE_LINK;
	free(ptmx->target);
	ptmx->target = strdup("pts/ptmx");
	return ptmx->target ? 0 : -ENOMEM;
}

/* What the run has for itself instead of the host's. */
static int add_own(struct comet_place *root, bool private_tmp)
{
	struct comet_place *proc = comet_place_add(root, "proc"), *tmp;

	if (!proc)
		return -ENOMEM;
	proc->kind = COMET_PLACE_PROC;
	if (private_tmp) {
		tmp = comet_place_reach(root, "/tmp");
		if (!tmp)
			return -errno;
		if (!comet_place_is_inside(tmp))
			tmp->kind = COMET_PLACE_SHOWN;
	}
	return add_terminals(root);
}

/*
 * A name that is not there can be made later in a directory that is the host's. In one of the
 * run's own it would be made in memory and be gone with the run, without a word.
 */
static void withdraw(const struct planner *planner, struct comet_policy *policy,
		     struct comet_objects *objects)
{
	size_t i;

	for (i = 0; i < policy->n_paths; i++) {
		struct comet_path_rule *rule = &policy->paths[i];

		if (objects->outcomes[i] == COMET_OUTCOME_DONE)
			continue;
		if (planner->missing[i] && comet_place_is_inside(planner->missing[i]))
			continue;
		if (objects->outcomes[i] == COMET_OUTCOME_BY_NAME)
			objects->outcomes[i] = COMET_OUTCOME_HIDDEN;
		if (rule->access & COMET_FS_WRITE)
			rule->access = 0;
	}
}

struct comet_place *comet_root_plan(struct comet_policy *policy,
				    const struct comet_policy_target *target, bool private_tmp,
				    struct comet_error *error)
{
	struct planner planner = { .policy = policy };
	const struct comet_tracer tracer = { .trace = trace, .context = &planner };
	struct comet_objects objects;
	int r = comet_objects_resolve(policy, target, &tracer, &objects, error);

	if (r == 0) {
		r = add_own(planner.root, private_tmp);
		if (r < 0)
			comet_error_set(error, -r, "cannot plan the run's own root: %s",
					strerror(-r));
		withdraw(&planner, policy, &objects);
		prune(planner.root);
		comet_objects_warn(policy, &objects, target);
		comet_objects_free(&objects);
	}
	free(planner.missing);
	if (r == 0)
		return planner.root;
	comet_place_free(planner.root);
	return NULL;
}
