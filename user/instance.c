// SPDX-License-Identifier: Apache-2.0
/* Which set of programs and maps is in force on this host, and who may change that? */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "comet.skel.h"
#include "manifest/sha256.h"
#include "user/base.h"
#include "user/fault.h"
#include "user/instance.h"

int comet_set_lock(struct comet_error *error)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(COMET_RUN_DIRECTORY, 0700) && errno != EEXIST)
		return comet_error_set(error, errno, "cannot make %s: %s", COMET_RUN_DIRECTORY,
				       strerror(errno));
	fd = open(COMET_RUN_DIRECTORY "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return comet_error_set(error, errno, "cannot open %s/lock: %s", COMET_RUN_DIRECTORY,
				       strerror(errno));
	while (flock(fd, LOCK_EX)) {
		if (errno != EINTR)
			return comet_error_set(error, errno, "cannot lock %s/lock: %s",
					       COMET_RUN_DIRECTORY, strerror(errno));
	}
	return COMET_TAKE_FD(fd);
}

void comet_set_init(struct comet_set *set)
{
	size_t i;

	memset(set, 0, sizeof(*set));
	for (i = 0; i < COMET_ARRAY_SIZE(set->maps); i++)
		set->maps[i] = -1;
	for (i = 0; i < COMET_ARRAY_SIZE(set->links); i++)
		set->links[i] = -1;
	set->dump_program = -1;
	set->packet_program = -1;
}

void comet_set_close(struct comet_set *set)
{
	size_t i;

	for (i = 0; i < COMET_ARRAY_SIZE(set->maps); i++)
		comet_close_fd(&set->maps[i]);
	for (i = 0; i < COMET_ARRAY_SIZE(set->links); i++)
		comet_close_fd(&set->links[i]);
	comet_close_fd(&set->dump_program);
	comet_close_fd(&set->packet_program);
	set->n_links = 0;
}

/* Another build's programs may judge otherwise: only the very same object is shared. */
void comet_set_build(char build[65])
{
	struct comet_sha256 sha;
	const void *bytes;
	size_t size;

	bytes = comet_bpf__elf_bytes(&size);
	comet_sha256_begin(&sha);
	comet_sha256_add(&sha, bytes, size);
	comet_sha256_add(&sha, comet_fault_set(), strlen(comet_fault_set()));
	comet_sha256_end(&sha, build);
}

static int open_all(struct comet_set *set, const struct comet_instance *instance)
{
	__u32 i;

	for (i = 0; i < instance->n_maps; i++) {
		set->maps[i] = bpf_map_get_fd_by_id(instance->maps[i]);
		if (set->maps[i] < 0)
			return -ENOENT;
	}
	for (i = 0; i < instance->n_links; i++) {
		set->links[i] = bpf_link_get_fd_by_id(instance->links[i]);
		if (set->links[i] < 0)
			return -ENOENT;
	}
	set->n_links = instance->n_links;
	set->dump_program = bpf_prog_get_fd_by_id(instance->dump_program);
	set->packet_program = bpf_prog_get_fd_by_id(instance->packet_program);
	return set->dump_program < 0 || set->packet_program < 0 ? -ENOENT : 0;
}

static int adopt_map(struct comet_set *set, __u32 map_id, const char *build)
{
	struct comet_instance instance;
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = -1;
	__u32 zero = 0;
	int r;

	fd = bpf_map_get_fd_by_id(map_id);
	if (fd < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || !streq(info.name, "comet_instance") ||
	    info.value_size != sizeof(instance))
		return -ENOENT;
	if (bpf_map_lookup_elem(fd, &zero, &instance) || instance.version != COMET_WIRE_VERSION ||
	    instance.n_maps != _COMET_MAP_MAX || instance.n_links > COMET_INSTANCE_LINKS ||
	    memcmp(instance.build, build, sizeof(instance.build)))
		return -ENOENT;
	r = open_all(set, &instance);
	if (r)
		comet_set_close(set);
	return r;
}

int comet_set_adopt(struct comet_set *set)
{
	char build[65];
	__u32 id = 0;

	comet_set_build(build);
	while (!bpf_map_get_next_id(id, &id)) {
		if (!adopt_map(set, id, build))
			return 0;
	}
	return -ENOENT;
}

int comet_set_not_added(const struct comet_set *set, enum comet_map map, int code,
			struct comet_error *error)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(set->maps[map], &info, &size))
		return comet_error_set(error, code, "cannot fill a map: %s", strerror(code));
	if (code != E2BIG && code != ENOSPC)
		return comet_error_set(error, code, "cannot fill %s: %s", info.name,
				       strerror(code));
	return comet_error_set(error, code,
			       "the map %s is full: it holds %u entries, for all runs on this host "
			       "together",
			       info.name, info.max_entries);
}

int comet_set_next_policy(struct comet_set *set, __u32 *id)
{
	struct comet_instance instance;
	__u32 zero = 0;
	int fd = set->maps[COMET_MAP_INSTANCE];

	if (bpf_map_lookup_elem(fd, &zero, &instance))
		return -errno;
	*id = instance.next_policy++;
	if (!instance.next_policy)
		return -EOVERFLOW;
	if (bpf_map_update_elem(fd, &zero, &instance, BPF_ANY))
		return -errno;
	return 0;
}
