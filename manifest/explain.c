// SPDX-License-Identifier: Apache-2.0
/* Is an access allowed, and by which line of the manifest? */
#define _GNU_SOURCE 1

#include "manifest/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/ask.h"
#include "manifest/fix.h"
#include "manifest/util.h"

/* The manual's word first, then the keys that manifests use for it. */
static const struct {
	const char *words[3];
	enum comet_surface surface;
} surfaces[] = {
	{ { "fs.read", "fs_read", NULL }, COMET_SURFACE_FS_READ },
	{ { "fs.write", "fs_write", NULL }, COMET_SURFACE_FS_WRITE },
	{ { "egress", "network.out", "network_out" }, COMET_SURFACE_EGRESS },
	{ { "exec", NULL, NULL }, COMET_SURFACE_EXEC },
	{ { "serve", NULL, NULL }, COMET_SURFACE_SERVE },
};

const char *comet_explain_surface(enum comet_surface surface)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(surfaces); i++)
		if (surfaces[i].surface == surface)
			return surfaces[i].words[0];
	return NULL;
}

static int surface_from_str(const char *text, enum comet_surface *surface,
			    struct comet_error *error)
{
	char quoted[80];

	for (size_t i = 0; i < COMET_ARRAY_SIZE(surfaces); i++) {
		for (size_t j = 0; j < COMET_ARRAY_SIZE(surfaces[i].words); j++) {
			if (!surfaces[i].words[j] || strcmp(surfaces[i].words[j], text) != 0)
				continue;
			*surface = surfaces[i].surface;
			return 0;
		}
	}
	return comet_error_set(
		error, EINVAL,
		"there is no surface \"%s\" to ask about; expected fs.read, fs.write, egress, exec or serve",
		comet_quote(text, strlen(text), quoted, sizeof(quoted)));
}

/* What to add so that it is allowed. */
static int propose(const struct comet_manifest *manifest, struct comet_answer *answer)
{
	char *text = malloc(COMET_FIX_MAX);
	int r;

	if (!text)
		return -ENOMEM;
	r = comet_explain_fix(manifest->dialect, answer->surface, answer->resource, text,
			      COMET_FIX_MAX);
	if (r == 0) {
		answer->fix = text;
		return 0;
	}
	free(text);
	answer->unfixable = comet_explain_unfixable(manifest->dialect, answer->surface);
	if (!answer->unfixable)
		answer->unfixable = "no entry of a manifest can name this resource";
	return 0;
}

static int ask(const struct comet_policy *policy, const char *resource, struct comet_answer *answer,
	       struct comet_error *error)
{
	if (answer->surface == COMET_SURFACE_EGRESS)
		return comet_ask_egress(policy, resource, answer, error);
	if (answer->surface == COMET_SURFACE_EXEC)
		return comet_ask_exec(policy, resource, answer, error);
	if (answer->surface == COMET_SURFACE_SERVE)
		return comet_ask_serve(policy, resource, answer, error);
	return comet_ask_path(policy, resource, answer, error);
}

int comet_explain_query(const struct comet_manifest *manifest, const struct comet_policy *policy,
			const char *surface, const char *resource, struct comet_answer *answer,
			struct comet_error *error)
{
	struct comet_answer made = { 0 };
	int r;

	r = surface_from_str(surface, &made.surface, error);
	if (r == 0)
		r = ask(policy, resource, &made, error);
	if (r == 0 && !made.allowed)
		r = propose(manifest, &made);
	if (r == -ENOMEM)
		comet_error_set(error, ENOMEM, "out of memory");
	if (r < 0) {
		comet_answer_clear(&made);
		return r;
	}
	*answer = made;
	return 0;
}

void comet_answer_clear(struct comet_answer *answer)
{
	free(answer->resource);
	free(answer->matched);
	free(answer->note);
	free(answer->fix);
	memset(answer, 0, sizeof(*answer));
}
