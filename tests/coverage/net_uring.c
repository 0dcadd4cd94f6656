// SPDX-License-Identifier: Apache-2.0
/* On which roads does io_uring lead to the network? In the caller's thread, in a worker's, by
 * polling.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/coverage/net.h"
#include "tests/coverage/uring.h"

static int answer(int fd, int result)
{
	close(fd);
	return result < 0 ? result : 0;
}

static int request_connect(const struct place *place, __u8 flags, unsigned int setup)
{
	union net_address to;
	socklen_t len = net_target(place, "127.0.0.1", "tcp", &to);
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_CONNECT,
		.flags = flags,
		.fd = fd,
		.addr = (unsigned long)&to,
		.off = len,
	};

	return answer(fd, uring_do(&sqe, setup));
}

static int connect_inline(const struct place *place)
{
	return request_connect(place, 0, 0);
}

static int connect_async(const struct place *place)
{
	return request_connect(place, IOSQE_ASYNC, 0);
}

static int connect_polled(const struct place *place)
{
	return request_connect(place, 0, IORING_SETUP_SQPOLL);
}

static int socket_and_connect(const struct place *place)
{
	struct io_uring_sqe make = {
		.opcode = IORING_OP_SOCKET,
		.fd = AF_INET6,
		.off = SOCK_STREAM,
	};
	int fd = uring_do(&make, 0);
	union net_address to;
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_CONNECT,
		.fd = fd,
		.addr = (unsigned long)&to,
		.off = net_target(place, "::1", "tcp", &to),
	};

	errno = fd < 0 ? -fd : 0;
	road_must(fd, "IORING_OP_SOCKET");
	return answer(fd, uring_do(&sqe, 0));
}

/* A socket that has no descriptor, but a slot of the ring's. */
static int slot_and_connect(const struct place *place)
{
	union net_address to;
	struct io_uring_sqe requests[] = {
		{ .opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM, .file_index = 1 },
		{
			.opcode = IORING_OP_CONNECT,
			.flags = IOSQE_FIXED_FILE,
			.addr = (unsigned long)&to,
			.off = net_target(place, "127.0.0.1", "tcp", &to),
		},
	};
	int results[2];

	uring_do_all(requests, results, 2, 0);
	errno = -results[0];
	road_must(results[0], "IORING_OP_SOCKET");
	return results[1];
}

/* Not a TCP socket: one of a kind that no rule could judge. */
static int make_raw(const struct place *place)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SOCKET,
		.flags = IOSQE_ASYNC,
		.fd = AF_INET,
		.off = SOCK_RDM,
	};
	int fd = uring_do(&sqe, 0);

	place_names(place, "family 2 type 4");
	return answer(fd, fd);
}

static int make_udp(const struct place *place)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SOCKET,
		.flags = IOSQE_ASYNC,
		.fd = AF_INET,
		.off = SOCK_DGRAM,
	};
	int fd = uring_do(&sqe, 0);

	(void)place;
	return answer(fd, fd);
}

/* A message with its address. */
static int request_message(const struct place *place, __u8 opcode, __u8 flags, int type,
			   unsigned int message_flags)
{
	struct iovec part = { net_data, sizeof(net_data) };
	union net_address to;
	struct msghdr message = {
		.msg_name = &to,
		.msg_namelen =
			net_target(place, "127.0.0.1", type == SOCK_STREAM ? "tcp" : "udp", &to),
		.msg_iov = &part,
		.msg_iovlen = 1,
	};
	int fd = net_socket(AF_INET, type, 0);
	struct io_uring_sqe sqe = {
		.opcode = opcode,
		.flags = flags,
		.fd = fd,
		.addr = (unsigned long)&message,
		.len = 1,
		.msg_flags = message_flags,
	};

	return answer(fd, uring_do(&sqe, 0));
}

static int message_inline(const struct place *place)
{
	return request_message(place, IORING_OP_SENDMSG, 0, SOCK_DGRAM, 0);
}

static int message_async(const struct place *place)
{
	return request_message(place, IORING_OP_SENDMSG, IOSQE_ASYNC, SOCK_DGRAM, 0);
}

static int message_zero_copy(const struct place *place)
{
	return request_message(place, IORING_OP_SENDMSG_ZC, 0, SOCK_DGRAM, 0);
}

/* A ring does not wait for the answer. */
static int message_fast_open(const struct place *place)
{
	int result = request_message(place, IORING_OP_SENDMSG, 0, SOCK_STREAM, MSG_FASTOPEN);

	return result == -EINPROGRESS ? 0 : result;
}

/* Bytes, to an address that the request names, or without one on a connected socket. */
static int request_send(const struct place *place, __u8 opcode, __u8 flags, bool connected)
{
	union net_address to;
	socklen_t len = net_target(place, "127.0.0.1", "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = opcode,
		.flags = flags,
		.fd = fd,
		.addr = (unsigned long)net_data,
		.len = sizeof(net_data),
	};

	if (connected) {
		road_must(connect(fd, &to.any, len), "connect");
	} else {
		sqe.addr2 = (unsigned long)&to;
		sqe.addr_len = (__u16)len;
	}
	return answer(fd, uring_do(&sqe, 0));
}

static int send_to_inline(const struct place *place)
{
	return request_send(place, IORING_OP_SEND, 0, false);
}

static int send_connected(const struct place *place)
{
	return request_send(place, IORING_OP_SEND, 0, true);
}

static int send_async(const struct place *place)
{
	return request_send(place, IORING_OP_SEND, IOSQE_ASYNC, true);
}

static int send_zero_copy(const struct place *place)
{
	return request_send(place, IORING_OP_SEND_ZC, 0, false);
}

static int send_zero_copy_async(const struct place *place)
{
	return request_send(place, IORING_OP_SEND_ZC, IOSQE_ASYNC, true);
}

static int write_connected(const struct place *place)
{
	return request_send(place, IORING_OP_WRITE, IOSQE_ASYNC, true);
}

static int splice_connected(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, "127.0.0.1", "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0), ends[2];
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SPLICE,
		.fd = fd,
		.off = (__u64)-1,
		.splice_off_in = (__u64)-1,
		.len = sizeof(net_data),
	};

	road_must(pipe(ends), "pipe");
	road_must(write(ends[1], net_data, sizeof(net_data)), "write");
	road_must(connect(fd, &to.any, len), "connect");
	sqe.splice_fd_in = ends[0];
	return answer(fd, uring_do(&sqe, 0));
}

#define RING(words, how, what)                                                                     \
	NET_ROW("io_uring: " words, how), .op = (what), .grants = net_grant_four

static const struct road net_uring[] = {
	{ RING("connect", connect_inline, "connect") },
	{ RING("connect in a worker", connect_async, "connect") },
	{ RING("connect by a polling thread", connect_polled, "connect") },
	{ NET_ROW("io_uring: socket, then connect by IPv6", socket_and_connect), .op = "connect",
	  .grants = net_grant_six },
	{ RING("socket in a slot, then connect", slot_and_connect, "connect") },
	{ RING("sendmsg", message_inline, "send") },
	{ RING("sendmsg in a worker", message_async, "send") },
	{ RING("sendmsg without copying", message_zero_copy, "send") },
	{ RING("sendmsg with MSG_FASTOPEN", message_fast_open, "send"), .prepare = net_fast_open },
	{ RING("send to an address", send_to_inline, "send") },
	{ RING("send on a connected UDP socket", send_connected, "send") },
	{ RING("send on a connected UDP socket in a worker", send_async, "send") },
	{ RING("send to an address without copying", send_zero_copy, "send") },
	{ RING("send without copying in a worker", send_zero_copy_async, "send") },
	{ RING("write to a connected UDP socket in a worker", write_connected, "send") },
	{ RING("splice to a connected UDP socket", splice_connected, "send"), .hooked = 0x0605 },
	{
		.name = "io_uring: socket of a type that no rule could judge",
		.surface = "kernel",
		.op = "socket",
		.try = make_raw,
		.twin = make_udp,
		.hidden = { EPERM },
	},
};
ROADS(net_uring);
