// SPDX-License-Identifier: Apache-2.0
/* Who may hold up others' work on a file? */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int opened(const struct place *place)
{
	return open(place->target, O_RDONLY | O_CLOEXEC);
}

/* What waits for a lease's holder: whoever opens the file to write, for up to 45 seconds. */
static int lease(const struct place *place)
{
	int fd = opened(place);

	return fd < 0 ? -errno : road_result(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int lock_file(const struct place *place, int how)
{
	int fd = opened(place);

	return fd < 0 ? -errno : road_result(flock(fd, how | LOCK_NB));
}

static int lock_alone(const struct place *place)
{
	return lock_file(place, LOCK_EX);
}

static int lock_with_others(const struct place *place)
{
	return lock_file(place, LOCK_SH);
}

static int lock_range(const struct place *place, int command)
{
	struct flock range = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = opened(place);

	return fd < 0 ? -errno : road_result(fcntl(fd, command, &range));
}

static int lock_to_read(const struct place *place)
{
	return lock_range(place, F_SETLK);
}

static int lock_open_file(const struct place *place)
{
	return lock_range(place, 37 /* F_OFD_SETLK */);
}

#define LOCKED "readers may share a lock; it holds up those alone who ask for an exclusive one"

static const struct road file_lock[] = {
	{
		.name = "open and fcntl F_SETLEASE",
		.surface = "fs.read",
		.op = "open",
		.try = lease,
		.hidden = { ENOENT },
	},
	{
		.name = "fcntl F_SETLEASE on what may be read alone",
		.surface = "fs.write",
		.op = "lock",
		.try = lease,
		.readable = { EACCES },
	},
	{
		.name = "flock LOCK_EX of what may be read alone",
		.surface = "fs.write",
		.op = "lock",
		.try = lock_alone,
		.readable = { EACCES },
	},
	{
		.name = "flock LOCK_SH of what may be read alone",
		.surface = "fs.read",
		.try = lock_with_others,
		.readable = { ROAD_SUCCEEDS },
		.flags = ROAD_LEAKS,
		.why = LOCKED,
	},
	{
		.name = "fcntl F_SETLK of what may be read alone",
		.surface = "fs.read",
		.try = lock_to_read,
		.readable = { ROAD_SUCCEEDS },
		.flags = ROAD_LEAKS,
		.why = LOCKED,
	},
	{
		.name = "fcntl F_OFD_SETLK of what may be read alone",
		.surface = "fs.read",
		.try = lock_open_file,
		.readable = { ROAD_SUCCEEDS },
		.flags = ROAD_LEAKS,
		.why = LOCKED,
	},
};
ROADS(file_lock);
