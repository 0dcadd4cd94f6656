// SPDX-License-Identifier: Apache-2.0
/* What would have allowed it? The words of an event's `fix`. */
#include "user/scope_fix.h"

#include "manifest/fix.h"
#include "user/base.h"
#include "user/text.h"

/* Why this very resource cannot be named in a manifest whose dialect could name others. */
static const char *unnameable(const struct comet_violation *v)
{
	bool path = v->head.tail == COMET_TAIL_PATH;

	if (v->head.surface == COMET_SURFACE_IPC && !path && v->head.tail != COMET_TAIL_ADDR)
		return "no manifest can grant signals to or tracing of processes outside the run";
	if (v->head.surface == COMET_SURFACE_IPC && v->requested[0] != '/')
		return "only a UNIX socket with an absolute path can be granted, under fs.write";
	if (v->head.surface == COMET_SURFACE_SERVE && strstr(v->requested, ":0/"))
		return "a port that the kernel chooses cannot be named; bind to a declared one, or "
		       "declare \"*\" under serve";
	if (path && strncmp(v->requested, "/proc/", 6) == 0 && v->requested[6] >= '0' &&
	    v->requested[6] <= '9')
		return "a process has another number in the next run: its files cannot be named";
	if (path && v->requested[0] == '(')
		return "a file that is opened by its handle cannot be named; open it by its path";
	if (v->head.flags & COMET_EVENT_TRUNCATED)
		return "no manifest can name a path of over 4,095 bytes; grant a directory above it";
	if (!comet_text_is_utf8(v->requested, v->requested_len))
		return "a manifest is UTF-8 text and cannot name these bytes; grant a directory above";
	return NULL;
}

char *comet_scope_fix(const struct comet_scope_run *run, const struct comet_violation *v,
		      bool *is_yaml)
{
	enum comet_surface surface = (enum comet_surface)v->head.surface;
	const char *why = comet_explain_unfixable(run->dialect, surface);
	_cleanup_free_ char *yaml = NULL;

	if (is_yaml)
		*is_yaml = false;
	if (!why)
		why = unnameable(v);
	if (why)
		return strdup(why);
	yaml = malloc(COMET_FIX_MAX);
	if (!yaml)
		return NULL;
	if (comet_explain_fix(run->dialect, surface, v->requested, yaml, COMET_FIX_MAX) < 0)
		return strdup("no entry of a manifest can name this resource");
	if (is_yaml)
		*is_yaml = true;
	return COMET_TAKE_PTR(yaml);
}
