// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How does membership follow the cgroup tree?
 *
 * cgroup_mkdir: the child inherits its parent's layers. The tracepoint fires inside mkdir before
 *   the directory is visible, so no task can be in a cgroup that has no entry yet.
 * cgroup_rmdir: the entry goes; an id is never reused while the kernel runs.
 * task_alloc: clone3(CLONE_INTO_CGROUP) is the one way to change cgroup that opens no file.
 */
#include "bpf/member.bpf.h"
#include "bpf/report.bpf.h"

__u32 comet_insert_failed = 0;

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(comet_cgroup_mkdir, struct cgroup *cgroup, const char *path)
{
	struct cgroup_subsys_state *parent = cgroup->self.parent;
	struct comet_layers *inherited;
	__u64 id = cgroup->kn->id;

	if (!parent)
		return 0;
	inherited = comet_layers_of(parent->cgroup);
	if (!inherited)
		return 0;
	if (bpf_map_update_elem(&comet_layers, &id, inherited, BPF_ANY))
		comet_insert_failed = 1;
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(comet_cgroup_rmdir, struct cgroup *cgroup, const char *path)
{
	__u64 id = cgroup->kn->id;

	bpf_map_delete_elem(&comet_layers, &id);
	return 0;
}

SEC("lsm/task_alloc")
int BPF_PROG(comet_task_alloc, struct task_struct *task, unsigned long clone_flags, int ret)
{
	struct comet_layers *layers;

	if (ret)
		return ret;
	if (!(clone_flags & CLONE_INTO_CGROUP))
		return 0;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_refuse_value(layers, COMET_SURFACE_KERNEL, COMET_OP_CLONE_INTO_CGROUP, EPERM, 0);
	/* In audit mode too: a process that left would be out of sight. */
	return -EPERM;
}
