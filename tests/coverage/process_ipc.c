// SPDX-License-Identifier: Apache-2.0
/* Can queues, semaphores and shared memory of the outside be reached? */
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/road.h"

struct note {
	long type;
	char text[8];
};

static key_t key_of(const struct place *place)
{
	return (key_t)(0x434f0000U | place->number << 2 | (unsigned)place->side);
}

static const char *queue_of(const struct place *place)
{
	return road_path("/road-%03u-%d", place->number, place->side);
}

/* What outside has under this key, empty; the one of an earlier persona goes. */
static void keep_queue(const struct place *place)
{
	struct msqid_ds state;
	int id = msgget(key_of(place), 0);

	if (id >= 0)
		msgctl(id, IPC_RMID, NULL);
	id = (int)road_must(msgget(key_of(place), IPC_CREAT | 0666), "msgget");
	road_ready(place);
	do
		usleep(50000);
	while (msgctl(id, IPC_STAT, &state) == 0 && state.msg_qnum == 0);
	place_happened(place);
}

static void keep_semaphore(const struct place *place)
{
	int id = semget(key_of(place), 1, 0);

	if (id >= 0)
		semctl(id, 0, IPC_RMID);
	id = (int)road_must(semget(key_of(place), 1, IPC_CREAT | 0666), "semget");
	road_ready(place);
	do
		usleep(50000);
	while (semctl(id, 0, GETVAL) == 0);
	place_happened(place);
}

static void keep_memory(const struct place *place)
{
	int id = shmget(key_of(place), 0, 0);
	volatile char *memory;

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	id = (int)road_must(shmget(key_of(place), 4096, IPC_CREAT | 0666), "shmget");
	memory = shmat(id, NULL, 0);
	if (memory == (void *)-1)
		road_broken("shmat");
	road_ready(place);
	do
		usleep(50000);
	while (*memory == 0);
	place_happened(place);
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

static int send_to(key_t key, int flags)
{
	struct note note = { .type = 1, .text = "hello" };
	int id = msgget(key, flags);

	if (id < 0)
		return -errno;
	return road_result(msgsnd(id, &note, sizeof(note.text), IPC_NOWAIT));
}

static int raise_semaphore(key_t key, int flags)
{
	struct sembuf up = { .sem_op = 1, .sem_flg = IPC_NOWAIT };
	int id = semget(key, 1, flags);

	return id < 0 ? -errno : road_result(semop(id, &up, 1));
}

static int write_memory(key_t key, int flags)
{
	int id = shmget(key, flags ? 4096 : 0, flags);
	char *memory;

	if (id < 0)
		return -errno;
	memory = shmat(id, NULL, 0);
	if (memory == (void *)-1)
		return -errno;
	*memory = 1;
	return road_result(shmdt(memory));
}

static int send_named(const struct place *place)
{
	mqd_t queue = mq_open(queue_of(place), O_WRONLY);

	return queue < 0 ? -errno : road_result(mq_send(queue, "hello", 5, 0));
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

/* Of their own: where the namespace is not the host's. */
#define SYSTEM_V(name, call)                                                                       \
	static int outside_##name(const struct place *place)                                       \
	{                                                                                          \
		return call(key_of(place), 0);                                                     \
	}                                                                                          \
	static int own_##name(const struct place *place)                                           \
	{                                                                                          \
		return road_walled() ? call(IPC_PRIVATE, IPC_CREAT | 0600) : write_to_pipe(place); \
	}
SYSTEM_V(queue, send_to)
SYSTEM_V(semaphore, raise_semaphore)
SYSTEM_V(memory, write_memory)

#define IPC(text, function, own, keep)                                                             \
	{                                                                                          \
		.name = text, .surface = "ipc", .try = function, .twin = own,                      \
		.hidden = { EACCES, EPERM }, .walled = { ENOENT }, .outside = keep                 \
	}
#define NAMED(text, function)                                                                      \
	.name = text, .try = function, .twin = write_to_pipe, .hidden = { ENOENT },                \
	.walled = { ENOENT }, .outside = keep_named_queue

static const struct road process_ipc[] = {
	IPC("System V message queue", outside_queue, own_queue, keep_queue),
	IPC("System V semaphore", outside_semaphore, own_semaphore, keep_semaphore),
	IPC("System V shared memory", outside_memory, own_memory, keep_memory),
	{ NAMED("POSIX message queue", send_named), .surface = "fs.write", .flags = ROAD_ANY_NAME },
	{ NAMED("mq_unlink", remove_named), .surface = "fs.write", .flags = ROAD_ANY_NAME },
};
ROADS(process_ipc);
