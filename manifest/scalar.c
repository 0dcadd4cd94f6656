// SPDX-License-Identifier: Apache-2.0
/*
 * What is an unquoted word: text, a number, a boolean, nothing? The rules are those of Go's
 * yaml.v3, which upstream reads manifests with: octal 0443, 0x1bb, 4_43, 0o17, 0b1; `yes` is text.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/scalar.h"
#include "manifest/util.h"

#define NUMBER_MAX 4096 /* a longer word is text */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 0 to 35; no base is that large, so 36 is a digit of none. */
static unsigned int digit_of(char c)
{
	if (is_digit(c))
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (unsigned int)(c - 'A') + 10;
	return 36;
}

/* Digits in base up to the end of text; false on anything else and on overflow. */
static bool read_digits(const char *text, unsigned int base, uint64_t *value)
{
	*value = 0;
	for (; *text; text++) {
		unsigned int digit = digit_of(*text);

		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return true;
}

static bool set_integer(bool negative, uint64_t value, struct comet_scalar *scalar)
{
	if (negative && value > (uint64_t)INT64_MAX + 1)
		return false;
	scalar->kind = COMET_SCALAR_INT;
	if (negative)
		scalar->integer = value ? -(int64_t)(value - 1) - 1 : 0;
	else if (value <= INT64_MAX)
		scalar->integer = (int64_t)value;
	else
		scalar->kind = COMET_SCALAR_UNSIGNED;
	return true;
}

/* base 0 takes it from the prefix; a sign in front of an unsigned value past int64 is no number. */
static bool read_integer(const char *text, unsigned int base, struct comet_scalar *scalar)
{
	bool is_signed = *text == '-' || *text == '+';
	bool negative = *text == '-';
	uint64_t value;

	text += is_signed;
	if (!*text)
		return false;
	if (base == 0) {
		char second = (char)(text[1] | 0x20);

		base = 10;
		if (text[0] == '0') {
			bool prefixed = text[1] && text[2];

			base = prefixed && second == 'b' ? 2 : prefixed && second == 'x' ? 16 : 8;
			text += prefixed && (second == 'b' || second == 'x' || second == 'o') ? 2
											      : 1;
		}
	}
	if (!read_digits(text, base, &value))
		return false;
	if (is_signed && !negative && value > INT64_MAX)
		return false;
	return set_integer(negative, value, scalar);
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(const char *text)
{
	size_t before;
	size_t after = 0;

	text += *text == '-' || *text == '+';
	before = strspn(text, "0123456789");
	text += before;
	if (*text == '.') {
		text++;
		after = strspn(text, "0123456789");
		text += after;
	}
	if (!before && !after)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		if (!is_digit(*text))
			return false;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

static bool read_float(const char *text, struct comet_scalar *scalar)
{
	if (!looks_like_float(text))
		return false;
	scalar->real = strtod(text, NULL);
	if (isinf(scalar->real))
		return false;
	scalar->kind = COMET_SCALAR_FLOAT;
	return true;
}

/* One or two digits, within first..last. */
static const char *read_part(const char *text, unsigned int first, unsigned int last,
			     unsigned int *value)
{
	if (!is_digit(*text))
		return NULL;
	*value = (unsigned int)(*text++ - '0');
	if (is_digit(*text))
		*value = *value * 10 + (unsigned int)(*text++ - '0');
	return *value >= first && *value <= last ? text : NULL;
}

static const char *read_date(const char *text)
{
	static const unsigned char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned int year;
	unsigned int month;
	unsigned int day;

	if (strspn(text, "0123456789") != 4 || text[4] != '-')
		return NULL;
	year = (unsigned int)strtoul(text, NULL, 10);
	text = read_part(text + 5, 1, 12, &month);
	if (!text || *text != '-')
		return NULL;
	text = read_part(text + 1, 1, days[month - 1], &day);
	if (text && month == 2 && day == 29 && (year % 4 || (year % 100 == 0 && year % 400)))
		return NULL;
	return text;
}

static bool is_timestamp(const char *text)
{
	unsigned int part;
	char separator;

	text = read_date(text);
	if (!text)
		return false;
	separator = *text;
	if (separator == '\0')
		return true;
	if (separator != 'T' && separator != 't' && separator != ' ')
		return false;
	text = read_part(text + 1, 0, 23, &part);
	if (!text || *text != ':')
		return false;
	text = read_part(text + 1, 0, 59, &part);
	if (!text || *text != ':')
		return false;
	text = read_part(text + 1, 0, 59, &part);
	if (!text)
		return false;
	if ((*text == '.' || *text == ',') && is_digit(text[1]))
		text += 1 + strspn(text + 1, "0123456789");
	if (separator == ' ')
		return *text == '\0';
	if (*text == 'Z')
		return text[1] == '\0';
	return (*text == '+' || *text == '-') && strlen(text) == 6 && is_digit(text[1]) &&
	       is_digit(text[2]) && text[3] == ':' && is_digit(text[4]) && is_digit(text[5]);
}

static void read_number(const char *text, struct comet_scalar *scalar)
{
	char plain[NUMBER_MAX];
	size_t n = 0;
	const char *body;

	if (is_timestamp(text)) {
		scalar->kind = COMET_SCALAR_TIMESTAMP;
		return;
	}
	for (; *text; text++)
		if (*text != '_')
			plain[n++] = *text;
	plain[n] = '\0';

	if (read_integer(plain, 0, scalar) || read_float(plain, scalar))
		return;
	/* What the prefix left over: "0b" and "0o" before a signed rest. */
	body = plain + (plain[0] == '-');
	if (body[0] != '0' || (body[1] != 'b' && body[1] != 'o') || !body[2])
		return;
	if (body != plain && (body[2] == '-' || body[2] == '+'))
		return;
	read_integer(body + 2, body[1] == 'b' ? 2 : 8, scalar);
}

static bool resolve_word(const char *text, size_t size, struct comet_scalar *scalar)
{
	static const struct {
		const char *word;
		enum comet_scalar_kind kind;
		bool boolean;
		double real;
	} words[] = {
		{ "", COMET_SCALAR_NULL, false, 0 },
		{ "~", COMET_SCALAR_NULL, false, 0 },
		{ "null", COMET_SCALAR_NULL, false, 0 },
		{ "Null", COMET_SCALAR_NULL, false, 0 },
		{ "NULL", COMET_SCALAR_NULL, false, 0 },
		{ "true", COMET_SCALAR_BOOL, true, 0 },
		{ "True", COMET_SCALAR_BOOL, true, 0 },
		{ "TRUE", COMET_SCALAR_BOOL, true, 0 },
		{ "false", COMET_SCALAR_BOOL, false, 0 },
		{ "False", COMET_SCALAR_BOOL, false, 0 },
		{ "FALSE", COMET_SCALAR_BOOL, false, 0 },
		{ ".nan", COMET_SCALAR_FLOAT, false, NAN },
		{ ".NaN", COMET_SCALAR_FLOAT, false, NAN },
		{ ".NAN", COMET_SCALAR_FLOAT, false, NAN },
		{ ".inf", COMET_SCALAR_FLOAT, false, INFINITY },
		{ ".Inf", COMET_SCALAR_FLOAT, false, INFINITY },
		{ ".INF", COMET_SCALAR_FLOAT, false, INFINITY },
		{ "+.inf", COMET_SCALAR_FLOAT, false, INFINITY },
		{ "+.Inf", COMET_SCALAR_FLOAT, false, INFINITY },
		{ "+.INF", COMET_SCALAR_FLOAT, false, INFINITY },
		{ "-.inf", COMET_SCALAR_FLOAT, false, -INFINITY },
		{ "-.Inf", COMET_SCALAR_FLOAT, false, -INFINITY },
		{ "-.INF", COMET_SCALAR_FLOAT, false, -INFINITY },
	};

	if (size > 5)
		return false;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(words); i++) {
		if (!comet_bytes_are(text, size, words[i].word))
			continue;
		scalar->kind = words[i].kind;
		scalar->boolean = words[i].boolean;
		scalar->real = words[i].real;
		return true;
	}
	return false;
}

void comet_scalar_resolve(const char *text, size_t size, struct comet_scalar *scalar)
{
	memset(scalar, 0, sizeof(*scalar));
	scalar->kind = COMET_SCALAR_TEXT;
	if (resolve_word(text, size, scalar))
		return;
	if (size >= NUMBER_MAX || memchr(text, '\0', size))
		return;
	if (is_digit(*text) || *text == '-' || *text == '+')
		read_number(text, scalar);
	else if (*text == '.' && !strchr(text, '_'))
		read_float(text, scalar);
}

const char *comet_scalar_tag(const struct comet_scalar *scalar)
{
	static const char *const tags[] = {
		[COMET_SCALAR_TEXT] = COMET_TAG_STR,
		[COMET_SCALAR_NULL] = COMET_TAG_NULL,
		[COMET_SCALAR_BOOL] = COMET_TAG_BOOL,
		[COMET_SCALAR_INT] = COMET_TAG_INT,
		[COMET_SCALAR_UNSIGNED] = COMET_TAG_INT,
		[COMET_SCALAR_FLOAT] = COMET_TAG_FLOAT,
		[COMET_SCALAR_TIMESTAMP] = COMET_TAG_TIMESTAMP,
	};

	_Static_assert(COMET_ARRAY_SIZE(tags) == _COMET_SCALAR_MAX, "a tag for each kind");
	return tags[scalar->kind];
}

/* The tags whose text has a meaning; every other tag leaves the text as it is. */
static bool is_resolvable(const char *tag)
{
	static const char *const tags[] = {
		COMET_TAG_BOOL, COMET_TAG_INT, COMET_TAG_FLOAT, COMET_TAG_NULL, COMET_TAG_TIMESTAMP,
	};

	for (size_t i = 0; i < COMET_ARRAY_SIZE(tags); i++)
		if (strcmp(tag, tags[i]) == 0)
			return true;
	return false;
}

int comet_scalar_read(const struct comet_node *node, struct comet_scalar *scalar, const char **tag)
{
	const char *own;

	memset(scalar, 0, sizeof(*scalar));
	scalar->kind = COMET_SCALAR_TEXT;
	*tag = node->tag;
	if (!is_resolvable(node->tag))
		return 0;
	comet_scalar_resolve(node->text, node->size, scalar);
	own = comet_scalar_tag(scalar);
	if (strcmp(own, node->tag) == 0)
		return 0;
	if (strcmp(node->tag, COMET_TAG_FLOAT) == 0 && scalar->kind == COMET_SCALAR_INT) {
		scalar->kind = COMET_SCALAR_FLOAT;
		scalar->real = (double)scalar->integer;
		return 0;
	}
	*tag = own;
	return -EINVAL;
}
