/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which ioctl commands change something, and which could never be granted? On files and
 * directories every command that is not known to be harmless counts as a change; other objects
 * (terminals, devices, sockets) were judged when they were opened, but for what reaches beyond
 * them.
 */
#ifndef COMET_IOCTL_BPF_H
#define COMET_IOCTL_BPF_H

#include "bpf/kernel.bpf.h"

enum comet_ioctl {
	COMET_IOCTL_FREE,
	COMET_IOCTL_CHANGES,
	COMET_IOCTL_FORBIDDEN,
};

#define IOCTL_TYPE(command) ((command) >> 8 & 0xff)

/* include/uapi/asm-generic/ioctls.h, sockios.h, linux/fs.h, fiemap.h, btrfs.h */
#define TIOCSTI 0x5412
#define TIOCLINUX 0x541c
#define FIOSETOWN 0x8901
#define SIOCSPGRP 0x8902
#define FIBMAP 0x1
#define FIGETBSZ 0x2
#define FICLONE 0x40049409
#define FICLONERANGE 0x4020940d
#define FIDEDUPERANGE 0xc0189436
#define FS_IOC_GETFLAGS 0x80086601
#define FS_IOC32_GETFLAGS 0x80046601
#define FS_IOC_GETVERSION 0x80087601
#define FS_IOC32_GETVERSION 0x80047601
#define FS_IOC_FSGETXATTR 0x801c581f
#define FS_IOC_FIEMAP 0xc020660b
#define FS_IOC_GETFSUUID 0x80111500
#define FS_IOC_GETFSSYSFSPATH 0x80811501
#define FS_IOC_GETFSLABEL 0x81009431
#define BTRFS_IOCTL_TYPE 0x94

static __always_inline enum comet_ioctl comet_ioctl_on_file(unsigned int command)
{
	switch (command) {
	case FIBMAP:
	case FIGETBSZ:
	case FICLONE: /* both files had to be opened for it */
	case FICLONERANGE:
	case FIDEDUPERANGE:
	case FS_IOC_GETFLAGS:
	case FS_IOC32_GETFLAGS:
	case FS_IOC_GETVERSION:
	case FS_IOC32_GETVERSION:
	case FS_IOC_FSGETXATTR:
	case FS_IOC_FIEMAP:
	case FS_IOC_GETFSUUID:
	case FS_IOC_GETFSSYSFSPATH:
	case FS_IOC_GETFSLABEL:
		return COMET_IOCTL_FREE;
	}
	switch (IOCTL_TYPE(command)) {
	case 'T': /* is it a terminal? FIONREAD, FIONBIO and the like, too */
	case 0x89:
		return COMET_IOCTL_FREE;
	case BTRFS_IOCTL_TYPE: /* a snapshot copies a tree that nobody opened */
		return COMET_IOCTL_FORBIDDEN;
	default:
		return COMET_IOCTL_CHANGES;
	}
}

static __always_inline enum comet_ioctl comet_ioctl_kind(unsigned int type, unsigned int command)
{
	switch (command) {
	case TIOCSTI: /* types into a terminal, where the operator's shell would read it */
	case TIOCLINUX:
	case FIOSETOWN: /* names a process that gets signals; see file_fcntl */
	case SIOCSPGRP:
		return COMET_IOCTL_FORBIDDEN;
	}
	if (type == S_IFREG || type == S_IFDIR)
		return comet_ioctl_on_file(command);
	return COMET_IOCTL_FREE;
}

#endif /* COMET_IOCTL_BPF_H */
