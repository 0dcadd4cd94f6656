// SPDX-License-Identifier: Apache-2.0
/* What does a soyapack.v0 manifest declare, once upstream would accept it? */
#include <string.h>

#include "manifest/block.h"
#include "manifest/grant.h"
#include "manifest/upstream.h"

static int take_text(struct comet_report *report, const struct comet_value *value, char **text)
{
	*text = comet_arena_copy(report->arena, value->text, value->size);
	return *text ? 0 : comet_report_no_memory(report);
}

static int read_isolation(struct comet_report *report, const struct comet_value *isolation)
{
	struct comet_manifest *manifest = report->manifest;

	for (int i = COMET_ISOLATION_UNSET + 1; i < _COMET_ISOLATION_MAX; i++)
		if (comet_bytes_are(isolation->text, isolation->size,
				    comet_isolation_to_str((enum comet_isolation)i)))
			manifest->isolation = (enum comet_isolation)i;
	if (manifest->isolation != COMET_ISOLATION_MICROVM)
		return 0;
	return comet_report_refuse(
		report, isolation->node,
		"expected an isolation of process or container, found microvm (Comet is not a virtual machine monitor)");
}

static int read_sandbox(struct comet_report *report, const struct comet_value *sandbox)
{
	const struct comet_value *isolation = comet_value_field(sandbox, "isolation");
	const struct comet_value *budget = comet_value_field(sandbox, "budget_seconds_max");
	bool whole;
	int r;

	r = comet_grant_check_whole(report, sandbox->node, &whole);
	if (r == 0 && whole)
		r = comet_grant_check_whole(report, isolation->node, &whole);
	if (r == 0 && whole)
		r = read_isolation(report, isolation);
	if (r < 0 || !whole)
		return r;
	if (budget->integer < 0 || budget->integer > COMET_BUDGET_MAX)
		return comet_report_refuse(report, budget->node,
					   "expected a time limit of 0 to %d seconds, found %lld",
					   COMET_BUDGET_MAX, (long long)budget->integer);
	report->manifest->budget_seconds = (unsigned int)budget->integer;
	return 0;
}

int comet_report_rest(struct comet_report *report, const struct comet_document *document)
{
	if (!document->rest.line)
		return 0;
	if (document->rest_is_document)
		return comet_report_warn(
			report, &document->rest,
			"only the first document is read, and another follows here");
	return comet_report_refuse(
		report, &document->rest,
		"expected the end of the file, found text that does not belong to the document above (it is indented less, or a directive)");
}

int comet_soyapack_read(struct comet_report *report, const struct comet_document *document,
			bool *has_block)
{
	struct comet_manifest *manifest = report->manifest;
	const struct comet_value *sandbox;
	const struct comet_value *inner;
	const struct comet_value *outer;
	struct comet_value value;
	int r;

	manifest->schema = "soyapack.v0";
	manifest->dialect = COMET_DIALECT_GO;
	r = comet_upstream_read(report, document, &value);
	if (r == 0)
		r = take_text(report, comet_value_field(&value, "name"), &manifest->name);
	if (r == 0)
		r = take_text(report, comet_value_field(&value, "version"), &manifest->version);
	if (r == 0)
		r = take_text(report, comet_value_field(&value, "kind"), &manifest->kind);
	if (r < 0)
		return r;

	sandbox = comet_value_field(&value, "sandbox");
	inner = comet_value_field(sandbox, "capabilities");
	outer = comet_value_field(&value, "capabilities");
	*has_block = inner->node || outer->node;
	report->upstream_accepts = true;
	r = comet_report_rest(report, document);
	if (r == 0 && sandbox->node)
		r = read_sandbox(report, sandbox);
	if (r == 0 && inner->node && outer->node)
		r = comet_report_refuse(
			report, outer->node,
			"expected one capabilities block, found a second one beside sandbox.capabilities of line %u (upstream reads only that one)",
			inner->node->line);
	if (r == 0 && *has_block)
		r = comet_block_read(report, inner->node ? inner : outer);
	report->upstream_accepts = false;
	return r;
}
