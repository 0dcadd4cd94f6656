// SPDX-License-Identifier: Apache-2.0
/* What does upstream ask of an Agent, a Skill, a Memory? */
#include <string.h>

#include "manifest/syntax.h"
#include "manifest/upstream.h"

static int check_steps(struct comet_report *report, const struct comet_value *steps)
{
	for (size_t i = 0; i < steps->n_items; i++) {
		const struct comet_value *step = &steps->items[i];
		const struct comet_value *id = comet_value_field(step, "id");
		const struct comet_value *prompt = comet_value_field(step, "prompt");

		if (comet_value_is_empty(id))
			return comet_upstream_invalid(report, id, step,
						      "Agent: prompt.steps[%zu].id is required", i);
		if (comet_value_is_empty(prompt))
			return comet_upstream_invalid(report, prompt, step,
						      "Agent: prompt.steps[%zu].prompt is required",
						      i);
		for (size_t j = 0; j < i; j++) {
			const struct comet_value *other = comet_value_field(&steps->items[j], "id");

			if (other->size == id->size && memcmp(other->text, id->text, id->size) == 0)
				return comet_upstream_invalid(
					report, id, step,
					"Agent: prompt.steps[%zu].id %s is duplicated", i,
					comet_upstream_quote(report, id));
		}
	}
	return 0;
}

/* These two errors carry prefixes of their own. */
static int check_provider(struct comet_report *report, const struct comet_value *upstream)
{
	static const char *const providers[] = { "openai-compat", NULL };
	const struct comet_value *provider = comet_value_field(upstream, "provider");
	const struct comet_value *key = comet_value_field(upstream, "api_key_ref");

	if (!comet_value_is_among(provider, providers))
		return comet_report_fail(
			report, provider->node ? provider->node : upstream->node,
			"soyapack: unsupported upstream provider: prompt.upstream.provider must be \"openai-compat\", got %s",
			comet_upstream_quote(report, provider));
	if (!comet_value_is_empty(key) && !comet_is_env_ref(key->text, key->size))
		return comet_report_fail(
			report, key->node,
			"soyapack: bad api_key_ref: prompt.upstream.api_key_ref must match ${ENV_NAME} (pattern ^\\$\\{[A-Z_][A-Z0-9_]+\\}$), got %s",
			comet_upstream_quote(report, key));
	return 0;
}

static int check_agent(struct comet_report *report, const struct comet_value *m)
{
	static const char *const surfaces[] = { "chat", "responses", "both", NULL };
	const struct comet_value *entry = comet_value_field(m, "entry");
	const struct comet_value *prompt = comet_value_field(m, "prompt");
	const struct comet_value *steps = comet_value_field(prompt, "steps");
	const struct comet_value *upstream = comet_value_field(prompt, "upstream");
	const struct comet_value *expose = comet_value_field(m, "expose");
	const struct comet_value *compat = comet_value_field(expose, "openai_compat");
	const struct comet_value *id = comet_value_field(expose, "virtual_model_id");
	int r;

	if (comet_value_is_empty(entry) && !steps->n_items)
		return comet_upstream_invalid(report, entry, m,
					      "Agent: either entry or prompt.steps is required");
	if (!comet_value_is_empty(entry) && steps->n_items)
		return comet_upstream_invalid(
			report, entry, m, "Agent: entry and prompt.steps are mutually exclusive");
	r = check_steps(report, steps);
	if (r < 0)
		return r;
	if (!expose->node)
		return comet_upstream_invalid(report, expose, m, "Agent: expose is required");
	if (!comet_value_is_empty(compat) && !comet_value_is_among(compat, surfaces))
		return comet_upstream_invalid(
			report, compat, expose,
			"Agent: expose.openai_compat must be chat/responses/both, got %s",
			comet_upstream_quote(report, compat));
	if (!comet_value_is_empty(id) && !comet_is_model_id(id->text, id->size))
		return comet_upstream_invalid(
			report, id, expose,
			"Agent: expose.virtual_model_id must match ^soya:<slug>$, got %s",
			comet_upstream_quote(report, id));
	return upstream->node ? check_provider(report, upstream) : 0;
}

static int check_embedding(struct comet_report *report, const struct comet_value *mount)
{
	const struct comet_value *embedding = comet_value_field(mount, "embedding");
	const struct comet_value *print = comet_value_field(embedding, "fingerprint");
	const struct comet_value *dim = comet_value_field(embedding, "dim");

	if (!embedding->node)
		return comet_upstream_invalid(
			report, embedding, mount,
			"Memory: embeddings format requires mount.embedding{model,fingerprint,dim}");
	if (!comet_is_sha256(print->text, print->size))
		return comet_upstream_invalid(
			report, print, embedding,
			"Memory: mount.embedding.fingerprint must be 64-char hex");
	if (dim->integer <= 0)
		return comet_upstream_invalid(report, dim, embedding,
					      "Memory: mount.embedding.dim must be > 0");
	return 0;
}

static int check_contents(struct comet_report *report, const struct comet_value *m)
{
	const struct comet_value *contents = comet_value_field(m, "contents");

	if (!contents->n_items)
		return comet_upstream_invalid(report, contents, m,
					      "Memory: contents[] must have at least one entry");
	for (size_t i = 0; i < contents->n_items; i++) {
		const struct comet_value *item = &contents->items[i];
		const struct comet_value *path = comet_value_field(item, "path");
		const struct comet_value *sum = comet_value_field(item, "sha256");
		const struct comet_value *size = comet_value_field(item, "size");

		if (comet_value_is_empty(path))
			return comet_upstream_invalid(report, path, item,
						      "Memory: contents[%zu].path is required", i);
		if (!comet_is_sha256(sum->text, sum->size))
			return comet_upstream_invalid(
				report, sum, item,
				"Memory: contents[%zu].sha256 must be 64-char hex, got %s", i,
				comet_upstream_quote(report, sum));
		if (size->integer < 0)
			return comet_upstream_invalid(report, size, item,
						      "Memory: contents[%zu].size must be >= 0", i);
	}
	return 0;
}

static int check_memory(struct comet_report *report, const struct comet_value *m)
{
	static const char *const accesses[] = { "ro", "rw", NULL };
	static const char *const formats[] = { "embeddings", "kv", "json-lines", NULL };
	const struct comet_value *mount = comet_value_field(m, "mount");
	const struct comet_value *partition = comet_value_field(mount, "partition");
	const struct comet_value *access = comet_value_field(mount, "access");
	const struct comet_value *format = comet_value_field(mount, "format");
	int r = 0;

	if (!mount->node)
		return comet_upstream_invalid(report, mount, m, "Memory: mount is required");
	if (comet_value_is_empty(partition))
		return comet_upstream_invalid(report, partition, mount,
					      "Memory: mount.partition is required");
	if (!comet_value_is_among(access, accesses))
		return comet_upstream_invalid(report, access, mount,
					      "Memory: mount.access must be ro/rw, got %s",
					      comet_upstream_quote(report, access));
	if (!comet_value_is_among(format, formats))
		return comet_upstream_invalid(
			report, format, mount,
			"Memory: mount.format must be embeddings/kv/json-lines, got %s",
			comet_upstream_quote(report, format));
	if (comet_bytes_are(format->text, format->size, "embeddings"))
		r = check_embedding(report, mount);
	return r < 0 ? r : check_contents(report, m);
}

int comet_upstream_check_kind(struct comet_report *report, const struct comet_value *manifest)
{
	const struct comet_value *kind = comet_value_field(manifest, "kind");
	const struct comet_value *entry = comet_value_field(manifest, "entry");

	if (comet_bytes_are(kind->text, kind->size, "Agent"))
		return check_agent(report, manifest);
	if (comet_bytes_are(kind->text, kind->size, "Memory"))
		return check_memory(report, manifest);
	if (comet_value_is_empty(entry))
		return comet_upstream_invalid(report, entry, manifest, "Skill: entry is required");
	return 0;
}
