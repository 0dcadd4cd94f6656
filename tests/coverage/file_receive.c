// SPDX-License-Identifier: Apache-2.0
/* What can an agent do with a descriptor that somebody outside opened? */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static struct sockaddr_un address_of(const struct place *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, road_mine(place, "socket"));
	return address;
}

/* Sends a descriptor of the target to whoever connects. */
static void send_descriptor(const struct place *place, int flags)
{
	struct sockaddr_un address = address_of(place);
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec text = { .iov_base = control, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = open(place->target, flags);

	road_must(fd, "target");
	road_must(bind(listener, (void *)&address, sizeof(address)), "bind");
	road_must(chmod(address.sun_path, 0777), "chmod");
	road_must(listen(listener, 8), "listen");
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	road_ready(place);
	for (;;)
		sendmsg(accept(listener, NULL, NULL), &message, 0);
}

static void send_for_reading(const struct place *place)
{
	send_descriptor(place, O_RDONLY);
}

/* The descriptor, or -1 where the kernel gave none: then its flag says so, not an errno. */
static int receive_descriptor(const struct place *place)
{
	struct sockaddr_un address = address_of(place);
	char control[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec text = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd, s = socket(AF_UNIX, SOCK_STREAM, 0);

	road_must(connect(s, (void *)&address, sizeof(address)), "connect");
	road_must(recvmsg(s, &message, 0), "recvmsg");
	close(s);
	errno = EACCES;
	if ((message.msg_flags & MSG_CTRUNC) || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int receive_and_read(const struct place *place)
{
	return road_read_canary(receive_descriptor(place));
}

static const struct road file_receive[] = {
	{
		.name = "receive a descriptor for reading over a UNIX socket",
		.surface = "fs.read",
		.try = receive_and_read,
		.hidden = { EACCES },
		.outside = send_for_reading,
	},
};
ROADS(file_receive);
