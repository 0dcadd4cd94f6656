// SPDX-License-Identifier: Apache-2.0
/* How are memory, quoting and hints done? The helpers of util.h. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest/util.h"

#define CHUNK_SIZE ((size_t)16 * 1024)
#define ALIGNMENT sizeof(max_align_t)

struct comet_chunk {
	struct comet_chunk *next;
	max_align_t data[];
};

void *comet_arena_alloc(struct comet_arena *arena, size_t size)
{
	struct comet_chunk *chunk;
	size_t room;
	void *result;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (size <= arena->left) {
		result = arena->next;
		arena->next += size;
		arena->left -= size;
		return result;
	}

	room = size > CHUNK_SIZE / 4 ? size : CHUNK_SIZE;
	chunk = calloc(1, sizeof(*chunk) + room);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	/* A large object gets a chunk of its own, and the one in use goes on being filled. */
	if (room == size)
		return chunk->data;
	arena->next = (char *)chunk->data + size;
	arena->left = room - size;
	return chunk->data;
}

void *comet_arena_array(struct comet_arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / 2 / size)
		return NULL;
	return comet_arena_alloc(arena, count * size);
}

char *comet_arena_copy(struct comet_arena *arena, const char *bytes, size_t size)
{
	char *copy = comet_arena_alloc(arena, size + 1);

	if (copy && size)
		memcpy(copy, bytes, size);
	return copy;
}

char *comet_arena_format(struct comet_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	text = comet_arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

void comet_arena_free(struct comet_arena *arena)
{
	struct comet_chunk *chunk = arena->chunks;

	while (chunk) {
		struct comet_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	memset(arena, 0, sizeof(*arena));
}

/* Length of the valid UTF-8 sequence at bytes, 0 if there is none; no overlong, no surrogate. */
static size_t decode_utf8(const unsigned char *bytes, size_t size, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t need = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;

	if (need == 1) {
		*code = bytes[0];
		return 1;
	}
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || need > size)
		return 0;
	*code = bytes[0] & (0x7fU >> need);
	for (size_t i = 1; i < need; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (bytes[i] & 0x3f);
	}
	if (*code < least[need] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return need;
}

/* Spaces that are not ' ', direction marks, private and unassigned planes: what a reader misses. */
static bool is_invisible(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x0000, 0x001f },   { 0x007f, 0x00a0 },    { 0x00ad, 0x00ad },
		{ 0x0600, 0x0605 },   { 0x061c, 0x061c },    { 0x06dd, 0x06dd },
		{ 0x070f, 0x070f },   { 0x1680, 0x1680 },    { 0x180e, 0x180e },
		{ 0x2000, 0x200f },   { 0x2028, 0x202f },    { 0x205f, 0x206f },
		{ 0x3000, 0x3000 },   { 0xe000, 0xf8ff },    { 0xfeff, 0xfeff },
		{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff },    { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff },
	};

	for (size_t i = 0; i < COMET_ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* One character as it is to be shown; piece has room for 16 bytes. Returns the bytes eaten. */
static size_t quote_one(const char *bytes, size_t size, bool all, char *piece)
{
	static const char named[] = "\a\b\t\n\v\f\r\\\"";
	static const char letters[] = "abtnvfr\\\"";
	const char *found;
	uint32_t code;
	size_t eaten = decode_utf8((const unsigned char *)bytes, size, &code);

	if (!eaten) {
		snprintf(piece, 16, "\\x%02x", (unsigned char)bytes[0]);
		return 1;
	}
	found = code && code < 0x80 ? strchr(named, (int)code) : NULL;
	if (found && (all || code < 0x20))
		snprintf(piece, 16, "\\%c", letters[found - named]);
	else if (code < 0x20 || code == 0x7f)
		snprintf(piece, 16, "\\x%02x", (unsigned int)code);
	else if (is_invisible(code))
		snprintf(piece, 16, code < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned int)code);
	else
		snprintf(piece, 16, "%.*s", (int)eaten, bytes);
	return eaten;
}

static char *quote(const char *bytes, size_t size, bool all, char *out, size_t capacity)
{
	static const char dots[] = "...";
	size_t used = 0;
	size_t safe = 0; /* the last place where the dots still fit */
	size_t at = 0;

	while (at < size) {
		char piece[16];
		size_t length;

		at += quote_one(bytes + at, size - at, all, piece);
		length = strlen(piece);
		if (used + length >= capacity) {
			used = safe;
			length = capacity - used > strlen(dots) ? strlen(dots)
								: capacity - used - 1;
			memcpy(out + used, dots, length);
			used += length;
			break;
		}
		memcpy(out + used, piece, length);
		used += length;
		if (used + strlen(dots) < capacity)
			safe = used;
	}
	out[used] = '\0';
	return out;
}

char *comet_quote(const char *bytes, size_t size, char *out, size_t capacity)
{
	return quote(bytes, size, true, out, capacity);
}

char *comet_show(const char *bytes, size_t size, char *out, size_t capacity)
{
	return quote(bytes, size, false, out, capacity);
}

const char *comet_arena_quote(struct comet_arena *arena, const char *bytes, size_t size)
{
	char quoted[1000];
	const char *text;

	comet_quote(bytes, size, quoted, sizeof(quoted));
	text = comet_arena_format(arena, "\"%s\"", quoted);
	return text ? text : "\"...\"";
}

/* The three separators that the dialects use for the same key are the same mistake. */
static char fold(char c)
{
	if (c == '.' || c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#define WORD_MAX 40

/* Edits (insert, delete, replace, swap of neighbours) from a to b, both within WORD_MAX. */
static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int rows[3][WORD_MAX + 1];
	unsigned int *before = rows[0];
	unsigned int *last = rows[1];
	unsigned int *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned int)j;
	memset(before, 0, sizeof(rows[0]));
	for (size_t i = 1; i <= n; i++) {
		unsigned int *spare = before;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned int best = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));

			best = last[j] + 1 < best ? last[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[m];
}

bool comet_wants_colour(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && (!no_color || no_color[0] == '\0') && term &&
	       strcmp(term, "dumb") != 0;
}

const char *comet_suggest(const char *word, size_t size, const char *const *candidates,
			  size_t n_candidates)
{
	const char *best = NULL;
	unsigned int least = size < 5 ? 2 : 3; /* exclusive: short words are near to everything */
	bool dotted = size && memchr(word, '.', size);

	if (size == 0 || size > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n_candidates; i++) {
		size_t length = strlen(candidates[i]);
		unsigned int edits;

		if (length > WORD_MAX)
			continue;
		edits = distance(word, size, candidates[i], length);
		/* fs.raed is as near to fs.read as to fs_read: the writer's separator decides. */
		if (edits < least ||
		    (best && edits == least && dotted && strchr(candidates[i], '.'))) {
			least = edits;
			best = candidates[i];
		}
	}
	return best;
}
