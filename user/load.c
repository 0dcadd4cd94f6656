// SPDX-License-Identifier: Apache-2.0
/* How do the programs and maps get into the kernel, for the first run that needs them? */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdarg.h>

#include "comet.skel.h"
#include "user/base.h"
#include "user/fault.h"
#include "user/instance.h"
#include "user/probe.h"

/* The last lines that libbpf had to say: the reason, when the kernel refuses a program. */
static char libbpf_words[1024];

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[sizeof(libbpf_words)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	/* The first warning names the cause, later ones only that something failed. */
	if (!libbpf_words[0])
		memcpy(libbpf_words, line, sizeof(line));
	return 0;
}

static const struct comet_hook *hook_of(const char *program)
{
	size_t i;

	for (i = 0; i < comet_n_hooks; i++) {
		if (streq(comet_hooks[i].program, program))
			return &comet_hooks[i];
	}
	return NULL;
}

/* Hooks that this kernel lacks are not loaded; a missing required one is a refusal. */
static int choose_programs(struct comet_bpf *skeleton, struct comet_error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj) {
		const char *name = bpf_program__name(program);
		const struct comet_hook *hook = hook_of(name);
		int r;

		if (!hook)
			return comet_error_set(error, EINVAL,
					       "the program %s is not in the hook table", name);
		r = comet_probe_hook(hook);
		if (r < 0)
			return comet_error_set(error, -r, "cannot read kernel BTF: %s",
					       strerror(-r));
		if (!r && hook->required)
			return comet_error_set(error, ENOTSUP,
					       "this kernel lacks the hook %s (needed for %s); "
					       "`comet doctor` lists what is missing",
					       hook->target, hook->needed_for);
		if (!r)
			bpf_program__set_autoload(program, false);
	}
	return 0;
}

static int id_of_link(int fd, __u32 *id)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	*id = info.id;
	return 0;
}

static int id_of_map(int fd, __u32 *id)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	*id = info.id;
	return 0;
}

static int id_of_program(int fd, __u32 *id)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	*id = info.id;
	return 0;
}

static int duplicate(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? -errno : copy;
}

/* For the programs that are not attached here once for all. */
static int keep_program(const struct bpf_program *program, int *fd, __u32 *id)
{
	*fd = duplicate(bpf_program__fd(program));
	return *fd < 0 ? *fd : id_of_program(*fd, id);
}

static int take_maps(struct comet_set *set, struct comet_instance *instance,
		     struct comet_bpf *skeleton)
{
	const struct bpf_map *maps[_COMET_MAP_MAX] = {
		[COMET_MAP_LAYERS] = skeleton->maps.comet_layers,
		[COMET_MAP_OBJECTS] = skeleton->maps.comet_objects,
		[COMET_MAP_NAMES] = skeleton->maps.comet_names,
		[COMET_MAP_NETS] = skeleton->maps.comet_nets,
		[COMET_MAP_POLICIES] = skeleton->maps.comet_policies,
		[COMET_MAP_COUNTERS] = skeleton->maps.comet_counters,
		[COMET_MAP_RINGS] = skeleton->maps.comet_rings,
		[COMET_MAP_INSTANCE] = skeleton->maps.comet_instance,
	};
	int i, r;

	for (i = 0; i < _COMET_MAP_MAX; i++) {
		set->maps[i] = duplicate(bpf_map__fd(maps[i]));
		if (set->maps[i] < 0)
			return set->maps[i];
		r = id_of_map(set->maps[i], &instance->maps[i]);
		if (r)
			return r;
	}
	instance->n_maps = _COMET_MAP_MAX;
	return 0;
}

/* Attaches one by one: the skeleton's own attach would also take those kept for later. */
static int attach_all(struct comet_set *set, struct comet_instance *instance,
		      struct comet_bpf *skeleton, struct comet_error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj) {
		struct bpf_link *link;
		int r;

		if (!bpf_program__autoload(program) ||
		    program == skeleton->progs.comet_dump_objects ||
		    program == skeleton->progs.comet_packet_egress)
			continue;
		if (set->n_links == COMET_INSTANCE_LINKS)
			return comet_error_set(error, E2BIG, "more programs than %d links",
					       COMET_INSTANCE_LINKS);
		link = bpf_program__attach(program);
		if (!link)
			return comet_error_set(error, errno, "cannot attach %s: %s",
					       bpf_program__name(program), strerror(errno));
		set->links[set->n_links] = duplicate(bpf_link__fd(link));
		bpf_link__destroy(link);
		r = set->links[set->n_links];
		if (r >= 0)
			r = id_of_link(r, &instance->links[set->n_links]);
		if (r < 0)
			return comet_error_set(error, -r, "cannot keep the link of %s: %s",
					       bpf_program__name(program), strerror(-r));
		instance->n_links = ++set->n_links;
		if (set->n_links == 1)
			comet_fault_at("one-attached", NULL);
	}
	return 0;
}

static int publish(struct comet_set *set, struct comet_instance *instance)
{
	char build[65];
	__u32 zero = 0;

	comet_set_build(build);
	memcpy(instance->build, build, sizeof(instance->build));
	instance->next_policy = 1;
	instance->version = COMET_WIRE_VERSION;
	return bpf_map_update_elem(set->maps[COMET_MAP_INSTANCE], &zero, instance, BPF_ANY);
}

/* The entry that a cgroup too deep to ask gets: no layer, so every request is refused. */
static int add_unknown_cgroup(struct comet_set *set)
{
	struct comet_layers nobody = {};
	__u64 id = 0;

	return bpf_map_update_elem(set->maps[COMET_MAP_LAYERS], &id, &nobody, BPF_ANY);
}

static int load_into(struct comet_set *set, struct comet_bpf *skeleton, struct comet_error *error)
{
	struct comet_instance instance = {};
	int r;

	r = choose_programs(skeleton, error);
	if (!r)
		r = comet_fault_object(skeleton->obj, error);
	if (r)
		return r;
	r = comet_bpf__load(skeleton);
	comet_fault_at("loaded", NULL);
	if (r)
		return comet_error_set(error, -r, "the kernel refused Comet's programs: %s",
				       libbpf_words[0] ? libbpf_words : strerror(-r));
	r = take_maps(set, &instance, skeleton);
	if (r)
		return comet_error_set(error, -r, "cannot keep Comet's maps: %s", strerror(-r));
	r = keep_program(skeleton->progs.comet_dump_objects, &set->dump_program,
			 &instance.dump_program);
	if (!r)
		r = keep_program(skeleton->progs.comet_packet_egress, &set->packet_program,
				 &instance.packet_program);
	if (r)
		return comet_error_set(error, -r, "cannot keep a program: %s", strerror(-r));
	if (add_unknown_cgroup(set))
		return comet_error_set(error, errno, "cannot fill comet_layers: %s",
				       strerror(errno));
	r = attach_all(set, &instance, skeleton, error);
	if (r)
		return r;
	comet_fault_at("attached", NULL);
	r = publish(set, &instance);
	comet_fault_at("published", NULL);
	if (r)
		return comet_error_set(error, -r, "cannot fill comet_instance: %s", strerror(-r));
	return 0;
}

int comet_set_load(struct comet_set *set, struct comet_error *error)
{
	libbpf_print_fn_t before = libbpf_set_print(keep_words);
	struct comet_bpf *skeleton;
	int r;

	libbpf_words[0] = '\0';
	skeleton = comet_bpf__open();
	if (!skeleton) {
		r = comet_error_set(error, errno, "cannot open the BPF object: %s",
				    libbpf_words[0] ? libbpf_words : strerror(errno));
	} else {
		r = load_into(set, skeleton, error);
		comet_bpf__destroy(skeleton);
	}
	if (r)
		comet_set_close(set);
	libbpf_set_print(before);
	return r;
}
