// SPDX-License-Identifier: Apache-2.0
/*
 * What does an operation on processes, mounts and the kernel itself cost? As root. Some are made
 * so that they end with an error, but only after their hooks.
 */
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/operations.h"

/* In a child of its own. */
static int in_child(int (*what)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(what() < 0 ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WEXITSTATUS(status);
	return status ? -1 : 0;
}

static int nothing(void)
{
	return 0;
}

static int fork_exit(void)
{
	return in_child(nothing);
}

static int start_program(void)
{
	static char program[] = "/bin/busybox", applet[] = "true";
	char *const argv[] = { program, applet, NULL };
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(1);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status ? -1 : 0;
}

static int new_user_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static int unshare_user(void)
{
	return in_child(new_user_namespace);
}

static int trace_me(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int be_traced(void)
{
	return in_child(trace_me);
}

static pid_t sleeper;

static void make_sleeper(void)
{
	pid_t parent = getpid();

	sleeper = fork();
	while (sleeper == 0 && getppid() == parent)
		usleep(1000000);
	if (sleeper == 0)
		_exit(0);
}

static int look_into(void)
{
	void *head;
	size_t len;

	return (int)syscall(SYS_get_robust_list, sleeper, &head, &len);
}

static int signal_self(void)
{
	return kill(getpid(), 0);
}

static int be_nice(void)
{
	return setpriority(PRIO_PROCESS, 0, 0);
}

/* Best effort, 4: what it is without a call. */
static int be_nice_to_disks(void)
{
	return (int)syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 4);
}

static int keep_affinity(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int move_memory(void)
{
	unsigned long node = 1;

	return (int)syscall(SYS_migrate_pages, getpid(), 8 * sizeof(node), &node, &node);
}

static int keep_limit(void)
{
	struct rlimit limit = { 1024, 4096 };

	return setrlimit(RLIMIT_NOFILE, &limit);
}

static void make_mount(void)
{
	if (mkdir("mount", 0755) < 0 || mount("none", "mount", "tmpfs", 0, NULL) < 0)
		perror("mount");
}

static int remount_flags(void)
{
	return mount(NULL, "mount", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int remount_all(void)
{
	return mount(NULL, "mount", NULL, MS_REMOUNT, NULL);
}

static int bind_umount(void)
{
	return mount("mount", "mount", NULL, MS_BIND, NULL) < 0 ? -1 : umount("mount");
}

static int change_roots(void)
{
	return (int)syscall(SYS_pivot_root, "/", "/");
}

/* No mount: said after the hook. */
static int move_nothing(void)
{
	return (int)syscall(SYS_move_mount, -100, "/etc", -100, "mount", 0);
}

/* The time zone of the kernel, as it is. */
static int keep_zone(void)
{
	struct timezone zone = { 0 };

	return settimeofday(NULL, &zone);
}

static int ask_capability(void)
{
	return (int)syscall(SYS_sethostname, NULL, -1);
}

static int ask_bpf(void)
{
	union bpf_attr attr = { 0 };

	return (int)syscall(SYS_bpf, 9999, &attr, sizeof(attr));
}

static int count_nothing(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	return fd < 0 ? fd : close(fd);
}

static int ask_log(void)
{
	return klogctl(10, NULL, 0);
}

static int key;

/* Another name each time: else the key is only changed. */
static int make_key(void)
{
	static int n;
	char name[32];

	snprintf(name, sizeof(name), "bench-%d", n++);
	key = (int)syscall(SYS_add_key, "user", name, "x", 1, -2);
	return key;
}

static int look_at_key(void)
{
	return (int)syscall(SYS_keyctl, 6, key, NULL, 0);
}

/* Removed at the end: they would outlive the process. */
static int queue_id, semaphore, segment;

static void forget_ipc(void)
{
	msgctl(queue_id, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	shmctl(segment, IPC_RMID, NULL);
}

static void make_ipc(void)
{
	queue_id = msgget(IPC_PRIVATE, 0600);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	segment = shmget(IPC_PRIVATE, 4096, 0600);
	atexit(forget_ipc);
}

static int look_at_queue(void)
{
	struct msqid_ds found;

	return msgctl(queue_id, IPC_STAT, &found);
}

static int look_at_semaphore(void)
{
	return semctl(semaphore, 0, GETVAL);
}

static int stat_semaphore(void)
{
	struct semid_ds found;

	return semctl(semaphore, 0, IPC_STAT, &found);
}

static int look_at_segment(void)
{
	struct shmid_ds found;

	return shmctl(segment, IPC_STAT, &found);
}

static int ring, personality;
static struct io_uring_params ring_params;
static struct io_uring_sqe *orders;
static char *queue;
static struct io_uring_cqe *answers;

static void make_ring(void)
{
	size_t size = 4096;

	ring = (int)syscall(SYS_io_uring_setup, 1, &ring_params);
	personality =
		(int)syscall(SYS_io_uring_register, ring, IORING_REGISTER_PERSONALITY, NULL, 0);
	queue = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	orders = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (ring < 0 || personality < 0 || queue == MAP_FAILED || orders == MAP_FAILED)
		perror("ring");
	answers = (void *)(queue + ring_params.cq_off.cqes);
}

/* Nothing, under credentials that were registered before. */
static int ring_once(void)
{
	unsigned int *tail = (void *)(queue + ring_params.sq_off.tail);
	unsigned int *done = (void *)(queue + ring_params.cq_off.head);
	int result;

	orders[0] =
		(struct io_uring_sqe){ .opcode = IORING_OP_NOP, .personality = (__u16)personality };
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	result = answers[*done & (ring_params.cq_entries - 1)].res;
	__atomic_store_n(done, *done + 1, __ATOMIC_RELEASE);
	errno = -result;
	return result < 0 ? -1 : 0;
}

static int cgroup_once(void)
{
	static const char name[] = "/sys/fs/cgroup/bench";

	return mkdir(name, 0755) < 0 ? -1 : rmdir(name);
}

static const struct operation operations[] = {
	{ "bprm_check_security,file_open,task_alloc", "vfork + exec + exit + wait", 300,
	  start_program, 0, NULL },
	{ "task_alloc", "fork + exit + wait", 300, fork_exit, 0, NULL },
	{ "userns_create,task_alloc", "fork + unshare user + exit", 200, unshare_user, 0, NULL },
	{ "ptrace_traceme,task_alloc", "fork + be traced + exit", 200, be_traced, 0, NULL },
	{ "ptrace_access_check", "get_robust_list of a child", 5000, look_into, 0, make_sleeper },
	{ "task_kill", "kill oneself, signal 0", 5000, signal_self, 0, NULL },
	{ "task_setnice", "setpriority", 5000, be_nice, 0, NULL },
	{ "task_setioprio", "ioprio_set", 5000, be_nice_to_disks, 0, NULL },
	{ "task_setscheduler", "sched_setaffinity", 2000, keep_affinity, 0, NULL },
	{ "task_movememory", "migrate_pages to the same node", 500, move_memory, 0, NULL },
	{ "task_setrlimit", "setrlimit", 5000, keep_limit, 0, NULL },
	{ "sb_mount", "mount, remount of flags", 1000, remount_flags, 0, make_mount },
	{ "sb_mount,sb_remount", "mount, remount", 500, remount_all, 0, NULL },
	{ "sb_mount,sb_umount", "bind mount + umount", 200, bind_umount, 0, NULL },
	{ "sb_pivotroot", "pivot_root", 1000, change_roots, ANY_ERROR, NULL },
	{ "move_mount", "move_mount", 1000, move_nothing, ANY_ERROR, NULL },
	{ "settime", "settimeofday of the time zone", 2000, keep_zone, 0, NULL },
	{ "capable", "sethostname without a name", 5000, ask_capability, EINVAL, NULL },
	{ "bpf", "bpf, unknown command", 5000, ask_bpf, EINVAL, NULL },
	{ "perf_event_open", "perf_event_open + close", 300, count_nothing, 0, NULL },
	{ "syslog", "syslog, size of the buffer", 5000, ask_log, 0, NULL },
	{ "key_alloc,key_permission", "add_key", 50, make_key, 0, NULL },
	{ "key_permission", "keyctl describe", 5000, look_at_key, 0, NULL },
	{ "ipc_permission", "semctl GETVAL", 5000, look_at_semaphore, 0, make_ipc },
	{ "ipc_permission,sem_semctl", "semctl IPC_STAT", 5000, stat_semaphore, 0, NULL },
	{ "ipc_permission,msg_queue_msgctl", "msgctl IPC_STAT", 5000, look_at_queue, 0, NULL },
	{ "ipc_permission,shm_shmctl", "shmctl IPC_STAT", 5000, look_at_segment, 0, NULL },
	{ "uring_override_creds", "io_uring nop, registered credentials", 2000, ring_once, 0,
	  make_ring },
	{ "cgroup_mkdir,cgroup_rmdir", "mkdir + rmdir of a cgroup", 100, cgroup_once, 0, NULL },
};

OPERATIONS_MAIN(operations)
