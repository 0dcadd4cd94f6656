// SPDX-License-Identifier: Apache-2.0
/* What do rows need on their way? Paths, files, and words between outside and inside. */
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/place.h"
#include "tests/coverage/road.h"

struct road_state road_state;

void road_broken(const char *format, ...)
{
	int saved = errno;
	va_list ap;

	fprintf(stderr, "broken\t%s\t", road_state.label);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(saved));
	_exit(ROAD_EXIT_BROKEN);
}

long road_must(long result, const char *what)
{
	if (result < 0)
		road_broken("%s", what);
	return result;
}

int road_result(long result)
{
	return result < 0 ? -errno : 0;
}

int road_fd(long fd)
{
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

const char *road_path(const char *format, ...)
{
	static char buffers[8][512];
	static unsigned next;
	char *buffer = buffers[next++ % 8];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(buffer, sizeof(buffers[0]), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(buffers[0]))
		road_broken("a path is too long");
	return buffer;
}

const char *road_in(const struct place *place, const char *name)
{
	return road_path("%s/%s", place->dir, name);
}

const char *road_mine(const struct place *place, const char *name)
{
	return road_path("%s/%s", place->scratch, name);
}

int road_read_canary(long fd)
{
	char text[sizeof(ROAD_CANARY)] = "";
	ssize_t n;
	int saved;

	if (fd < 0)
		return -errno;
	n = read((int)fd, text, sizeof(text) - 1);
	saved = errno;
	close((int)fd);
	if (n < 0)
		return -saved;
	return strcmp(text, ROAD_CANARY) == 0 ? 0 : -EBADMSG;
}

void place_of(struct place *place, const struct road *road, unsigned number, enum road_side side)
{
	static const char *const sides[] = { "hidden", "readable", "granted", "declared" };
	const char *root = road_state.root;

	*place = (struct place){ .road = road, .number = number, .side = side };
	place->uid = road_state.uid;
	place->port = 20000 + number * 8 + (unsigned)side * 2;
	snprintf(place->root, sizeof(place->root), "%s", root);
	snprintf(place->dir, sizeof(place->dir), "%s/%s/%03u", root, sides[side], number);
	snprintf(place->target, sizeof(place->target), "%s/%s/%03u/f", root, sides[side], number);
	snprintf(place->scratch, sizeof(place->scratch), "%s/scratch/%03u-%c", root, number,
		 sides[side][0]);
	snprintf(place->mine, sizeof(place->mine), "%s/scratch/%03u-%c/f", root, number,
		 sides[side][0]);
	snprintf(road_state.label, sizeof(road_state.label), "%03u-%c", number % 1000,
		 sides[side][0]);
}

void place_file(const struct place *place, const char *path, const char *content, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t n = strlen(content);

	road_must(fd, path);
	if (write(fd, content, n) != (ssize_t)n)
		road_broken("writing %s", path);
	road_must(fchown(fd, place->uid, place->uid), path);
	road_must(fchmod(fd, mode), path);
	close(fd);
}

void place_directory(const struct place *place, const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		road_broken("%s", path);
	road_must(chmod(path, 0755), path);
	road_must(chown(path, place->uid, place->uid), path);
}

void place_default(const struct place *place)
{
	place_directory(place, place->dir);
	place_file(place, place->target, ROAD_CANARY, 0644);
}

void road_grant(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* A file of this place among those of its kind. */
static const char *record(const struct place *place, const char *kind)
{
	return road_path("%s/%s/%03u-%c", place->root, kind, place->number, "hrgd"[place->side]);
}

static void write_record(const struct place *place, const char *kind, const char *text)
{
	int fd = open(record(place, kind), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	road_must(fd, kind);
	if (write(fd, text, strlen(text)) < 0)
		road_broken("writing %s", kind);
	close(fd);
}

void road_ready(const struct place *place)
{
	write_record(place, "ready", "ready\n");
}

void place_happened(const struct place *place)
{
	write_record(place, "happened", "happened\n");
}

bool place_has(const struct place *place, const char *kind)
{
	return access(record(place, kind), F_OK) == 0;
}

const char *place_record(const struct place *place, const char *kind)
{
	return record(place, kind);
}

void place_tell(const struct place *place, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	write_record(place, "told", text);
}

const char *place_told(const struct place *place)
{
	static char text[512];
	int fd = open(record(place, "told"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

void place_names(const struct place *place, const char *format, ...)
{
	char text[512];
	va_list ap;

	(void)place;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	printf("names\t%s\t%s\n", road_state.label, text);
	fflush(stdout);
}

bool road_walled(void)
{
	return road_state.walled;
}

void road_drop(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = {};
	unsigned int bit = 1U << (capability % 32);

	road_must(syscall(SYS_capget, &header, sets), "capget");
	sets[capability / 32].effective &= ~bit;
	sets[capability / 32].permitted &= ~bit;
	sets[capability / 32].inheritable &= ~bit;
	road_must(syscall(SYS_capset, &header, sets), "capset");
}
