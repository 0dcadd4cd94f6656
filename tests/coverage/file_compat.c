// SPDX-License-Identifier: Apache-2.0
/* Do system calls in the 32-bit convention of x86 lead around what holds the others? */
#ifdef __x86_64__
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* arch/x86/entry/syscalls/syscall_32.tbl */
#define CALL_OPEN 5
#define CALL_CHMOD 15
#define CALL_IOCTL 54
#define CALL_TRUNCATE 92
#define CALL_STAT64 195

/* The program is linked below 4 GB, its stack is not: what is pointed to is static. */
static long call(int number, unsigned long a, unsigned long b, unsigned long c)
{
	long result;

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(number), "b"(a), "c"(b), "d"(c)
		     : "memory", "r8", "r9", "r10", "r11");
	result = (int)result;
	if (result < 0)
		errno = (int)-result;
	return result < 0 ? -1 : result;
}

static unsigned long low(const char *text)
{
	static char copy[512];

	strcpy(copy, text);
	return (unsigned long)copy;
}

static int open_it(const struct place *place)
{
	return road_read_canary(call(CALL_OPEN, low(place->target), O_RDONLY, 0));
}

static int write_it(const struct place *place)
{
	long fd = call(CALL_OPEN, low(place->target), O_WRONLY, 0);

	return fd < 0 ? -errno : road_result(write((int)fd, "x", 1));
}

static int stat_it(const struct place *place)
{
	static char buffer[256];

	return road_result(call(CALL_STAT64, low(place->target), (unsigned long)buffer, 0));
}

static int truncate_it(const struct place *place)
{
	return road_result(call(CALL_TRUNCATE, low(place->target), 1, 0));
}

static int chmod_it(const struct place *place)
{
	return road_result(call(CALL_CHMOD, low(place->target), 0600, 0));
}

static int set_flags(const struct place *place)
{
	static int flags;
	unsigned long fd = (unsigned long)road_must(open(place->target, O_RDONLY), "open");

	road_must(call(CALL_IOCTL, fd, FS_IOC32_GETFLAGS, (unsigned long)&flags), "GETFLAGS");
	flags |= FS_NODUMP_FL;
	return road_result(call(CALL_IOCTL, fd, FS_IOC32_SETFLAGS, (unsigned long)&flags));
}

#define READ(words, event, how)                                                                    \
	.name = (words " by a 32-bit call"), .surface = "fs.read", .op = (event), .try = (how),    \
	.hidden = { ENOENT }
#define WRITE(words, event, how)                                                                   \
	.name = (words " by a 32-bit call"), .surface = "fs.write", .op = (event), .try = (how),   \
	.hidden = { ENOENT }, .readable = { EACCES }, .flags = ROAD_CHANGES

static const struct road file_compat[] = {
	{ READ("open for reading", "open", open_it) },
	{ READ("stat", "stat", stat_it) },
	{ WRITE("open for writing", "open", write_it) },
	{ WRITE("truncate", "truncate", truncate_it) },
	{ WRITE("chmod", "chmod", chmod_it) },
	{
		.name = "ioctl FS_IOC_SETFLAGS by a 32-bit call",
		.surface = "fs.write",
		.op = "ioctl",
		.try = set_flags,
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
};
ROADS(file_compat);
#endif
