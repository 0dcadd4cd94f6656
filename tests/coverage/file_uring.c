// SPDX-License-Identifier: Apache-2.0
/* On which roads does io_uring lead to a file? In the caller's thread, in a worker's, by polling.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/attribute.h"
#include "tests/coverage/road.h"
#include "tests/coverage/uring.h"

static unsigned long address(const void *memory)
{
	return (unsigned long)memory;
}

static int descriptor_of(int result)
{
	errno = -result;
	return result < 0 ? -1 : result;
}

static int request_open(const struct place *place, __u8 how, unsigned int setup)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_OPENAT,
		.flags = how,
		.fd = AT_FDCWD,
		.addr = address(place->target),
		.open_flags = O_RDONLY,
	};

	return road_read_canary(descriptor_of(uring_do(&sqe, setup)));
}

static int openat_inline(const struct place *place)
{
	return request_open(place, 0, 0);
}

static int openat_async(const struct place *place)
{
	return request_open(place, IOSQE_ASYNC, 0);
}

static int openat_polled(const struct place *place)
{
	return request_open(place, 0, IORING_SETUP_SQPOLL);
}

/* Opened into the ring's own table: the agent never has a descriptor. */
static int openat_fixed(const struct place *place)
{
	char text[sizeof(ROAD_CANARY)] = "";
	struct io_uring_sqe sqes[2] = {
		{
			.opcode = IORING_OP_OPENAT,
			.fd = AT_FDCWD,
			.addr = address(place->target),
			.open_flags = O_RDONLY,
			.file_index = 1,
		},
		{
			.opcode = IORING_OP_READ,
			.flags = IOSQE_FIXED_FILE,
			.fd = 0,
			.addr = address(text),
			.len = sizeof(text) - 1,
		},
	};
	int answers[2];

	uring_do_all(sqes, answers, 2, 0);
	if (answers[0] < 0)
		return answers[0];
	return strcmp(text, ROAD_CANARY) == 0 ? 0 : -EBADMSG;
}

static int request_openat2(const struct place *place, __u8 flags)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS };
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_OPENAT2,
		.flags = flags,
		.fd = AT_FDCWD,
		.addr = address(place->target),
		.len = sizeof(how),
		.off = address(&how),
	};

	return road_read_canary(descriptor_of(uring_do(&sqe, 0)));
}

static int openat2_inline(const struct place *place)
{
	return request_openat2(place, 0);
}

static int openat2_async(const struct place *place)
{
	return request_openat2(place, IOSQE_ASYNC);
}

static int request_write(const struct place *place, __u8 flags)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_OPENAT,
		.flags = flags,
		.fd = AT_FDCWD,
		.addr = address(place->target),
		.open_flags = O_WRONLY | O_TRUNC,
	};
	int fd = uring_do(&sqe, 0);

	return fd < 0 ? fd : road_result(write(fd, "x", 1));
}

static int write_inline(const struct place *place)
{
	return request_write(place, 0);
}

static int write_async(const struct place *place)
{
	return request_write(place, IOSQE_ASYNC);
}

static const char *new_name(const struct place *place)
{
	const char *name = road_in(place, "new");

	place_names(place, "%s", name);
	return name;
}

static int create(const struct place *place)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_OPENAT,
		.flags = IOSQE_ASYNC,
		.fd = AT_FDCWD,
		.addr = address(new_name(place)),
		.open_flags = O_WRONLY | O_CREAT,
		.len = 0600,
	};
	int fd = uring_do(&sqe, 0);

	return fd < 0 ? fd : 0;
}

/* All that follow give two paths or one, by the same fields. */
static int request_paths(__u8 operation, const char *path, const char *other, unsigned int len)
{
	struct io_uring_sqe sqe = {
		.opcode = operation,
		.fd = AT_FDCWD,
		.addr = address(path),
		.addr2 = address(other),
		.len = len,
	};

	return uring_do(&sqe, 0);
}

static int statx_with(const struct place *place, __u8 flags)
{
	struct statx stx;
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_STATX,
		.flags = flags,
		.fd = AT_FDCWD,
		.addr = address(place->target),
		.len = STATX_ALL,
		.off = address(&stx),
	};

	return uring_do(&sqe, 0);
}

static int statx_inline(const struct place *place)
{
	return statx_with(place, 0);
}

static int statx_async(const struct place *place)
{
	return statx_with(place, IOSQE_ASYNC);
}

static int getxattr_it(const struct place *place)
{
	char value[64];
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_GETXATTR,
		.addr = address(ATTRIBUTE),
		.addr2 = address(value),
		.addr3 = address(place->target),
		.len = sizeof(value),
	};
	int n = uring_do(&sqe, 0);

	return n < 0 ? n : 0;
}

static int setxattr_it(const struct place *place)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SETXATTR,
		.addr = address(ATTRIBUTE),
		.addr2 = address("1"),
		.addr3 = address(place->target),
		.len = 1,
	};

	return uring_do(&sqe, 0);
}

static int fsetxattr_it(const struct place *place)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_FSETXATTR,
		.fd = (int)road_must(open(place->target, O_RDONLY), "open for reading"),
		.addr = address(ATTRIBUTE),
		.addr2 = address("1"),
		.len = 1,
	};

	return uring_do(&sqe, 0);
}

static int unlink_it(const struct place *place)
{
	return request_paths(IORING_OP_UNLINKAT, place->target, NULL, 0);
}

static int mkdir_it(const struct place *place)
{
	return request_paths(IORING_OP_MKDIRAT, new_name(place), NULL, 0755);
}

static int symlink_it(const struct place *place)
{
	return request_paths(IORING_OP_SYMLINKAT, "somewhere", new_name(place), 0);
}

static int link_in(const struct place *place)
{
	return request_paths(IORING_OP_LINKAT, place->mine, new_name(place), (unsigned)AT_FDCWD);
}

static int link_out(const struct place *place)
{
	return request_paths(IORING_OP_LINKAT, place->target, road_mine(place, "new"),
			     (unsigned)AT_FDCWD);
}

static int rename_in(const struct place *place)
{
	return request_paths(IORING_OP_RENAMEAT, place->mine, new_name(place), (unsigned)AT_FDCWD);
}

static int rename_out(const struct place *place)
{
	return request_paths(IORING_OP_RENAMEAT, place->target, road_mine(place, "new"),
			     (unsigned)AT_FDCWD);
}

#define READ(words, event, how)                                                                    \
	.name = "io_uring " words, .surface = "fs.read", .op = (event), .try = (how),              \
	.hidden = { ENOENT }
#define WRITE(words, event, how)                                                                   \
	.name = "io_uring " words, .surface = "fs.write", .op = (event), .try = (how),             \
	.hidden = { ENOENT }, .readable = { EACCES }, .flags = ROAD_CHANGES

static const struct road file_uring[] = {
	{ READ("OPENAT", "open", openat_inline) },
	{ READ("OPENAT with IOSQE_ASYNC", "open", openat_async) },
	{ READ("OPENAT by a polling thread", "open", openat_polled) },
	{ READ("OPENAT into its own table, then READ", "open", openat_fixed) },
	{ READ("OPENAT2", "open", openat2_inline) },
	{ READ("OPENAT2 with IOSQE_ASYNC", "open", openat2_async) },
	{ READ("STATX", "stat", statx_inline) },
	{ READ("STATX with IOSQE_ASYNC", "stat", statx_async) },
	{ READ("GETXATTR", "getxattr", getxattr_it), .prepare = attribute_prepare },
	{ WRITE("OPENAT for writing", "truncate", write_inline) },
	{ WRITE("OPENAT for writing with IOSQE_ASYNC", "truncate", write_async) },
	{
		.name = "io_uring OPENAT with O_CREAT",
		.surface = "fs.write",
		.op = "create",
		.try = create,
		.hidden = { EACCES },
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
	{ WRITE("SETXATTR", "setxattr", setxattr_it), .prepare = attribute_prepare },
	{
		.name = "io_uring FSETXATTR",
		.surface = "fs.write",
		.op = "setxattr",
		.try = fsetxattr_it,
		.prepare = attribute_prepare,
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
	{ WRITE("UNLINKAT", "unlink", unlink_it) },
	{ WRITE("MKDIRAT", "mkdir", mkdir_it) },
	{ WRITE("SYMLINKAT", "symlink", symlink_it) },
	{ WRITE("LINKAT into it", "link", link_in) },
	{ WRITE("LINKAT out of it", "link", link_out) },
	{ WRITE("RENAMEAT into it", "rename", rename_in) },
	{ WRITE("RENAMEAT out of it", "rename", rename_out) },
};
ROADS(file_uring);
