// SPDX-License-Identifier: Apache-2.0
/*
 * What happens on every road? One program for both sides of the wall; tests/vm/coverage.py calls
 * it and judges.
 *
 *   roads list                          the rows, tab-separated
 *   roads prepare ROOT UID              outside, before: makes all places below ROOT
 *   roads grants ROOT UID               outside: what the manifest must grant
 *   roads outside ROOT UID              outside, meanwhile: listeners and victims, until killed;
 *                                       prints "ready"
 *   roads try ROOT UID                  inside: tries all, prints "tried", label, errno (0: none)
 *   roads enter PROCS ROOT UID          the same after joining a cgroup, with no other wall
 *   roads abreast PROCS ROOT UID        as enter, many at a time: for rows that have to wait
 *   roads effects ROOT UID              outside, after: prints "effect", label, 0 or 1
 * Each takes row numbers as further arguments: those alone.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/place.h"
#include "tests/coverage/road.h"

#define SECONDS_PER_TRY 60
#define ABREAST_MAX 16

extern const struct roads __start_roads[], __stop_roads[];

static char **only;               /* row numbers, NULL at the end; none: all rows */
static const struct roads *table; /* that of the row at hand */

static bool chosen(unsigned number)
{
	if (!*only)
		return true;
	for (char **word = only; *word; word++)
		if (strtoul(*word, NULL, 10) == number)
			return true;
	return false;
}

/* Calls f for each row, or for each side of each row. */
static void each_row(void (*f)(const struct road *road, unsigned number))
{
	unsigned number = 0;

	for (table = __start_roads; table < __stop_roads; table++)
		for (size_t i = 0; i < table->n; i++, number++)
			if (chosen(number))
				f(&table->rows[i], number);
}

static bool has_side(const struct road *road, enum road_side side)
{
	const int *answers[] = { road->hidden, road->readable, road->granted };

	return side == ROAD_DECLARED || answers[side][0] != 0;
}

static void (*place_call)(const struct place *place);

static void each_side(const struct road *road, unsigned number)
{
	struct place place;

	for (int side = 0; side < _ROAD_SIDE_MAX; side++) {
		if (!has_side(road, side) || ((road->flags & ROAD_ROOT) && road_state.uid != 0))
			continue;
		place_of(&place, road, number, side);
		place_call(&place);
	}
}

static void each_place(void (*f)(const struct place *place))
{
	place_call = f;
	each_row(each_side);
}

static void print_answers(const int *answers)
{
	putchar('\t');
	for (int i = 0; i < ROAD_ANSWERS && answers[i]; i++)
		printf("%s%d", i ? "," : "", answers[i] == ROAD_SUCCEEDS ? 0 : answers[i]);
}

static void print_row(const struct road *road, unsigned number)
{
	static const char *const words[] = {
		"root",        "changes", "no-event", "leaks",    "any-name", "twin-walled",
		"twin-inside", "quiet",   "packets",  "own-copy", "unseen",
	};

	printf("%u\t%s\t%s\t%s", number, road->name, road->surface, road->op ? road->op : "");
	print_answers(road->hidden);
	print_answers(road->readable);
	print_answers(road->granted);
	print_answers(road->walled);
	putchar('\t');
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (road->flags & (1U << i))
			printf("%s,", words[i]);
	printf("\t%d.%d\t%d.%d\t%s\t%s\t%s\n", road->since >> 8, road->since & 0xff,
	       road->hooked >> 8, road->hooked & 0xff, road->also ? road->also : "", table->name,
	       road->why ? road->why : "");
}

static void prepare(const struct place *place)
{
	place_directory(place, place->scratch);
	place_file(place, place->mine, "mine\n", 0644);
	if (place->road->prepare)
		place->road->prepare(place);
	else
		place_default(place);
}

static void save(const struct place *place)
{
	snapshot_save(place->dir, place_record(place, "before"));
}

static void prepare_all(void)
{
	static const char *const kinds[] = { "hidden",   "readable", "granted",
					     "declared", "scratch",  "before",
					     "ready",    "happened", "told" };

	if (mkdir(road_state.root, 0755) < 0)
		road_broken("%s", road_state.root);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		road_must(mkdir(road_path("%s/%s", road_state.root, kinds[i]), 0755), kinds[i]);
	each_place(prepare);
	each_place(save);
}

static void print_grants(const struct place *place)
{
	if (place->side == ROAD_DECLARED && place->road->grants)
		place->road->grants(place);
}

static void print_all_grants(void)
{
	static const char *const kinds[] = { "readable", "told", "granted", "declared", "scratch" };

	for (int i = 0; i < 5; i++)
		road_grant("fs.read %s/%s", road_state.root, kinds[i]);
	for (int i = 2; i < 5; i++)
		road_grant("fs.write %s/%s", road_state.root, kinds[i]);
	each_place(print_grants);
}

static void start_outside(const struct place *place)
{
	pid_t pid;

	if (!place->road->outside)
		return;
	pid = fork();
	road_must(pid, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		place->road->outside(place);
		for (;;)
			pause();
	}
	while (!place_has(place, "ready")) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			road_broken("what it needs outside ended before it was ready");
		usleep(1000);
	}
}

static void outside_all(void)
{
	each_place(start_outside);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* Tries that have been started and not yet waited for. */
static struct {
	pid_t pid;
	char label[sizeof(road_state.label)];
} started[ABREAST_MAX];
static unsigned n_started, abreast = 1;

static void finish_all(void)
{
	for (unsigned i = 0; i < n_started; i++) {
		int status;

		while (waitpid(started[i].pid, &status, 0) < 0)
			;
		kill(-started[i].pid, SIGKILL); /* what it left behind */
		if (WIFSIGNALED(status))
			printf("tried\t%s\tsignal %d\n", started[i].label, WTERMSIG(status));
		else if (WEXITSTATUS(status) != ROAD_EXIT_BROKEN)
			printf("tried\t%s\t%d\n", started[i].label, WEXITSTATUS(status));
	}
	fflush(stdout);
	n_started = 0;
}

static void try(const struct place *place)
{
	char name[16];
	int result;
	pid_t pid;

	if (strncmp(place->road->surface, "fs.", 3) == 0)
		place_names(place, "%s", place->target);
	fflush(stdout);
	pid = fork();
	road_must(pid, "fork");
	if (pid == 0) {
		snprintf(name, sizeof(name), "road-%s", road_state.label);
		prctl(PR_SET_NAME, name);
		setpgid(0, 0);
		alarm(SECONDS_PER_TRY);
		umask(0);
		result = place->side == ROAD_DECLARED && place->road->twin
				 ? place->road->twin(place)
				 : place->road->try(place);
		_exit(-result);
	}
	started[n_started].pid = pid;
	memcpy(started[n_started++].label, road_state.label, sizeof(road_state.label));
	if (n_started == abreast)
		finish_all();
}

static void print_effect(const struct place *place)
{
	bool harmed = !snapshot_same(place->dir, place_record(place, "before"));

	harmed |= place_has(place, "happened");
	harmed |= place->road->harmed && place->road->harmed(place);
	printf("effect\t%s\t%d\n", road_state.label, harmed);
}

static void join_cgroup(const char *procs)
{
	int fd = open(procs, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		road_broken("joining %s", procs);
	close(fd);
	road_state.walled = false;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	argv += 2;
	road_state.walled = true;
	only = argv;
	if (argc >= 2 && strcmp(mode, "list") == 0) {
		each_row(print_row);
		return 0;
	}
	if (strcmp(mode, "abreast") == 0)
		abreast = ABREAST_MAX;
	if (argc >= 5 && (strcmp(mode, "enter") == 0 || strcmp(mode, "abreast") == 0))
		join_cgroup(*argv++);
	else if (argc < 4)
		goto usage;
	snprintf(road_state.root, sizeof(road_state.root), "%s", argv[0]);
	road_state.uid = (uid_t)strtoul(argv[1], NULL, 10);
	only = argv + 2;
	umask(022);
	if (strcmp(mode, "prepare") == 0)
		prepare_all();
	else if (strcmp(mode, "grants") == 0)
		print_all_grants();
	else if (strcmp(mode, "outside") == 0)
		outside_all();
	else if (strcmp(mode, "try") == 0 || !road_state.walled)
		each_place(try);
	else if (strcmp(mode, "effects") == 0)
		each_place(print_effect);
	else
		goto usage;
	finish_all();
	return 0;
usage:
	fputs("usage: roads list | MODE ROOT UID [ROW...]; see roads.c\n", stderr);
	return 2;
}
