// SPDX-License-Identifier: Apache-2.0
/* Which devices and files of /proc and /sys are the kernel itself? */
#include <fcntl.h>

#include "tests/coverage/road.h"

static int open_it(const struct place *place, const char *path, int flags)
{
	place_names(place, "%s", path);
	return road_fd(open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

/* The harmless device, which everybody may use. */
static int open_null(const struct place *place)
{
	(void)place;
	return road_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
}

#define EACH_READ(f)                                                                               \
	f(mem, "/dev/mem") f(kmsg, "/dev/kmsg") f(rtc, "/dev/rtc0") f(disk, "/dev/nvme0n1")        \
		f(console, "/dev/console") f(serial, "/dev/ttyS0") f(screen, "/dev/vcs")           \
			f(fuse, "/dev/fuse") f(loop, "/dev/loop-control") f(kcore, "/proc/kcore")  \
				f(symbols, "/proc/kallsyms") f(keys, "/proc/keys")                 \
					f(log, "/proc/kmsg") f(pagemap, "/proc/kpageflags")
/* Many programs look there first: of the quiet set. */
#define EACH_QUIET(f)                                                                              \
	f(modules, "/proc/modules") f(types, "/sys/kernel/btf/vmlinux")                            \
		f(notes, "/sys/kernel/notes")
#define EACH_WRITE(f)                                                                              \
	f(log_write, "/dev/kmsg") f(disk_write, "/dev/nvme0n1") f(sysrq, "/proc/sysrq-trigger")    \
		f(core_pattern, "/proc/sys/kernel/core_pattern") f(modprobe,                       \
								   "/proc/sys/kernel/modprobe")    \
			f(bpf_sysctl, "/proc/sys/kernel/unprivileged_bpf_disabled") f(             \
				forward, "/proc/sys/net/ipv4/ip_forward")                          \
				f(caches, "/proc/sys/vm/drop_caches") f(power, "/sys/power/state") \
					f(profiling, "/sys/kernel/profiling")                      \
						f(printk, "/sys/module/printk/parameters/time")

#define READ_FUNCTION(name, path)                                                                  \
	static int read_##name(const struct place *place)                                          \
	{                                                                                          \
		return open_it(place, path, O_RDONLY);                                             \
	}
#define WRITE_FUNCTION(name, path)                                                                 \
	static int write_##name(const struct place *place)                                         \
	{                                                                                          \
		return open_it(place, path, O_WRONLY);                                             \
	}
EACH_READ(READ_FUNCTION)
EACH_QUIET(READ_FUNCTION)
EACH_WRITE(WRITE_FUNCTION)
WRITE_FUNCTION(hostname, "/proc/sys/kernel/hostname")

/* File modes keep an ordinary user from most of them. */
#define ROW(function, path, more)                                                                  \
	{                                                                                          \
		.name = "open of " path,                                                           \
		.surface = "fs.read",                                                              \
		.op = "open",                                                                      \
		.try = read_##function,                                                            \
		.twin = open_null,                                                                 \
		.hidden = { ENOENT },                                                              \
		.walled = { EACCES },                                                              \
		.flags = more,                                                                     \
	},
#define READ_ROW(function, path) ROW(function, path, 0)
#define QUIET_ROW(function, path) ROW(function, path, ROAD_QUIET)
#define WRITE_ROW(function, path)                                                                  \
	{                                                                                          \
		.name = "open of " path " for writing",                                            \
		.surface = "fs.write",                                                             \
		.op = "open",                                                                      \
		.try = write_##function,                                                           \
		.twin = open_null,                                                                 \
		.hidden = { ENOENT },                                                              \
		.walled = { EACCES },                                                              \
	},

static const struct road kernel_device[] = {
	EACH_READ(READ_ROW) EACH_QUIET(QUIET_ROW) EACH_WRITE(WRITE_ROW){
		.name = "open of /proc/sys/kernel/hostname for writing",
		.surface = "fs.write",
		.op = "open",
		.try = write_hostname,
		.twin = open_null,
		/* In the run's own /proc it may be read. */
		.hidden = { ENOENT, EACCES },
		.walled = { EACCES },
	},
};
ROADS(kernel_device);
