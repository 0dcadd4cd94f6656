/* SPDX-License-Identifier: Apache-2.0 */
/* How does an error travel from where it is found to the one place that prints it? */
#ifndef COMET_ERROR_H
#define COMET_ERROR_H

/* One sentence, without program name and without a final newline. */
struct comet_error {
	char text[2048];
};

/*
 * Sets the sentence and returns -code (code is a positive errno), so that a caller can write
 * `return comet_error_set(error, EINVAL, "...")`. error may be NULL. Too long a text is cut
 * at a UTF-8 boundary. Bytes of untrusted names must go through comet_quote() first.
 */
int comet_error_set(struct comet_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the sentence that is there; returns code unchanged. */
int comet_error_wrap(struct comet_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* COMET_ERROR_H */
