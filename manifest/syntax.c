// SPDX-License-Identifier: Apache-2.0
/* Does this text have the required form: slug, SemVer, digest, environment reference? */
#include <string.h>

#include "manifest/syntax.h"

#define SLUG_MAX 48
#define LABEL_MAX 63

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_word(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!is_lower(text[i]) && !is_digit(text[i]) && text[i] != '-')
			return false;
	return size && text[0] != '-' && text[size - 1] != '-';
}

bool comet_is_slug(const char *text, size_t size)
{
	return is_word(text, size) && size <= SLUG_MAX && (size == 1 || is_lower(text[0]));
}

bool comet_is_model_id(const char *text, size_t size)
{
	static const char prefix[] = "soya:";
	size_t skip = strlen(prefix);

	return size > skip && memcmp(text, prefix, skip) == 0 &&
	       comet_is_slug(text + skip, size - skip);
}

bool comet_is_label(const char *text, size_t size)
{
	return is_word(text, size) && size <= LABEL_MAX;
}

/* Length of a number without leading zeros at text, 0 if there is none. */
static size_t number(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && is_digit(text[n]))
		n++;
	return n > 1 && text[0] == '0' ? 0 : n;
}

/* Length of dot-separated identifiers at text; 0 if one is empty or, if asked, a padded number. */
static size_t identifiers(const char *text, size_t size, bool padded_is_wrong)
{
	size_t at = 0;

	for (;;) {
		size_t start = at;
		bool numeric = true;

		while (at < size && (is_digit(text[at]) || is_lower(text[at]) ||
				     is_upper(text[at]) || text[at] == '-')) {
			numeric = numeric && is_digit(text[at]);
			at++;
		}
		if (at == start)
			return 0;
		if (padded_is_wrong && numeric && at - start > 1 && text[start] == '0')
			return 0;
		if (at == size || text[at] != '.')
			return at;
		at++;
	}
}

bool comet_is_semver(const char *text, size_t size)
{
	size_t at = 0;

	for (unsigned int part = 0; part < 3; part++) {
		size_t n;

		if (part && (at == size || text[at++] != '.'))
			return false;
		n = number(text + at, size - at);
		if (!n)
			return false;
		at += n;
	}
	for (unsigned int part = 0; part < 2; part++) {
		bool is_build = part == 1;
		size_t n;

		if (at == size || text[at] != (is_build ? '+' : '-'))
			continue;
		at++;
		n = identifiers(text + at, size - at, !is_build);
		if (!n)
			return false;
		at += n;
	}
	return at == size;
}

bool comet_is_sha256(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!is_digit(text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return size == 64;
}

bool comet_is_env_ref(const char *text, size_t size)
{
	if (size < 5 || text[0] != '$' || text[1] != '{' || text[size - 1] != '}')
		return false;
	for (size_t i = 2; i < size - 1; i++)
		if (!is_upper(text[i]) && text[i] != '_' && (i == 2 || !is_digit(text[i])))
			return false;
	return true;
}
