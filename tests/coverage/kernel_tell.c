// SPDX-License-Identifier: Apache-2.0
/* What do calls tell of the host's mounts and namespaces that name neither? */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* linux/mount.h of 6.11, linux/nsfs.h of 6.19 */
struct mount_request {
	unsigned int size, spare;
	unsigned long long mount, parameter, namespace;
};

struct namespace_request {
	unsigned int size, spare;
	unsigned long long last;
	unsigned int type, spare2;
	unsigned long long user;
};

#define STATMOUNT 457
#define LISTMOUNT 458
#define LISTNS 470
#define ALL_MOUNTS (~0ULL)
#define MOUNT_POINT 0x10
#define AT_MOUNT_POINT 108 /* in what statmount gives */
#define AT_STRINGS 512
#define MANY 4096

static const char *mount_point(const struct place *place)
{
	return road_path("%s-m", place->dir);
}

static void mount_somewhere(const struct place *place)
{
	place_default(place);
	place_directory(place, mount_point(place));
	road_must(mount("none", mount_point(place), "tmpfs", 0, NULL), "mount");
}

/* Nothing to see: takes it away again. */
static bool unmount(const struct place *place)
{
	umount2(mount_point(place), MNT_DETACH);
	return false;
}

static long list_mounts(unsigned long long namespace, unsigned long long *mounts)
{
	struct mount_request request = {
		.size = sizeof(request),
		.mount = ALL_MOUNTS,
		.namespace = namespace,
	};

	return syscall(LISTMOUNT, &request, mounts, MANY, 0);
}

static int find_mount(const struct place *place)
{
	static unsigned long long mounts[MANY];
	struct mount_request request = { .size = sizeof(request), .parameter = MOUNT_POINT };
	long n = list_mounts(0, mounts);
	char about[4096];
	unsigned int at;

	if (n < 0 && errno == EINVAL) /* 6.8 to 6.10 know no namespaces */
		return -ENOSYS;
	if (n < 0)
		return -errno;
	for (long i = 0; i < n; i++) {
		request.mount = mounts[i];
		if (syscall(STATMOUNT, &request, about, sizeof(about), 0) < 0)
			continue;
		memcpy(&at, about + AT_MOUNT_POINT, sizeof(at));
		if (strcmp(about + AT_STRINGS + at, mount_point(place)) == 0)
			return 0;
	}
	return -ENOENT;
}

/* A mount namespace outside that nobody inside is in, by the number that 6.11 gives it. */
static void keep_namespace(const struct place *place)
{
	unsigned long long number = 0;
	int fd;

	road_must(unshare(CLONE_NEWNS), "unshare");
	fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	road_must(fd, "/proc/self/ns/mnt");
	if (ioctl(fd, _IOR(0xb7, 5, unsigned long long), &number) < 0)
		number = 0;
	place_tell(place, "%llu", number);
	road_ready(place);
}

static int list_mounts_there(const struct place *place)
{
	unsigned long long number = strtoull(place_told(place), NULL, 10);
	static unsigned long long mounts[MANY];

	return number ? road_result(list_mounts(number, mounts)) : -ENOSYS;
}

static int list_mounts_here(const struct place *place)
{
	static unsigned long long mounts[MANY];

	(void)place;
	return road_result(list_mounts(0, mounts));
}

static long list_namespaces(unsigned long long *numbers)
{
	struct namespace_request request = { .size = sizeof(request), .type = CLONE_NEWNS };

	return syscall(LISTNS, &request, numbers, MANY, 0);
}

static int find_namespace(const struct place *place)
{
	unsigned long long number = strtoull(place_told(place), NULL, 10);
	static unsigned long long numbers[MANY];
	long n = list_namespaces(numbers);

	if (n < 0)
		return -errno;
	for (long i = 0; i < n; i++)
		if (numbers[i] == number)
			return 0;
	return -ENOENT;
}

static int find_any_namespace(const struct place *place)
{
	static unsigned long long numbers[MANY];

	(void)place;
	return road_result(list_namespaces(numbers));
}

static void tell_device(const struct place *place)
{
	struct stat about;

	place_default(place);
	road_must(stat(place->dir, &about), place->dir);
	place_tell(place, "%lu", (unsigned long)about.st_dev);
}

#ifdef SYS_ustat
static int ask_device(const struct place *place)
{
	char about[64];

	return road_result(syscall(SYS_ustat, strtoul(place_told(place), NULL, 10), about));
}
#endif

static const struct road kernel_tell[] = {
	{
		.name = "listmount and statmount",
		.surface = "kernel",
		.try = find_mount,
		.hidden = { ROAD_SUCCEEDS },
		.prepare = mount_somewhere,
		.harmed = unmount,
		.flags = ROAD_LEAKS,
		.since = 0x060b,
		.why = "tells where filesystems are mounted, as /proc/self/mountinfo does",
	},
	{
		.name = "listmount of another mount namespace",
		.surface = "kernel",
		.try = list_mounts_there,
		.twin = list_mounts_here,
		.hidden = { EPERM, ENOENT },
		.outside = keep_namespace,
		.flags = ROAD_NO_EVENT,
		.since = 0x060b,
		.why = "the kernel asks silently who may look there",
	},
	{
		.name = "listns",
		.surface = "kernel",
		.try = find_namespace,
		.twin = find_any_namespace,
		.hidden = { ENOENT },
		.outside = keep_namespace,
		.flags = ROAD_NO_EVENT,
		.since = 0x0613,
		.why = "the kernel leaves out namespaces that the caller has no power over",
	},
#ifdef SYS_ustat
	{
		.name = "ustat",
		.surface = "kernel",
		.try = ask_device,
		.hidden = { ROAD_SUCCEEDS },
		.prepare = tell_device,
		.flags = ROAD_LEAKS,
		.why = "tells how full a filesystem is, by its device's number",
	},
#endif
};
ROADS(kernel_tell);
