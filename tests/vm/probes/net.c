// SPDX-License-Identifier: Apache-2.0
/* Which ways of the network are open? An order is `OPERATION ADDRESS PORT...`. */
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static char data[] = "data";

static socklen_t parse(char **words, union address *to)
{
	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, words[0], &to->in.sin_addr) == 1) {
		to->in.sin_family = AF_INET;
		to->in.sin_port = htons((uint16_t)atoi(words[1]));
		return sizeof(to->in);
	}
	if (inet_pton(AF_INET6, words[0], &to->in6.sin6_addr) != 1)
		exit(65);
	to->in6.sin6_family = AF_INET6;
	to->in6.sin6_port = htons((uint16_t)atoi(words[1]));
	return sizeof(to->in6);
}

static int make(char **words, int type, int protocol, union address *to, socklen_t *len)
{
	int fd;

	*len = parse(words, to);
	fd = socket(to->any.sa_family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		exit(66);
	return fd;
}

static int done(int fd, long result)
{
	int r = probe_errno(result);

	close(fd);
	return r;
}

/* Connects; sends too, so that whoever listens there has something to record. */
static int dial(char **words, int type, int protocol)
{
	union address to;
	socklen_t len;
	int fd = make(words, type, protocol, &to, &len);

	if (connect(fd, &to.any, len) < 0)
		return done(fd, -1);
	return done(fd, send(fd, data, sizeof(data), MSG_NOSIGNAL));
}

static int tcp(char **words)
{
	return dial(words, SOCK_STREAM, 0);
}

static int mptcp(char **words)
{
	return dial(words, SOCK_STREAM, IPPROTO_MPTCP);
}

static int udp_dial(char **words)
{
	return dial(words, SOCK_DGRAM, 0);
}

static int udp_connect(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);

	return done(fd, connect(fd, &to.any, len));
}

static int send_to(char **words, int type, int protocol, int flags)
{
	union address to;
	socklen_t len;
	int fd = make(words, type, protocol, &to, &len);

	return done(fd, sendto(fd, data, sizeof(data), flags | MSG_NOSIGNAL, &to.any, len));
}

static int udp(char **words)
{
	return send_to(words, SOCK_DGRAM, 0, 0);
}

static int tfo(char **words)
{
	return send_to(words, SOCK_STREAM, 0, MSG_FASTOPEN);
}

static int mptcp_tfo(char **words)
{
	return send_to(words, SOCK_STREAM, IPPROTO_MPTCP, MSG_FASTOPEN);
}

static struct iovec part = { data, sizeof(data) };

static int send_message(char **words, int type, int flags)
{
	union address to;
	socklen_t len;
	int fd = make(words, type, 0, &to, &len);
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = len,
		.msg_iov = &part,
		.msg_iovlen = 1,
	};

	return done(fd, sendmsg(fd, &msg, flags | MSG_NOSIGNAL));
}

static int udp_msg(char **words)
{
	return send_message(words, SOCK_DGRAM, 0);
}

static int tfo_msg(char **words)
{
	return send_message(words, SOCK_STREAM, MSG_FASTOPEN);
}

/* The other way of fast open: connect(2) only remembers, the first send opens. */
static int tfo_connect(char **words)
{
	static const int on = 1;
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_STREAM, 0, &to, &len);

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) < 0)
		exit(67);
	if (connect(fd, &to.any, len) < 0)
		return done(fd, -1);
	return done(fd, send(fd, data, sizeof(data), MSG_NOSIGNAL));
}

/* Two datagrams by one call, the second to another address: how many went out. */
static int udp_mmsg(char **words)
{
	union address first, second;
	socklen_t first_len, second_len = parse(words + 2, &second);
	int fd = make(words, SOCK_DGRAM, 0, &first, &first_len);
	struct mmsghdr messages[2] = {
		{ .msg_hdr = { &first, first_len, &part, 1, NULL, 0, 0 } },
		{ .msg_hdr = { &second, second_len, &part, 1, NULL, 0, 0 } },
	};
	int n = sendmmsg(fd, messages, 2, 0);

	return done(fd, n) ?: n;
}

/* Connected to the one, a datagram to the other, and to the one again. */
static int udp_stray(char **words)
{
	union address to, stray;
	socklen_t len, stray_len = parse(words + 2, &stray);
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);

	probe_add(probe_errno(connect(fd, &to.any, len)));
	probe_add(probe_errno(send(fd, data, sizeof(data), 0)));
	probe_add(probe_errno(sendto(fd, data, sizeof(data), 0, &stray.any, stray_len)));
	probe_add(probe_errno(send(fd, data, sizeof(data), 0)));
	return done(fd, 0);
}

/* An IPv4 socket takes family 0 for AF_INET. */
static int udp_unspec(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);

	to.any.sa_family = AF_UNSPEC;
	return done(fd, sendto(fd, data, sizeof(data), 0, &to.any, len));
}

/* An IPv6 socket takes family 0 for no address at all and sends to its peer. */
static int udp_unspec_peer(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);

	if (connect(fd, &to.any, len) < 0)
		return done(fd, -1);
	to.any.sa_family = AF_UNSPEC;
	return done(fd, sendto(fd, data, sizeof(data), 0, &to.any, len));
}

static int tcp_unspec(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_STREAM, 0, &to, &len);

	to.any.sa_family = AF_UNSPEC;
	return done(fd, sendto(fd, data, sizeof(data), MSG_FASTOPEN | MSG_NOSIGNAL, &to.any, len));
}

static int dissolve(char **words)
{
	union address to, nobody = { .any.sa_family = AF_UNSPEC };
	socklen_t len;
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);

	probe_add(probe_errno(connect(fd, &to.any, len)));
	probe_add(probe_errno(connect(fd, &nobody.any, sizeof(nobody.any))));
	probe_add(probe_errno(send(fd, data, sizeof(data), 0)));
	return done(fd, 0);
}

/* Nothing but the call itself, through a ring: its result. */
static int ring_call(struct io_uring_sqe *order)
{
	struct io_uring_params p = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &p);
	size_t sq_size = p.sq_off.array + p.sq_entries * sizeof(__u32);
	size_t cq_size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	struct io_uring_cqe *cqes;
	struct io_uring_sqe *sqes;
	char *sq, *cq;

	if (ring < 0)
		return -errno;
	sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		    IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || sqes == MAP_FAILED)
		exit(68);
	cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	sqes[0] = *order;
	*(__u32 *)(sq + p.sq_off.array) = 0;
	__atomic_store_n((__u32 *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return done(ring, -1);
	close(ring);
	return cqes[0].res;
}

/* The socket itself is made through a ring, too. */
static int uring_socket(char **words)
{
	union address to;
	socklen_t len = parse(words, &to);
	struct io_uring_sqe make_order = {
		.opcode = IORING_OP_SOCKET,
		.fd = to.any.sa_family,
		.off = SOCK_STREAM,
	};
	int fd = ring_call(&make_order);
	struct io_uring_sqe order = {
		.opcode = IORING_OP_CONNECT,
		.fd = fd,
		.addr = (uintptr_t)&to,
		.off = len,
	};
	int result;

	if (fd < 0)
		return fd;
	result = ring_call(&order);
	close(fd);
	return result;
}

static int uring_connect(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_STREAM, 0, &to, &len);
	struct io_uring_sqe order = {
		.opcode = IORING_OP_CONNECT,
		.fd = fd,
		.addr = (uintptr_t)&to,
		.off = len,
	};
	int result = ring_call(&order);

	close(fd);
	return result;
}

static int uring_send(char **words)
{
	union address to;
	socklen_t len;
	int fd = make(words, SOCK_DGRAM, 0, &to, &len);
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = len,
		.msg_iov = &part,
		.msg_iovlen = 1,
	};
	struct io_uring_sqe order = {
		.opcode = IORING_OP_SENDMSG,
		.fd = fd,
		.addr = (uintptr_t)&msg,
		.len = 1,
	};
	int result = ring_call(&order);

	close(fd);
	return result < 0 ? result : 0;
}

/* Family, type and protocol as numbers. */
static int make_socket(char **words)
{
	int fd = socket(atoi(words[0]), atoi(words[1]), atoi(words[2]));

	return fd < 0 ? -errno : done(fd, 0);
}

static const struct probe_op ops[] = {
	{ "tcp", 2, tcp },
	{ "mptcp", 2, mptcp },
	{ "udp", 2, udp },
	{ "udp-dial", 2, udp_dial },
	{ "udp-connect", 2, udp_connect },
	{ "udp-msg", 2, udp_msg },
	{ "udp-mmsg", 4, udp_mmsg },
	{ "udp-stray", 4, udp_stray },
	{ "udp-unspec", 2, udp_unspec },
	{ "udp-unspec-peer", 2, udp_unspec_peer },
	{ "dissolve", 2, dissolve },
	{ "tfo", 2, tfo },
	{ "tfo-msg", 2, tfo_msg },
	{ "tfo-connect", 2, tfo_connect },
	{ "tfo-unspec", 2, tcp_unspec },
	{ "mptcp-tfo", 2, mptcp_tfo },
	{ "uring-connect", 2, uring_connect },
	{ "uring-socket", 2, uring_socket },
	{ "uring-send", 2, uring_send },
	{ "socket", 3, make_socket },
	{ NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
