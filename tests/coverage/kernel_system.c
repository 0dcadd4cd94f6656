// SPDX-License-Identifier: Apache-2.0
/* Which calls act on the kernel itself, or on all of the host? */
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/quota.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "tests/coverage/road.h"
#include "tests/coverage/uring.h"

/* What the tests' VM has its root on. */
#define ROOT_DEVICE "/dev/nvme0n1p1"

static int ask_kernel(const struct place *place)
{
	struct utsname names;

	(void)place;
	return road_result(uname(&names));
}

#define CALL(name, expression)                                                                     \
	static int name(const struct place *place)                                                 \
	{                                                                                          \
		(void)place;                                                                       \
		return road_result(expression);                                                    \
	}
CALL(init_module, syscall(SYS_init_module, "", 0UL, ""))
CALL(delete_module, syscall(SYS_delete_module, "binfmt_misc", O_NONBLOCK))
CALL(kexec_load, syscall(SYS_kexec_load, 0UL, 0UL, NULL, KEXEC_ARCH_DEFAULT))
CALL(reboot_key,
     syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_ON, NULL))
CALL(reboot_kexec,
     syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL))
CALL(swap_on, swapon(place->mine, 0))
CALL(swap_off, swapoff(place->mine))
CALL(set_host_name, sethostname("road", 4))
CALL(set_domain_name, setdomainname("road", 4))
CALL(quota_off, quotactl(QCMD(Q_QUOTAOFF, USRQUOTA), ROOT_DEVICE, 0, NULL))
CALL(quota_of_root, syscall(SYS_quotactl_fd, open("/", O_PATH | O_CLOEXEC),
			    QCMD(Q_SETQUOTA, USRQUOTA), place->uid, NULL))
CALL(log_read, klogctl(3, (char[64]){ 0 }, 64))
CALL(log_clear, klogctl(5, NULL, 0))
CALL(log_level, klogctl(8, NULL, 6))
CALL(account, acct(NULL))
CALL(account_to, acct(place->mine))
CALL(hang_up, vhangup())

static int finit_module(const struct place *place)
{
	int fd = open(place->mine, O_RDONLY | O_CLOEXEC);

	return road_result(syscall(SYS_finit_module, fd, "", 0));
}

static int kexec_file(const struct place *place)
{
	int fd = open(place->mine, O_RDONLY | O_CLOEXEC);

	return road_result(syscall(SYS_kexec_file_load, fd, -1, 1UL, "", KEXEC_FILE_NO_INITRAMFS));
}

#ifdef __x86_64__
CALL(io_level, iopl(3))
CALL(io_ports, ioperm(0x80, 1, 1))
#endif

static int own_pipe(void)
{
	int ends[2];

	road_must(pipe(ends), "pipe");
	return ends[0];
}

CALL(type_into_terminal, ioctl(own_pipe(), TIOCSTI, "x"))
CALL(paste_into_terminal, ioctl(own_pipe(), TIOCLINUX, "\3"))
CALL(ask_what_is_there, ioctl(own_pipe(), FIONREAD, &(int){ 0 }))

static int request_as(__u16 personality)
{
	struct io_uring_sqe request = { .opcode = IORING_OP_NOP, .personality = personality };

	return uring_do(&request, 0);
}

static int request_as_other(const struct place *place)
{
	(void)place;
	return request_as(1);
}

static int request_as_oneself(const struct place *place)
{
	(void)place;
	return request_as(0);
}

/* From 6.7 on: what setsockopt(2) does, by a ring. */
static int command_socket(int level, int option)
{
	struct io_uring_sqe request = { .opcode = 46 /* IORING_OP_URING_CMD */ };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), value = 1, result;
	const unsigned int set = 3 /* SOCKET_URING_OP_SETSOCKOPT */;
	const unsigned int what[2] = { (unsigned int)level, (unsigned int)option };
	const unsigned long at = (unsigned long)&value;

	road_must(fd, "socket");
	request.fd = fd;
	memcpy(&request.off, &set, sizeof(set));
	memcpy(&request.addr, what, sizeof(what));
	request.file_index = sizeof(value); /* its length */
	memcpy(&request.addr3, &at, sizeof(at));
	result = uring_do(&request, 0);
	close(fd);
	return result == -EOPNOTSUPP ? -ENOSYS : result;
}

static int mark_by_ring(const struct place *place)
{
	(void)place;
	return command_socket(SOL_SOCKET, SO_MARK);
}

static int reuse_by_ring(const struct place *place)
{
	(void)place;
	return command_socket(SOL_SOCKET, SO_REUSEADDR);
}

/* What the file says now, where rows have changed it; then it says what it did before. */
static bool says(const char *path, const char *text, const char *before)
{
	char now[128] = "";
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool same;

	road_must(fd, path);
	road_must(read(fd, now, sizeof(now) - 1), path);
	same = strncmp(now, text, strlen(text)) == 0;
	if (same && write(fd, before, strlen(before)) < 0)
		road_broken("%s", path);
	close(fd);
	return same;
}

static bool host_name_is_set(const struct place *place)
{
	(void)place;
	return says("/proc/sys/kernel/hostname", "road\n", "host");
}

static bool domain_name_is_set(const struct place *place)
{
	(void)place;
	return says("/proc/sys/kernel/domainname", "road\n", "(none)");
}

static bool log_level_is_set(const struct place *place)
{
	(void)place;
	return says("/proc/sys/kernel/printk", "6\t", "4");
}

#define SYSTEM(text, function)                                                                     \
	.name = text, .surface = "kernel", .try = function, .twin = ask_kernel,                    \
	.hidden = { EPERM }, .walled = { EPERM }

static const struct road kernel_system[] = {
	{ SYSTEM("init_module", init_module) },
	{ SYSTEM("finit_module", finit_module) },
	{ SYSTEM("delete_module", delete_module) },
	{ SYSTEM("kexec_load", kexec_load) },
	{ SYSTEM("kexec_file_load", kexec_file) },
	{ SYSTEM("reboot", reboot_key) },
	{ SYSTEM("reboot LINUX_REBOOT_CMD_KEXEC", reboot_kexec) },
	{ SYSTEM("swapon", swap_on) },
	{ SYSTEM("swapoff", swap_off) },
	{ SYSTEM("sethostname", set_host_name), .harmed = host_name_is_set },
	{ SYSTEM("setdomainname", set_domain_name), .harmed = domain_name_is_set },
	{ SYSTEM("quotactl", quota_off) },
	{ SYSTEM("quotactl_fd", quota_of_root) },
	{ SYSTEM("syslog: read all", log_read) },
	{ SYSTEM("syslog: clear", log_clear) },
	{ SYSTEM("syslog: level of the console", log_level), .harmed = log_level_is_set },
	{ SYSTEM("acct: stop", account) },
	{ SYSTEM("acct: to a file", account_to) },
	{ SYSTEM("vhangup", hang_up) },
#ifdef __x86_64__
	{ SYSTEM("iopl", io_level) },
	{ SYSTEM("ioperm", io_ports) },
#endif
	{
		.name = "ioctl TIOCSTI",
		.surface = "kernel",
		.op = "ioctl",
		.try = type_into_terminal,
		.twin = ask_what_is_there,
		.hidden = { EPERM },
	},
	{
		.name = "ioctl TIOCLINUX",
		.surface = "kernel",
		.op = "ioctl",
		.try = paste_into_terminal,
		.twin = ask_what_is_there,
		.hidden = { EPERM },
	},
	{
		.name = "io_uring URING_CMD: SO_MARK of a socket",
		.surface = "kernel",
		.op = "capability",
		.try = mark_by_ring,
		.twin = reuse_by_ring,
		.hidden = { EPERM },
		.walled = { EPERM },
		.since = 0x0607,
	},
	{
		.name = "io_uring under other credentials (personality)",
		.surface = "kernel",
		.op = "io_uring",
		.try = request_as_other,
		.twin = request_as_oneself,
		.hidden = { EPERM },
	},
};
ROADS(kernel_system);
