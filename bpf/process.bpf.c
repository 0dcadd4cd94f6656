// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which roads lead to another process? Inside the run all are free; outside there is nobody whom a
 * governed process may trace, signal, starve or hurry. Inside is: held by at least the same layers.
 *
 * Objects of System V IPC have no owner that could be told inside from outside: those of the
 * host's own IPC namespace are closed, a run has a namespace of its own. So are POSIX message
 * queues, which are made and removed past the hooks that have a path.
 */
#include "bpf/decide.bpf.h"

static __noinline int comet_ask_task(struct task_struct *task, __u8 op, __u64 value)
{
	struct comet_layers *layers = comet_layers_current();

	if (!layers || comet_held_alike(layers, comet_layers_of(task->cgroups->dfl_cgrp)))
		return 0;
	return comet_verdict(comet_refuse_value(layers, COMET_SURFACE_IPC, op, EPERM, value));
}

/* Also /proc/PID/mem, environ, maps, fd and root, process_vm_readv, pidfd_getfd and kcmp. */
SEC("lsm/ptrace_access_check")
int BPF_PROG(comet_ptrace_access_check, struct task_struct *task, unsigned int mode, int ret)
{
	struct comet_layers *layers;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers || comet_held_alike(layers, comet_layers_of(task->cgroups->dfl_cgrp)))
		return 0;
	/* The kernel asks for itself what to show, of /proc/PID/stat, say. */
	if (mode & PTRACE_MODE_NOAUDIT)
		return -EPERM;
	return comet_verdict(
		comet_refuse_value(layers, COMET_SURFACE_IPC, COMET_OP_PTRACE, EPERM, task->tgid));
}

/* A tracer may stop its tracee and speak through it: it must be held as well. */
SEC("lsm/ptrace_traceme")
int BPF_PROG(comet_ptrace_traceme, struct task_struct *parent, int ret)
{
	return ret ? ret : comet_ask_task(parent, COMET_OP_PTRACE, parent->tgid);
}

/* Called for what a process sends; what the kernel sends of its own accord does not come by. */
SEC("lsm/task_kill")
int BPF_PROG(comet_task_kill, struct task_struct *task, struct kernel_siginfo *info, int signal,
	     const struct cred *cred, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_SIGNAL, signal);
}

SEC("lsm/task_setnice")
int BPF_PROG(comet_task_setnice, struct task_struct *task, int nice, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_SCHEDULE, task->tgid);
}

SEC("lsm/task_setioprio")
int BPF_PROG(comet_task_setioprio, struct task_struct *task, int priority, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_SCHEDULE, task->tgid);
}

/* Policy, priority and affinity. */
SEC("lsm/task_setscheduler")
int BPF_PROG(comet_task_setscheduler, struct task_struct *task, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_SCHEDULE, task->tgid);
}

/* migrate_pages, move_pages */
SEC("lsm/task_movememory")
int BPF_PROG(comet_task_movememory, struct task_struct *task, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_SCHEDULE, task->tgid);
}

SEC("lsm/task_setrlimit")
int BPF_PROG(comet_task_setrlimit, struct task_struct *task, unsigned int resource,
	     struct rlimit *limit, int ret)
{
	return ret ? ret : comet_ask_task(task, COMET_OP_RLIMIT, task->tgid);
}

static __always_inline int comet_ask_sysv(void)
{
	struct comet_layers *layers = comet_layers_current();

	if (!layers || comet_own_ipc())
		return 0;
	return comet_verdict(
		comet_refuse_value(layers, COMET_SURFACE_IPC, COMET_OP_SYSV_IPC, EPERM, 0));
}

/* msgget and the like of what exists, msgsnd, msgrcv, semop, shmat */
SEC("lsm/ipc_permission")
int BPF_PROG(comet_ipc_permission, struct kern_ipc_perm *object, short flag, int ret)
{
	return ret ? ret : comet_ask_sysv();
}

/* Removing and changing ask these alone. */
SEC("lsm/msg_queue_msgctl")
int BPF_PROG(comet_msg_queue_msgctl, struct kern_ipc_perm *object, int command, int ret)
{
	return ret ? ret : comet_ask_sysv();
}

SEC("lsm/sem_semctl")
int BPF_PROG(comet_sem_semctl, struct kern_ipc_perm *object, int command, int ret)
{
	return ret ? ret : comet_ask_sysv();
}

SEC("lsm/shm_shmctl")
int BPF_PROG(comet_shm_shmctl, struct kern_ipc_perm *object, int command, int ret)
{
	return ret ? ret : comet_ask_sysv();
}

static __always_inline int comet_ask_queue(struct dentry *dentry, __u8 op)
{
	struct comet_layers *layers = comet_layers_current();
	struct comet_request request = {
		.need = COMET_FS_CHANGE,
		.op = op,
		.create = op == COMET_OP_CREATE,
	};

	if (!layers || comet_is_own_queue(dentry->d_sb))
		return 0;
	comet_request_dentry(layers, &request, comet_address_of(dentry));
	return comet_verdict(comet_decide_file(layers, &request));
}

SEC("lsm/inode_create")
int BPF_PROG(comet_inode_create, struct inode *dir, struct dentry *dentry, umode_t mode, int ret)
{
	if (ret)
		return ret;
	return dir->i_sb->s_magic == MQUEUE_MAGIC ? comet_ask_queue(dentry, COMET_OP_CREATE) : 0;
}

SEC("lsm/inode_unlink")
int BPF_PROG(comet_inode_unlink, struct inode *dir, struct dentry *dentry, int ret)
{
	if (ret)
		return ret;
	return dir->i_sb->s_magic == MQUEUE_MAGIC ? comet_ask_queue(dentry, COMET_OP_UNLINK) : 0;
}
