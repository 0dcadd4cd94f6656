/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which kernel types and constants do the hooks need? Types are in vmlinux.h, macros are not. */
#ifndef COMET_KERNEL_BPF_H
#define COMET_KERNEL_BPF_H

#include "vmlinux.h"

/* libbpf 1.1 defines these again without a guard. */
#undef offsetof
#undef container_of
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <asm-generic/errno.h>

/* include/linux/fs.h, include/uapi/asm-generic/fcntl.h */
#define FMODE_READ 0x1
#define FMODE_WRITE 0x2
#define FMODE_EXEC_FLAG 0x20 /* __FMODE_EXEC, seen in f_flags */
#define FMODE_PATH 0x4000
#define O_CREAT 0x40
#define O_TRUNC 0x200
#define O_TMPFILE_FLAG 0x400000 /* __O_TMPFILE */

/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFCHR 0020000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define S_ISUID 0004000
#define S_ISGID 0002000

/* include/linux/fs.h */
#define SB_KERNMOUNT (1U << 22)
#define ATTR_MODE (1U << 0)
#define ATTR_UID (1U << 1)
#define ATTR_GID (1U << 2)
#define ATTR_SIZE (1U << 3)
#define ATTR_FORCE (1U << 9)

/* include/linux/sched.h */
#define PF_IO_WORKER 0x10

/* include/linux/ptrace.h, include/linux/security.h */
#define PTRACE_MODE_NOAUDIT 0x04
#define CAP_OPT_NOAUDIT 2

/* include/uapi/linux/sched.h */
#define CLONE_INTO_CGROUP 0x200000000ULL

/* include/linux/socket.h */
#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define MSG_FASTOPEN 0x20000000
#define NETLINK_ROUTE 0

/* include/uapi/linux/magic.h and the filesystems' own headers */
#define ANON_INODE_FS_MAGIC 0x09041934
#define BTRFS_SUPER_MAGIC 0x9123683E
#define CGROUP2_SUPER_MAGIC 0x63677270
#define EFIVARFS_MAGIC 0xde5e81e4
#define EROFS_SUPER_MAGIC_V1 0xE0F5E1E2
#define EXT4_SUPER_MAGIC 0xEF53
#define F2FS_SUPER_MAGIC 0xF2F52010
#define FUSE_SUPER_MAGIC 0x65735546
#define HUGETLBFS_MAGIC 0x958458f6
#define MQUEUE_MAGIC 0x19800202
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#define PID_FS_MAGIC 0x50494446
#define PIPEFS_MAGIC 0x50495045
#define PROC_SUPER_MAGIC 0x9fa0
#define SECRETMEM_MAGIC 0x5345434d
#define SOCKFS_MAGIC 0x534F434B
#define SQUASHFS_MAGIC 0x73717368
#define TMPFS_MAGIC 0x01021994
#define XFS_SUPER_MAGIC 0x58465342

/* include/linux/proc_ns.h: PROC_IPC_INIT_INO, the same on every host */
#define COMET_HOST_IPC_NS 0xEFFFFFFFU

#define IS_ERR_VALUE(x) ((unsigned long)(x) >= (unsigned long)-4095)

#endif /* COMET_KERNEL_BPF_H */
