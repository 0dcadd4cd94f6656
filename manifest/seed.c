// SPDX-License-Identifier: Apache-2.0
/*
 * Does a manifest of the seed's dialect (apiVersion: soyaos.ai/v0) validate, and what does it
 * declare? Unlike soyapack.v0 it is strict everywhere: an unknown key is an error.
 */
#include <errno.h>
#include <string.h>

#include "manifest/block.h"
#include "manifest/decode.h"
#include "manifest/map.h"
#include "manifest/scalar.h"
#include "manifest/seed.h"
#include "manifest/syntax.h"

#define API_VERSION "soyaos.ai/v0"

static const char *const top_keys[] = {
	"apiVersion",  "kind",    "name",      "version",      "virtual_model_id",
	"description", "owner",   "license",   "inputs",       "outputs",
	"prompts",     "tools",   "templates", "capabilities", "examples",
	"upstream",    "secrets", "sla",       "signed_by",    "compat",
};

static const char *const announced_keys[] = { "secrets", "sla", "signed_by", "compat" };

static const char *const block_keys[] = { "egress", "fs", "serve", "determinism_tier" };

/* Duplicate keys, alias bombs, impossible tags: anywhere, also where nobody reads. */
static int check_whole_tree(struct comet_report *report, const struct comet_node *root)
{
	static const struct comet_type any = { .kind = COMET_TYPE_ANY, .name = "interface {}" };
	struct comet_value ignored = { 0 };
	struct comet_decode_error error;
	int r;

	r = comet_decode(report->arena, root, &any, &ignored, &error);
	if (r == -ENOMEM)
		return comet_report_no_memory(report);
	if (r < 0)
		return comet_report_fail(report, error.node ? error.node : root, "%s",
					 comet_decode_first(&error));
	return 0;
}

static bool has_extension_prefix(const struct comet_node *key)
{
	return key->size >= 2 && memcmp(key->text, "x-", 2) == 0;
}

static int check_keys(struct comet_report *report, const struct comet_map *map)
{
	for (size_t i = 0; i < map->n_pairs; i++) {
		const struct comet_node *key = map->pairs[i].key;
		int r;

		if (has_extension_prefix(key))
			continue;
		r = comet_seed_known_key(report, key, "at the top level", top_keys,
					 COMET_ARRAY_SIZE(top_keys));
		for (size_t j = 0; r == 0 && j < COMET_ARRAY_SIZE(announced_keys); j++)
			if (comet_node_is(key, announced_keys[j]))
				r = comet_report_warn(report, key, "not enforced by this build: %s",
						      announced_keys[j]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The field, which must be there and must not be empty text. */
static int require_text(struct comet_report *report, const struct comet_map *map, const char *name,
			const struct comet_node **text)
{
	const struct comet_pair *pair = comet_map_find(map, name);
	int r;

	if (!pair)
		return comet_report_fail(report, map->node, "expected the field \"%s\", found none",
					 name);
	r = comet_seed_text(report, pair->value, name, text);
	if (r < 0)
		return r;
	if ((*text)->size == 0)
		return comet_report_fail(report, pair->value, "expected text for %s, found \"\"",
					 name);
	return 0;
}

static int require_form(struct comet_report *report, const struct comet_map *map, const char *name,
			bool (*is_good)(const char *, size_t), const char *form, char **copy)
{
	const struct comet_node *text;
	char quoted[120];
	int r;

	r = require_text(report, map, name, &text);
	if (r < 0)
		return r;
	if (!is_good(text->text, text->size))
		return comet_report_fail(
			report, text, "expected %s for %s, found \"%s\"", form, name,
			comet_quote(text->text, text->size, quoted, sizeof(quoted)));
	*copy = comet_arena_copy(report->arena, text->text, text->size);
	return *copy ? 0 : comet_report_no_memory(report);
}

static bool is_api_version(const char *text, size_t size)
{
	return comet_bytes_are(text, size, API_VERSION);
}

static bool is_kind(const char *text, size_t size)
{
	static const char *const kinds[] = { "Agent", "Tool", "Skill", "Model" };

	for (size_t i = 0; i < COMET_ARRAY_SIZE(kinds); i++)
		if (comet_bytes_are(text, size, kinds[i]))
			return true;
	return false;
}

static bool is_any_text(const char *text, size_t size)
{
	(void)text;
	return size > 0;
}

static int check_identity(struct comet_report *report, const struct comet_map *map)
{
	struct comet_manifest *manifest = report->manifest;
	char *ignored;
	int r;

	r = require_form(report, map, "apiVersion", is_api_version, "\"" API_VERSION "\"",
			 &ignored);
	if (r == 0)
		r = require_form(report, map, "kind", is_kind, "Agent, Tool, Skill or Model",
				 &manifest->kind);
	if (r == 0)
		r = require_form(report, map, "name", comet_is_label,
				 "1 to 63 of a-z, 0-9 and inner hyphens", &manifest->name);
	if (r == 0)
		r = require_form(report, map, "version", comet_is_semver, "a SemVer 2.0.0 version",
				 &manifest->version);
	if (r == 0 &&
	    (strcmp(manifest->kind, "Agent") == 0 || comet_map_find(map, "virtual_model_id")))
		r = require_form(report, map, "virtual_model_id", comet_is_model_id, "soya:<name>",
				 &ignored);
	if (r == 0)
		r = require_form(report, map, "description", is_any_text, "one sentence", &ignored);
	if (r == 0)
		r = require_form(report, map, "owner", is_any_text, "a handle", &ignored);
	if (r == 0)
		r = require_form(report, map, "license", is_any_text, "an SPDX identifier",
				 &ignored);
	return r;
}

/* A file of the pack: a prompt or a template that points elsewhere is not part of it. */
static int check_inner_path(struct comet_report *report, const struct comet_node *text,
			    const char *what)
{
	bool good = text->size && text->text[0] != '/' && !memchr(text->text, '\0', text->size);
	char quoted[120];

	for (const char *part = text->text; good && part; part = strchr(part, '/')) {
		part += *part == '/';
		good = strncmp(part, "..", 2) != 0 || (part[2] != '/' && part[2] != '\0');
	}
	if (good)
		return 0;
	return comet_report_fail(
		report, text,
		"expected a path inside the pack for %s, found \"%s\" (write it relative to the manifest, without \"..\")",
		what, comet_quote(text->text, text->size, quoted, sizeof(quoted)));
}

/* A map from names to text. */
static int check_text_map(struct comet_report *report, const struct comet_map *top,
			  const char *name, bool required, bool is_path)
{
	const struct comet_pair *pair = comet_map_find(top, name);
	struct comet_map map;
	int r;

	if (!pair && required)
		return comet_report_fail(report, top->node, "expected the field \"%s\", found none",
					 name);
	if (!pair)
		return 0;
	r = comet_map_read(report, pair->value, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++) {
		const struct comet_node *text;

		r = comet_seed_text(report, map.pairs[i].value, name, &text);
		if (r == 0 && is_path)
			r = check_inner_path(report, text, name);
	}
	return r;
}

static int check_map(struct comet_report *report, const struct comet_map *top, const char *name,
		     bool required)
{
	const struct comet_pair *pair = comet_map_find(top, name);
	struct comet_map map;

	if (!pair && required)
		return comet_report_fail(report, top->node, "expected the field \"%s\", found none",
					 name);
	return pair ? comet_map_read(report, pair->value, &map) : 0;
}

/* An example is a fixture file or the input itself. */
static int check_examples(struct comet_report *report, const struct comet_map *top)
{
	const struct comet_pair *pair = comet_map_find(top, "examples");
	struct comet_map map;
	int r;

	if (!pair)
		return 0;
	r = comet_map_read(report, pair->value, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++) {
		const struct comet_node *example = comet_node_target(map.pairs[i].value);
		const struct comet_node *text;

		if (example->kind != COMET_NODE_MAPPING)
			r = comet_seed_text(report, map.pairs[i].value, "an example", &text);
		if (r == 0 && example->kind != COMET_NODE_MAPPING)
			r = check_inner_path(report, text, "examples");
	}
	return r;
}

/* read-only promises the same answer for the same input; a POST is made to change something. */
static int check_tool(struct comet_report *report, const struct comet_node *tool)
{
	static const char *const known[] = { "kind", "params" };
	const char *tier = report->manifest->determinism_tier;
	const struct comet_pair *params;
	const struct comet_node *kind;
	struct comet_map ignored;
	struct comet_map map;
	int r;

	r = comet_map_read(report, tool, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++)
		if (!has_extension_prefix(map.pairs[i].key))
			r = comet_seed_known_key(report, map.pairs[i].key, "in a tool", known,
						 COMET_ARRAY_SIZE(known));
	if (r == 0)
		r = require_text(report, &map, "kind", &kind);
	if (r < 0)
		return r;
	params = comet_map_find(&map, "params");
	if (params && !comet_node_is_null(params->value)) {
		r = comet_map_read(report, params->value, &ignored);
		if (r < 0)
			return r;
	}
	if (tier && strcmp(tier, "read-only") == 0 && comet_node_is(kind, "builtin.http_post"))
		return comet_report_fail(
			report, kind,
			"expected no tool of kind builtin.http_post under determinism_tier read-only, found one (declare side-effect)");
	return 0;
}

static int check_tools(struct comet_report *report, const struct comet_map *top)
{
	const struct comet_pair *pair = comet_map_find(top, "tools");
	struct comet_map map;
	int r;

	if (!pair)
		return 0;
	r = comet_map_read(report, pair->value, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++)
		r = check_tool(report, map.pairs[i].value);
	return r;
}

static bool is_tier(const char *text, size_t size)
{
	static const char *const tiers[] = { "read-only", "side-effect", "unrestricted" };

	for (size_t i = 0; i < COMET_ARRAY_SIZE(tiers); i++)
		if (comet_bytes_are(text, size, tiers[i]))
			return true;
	return false;
}

/* The words of the other dialects, right or misspelt, get the right place as a hint. */
static int check_block_key(struct comet_report *report, const struct comet_node *key)
{
	static const char *const foreign[] = { "fs.read", "fs.write", "network.out",
					       "fs_read", "fs_write", "network_out" };
	static const char *const native[] = { "fs: {read: [...]}",  "fs: {write: [...]}",
					      "egress: [...]",      "fs: {read: [...]}",
					      "fs: {write: [...]}", "egress: [...]" };
	const char *near = comet_suggest(key->text, key->size, foreign, COMET_ARRAY_SIZE(foreign));
	char quoted[120];

	if (!near || comet_suggest(key->text, key->size, block_keys, COMET_ARRAY_SIZE(block_keys)))
		return comet_seed_known_key(report, key, "in capabilities", block_keys,
					    COMET_ARRAY_SIZE(block_keys));
	for (size_t i = 0; i < COMET_ARRAY_SIZE(foreign); i++)
		if (strcmp(near, foreign[i]) == 0)
			near = native[i];
	return comet_report_fail(report, key,
				 "expected a known key in capabilities, found \"%s\" (write %s)",
				 comet_quote(key->text, key->size, quoted, sizeof(quoted)), near);
}

static int read_block(struct comet_report *report, const struct comet_map *top)
{
	const struct comet_pair *block = comet_map_find(top, "capabilities");
	struct comet_map map;
	int r;

	if (!block)
		return comet_report_fail(
			report, top->node,
			"expected the field \"capabilities\", found none (write capabilities: {} to declare nothing)");
	report->manifest->block = comet_report_locate(report, block->value);
	r = comet_map_read(report, block->value, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++)
		if (!has_extension_prefix(map.pairs[i].key))
			r = check_block_key(report, map.pairs[i].key);
	if (r == 0 && comet_map_find(&map, "determinism_tier"))
		r = require_form(report, &map, "determinism_tier", is_tier,
				 "read-only, side-effect or unrestricted",
				 &report->manifest->determinism_tier);
	if (r == 0)
		r = comet_seed_read_grants(report, block->value);
	return r < 0 ? r : comet_block_read_serve(report, block->value);
}

int comet_seed_read(struct comet_report *report, const struct comet_document *document)
{
	struct comet_manifest *manifest = report->manifest;
	struct comet_map top;
	bool is_agent;
	int r;

	manifest->schema = API_VERSION;
	manifest->dialect = COMET_DIALECT_SEED;
	r = comet_report_rest(report, document);
	if (r == 0)
		r = check_whole_tree(report, document->root);
	if (r == 0)
		r = comet_map_read(report, document->root, &top);
	if (r == 0)
		r = check_keys(report, &top);
	if (r == 0)
		r = check_identity(report, &top);
	if (r == 0)
		r = read_block(report, &top);
	if (r < 0)
		return r;
	is_agent = strcmp(manifest->kind, "Agent") == 0;
	r = check_map(report, &top, "inputs", true);
	if (r == 0)
		r = check_text_map(report, &top, "outputs", true, false);
	if (r == 0)
		r = check_text_map(report, &top, "prompts", is_agent, true);
	if (r == 0)
		r = check_text_map(report, &top, "templates", false, true);
	if (r == 0)
		r = check_map(report, &top, "upstream", false);
	if (r == 0)
		r = check_tools(report, &top);
	return r < 0 ? r : check_examples(report, &top);
}
