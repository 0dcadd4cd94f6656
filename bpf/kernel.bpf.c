// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which changes to the kernel's own state would undo the rules? No manifest can grant these.
 *
 * sb_mount, sb_umount, sb_remount, sb_pivotroot, move_mount: a bind mount inside a granted
 *   directory is granted with it, so a governed task may not make one. userns_create: it would
 *   give an ordinary user the right to mount. settime: the clock.
 */
#include "bpf/member.bpf.h"
#include "bpf/report.bpf.h"

static __always_inline int comet_refuse_kernel(__u8 surface, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();

	if (!layers)
		return 0;
	return comet_verdict(comet_refuse_value(layers, surface, op, EPERM, 0));
}

SEC("lsm/sb_mount")
int BPF_PROG(comet_sb_mount, const char *dev_name, const struct path *path, const char *type,
	     unsigned long flags, void *data, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_MOUNT);
}

SEC("lsm/sb_remount")
int BPF_PROG(comet_sb_remount, struct super_block *sb, void *data, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_MOUNT);
}

SEC("lsm/move_mount")
int BPF_PROG(comet_move_mount, const struct path *from, const struct path *to, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_MOUNT);
}

SEC("lsm/sb_umount")
int BPF_PROG(comet_sb_umount, struct vfsmount *mount, int flags, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_UMOUNT);
}

SEC("lsm/sb_pivotroot")
int BPF_PROG(comet_sb_pivotroot, const struct path *old_path, const struct path *new_path, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_PIVOT_ROOT);
}

SEC("lsm/userns_create")
int BPF_PROG(comet_userns_create, const struct cred *cred, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_KERNEL, COMET_OP_USERNS);
}

SEC("lsm/settime")
int BPF_PROG(comet_settime, const struct timespec64 *time, const struct timezone *zone, int ret)
{
	return ret ? ret : comet_refuse_kernel(COMET_SURFACE_TIME, COMET_OP_SETTIME);
}
