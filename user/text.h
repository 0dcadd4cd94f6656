/* SPDX-License-Identifier: Apache-2.0 */
/* How do bytes that anybody may have chosen get into a line that others read? */
#ifndef COMET_TEXT_H
#define COMET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length (1 to 4) of the well-formed UTF-8 sequence at the start of text, 0 when there is none
 * (RFC 3629: no surrogates, no overlong forms). code may be NULL.
 */
size_t comet_text_decode(const char *text, size_t len, uint32_t *code);

/* Valid UTF-8 without NUL, that is: fit for a JSON string that any reader can take. */
bool comet_text_is_utf8(const char *text, size_t len);

/* Each byte that is not fit becomes U+FFFD. malloc'ed and NUL-terminated, NULL: no memory. */
char *comet_text_to_utf8(const char *text, size_t len);

/* Lower-case hex, malloc'ed; NULL: no memory. */
char *comet_text_to_hex(const char *text, size_t len);

/*
 * For a person's terminal: a name of letters, digits and the usual signs as it is, any other in
 * double quotes as comet_quote() writes it, uncut. malloc'ed; NULL: no memory.
 */
char *comet_text_quote(const char *text, size_t len);

/*
 * One line of JSON made safe for readers that split at more than '\n': DEL, C1 controls, U+2028
 * and U+2029 as \uXXXX. Outside of strings JSON has none of them. malloc'ed; NULL: no memory.
 */
char *comet_text_json_line(const char *json);

#endif /* COMET_TEXT_H */
