// SPDX-License-Identifier: Apache-2.0
/* On which roads can a file's mode, owner, times and attributes be changed? */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int change_mode(const struct place *place)
{
	return road_result(chmod(place->target, 0600));
}

static int set_setuid_bit(const struct place *place)
{
	return road_result(chmod(place->target, 04755));
}

static const struct road file_change[] = {
	{
		.name = "chmod",
		.surface = "fs.write",
		.op = "chmod",
		.try = change_mode,
		.hidden = { ENOENT },
		.readable = { EACCES },
		.flags = ROAD_CHANGES,
	},
	{
		.name = "chmod with a set-user-ID bit",
		.surface = "kernel",
		.try = set_setuid_bit,
		.twin = change_mode,
		.granted = { EPERM },
		.flags = ROAD_CHANGES,
	},
};
ROADS(file_change);
