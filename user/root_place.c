// SPDX-License-Identifier: Apache-2.0
/* The plan of a root as a tree of places: how does one find, make and name them? */
#include "user/base.h"
#include "user/root_plan.h"

/* As in the kernel's own path walk. */
#define LINKS_MAX 40

struct comet_place *comet_place_new_root(void)
{
	struct comet_place *root = calloc(1, sizeof(*root));

	if (!root)
		return NULL;
	root->name = strdup("");
	if (root->name)
		return root;
	free(root);
	return NULL;
}

void comet_place_free(struct comet_place *place)
{
	size_t i;

	if (!place)
		return;
	for (i = 0; i < place->n_children; i++)
		comet_place_free(place->children[i]);
	free(place->children);
	free(place->target);
	free(place->name);
	free(place);
}

char *comet_place_path(const struct comet_place *place)
{
	const struct comet_place *at;
	size_t length = 0;
	char *path, *end;

	for (at = place; at->parent; at = at->parent)
		length += 1 + strlen(at->name);
	if (!length)
		return strdup("/");
	path = malloc(length + 1);
	if (!path)
		return NULL;
	end = path + length;
	*end = '\0';
	for (at = place; at->parent; at = at->parent) {
		size_t n = strlen(at->name);

		end -= n;
		memcpy(end, at->name, n);
		*--end = '/';
	}
	return path;
}

/* Nothing of the plan's can stand below it. */
static bool is_leaf(const struct comet_place *place)
{
	switch (place->kind) {
	case COMET_PLACE_SHOWN:
	case COMET_PLACE_PROC:
	case COMET_PLACE_PTS:
	case COMET_PLACE_DECOY_FILE:
	case COMET_PLACE_DECOY_SOCKET:
		return true;
	case COMET_PLACE_WAY:
	case COMET_PLACE_LINK:
	case COMET_PLACE_DECOY_DIRECTORY:
		break;
	}
	return false;
}

bool comet_place_is_inside(const struct comet_place *place)
{
	while (place && !is_leaf(place))
		place = place->parent;
	return place;
}

/* Where the name is among the children, or should be. */
static size_t position(const struct comet_place *place, const char *name, bool *found)
{
	size_t low = 0, high = place->n_children;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int r = strcmp(place->children[middle]->name, name);

		if (r == 0) {
			*found = true;
			return middle;
		}
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct comet_place *comet_place_find(const struct comet_place *place, const char *name)
{
	bool found;
	size_t at = position(place, name, &found);

	return found ? place->children[at] : NULL;
}

struct comet_place *comet_place_add(struct comet_place *place, const char *name)
{
	struct comet_place **children, *child;
	bool found;
	size_t at = position(place, name, &found);

	if (found)
		return place->children[at];
	children = reallocarray(place->children, place->n_children + 1, sizeof(*children));
	if (!children)
		return NULL;
	place->children = children;
	child = calloc(1, sizeof(*child));
	if (child)
		child->name = strdup(name);
	if (!child || !child->name) {
		free(child);
		return NULL;
	}
	child->parent = place;
	memmove(children + at + 1, children + at, (place->n_children - at) * sizeof(*children));
	children[at] = child;
	place->n_children++;
	return child;
}

/* One component on, or where a link leads. */
static struct comet_place *reach(struct comet_place *root, struct comet_place *at, const char *path,
				 int links)
{
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *name;

	while (copy && at && !comet_place_is_inside(at) && (name = strsep(&rest, "/"))) {
		if (!*name || streq(name, "."))
			continue;
		if (streq(name, ".."))
			at = at->parent ? at->parent : at;
		else
			at = comet_place_add(at, name);
		if (!at || at->kind != COMET_PLACE_LINK)
			continue;
		if (links >= LINKS_MAX) {
			errno = ELOOP;
			return NULL;
		}
		at = reach(root, at->target[0] == '/' ? root : at->parent, at->target, links + 1);
	}
	return copy ? at : NULL;
}

struct comet_place *comet_place_reach(struct comet_place *root, const char *path)
{
	return reach(root, root, path, 0);
}
