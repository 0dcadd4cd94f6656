// SPDX-License-Identifier: Apache-2.0
/* Can a file's descriptor be used to change the filesystem that it is on? */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* Each side has a label of its own, so that the effect can be told. */
static const char *label_of(const struct place *place)
{
	return road_path("road-%03u-%d", place->number, place->side);
}

static int set_label(const struct place *place)
{
	char label[FSLABEL_MAX] = "";
	int fd = (int)road_must(open(place->dir, O_RDONLY), "open");

	place_names(place, "%s", place->dir);
	strcpy(label, label_of(place));
	return road_result(ioctl(fd, FS_IOC_SETFSLABEL, label));
}

static int get_label(const struct place *place)
{
	char label[FSLABEL_MAX] = "";
	int fd = (int)road_must(open(place->dir, O_RDONLY), "open");

	return road_result(ioctl(fd, FS_IOC_GETFSLABEL, label));
}

static bool has_label(const struct place *place)
{
	char label[FSLABEL_MAX] = "";
	int fd = (int)road_must(open(place->dir, O_RDONLY), "open");
	long r = ioctl(fd, FS_IOC_GETFSLABEL, label);

	close(fd);
	return r == 0 && strcmp(label, label_of(place)) == 0;
}

static const struct road file_system[] = {
	{
		.name = "ioctl FS_IOC_SETFSLABEL",
		.surface = "kernel",
		.op = "ioctl",
		.try = set_label,
		.twin = get_label,
		.harmed = has_label,
		.readable = { EPERM },
		.granted = { EPERM },
	},
};
ROADS(file_system);
