// SPDX-License-Identifier: Apache-2.0
/* What can an agent do with a descriptor that somebody outside opened? */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"
#include "tests/coverage/uring.h"

static struct sockaddr_un address_of(const struct place *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, road_mine(place, "socket"));
	return address;
}

/* A message of one byte, with room for a descriptor. */
struct message {
	struct msghdr header;
	struct iovec text;
	char byte;
	char control[CMSG_SPACE(sizeof(int))];
};

static struct msghdr *message_init(struct message *message)
{
	*message = (struct message){ .byte = 'x' };
	message->text = (struct iovec){ .iov_base = &message->byte, .iov_len = 1 };
	message->header = (struct msghdr){
		.msg_iov = &message->text,
		.msg_iovlen = 1,
		.msg_control = message->control,
		.msg_controllen = sizeof(message->control),
	};
	return &message->header;
}

/* Sends a descriptor of path to whoever connects. */
static void send_opened(const struct place *place, const char *path, int flags)
{
	struct sockaddr_un address = address_of(place);
	struct message message;
	struct msghdr *header = message_init(&message);
	struct cmsghdr *part = CMSG_FIRSTHDR(header);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = open(path, flags);

	road_must(fd, path);
	road_must(bind(listener, (void *)&address, sizeof(address)), "bind");
	road_must(chmod(address.sun_path, 0777), "chmod");
	road_must(listen(listener, 8), "listen");
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	road_ready(place);
	for (;;)
		sendmsg(accept(listener, NULL, NULL), header, 0);
}

static void send_for_reading(const struct place *place)
{
	send_opened(place, place->target, O_RDONLY);
}

static void send_for_writing(const struct place *place)
{
	send_opened(place, place->target, O_RDWR);
}

static void send_path(const struct place *place)
{
	send_opened(place, place->target, O_PATH);
}

static void send_directory(const struct place *place)
{
	send_opened(place, place->dir, O_RDONLY | O_DIRECTORY);
}

static int connected(const struct place *place)
{
	struct sockaddr_un address = address_of(place);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	road_must(connect(s, (void *)&address, sizeof(address)), "connect");
	return s;
}

/* The kernel gives no errno here, but none of the descriptors: then -1 and EACCES. */
static int descriptor_in(struct msghdr *header)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(header);
	int fd;

	errno = EACCES;
	if (!part || part->cmsg_len < CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

static int receive(const struct place *place, int flags)
{
	struct message message;
	struct msghdr *header = message_init(&message);
	int s = connected(place);

	road_must(recvmsg(s, header, flags), "recvmsg");
	close(s);
	return descriptor_in(header);
}

static int receive_and_read(const struct place *place)
{
	return road_read_canary(receive(place, 0));
}

static int peek_and_read(const struct place *place)
{
	return road_read_canary(receive(place, MSG_PEEK));
}

static int receive_by_uring(const struct place *place)
{
	struct message message;
	struct msghdr *header = message_init(&message);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_RECVMSG,
		.fd = connected(place),
		.addr = (unsigned long)header,
		.len = 1,
	};

	if (uring_do(&sqe, 0) < 0)
		road_broken("IORING_OP_RECVMSG");
	return road_read_canary(descriptor_in(header));
}

static int receive_and_write(const struct place *place)
{
	int fd = receive(place, 0);

	return fd < 0 ? -errno : road_result(write(fd, "x", 1));
}

static int receive_and_truncate(const struct place *place)
{
	int fd = receive(place, 0);

	return fd < 0 ? -errno : road_result(ftruncate(fd, 1));
}

static int receive_and_map(const struct place *place)
{
	int fd = receive(place, 0);
	char *text;

	if (fd < 0)
		return -errno;
	text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	text[0] = 'x';
	return road_result(msync(text, 4096, MS_SYNC));
}

static int receive_and_reopen(const struct place *place)
{
	long fd = road_must(receive(place, 0), "what was received");

	return road_read_canary(open(road_path("/proc/self/fd/%ld", fd), O_RDONLY));
}

static int receive_directory(const struct place *place)
{
	int fd = receive(place, 0);

	place_names(place, "%s", place->dir);
	return fd < 0 ? -errno : road_read_canary(openat(fd, "f", O_RDONLY));
}

static void make_device(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(mknod(place->target, S_IFCHR | 0600, makedev(1, 5)), place->target);
	road_must(chown(place->target, place->uid, place->uid), place->target);
}

static void grant_device(const struct place *place)
{
	road_grant("fs.read %s", place->target);
}

static int receive_device(const struct place *place)
{
	int fd = receive(place, 0);
	char byte;

	return fd < 0 ? -errno : read(fd, &byte, 1) == 1 ? 0 : -errno;
}

/* A process whose descriptor 100 is the target's. */
static void hold_open(const struct place *place)
{
	int fd = open(place->target, O_RDONLY);

	road_must(dup2(fd, 100), place->target);
	place_tell(place, "%d", getpid());
	road_ready(place);
}

static int take_from(pid_t pid)
{
	long process = road_must(syscall(SYS_pidfd_open, pid, 0), "pidfd_open");

	return road_read_canary(syscall(SYS_pidfd_getfd, process, 100, 0));
}

/* Behind walls there is no such process; then of the first one, which is Comet's. */
static int take_from_outside(const struct place *place)
{
	return take_from(road_walled() ? 1 : atoi(place_told(place)));
}

static int take_from_child(const struct place *place)
{
	pid_t child;
	int fd = open(place->target, O_RDONLY), result;

	road_must(dup2(fd, 100), place->target);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	close(100);
	result = take_from(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return result;
}

#define RECEIVE(words, how, who)                                                                   \
	.name = (words), .surface = "fs.read", .op = "receive", .try = (how), .outside = (who),    \
	.hidden = { EACCES, ENOENT }
#define RECEIVE_WRITE(words, how)                                                                  \
	.name = (words), .surface = "fs.write", .op = "receive", .try = (how),                     \
	.outside = send_for_writing, .hidden = { EACCES, ENOENT }, .readable = { EACCES },         \
	.flags = ROAD_CHANGES

static const struct road file_receive[] = {
	{ RECEIVE("read a descriptor received over a UNIX socket", receive_and_read,
		  send_for_reading) },
	{ RECEIVE("read a descriptor received with MSG_PEEK", peek_and_read, send_for_reading) },
	{ RECEIVE("read a descriptor received by io_uring", receive_by_uring, send_for_reading) },
	{ RECEIVE("open below a directory received over a UNIX socket", receive_directory,
		  send_directory) },
	{ RECEIVE_WRITE("write to a descriptor received over a UNIX socket", receive_and_write) },
	{ RECEIVE_WRITE("ftruncate a descriptor received over a UNIX socket",
			receive_and_truncate) },
	{ RECEIVE_WRITE("map a descriptor received over a UNIX socket", receive_and_map) },
	{
		.name = "open an O_PATH descriptor received over a UNIX socket",
		.surface = "fs.read",
		.op = "open",
		.try = receive_and_reopen,
		.outside = send_path,
		.hidden = { ENOENT },
	},
	{
		.name = "receive a device's descriptor of a node in a granted directory",
		.surface = "fs.read",
		.op = "receive",
		.prepare = make_device,
		.outside = send_for_reading,
		.grants = grant_device,
		.try = receive_device,
		.granted = { EACCES, ENOENT },
	},
	{
		.name = "pidfd_getfd of a process outside",
		.surface = "ipc",
		.op = "ptrace",
		.try = take_from_outside,
		.twin = take_from_child,
		.outside = hold_open,
		.hidden = { EPERM },
		.walled = { EPERM },
	},
};
ROADS(file_receive);
