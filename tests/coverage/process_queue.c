// SPDX-License-Identifier: Apache-2.0
/* Can POSIX message queues of the outside be reached, made and taken away? */
#include <fcntl.h>
#include <mqueue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static const char *queue_of(const struct place *place)
{
	return road_path("/road-%03u-%d", place->number, place->side);
}

static void keep_named_queue(const struct place *place)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	mqd_t queue;

	mq_unlink(queue_of(place));
	umask(0);
	queue = mq_open(queue_of(place), O_RDWR | O_CREAT, 0666, &attr);
	road_must(queue, "mq_open");
	road_ready(place);
	do
		usleep(50000);
	while (mq_getattr(queue, &attr) == 0 && attr.mq_curmsgs == 0);
	place_happened(place);
}

static int send_named(const struct place *place)
{
	mqd_t queue = mq_open(queue_of(place), O_WRONLY);

	return queue < 0 ? -errno : road_result(mq_send(queue, "hello", 5, 0));
}

static int make_named(const struct place *place)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	mqd_t queue = mq_open(road_path("%s-new", queue_of(place)), O_WRONLY | O_CREAT | O_EXCL,
			      0666, &attr);

	return road_fd(queue);
}

static bool has_new_queue(const struct place *place)
{
	return mq_unlink(road_path("%s-new", queue_of(place))) == 0;
}

static int remove_named(const struct place *place)
{
	return road_result(mq_unlink(queue_of(place)));
}

static int write_to_pipe(const struct place *place)
{
	int ends[2];

	(void)place;
	road_must(pipe(ends), "pipe");
	return road_result(write(ends[1], "hello", 5));
}

#define NAMED(text, function)                                                                      \
	.name = text, .try = function, .twin = write_to_pipe, .hidden = { ENOENT },                \
	.walled = { ENOENT }, .outside = keep_named_queue

static const struct road process_queue[] = {
	{ NAMED("POSIX message queue", send_named), .surface = "fs.write", .flags = ROAD_ANY_NAME },
	{
		.name = "POSIX message queue of a new name",
		.surface = "fs.write",
		.try = make_named,
		.twin = write_to_pipe,
		.hidden = { EACCES },
		/* In the run's own namespace it may. */
		.walled = { ROAD_SUCCEEDS },
		.harmed = has_new_queue,
		.flags = ROAD_ANY_NAME,
	},
	{ NAMED("mq_unlink", remove_named), .surface = "fs.write", .flags = ROAD_ANY_NAME },
};
ROADS(process_queue);
