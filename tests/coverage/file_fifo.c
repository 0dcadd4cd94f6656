// SPDX-License-Identifier: Apache-2.0
/* Can one speak through a FIFO to who reads there? */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static void make_fifo(const struct place *place)
{
	place_directory(place, place->dir);
	road_must(mkfifo(place->target, 0644), place->target);
	road_must(chown(place->target, place->uid, place->uid), place->target);
}

static void read_fifo(const struct place *place)
{
	int fd = open(place->target, O_RDWR | O_CLOEXEC);
	char byte;

	road_must(fd, place->target);
	road_ready(place);
	road_must(read(fd, &byte, 1), "read");
	place_happened(place);
}

static int write_to(const struct place *place, int flags)
{
	int fd = open(place->target, flags | O_NONBLOCK | O_CLOEXEC), result;

	if (fd < 0)
		return -errno;
	result = road_result(write(fd, "hello", 5));
	close(fd);
	return result;
}

static int write_fifo(const struct place *place)
{
	return write_to(place, O_WRONLY);
}

static int write_by_descriptor(const struct place *place)
{
	int fd = (int)road_must(open(place->target, O_PATH | O_CLOEXEC), "O_PATH");

	fd = open(road_path("/proc/self/fd/%d", fd), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : road_result(write(fd, "hello", 5));
}

static int read_and_write_fifo(const struct place *place)
{
	return write_to(place, O_RDWR);
}

#define SPEAK(text, function)                                                                      \
	{                                                                                          \
		.name = text, .surface = "fs.write", .op = "open", .try = function,                \
		.hidden = { ENOENT }, .readable = { EACCES }, .prepare = make_fifo,                \
		.outside = read_fifo, .flags = ROAD_CHANGES                                        \
	}

static const struct road file_fifo[] = {
	SPEAK("write to a FIFO", write_fifo),
	SPEAK("write to a FIFO by an O_PATH descriptor and /proc/self/fd", write_by_descriptor),
	SPEAK("write to a FIFO that is opened to be read as well", read_and_write_fifo),
};
ROADS(file_fifo);
