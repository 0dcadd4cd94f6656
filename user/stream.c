// SPDX-License-Identifier: Apache-2.0
/* How does one write to a stream that others share, and never wait for its reader? */
#include "user/stream.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "user/base.h"

int comet_stream_again(int fd)
{
	char path[64];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	/* A regular file never blocks, and opened again it would be written from its start. */
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
