// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file be opened for reading? */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int open_to_read(const struct place *place)
{
	return road_read_canary(open(place->target, O_RDONLY));
}

static int reopen_path_descriptor(const struct place *place)
{
	long fd = road_must(open(place->target, O_PATH), "O_PATH");

	return road_read_canary(open(road_path("/proc/self/fd/%ld", fd), O_RDONLY));
}

static int access_it(const struct place *place)
{
	return road_result(access(place->target, R_OK));
}

static const struct road file_open[] = {
	{
		.name = "open for reading",
		.surface = "fs.read",
		.op = "open",
		.try = open_to_read,
		.hidden = { ENOENT },
	},
	{
		.name = "open O_PATH, then again by /proc/self/fd",
		.surface = "fs.read",
		.op = "open",
		.try = reopen_path_descriptor,
		.hidden = { ENOENT },
	},
	{
		.name = "access",
		.surface = "fs.read",
		.try = access_it,
		.hidden = { ROAD_SUCCEEDS },
		.flags = ROAD_LEAKS,
		.why = "no hook sees its path: it tells whether a name exists",
	},
};
ROADS(file_open);
