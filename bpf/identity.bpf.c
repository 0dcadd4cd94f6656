// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which kernel object stands behind a descriptor of the loader? Asked by reading this iterator
 * over the loader's own descriptors: stat(2) tells other numbers on btrfs and overlayfs.
 */
#include "bpf/kernel.bpf.h"
#include "bpf/wire.h"

SEC("iter/task_file")
int comet_dump_objects(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct comet_identity identity = {};
	struct inode *inode;

	if (!ctx->task || !file)
		return 0;
	inode = BPF_CORE_READ(file, f_path.dentry, d_inode);
	identity.inode = (__u64)inode;
	identity.fd = ctx->fd;
	identity.ino = BPF_CORE_READ(inode, i_ino);
	identity.generation = BPF_CORE_READ(inode, i_generation);
	identity.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	bpf_seq_write(ctx->meta->seq, &identity, sizeof(identity));
	return 0;
}
