/* SPDX-License-Identifier: Apache-2.0 */
/* What do all files of manifest/ share? Memory that is freed at once, safe quoting, hints. */
#ifndef COMET_UTIL_H
#define COMET_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* user/base.h has the same words; a file that includes both gets them once. */
#ifndef _cleanup_
#define _cleanup_(fn) __attribute__((cleanup(fn)))
#endif
#ifndef COMET_TAKE_PTR
#define COMET_TAKE_PTR(p)                                                                          \
	({                                                                                         \
		__auto_type _taken = (p);                                                          \
		(p) = NULL;                                                                        \
		_taken;                                                                            \
	})
#endif
#ifndef COMET_ARRAY_SIZE
#define COMET_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/*
 * Memory for things that live and die together. Zero-initialised is empty. Nothing is freed one by
 * one, so a tree built in it needs no destructor and cannot leak on an error path.
 */
struct comet_arena {
	struct comet_chunk *chunks;
	char *next;
	size_t left;
};

/* Zeroed and aligned for any type; NULL when there is no memory. */
void *comet_arena_alloc(struct comet_arena *arena, size_t size);
/* For arrays; NULL also when count * size overflows. */
void *comet_arena_array(struct comet_arena *arena, size_t count, size_t size);
/* A copy with a NUL behind it. */
char *comet_arena_copy(struct comet_arena *arena, const char *bytes, size_t size);
char *comet_arena_format(struct comet_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void comet_arena_free(struct comet_arena *arena);

/*
 * Writes untrusted bytes so that a terminal, a log and a JSON reader are safe: control characters,
 * the backslash and the double quote as C escapes, invisible Unicode as \uXXXX, invalid UTF-8 as
 * \xNN. No quotation marks around it. Too long a text is cut and ends in "...". out is always
 * terminated (capacity must not be 0); returns out.
 */
char *comet_quote(const char *bytes, size_t size, char *out, size_t capacity);
/* The same, but the backslash and the double quote stay: for text between other marks. */
char *comet_show(const char *bytes, size_t size, char *out, size_t capacity);
/* comet_quote() between double quotes, in the arena; cut after 1000 bytes. Never NULL. */
const char *comet_arena_quote(struct comet_arena *arena, const char *bytes, size_t size);

/* Is out a terminal that shows colours, and does its user want them (NO_COLOR, TERM)? */
bool comet_wants_colour(FILE *out);

/* The candidate that word was probably meant to be, NULL if none is near. */
const char *comet_suggest(const char *word, size_t size, const char *const *candidates,
			  size_t n_candidates);

/* True when the bytes are exactly the given word (an embedded NUL makes them differ). */
static inline bool comet_bytes_are(const char *bytes, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(bytes, word, size) == 0;
}

#endif /* COMET_UTIL_H */
