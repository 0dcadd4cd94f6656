// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What does a policy grant on a filesystem object? Walks from the object to the root of its mount
 * namespace, across mounts, and asks at each step for rules on that very inode, or on that name in
 * that directory. Text from the caller's memory takes no part, so chroot, mounts in another
 * namespace, dot segments and symbolic links change nothing.
 */
#include "bpf/walk.bpf.h"

static __always_inline __u32 comet_add_rights(__u32 granted, __u32 more)
{
	if (granted & COMET_FS_MARKS)
		more &= ~COMET_FS_MARKS;
	return granted | more;
}

/* The rule on a child by its name in a directory; see struct comet_name for long names. */
static __noinline struct comet_name *comet_name_rule(__u64 dir, __u32 policy, const char *name,
						     __u32 len)
{
	struct comet_name *rule;
	int i;

	for (i = 0; i < COMET_NAME_CHUNKS; i++) {
		struct comet_name_key key = { .dir = dir, .policy = policy, .len = len };
		__u32 part = len < COMET_NAME_CHUNK ? len : COMET_NAME_CHUNK;

		/* clang 14 forgets the bound it just set. */
		asm volatile("%0 &= 63" : "+r"(part));
		if (part > COMET_NAME_CHUNK || bpf_probe_read_kernel(key.name, part, name))
			return NULL;
		rule = bpf_map_lookup_elem(&comet_names, &key);
		if (!rule || len <= COMET_NAME_CHUNK)
			return rule;
		dir = rule->next;
		name += COMET_NAME_CHUNK;
		len -= COMET_NAME_CHUNK;
	}
	return NULL;
}

/* struct dentry from d_parent to d_inode, as all kernels so far have it. */
struct comet_dentry_block {
	__u64 parent;
	__u32 hash;
	__u32 len;
	__u64 name;
	__u64 inode;
};

static __always_inline void comet_read_dentry(struct comet_dentry_block *block,
					      struct dentry *dentry)
{
	/* One read for four fields where they lie together: known, and so decided, at load. */
	if (bpf_core_field_offset(struct dentry, d_inode) -
			    bpf_core_field_offset(struct dentry, d_parent) ==
		    24 &&
	    bpf_core_field_offset(struct dentry, d_name) -
			    bpf_core_field_offset(struct dentry, d_parent) ==
		    8) {
		bpf_probe_read_kernel(block, sizeof(*block),
				      (void *)dentry +
					      bpf_core_field_offset(struct dentry, d_parent));
		return;
	}
	block->parent = (__u64)BPF_CORE_READ(dentry, d_parent);
	block->len = BPF_CORE_READ(dentry, d_name.len);
	block->name = (__u64)BPF_CORE_READ(dentry, d_name.name);
	block->inode = (__u64)BPF_CORE_READ(dentry, d_inode);
}

/* procfs of the run: the entries whose names are numbers are its own processes, no one else's. */
static __always_inline __u32 comet_proc_rights(const struct comet_walk *walk)
{
	struct dentry *child = (struct dentry *)walk->child;
	const void *name = BPF_CORE_READ(child, d_name.name);
	char first = 0;

	bpf_probe_read_kernel(&first, 1, name);
	return first >= '0' && first <= '9' ? COMET_FS_READ | COMET_FS_STAT : 0;
}

#define COMET_NAME_TRIES (1U << 20) /* tens of milliseconds */

/* Which rule is there on a child's name? Small: 6.1 allows 512 bytes for all frames of a chain. */
struct comet_naming {
	__u64 child;  /* dentry; in the answer struct comet_name's inode */
	__u64 parent; /* dentry */
	__u64 dir;    /* its inode */
	__u32 policy;
	__u32 named; /* the answer: struct comet_name's subtree, and self << COMET_NAMED_SELF */
};

#define COMET_NAMED_SELF 16 /* COMET_FS_* of rules are below */

/* 1: answered. */
static __noinline long comet_try_name(__u32 index, struct comet_naming *naming)
{
	struct dentry *child = (struct dentry *)naming->child;
	__u32 sequence = BPF_CORE_READ(child, d_seq.seqcount.sequence);
	struct comet_dentry_block now = {};
	struct comet_name *rule = NULL;

	if (sequence & 1)
		return 0;
	comet_read_dentry(&now, child);
	if (now.parent == naming->parent)
		rule = comet_name_rule(naming->dir, naming->policy, (const char *)now.name,
				       now.len);
	if (BPF_CORE_READ(child, d_seq.seqcount.sequence) != sequence)
		return 0;
	naming->child = rule ? rule->inode : 0;
	if (rule)
		naming->named = rule->subtree | rule->self << COMET_NAMED_SELF;
	return 1;
}

/*
 * Rights on the child by its name. rename(2) writes names while others read them: half an old name
 * and half a new one could spell a declared one. d_seq tells (odd while being written, another
 * number afterwards). The writer holds spin locks on another CPU, so it is soon done, unless a
 * hypervisor takes that CPU away: the kernel itself would wait without bound; a name that does not
 * hold still has no rule.
 */
static __always_inline __u32 comet_name_rights(const struct comet_walk *walk)
{
	struct comet_naming naming = {
		.child = walk->child,
		.parent = walk->dentry,
		.dir = walk->inode,
		.policy = walk->policy,
	};
	__u32 rights;

	if (!comet_try_name(0, &naming))
		bpf_loop(COMET_NAME_TRIES, comet_try_name, &naming, 0);
	rights = naming.named;
	if (walk->depth == 1)
		rights = (rights | rights >> COMET_NAMED_SELF) & ~COMET_FS_PLANT;
	/* A program's rule holds for the inode it was made for alone. */
	if (naming.child && naming.child != walk->object)
		rights &= ~COMET_FS_EXEC;
	return rights & ((1U << COMET_NAMED_SELF) - 1);
}

/* What the rules on one inode on the way give to the object. */
static __always_inline __u32 comet_step_rights(const struct comet_walk *walk)
{
	struct comet_object_key key = { .inode = walk->inode, .policy = walk->policy };
	struct comet_object *rule = bpf_map_lookup_elem(&comet_objects, &key);
	struct inode *found = (struct inode *)key.inode;
	__u32 rights;

	if (!rule)
		return 0;
	/* The address may outlive its inode when every comet process was killed: compare. */
	if (BPF_CORE_READ(found, i_ino) != rule->ino ||
	    BPF_CORE_READ(found, i_generation) != rule->generation ||
	    BPF_CORE_READ(found, i_sb, s_dev) != rule->dev)
		return 0;
	rights = rule->subtree;
	if (walk->depth == 0)
		rights |= rule->self;
	if (!walk->child)
		return rights;
	if (rule->flags & COMET_OBJECT_NAMES)
		rights = comet_add_rights(comet_name_rights(walk), rights);
	if (rule->flags & COMET_OBJECT_PROC)
		rights |= comet_proc_rights(walk);
	return rights;
}

static __always_inline void comet_walk_look(struct comet_walk *walk)
{
	struct comet_dentry_block block = {};

	comet_read_dentry(&block, (struct dentry *)walk->dentry);
	walk->parent = block.parent;
	walk->inode = block.inode;
	walk->name = block.name;
	walk->len = block.len;
}

static __always_inline void comet_walk_mount(struct comet_walk *walk, __u64 mount)
{
	struct vfsmount *vfsmount = (struct vfsmount *)mount;

	walk->mount = mount;
	walk->mount_root = mount ? (__u64)BPF_CORE_READ(vfsmount, mnt_root) : 0;
}

int comet_walk_start(struct comet_walk *walk, __u64 mount, __u64 dentry)
{
	if (!walk)
		return 0;
	walk->dentry = dentry;
	comet_walk_mount(walk, mount);
	comet_walk_look(walk);
	walk->object = walk->inode;
	return 0;
}

int comet_walk_up(struct comet_walk *walk)
{
	struct mount *here, *above;

	if (!walk)
		return 0;
	if (walk->dentry != walk->mount_root) {
		if (walk->parent == walk->dentry)
			return 0;
		walk->child = walk->dentry;
		walk->dentry = walk->parent;
		walk->depth++;
		comet_walk_look(walk);
		return 1;
	}
	here = container_of((struct vfsmount *)walk->mount, struct mount, mnt);
	above = BPF_CORE_READ(here, mnt_parent);
	if (above == here)
		return 0;
	/* The mountpoint stands for the root that covers it: no directory was entered. */
	walk->child = 0;
	walk->dentry = (__u64)BPF_CORE_READ(here, mnt_mountpoint);
	comet_walk_mount(walk, (__u64)above + bpf_core_field_offset(struct mount, mnt));
	comet_walk_look(walk);
	return 1;
}

/* 1: the walk is over. */
int comet_walk_one(struct comet_walk *walk)
{
	if (!walk)
		return 1;
	/* Rules on a name that does not exist yet are its directory's, the next step. */
	if (walk->inode)
		walk->granted = comet_add_rights(walk->granted, comet_step_rights(walk));
	if ((walk->granted & walk->need) == walk->need)
		return 1;
	if (!comet_walk_up(walk)) {
		walk->dentry = 0;
		return 1;
	}
	return 0;
}

static long comet_walk_step(__u32 index, struct comet_walk *walk)
{
	return comet_walk_one(walk) ? 1 : 0;
}

/*
 * Pipes, sockets, memfd and the like stand on mounts that no namespace holds; so do the layers'
 * files that overlayfs opens in the caller's name after the overlay's own file was judged. The
 * kernel makes these mounts, a user cannot.
 */
static __noinline bool comet_private_mount(struct comet_walk *walk, struct super_block *sb)
{
	struct mount *mount = container_of((struct vfsmount *)walk->mount, struct mount, mnt);

	return walk->mount && IS_ERR_VALUE(BPF_CORE_READ(mount, mnt_ns)) &&
	       (comet_private_magic(BPF_CORE_READ(sb, s_magic)) || comet_is_own_queue(sb));
}

__u32 comet_rights(__u64 dentry, __u64 mount, __u32 policy, __u32 need)
{
	struct dentry *object = (struct dentry *)dentry;
	struct comet_walk walk = { .policy = policy, .need = need };

	comet_walk_start(&walk, mount, dentry);
	bpf_loop(COMET_WALK_STEPS, comet_walk_step, &walk, 0);
	if ((walk.granted & need) == need)
		return walk.granted;
	if (walk.dentry)
		return 0; /* past the walk's bound nothing is granted */
	if (comet_private_mount(&walk, BPF_CORE_READ(object, d_sb)))
		walk.granted |= COMET_FS_NO_PATH;
	return walk.granted;
}

#define COMET_MOUNTS_MAX 256

/* Since 6.18 the mounts of a superblock are chained by pointers of their own. */
struct super_block___chain {
	struct mount *s_mounts;
} __attribute__((preserve_access_index));

struct mount___chain {
	struct mount *mnt_next_for_sb;
} __attribute__((preserve_access_index));

struct comet_mounts {
	__u64 at;  /* struct mount; 0: the end */
	__u64 end; /* where a list that is a ring ends */
	__u64 ns;
	__u64 dentry;
	__u64 found;
	__u32 policy;
	__u32 need;
};

static __always_inline __u64 comet_first_mount(struct super_block *sb, __u64 *end)
{
	struct super_block___chain *chain = (void *)sb;
	struct mount *mount;

	*end = 0;
	if (bpf_core_field_exists(struct mount___chain, mnt_next_for_sb))
		return (__u64)BPF_CORE_READ(chain, s_mounts);
	mount = container_of(BPF_CORE_READ(sb, s_mounts.next), struct mount, mnt_instance);
	*end = (__u64)container_of((void *)sb + bpf_core_field_offset(struct super_block, s_mounts),
				   struct mount, mnt_instance);
	return (__u64)mount;
}

static __always_inline __u64 comet_next_mount(__u64 at)
{
	struct mount___chain *chain = (void *)at;
	struct mount *mount = (void *)at;

	if (bpf_core_field_exists(struct mount___chain, mnt_next_for_sb))
		return (__u64)BPF_CORE_READ(chain, mnt_next_for_sb);
	return (__u64)container_of(BPF_CORE_READ(mount, mnt_instance.next), struct mount,
				   mnt_instance);
}

static long comet_try_mount(__u32 index, struct comet_mounts *mounts)
{
	struct mount *mount = (struct mount *)mounts->at;
	__u64 vfsmount;

	if (!mounts->at || mounts->at == mounts->end)
		return 1;
	vfsmount = mounts->at + bpf_core_field_offset(struct mount, mnt);
	mounts->at = comet_next_mount(mounts->at);
	if ((__u64)BPF_CORE_READ(mount, mnt_ns) != mounts->ns)
		return 0;
	mounts->found = vfsmount;
	return (comet_rights(mounts->dentry, vfsmount, mounts->policy, mounts->need) &
		mounts->need) == mounts->need;
}

__u64 comet_find_mount(__u64 dentry, __u32 policy, __u32 need)
{
	struct dentry *object = (struct dentry *)dentry;
	struct task_struct *task = bpf_get_current_task_btf();
	struct comet_mounts mounts = {
		.ns = (__u64)BPF_CORE_READ(task, nsproxy, mnt_ns),
		.dentry = dentry,
		.policy = policy,
		.need = need,
	};

	mounts.at = comet_first_mount(BPF_CORE_READ(object, d_sb), &mounts.end);
	bpf_loop(COMET_MOUNTS_MAX, comet_try_mount, &mounts, 0);
	return mounts.found;
}
