/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * May these layers do this to that object? The only place that says no for files and programs:
 * every layer must grant the request, the first that does not refuses and is named.
 */
#ifndef COMET_DECIDE_BPF_H
#define COMET_DECIDE_BPF_H

#include "bpf/kernel_fs.h"
#include "bpf/member.bpf.h"
#include "bpf/report.bpf.h"
#include "bpf/walk.bpf.h"

struct comet_request {
	__u64 dentry; /* kernel addresses as numbers, see comet_rights() */
	__u64 mount;  /* struct vfsmount, 0 when the hook does not know it */
	__u32 need;   /* COMET_FS_*: all of them */
	__u8 op;
	__u8 create; /* may make a name: refused alike whether the name exists or not */
	__u8 exec;   /* starting a program: reported on that surface */
	__u8 padding;
};

/* A struct path is {mnt, dentry} on every kernel; one read, as numbers. */
static __always_inline void comet_request_path(struct comet_request *request,
					       const struct path *path)
{
	struct {
		__u64 mount;
		__u64 dentry;
	} pair = {};

	bpf_core_read(&pair, sizeof(pair), path);
	request->mount = pair.mount;
	request->dentry = pair.dentry;
}

/* A typed pointer as the number that comet_rights() takes. */
static __always_inline __u64 comet_address_of(const void *pointer)
{
	__u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

/*
 * An object known by its dentry alone: most are granted by a directory on their own filesystem,
 * else one of its mounts in the caller's namespace must grant it.
 */
static __always_inline void comet_request_dentry(struct comet_layers *layers,
						 struct comet_request *request, __u64 dentry)
{
	__u32 policy = layers->policy[0];

	request->dentry = dentry;
	if ((comet_rights(dentry, 0, policy, request->need) & request->need) != request->need)
		request->mount = comet_find_mount(dentry, policy, request->need);
}

#define COMET_FS_ANY_WRITE (COMET_FS_WRITE | COMET_FS_CHANGE | COMET_FS_PLANT)

static __always_inline __u8 comet_file_surface(const struct comet_request *request, __u32 granted)
{
	if (request->exec)
		return COMET_SURFACE_EXEC;
	if (request->need & ~granted & COMET_FS_ANY_WRITE)
		return COMET_SURFACE_FS_WRITE;
	if ((request->need & ~granted & COMET_FS_DEVICE) && (request->need & COMET_FS_ANY_WRITE))
		return COMET_SURFACE_FS_WRITE;
	return COMET_SURFACE_FS_READ;
}

/*
 * An undeclared object looks as if it did not exist. Where reading is granted it is known to
 * exist, so changing or starting it says EACCES; creating says EACCES whether the name exists.
 */
static __always_inline int comet_file_errno(const struct comet_request *request, __u8 surface,
					    __u32 granted)
{
	if (request->create)
		return EACCES;
	if (surface != COMET_SURFACE_FS_READ && (granted & COMET_FS_READ))
		return EACCES;
	return ENOENT;
}

/* procfs: is this a file of a process that is held by at least the same layers? */
static __always_inline bool comet_is_own_proc(const struct comet_layers *own, struct inode *inode)
{
	struct proc_inode *entry = container_of(inode, struct proc_inode, vfs_inode);
	struct pid *pid = BPF_CORE_READ(entry, pid);
	struct hlist_node *first = pid ? BPF_CORE_READ(pid, tasks[0].first) : NULL;
	struct task_struct *task;
	__u64 id;

	if (!first)
		return false;
	task = container_of(first, struct task_struct, pid_links[0]);
	id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	return comet_held_alike(own, bpf_map_lookup_elem(&comet_layers, &id));
}

/*
 * What a change of `inode`, or of names in `dir`, needs beside the right to write there. On the
 * kernel's own filesystems it acts on the whole host, as a device node does, and so needs the entry
 * that names the file itself; but for the run's own processes, and the cgroups it made. On
 * cgroupfs a directory's inode number is the cgroup's id.
 */
static __always_inline __u32 comet_acting(const struct comet_layers *own, struct dentry *dir,
					  struct inode *inode)
{
	unsigned long magic = dir->d_sb->s_magic;
	bool inside = false;

	if (!comet_is_kernel_fs(magic))
		return 0;
	if (magic == CGROUP2_SUPER_MAGIC) {
		__u64 id = dir->d_inode->i_ino;

		inside = comet_held_alike(own, bpf_map_lookup_elem(&comet_layers, &id));
	} else if (magic == PROC_SUPER_MAGIC && inode) {
		inside = comet_is_own_proc(own, inode);
	}
	return inside ? 0 : COMET_FS_DEVICE;
}

#define COMET_NEAR_STEPS 12

/*
 * The common answer, cheaply: a directory not far up, on the same mount, grants all that is needed
 * to the one layer there is. Typed pointers, read directly; false says nothing, comet_rights()
 * is then asked.
 */
static __always_inline bool comet_near_grants(const struct comet_layers *layers,
					      struct vfsmount *mount, struct dentry *dentry,
					      __u32 need)
{
	struct comet_object_key key = { .policy = layers->policy[0] };
	struct dentry *root = mount->mnt_root;
	__u32 granted = 0;
	int i;

	if (layers->n != 1)
		return false;
	for (i = 0; i < COMET_NEAR_STEPS; i++) {
		struct inode *inode = dentry->d_inode;
		struct dentry *parent = dentry->d_parent;
		struct comet_object *rule;

		key.inode = (__u64)inode;
		rule = bpf_map_lookup_elem(&comet_objects, &key);
		if (rule && inode && rule->ino == inode->i_ino &&
		    rule->generation == inode->i_generation && rule->dev == inode->i_sb->s_dev) {
			granted |= rule->subtree;
			if (i == 0)
				granted |= rule->self;
			if (granted & COMET_FS_SELFTEST)
				return false;
			if ((granted & need) == need)
				return true;
		}
		if (dentry == root || dentry == parent)
			return false;
		dentry = parent;
	}
	return false;
}

/*
 * What tells this name from others in whatever directory. Not the dentry: that of a name which may
 * not be made is a new one for each try. Among 100,000 names some share a hash of 32 bits, but not
 * their ends as well.
 */
static __always_inline void comet_name_object(__u64 object[2], struct dentry *dentry)
{
	__u64 hash_len = BPF_CORE_READ(dentry, d_name.hash_len);
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	__u32 len = hash_len >> 32;
	__u64 end = 0;

	bpf_probe_read_kernel(&end, sizeof(end), len > sizeof(end) ? name + len - 8 : name);
	if (len < sizeof(end)) /* what lies behind the name is another one's */
		end <<= 8 * (sizeof(end) - len) & 63;
	object[0] = (__u64)BPF_CORE_READ(dentry, d_parent) ^ end;
	object[1] = hash_len;
}

/* Tells one layer's refusal; returns the negative errno for the caller, 0 in audit mode. */
static __noinline int comet_refuse_file(struct comet_request *request, __u32 policy, __u32 layer,
					__u32 granted)
{
	struct dentry *dentry = (struct dentry *)request->dentry;
	struct comet_refusal refusal = {
		.policy = policy,
		.layer = layer,
		.surface = comet_file_surface(request, granted),
		.op = request->op,
		.severity = COMET_SEVERITY_VIOLATION,
	};
	int result;

	comet_name_object(refusal.object, dentry);
	refusal.error = comet_file_errno(request, refusal.surface, granted);
	if (refusal.surface == COMET_SURFACE_FS_READ &&
	    (granted & COMET_FS_MARKS) == COMET_FS_QUIET)
		refusal.severity = COMET_SEVERITY_INFO;
	result = comet_treat(&refusal);
	comet_tell_path(&refusal, request->mount, request->dentry);
	return result;
}

/* The canary: its open fails as an undeclared file's, its execve only in bprm_check_security. */
static __always_inline int comet_selftest_file(const struct comet_request *request)
{
	if (!request->exec)
		return -ENOENT;
	return request->need & COMET_FS_EXEC ? -EACCES : 0;
}

/*
 * Refuses what no manifest can grant on this object. always: in audit mode too, where the process
 * would be out of sight afterwards.
 */
static __noinline int comet_forbid(struct comet_layers *layers, struct comet_request *request,
				   __u8 op, int error, bool always)
{
	struct comet_refusal refusal = {
		.object = { request->dentry },
		.policy = comet_layer_policy(layers, 0),
		.error = error,
		.surface = COMET_SURFACE_KERNEL,
		.op = op,
		.severity = COMET_SEVERITY_VIOLATION,
	};
	int result = comet_treat(&refusal);

	if (always) {
		refusal.flags &= ~COMET_EVENT_AUDIT;
		result = -error;
	}
	comet_tell_path(&refusal, request->mount, request->dentry);
	return comet_verdict(result);
}

/* 0, or the negative errno for the caller. */
static __noinline int comet_decide_file(struct comet_layers *layers, struct comet_request *request)
{
	__u32 layer;

	if (!layers->n)
		return -EPERM;
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 policy = layers->policy[layer];
		__u32 granted;
		int result;

		if (layer >= layers->n)
			break;
		granted = comet_rights(request->dentry, request->mount, policy, request->need);
		if (granted & COMET_FS_SELFTEST)
			return comet_selftest_file(request);
		if ((granted & request->need) == request->need)
			continue;
		/* What no path names is free to read and write, but never to start. */
		if ((granted & COMET_FS_NO_PATH) && !(request->need & COMET_FS_EXEC))
			continue;
		result = comet_refuse_file(request, policy, layer, granted);
		if (result)
			return result;
	}
	return 0;
}

/*
 * A name that moves or is linked gets the rights of its new place, so for each layer both places
 * must grant the change, and the old one whatever reading the new one grants.
 */
static __noinline int comet_decide_move(struct comet_layers *layers, struct comet_request *from,
					struct comet_request *to)
{
	__u32 layer;

	if (!layers->n)
		return -EPERM;
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 policy = layers->policy[layer];
		struct comet_request *at_fault = to;
		__u32 granted;
		int result;

		if (layer >= layers->n)
			break;
		granted = comet_rights(to->dentry, to->mount, policy, COMET_FS_READ | to->need);
		if ((granted & to->need) == to->need) {
			/*
			 * link(2), unlike rename(2), lets others rename directories above the new
			 * place during the walk, which then may end where it never was.
			 */
			from->need = COMET_FS_CHANGE | (granted & COMET_FS_READ);
			if (from->op == COMET_OP_LINK)
				from->need |= COMET_FS_READ;
			granted = comet_rights(from->dentry, from->mount, policy, from->need);
			if ((granted & from->need) == from->need)
				continue;
			at_fault = from;
		}
		result = comet_refuse_file(at_fault, policy, layer, granted);
		if (result)
			return result;
	}
	return 0;
}

#endif /* COMET_DECIDE_BPF_H */
