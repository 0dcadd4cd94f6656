// SPDX-License-Identifier: Apache-2.0
/* By which calls could the clock be set, or the host be woken by it? */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int read_clock(const struct place *place)
{
	struct timespec now;

	(void)place;
	return road_result(clock_gettime(CLOCK_REALTIME, &now));
}

/* To what it is already: who got through does no harm. */
static int set_time_of_day(const struct place *place)
{
	struct timeval now;

	(void)place;
	road_must(gettimeofday(&now, NULL), "gettimeofday");
	return road_result(syscall(SYS_settimeofday, &now, NULL));
}

static int set_zone(const struct place *place)
{
	struct timezone zone = { 0, 0 };

	(void)place;
	return road_result(syscall(SYS_settimeofday, NULL, &zone));
}

static int set_clock(const struct place *place)
{
	struct timespec now;

	(void)place;
	road_must(clock_gettime(CLOCK_REALTIME, &now), "clock_gettime");
	return road_result(clock_settime(CLOCK_REALTIME, &now));
}

#ifdef __x86_64__
/* Calls of 32-bit programs, whose pointers have 32 bits. */
static int compat_call(long number, const void *argument, size_t size)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result, first = (long)(uintptr_t)low;

	if (low == MAP_FAILED)
		road_broken("mmap");
	memcpy(low, argument, size);
	if (number == 264)
		first = CLOCK_REALTIME;
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(number), "b"(first), "c"(low)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static int set_by_stime(const struct place *place)
{
	int32_t now = (int32_t)time(NULL);

	(void)place;
	return compat_call(25, &now, sizeof(now));
}

static int set_by_compat_clock(const struct place *place)
{
	int32_t now[2] = { (int32_t)time(NULL), 0 };

	(void)place;
	return compat_call(264, now, sizeof(now));
}

static int read_by_compat(const struct place *place)
{
	int32_t nothing = 0;

	(void)place;
	return compat_call(20 /* getpid */, &nothing, sizeof(nothing)) > 0 ? 0 : -EPROTO;
}
#endif

static int adjust(unsigned modes, bool by_clock)
{
	struct timex change = { 0 };

	/* The values that are there, so that nothing moves. */
	road_must(adjtimex(&change), "adjtimex");
	change.modes = modes;
	if (modes & ADJ_SETOFFSET)
		memset(&change.time, 0, sizeof(change.time));
	if (by_clock)
		return clock_adjtime(CLOCK_REALTIME, &change) < 0 ? -errno : 0;
	return adjtimex(&change) < 0 ? -errno : 0;
}

#define ADJUST(name, modes, by_clock)                                                              \
	static int name(const struct place *place)                                                 \
	{                                                                                          \
		(void)place;                                                                       \
		return adjust(modes, by_clock);                                                    \
	}
ADJUST(set_frequency, ADJ_FREQUENCY, false)
ADJUST(set_tick, ADJ_TICK, false)
ADJUST(set_status, ADJ_STATUS, false)
ADJUST(set_offset, ADJ_SETOFFSET, false)
ADJUST(set_tai, ADJ_TAI, false)
ADJUST(set_single, ADJ_OFFSET_SINGLESHOT, false)
ADJUST(set_clock_frequency, ADJ_FREQUENCY, true)
ADJUST(set_clock_offset, ADJ_SETOFFSET, true)
ADJUST(ask_adjustment, 0, false)
ADJUST(ask_single, ADJ_OFFSET_SS_READ, false)
ADJUST(ask_clock_adjustment, 0, true)

static int make_timer(clockid_t clock)
{
	timer_t timer;

	return timer_create(clock, NULL, &timer) < 0 ? -errno : 0;
}

static int alarm_timer(const struct place *place)
{
	(void)place;
	return make_timer(CLOCK_REALTIME_ALARM);
}

static int plain_timer(const struct place *place)
{
	(void)place;
	return make_timer(CLOCK_REALTIME);
}

static int alarm_timerfd(const struct place *place)
{
	(void)place;
	return road_fd(timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC));
}

static int plain_timerfd(const struct place *place)
{
	(void)place;
	return road_fd(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
}

static int alarm_sleep(const struct place *place)
{
	const struct timespec moment = { 0, 1000 };

	(void)place;
	return -clock_nanosleep(CLOCK_REALTIME_ALARM, 0, &moment, NULL);
}

static int plain_sleep(const struct place *place)
{
	const struct timespec moment = { 0, 1000 };

	(void)place;
	return -clock_nanosleep(CLOCK_REALTIME, 0, &moment, NULL);
}

#define TIME(text, function, ask)                                                                  \
	{                                                                                          \
		.name = text, .surface = "time", .try = function, .twin = ask,                     \
		.hidden = { EPERM }, .walled = {                                                   \
			EPERM                                                                      \
		}                                                                                  \
	}

static const struct road time_set[] = {
	TIME("settimeofday", set_time_of_day, read_clock),
	TIME("settimeofday of the time zone alone", set_zone, read_clock),
	TIME("clock_settime", set_clock, read_clock),
#ifdef __x86_64__
	TIME("stime by the call of 32-bit programs", set_by_stime, read_by_compat),
	TIME("clock_settime by the call of 32-bit programs", set_by_compat_clock, read_by_compat),
#endif
	TIME("adjtimex ADJ_FREQUENCY", set_frequency, ask_adjustment),
	TIME("adjtimex ADJ_TICK", set_tick, ask_adjustment),
	TIME("adjtimex ADJ_STATUS", set_status, ask_adjustment),
	TIME("adjtimex ADJ_SETOFFSET", set_offset, ask_adjustment),
	TIME("adjtimex ADJ_TAI", set_tai, ask_adjustment),
	TIME("adjtimex ADJ_OFFSET_SINGLESHOT", set_single, ask_single),
	TIME("clock_adjtime ADJ_FREQUENCY", set_clock_frequency, ask_clock_adjustment),
	TIME("clock_adjtime ADJ_SETOFFSET", set_clock_offset, ask_clock_adjustment),
	TIME("timer_create CLOCK_REALTIME_ALARM", alarm_timer, plain_timer),
	TIME("timerfd_create CLOCK_BOOTTIME_ALARM", alarm_timerfd, plain_timerfd),
	TIME("clock_nanosleep CLOCK_REALTIME_ALARM", alarm_sleep, plain_sleep),
};
ROADS(time_set);
