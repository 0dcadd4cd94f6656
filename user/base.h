/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns what? Cleanup attributes and the few helpers that every user-side file needs. */
#ifndef COMET_BASE_H
#define COMET_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void comet_free_ptr(void *p)
{
	free(*(void **)p);
}

/* Keeps errno, so that a caller's error survives its cleanup. */
static inline void comet_close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

static inline void comet_fclose_ptr(FILE **file)
{
	if (*file)
		fclose(*file);
	*file = NULL;
}

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(comet_free_ptr)
#define _cleanup_close_ _cleanup_(comet_close_fd)
#define _cleanup_fclose_ _cleanup_(comet_fclose_ptr)

/* Ownership leaves a function only through these. */
#define COMET_TAKE_PTR(p)                                                                          \
	({                                                                                         \
		__auto_type _taken = (p);                                                          \
		(p) = NULL;                                                                        \
		_taken;                                                                            \
	})
#define COMET_TAKE_FD(fd)                                                                          \
	({                                                                                         \
		int _taken = (fd);                                                                 \
		(fd) = -1;                                                                         \
		_taken;                                                                            \
	})

#define COMET_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

#endif /* COMET_BASE_H */
