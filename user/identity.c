// SPDX-License-Identifier: Apache-2.0
/* Which kernel object stands behind each descriptor of this process? Asked of comet_dump_objects.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "user/base.h"
#include "user/identity.h"

static int keep(struct comet_identities *identities, const struct comet_identity *identity)
{
	size_t n = identities->n;

	if (identity->fd >= n) {
		struct comet_identity *more;

		n = identity->fd + 1 > 2 * n ? identity->fd + 1 : 2 * n;
		more = reallocarray(identities->by_fd, n, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + identities->n, 0, (n - identities->n) * sizeof(*more));
		identities->by_fd = more;
		identities->n = n;
	}
	identities->by_fd[identity->fd] = *identity;
	return 0;
}

static int read_all(int fd, struct comet_identities *identities)
{
	struct comet_identity batch[128];
	size_t have = 0;

	for (;;) {
		ssize_t got = read(fd, (char *)batch + have, sizeof(batch) - have);
		size_t i, whole;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return have ? -EIO : 0;
		have += (size_t)got;
		whole = have / sizeof(batch[0]);
		for (i = 0; i < whole; i++) {
			int r = keep(identities, &batch[i]);

			if (r)
				return r;
		}
		have -= whole * sizeof(batch[0]);
		memmove(batch, batch + whole, have);
	}
}

int comet_identities_read(int dump_program, struct comet_identities *identities)
{
	union bpf_iter_link_info target = { .task.tid = (__u32)gettid() };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &target,
		    .iter_info_len = sizeof(target));
	_cleanup_close_ int link = -1;
	_cleanup_close_ int fd = -1;
	int r;

	memset(identities, 0, sizeof(*identities));
	link = bpf_link_create(dump_program, 0, BPF_TRACE_ITER, &options);
	if (link < 0)
		return -errno;
	fd = bpf_iter_create(link);
	if (fd < 0)
		return -errno;
	r = read_all(fd, identities);
	if (r)
		comet_identities_free(identities);
	return r;
}

const struct comet_identity *comet_identities_find(const struct comet_identities *identities,
						   int fd)
{
	if (fd < 0 || (size_t)fd >= identities->n || !identities->by_fd[fd].inode)
		return NULL;
	return &identities->by_fd[fd];
}

void comet_identities_free(struct comet_identities *identities)
{
	free(identities->by_fd);
	memset(identities, 0, sizeof(*identities));
}
