// SPDX-License-Identifier: Apache-2.0
/* How is an error sentence put together without ever overflowing or splitting a character? */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "manifest/error.h"

/* A cut in the middle of a UTF-8 sequence would make the whole line invalid for its reader. */
static void cut_at_boundary(char *text, size_t size)
{
	size_t end = size - 1;
	size_t start = end;
	unsigned char lead;
	size_t need;

	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return;
	lead = (unsigned char)text[start - 1];
	if (lead < 0xc0)
		return;
	need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (end - (start - 1) < need)
		text[start - 1] = '\0';
}

int comet_error_set(struct comet_error *error, int code, const char *format, ...)
{
	va_list args;
	int n;

	if (!error)
		return -code;
	va_start(args, format);
	n = vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	if (n < 0)
		error->text[0] = '\0';
	else if ((size_t)n >= sizeof(error->text))
		cut_at_boundary(error->text, sizeof(error->text));
	return -code;
}

int comet_error_wrap(struct comet_error *error, int code, const char *format, ...)
{
	struct comet_error inner;
	char prefix[sizeof(inner.text)];
	va_list args;

	if (!error)
		return code;
	inner = *error;
	va_start(args, format);
	vsnprintf(prefix, sizeof(prefix), format, args);
	va_end(args);
	comet_error_set(error, 0, "%s: %s", prefix, inner.text);
	return code;
}
