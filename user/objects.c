// SPDX-License-Identifier: Apache-2.0
/* The objects of a policy, each once: directories by identity, names by directory and text. */
#include <fcntl.h>
#include <search.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "user/base.h"
#include "user/objects.h"

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

static int key_of(int fd, struct node_key *key)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &sx))
		return -errno;
	*key = (struct node_key){ .mount = sx.stx_mnt_id,
				  .dev = makedev(sx.stx_dev_major, sx.stx_dev_minor),
				  .ino = sx.stx_ino };
	return 0;
}

/* The array doubles at powers of two: its length says when. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

ssize_t comet_objects_add_node(struct comet_objects *objects, int fd)
{
	_cleanup_close_ int own = fd;
	struct node_key *key, **found;
	struct comet_node *nodes;
	int r;

	key = malloc(sizeof(*key));
	if (!key)
		return -ENOMEM;
	r = key_of(fd, key);
	if (r) {
		free(key);
		return r;
	}
	key->node = objects->n_nodes;
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

ssize_t comet_objects_add_name(struct comet_objects *objects, size_t node, const char *name)
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

const struct comet_node *comet_objects_find_node(const struct comet_objects *objects, int fd)
{
	struct node_key key, **found;

	if (key_of(fd, &key))
		return NULL;
	found = tfind(&key, &objects->node_index, compare_nodes);
	return found ? &objects->nodes[(*found)->node] : NULL;
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
	free(objects->outcomes);
	free(objects->nodes);
	free(objects->names);
	tdestroy(objects->node_index, free);
	tdestroy(objects->name_index, free);
	memset(objects, 0, sizeof(*objects));
}
