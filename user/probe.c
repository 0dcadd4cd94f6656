// SPDX-License-Identifier: Apache-2.0
/* What can this kernel do, and what must an administrator change where it cannot? */
#include "user/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "user/base.h"
#include "user/cgroup.h"
#include "user/probe_lsm.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define INITIAL_USER_NS 0xEFFFFFFDUL /* inode number, fixed in the kernel */

static void set_ok(struct comet_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void set_missing(struct comet_check *check, const char *found, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_ok(struct comet_check *check, const char *format, ...)
{
	va_list args;

	check->ok = true;
	check->remedy[0] = '\0';
	va_start(args, format);
	vsnprintf(check->found, sizeof(check->found), format, args);
	va_end(args);
}

static void set_missing(struct comet_check *check, const char *found, const char *format, ...)
{
	va_list args;

	check->ok = false;
	snprintf(check->found, sizeof(check->found), "%s", found);
	va_start(args, format);
	vsnprintf(check->remedy, sizeof(check->remedy), format, args);
	va_end(args);
}

static void check_kernel(struct comet_check *check, bool thorough)
{
	struct utsname kernel;
	unsigned int major = 0;
	unsigned int minor = 0;

	(void)thorough;
	check->name = "kernel";
	if (uname(&kernel) < 0 || sscanf(kernel.release, "%u.%u", &major, &minor) != 2)
		set_missing(check, "unknown", "run Comet on Linux 6.1 or later");
	else if (major < 6 || (major == 6 && minor < 1))
		set_missing(check, kernel.release, "boot Linux 6.1 or later");
	else
		set_ok(check, "Linux %s", kernel.release);
}

static void check_btf(struct comet_check *check, bool thorough)
{
	(void)thorough;
	check->name = "kernel BTF";
	if (access(KERNEL_BTF, R_OK) == 0)
		set_ok(check, "%s", KERNEL_BTF);
	else if (errno == ENOENT)
		set_missing(check, KERNEL_BTF " does not exist",
			    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as the stock "
			    "kernels of Debian are (and mount sysfs at /sys)");
	else
		set_missing(check, KERNEL_BTF " cannot be read", "make %s readable: %s", KERNEL_BTF,
			    strerror(errno));
}

static void check_lsm(struct comet_check *check, bool thorough)
{
	struct comet_lsm_list list;
	struct utsname kernel;
	int asked = -ENOSYS;
	bool has;

	(void)thorough;
	check->name = "BPF LSM";
	comet_lsm_read("", uname(&kernel) == 0 ? kernel.release : "", &list);
	has = comet_lsm_has(list.names, "bpf");
	if (!list.in_force)
		asked = comet_lsm_ask_kernel();
	if (asked >= 0)
		has = asked == 1;

	if (has && asked == 1)
		set_ok(check, "the kernel lists it");
	else if (has)
		set_ok(check, "%s (%s)", list.names, list.source);
	else if (list.names[0])
		set_missing(check, "not among the active security modules",
			    "add \"bpf\" to lsm= on the kernel command line and reboot (now: "
			    "lsm=%s; wanted: lsm=%s,bpf)",
			    list.names, list.names);
	else if (asked == 0)
		set_missing(check, "not among the active security modules",
			    "add \"bpf\" to lsm= on the kernel command line and reboot");
	else
		set_missing(check, "nothing tells which security modules are active",
			    "make the list readable: mount -t securityfs none "
			    "/sys/kernel/security");
}

static void check_cgroup(struct comet_check *check, bool thorough)
{
	_cleanup_free_ char *path = NULL;
	struct comet_error error = { .text = "" };

	(void)thorough;
	check->name = "cgroup v2";
	if (comet_cgroup_root(&path, &error) == 0)
		set_ok(check, "%s", path);
	else
		set_missing(check, "not usable", "%s", error.text);
}

/* Capabilities count for BPF and mounts of the host only in the first user namespace. */
static bool in_initial_user_ns(void)
{
	unsigned long inside = 0;
	unsigned long outside = 0;
	unsigned long length = 0;
	struct stat st;
	FILE *map;

	if (stat("/proc/self/ns/user", &st) == 0)
		return st.st_ino == INITIAL_USER_NS;
	map = fopen("/proc/self/uid_map", "re");
	if (!map)
		return false;
	if (fscanf(map, "%lu %lu %lu", &inside, &outside, &length) != 3)
		length = 0;
	fclose(map);
	return inside == 0 && outside == 0 && length == UINT32_MAX;
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, for the kernel as for us. */
static bool has_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

static void check_rights(struct comet_check *check, bool thorough)
{
	(void)thorough;
	check->name = "rights";
	if (!in_initial_user_ns())
		set_missing(check, "inside a user namespace",
			    "run Comet as root of the host, not inside a rootless container or a "
			    "user namespace");
	else if (!has_rights() && geteuid() == 0)
		set_missing(
			check, "root without CAP_SYS_ADMIN",
			"give Comet as root CAP_SYS_ADMIN (of a container: make it privileged)");
	else if (!has_rights())
		set_missing(check, "not root", "run Comet as root, for instance with sudo");
	else
		set_ok(check, "CAP_SYS_ADMIN in the host's user namespace");
}

/*
 * 0 when the kernel takes an LSM program that allows everything; it is gone at once. Without a
 * target (btf_id 0) a kernel that would take one answers EINVAL: that costs no reading of BTF.
 */
static int try_program(int btf_id)
{
	const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_LSM_MAC,
		    .attach_btf_id = (__u32)btf_id);
	int fd = bpf_prog_load(BPF_PROG_TYPE_LSM, "comet_probe", "GPL", instructions,
			       COMET_ARRAY_SIZE(instructions), &options);

	if (fd < 0)
		return btf_id == 0 && errno == EINVAL ? 0 : -errno;
	close(fd);
	return 0;
}

/* In this mode programs load, but may not read what a verdict needs. */
static bool in_confidentiality_lockdown(void)
{
	_cleanup_fclose_ FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128];

	return file && fgets(line, sizeof(line), file) && strstr(line, "[confidentiality]");
}

static void check_program(struct comet_check *check, bool thorough)
{
	int r = thorough ? libbpf_find_vmlinux_btf_id("file_open", BPF_LSM_MAC) : 0;

	check->name = "LSM programs";
	if (r >= 0)
		r = try_program(r);
	if (r == 0 && in_confidentiality_lockdown())
		set_missing(check, "kernel lockdown is in mode confidentiality",
			    "boot with lockdown=integrity or without lockdown= on the kernel "
			    "command line");
	else if (r == 0)
		set_ok(check, "the kernel takes them");
	else if (r == -EPERM && !(in_initial_user_ns() && has_rights()))
		set_missing(check, "not tried: rights are missing",
			    "run Comet as root of the host to find out whether the kernel takes "
			    "LSM programs");
	else if (r == -EPERM)
		set_missing(check, "the kernel refuses LSM programs (lockdown? container?)",
			    "run Comet outside of the container or virtual machine whose policy "
			    "forbids bpf(2) even to root");
	else
		set_missing(check, strerror(-r),
			    "boot a kernel built with CONFIG_BPF_LSM=y, CONFIG_BPF_SYSCALL=y and "
			    "CONFIG_BPF_JIT=y");
}

static void (*const checks_of_host[])(struct comet_check *check, bool thorough) = {
	check_kernel, check_btf, check_lsm, check_cgroup, check_rights, check_program,
};
_Static_assert(COMET_ARRAY_SIZE(checks_of_host) <= COMET_CHECKS_MAX, "callers have room");

size_t comet_probe_host(struct comet_check checks[COMET_CHECKS_MAX])
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(checks_of_host); i++)
		checks_of_host[i](&checks[i], true);
	return COMET_ARRAY_SIZE(checks_of_host);
}

int comet_probe_require(struct comet_error *error)
{
	struct comet_check check;

	for (size_t i = 0; i < COMET_ARRAY_SIZE(checks_of_host); i++) {
		checks_of_host[i](&check, false);
		if (!check.ok)
			return comet_error_set(error, ENOTSUP, "%s: %s; %s", check.name,
					       check.found, check.remedy);
	}
	return 0;
}
