// SPDX-License-Identifier: Apache-2.0
/* Can System V queues, semaphores and shared memory of the outside be reached? */
#include <fcntl.h>
#include <stdlib.h>
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

/* What outside has under this key, empty; the one of an earlier persona goes. */
static void keep_queue(const struct place *place)
{
	struct msqid_ds state;
	int id = msgget(key_of(place), 0);

	if (id >= 0)
		msgctl(id, IPC_RMID, NULL);
	id = (int)road_must(msgget(key_of(place), IPC_CREAT | 0666), "msgget");
	place_tell(place, "%d", id);
	road_ready(place);
	do
		usleep(50000);
	while (msgctl(id, IPC_STAT, &state) == 0 && state.msg_qnum == 0 &&
	       state.msg_perm.mode == 0666);
	place_happened(place);
}

static void keep_semaphore(const struct place *place)
{
	int id = semget(key_of(place), 1, 0);
	struct semid_ds ds;
	union semun {
		int value;
		struct semid_ds *state;
	} state = { .state = &ds };

	if (id >= 0)
		semctl(id, 0, IPC_RMID);
	id = (int)road_must(semget(key_of(place), 1, IPC_CREAT | 0666), "semget");
	place_tell(place, "%d", id);
	road_ready(place);
	do
		usleep(50000);
	while (semctl(id, 0, GETVAL) == 0 && semctl(id, 0, IPC_STAT, state) == 0 &&
	       ds.sem_perm.mode == 0666);
	place_happened(place);
}

static void keep_memory(const struct place *place)
{
	int id = shmget(key_of(place), 0, 0);
	volatile char *memory;
	struct shmid_ds state;

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	id = (int)road_must(shmget(key_of(place), 4096, IPC_CREAT | 0666), "shmget");
	place_tell(place, "%d", id);
	memory = shmat(id, NULL, 0);
	if (memory == (void *)-1)
		road_broken("shmat");
	road_ready(place);
	do
		usleep(50000);
	while (*memory == 0 && shmctl(id, IPC_STAT, &state) == 0 && state.shm_perm.mode == 0666);
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

/* By number nothing is looked up that a permission could keep one from. */
static int number(const struct place *place)
{
	return atoi(place_told(place));
}

static int send_by_number(const struct place *place)
{
	struct note note = { .type = 1, .text = "hello" };

	return road_result(msgsnd(number(place), &note, sizeof(note.text), IPC_NOWAIT));
}

static int receive_by_number(const struct place *place)
{
	struct note note;

	return road_result(msgrcv(number(place), &note, sizeof(note.text), 0, IPC_NOWAIT));
}

static int remove_queue(const struct place *place)
{
	return road_result(msgctl(number(place), IPC_RMID, NULL));
}

static int change_queue(const struct place *place)
{
	struct msqid_ds change = { .msg_perm = { .mode = 0600 }, .msg_qbytes = 64 };

	return road_result(msgctl(number(place), IPC_SET, &change));
}

static int raise_by_number(const struct place *place)
{
	struct sembuf up = { .sem_op = 1, .sem_flg = IPC_NOWAIT };

	return road_result(semop(number(place), &up, 1));
}

static int set_semaphore(const struct place *place)
{
	return road_result(semctl(number(place), 0, SETVAL, 1));
}

static int remove_semaphore(const struct place *place)
{
	return road_result(semctl(number(place), 0, IPC_RMID));
}

static int write_by_number(const struct place *place)
{
	char *memory = shmat(number(place), NULL, 0);

	if (memory == (void *)-1)
		return -errno;
	*memory = 1;
	return road_result(shmdt(memory));
}

static int remove_memory(const struct place *place)
{
	return road_result(shmctl(number(place), IPC_RMID, NULL));
}

/* What there is, by its place in the kernel's own list. */
static int list_memory(const struct place *place)
{
	struct shmid_ds state;
	int result = -EINVAL;

	(void)place;
	for (int i = 0; i < 4096 && result == -EINVAL; i++)
		result = road_result(shmctl(i, SHM_STAT_ANY, &state));
	return result;
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
/* In a namespace of its own there is no such number. */
#define IPC_BY(text, function, own, keep)                                                          \
	{                                                                                          \
		.name = text, .surface = "ipc", .op = "sysv_ipc", .try = function, .twin = own,    \
		.hidden = { EACCES, EPERM }, .walled = { EINVAL }, .outside = keep                 \
	}
static const struct road process_ipc[] = {
	IPC("System V message queue", outside_queue, own_queue, keep_queue),
	IPC("System V semaphore", outside_semaphore, own_semaphore, keep_semaphore),
	IPC("System V shared memory", outside_memory, own_memory, keep_memory),
	IPC_BY("msgsnd by number", send_by_number, own_queue, keep_queue),
	IPC_BY("msgrcv by number", receive_by_number, own_queue, keep_queue),
	IPC_BY("msgctl IPC_RMID", remove_queue, own_queue, keep_queue),
	IPC_BY("msgctl IPC_SET", change_queue, own_queue, keep_queue),
	IPC_BY("semop by number", raise_by_number, own_semaphore, keep_semaphore),
	IPC_BY("semctl SETVAL", set_semaphore, own_semaphore, keep_semaphore),
	IPC_BY("semctl IPC_RMID", remove_semaphore, own_semaphore, keep_semaphore),
	IPC_BY("shmat by number", write_by_number, own_memory, keep_memory),
	IPC_BY("shmctl IPC_RMID", remove_memory, own_memory, keep_memory),
	{
		.name = "shmctl SHM_STAT_ANY",
		.surface = "ipc",
		.op = "sysv_ipc",
		.try = list_memory,
		.twin = own_memory,
		.hidden = { EPERM },
		/* There may be some of the run's own. */
		.walled = { EINVAL, ROAD_SUCCEEDS },
		.outside = keep_memory,
	},
};
ROADS(process_ipc);
