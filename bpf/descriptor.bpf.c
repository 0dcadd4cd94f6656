// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What may be done with a descriptor that others opened, or that speaks to others?
 *
 * file_receive: a descriptor that comes over a UNIX socket, or by pidfd_getfd, is judged as if the
 *   receiver opened it: what it may not open it does not get (recvmsg(2) then gives none).
 * file_fcntl: the owner of a descriptor gets signals, as many and as deadly as its setter likes;
 *   who opens a file waits for the holder of a lease on it.
 * file_lock: whoever wants a lock waits for the holder of an exclusive one.
 */
#include "bpf/decide.bpf.h"

#define F_SETOWN 8
#define F_SETOWN_EX 15
#define F_SETLEASE 1024
#define F_SETDELEG 1040 /* since 6.19; what is asked for stands in memory */
#define F_WRLCK 1
#define F_UNLCK 2

/* A socket of another's making may be connected to where this run may not. UNIX: see the manual. */
static __always_inline bool comet_is_foreign(const struct comet_layers *layers, struct file *file)
{
	struct socket *socket = file->private_data;
	struct sock *sk = BPF_CORE_READ(socket, sk);
	__u64 id = BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX)
		return false;
	return !comet_held_alike(layers, bpf_map_lookup_elem(&comet_layers, &id));
}

SEC("lsm/file_receive")
int BPF_PROG(comet_file_receive, struct file *file, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = { .op = COMET_OP_RECEIVE };
	unsigned int mode;
	unsigned int type;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	mode = file->f_mode;
	type = file->f_inode->i_mode & S_IFMT;
	comet_request_path(&request, &file->f_path);
	if (type == S_IFSOCK) {
		if (!comet_is_foreign(layers, file))
			return 0;
		return comet_verdict(comet_refuse_value(layers, COMET_SURFACE_EGRESS,
							COMET_OP_RECEIVE, EACCES, 0));
	}
	/* What it leads to is judged when it is opened through it. */
	if (mode & FMODE_PATH)
		return 0;
	if (mode & FMODE_READ)
		request.need |= COMET_FS_READ;
	if (mode & FMODE_WRITE)
		request.need |= COMET_FS_WRITE;
	if (!request.need)
		request.need = COMET_FS_READ | COMET_FS_WRITE;
	if (type == S_IFCHR || type == S_IFBLK)
		request.need |= COMET_FS_DEVICE;
	if (request.need & COMET_FS_WRITE)
		request.need |= comet_acting(layers, file->f_path.dentry->d_parent, file->f_inode);
	return comet_verdict(comet_decide_file(layers, &request));
}

/*
 * The caller's own number, or with a minus its group's, as its pid namespace counts. A group that
 * it did not make can have members outside.
 */
static __always_inline bool comet_is_own(long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *own = BPF_CORE_READ(task, group_leader, thread_pid);
	struct pid *group = BPF_CORE_READ(task, signal, pids[PIDTYPE_PGID]);
	unsigned int level = BPF_CORE_READ(own, level);
	int nr = 0;

	if (level > 32)
		return false;
	bpf_core_read(&nr, sizeof(nr), &own->numbers[level].nr);
	if (number == nr)
		return true;
	return group == own && number == -(long)nr;
}

/* Others are kept waiting only where the run may write. */
static __always_inline int comet_ask_lock(struct file *file)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = { .need = COMET_FS_WRITE, .op = COMET_OP_LOCK };

	if (!layers)
		return 0;
	comet_request_path(&request, &file->f_path);
	return comet_verdict(comet_decide_file(layers, &request));
}

/* flock(2) takes it on any descriptor; shared ones are what readers take. */
SEC("lsm/file_lock")
int BPF_PROG(comet_file_lock, struct file *file, unsigned int type, int ret)
{
	if (ret)
		return ret;
	return type == F_WRLCK ? comet_ask_lock(file) : 0;
}

SEC("lsm/file_fcntl")
int BPF_PROG(comet_file_fcntl, struct file *file, unsigned int command, unsigned long argument,
	     int ret)
{
	struct comet_layers *layers;

	if (ret)
		return ret;
	if (command == F_SETDELEG || (command == F_SETLEASE && argument != F_UNLCK))
		return comet_ask_lock(file);
	if (command != F_SETOWN && command != F_SETOWN_EX)
		return 0;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	/* The number that F_SETOWN_EX names stands in memory that another thread can change. */
	if (command == F_SETOWN && (!argument || comet_is_own((int)argument)))
		return 0;
	return comet_verdict(
		comet_refuse_value(layers, COMET_SURFACE_IPC, COMET_OP_SIGNAL, EPERM, 0));
}
