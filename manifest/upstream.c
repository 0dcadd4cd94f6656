// SPDX-License-Identifier: Apache-2.0
/*
 * What is upstream's verdict on a soyapack.v0 manifest? Here: the strict top level and the checks
 * that every kind has. The order of the checks is upstream's, and the first failure is the answer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "manifest/scalar.h"
#include "manifest/syntax.h"
#include "manifest/upstream.h"

#define DESCRIPTION_MAX 280 /* bytes, as the code counts */

int comet_upstream_invalid(struct comet_report *report, const struct comet_value *value,
			   const struct comet_value *parent, const char *format, ...)
{
	/* An empty document has no node at all. */
	static const struct comet_node start = { .line = 1, .column = 1 };
	const struct comet_node *node = value->node ? value->node : parent->node;
	char sentence[1700];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	return comet_report_fail(report, node ? node : &start, "soyapack: invalid manifest: %s",
				 sentence);
}

bool comet_value_is_among(const struct comet_value *text, const char *const *words)
{
	for (; *words; words++)
		if (comet_bytes_are(text->text, text->size, *words))
			return true;
	return false;
}

const char *comet_upstream_quote(struct comet_report *report, const struct comet_value *text)
{
	return comet_arena_quote(report->arena, text->text, text->size);
}

static int fail_decode(struct comet_report *report, int r, const struct comet_decode_error *error,
		       const struct comet_node *fallback)
{
	if (r == -ENOMEM)
		return comet_report_no_memory(report);
	return comet_report_fail(report, error->node ? error->node : fallback,
				 "soyapack: parse: %s", error->text);
}

static bool is_known_key(const struct comet_node *key)
{
	const struct comet_type *type = &comet_upstream_manifest;

	for (size_t i = 0; i < type->n_fields; i++)
		if (comet_bytes_are(key->text, key->size, type->fields[i].name))
			return true;
	return false;
}

/* An extension may hold anything that can be decoded at all. */
static int check_extension(struct comet_report *report, const struct comet_node *key,
			   const struct comet_node *child)
{
	static const struct comet_type any = { .kind = COMET_TYPE_ANY, .name = "interface {}" };
	struct comet_decode_error error;
	struct comet_value ignored = { 0 };
	int r;

	r = comet_decode(report->arena, child, &any, &ignored, &error);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return comet_report_no_memory(report);
	return comet_report_fail(report, error.node ? error.node : child,
				 "soyapack: parse: soyapack: decode extension %s: %s",
				 comet_arena_quote(report->arena, key->text, key->size),
				 error.text);
}

/* Leaves the extensions out; anything else that is not known is an error. */
static int prune(struct comet_report *report, const struct comet_node *root,
		 struct comet_node *pruned)
{
	*pruned = *root;
	pruned->n_children = 0;
	pruned->children =
		comet_arena_array(report->arena, root->n_children, sizeof(struct comet_node *));
	if (!pruned->children)
		return comet_report_no_memory(report);
	for (size_t i = 0; i < root->n_children; i += 2) {
		struct comet_node *key = root->children[i];
		struct comet_node *child = root->children[i + 1];
		int r;

		if (key->size >= 2 && memcmp(key->text, "x-", 2) == 0) {
			r = check_extension(report, key, child);
			if (r < 0)
				return r;
			continue;
		}
		if (!is_known_key(key))
			return comet_report_fail(
				report, key,
				"soyapack: parse: soyapack: unknown top-level field %s (use the x- prefix for extensions)",
				comet_arena_quote(report->arena, key->text, key->size));
		pruned->children[pruned->n_children++] = key;
		pruned->children[pruned->n_children++] = child;
	}
	return 0;
}

static int check_authors(struct comet_report *report, const struct comet_value *manifest)
{
	const struct comet_value *authors = comet_value_field(manifest, "authors");

	if (authors->n_items == 0)
		return comet_upstream_invalid(report, authors, manifest,
					      "authors[] must have at least one entry");
	for (size_t i = 0; i < authors->n_items; i++) {
		const struct comet_value *name = comet_value_field(&authors->items[i], "name");

		if (comet_value_is_empty(name))
			return comet_upstream_invalid(report, name, &authors->items[i],
						      "authors[%zu].name is required", i);
	}
	return 0;
}

static int check_identity(struct comet_report *report, const struct comet_value *m)
{
	static const char *const spec_versions[] = { "soyapack.v0", NULL };
	static const char *const kinds[] = { "Skill", "Agent", "Memory", NULL };
	const struct comet_value *spec = comet_value_field(m, "spec_version");
	const struct comet_value *kind = comet_value_field(m, "kind");
	const struct comet_value *name = comet_value_field(m, "name");
	const struct comet_value *version = comet_value_field(m, "version");
	const struct comet_value *text = comet_value_field(m, "description");

	if (!comet_value_is_among(spec, spec_versions))
		return comet_upstream_invalid(report, spec, m,
					      "spec_version must be \"soyapack.v0\", got %s",
					      comet_upstream_quote(report, spec));
	if (!comet_value_is_among(kind, kinds))
		return comet_upstream_invalid(report, kind, m,
					      "kind must be one of Skill/Agent/Memory, got %s",
					      comet_upstream_quote(report, kind));
	if (!comet_is_slug(name->text, name->size))
		return comet_upstream_invalid(
			report, name, m, "name %s does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$",
			comet_upstream_quote(report, name));
	if (!comet_is_semver(version->text, version->size))
		return comet_upstream_invalid(report, version, m,
					      "version %s is not valid SemVer 2.0",
					      comet_upstream_quote(report, version));
	if (comet_value_is_empty(text))
		return comet_upstream_invalid(report, text, m, "description is required");
	if (text->size > DESCRIPTION_MAX)
		return comet_upstream_invalid(report, text, m,
					      "description exceeds 280 chars (%zu)", text->size);
	return check_authors(report, m);
}

static int check_common(struct comet_report *report, const struct comet_value *m)
{
	static const char *const levels[] = { "pure", "read-only", "stateful", NULL };
	static const char *const places[] = { "planet", "moon", "comet", "any", NULL };
	const struct comet_value *license = comet_value_field(m, "license");
	const struct comet_value *runtime = comet_value_field(m, "runtime");
	const struct comet_value *compat = comet_value_field(runtime, "compat");
	const struct comet_value *level = comet_value_field(m, "determinism");
	const struct comet_value *place = comet_value_field(m, "affinity");
	const struct comet_value *deps = comet_value_field(m, "deps");
	const struct comet_value *lock = comet_value_field(deps, "lockfile");

	if (comet_value_is_empty(license))
		return comet_upstream_invalid(
			report, license, m,
			"license is required (use an SPDX identifier, e.g. MIT)");
	if (comet_value_is_empty(compat))
		return comet_upstream_invalid(
			report, compat, runtime->node ? runtime : m,
			"runtime.compat is required (SemVer range, e.g. \">=0.1.0 <0.2.0\")");
	if (!comet_value_is_among(level, levels))
		return comet_upstream_invalid(report, level, m,
					      "determinism must be pure/read-only/stateful, got %s",
					      comet_upstream_quote(report, level));
	if (!comet_value_is_empty(place) && !comet_value_is_among(place, places))
		return comet_upstream_invalid(report, place, m,
					      "affinity must be planet/moon/comet/any, got %s",
					      comet_upstream_quote(report, place));
	if (!comet_value_is_empty(lock) && !comet_is_sha256(lock->text, lock->size))
		return comet_upstream_invalid(report, lock, deps,
					      "deps.lockfile must be 64-char lowercase hex, got %s",
					      comet_upstream_quote(report, lock));
	return 0;
}

int comet_upstream_read(struct comet_report *report, const struct comet_document *document,
			struct comet_value *value)
{
	const struct comet_node *root = document->root;
	struct comet_decode_error error;
	struct comet_node *pruned;
	int r;

	memset(value, 0, sizeof(*value));
	if (root && !comet_node_is_null(root)) {
		if (root->kind != COMET_NODE_MAPPING)
			return comet_report_fail(
				report, root,
				"soyapack: parse: soyapack: manifest must be a YAML mapping at top level (got kind=%d)",
				(int)root->kind);
		pruned = comet_arena_alloc(report->arena, sizeof(*pruned));
		if (!pruned)
			return comet_report_no_memory(report);
		r = prune(report, root, pruned);
		if (r < 0)
			return r;
		r = comet_decode(report->arena, pruned, &comet_upstream_manifest, value, &error);
		if (r < 0)
			return fail_decode(report, r, &error, root);
	}
	r = check_identity(report, value);
	if (r == 0)
		r = check_common(report, value);
	if (r == 0)
		r = comet_upstream_check_kind(report, value);
	if (r == 0)
		r = comet_upstream_check_blocks(report, value);
	return r;
}
