/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes were these? SHA-256 after FIPS 180-4. */
#ifndef COMET_SHA256_H
#define COMET_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct comet_sha256 {
	uint32_t state[8];
	uint64_t total; /* bytes so far */
	unsigned char block[64];
};

void comet_sha256_begin(struct comet_sha256 *sha);
void comet_sha256_add(struct comet_sha256 *sha, const void *bytes, size_t size);
/* Writes 64 lower-case hexadecimal digits and a NUL. */
void comet_sha256_end(struct comet_sha256 *sha, char hex[65]);

#endif /* COMET_SHA256_H */
