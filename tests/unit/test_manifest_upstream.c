// SPDX-License-Identifier: Apache-2.0
/* Does a soyapack.v0 manifest get upstream's verdict, in upstream's words, at the right place? */
#define _GNU_SOURCE 1
#include "test_manifest.h"

#define INVALID "soyapack: invalid manifest: "
#define PARSE "soyapack: parse: "
#define ERRORS PARSE "yaml: unmarshal errors:\n  "
#define UNKNOWN PARSE "soyapack: unknown top-level field "
#define USE_PREFIX " (use the x- prefix for extensions)"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ZERO64 "0000000000000000000000000000000000000000000000000000000000000000"
#define X10 "xxxxxxxxxx"
#define X70 X10 X10 X10 X10 X10 X10 X10
#define X280 X70 X70 X70 X70
#define CJK "\xe6\x96\x87"
#define CJK10 CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK
#define CJK90 CJK10 CJK10 CJK10 CJK10 CJK10 CJK10 CJK10 CJK10 CJK10
#define A10 "aaaaaaaaaa"
#define OK "Agent soyapack.v0/clerk@1.2.3"

static void test_accepts_the_base_and_reads_all_of_it(void **state)
{
	char *shown = read_and_show(GO_MANIFEST, true);

	(void)state;
	assert_string_equal(shown, "Agent soyapack.v0/clerk@1.2.3, words of go\n"
				   "isolation container\n"
				   "budget 60\n"
				   "tier read-only\n"
				   "egress api.example.com:443/https (18:16)\n"
				   "read /workdir (19:15)\n"
				   "write /workdir/out (20:16)\n"
				   "exec git (21:12)\n");
	free(shown);
}

static void test_identity(void **state)
{
	static const struct vector vectors[] = {
		{ "soyapack.v0", "soyapack.v1",
		  "error: 1:15: " INVALID
		  "spec_version must be \"soyapack.v0\", got \"soyapack.v1\"" },
		{ "spec_version: soyapack.v0\n", "",
		  "error: 1:1: " INVALID "spec_version must be \"soyapack.v0\", got \"\"" },
		{ "kind: Agent", "kind: Tool",
		  "error: 2:7: " INVALID "kind must be one of Skill/Agent/Memory, got \"Tool\"" },
		{ "kind: Agent", "kind: agent",
		  "error: 2:7: " INVALID "kind must be one of Skill/Agent/Memory, got \"agent\"" },
		{ "kind: Agent", "kind: Skill", "Skill soyapack.v0/clerk@1.2.3" },
		{ "name: clerk", "name: Bad",
		  "error: 3:7: " INVALID
		  "name \"Bad\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: -leading",
		  "error: 3:7: " INVALID
		  "name \"-leading\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: trailing-",
		  "error: 3:7: " INVALID
		  "name \"trailing-\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: with_underscore",
		  "error: 3:7: " INVALID
		  "name \"with_underscore\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: Hello_",
		  "error: 3:7: " INVALID
		  "name \"Hello_\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: 7up",
		  "error: 3:7: " INVALID
		  "name \"7up\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: ~",
		  "error: 1:1: " INVALID
		  "name \"\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: \"a\\0b\"",
		  "error: 3:7: " INVALID
		  "name \"a\\x00b\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
		{ "name: clerk", "name: h", "soyapack.v0/h@1.2.3" },
		{ "name: clerk", "name: 7", "soyapack.v0/7@1.2.3" },
		{ "name: clerk", "name: true", "soyapack.v0/true@1.2.3" },
		{ "name: clerk", "name: a" A10 A10 A10 A10 "bcdefgh",
		  "soyapack.v0/a" A10 A10 A10 A10 "bcdefgh@" },
		{ "name: clerk", "name: a" A10 A10 A10 A10 "bcdefghi",
		  "error: 3:7: " INVALID "name \"a" A10 A10 A10 A10
		  "bcdefghi\" does not match ^[a-z][a-z0-9-]{0,46}[a-z0-9]$" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_versions(void **state)
{
	static const char *const bad[] = { "1",      "1.0",    "v1.0.0",   "1.0.0.0",    "1.0.0+",
					   "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0-a+",
					   "1.0.0 ", "1.0.x",  "1.0.0+a_b" };
	static const char *const good[] = { "0.0.0",          "1.0.0-alpha.0", "1.0.0-0a",
					    "1.0.0--",        "1.0.0+001",     "1.0.0-rc.1+b.7",
					    "99999999999.0.1" };

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(bad); i++) {
		struct vector vector = { "version: 1.2.3", NULL, NULL };
		char *to = NULL;
		char *expected = NULL;

		assert_true(asprintf(&to, "version: \"%s\"", bad[i]) > 0);
		assert_true(asprintf(&expected,
				     "error: 4:10: " INVALID
				     "version \"%s\" is not valid SemVer 2.0",
				     bad[i]) > 0);
		vector.to = to;
		vector.expected = expected;
		check_vectors(GO_MANIFEST, &vector, 1);
		free(to);
		free(expected);
	}
	for (size_t i = 0; i < COMET_ARRAY_SIZE(good); i++) {
		struct vector vector = { "1.2.3", good[i], good[i] };

		check_vectors(GO_MANIFEST, &vector, 1);
	}
}

static void test_common_fields(void **state)
{
	static const struct vector vectors[] = {
		{ "description: Files letters.\n", "",
		  "error: 1:1: " INVALID "description is required" },
		{ "Files letters.", "\"\"", "error: 5:14: " INVALID "description is required" },
		{ "Files letters.", X280, OK },
		{ "Files letters.", X280 "x",
		  "error: 5:14: " INVALID "description exceeds 280 chars (281)" },
		{ "Files letters.", CJK90 CJK CJK CJK, OK },
		{ "Files letters.", CJK90 CJK CJK CJK CJK,
		  "error: 5:14: " INVALID "description exceeds 280 chars (282)" },
		{ "[{name: Example Authors}]", "[]",
		  "error: 6:10: " INVALID "authors[] must have at least one entry" },
		{ "authors: [{name: Example Authors}]\n", "",
		  "error: 1:1: " INVALID "authors[] must have at least one entry" },
		{ "[{name: Example Authors}]", "[{name: a}, {email: b}]",
		  "error: 6:22: " INVALID "authors[1].name is required" },
		{ "license: MIT\n", "",
		  "error: 1:1: " INVALID "license is required (use an SPDX identifier, e.g. MIT)" },
		{ "{compat: \">=0.1.0 <0.2.0\"}", "{}",
		  "error: 8:10: " INVALID
		  "runtime.compat is required (SemVer range, e.g. \">=0.1.0 <0.2.0\")" },
		{ "\">=0.1.0 <0.2.0\"", "anything", OK },
		{ "determinism: stateful\n", "",
		  "error: 1:1: " INVALID "determinism must be pure/read-only/stateful, got \"\"" },
		{ "determinism: stateful", "determinism: side-effect",
		  "error: 9:14: " INVALID
		  "determinism must be pure/read-only/stateful, got \"side-effect\"" },
		{ "determinism: stateful", "determinism: pure", OK },
		{ "determinism: stateful", "determinism: read-only", OK },
		{ "entry:", "affinity: sun\nentry:",
		  "error: 10:11: " INVALID "affinity must be planet/moon/comet/any, got \"sun\"" },
		{ "entry:", "affinity: comet\nentry:", OK },
		{ "entry:", "deps: {lockfile: abc}\nentry:",
		  "error: 10:18: " INVALID
		  "deps.lockfile must be 64-char lowercase hex, got \"abc\"" },
		{ "entry:", "deps: {lockfile: " HEX64 "}\nentry:", OK },
		{ "entry:", "deps: {lockfile: " ZERO64 "}\nentry:", OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_agent(void **state)
{
	static const struct vector vectors[] = {
		{ "entry: prompts/main.md\n", "",
		  "error: 1:1: " INVALID "Agent: either entry or prompt.steps is required" },
		{ "entry: prompts/main.md\n", "prompt: {steps: [{id: a, prompt: b}]}\n", OK },
		{ "expose:", "prompt: {steps: [{id: a, prompt: b}]}\nexpose:",
		  "error: 10:8: " INVALID "Agent: entry and prompt.steps are mutually exclusive" },
		{ "entry: prompts/main.md", "prompt: {steps: [{prompt: b}]}",
		  "error: 10:18: " INVALID "Agent: prompt.steps[0].id is required" },
		{ "entry: prompts/main.md", "prompt: {steps: [{id: b}]}",
		  "error: 10:18: " INVALID "Agent: prompt.steps[0].prompt is required" },
		{ "entry: prompts/main.md",
		  "prompt: {steps: [{id: a, prompt: b}, {id: a, prompt: c}]}",
		  "error: 10:43: " INVALID "Agent: prompt.steps[1].id \"a\" is duplicated" },
		{ "expose: {openai_compat: chat, virtual_model_id: \"soya:clerk\"}\n", "",
		  "error: 1:1: " INVALID "Agent: expose is required" },
		{ "openai_compat: chat", "openai_compat: voice",
		  "error: 11:25: " INVALID
		  "Agent: expose.openai_compat must be chat/responses/both, got \"voice\"" },
		{ "openai_compat: chat", "openai_compat: both", OK },
		{ "\"soya:clerk\"", "clerk",
		  "error: 11:49: " INVALID
		  "Agent: expose.virtual_model_id must match ^soya:<slug>$, got \"clerk\"" },
		{ "\"soya:clerk\"", "\"soya:\"",
		  "error: 11:49: " INVALID
		  "Agent: expose.virtual_model_id must match ^soya:<slug>$, got \"soya:\"" },
		{ "\"soya:clerk\"", "\"soya:c\"", OK },
		{ "expose:", "prompt: {upstream: {provider: other}}\nexpose:",
		  "error: 11:31: soyapack: unsupported upstream provider: prompt.upstream.provider must be \"openai-compat\", got \"other\"" },
		{ "expose:",
		  "prompt: {upstream: {provider: openai-compat, api_key_ref: sk-1}}\nexpose:",
		  "error: 11:59: soyapack: bad api_key_ref: prompt.upstream.api_key_ref must match ${ENV_NAME} (pattern ^\\$\\{[A-Z_][A-Z0-9_]+\\}$), got \"sk-1\"" },
		{ "expose:",
		  "prompt: {upstream: {provider: openai-compat, api_key_ref: \"${KEY_1}\"}}\nexpose:",
		  OK },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_skill_and_memory(void **state)
{
	static const char memory[] = "spec_version: soyapack.v0\n"
				     "kind: Memory\n"
				     "name: shelf\n"
				     "version: 1.0.0\n"
				     "description: A shelf.\n"
				     "authors: [{name: Example Authors}]\n"
				     "license: MIT\n"
				     "runtime: {compat: any}\n"
				     "determinism: pure\n"
				     "mount: {partition: p, access: ro, format: embeddings,\n"
				     "  embedding: {model: m, fingerprint: " HEX64 ", dim: 3}}\n"
				     "contents: [{path: a, sha256: " HEX64 ", size: 1}]\n";
	static const struct vector skill = { "x-entry", "entry", "Skill soyapack.v0/clerk@1.2.3" };
	static const struct vector no_entry = { "x-entry", "x-other",
						"error: 1:1: " INVALID "Skill: entry is required" };
	char *text = edit(GO_MANIFEST, "entry:", "x-entry:");
	char *skill_text = edit(text, "kind: Agent", "kind: Skill");
	static const struct vector vectors[] = {
		{ "name: shelf", "name: shelf", "Memory soyapack.v0/shelf@1.0.0" },
		{ "mount:", "x-mount:", "error: 1:1: " INVALID "Memory: mount is required" },
		{ "partition: p, ", "",
		  "error: 10:8: " INVALID "Memory: mount.partition is required" },
		{ "access: ro", "access: r",
		  "error: 10:31: " INVALID "Memory: mount.access must be ro/rw, got \"r\"" },
		{ "access: ro", "access: rw", "Memory soyapack.v0/shelf@1.0.0" },
		{ "format: embeddings", "format: csv",
		  "error: 10:43: " INVALID
		  "Memory: mount.format must be embeddings/kv/json-lines, got \"csv\"" },
		{ "embedding:", "x:",
		  "error: 10:8: " INVALID
		  "Memory: embeddings format requires mount.embedding{model,fingerprint,dim}" },
		{ "fingerprint: 0", "fingerprint: g",
		  "error: 11:38: " INVALID
		  "Memory: mount.embedding.fingerprint must be 64-char hex" },
		{ "dim: 3", "dim: 0",
		  "error: 11:109: " INVALID "Memory: mount.embedding.dim must be > 0" },
		{ "[{path: a, sha256: " HEX64 ", size: 1}]", "[]",
		  "error: 12:11: " INVALID "Memory: contents[] must have at least one entry" },
		{ "path: a, ", "",
		  "error: 12:12: " INVALID "Memory: contents[0].path is required" },
		{ "sha256: 0", "sha256: F",
		  "error: 12:30: " INVALID
		  "Memory: contents[0].sha256 must be 64-char hex, got \"F123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"" },
		{ "size: 1", "size: -1",
		  "error: 12:102: " INVALID "Memory: contents[0].size must be >= 0" },
	};

	(void)state;
	check_vectors(skill_text, &skill, 1);
	check_vectors(skill_text, &no_entry, 1);
	free(skill_text);
	free(text);
	check_vectors(memory, vectors, COMET_ARRAY_SIZE(vectors));
}

static void test_other_blocks(void **state)
{
	static const struct vector vectors[] = {
		{ "sandbox:", "artifacts: [{kind: doc, schema: s}]\nsandbox:",
		  "error: 12:20: " INVALID
		  "artifacts[0].kind \"doc\" not in {html,pdf,long_image,markdown,xlsx,mp4}" },
		{ "sandbox:", "artifacts: [{kind: pdf}]\nsandbox:",
		  "error: 12:13: " INVALID "artifacts[0].schema is required" },
		{ "sandbox:", "artifacts: [{kind: mp4, schema: s}]\nsandbox:", OK },
		{ "sandbox:", "schedules: [{tz: UTC}]\nsandbox:",
		  "error: 12:13: " INVALID "schedules[0] must have either cron or once" },
		{ "sandbox:", "schedules: [{once: x, missed_fire: no}]\nsandbox:",
		  "error: 12:36: " INVALID "schedules[0].missed_fire must be skip/once/backfill" },
		{ "sandbox:", "schedules: [{cron: x, missed_fire: skip}]\nsandbox:", OK },
		{ "sandbox:", "channels: [{binding_id: x}]\nsandbox:",
		  "error: 12:12: " INVALID "channels[0].kind is required" },
		{ "sandbox:", "channels: [{kind: fax}]\nsandbox:",
		  "error: 12:19: " INVALID
		  "channels[0].kind \"fax\" not in {dingtalk,feishu,wework,wechat-mp,wechat-cs,webhook}" },
		{ "sandbox:", "channels: [{kind: webhook, secrets: {k: v}}]\nsandbox:",
		  "error: 12:41: " INVALID
		  "channels[0].secrets[\"k\"] must be of the form ${ENV_NAME} (got \"v\")" },
		{ "sandbox:", "channels: [{kind: webhook, secrets: {k: ~}}]\nsandbox:",
		  "error: 12:41: " INVALID
		  "channels[0].secrets[\"k\"] must be of the form ${ENV_NAME} (got \"\")" },
		{ "sandbox:", "channels: [{kind: webhook, secrets: {k: \"${AB}\"}}]\nsandbox:",
		  OK },
		{ "sandbox:", "actions: [{id: a, on: api}]\nsandbox:",
		  "error: 12:11: " INVALID "actions[0] requires id + handler" },
		{ "sandbox:", "actions: [{id: a, handler: h, on: press}]\nsandbox:",
		  "error: 12:35: " INVALID
		  "actions[0].on must be per_row/button/api, got \"press\"" },
		{ "sandbox:", "actions: [{id: a, handler: h, on: button}]\nsandbox:", OK },
		{ "sandbox:", "storage_nas: [{protocol: ftp}]\nsandbox:",
		  "error: 12:26: " INVALID
		  "storage_nas[0].protocol must be one of smb/nfs/webdav/s3, got \"ftp\"" },
		{ "sandbox:", "storage_nas: [{protocol: s3}]\nsandbox:",
		  "error: 12:15: " INVALID "storage_nas[0].host_ref is required" },
		{ "sandbox:", "storage_nas: [{protocol: s3, host_ref: h}]\nsandbox:",
		  "error: 12:15: " INVALID "storage_nas[0].share is required" },
		{ "sandbox:",
		  "storage_nas: [{protocol: s3, host_ref: h, share: s, access: x}]\nsandbox:",
		  "error: 12:61: " INVALID "storage_nas[0].access must be ro/rw, got \"x\"" },
		{ "sandbox:",
		  "storage_nas: [{protocol: s3, host_ref: h, share: s, secrets: {u: w}}]\nsandbox:",
		  "error: 12:66: " INVALID
		  "storage_nas[0].secrets[\"u\"] must be of the form ${ENV_NAME} (got \"w\")" },
		{ "sandbox:", "storage_nas: [{protocol: s3, host_ref: h, share: s}]\nsandbox:",
		  OK },
		{ "sandbox:", "state: {scope: world, store: kv}\nsandbox:",
		  "error: 12:16: " INVALID "state.scope must be agent/user/tenant, got \"world\"" },
		{ "sandbox:", "state: {scope: user, store: tape}\nsandbox:",
		  "error: 12:29: " INVALID "state.store must be memory/kv/db, got \"tape\"" },
		{ "sandbox:", "state: {scope: user, store: db}\nsandbox:", OK },
		{ "  image: html-base@0.1.0\n", "",
		  "error: 13:3: " INVALID "sandbox.image is required" },
		{ "isolation: container", "isolation: vm",
		  "error: 14:14: " INVALID
		  "sandbox.isolation must be process/container/microvm, got \"vm\"" },
		{ "isolation: container", "isolation: process", "isolation process" },
		{ "  isolation: container\n", "", "!isolation" },
		{ "sandbox:", "data_plane: {direct: yes}\nsandbox:", OK },
		{ "sandbox:", "data_plane: {direct: maybe}\nsandbox:",
		  "error: 12:22: " ERRORS "line 12: cannot unmarshal !!str `maybe` into bool" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_the_base_and_reads_all_of_it),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_common_fields),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_skill_and_memory),
		cmocka_unit_test(test_other_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
