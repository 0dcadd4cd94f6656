// SPDX-License-Identifier: Apache-2.0
/* What may a process do to programs, mounts, namespaces and cgroups? */
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

static int done(int fd, long result)
{
	int r = probe_errno(result);

	close(fd);
	return r;
}

/* The file's text, or why not. */
static int read_file(char **words)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, probe_text, sizeof(probe_text) - 1);
	if (n > 0 && probe_text[n - 1] == '\n')
		n--;
	probe_text[n < 0 ? 0 : n] = '\0';
	return done(fd, n);
}

static int copy(char **words)
{
	char block[65536];
	int from = open(words[0], O_RDONLY | O_CLOEXEC);
	int to = from < 0 ? -1 : open(words[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	if (to < 0)
		return -errno;
	while ((n = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)n) != n)
			break;
	close(from);
	return done(to, n);
}

static int make_link(char **words)
{
	return probe_errno(link(words[0], words[1]));
}

static int make_symlink(char **words)
{
	return probe_errno(symlink(words[0], words[1]));
}

static char *const no_environment[] = { NULL };

/* How the start of a program ends: fd >= 0 by descriptor, else by path. */
static int start(int fd, char *const argv[])
{
	int status, report[2], failed = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		exit(65);
	pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		if (fd >= 0)
			syscall(SYS_execveat, fd, "", argv, no_environment, AT_EMPTY_PATH);
		else
			execve(argv[0], argv, no_environment);
		failed = errno;
		_exit(write(report[1], &failed, sizeof(failed)) == sizeof(failed));
	}
	close(report[1]);
	if (read(report[0], &failed, sizeof(failed)) < 0 || waitpid(pid, &status, 0) != pid)
		exit(66);
	close(report[0]);
	if (!failed && status != 0)
		snprintf(probe_text, sizeof(probe_text), "status-%d", status);
	return -failed;
}

static int run(char **words)
{
	char *const argv[] = { words[0], NULL };

	return start(-1, argv);
}

static int run_with(char **words)
{
	char *const argv[] = { words[0], words[1], NULL };

	return start(-1, argv);
}

/* A program's bytes in memory alone: by execveat, and by its name under /proc. */
static int run_memory(char **words)
{
	char block[65536], name[32];
	int from = open(words[0], O_RDONLY | O_CLOEXEC);
	int to = memfd_create("memory-program", 0);
	char *const argv[] = { name, NULL };
	ssize_t n;

	if (from < 0 || to < 0)
		return -errno;
	while ((n = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)n) != n)
			exit(67);
	close(from);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
	probe_add(start(to, argv));
	probe_add(start(-1, argv));
	return done(to, n);
}

/* An opened program that has no name any more. */
static int run_deleted(char **words)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	char *const argv[] = { words[0], NULL };

	if (fd < 0 || unlink(words[0]) < 0)
		return -errno;
	return start(fd, argv);
}

static int clone_into(char **words)
{
	int fd = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (__u64)fd,
	};
	long pid;

	if (fd < 0)
		return -errno;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return done(fd, pid);
}

/* Flags as a number, as unshare(2) and clone3(2) take them. */
static int unshare_some(char **words)
{
	int flags = (int)strtol(words[0], NULL, 0);
	struct clone_args args = { .flags = (__u64)flags, .exit_signal = SIGCHLD };
	long pid;

	probe_add(probe_errno(unshare(flags)));
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	probe_add(probe_errno(pid));
	return 0;
}

static int bind_mount(char **words)
{
	return probe_errno(mount(words[0], words[1], NULL, MS_BIND | MS_REC, NULL));
}

/* The newer calls to the same end: a copy of a tree, and where it is put. */
static int bind_tree(char **words)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, words[0], OPEN_TREE_CLONE);

	if (tree < 0)
		return -errno;
	return done(tree,
		    syscall(SYS_move_mount, tree, "", AT_FDCWD, words[1], MOVE_MOUNT_F_EMPTY_PATH));
}

static int mount_tmpfs(char **words)
{
	return probe_errno(mount("none", words[0], "tmpfs", 0, NULL));
}

static int open_tmpfs(char **words)
{
	int fd = (int)syscall(SYS_fsopen, words[0], 0);

	return fd < 0 ? -errno : done(fd, 0);
}

static int remount(char **words)
{
	return probe_errno(mount(NULL, words[0], NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int unmount(char **words)
{
	return probe_errno(umount2(words[0], MNT_DETACH));
}

static int pivot(char **words)
{
	return probe_errno(syscall(SYS_pivot_root, words[0], words[0]));
}

static int change_root(char **words)
{
	return probe_errno(chroot(words[0]));
}

/* A descendant that has left its parents and counts in a file, for as long as it lives. */
static int daemonise(char **words)
{
	int fd = open(words[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			signal(SIGTERM, SIG_IGN);
			signal(SIGHUP, SIG_IGN);
			while (write(fd, ".", 1) == 1)
				usleep(10000);
		}
		_exit(0);
	}
	do
		usleep(1000);
	while (fstat(fd, &st) == 0 && st.st_size == 0);
	return done(fd, 0);
}

/* The effective user, and whether it could gain rights. */
static int privileges(char **words)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "re");

	(void)words;
	if (!status)
		return -errno;
	snprintf(probe_text, sizeof(probe_text), "uid-%u", geteuid());
	while (fgets(line, sizeof(line), status))
		if (strncmp(line, "NoNewPrivs:\t", 12) == 0)
			snprintf(probe_text, sizeof(probe_text), "uid-%u-nnp-%.1s", geteuid(),
				 line + 12);
	fclose(status);
	return 0;
}

static const struct probe_op ops[] = {
	{ "read", 1, read_file },
	{ "copy", 2, copy },
	{ "link", 2, make_link },
	{ "symlink", 2, make_symlink },
	{ "run", 1, run },
	{ "run", 2, run_with },
	{ "run-memory", 1, run_memory },
	{ "run-deleted", 1, run_deleted },
	{ "clone-into", 1, clone_into },
	{ "unshare", 1, unshare_some },
	{ "bind", 2, bind_mount },
	{ "bind-tree", 2, bind_tree },
	{ "tmpfs", 1, mount_tmpfs },
	{ "fsopen", 1, open_tmpfs },
	{ "remount", 1, remount },
	{ "umount", 1, unmount },
	{ "pivot", 1, pivot },
	{ "chroot", 1, change_root },
	{ "daemon", 1, daemonise },
	{ "privileges", 0, privileges },
	{ NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
