/* SPDX-License-Identifier: Apache-2.0 */
/* What do the tests of manifest/ share? Reading a text, and showing all that came of it. */
#ifndef COMET_TEST_MANIFEST_H
#define COMET_TEST_MANIFEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "manifest/util.h"

#define FILE_NAME "pack.yaml"

/* A manifest in upstream's words that is valid and grants a bit of everything. */
#define GO_MANIFEST                                                                                \
	"spec_version: soyapack.v0\n"                                                              \
	"kind: Agent\n"                                                                            \
	"name: clerk\n"                                                                            \
	"version: 1.2.3\n"                                                                         \
	"description: Files letters.\n"                                                            \
	"authors: [{name: Example Authors}]\n"                                                     \
	"license: MIT\n"                                                                           \
	"runtime: {compat: \">=0.1.0 <0.2.0\"}\n"                                                  \
	"determinism: stateful\n"                                                                  \
	"entry: prompts/main.md\n"                                                                 \
	"expose: {openai_compat: chat, virtual_model_id: \"soya:clerk\"}\n"                        \
	"sandbox:\n"                                                                               \
	"  image: html-base@0.1.0\n"                                                               \
	"  isolation: container\n"                                                                 \
	"  budget_seconds_max: 60\n"                                                               \
	"  capabilities:\n"                                                                        \
	"    network_out:\n"                                                                       \
	"      - {host: api.example.com, port: 443, proto: https}\n"                               \
	"    fs_read: [/workdir]\n"                                                                \
	"    fs_write: [/workdir/out]\n"                                                           \
	"    exec: [git]\n"                                                                        \
	"    determinism_tier: read-only\n"

/* The same pack in the seed's words. */
#define SEED_MANIFEST                                                                              \
	"apiVersion: soyaos.ai/v0\n"                                                               \
	"kind: Agent\n"                                                                            \
	"name: clerk\n"                                                                            \
	"version: 1.2.3\n"                                                                         \
	"virtual_model_id: soya:clerk\n"                                                           \
	"description: Files letters.\n"                                                            \
	"owner: example\n"                                                                         \
	"license: MIT\n"                                                                           \
	"capabilities:\n"                                                                          \
	"  egress:\n"                                                                              \
	"    - host: api.example.com\n"                                                            \
	"      port: 443\n"                                                                        \
	"      protocol: https\n"                                                                  \
	"  fs:\n"                                                                                  \
	"    read: [/workdir]\n"                                                                   \
	"    write: [/workdir/out]\n"                                                              \
	"  determinism_tier: read-only\n"                                                          \
	"inputs: {type: object}\n"                                                                 \
	"outputs: {letter: letter.v1}\n"                                                           \
	"prompts: {write: prompts/write.md}\n"                                                     \
	"tools:\n"                                                                                 \
	"  fetch: {kind: builtin.http_get, params: {timeout: 15s}}\n"

/* text with the first `from` replaced by `to`; a missing `from` fails the test. */
static inline char *edit(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *result;
	int n;

	if (!at)
		fail_msg("the text has no \"%s\"", from);
	n = asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	assert_true(n >= 0);
	return result;
}

static inline void show_entries(FILE *out, const char *word, const struct comet_entry *entries,
				size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s %s (%u:%u)\n", word, entries[i].text, entries[i].location.line,
			entries[i].location.column);
}

/* Everything that the manifest says, one fact a line; the caller frees. */
static inline char *show(const struct comet_manifest *manifest)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "%s %s/%s@%s, words of %s\n", manifest->kind, manifest->schema, manifest->name,
		manifest->version, comet_dialect_to_str(manifest->dialect));
	if (manifest->isolation != COMET_ISOLATION_UNSET)
		fprintf(out, "isolation %s\n", comet_isolation_to_str(manifest->isolation));
	if (manifest->budget_seconds)
		fprintf(out, "budget %u\n", manifest->budget_seconds);
	if (manifest->determinism_tier)
		fprintf(out, "tier %s\n", manifest->determinism_tier);
	for (size_t i = 0; i < manifest->n_egress; i++)
		fprintf(out, "egress %s:%u/%s (%u:%u)\n", manifest->egress[i].host,
			manifest->egress[i].port,
			comet_protocol_to_str(manifest->egress[i].protocol),
			manifest->egress[i].location.line, manifest->egress[i].location.column);
	show_entries(out, "read", manifest->fs_read, manifest->n_fs_read);
	show_entries(out, "write", manifest->fs_write, manifest->n_fs_write);
	show_entries(out, "exec", manifest->exec, manifest->n_exec);
	for (size_t i = 0; i < manifest->n_serve; i++) {
		const struct comet_serve *serve = &manifest->serve[i];
		char port[COMET_PORT_TEXT];

		fprintf(out, "serve %s (%u:%u)\n", comet_port_format(&serve->port, port),
			serve->location.line, serve->location.column);
	}
	for (size_t i = 0; i < manifest->n_warnings; i++)
		fprintf(out, "warning %u:%u: %s\n", manifest->warnings[i].location.line,
			manifest->warnings[i].location.column, manifest->warnings[i].text);
	if (manifest->unenforceable)
		fprintf(out, "not to be run: %s\n", manifest->unenforceable);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The same for a text, or "error: " and the message without the file's name. */
static inline char *read_and_show_bytes(const char *bytes, size_t size, bool strict)
{
	struct comet_manifest *manifest = NULL;
	struct comet_error error = { "" };
	/* An exact copy on the heap, so that a sanitizer sees every read past its end. */
	char *copy = malloc(size ? size : 1);
	const char *message = error.text;
	char *text;
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	r = comet_manifest_parse(FILE_NAME, copy, size, strict, &manifest, &error);
	free(copy);
	if (r == 0) {
		text = show(manifest);
		comet_manifest_free(manifest);
		return text;
	}
	assert_int_equal(r, -22);
	assert_null(manifest);
	if (strncmp(message, FILE_NAME ":", strlen(FILE_NAME ":")) == 0)
		message += strlen(FILE_NAME ":");
	assert_true(asprintf(&text, "error: %s", message) >= 0);
	return text;
}

static inline char *read_and_show(const char *text, bool strict)
{
	return read_and_show_bytes(text, strlen(text), strict);
}

/* One vector: an edit of a base text, and what must come of it. */
struct vector {
	const char *from, *to;
	const char *expected; /* "error: ...", or a line that must be there; "!..." must not */
};

static inline bool vector_holds(const char *base, const struct vector *vector)
{
	const char *wanted = vector->expected;
	char *text = edit(base, vector->from, vector->to);
	char *shown = read_and_show(text, false);
	bool is_error = strncmp(shown, "error: ", 7) == 0;
	bool good;

	if (strncmp(wanted, "error: ", 7) == 0)
		good = strcmp(shown, wanted) == 0;
	else if (*wanted == '!')
		good = !is_error && !strstr(shown, wanted + 1);
	else
		good = !is_error && strstr(shown, wanted);
	if (!good)
		print_error("\"%s\" -> \"%s\"\nwanted: %s\nfound:  %s\n", vector->from, vector->to,
			    wanted, shown);
	free(shown);
	free(text);
	return good;
}

/* All of them are tried, so that one run shows every failure. */
static inline void check_vectors(const char *base, const struct vector *vectors, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++)
		failed += !vector_holds(base, &vectors[i]);
	assert_int_equal(failed, 0);
}

#endif /* COMET_TEST_MANIFEST_H */
