// SPDX-License-Identifier: Apache-2.0
//
// What does process 1 of the test VM do? Mounts what a Debian host has mounted, unpacks what
// scripts/vm sent, runs one command, hands its output and exit code out, and ends the VM.
//
// The disk's partitions: 1 the root, 2 this kernel's modules, 3 a tar archive: /with, the comet
// binary, and in /.comet-vm the NUL-separated files "argv" and "env" (with TERM: the command has
// the terminal ttyS1).
//
// Output leaves by I/O ports (QEMU's isa-debugcon), which lose and change no byte, unlike a tty
// that kernel messages share.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm-init.h"

// As in scripts/vm.
enum { PORT_OUTPUT = 0x5a0, PORT_RESULT = 0x5a1, PORT_END = 0x5a4, PORTS = 8 };

// TAINT_BAD_PAGE, TAINT_DIE, TAINT_WARN: the kernel found itself broken. (Not TAINT_SOFTLOCKUP: an
// emulated CPU on a busy host stalls for long.)
enum { TAINT_BROKEN = 1 << 5 | 1 << 7 | 1 << 9 };

static _Noreturn void end(void)
{
	outl(0, PORT_END);
	for (;;)
		pause();
}

void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "comet-vm: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(errno));
	end();
}

// Reads a whole file; the text is the caller's and ends in a NUL beyond *size.
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	*size = 0;
	if (!file)
		die("%s", path);
	do {
		room += 65536;
		text = realloc(text, room + 1);
		if (!text)
			die("memory");
		*size += fread(text + *size, 1, room - *size, file);
	} while (*size == room);
	fclose(file);
	text[*size] = '\0';
	return text;
}

// Splits NUL-ended strings into a NULL-ended array.
static char **split(char *text, size_t size)
{
	size_t n = 0, i = 0;
	char **words;

	for (size_t at = 0; at < size; at++)
		n += text[at] == '\0';
	words = calloc(n + 1, sizeof(*words));
	if (!words)
		die("memory");
	for (char *at = text; i < n; at += strlen(at) + 1)
		words[i++] = at;
	return words;
}

static void unpack(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/tar", "tar", "-xpf", "/dev/nvme0n1p3", "-C", "/", "--numeric-owner",
		      "--keep-directory-symlink", "--warning=no-timestamp", NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
		die("unpack");
}

static void become_terminal(void)
{
	struct winsize size = { 24, 80, 0, 0 };
	int tty;

	setsid();
	tty = open("/dev/ttyS1", O_RDWR);
	if (tty < 0)
		die("ttyS1");
	if (getenv("LINES"))
		size.ws_row = (unsigned short)atoi(getenv("LINES"));
	if (getenv("COLUMNS"))
		size.ws_col = (unsigned short)atoi(getenv("COLUMNS"));
	// A shell that finds these set would trust them for ever.
	unsetenv("LINES");
	unsetenv("COLUMNS");
	ioctl(tty, TIOCSWINSZ, &size);
	ioctl(tty, TIOCSCTTY, 0);
	dup2(tty, 0);
	dup2(tty, 1);
	dup2(tty, 2);
	close(tty);
}

static _Noreturn void command(char **argv, bool terminal, int output)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ioperm(PORT_OUTPUT, PORTS, 0);
	if (terminal) {
		become_terminal();
	} else {
		int null = open("/dev/null", O_RDONLY);

		setsid();
		dup2(null, 0);
		close(null);
		dup2(output, 1);
		dup2(output, 2);
	}
	if (chdir("/") < 0)
		die("/");
	execvp(argv[0], argv);
	fprintf(stderr, "comet-vm: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static bool pass_on(int fd)
{
	static char buf[65536];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n > 0)
		outsb(PORT_OUTPUT, buf, (unsigned long)n);
	return n > 0;
}

// Runs until the command ends (its children may live on); returns its wait status.
static int supervise(pid_t pid, int output, int children)
{
	struct pollfd fds[] = { { output, POLLIN, 0 }, { children, POLLIN, 0 } };
	struct signalfd_siginfo info;
	bool running = true;
	int status = 0;

	while (running) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents && !pass_on(output))
			fds[0].fd = -1;
		if (fds[1].revents && read(children, &info, sizeof(info)) > 0) {
			int one;
			pid_t dead;

			while ((dead = waitpid(-1, &one, WNOHANG)) > 0) {
				if (dead == pid) {
					status = one;
					running = false;
				}
			}
		}
	}
	fcntl(output, F_SETFL, O_NONBLOCK);
	while (pass_on(output))
		;
	return status;
}

static void report(int status)
{
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	char line[64];
	size_t size;
	char *taint = read_file("/proc/sys/kernel/tainted", &size);
	int broken = (atoi(taint) & TAINT_BROKEN) != 0;

	// Time for the console to get the whole story.
	if (broken)
		usleep(300 * 1000);
	snprintf(line, sizeof(line), "%s %d\n", broken ? "broken" : "exit", code);
	outsb(PORT_RESULT, line, strlen(line));
	free(taint);
}

int main(void)
{
	char **env, **argv, *text;
	int pipes[2], children, status;
	size_t size;
	sigset_t child;
	bool terminal;
	pid_t pid;

	if (ioperm(PORT_OUTPUT, PORTS, 1) < 0)
		return 1;
	umask(022);
	host_mount();
	unpack();
	clearenv();
	text = read_file("/.comet-vm/env", &size);
	env = split(text, size);
	for (size_t i = 0; env[i]; i++)
		putenv(env[i]);
	text = read_file("/.comet-vm/argv", &size);
	argv = split(text, size);
	unlink("/.comet-vm/env");
	unlink("/.comet-vm/argv");
	rmdir("/.comet-vm");
	host_set_up();
	host_mount_cgroups(getenv("COMET_VM_CGROUP"));
	terminal = getenv("TERM") != NULL;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children = signalfd(-1, &child, SFD_CLOEXEC);
	if (children < 0 || pipe2(pipes, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		command(argv, terminal, pipes[1]);
	close(pipes[1]);
	status = supervise(pid, pipes[0], children);
	report(status);
	end();
}
