/* SPDX-License-Identifier: Apache-2.0 */
/* What names a run? A ULID: sortable by time, unique without a server. */
#ifndef COMET_ULID_H
#define COMET_ULID_H

#include <stdint.h>

#define COMET_ULID_LEN 26
#define COMET_ULID_RANDOM 10 /* bytes */

/* 48 bits of milliseconds and 80 random bits in lower-case Crockford base32, NUL-terminated. */
void comet_ulid_format(uint64_t milliseconds, const uint8_t random[COMET_ULID_RANDOM],
		       char text[COMET_ULID_LEN + 1]);

#endif /* COMET_ULID_H */
