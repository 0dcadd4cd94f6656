/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What do the kernel side and the user side agree on? Keys, values, flags and the event record;
 * nothing else crosses the border. Fixed-width types, explicit padding, layout asserts below.
 */
#ifndef COMET_WIRE_H
#define COMET_WIRE_H

#ifndef __bpf__
#include <linux/types.h>
#include <stddef.h>
#endif

/* Grows with every change of a layout below; maps of another version are never adopted. */
#define COMET_WIRE_VERSION 2

#define COMET_LAYERS_MAX 4           /* nested policies over one process */
#define COMET_POLICIES_MAX 4096      /* policies in force on one host */
#define COMET_RULES_MAX 100000       /* rules of all policies together, per kind */
#define COMET_POLICY_RULES_MAX 20000 /* rules of one policy */
#define COMET_PATH_MAX 4096          /* bytes, with the terminating NUL */
#define COMET_NAME_MAX 255           /* bytes of one path component */
#define COMET_COMM_LEN 16
#define COMET_UNIX_PATH_MAX 108
#define COMET_RING_BYTES (1U << 20) /* one policy's ring buffer; a power of two of pages */
#define COMET_FOLD_NS 1000000000ULL /* equal refusals within this time become one event */

/* The kind of access; the words of the manual and of the events. */
enum comet_surface {
	COMET_SURFACE_EGRESS,
	COMET_SURFACE_DNS,
	COMET_SURFACE_FS_READ,
	COMET_SURFACE_FS_WRITE,
	COMET_SURFACE_EXEC,
	COMET_SURFACE_IPC,
	COMET_SURFACE_SERVE,
	COMET_SURFACE_TIME,
	COMET_SURFACE_KERNEL,
	_COMET_SURFACE_MAX,
};

/* What the process tried: one value per road that a hook can tell apart. */
enum comet_op {
	COMET_OP_OPEN,
	COMET_OP_CREATE,
	COMET_OP_TRUNCATE,
	COMET_OP_STAT,
	COMET_OP_READLINK,
	COMET_OP_MKDIR,
	COMET_OP_MKNOD,
	COMET_OP_SYMLINK,
	COMET_OP_LINK,
	COMET_OP_UNLINK,
	COMET_OP_RMDIR,
	COMET_OP_RENAME,
	COMET_OP_CHMOD,
	COMET_OP_CHOWN,
	COMET_OP_EXEC,
	COMET_OP_CONNECT,
	COMET_OP_SEND,
	COMET_OP_SOCKET,
	COMET_OP_CLONE_INTO_CGROUP,
	COMET_OP_CGROUP_MOVE,
	COMET_OP_MOUNT,
	COMET_OP_UMOUNT,
	COMET_OP_PIVOT_ROOT,
	COMET_OP_USERNS,
	COMET_OP_SETTIME,
	COMET_OP_BPF,
	COMET_OP_PTRACE,
	COMET_OP_SIGNAL,
	COMET_OP_UTIMES,
	COMET_OP_SETXATTR,
	COMET_OP_GETXATTR,
	COMET_OP_IOCTL,
	COMET_OP_NOTIFY,
	COMET_OP_RECEIVE,
	COMET_OP_SETID,
	COMET_OP_LISTEN,
	COMET_OP_BIND,
	COMET_OP_SCHEDULE,
	COMET_OP_RLIMIT,
	COMET_OP_CAPABILITY,
	COMET_OP_PERF,
	COMET_OP_KEY,
	COMET_OP_SYSLOG,
	COMET_OP_IO_URING,
	COMET_OP_SYSV_IPC,
	COMET_OP_LOCK,
	COMET_OP_SETSOCKOPT,
	_COMET_OP_MAX,
};

/* Rights on a filesystem object, and marks that a refusal looks at. */
#define COMET_FS_READ (1U << 0)     /* open for reading, list, stat, readlink */
#define COMET_FS_WRITE (1U << 1)    /* open for writing, truncate */
#define COMET_FS_EXEC (1U << 2)     /* start as a program */
#define COMET_FS_STAT (1U << 3)     /* stat and readlink only: directories on the way to a grant */
#define COMET_FS_QUIET (1U << 4)    /* a refused read here is an ordinary probe, not a violation */
#define COMET_FS_CANARY (1U << 5)   /* a refusal here is always a violation; overrides QUIET */
#define COMET_FS_SELFTEST (1U << 6) /* refused whatever the grants say, not told, not counted */
/* Make, delete, rename, link, chmod, chown: a device that may be written to is not to be deleted.
 */
#define COMET_FS_CHANGE (1U << 7)
/*
 * Put a symbolic link there: not on a name that is itself declared, or the next run's policy would
 * be led elsewhere by it.
 */
#define COMET_FS_PLANT (1U << 8)
#define COMET_FS_DEVICE                                                                            \
	(1U << 9) /* open a device node: only for rules that name the node itself                  \
		   */

/* comet_layers: which policies hold the tasks of one cgroup. Key: cgroup id (kernfs node id). */
struct comet_layers {
	__u32 n;                        /* layers in use, 1..COMET_LAYERS_MAX */
	__u32 policy[COMET_LAYERS_MAX]; /* outermost first */
	__u32 padding;
};

/* comet_policies: how refusals of one policy are treated. Key: policy id (never reused). */
#define COMET_POLICY_AUDIT (1U << 0) /* nothing refused, everything recorded as "would deny" */
#define COMET_POLICY_KILL (1U << 1)  /* a violation kills the process that made it */
struct comet_policy_state {
	__u32 flags;
	__u32 owner_pid;   /* host pid of the comet process that added the policy */
	__u64 owner_start; /* its start time in clock ticks since boot: tells a reused pid */
	__u64 cgroup;      /* cgroup id that the policy was bound to */
};

/*
 * comet_objects: what a policy grants on an inode. The inode's address is its identity: exact on
 * overlayfs and btrfs, where (device, number) is not. It stays valid because the loader holds an
 * O_PATH descriptor on each such object; dev, ino and generation are compared on a hit, so that an
 * address that was reused after the loader's death grants nothing.
 */
struct comet_object_key {
	__u64 inode;
	__u32 policy;
	__u32 padding;
};

#define COMET_OBJECT_NAMES (1U << 0) /* some names in this directory have rules of their own */
#define COMET_OBJECT_PROC (1U << 1)  /* root of the run's own procfs: N/ below it is readable */
struct comet_object {
	__u32 subtree; /* COMET_FS_*: the object and everything below it */
	__u32 self;    /* COMET_FS_*: the object alone */
	__u32 flags;   /* COMET_OBJECT_* */
	__u32 dev;     /* super_block.s_dev */
	__u64 ino;
	__u32 generation;
	__u32 rule; /* index of the policy's path rule, for tools */
};

/* What the comet_dump_objects iterator writes for each descriptor of the loader. */
struct comet_identity {
	__u64 inode;
	__u64 ino;
	__u32 generation;
	__u32 dev;
	__u32 fd;
	__u32 padding;
};

/*
 * comet_names: what a policy grants on one exact name in a directory, existing or not: so a rule
 * survives replace-by-rename. A name longer than one chunk is a chain of entries: each but the
 * last says in `next` what stands in place of `dir` in the key of the following chunk (a number
 * that is no kernel address). inode, where not 0, must also be the object's for COMET_FS_EXEC.
 */
#define COMET_NAME_CHUNK 40
#define COMET_NAME_CHUNKS 7 /* 7 * 40 > COMET_NAME_MAX */
struct comet_name_key {
	__u64 dir; /* inode address of the directory, or the number from the chunk before */
	__u32 policy;
	__u32 len;                   /* bytes of the name from this chunk on */
	char name[COMET_NAME_CHUNK]; /* zero-padded */
};

struct comet_name {
	__u32 subtree;
	__u32 self;
	__u64 inode;
	__u64 next; /* 0: the name ends here */
	__u32 rule;
	__u32 padding;
};

/*
 * comet_nets: longest-prefix match; policy, use, transport and port always take part in full, so
 * prefixlen is COMET_NET_FIXED_BITS plus the bits of the address. IPv4 stands as ::ffff:a.b.c.d.
 * A rule to serve is on a port whatever the local address is: it has no bits of an address.
 */
#define COMET_NET_FIXED_BITS 64
#define COMET_NET_EGRESS 0
#define COMET_NET_SERVE 1
struct comet_net_key {
	__u32 prefixlen;
	__u32 policy;
	__u8 transport; /* IPPROTO_TCP or IPPROTO_UDP */
	__u8 use;       /* COMET_NET_EGRESS or COMET_NET_SERVE */
	__u16 port;     /* host byte order; 0 in a rule: every port */
	__u8 addr[16];
};

enum comet_net_verdict {
	COMET_NET_ALLOW = 1,
	COMET_NET_DENY = 2,     /* special range under a wildcard */
	COMET_NET_SELFTEST = 3, /* refused, not reported, not counted */
};

struct comet_net {
	__u32 verdict;
	__u32 rule; /* index of the policy's net rule, for tools */
};

/* comet_counters: per policy, exact, independent of the ring buffer. */
struct comet_counters {
	__u64 denied;     /* refusals, violations and probes alike (audit: would-be refusals) */
	__u64 violations; /* of these, the ones that make the run exit 3 */
	__u64 delivered;  /* events put into the ring buffer */
	__u64 folded;     /* refusals told only by a later event's count */
	__u64 lost;       /* ring buffer full: refused all the same */
	__u64 dropped;    /* packets that the filter on the cgroup dropped; TCP's are no refusals */
};

/*
 * comet_instance: what belongs to one loaded set, by kernel id, written last by the process that
 * loaded it. A later comet process opens each by id; one that is gone means: load afresh.
 */
#define COMET_INSTANCE_LINKS 128
#define COMET_INSTANCE_MAPS 16
struct comet_instance {
	__u32 version; /* COMET_WIRE_VERSION; 0 = not complete */
	__u32 n_links;
	__u32 n_maps;
	__u32 next_policy;    /* ids are given once */
	__u32 dump_program;   /* the iterator that tells identities */
	__u32 packet_program; /* attached to each run's own cgroup */
	char build[64]; /* SHA-256 of the BPF object, hex: another build's set is not adopted */
	__u32 links[COMET_INSTANCE_LINKS];
	__u32 maps[COMET_INSTANCE_MAPS]; /* in the order of enum comet_map */
};

enum comet_map {
	COMET_MAP_LAYERS,
	COMET_MAP_OBJECTS,
	COMET_MAP_NAMES,
	COMET_MAP_NETS,
	COMET_MAP_POLICIES,
	COMET_MAP_COUNTERS,
	COMET_MAP_RINGS,
	COMET_MAP_INSTANCE,
	_COMET_MAP_MAX,
};

/* Events. Header, then a tail of the kind in `tail`. */
enum comet_tail {
	COMET_TAIL_NONE,
	COMET_TAIL_PATH, /* path components leaf first, each NUL-terminated; no leading slash */
	COMET_TAIL_ADDR,
	COMET_TAIL_VALUE,
};

enum comet_severity {
	COMET_SEVERITY_INFO, /* a refused probe of the quiet set */
	COMET_SEVERITY_VIOLATION,
};

#define COMET_EVENT_AUDIT (1U << 0)     /* would have been refused */
#define COMET_EVENT_TRUNCATED (1U << 1) /* the path is longer; its root end is missing */
#define COMET_EVENT_KILLED (1U << 2)    /* the process was killed for it */

struct comet_event {
	__u32 version; /* COMET_WIRE_VERSION */
	__u32 policy;
	__u64 sequence; /* per policy, from 1, counts every refusal: gaps are folds and losses */
	__u64 time;     /* CLOCK_BOOTTIME, nanoseconds */
	__u64 cgroup;
	__u64 count; /* refusals that this event stands for: itself plus folded equal ones */
	__u32 pid;   /* process (thread group), host pid namespace */
	__u32 tid;
	__u32 ppid;
	__u32 uid;     /* host user namespace */
	__s32 error;   /* errno returned, positive */
	__u32 flags;   /* COMET_EVENT_* */
	__u8 layer;    /* index of the layer that refused, 0 outermost */
	__u8 surface;  /* enum comet_surface */
	__u8 op;       /* enum comet_op */
	__u8 severity; /* enum comet_severity */
	__u8 tail;     /* enum comet_tail */
	__u8 padding;
	__u16 tail_len; /* bytes of tail in use */
	char comm[COMET_COMM_LEN];
};

/* COMET_TAIL_ADDR */
struct comet_addr {
	__u16 family;   /* AF_INET, AF_INET6, AF_UNIX; else only family and type count */
	__u16 type;     /* SOCK_STREAM, ... */
	__u16 protocol; /* IPPROTO_*; IPPROTO_MPTCP is 262 */
	__u16 port;     /* host byte order */
	__u8 addr[16];  /* IPv4 in the first four bytes */
	__u32 scope_id;
	__u32 path_len; /* AF_UNIX: bytes of path; an abstract name starts with NUL */
	char path[COMET_UNIX_PATH_MAX];
	__u32 padding;
};

/* Two record sizes, so that short paths do not eat the ring buffer. */
#define COMET_TAIL_SMALL 512
#define COMET_TAIL_LARGE (COMET_PATH_MAX + COMET_NAME_MAX + 1)

struct comet_event_small {
	struct comet_event head;
	char tail[COMET_TAIL_SMALL];
};

struct comet_event_large {
	struct comet_event head;
	char tail[COMET_TAIL_LARGE];
};

_Static_assert(sizeof(struct comet_layers) == 24, "comet_layers layout");
_Static_assert(sizeof(struct comet_policy_state) == 24, "comet_policy_state layout");
_Static_assert(sizeof(struct comet_object_key) == 16, "comet_object_key layout");
_Static_assert(sizeof(struct comet_object) == 32, "comet_object layout");
_Static_assert(sizeof(struct comet_identity) == 32, "comet_identity layout");
_Static_assert(sizeof(struct comet_name_key) == 56, "comet_name_key layout");
_Static_assert(sizeof(struct comet_name) == 32, "comet_name layout");
_Static_assert(sizeof(struct comet_net_key) == 28, "comet_net_key layout");
_Static_assert(sizeof(struct comet_instance) == 664, "comet_instance layout");
_Static_assert((int)_COMET_MAP_MAX <= COMET_INSTANCE_MAPS, "comet_instance has room for the maps");
_Static_assert(sizeof(struct comet_event) == 88, "comet_event layout");
_Static_assert(sizeof(struct comet_addr) == 144, "comet_addr layout");
_Static_assert(COMET_TAIL_SMALL >= sizeof(struct comet_addr), "an address fits a small record");

#endif /* COMET_WIRE_H */
