// SPDX-License-Identifier: Apache-2.0
/*
 * Which places in the kernel does Comet stand on? Programs as they are called in bpf/, in the order
 * in which `comet doctor` prints them.
 */
#include <bpf/btf.h>

#include "user/base.h"
#include "user/probe.h"

const struct comet_hook comet_hooks[] = {
	{ "comet_file_open", "bpf_lsm_file_open", true, "open", NULL },
	{ "comet_inode_getattr", "bpf_lsm_inode_getattr", true, "stat", NULL },
	{ "comet_inode_readlink", "bpf_lsm_inode_readlink", true, "readlink", NULL },
	{ "comet_path_truncate", "bpf_lsm_path_truncate", true, "truncate", NULL },
	/* Since 6.2; before, ftruncate(2) asks path_truncate. */
	{ "comet_file_truncate", "bpf_lsm_file_truncate", false, "ftruncate",
	  "comet_path_truncate" },
	{ "comet_path_mknod", "bpf_lsm_path_mknod", true, "create, mknod, bind to a path", NULL },
	{ "comet_path_mkdir", "bpf_lsm_path_mkdir", true, "mkdir", NULL },
	{ "comet_path_symlink", "bpf_lsm_path_symlink", true, "symlink", NULL },
	{ "comet_path_link", "bpf_lsm_path_link", true, "link", NULL },
	{ "comet_path_unlink", "bpf_lsm_path_unlink", true, "unlink", NULL },
	{ "comet_path_rmdir", "bpf_lsm_path_rmdir", true, "rmdir", NULL },
	{ "comet_path_rename", "bpf_lsm_path_rename", true, "rename", NULL },
	{ "comet_path_chmod", "bpf_lsm_path_chmod", true, "chmod", NULL },
	{ "comet_path_chown", "bpf_lsm_path_chown", true, "chown", NULL },
	{ "comet_bprm_check_security", "bpf_lsm_bprm_check_security", true, "exec", NULL },
	{ "comet_socket_create", "bpf_lsm_socket_create", true, "raw sockets, other families",
	  NULL },
	{ "comet_socket_connect", "bpf_lsm_socket_connect", true, "connect", NULL },
	{ "comet_socket_sendmsg", "bpf_lsm_socket_sendmsg", true, "send without connect", NULL },
	{ "comet_unix_stream_connect", "bpf_lsm_unix_stream_connect", true,
	  "connect to a UNIX socket", NULL },
	{ "comet_unix_may_send", "bpf_lsm_unix_may_send", true, "send to a UNIX socket", NULL },
	{ "comet_task_alloc", "bpf_lsm_task_alloc", true, "clone3 into another cgroup", NULL },
	{ "comet_sb_mount", "bpf_lsm_sb_mount", true, "mount", NULL },
	{ "comet_sb_umount", "bpf_lsm_sb_umount", true, "umount", NULL },
	{ "comet_sb_remount", "bpf_lsm_sb_remount", true, "remount", NULL },
	{ "comet_sb_pivotroot", "bpf_lsm_sb_pivotroot", true, "pivot_root", NULL },
	{ "comet_move_mount", "bpf_lsm_move_mount", true, "move_mount", NULL },
	{ "comet_userns_create", "bpf_lsm_userns_create", true, "user namespaces", NULL },
	{ "comet_settime", "bpf_lsm_settime", true, "setting the clock", NULL },
	{ "comet_inode_setattr", "bpf_lsm_inode_setattr", true, "utimes", NULL },
	{ "comet_inode_setxattr", "bpf_lsm_inode_setxattr", true, "setxattr", NULL },
	{ "comet_inode_removexattr", "bpf_lsm_inode_removexattr", true, "removexattr", NULL },
	{ "comet_inode_getxattr", "bpf_lsm_inode_getxattr", true, "getxattr", NULL },
	{ "comet_inode_listxattr", "bpf_lsm_inode_listxattr", true, "listxattr", NULL },
	/* Since 6.2; before, an ACL is an extended attribute like others. */
	{ "comet_inode_set_acl", "bpf_lsm_inode_set_acl", false, "setting an ACL",
	  "comet_inode_setxattr" },
	{ "comet_inode_remove_acl", "bpf_lsm_inode_remove_acl", false, "removing an ACL",
	  "comet_inode_removexattr" },
	{ "comet_inode_get_acl", "bpf_lsm_inode_get_acl", false, "reading an ACL",
	  "comet_inode_getxattr" },
	{ "comet_path_notify", "bpf_lsm_path_notify", true, "inotify, fanotify", NULL },
	{ "comet_file_ioctl", "bpf_lsm_file_ioctl", true, "ioctl", NULL },
	{ "comet_file_ioctl_compat", "bpf_lsm_file_ioctl_compat", false, "ioctl of 32-bit programs",
	  "comet_file_ioctl" },
	/* Since 6.17: before, there was no such call. */
	{ "comet_inode_file_setattr", "bpf_lsm_inode_file_setattr", false, "file_setattr",
	  "comet_file_ioctl" },
	{ "comet_inode_file_getattr", "bpf_lsm_inode_file_getattr", false, "file_getattr",
	  "comet_file_ioctl" },
	{ "comet_file_receive", "bpf_lsm_file_receive", true, "descriptors of others", NULL },
	{ "comet_file_fcntl", "bpf_lsm_file_fcntl", true, "signals by a descriptor, leases", NULL },
	{ "comet_file_lock", "bpf_lsm_file_lock", true, "exclusive locks", NULL },
	{ "comet_socket_listen", "bpf_lsm_socket_listen", true, "listen", NULL },
	{ "comet_socket_bind", "bpf_lsm_socket_bind", true, "bind", NULL },
	{ "comet_inet_conn_request", "bpf_lsm_inet_conn_request", true, "taking connections",
	  NULL },
	{ "comet_socket_setsockopt", "bpf_lsm_socket_setsockopt", true, "choosing a local port",
	  NULL },
	{ "comet_ptrace_access_check", "bpf_lsm_ptrace_access_check", true, "ptrace", NULL },
	{ "comet_ptrace_traceme", "bpf_lsm_ptrace_traceme", true, "being traced", NULL },
	{ "comet_task_kill", "bpf_lsm_task_kill", true, "signals", NULL },
	{ "comet_task_setnice", "bpf_lsm_task_setnice", true, "priority", NULL },
	{ "comet_task_setioprio", "bpf_lsm_task_setioprio", true, "I/O priority", NULL },
	{ "comet_task_setscheduler", "bpf_lsm_task_setscheduler", true, "scheduling, affinity",
	  NULL },
	{ "comet_task_movememory", "bpf_lsm_task_movememory", true, "moving memory", NULL },
	{ "comet_task_setrlimit", "bpf_lsm_task_setrlimit", true, "limits", NULL },
	{ "comet_inode_create", "bpf_lsm_inode_create", true, "making a message queue", NULL },
	{ "comet_inode_unlink", "bpf_lsm_inode_unlink", true, "mq_unlink", NULL },
	{ "comet_ipc_permission", "bpf_lsm_ipc_permission", true, "System V IPC", NULL },
	{ "comet_msg_queue_msgctl", "bpf_lsm_msg_queue_msgctl", true, "msgctl", NULL },
	{ "comet_sem_semctl", "bpf_lsm_sem_semctl", true, "semctl", NULL },
	{ "comet_shm_shmctl", "bpf_lsm_shm_shmctl", true, "shmctl", NULL },
	{ "comet_capable", "bpf_lsm_capable", true, "capabilities on the kernel", NULL },
	{ "comet_bpf", "bpf_lsm_bpf", true, "bpf", NULL },
	{ "comet_perf_event_open", "bpf_lsm_perf_event_open", true, "perf_event_open", NULL },
	{ "comet_syslog", "bpf_lsm_syslog", true, "the kernel's log", NULL },
	{ "comet_key_alloc", "bpf_lsm_key_alloc", true, "new keys", NULL },
	{ "comet_key_permission", "bpf_lsm_key_permission", true, "keys", NULL },
	{ "comet_uring_override_creds", "bpf_lsm_uring_override_creds", true,
	  "other credentials for io_uring", NULL },
	{ "comet_cgroup_mkdir", "btf_trace_cgroup_mkdir", true, "child cgroups inherit", NULL },
	{ "comet_cgroup_rmdir", "btf_trace_cgroup_rmdir", true, "removed cgroups are forgotten",
	  NULL },
	{ "comet_packet_egress", "__cgroup_bpf_run_filter_skb", true,
	  "packets of a run's own cgroup", NULL },
	{ "comet_dump_objects", "bpf_iter_task_file", true, "identity of granted files", NULL },
};
const size_t comet_n_hooks = COMET_ARRAY_SIZE(comet_hooks);

int comet_probe_hook(const struct comet_hook *hook)
{
	static struct btf *vmlinux; /* some megabytes, read once and kept */
	__u32 kind = BTF_KIND_FUNC;
	int id;

	if (!vmlinux) {
		struct btf *btf = btf__load_vmlinux_btf();

		if (!btf)
			return errno ? -errno : -ENOENT;
		vmlinux = btf;
	}
	if (strncmp(hook->target, "btf_trace_", strlen("btf_trace_")) == 0)
		kind = BTF_KIND_TYPEDEF;
	id = btf__find_by_name_kind(vmlinux, hook->target, kind);
	return id > 0 ? 1 : id == -ENOENT ? 0 : id;
}
