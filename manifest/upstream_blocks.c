// SPDX-License-Identifier: Apache-2.0
/* What does upstream ask of the blocks that every kind may have, from artifacts to capabilities? */
#include <string.h>

#include "manifest/syntax.h"
#include "manifest/upstream.h"

static int check_artifacts(struct comet_report *report, const struct comet_value *m)
{
	static const char *const kinds[] = { "html", "pdf", "long_image", "markdown",
					     "xlsx", "mp4", NULL };
	const struct comet_value *list = comet_value_field(m, "artifacts");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *kind = comet_value_field(&list->items[i], "kind");
		const struct comet_value *schema = comet_value_field(&list->items[i], "schema");

		if (!comet_value_is_among(kind, kinds))
			return comet_upstream_invalid(
				report, kind, &list->items[i],
				"artifacts[%zu].kind %s not in {html,pdf,long_image,markdown,xlsx,mp4}",
				i, comet_upstream_quote(report, kind));
		if (comet_value_is_empty(schema))
			return comet_upstream_invalid(report, schema, &list->items[i],
						      "artifacts[%zu].schema is required", i);
	}
	return 0;
}

static int check_schedules(struct comet_report *report, const struct comet_value *m)
{
	static const char *const words[] = { "skip", "once", "backfill", NULL };
	const struct comet_value *list = comet_value_field(m, "schedules");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];
		const struct comet_value *missed = comet_value_field(item, "missed_fire");

		if (comet_value_is_empty(comet_value_field(item, "cron")) &&
		    comet_value_is_empty(comet_value_field(item, "once")))
			return comet_upstream_invalid(
				report, item, m, "schedules[%zu] must have either cron or once", i);
		if (!comet_value_is_empty(missed) && !comet_value_is_among(missed, words))
			return comet_upstream_invalid(
				report, missed, item,
				"schedules[%zu].missed_fire must be skip/once/backfill", i);
	}
	return 0;
}

/* A secret in the open would leak with the manifest. */
static int check_secrets(struct comet_report *report, const struct comet_value *item,
			 const char *list, size_t i)
{
	const struct comet_value *secrets = comet_value_field(item, "secrets");

	for (size_t j = 0; j < secrets->n_items; j++) {
		const struct comet_value *secret = &secrets->items[j];

		if (!comet_is_env_ref(secret->text, secret->size))
			return comet_upstream_invalid(
				report, secret, item,
				"%s[%zu].secrets[%s] must be of the form ${ENV_NAME} (got %s)",
				list, i,
				comet_arena_quote(report->arena, secret->key->text,
						  secret->key->size),
				comet_upstream_quote(report, secret));
	}
	return 0;
}

static int check_channels(struct comet_report *report, const struct comet_value *m)
{
	static const char *const kinds[] = { "dingtalk",  "feishu",  "wework", "wechat-mp",
					     "wechat-cs", "webhook", NULL };
	const struct comet_value *list = comet_value_field(m, "channels");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];
		const struct comet_value *kind = comet_value_field(item, "kind");
		int r;

		if (comet_value_is_empty(kind))
			return comet_upstream_invalid(report, kind, item,
						      "channels[%zu].kind is required", i);
		if (!comet_value_is_among(kind, kinds))
			return comet_upstream_invalid(
				report, kind, item,
				"channels[%zu].kind %s not in {dingtalk,feishu,wework,wechat-mp,wechat-cs,webhook}",
				i, comet_upstream_quote(report, kind));
		r = check_secrets(report, item, "channels", i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_actions(struct comet_report *report, const struct comet_value *m)
{
	static const char *const words[] = { "per_row", "button", "api", NULL };
	const struct comet_value *list = comet_value_field(m, "actions");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];
		const struct comet_value *on = comet_value_field(item, "on");

		if (comet_value_is_empty(comet_value_field(item, "id")) ||
		    comet_value_is_empty(comet_value_field(item, "handler")))
			return comet_upstream_invalid(report, item, m,
						      "actions[%zu] requires id + handler", i);
		if (!comet_value_is_among(on, words))
			return comet_upstream_invalid(
				report, on, item,
				"actions[%zu].on must be per_row/button/api, got %s", i,
				comet_upstream_quote(report, on));
	}
	return 0;
}

static int check_storage(struct comet_report *report, const struct comet_value *m)
{
	static const char *const protocols[] = { "smb", "nfs", "webdav", "s3", NULL };
	static const char *const accesses[] = { "ro", "rw", NULL };
	const struct comet_value *list = comet_value_field(m, "storage_nas");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];
		const struct comet_value *protocol = comet_value_field(item, "protocol");
		const struct comet_value *host = comet_value_field(item, "host_ref");
		const struct comet_value *share = comet_value_field(item, "share");
		const struct comet_value *access = comet_value_field(item, "access");
		int r;

		if (!comet_value_is_among(protocol, protocols))
			return comet_upstream_invalid(
				report, protocol, item,
				"storage_nas[%zu].protocol must be one of smb/nfs/webdav/s3, got %s",
				i, comet_upstream_quote(report, protocol));
		if (comet_value_is_empty(host))
			return comet_upstream_invalid(report, host, item,
						      "storage_nas[%zu].host_ref is required", i);
		if (comet_value_is_empty(share))
			return comet_upstream_invalid(report, share, item,
						      "storage_nas[%zu].share is required", i);
		if (!comet_value_is_empty(access) && !comet_value_is_among(access, accesses))
			return comet_upstream_invalid(
				report, access, item,
				"storage_nas[%zu].access must be ro/rw, got %s", i,
				comet_upstream_quote(report, access));
		r = check_secrets(report, item, "storage_nas", i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_state(struct comet_report *report, const struct comet_value *m)
{
	static const char *const scopes[] = { "agent", "user", "tenant", NULL };
	static const char *const stores[] = { "memory", "kv", "db", NULL };
	const struct comet_value *state = comet_value_field(m, "state");
	const struct comet_value *scope = comet_value_field(state, "scope");
	const struct comet_value *store = comet_value_field(state, "store");

	if (!state->node)
		return 0;
	if (!comet_value_is_among(scope, scopes))
		return comet_upstream_invalid(report, scope, state,
					      "state.scope must be agent/user/tenant, got %s",
					      comet_upstream_quote(report, scope));
	if (!comet_value_is_among(store, stores))
		return comet_upstream_invalid(report, store, state,
					      "state.store must be memory/kv/db, got %s",
					      comet_upstream_quote(report, store));
	return 0;
}

static int check_capabilities(struct comet_report *report, const struct comet_value *block)
{
	static const char *const protos[] = { "http", "https", "grpc", "quic", NULL };
	const struct comet_value *list = comet_value_field(block, "network_out");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];
		const struct comet_value *host = comet_value_field(item, "host");
		const struct comet_value *port = comet_value_field(item, "port");
		const struct comet_value *proto = comet_value_field(item, "proto");

		if (comet_value_is_empty(host))
			return comet_upstream_invalid(
				report, host, item,
				"capabilities.network_out[%zu].host is required", i);
		if (port->integer < 1 || port->integer > 65535)
			return comet_upstream_invalid(
				report, port, item,
				"capabilities.network_out[%zu].port must be in [1,65535], got %lld",
				i, (long long)port->integer);
		if (!comet_value_is_among(proto, protos))
			return comet_upstream_invalid(
				report, proto, item,
				"capabilities.network_out[%zu].proto must be one of http/https/grpc/quic, got %s",
				i, comet_upstream_quote(report, proto));
	}
	return 0;
}

static int check_sandbox(struct comet_report *report, const struct comet_value *m)
{
	static const char *const words[] = { "process", "container", "microvm", NULL };
	const struct comet_value *sandbox = comet_value_field(m, "sandbox");
	const struct comet_value *image = comet_value_field(sandbox, "image");
	const struct comet_value *isolation = comet_value_field(sandbox, "isolation");

	if (!sandbox->node)
		return 0;
	if (comet_value_is_empty(image))
		return comet_upstream_invalid(report, image, sandbox, "sandbox.image is required");
	if (!comet_value_is_empty(isolation) && !comet_value_is_among(isolation, words))
		return comet_upstream_invalid(
			report, isolation, sandbox,
			"sandbox.isolation must be process/container/microvm, got %s",
			comet_upstream_quote(report, isolation));
	return check_capabilities(report, comet_value_field(sandbox, "capabilities"));
}

int comet_upstream_check_blocks(struct comet_report *report, const struct comet_value *manifest)
{
	static int (*const checks[])(struct comet_report *, const struct comet_value *) = {
		check_artifacts, check_schedules, check_channels, check_actions,
		check_storage,   check_state,     check_sandbox,
	};

	for (size_t i = 0; i < COMET_ARRAY_SIZE(checks); i++) {
		int r = checks[i](report, manifest);

		if (r < 0)
			return r;
	}
	return check_capabilities(report, comet_value_field(manifest, "capabilities"));
}
