// SPDX-License-Identifier: Apache-2.0
//
// What does a Debian host have set up before anything runs? (by systemd, udev and sysctl; here by
// us)

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "vm-init.h"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", path);
	close(fd);
}

static int try_mount(const char *type, const char *source, const char *target, unsigned long flags,
		     const char *options)
{
	if (mkdir(target, 0755) < 0 && errno != EEXIST)
		return -errno;
	return mount(source, target, type, flags, options) < 0 ? -errno : 0;
}

static void must_mount(const char *type, const char *source, const char *target,
		       unsigned long flags, const char *options)
{
	int err = try_mount(type, source, target, flags, options);

	// The kernel may have mounted /dev itself.
	if (err && err != -EBUSY) {
		errno = -err;
		die("mount %s", target);
	}
}

// Device nodes whose opening loads their module (loop-control, net/tun, ...), as udev makes them.
static void make_nodes(const char *modules)
{
	char path[300], line[256], node[128];
	unsigned int major, minor;
	char type;
	FILE *names;

	snprintf(path, sizeof(path), "%s/modules.devname", modules);
	names = fopen(path, "re");
	if (!names)
		die("%s", path);
	while (fgets(line, sizeof(line), names)) {
		if (sscanf(line, "%*s %127s %c%u:%u", node, &type, &major, &minor) != 4)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", node);
		for (char *slash = strchr(path + 5, '/'); slash; slash = strchr(slash + 1, '/')) {
			*slash = '\0';
			mkdir(path, 0755);
			*slash = '/';
		}
		if (mknod(path, 0600 | (type == 'b' ? S_IFBLK : S_IFCHR), makedev(major, minor)) <
			    0 &&
		    errno != EEXIST)
			die("%s", path);
	}
	fclose(names);
	// By udev's rules anybody may use these.
	chmod("/dev/fuse", 0666);
	chmod("/dev/net/tun", 0666);
}

void host_mount(void)
{
	const unsigned long kernel = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	const unsigned long memory = MS_NOSUID | MS_NODEV;
	struct utsname name;
	char modules[256];

	must_mount("proc", "proc", "/proc", kernel, NULL);
	must_mount("sysfs", "sysfs", "/sys", kernel, NULL);
	must_mount("devtmpfs", "udev", "/dev", MS_NOSUID, "mode=755");
	must_mount("devpts", "devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC,
		   "gid=5,mode=620,ptmxmode=666");
	must_mount("tmpfs", "tmpfs", "/dev/shm", memory, "mode=1777");
	must_mount("mqueue", "mqueue", "/dev/mqueue", kernel, NULL);
	must_mount("tmpfs", "tmpfs", "/run", memory, "mode=755");
	must_mount("tmpfs", "tmpfs", "/run/lock", kernel, "mode=1777");
	must_mount("tmpfs", "tmpfs", "/tmp", memory, "mode=1777");
	must_mount("securityfs", "securityfs", "/sys/kernel/security", kernel, NULL);
	must_mount("bpf", "bpf", "/sys/fs/bpf", kernel, "mode=700");
	must_mount("debugfs", "debugfs", "/sys/kernel/debug", kernel, NULL);
	must_mount("tracefs", "tracefs", "/sys/kernel/tracing", kernel, NULL);

	uname(&name);
	snprintf(modules, sizeof(modules), "/lib/modules/%s", name.release);
	must_mount("ext4", "/dev/nvme0n1p2", modules, MS_RDONLY, NULL);
	make_nodes(modules);
}

void host_set_up(void)
{
	const struct rlimit files = { 1024, 524288 };
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (symlink("/proc/self/fd", "/dev/fd") < 0 ||
	    symlink("/proc/self/fd/0", "/dev/stdin") < 0 ||
	    symlink("/proc/self/fd/1", "/dev/stdout") < 0 ||
	    symlink("/proc/self/fd/2", "/dev/stderr") < 0)
		die("links in /dev");
	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &lo) < 0)
		die("lo");
	close(sock);
	if (sethostname("comet-vm", 8) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0)
		die("host name, limits");
	write_file("/proc/sys/fs/protected_hardlinks", "1");
	write_file("/proc/sys/fs/protected_symlinks", "1");
	write_file("/proc/sys/fs/protected_fifos", "1");
	write_file("/proc/sys/fs/protected_regular", "2");
}

static void mount_cgroup1(void)
{
	char line[128], name[64], target[128];
	FILE *controllers = fopen("/proc/cgroups", "re");
	int enabled;

	must_mount("tmpfs", "tmpfs", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   "mode=755");
	must_mount("cgroup", "cgroup", "/sys/fs/cgroup/systemd", 0, "none,name=systemd");
	while (controllers && fgets(line, sizeof(line), controllers)) {
		if (sscanf(line, "%63s %*d %*d %d", name, &enabled) != 2 || !enabled)
			continue;
		snprintf(target, sizeof(target), "/sys/fs/cgroup/%s", name);
		// Newer kernels have some controllers for cgroup2 alone.
		if (try_mount("cgroup", "cgroup", target, 0, name) < 0)
			rmdir(target);
	}
	if (controllers)
		fclose(controllers);
}

void host_mount_cgroups(const char *mode)
{
	const char *target = NULL;

	if (strcmp(mode, "v2") == 0) {
		target = "/sys/fs/cgroup";
	} else if (strcmp(mode, "odd") == 0) {
		target = "/mnt/odd-cgroup";
	} else {
		mount_cgroup1();
		if (strcmp(mode, "hybrid") == 0)
			target = "/sys/fs/cgroup/unified";
	}
	if (target)
		must_mount("cgroup2", "cgroup2", target, MS_NOSUID | MS_NODEV | MS_NOEXEC,
			   "nsdelegate,memory_recursiveprot");
}
