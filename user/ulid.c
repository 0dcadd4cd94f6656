// SPDX-License-Identifier: Apache-2.0
/* What names a run? A ULID: sortable by time, unique without a server. */
#include "user/ulid.h"

#include <sys/random.h>
#include <time.h>

#include "user/base.h"
#include "user/scope.h"

#define PREFIX "run_"
_Static_assert(sizeof(PREFIX) - 1 + COMET_ULID_LEN == COMET_RUN_ID_LEN, "a run id is run_ + ULID");

void comet_ulid_format(uint64_t milliseconds, const uint8_t random[COMET_ULID_RANDOM],
		       char text[COMET_ULID_LEN + 1])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint8_t bytes[6 + COMET_ULID_RANDOM];

	for (int i = 0; i < 6; i++)
		bytes[i] = (uint8_t)(milliseconds >> (40 - 8 * i));
	memcpy(bytes + 6, random, COMET_ULID_RANDOM);

	/* 26 digits hold 130 bits: the first two are always zero. */
	for (int i = 0; i < COMET_ULID_LEN; i++) {
		int bit = 5 * i - 2;
		unsigned int value = 0;

		for (int j = bit; j < bit + 5; j++)
			value = value << 1 | (j < 0 ? 0 : bytes[j / 8] >> (7 - j % 8) & 1);
		text[i] = digits[value];
	}
	text[COMET_ULID_LEN] = '\0';
}

int comet_scope_new_run_id(char id[COMET_RUN_ID_LEN + 1])
{
	uint8_t random[COMET_ULID_RANDOM];
	struct timespec now;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return errno ? -errno : -EIO;
	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -errno;
	memcpy(id, PREFIX, strlen(PREFIX));
	comet_ulid_format((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, random,
			  id + strlen(PREFIX));
	return 0;
}
