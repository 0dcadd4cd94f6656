// SPDX-License-Identifier: Apache-2.0
/* How does a violation look to a person at a terminal? */
#include "user/base.h"
#include "user/scope.h"
#include "user/scope_fix.h"
#include "user/text.h"

#define RED "\x1b[1;31m"
#define YELLOW "\x1b[33m"
#define DIM "\x1b[2m"
#define RESET "\x1b[0m"

static void put_verdict(FILE *out, const struct comet_violation *v, bool colour)
{
	bool audit = v->head.flags & COMET_EVENT_AUDIT;
	const char *start = audit ? YELLOW : RED;

	if (v->head.severity == COMET_SEVERITY_INFO)
		start = DIM;
	fprintf(out, "comet: %s%s%s %s ", colour ? start : "", audit ? "would deny" : "denied",
		colour ? RESET : "", comet_surface_to_str((enum comet_surface)v->head.surface));
}

static void put_details(FILE *out, const struct comet_violation *v, const char *comm)
{
	fprintf(out, " (%s, %s[%u]", comet_op_to_str((enum comet_op)v->head.op), comm, v->head.pid);
	if (v->head.count > 1)
		fprintf(out, ", %llu times", (unsigned long long)v->head.count);
	if (v->head.flags & COMET_EVENT_KILLED)
		fputs(", killed", out);
	fputs("): ", out);
}

static void put_indented(FILE *out, const char *yaml)
{
	while (*yaml) {
		size_t len = strcspn(yaml, "\n");

		fprintf(out, "\n    %.*s", (int)len, yaml);
		yaml += len + (yaml[len] == '\n');
	}
}

char *comet_scope_violation_text(const struct comet_scope_run *run, const struct comet_violation *v,
				 bool colour)
{
	bool is_yaml = false;
	_cleanup_free_ char *fix = comet_scope_fix(run, v, &is_yaml);
	_cleanup_free_ char *name = comet_text_quote(v->requested, v->requested_len);
	_cleanup_free_ char *comm =
		comet_text_quote(v->head.comm, strnlen(v->head.comm, sizeof(v->head.comm)));
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!fix || !name || !comm)
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	put_verdict(out, v, colour);
	fputs(name, out);
	put_details(out, v, comm);
	if (v->head.severity == COMET_SEVERITY_INFO) {
		fputs("an ordinary probe, not counted as a violation", out);
	} else if (is_yaml) {
		fputs("not declared; to allow, merge into the manifest:", out);
		put_indented(out, fix);
	} else {
		fputs(fix, out);
	}
	if (fclose(out) != 0)
		return NULL;
	return COMET_TAKE_PTR(text);
}
