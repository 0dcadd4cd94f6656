// SPDX-License-Identifier: Apache-2.0
/* What types do the fields of soyapack.v0 have? Names are those that upstream's messages show. */
#include "manifest/upstream.h"

#define RECORD(id, go_name, words)                                                                 \
	static const struct comet_type id = {                                                      \
		.kind = COMET_TYPE_RECORD,                                                         \
		.name = go_name,                                                                   \
		.plain = words,                                                                    \
		.fields = id##_fields,                                                             \
		.n_fields = COMET_ARRAY_SIZE(id##_fields),                                         \
	}
#define LIST(id, go_name, words, of)                                                               \
	static const struct comet_type id = {                                                      \
		.kind = COMET_TYPE_LIST,                                                           \
		.name = go_name,                                                                   \
		.plain = words,                                                                    \
		.element = &(of),                                                                  \
	}
#define MAP(id, go_name, words, of)                                                                \
	static const struct comet_type id = {                                                      \
		.kind = COMET_TYPE_MAP,                                                            \
		.name = go_name,                                                                   \
		.plain = words,                                                                    \
		.element = &(of),                                                                  \
	}
#define SCALAR(id, type_kind, go_name, words)                                                      \
	static const struct comet_type id = { .kind = type_kind, .name = go_name, .plain = words }

SCALAR(text, COMET_TYPE_TEXT, "string", "text");
SCALAR(kind, COMET_TYPE_TEXT, "soyapack.Kind", "text");
SCALAR(determinism, COMET_TYPE_TEXT, "soyapack.Determinism", "text");
SCALAR(affinity, COMET_TYPE_TEXT, "soyapack.Affinity", "text");
SCALAR(integer, COMET_TYPE_INT, "int", "a whole number");
SCALAR(integer64, COMET_TYPE_INT, "int64", "a whole number");
SCALAR(real, COMET_TYPE_FLOAT, "float32", "a number");
SCALAR(boolean, COMET_TYPE_BOOL, "bool", "true or false");
SCALAR(any, COMET_TYPE_ANY, "interface {}", "any value");
LIST(texts, "[]string", "a list of text", text);
LIST(anys, "[]interface {}", "a list", any);
MAP(text_map, "map[string]string", "a map of text", text);
MAP(any_map, "map[string]interface {}", "a map", any);

static const struct comet_field author_fields[] = {
	{ "name", &text },
	{ "email", &text },
};
RECORD(author, "soyapack.Author", "a map with name");
LIST(authors, "[]soyapack.Author", "a list of authors", author);

static const struct comet_field runtime_fields[] = { { "compat", &text } };
RECORD(runtime, "soyapack.RuntimeCompat", "a map with compat");

static const struct comet_field deps_fields[] = { { "lockfile", &text } };
RECORD(deps, "soyapack.Deps", "a map with lockfile");

static const struct comet_field signature_fields[] = {
	{ "type", &text },
	{ "key_id", &text },
	{ "algorithm", &text },
	{ "value", &text },
};
RECORD(signature, "soyapack.Signature", "a map");
LIST(signatures, "[]soyapack.Signature", "a list of signatures", signature);

static const struct comet_field expose_fields[] = {
	{ "openai_compat", &text },
	{ "virtual_model_id", &text },
};
RECORD(expose, "soyapack.Expose", "a map");

static const struct comet_field input_fields[] = {
	{ "name", &text },
	{ "type", &text },
	{ "optional", &boolean },
	{ "items", &any_map },
};
RECORD(input, "soyapack.Input", "a map");
LIST(inputs, "[]soyapack.Input", "a list of inputs", input);

static const struct comet_field step_fields[] = { { "id", &text }, { "prompt", &text } };
RECORD(step, "soyapack.PromptStep", "a map with id and prompt");
LIST(steps, "[]soyapack.PromptStep", "a list of steps", step);

static const struct comet_field upstream_fields[] = {
	{ "provider", &text },
	{ "base_url", &text },
	{ "model", &text },
	{ "api_key_ref", &text },
};
RECORD(upstream, "soyapack.UpstreamDecl", "a map with provider");

static const struct comet_field prompt_fields[] = {
	{ "scaffold", &text },
	{ "tools", &texts },
	{ "steps", &steps },
	{ "upstream", &upstream },
};
RECORD(prompt, "soyapack.Prompt", "a map");

static const struct comet_field artifact_fields[] = { { "kind", &text }, { "schema", &text } };
RECORD(artifact, "soyapack.ArtifactDecl", "a map with kind and schema");
LIST(artifacts, "[]soyapack.ArtifactDecl", "a list of artifacts", artifact);

static const struct comet_field schedule_fields[] = {
	{ "cron", &text },
	{ "once", &text },
	{ "tz", &text },
	{ "payload", &any_map },
	{ "idempotency_key", &text },
	{ "missed_fire", &text },
};
RECORD(schedule, "soyapack.ScheduleDecl", "a map with cron or once");
LIST(schedules, "[]soyapack.ScheduleDecl", "a list of schedules", schedule);

static const struct comet_field channel_fields[] = {
	{ "kind", &text },
	{ "binding_template", &text },
	{ "binding_id", &text },
	{ "secrets", &text_map },
};
RECORD(channel, "soyapack.ChannelDecl", "a map with kind");
LIST(channels, "[]soyapack.ChannelDecl", "a list of channels", channel);

static const struct comet_field action_fields[] = {
	{ "id", &text },      { "on", &text },         { "handler", &text },
	{ "timeout", &text }, { "artifacts", &texts },
};
RECORD(action, "soyapack.ActionDecl", "a map with id, on and handler");
LIST(actions, "[]soyapack.ActionDecl", "a list of actions", action);

static const struct comet_field state_fields[] = { { "scope", &text }, { "store", &text } };
RECORD(state, "soyapack.StateDecl", "a map with scope and store");

static const struct comet_field storage_fields[] = {
	{ "id", &text },    { "protocol", &text }, { "host_ref", &text },
	{ "share", &text }, { "access", &text },   { "secrets", &text_map },
};
RECORD(storage, "soyapack.StorageNASDecl", "a map with protocol, host_ref and share");
LIST(storages, "[]soyapack.StorageNASDecl", "a list of storages", storage);

static const struct comet_field data_plane_fields[] = { { "direct", &boolean } };
RECORD(data_plane, "soyapack.DataPlaneDecl", "a map with direct");

static const struct comet_field egress_fields[] = {
	{ "host", &text }, { "port", &integer },           { "proto", &text },
	{ "pin", &text },  { "quota_per_call", &integer },
};
RECORD(egress, "soyapack.EgressRule", "a map with host, port and proto");
LIST(egresses, "[]soyapack.EgressRule", "a list of {host, port, proto}", egress);

static const struct comet_field bounds_fields[] = { { "min", &real }, { "max", &real } };
RECORD(bounds, "soyapack.FloatBounds", "a map with min and max");

static const struct comet_field llm_fields[] = {
	{ "model", &text },
	{ "temperature", &bounds },
	{ "max_tokens", &integer },
	{ "quota_per_call", &integer },
	{ "quota_per_day", &integer },
};
RECORD(llm, "soyapack.LLMCapability", "a map");

static const struct comet_field memory_fields[] = { { "name", &text }, { "access", &text } };
RECORD(memory, "soyapack.MemoryMount", "a map with name and access");
LIST(memories, "[]soyapack.MemoryMount", "a list of {name, access}", memory);

static const struct comet_field nas_fields[] = {
	{ "kind", &text },
	{ "mount", &text },
	{ "access", &text },
};
RECORD(nas, "soyapack.NASMount", "a map with kind, mount and access");
LIST(nases, "[]soyapack.NASMount", "a list of {kind, mount, access}", nas);

static const struct comet_field resources_fields[] = {
	{ "cpu", &integer },
	{ "ram_mb", &integer },
	{ "timeout_s", &integer },
	{ "gpu", &integer },
};
RECORD(resources, "soyapack.Resources", "a map");

static const struct comet_field capabilities_fields[] = {
	{ "network_out", &egresses }, { "fs_read", &texts },       { "fs_write", &texts },
	{ "exec", &texts },           { "syscalls", &texts },      { "llm", &llm },
	{ "mcp_tools", &texts },      { "memory", &memories },     { "storage_nas", &nases },
	{ "secrets", &texts },        { "resources", &resources }, { "determinism_tier", &text },
};
const struct comet_type comet_upstream_capabilities = {
	.kind = COMET_TYPE_RECORD,
	.name = "soyapack.Capabilities",
	.plain = "a map of capabilities",
	.fields = capabilities_fields,
	.n_fields = COMET_ARRAY_SIZE(capabilities_fields),
};

/* The example of the specification nests nas under storage, its table writes storage.nas. */
static const struct comet_field storage_block_fields[] = { { "nas", &nases } };
RECORD(storage_block, "soyapack.Storage", "a map with nas");

static const struct comet_field spec_capabilities_fields[] = {
	{ "network.out", &egresses },  { "fs.read", &texts },
	{ "fs.write", &texts },        { "exec", &texts },
	{ "syscalls", &texts },        { "llm", &llm },
	{ "mcp.tools", &texts },       { "memory", &memories },
	{ "storage.nas", &nases },     { "storage", &storage_block },
	{ "secrets", &texts },         { "resources", &resources },
	{ "determinism_tier", &text },
};
const struct comet_type comet_upstream_spec_capabilities = {
	.kind = COMET_TYPE_RECORD,
	.name = "capabilities",
	.plain = "a map of capabilities",
	.fields = spec_capabilities_fields,
	.n_fields = COMET_ARRAY_SIZE(spec_capabilities_fields),
};

static const struct comet_field sandbox_fields[] = {
	{ "isolation", &text },
	{ "image", &text },
	{ "budget_seconds_max", &integer },
	{ "cold_start_target_ms", &integer },
	{ "capabilities", &comet_upstream_capabilities },
};
RECORD(sandbox, "soyapack.SandboxDecl", "a map with image");

static const struct comet_field embedding_fields[] = {
	{ "model", &text },
	{ "fingerprint", &text },
	{ "dim", &integer },
};
RECORD(embedding, "soyapack.EmbeddingMount", "a map with model, fingerprint and dim");

static const struct comet_field mount_fields[] = {
	{ "partition", &text },
	{ "access", &text },
	{ "format", &text },
	{ "embedding", &embedding },
};
RECORD(mount, "soyapack.Mount", "a map with partition, access and format");

static const struct comet_field content_fields[] = {
	{ "path", &text },
	{ "sha256", &text },
	{ "size", &integer64 },
};
RECORD(content, "soyapack.Content", "a map with path, sha256 and size");
LIST(contents, "[]soyapack.Content", "a list of contents", content);

static const struct comet_field manifest_fields[] = {
	{ "spec_version", &text },
	{ "kind", &kind },
	{ "name", &text },
	{ "version", &text },
	{ "description", &text },
	{ "authors", &authors },
	{ "license", &text },
	{ "homepage", &text },
	{ "runtime", &runtime },
	{ "determinism", &determinism },
	{ "affinity", &affinity },
	{ "deps", &deps },
	{ "sbom", &text },
	{ "signatures", &signatures },
	{ "entry", &text },
	{ "expose", &expose },
	{ "inputs", &inputs },
	{ "outputs", &anys },
	{ "prompt", &prompt },
	{ "artifacts", &artifacts },
	{ "schedules", &schedules },
	{ "channels", &channels },
	{ "actions", &actions },
	{ "state", &state },
	{ "storage_nas", &storages },
	{ "data_plane", &data_plane },
	{ "sandbox", &sandbox },
	{ "uses", &texts },
	{ "capabilities", &comet_upstream_capabilities },
	{ "mount", &mount },
	{ "contents", &contents },
};
const struct comet_type comet_upstream_manifest = {
	.kind = COMET_TYPE_RECORD,
	.name = "soyapack.alias",
	.plain = "a map",
	.fields = manifest_fields,
	.n_fields = COMET_ARRAY_SIZE(manifest_fields),
};
