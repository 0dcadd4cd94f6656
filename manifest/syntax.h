/* SPDX-License-Identifier: Apache-2.0 */
/* Does this text have the required form: slug, SemVer, digest, environment reference? */
#ifndef COMET_SYNTAX_H
#define COMET_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

/* ^[a-z][a-z0-9-]{0,46}[a-z0-9]$ or one character of a-z, 0-9 */
bool comet_is_slug(const char *text, size_t size);
/* "soya:" and a slug */
bool comet_is_model_id(const char *text, size_t size);
/* A label of RFC 1123 in lower case, 1 to 63 bytes. */
bool comet_is_label(const char *text, size_t size);
/* SemVer 2.0.0 */
bool comet_is_semver(const char *text, size_t size);
/* 64 lower-case hexadecimal digits */
bool comet_is_sha256(const char *text, size_t size);
/* ^\$\{[A-Z_][A-Z0-9_]+\}$ */
bool comet_is_env_ref(const char *text, size_t size);

#endif /* COMET_SYNTAX_H */
