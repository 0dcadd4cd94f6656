/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is asking? One lookup by the task's own cgroup id; an entry exists for every cgroup at and
 * below a bound one, because cgroup.bpf.c copies the parent's entry inside mkdir itself.
 */
#ifndef COMET_MEMBER_BPF_H
#define COMET_MEMBER_BPF_H

#include "bpf/maps.bpf.h"

#define COMET_ANCESTORS_MAX 64

/* An insert failed once (map full, no memory): from then on a miss asks the ancestors. */
extern __u32 comet_insert_failed;

/* Entry for a cgroup whose ancestors are too many to ask: no layer, every request refused. */
#define COMET_CGROUP_UNKNOWN 0ULL

static __noinline struct comet_layers *comet_layers_by_ancestor(struct cgroup *cgroup)
{
	__u64 unknown = COMET_CGROUP_UNKNOWN;
	int i;

	for (i = 0; i < COMET_ANCESTORS_MAX; i++) {
		struct cgroup_subsys_state *parent = cgroup->self.parent;
		struct comet_layers *layers;
		__u64 id;

		if (!parent)
			return NULL;
		cgroup = parent->cgroup;
		id = cgroup->kn->id;
		layers = bpf_map_lookup_elem(&comet_layers, &id);
		if (layers)
			return layers;
	}
	return bpf_map_lookup_elem(&comet_layers, &unknown);
}

static __always_inline struct comet_layers *comet_layers_of(struct cgroup *cgroup)
{
	__u64 id = cgroup->kn->id;
	struct comet_layers *layers = bpf_map_lookup_elem(&comet_layers, &id);

	if (!layers && comet_insert_failed)
		layers = comet_layers_by_ancestor(cgroup);
	return layers;
}

/* NULL: ungoverned. io_uring workers and SQPOLL threads are in their submitter's cgroup. */
static __always_inline struct comet_layers *comet_layers_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return comet_layers_of(task->cgroups->dfl_cgrp);
}

/*
 * Is somebody with the layers `theirs` held by at least what holds `own`? NULL: by nothing. Nobody
 * is where own has no layer: that is the entry that refuses everything, COMET_CGROUP_UNKNOWN.
 */
static __always_inline bool comet_held_alike(const struct comet_layers *own,
					     const struct comet_layers *theirs)
{
	__u32 i;

	if (!own->n || !theirs || theirs->n < own->n)
		return false;
	for (i = 0; i < COMET_LAYERS_MAX; i++) {
		if (i < own->n && own->policy[i] != theirs->policy[i])
			return false;
	}
	return true;
}

/*
 * Does the kernel act in the caller's name? It then works under credentials that are not the
 * task's: overlayfs on the layer's file, after the overlay's own was judged. io_uring's workers
 * borrow a submitter's credentials in the same way, for what nobody has judged yet; and a
 * personality of a ring, which would do it in the task itself, is refused (uring_override_creds).
 */
static __always_inline bool comet_kernel_acts(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->cred != task->real_cred && !(task->flags & PF_IO_WORKER);
}

/* Is the caller in an IPC namespace of the run's own? What cannot be read is the host's. */
static __always_inline bool comet_own_ipc(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 ns = BPF_CORE_READ(task, nsproxy, ipc_ns, ns.inum);

	return ns && ns != COMET_HOST_IPC_NS;
}

/* Since 6.8 the verifier wants to see the range of what an int hook returns. */
static __always_inline int comet_verdict(int error)
{
	if (error >= 0)
		return 0;
	if (error < -4095)
		return -EPERM;
	return error;
}

#endif /* COMET_MEMBER_BPF_H */
