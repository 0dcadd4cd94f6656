/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which filesystems are the kernel's own? What is written there is not stored but done: a sysctl
 * changes, a program is named that the kernel will start as root, another cgroup is killed. Loader
 * and BPF programs ask the same table.
 */
#ifndef COMET_KERNEL_FS_H
#define COMET_KERNEL_FS_H

/* s_magic, as statfs(2) tells it: include/uapi/linux/magic.h and the filesystems' own sources. */
static inline _Bool comet_is_kernel_fs(unsigned long magic)
{
	switch (magic) {
	case 0x9fa0:     /* proc */
	case 0x62656572: /* sysfs */
	case 0x63677270: /* cgroup2 */
	case 0x27e0eb:   /* cgroup */
	case 0x64626720: /* debugfs */
	case 0x74726163: /* tracefs */
	case 0x73636673: /* securityfs */
	case 0x62656570: /* configfs */
	case 0xcafe4a11: /* bpf */
	case 0x42494e4d: /* binfmt_misc */
	case 0xde5e81e4: /* efivarfs */
	case 0x65735543: /* fusectl */
	case 0x6165676c: /* pstore */
	case 0x7655821:  /* resctrl */
	case 0xf97cff8c: /* selinuxfs */
	case 0x43415d53: /* smackfs */
	case 0x5a3c69f0: /* apparmorfs */
	case 0x6e667364: /* nfsd */
	case 0x67596969: /* rpc_pipefs */
	case 0x6c6f6f70: /* binder */
	case 0xabba1974: /* xenfs */
		return 1;
	default:
		return 0;
	}
}

#endif /* COMET_KERNEL_FS_H */
