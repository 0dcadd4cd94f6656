// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which roads lead to a file? Each hook names the object and the right that the call needs;
 * decide.bpf.h answers.
 *
 * file_open: open, openat2, creat, O_TRUNC, O_TMPFILE, opendir, reopening through /proc/self/fd,
 *   open_by_handle_at, io_uring, and the open that execve makes.
 * inode_getattr, inode_readlink: what stat and readlink tell without opening.
 * path_mknod: comes before the file is made, so a refused create leaves nothing behind; also
 *   mkfifo, device nodes and bound UNIX sockets.
 * path_mkdir ... path_chown: changes by name. path_truncate: truncate(2), and before 6.2 also
 *   ftruncate and O_TRUNC; from 6.2 on file_truncate has those.
 */
#include "bpf/decide.bpf.h"

/* The object that a path leads to. */
static __always_inline int comet_ask_path(const struct path *path, __u32 need, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = { .need = need, .op = op };

	if (!layers)
		return 0;
	comet_request_path(&request, path);
	request.need |= comet_acting(layers, path->dentry->d_parent, path->dentry->d_inode);
	return comet_verdict(comet_decide_file(layers, &request));
}

/* The entry `dentry`, there or not, of the directory that a path leads to. */
static __always_inline int comet_ask_entry(const struct path *dir, struct dentry *dentry,
					   __u32 need, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = { .need = need, .op = op };

	if (!layers)
		return 0;
	comet_request_path(&request, dir);
	request.dentry = comet_address_of(dentry);
	request.need |= comet_acting(layers, dir->dentry, NULL);
	return comet_verdict(comet_decide_file(layers, &request));
}

/*
 * Writing a pid into cgroup.procs or cgroup.threads moves a process: allowed only into cgroups
 * that are held by the very same layers, whatever fs.write says. On cgroupfs a directory's inode
 * number is the cgroup's id.
 */
static __always_inline bool comet_leaves_cgroup(struct comet_layers *own, struct dentry *dentry)
{
	__u64 id;

	if (dentry->d_sb->s_magic != CGROUP2_SUPER_MAGIC)
		return false;
	id = dentry->d_parent->d_inode->i_ino;
	return !comet_held_alike(own, bpf_map_lookup_elem(&comet_layers, &id));
}

/*
 * A program that runs with its owner's rights acts outside of the run, and so does what is written
 * into one: root's writes do not strip the bits. On a directory setgid is but an inheritance.
 */
static __always_inline bool comet_is_setid(umode_t mode)
{
	return (mode & (S_ISUID | S_ISGID)) && (mode & S_IFMT) != S_IFDIR;
}

SEC("lsm/file_open")
int BPF_PROG(comet_file_open, struct file *file, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .op = COMET_OP_OPEN };
	unsigned int flags;
	unsigned int mode;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;

	flags = file->f_flags;
	mode = file->f_mode;
	comet_request_path(&request, &file->f_path);
	/* A file without a name: its directory was asked for, and is what can be declared. */
	if (flags & O_TMPFILE_FLAG)
		request.dentry = comet_address_of(file->f_path.dentry->d_parent);
	request.create = !!(flags & O_CREAT);
	if (mode & FMODE_READ)
		request.need |= COMET_FS_READ;
	if (mode & FMODE_WRITE)
		request.need |= COMET_FS_WRITE;
	if (flags & O_TRUNC) {
		request.need |= COMET_FS_WRITE;
		request.op = COMET_OP_TRUNCATE;
	}
	if (flags & FMODE_EXEC_FLAG) {
		request.exec = 1;
		request.op = COMET_OP_EXEC;
		request.need |= COMET_FS_READ;
	}
	/* Neither reading nor writing (open mode 3): still tells that the object is there. */
	if (!request.need)
		request.need = COMET_FS_READ | COMET_FS_WRITE;
	if ((request.need & COMET_FS_WRITE) && comet_leaves_cgroup(layers, file->f_path.dentry))
		return comet_forbid(layers, &request, COMET_OP_CGROUP_MOVE, EACCES, true);
	mode = file->f_inode->i_mode;
	if ((mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK)
		request.need |= COMET_FS_DEVICE;
	if (request.need & COMET_FS_WRITE)
		request.need |= comet_acting(layers, file->f_path.dentry->d_parent, file->f_inode);
	if ((request.need & COMET_FS_WRITE) && comet_is_setid(mode))
		return comet_forbid(layers, &request, COMET_OP_SETID, EPERM, false);
	if (comet_near_grants(layers, file->f_path.mnt, file->f_path.dentry, request.need))
		return 0;
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/inode_getattr")
int BPF_PROG(comet_inode_getattr, const struct path *path, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_STAT, .op = COMET_OP_STAT };

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	if (comet_near_grants(layers, path->mnt, path->dentry, COMET_FS_STAT))
		return 0;
	comet_request_path(&request, path);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/inode_readlink")
int BPF_PROG(comet_inode_readlink, struct dentry *dentry, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_STAT, .op = COMET_OP_READLINK };

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_request_dentry(layers, &request, comet_address_of(dentry));
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/path_mknod")
int BPF_PROG(comet_path_mknod, const struct path *dir, struct dentry *dentry, umode_t mode,
	     unsigned int dev, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .op = COMET_OP_MKNOD, .need = COMET_FS_CHANGE };
	unsigned int type = mode & S_IFMT;
	unsigned long magic;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	/*
	 * An open with O_CREAT asks before it has looked the name up, where that is not cached; on
	 * the kernel's own filesystems nothing can be made so anyway, but for an EFI variable.
	 */
	magic = dir->dentry->d_sb->s_magic;
	if (comet_is_kernel_fs(magic) && magic != EFIVARFS_MAGIC)
		return 0;
	comet_request_path(&request, dir);
	request.dentry = comet_address_of(dentry);
	/* A device node would act on the host's devices whatever directory it stands in. */
	if (type == S_IFCHR || type == S_IFBLK)
		return comet_forbid(layers, &request, COMET_OP_MKNOD, EPERM, false);
	if (comet_is_setid(mode))
		return comet_forbid(layers, &request, COMET_OP_SETID, EPERM, false);
	if (type == S_IFREG || !type) {
		request.op = COMET_OP_CREATE;
		request.create = 1;
	}
	request.need |= comet_acting(layers, dir->dentry, NULL);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/path_mkdir")
int BPF_PROG(comet_path_mkdir, const struct path *dir, struct dentry *dentry, umode_t mode, int ret)
{
	return ret ? ret : comet_ask_entry(dir, dentry, COMET_FS_CHANGE, COMET_OP_MKDIR);
}

SEC("lsm/path_symlink")
int BPF_PROG(comet_path_symlink, const struct path *dir, struct dentry *dentry,
	     const char *old_name, int ret)
{
	return ret ? ret
		   : comet_ask_entry(dir, dentry, COMET_FS_CHANGE | COMET_FS_PLANT,
				     COMET_OP_SYMLINK);
}

SEC("lsm/path_unlink")
int BPF_PROG(comet_path_unlink, const struct path *dir, struct dentry *dentry, int ret)
{
	return ret ? ret : comet_ask_entry(dir, dentry, COMET_FS_CHANGE, COMET_OP_UNLINK);
}

SEC("lsm/path_rmdir")
int BPF_PROG(comet_path_rmdir, const struct path *dir, struct dentry *dentry, int ret)
{
	return ret ? ret : comet_ask_entry(dir, dentry, COMET_FS_CHANGE, COMET_OP_RMDIR);
}

/*
 * link(2) and rename(2) cross no mount: the new directory's mount is the old name's too
 * (do_linkat and do_renameat2 answer EXDEV before these hooks).
 */
static __always_inline int comet_ask_move(const struct path *dir, struct dentry *from,
					  struct dentry *to, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request old = { .need = COMET_FS_CHANGE, .op = op };
	struct comet_request new = { .need = COMET_FS_CHANGE, .op = op };
	struct inode *inode = from->d_inode;

	if (!layers)
		return 0;
	if (inode && (inode->i_mode & S_IFMT) == S_IFLNK)
		new.need |= COMET_FS_PLANT;
	comet_request_path(&old, dir);
	new.mount = old.mount;
	old.dentry = comet_address_of(from);
	new.dentry = comet_address_of(to);
	new.need |= comet_acting(layers, dir->dentry, NULL);
	return comet_verdict(comet_decide_move(layers, &old, &new));
}

SEC("lsm/path_link")
int BPF_PROG(comet_path_link, struct dentry *old_dentry, const struct path *new_dir,
	     struct dentry *new_dentry, int ret)
{
	return ret ? ret : comet_ask_move(new_dir, old_dentry, new_dentry, COMET_OP_LINK);
}

#define RENAME_EXCHANGE 2 /* include/uapi/linux/fs.h */

SEC("lsm/path_rename")
int BPF_PROG(comet_path_rename, const struct path *old_dir, struct dentry *old_dentry,
	     const struct path *new_dir, struct dentry *new_dentry, unsigned int flags, int ret)
{
	if (ret)
		return ret;
	ret = comet_ask_move(new_dir, old_dentry, new_dentry, COMET_OP_RENAME);
	if (ret || !(flags & RENAME_EXCHANGE))
		return ret;
	return comet_ask_move(old_dir, new_dentry, old_dentry, COMET_OP_RENAME);
}

SEC("lsm/path_chmod")
int BPF_PROG(comet_path_chmod, const struct path *path, umode_t mode, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .need = COMET_FS_CHANGE, .op = COMET_OP_CHMOD };

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_request_path(&request, path);
	if (comet_is_setid((path->dentry->d_inode->i_mode & S_IFMT) | (mode & ~S_IFMT)))
		return comet_forbid(layers, &request, COMET_OP_SETID, EPERM, false);
	request.need |= comet_acting(layers, path->dentry->d_parent, path->dentry->d_inode);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/path_chown")
int BPF_PROG(comet_path_chown, const struct path *path, u64 uid, u64 gid, int ret)
{
	return ret ? ret : comet_ask_path(path, COMET_FS_CHANGE, COMET_OP_CHOWN);
}

static __always_inline int comet_ask_truncate(const struct path *path)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = { .need = COMET_FS_WRITE, .op = COMET_OP_TRUNCATE };

	if (!layers)
		return 0;
	comet_request_path(&request, path);
	if (comet_is_setid(path->dentry->d_inode->i_mode))
		return comet_forbid(layers, &request, COMET_OP_SETID, EPERM, false);
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/path_truncate")
int BPF_PROG(comet_path_truncate, const struct path *path, int ret)
{
	return ret ? ret : comet_ask_truncate(path);
}

SEC("lsm/file_truncate")
int BPF_PROG(comet_file_truncate, struct file *file, int ret)
{
	return ret ? ret : comet_ask_truncate(&file->f_path);
}
