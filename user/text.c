// SPDX-License-Identifier: Apache-2.0
/* How do bytes that anybody may have chosen get into a line that others read? */
#include "user/text.h"

#include "manifest/util.h"
#include "user/base.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

size_t comet_text_decode(const char *text, size_t len, uint32_t *code)
{
	/* Smallest code point that needs so many bytes: what is below is overlong. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	size_t n;

	if (len == 0)
		return 0;
	if (s[0] < 0x80) {
		n = 1;
		c = s[0];
	} else if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		n = 2;
		c = s[0] & 0x1f;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		c = s[0] & 0x0f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		n = 4;
		c = s[0] & 0x07;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (code)
		*code = c;
	return n;
}

bool comet_text_is_utf8(const char *text, size_t len)
{
	while (len > 0) {
		size_t n = comet_text_decode(text, len, NULL);

		if (n == 0 || *text == '\0')
			return false;
		text += n;
		len -= n;
	}
	return true;
}

char *comet_text_to_utf8(const char *text, size_t len)
{
	size_t width = strlen(REPLACEMENT);
	char *out = malloc(len * width + 1);
	char *p = out;

	if (!out)
		return NULL;
	while (len > 0) {
		size_t n = comet_text_decode(text, len, NULL);

		if (n == 0 || *text == '\0') {
			memcpy(p, REPLACEMENT, width);
			p += width;
			n = 1;
		} else {
			memcpy(p, text, n);
			p += n;
		}
		text += n;
		len -= n;
	}
	*p = '\0';
	return out;
}

char *comet_text_to_hex(const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *out = malloc(2 * len + 1);

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[(unsigned char)text[i] >> 4];
		out[2 * i + 1] = digits[(unsigned char)text[i] & 0xf];
	}
	out[2 * len] = '\0';
	return out;
}

/* Characters that a line can hold without a reader taking them for something else. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("/._-+@:,=%~^#[]*", c));
}

char *comet_text_quote(const char *text, size_t len)
{
	size_t capacity = 4 * len + 1; /* \xNN for each byte is the worst case */
	bool plain = len > 0;
	char *out;

	for (size_t i = 0; i < len && plain; i++)
		plain = is_plain(text[i]);
	if (plain)
		return strndup(text, len);
	out = malloc(capacity + 2);
	if (!out)
		return NULL;
	out[0] = '"';
	comet_quote(text, len, out + 1, capacity);
	strcat(out, "\"");
	return out;
}

char *comet_text_json_line(const char *json)
{
	size_t len = strlen(json);
	char *out = malloc(6 * len + 1); /* "\u007f" for one byte is the worst case */
	char *p = out;

	if (!out)
		return NULL;
	while (len > 0) {
		uint32_t c = 0;
		size_t n = comet_text_decode(json, len, &c);

		if (n > 0 && ((c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029)) {
			p += sprintf(p, "\\u%04x", c);
		} else {
			n = n ? n : 1;
			memcpy(p, json, n);
			p += n;
		}
		json += n;
		len -= n;
	}
	*p = '\0';
	return out;
}
