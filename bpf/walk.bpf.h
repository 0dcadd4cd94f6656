/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What does a policy grant on a filesystem object? The question, and the step that every walk
 * from an object to the root of its mount namespace takes; walk.bpf.c answers.
 */
#ifndef COMET_WALK_BPF_H
#define COMET_WALK_BPF_H

#include "bpf/member.bpf.h"

#define COMET_FS_MARKS (COMET_FS_QUIET | COMET_FS_CANARY)

/* In the answer of comet_rights(), beside COMET_FS_*: the object is none that a path could name. */
#define COMET_FS_NO_PATH (1U << 31)

/*
 * Rights of the policy on (mount, dentry), kernel addresses as numbers; mount 0: unknown, no mount
 * is crossed. Stops early once all of `need` is found, so the marks are complete only for what is
 * about to be refused. A function of its own for the verifier: checked once, not once per caller.
 */
__u32 comet_rights(__u64 dentry, __u64 mount, __u32 policy, __u32 need);

/*
 * For hooks that know an object but not the mount: of the mounts of its filesystem in the caller's
 * mount namespace one through which the policy grants need; else one of them, for the event's
 * path; 0: none. Where one of several ways to an object is granted, the object is.
 */
__u64 comet_find_mount(__u64 dentry, __u32 policy, __u32 need);

/*
 * Kinds of filesystems whose kernel-private mounts are free: pipes, sockets, memory files and the
 * like, and those that overlayfs may have for layers. On 7.2 mqueue and nsfs look the same.
 */
static __always_inline bool comet_private_magic(unsigned long magic)
{
	switch (magic) {
	case ANON_INODE_FS_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case EROFS_SUPER_MAGIC_V1:
	case EXT4_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case FUSE_SUPER_MAGIC:
	case HUGETLBFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case PID_FS_MAGIC:
	case PIPEFS_MAGIC:
	case SECRETMEM_MAGIC:
	case SOCKFS_MAGIC:
	case SQUASHFS_MAGIC:
	case TMPFS_MAGIC:
	case XFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* POSIX message queues, where they are those of the run's own IPC namespace. */
static __always_inline bool comet_is_own_queue(struct super_block *sb)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(sb, s_magic) == MQUEUE_MAGIC && comet_own_ipc() &&
	       BPF_CORE_READ(sb, s_fs_info) == (void *)BPF_CORE_READ(task, nsproxy, ipc_ns);
}

#define COMET_WALK_STEPS 4096 /* more than PATH_MAX / 2 components; past it: refused */

/*
 * Kernel addresses as numbers: a callback of bpf_loop may not keep typed pointers, and a mount is
 * found by container_of, which the verifier refuses for them (6.1 to 7.2).
 */
struct comet_walk {
	__u64 dentry; /* where the walk stands; 0: beyond the root, finished */
	__u64 parent; /* of dentry, as are inode, name and len */
	__u64 inode;  /* 0: the name does not exist yet */
	__u64 name;
	__u64 child;      /* dentry of the step before; 0: the object itself, or a mount's root */
	__u64 mount;      /* struct vfsmount; 0: unknown, do not cross */
	__u64 mount_root; /* its mnt_root */
	__u64 object;     /* inode asked about; what a program's rule must also match */
	__u32 len;
	__u32 policy;
	__u32 depth;   /* directories entered so far: rights on the object alone hold at 0 */
	__u32 need;    /* the walk ends once all of these rights are found */
	__u32 granted; /* rights found, and the nearest mark */
	__u32 padding;
};

/* Puts a walk, zeroed, on (mount, dentry). */
int comet_walk_start(struct comet_walk *walk, __u64 mount, __u64 dentry);

/*
 * One step up: within a mount by d_parent, at its root to the place where it is mounted. 0: the
 * walk stands at the end already. A function of its own for the verifier, which checks the body of
 * each loop for every state that it can be in.
 */
int comet_walk_up(struct comet_walk *walk);

/* Asks for rights where the walk stands and takes one step up. 1: the walk is over. */
int comet_walk_one(struct comet_walk *walk);

#endif /* COMET_WALK_BPF_H */
