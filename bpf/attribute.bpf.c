// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which roads tell or change something about a file without opening it for that?
 *
 * inode_setattr: times; modes, owners and sizes come by path_chmod, path_chown and *_truncate.
 * inode_setxattr ... inode_get_acl: extended attributes and ACLs (before 6.2 these are attributes).
 * path_notify: inotify, fanotify and F_NOTIFY tell who does what with a file.
 * file_ioctl, inode_file_setattr, inode_file_getattr: flags as of chattr(1), by descriptor and,
 *   from 6.17 on, by path.
 */
#include "bpf/decide.bpf.h"
#include "bpf/ioctl.bpf.h"

/* Files that no path names: pipes, sockets, memory files. Their descriptor is the grant. */
static __always_inline bool comet_is_unnamed(__u64 dentry)
{
	struct dentry *object = (struct dentry *)dentry;

	return (BPF_CORE_READ(object, d_sb, s_flags) & SB_KERNMOUNT) &&
	       comet_private_magic(BPF_CORE_READ(object, d_sb, s_magic));
}

/* Inline: 6.1 counts at most 8 frames, and a walk by an unknown mount needs them all but one. */
static __always_inline int comet_ask_dentry(__u64 dentry, __u32 need, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = { .need = need, .op = op };

	if (!layers || comet_kernel_acts() || comet_is_unnamed(dentry))
		return 0;
	comet_request_dentry(layers, &request, dentry);
	return comet_verdict(comet_decide_file(layers, &request));
}

/* Until 6.8 the hook had no mnt_idmap; the last two arguments are the dentry and the change. */
SEC("lsm/inode_setattr")
int comet_inode_setattr(__u64 *ctx)
{
	__u64 n = bpf_get_func_arg_cnt(ctx);
	struct iattr *change;
	__u64 dentry = 0;
	__u64 attr = 0;

	if (!comet_layers_current())
		return 0;
	if (bpf_get_func_arg(ctx, n - 1, &attr) || bpf_get_func_arg(ctx, n - 2, &dentry))
		return -EPERM;
	change = (struct iattr *)attr;
	if (BPF_CORE_READ(change, ia_valid) &
	    (ATTR_SIZE | ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_FORCE))
		return 0;
	return comet_ask_dentry(dentry, COMET_FS_CHANGE, COMET_OP_UTIMES);
}

/* "security.capability": a program that brings rights of its own acts outside of the run. */
static __always_inline bool comet_is_capability(const char *name)
{
	static const char capability[20] = "security.capability";
	char head[20];
	int i;

	if (bpf_probe_read_kernel(head, sizeof(head), name))
		return true;
	for (i = 0; i < (int)sizeof(capability); i++) {
		if (head[i] != capability[i])
			return false;
	}
	return true;
}

SEC("lsm/inode_setxattr")
int BPF_PROG(comet_inode_setxattr, void *idmap, struct dentry *dentry, const char *name,
	     const void *value, size_t size, int flags, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_CHANGE, .op = COMET_OP_SETXATTR };

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers || comet_kernel_acts() || comet_is_unnamed(comet_address_of(dentry)))
		return 0;
	comet_request_dentry(layers, &request, comet_address_of(dentry));
	if (comet_is_capability(name))
		return comet_forbid(layers, &request, COMET_OP_SETID, EPERM, false);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/inode_removexattr")
int BPF_PROG(comet_inode_removexattr, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_CHANGE, COMET_OP_SETXATTR);
}

SEC("lsm/inode_getxattr")
int BPF_PROG(comet_inode_getxattr, struct dentry *dentry, const char *name, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_STAT, COMET_OP_GETXATTR);
}

SEC("lsm/inode_listxattr")
int BPF_PROG(comet_inode_listxattr, struct dentry *dentry, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_STAT, COMET_OP_GETXATTR);
}

SEC("lsm/inode_set_acl")
int BPF_PROG(comet_inode_set_acl, void *idmap, struct dentry *dentry, const char *name,
	     struct posix_acl *acl, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_CHANGE, COMET_OP_SETXATTR);
}

SEC("lsm/inode_remove_acl")
int BPF_PROG(comet_inode_remove_acl, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_CHANGE, COMET_OP_SETXATTR);
}

SEC("lsm/inode_get_acl")
int BPF_PROG(comet_inode_get_acl, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_STAT, COMET_OP_GETXATTR);
}

SEC("lsm/inode_file_setattr")
int BPF_PROG(comet_inode_file_setattr, struct dentry *dentry, void *attributes, int ret)
{
	return ret ? ret
		   : comet_ask_dentry(comet_address_of(dentry), COMET_FS_CHANGE, COMET_OP_IOCTL);
}

SEC("lsm/inode_file_getattr")
int BPF_PROG(comet_inode_file_getattr, struct dentry *dentry, void *attributes, int ret)
{
	return ret ? ret : comet_ask_dentry(comet_address_of(dentry), COMET_FS_STAT, COMET_OP_STAT);
}

/* type 0 watches one object; the others a whole mount, filesystem or namespace. */
SEC("lsm/path_notify")
int BPF_PROG(comet_path_notify, const struct path *path, __u64 mask, unsigned int type, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_READ, .op = COMET_OP_NOTIFY };

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_request_path(&request, path);
	if (type)
		return comet_forbid(layers, &request, COMET_OP_NOTIFY, EPERM, false);
	return comet_verdict(comet_decide_file(layers, &request));
}

static __always_inline int comet_ask_ioctl(struct file *file, unsigned int command)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_CHANGE, .op = COMET_OP_IOCTL };
	enum comet_ioctl kind = comet_ioctl_kind(file->f_inode->i_mode & S_IFMT, command);

	if (kind == COMET_IOCTL_FREE)
		return 0;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_request_path(&request, &file->f_path);
	if (kind == COMET_IOCTL_FORBIDDEN)
		return comet_forbid(layers, &request, COMET_OP_IOCTL, EPERM, false);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/file_ioctl")
int BPF_PROG(comet_file_ioctl, struct file *file, unsigned int command, unsigned long argument,
	     int ret)
{
	return ret ? ret : comet_ask_ioctl(file, command);
}

SEC("lsm/file_ioctl_compat")
int BPF_PROG(comet_file_ioctl_compat, struct file *file, unsigned int command,
	     unsigned long argument, int ret)
{
	return ret ? ret : comet_ask_ioctl(file, command);
}
