// SPDX-License-Identifier: Apache-2.0
/* What do the answers of `comet pack` look like as JSON? */
#include "user/pack_json.h"

#include <netinet/in.h>

#include "manifest/address.h"
#include "manifest/base.h"
#include "user/base.h"
#include "user/text.h"

static json_t *text_json(const char *text)
{
	_cleanup_free_ char *clean = NULL;

	if (!text)
		return json_null();
	clean = comet_text_to_utf8(text, strlen(text));
	return clean ? json_string(clean) : NULL;
}

/* Puts value, if there is one, and takes it over. 0 or -1. */
static int put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value);
}

static json_t *location_json(const struct comet_location *location)
{
	json_t *object;
	int r;

	if (!location->file)
		return json_null();
	object = json_object();
	r = put(object, "file", text_json(location->file));
	if (location->line != 0) {
		r |= put(object, "line", json_integer(location->line));
		r |= put(object, "column", json_integer(location->column));
	}
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int put_pack(json_t *object, const struct comet_manifest *manifest)
{
	int r = put(object, "file", text_json(manifest->file));

	r |= put(object, "name", text_json(manifest->name));
	r |= put(object, "version", text_json(manifest->version));
	r |= put(object, "kind", text_json(manifest->kind));
	r |= put(object, "dialect", text_json(comet_dialect_to_str(manifest->dialect)));
	r |= put(object, "sha256", text_json(manifest->digest));
	return r;
}

static json_t *warnings_json(const struct comet_manifest *manifest)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; manifest && i < manifest->n_warnings; i++) {
		json_t *warning = json_object();

		r |= put(warning, "text", text_json(manifest->warnings[i].text));
		r |= put(warning, "location", location_json(&manifest->warnings[i].location));
		r |= json_array_append_new(array, warning);
	}
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* The object, or NULL and nothing left when something was missing. */
static json_t *finish(json_t *object, int r)
{
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *comet_pack_json_validate(const struct comet_manifest *manifest, const char *fault,
				 const char *refused)
{
	json_t *object = json_object();
	int r = put(object, "ok", json_boolean(!fault));

	if (manifest)
		r |= put_pack(object, manifest);
	r |= put(object, "error", text_json(fault));
	r |= put(object, "refused", text_json(refused));
	r |= put(object, "warnings", warnings_json(manifest));
	return finish(object, r);
}

static json_t *egress_json(const struct comet_manifest *manifest)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < manifest->n_egress; i++) {
		const struct comet_egress *egress = &manifest->egress[i];
		bool any = egress->protocol == COMET_PROTOCOL_ANY;
		json_t *object = json_object();

		r |= put(object, "host", text_json(egress->host));
		r |= put(object, "port", json_integer(egress->port));
		r |= put(object, "protocol",
			 text_json(any ? "*" : comet_protocol_to_str(egress->protocol)));
		r |= put(object, "location", location_json(&egress->location));
		r |= json_array_append_new(array, object);
	}
	return finish(array, r);
}

static json_t *entries_json(const struct comet_entry *entries, size_t n, const char *key)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *object = json_object();

		r |= put(object, key, text_json(entries[i].text));
		r |= put(object, "location", location_json(&entries[i].location));
		r |= json_array_append_new(array, object);
	}
	return finish(array, r);
}

static json_t *serve_json(const struct comet_manifest *manifest)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < manifest->n_serve; i++) {
		const struct comet_serve *serve = &manifest->serve[i];
		const char *protocol = serve->port.transport == IPPROTO_UDP ? "udp" : "tcp";
		json_t *object = json_object();

		r |= put(object, "port", json_integer(serve->port.number));
		r |= put(object, "protocol", text_json(protocol));
		r |= put(object, "location", location_json(&serve->location));
		r |= json_array_append_new(array, object);
	}
	return finish(array, r);
}

static json_t *access_json(uint32_t access)
{
	json_t *array = json_array();
	int r = 0;

	if (access & COMET_FS_READ)
		r |= json_array_append_new(array, json_string("read"));
	if (access & COMET_FS_WRITE)
		r |= json_array_append_new(array, json_string("write"));
	if (access & COMET_FS_STAT)
		r |= json_array_append_new(array, json_string("stat"));
	return finish(array, r);
}

static json_t *table_json(enum comet_source source)
{
	size_t n;
	const struct comet_base_entry *rows = comet_base_table(source, &n);
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *object = json_object();

		r |= put(object, "path", text_json(rows[i].path));
		if (source == COMET_SOURCE_BASE)
			r |= put(object, "access", access_json(rows[i].access));
		r |= put(object, "self_only", json_boolean(rows[i].scope != COMET_BASE_TREE));
		r |= put(object, "why", text_json(rows[i].why));
		r |= json_array_append_new(array, object);
	}
	return finish(array, r);
}

static json_t *nameservers_json(const struct comet_policy *policy)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < policy->n_nets; i++) {
		const struct comet_net_rule *rule = &policy->nets[i];

		if (rule->source == COMET_SOURCE_BASE && rule->transport == IPPROTO_UDP)
			r |= json_array_append_new(array, text_json(rule->host));
	}
	return finish(array, r);
}

static json_t *specials_json(void)
{
	size_t n;
	const struct comet_special *rows = comet_special_table(&n);
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *object = json_object();

		r |= put(object, "range", text_json(rows[i].text));
		r |= put(object, "why", text_json(rows[i].why));
		r |= json_array_append_new(array, object);
	}
	return finish(array, r);
}

json_t *comet_pack_json_explain(const struct comet_manifest *manifest,
				const struct comet_policy *policy, const char *home)
{
	json_t *object = json_object();
	int r = put_pack(object, manifest);

	r |= put(object, "egress", egress_json(manifest));
	r |= put(object, "fs.read", entries_json(manifest->fs_read, manifest->n_fs_read, "path"));
	r |= put(object, "fs.write",
		 entries_json(manifest->fs_write, manifest->n_fs_write, "path"));
	r |= put(object, "exec", entries_json(manifest->exec, manifest->n_exec, "program"));
	r |= put(object, "serve", serve_json(manifest));
	r |= put(object, "home", text_json(home));
	r |= put(object, "nameservers", nameservers_json(policy));
	r |= put(object, "base", table_json(COMET_SOURCE_BASE));
	r |= put(object, "quiet", table_json(COMET_SOURCE_QUIET));
	r |= put(object, "canaries", table_json(COMET_SOURCE_CANARY));
	r |= put(object, "not_behind_wildcards", specials_json());
	r |= put(object, "warnings", warnings_json(manifest));
	return finish(object, r);
}

json_t *comet_pack_json_answer(const struct comet_answer *answer)
{
	const char *mark = answer->mark & COMET_FS_CANARY ? "canary" : "quiet";
	json_t *object = json_object();
	int r = put(object, "surface", text_json(comet_explain_surface(answer->surface)));

	r |= put(object, "resource", text_json(answer->resource));
	r |= put(object, "allowed", json_boolean(answer->allowed));
	r |= put(object, "matched", text_json(answer->matched ? answer->matched : "no match"));
	if (answer->matched) {
		r |= put(object, "source", text_json(comet_source_to_str(answer->source)));
		r |= put(object, "location", location_json(&answer->location));
	}
	if (answer->mark)
		r |= put(object, "mark", text_json(mark));
	if (answer->note)
		r |= put(object, "note", text_json(answer->note));
	if (answer->fix)
		r |= put(object, "fix", text_json(answer->fix));
	if (answer->unfixable)
		r |= put(object, "unfixable", text_json(answer->unfixable));
	return finish(object, r);
}
