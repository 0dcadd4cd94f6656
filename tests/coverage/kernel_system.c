// SPDX-License-Identifier: Apache-2.0
/* Which calls act on the kernel itself, or on all of the host? */
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/quota.h>
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
CALL(log_level, klogctl(8, NULL, 1))
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
	{ SYSTEM("sethostname", set_host_name) },
	{ SYSTEM("setdomainname", set_domain_name) },
	{ SYSTEM("quotactl", quota_off) },
	{ SYSTEM("quotactl_fd", quota_of_root) },
	{ SYSTEM("syslog: read all", log_read) },
	{ SYSTEM("syslog: clear", log_clear) },
	{ SYSTEM("syslog: level of the console", log_level) },
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
		.name = "io_uring under other credentials (personality)",
		.surface = "kernel",
		.op = "io_uring",
		.try = request_as_other,
		.twin = request_as_oneself,
		.hidden = { EPERM },
	},
};
ROADS(kernel_system);
