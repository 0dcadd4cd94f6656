// SPDX-License-Identifier: Apache-2.0
/* What must be right about the operator's words and the manifest before a run is made? */
#define _GNU_SOURCE 1

#include <limits.h>
#include <sys/stat.h>

#include "manifest/path.h"
#include "user/base.h"
#include "user/cmd.h"
#include "user/mounts.h"
#include "user/resolve.h"
#include "user/run.h"
#include "user/text.h"

static int find_account(struct comet_run *run)
{
	if (comet_account_find(run->options.user, &run->account, &run->error) < 0)
		return COMET_EXIT_USAGE;
	run->environment = comet_environment_make(&run->account, environ, run->options.clear_env,
						  run->options.env, run->options.n_env);
	if (run->environment)
		return 0;
	comet_error_set(&run->error, ENOMEM, "out of memory");
	return COMET_EXIT_CONFINE;
}

static int find_workdir(struct comet_run *run)
{
	const char *workdir = run->options.workdir;
	_cleanup_free_ char *quoted = NULL;
	struct stat st;

	if (!workdir)
		return 0;
	run->workdir = realpath(workdir, NULL);
	if (run->workdir && stat(run->workdir, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (run->workdir)
		return 0;
	quoted = comet_text_quote(workdir, strlen(workdir));
	comet_error_set(&run->error, errno, "--workdir %s: %s", quoted ? quoted : "?",
			strerror(errno));
	return COMET_EXIT_USAGE;
}

static void warn_of_manifest(struct comet_run *run)
{
	const struct comet_manifest *manifest = run->manifest;
	size_t i;

	for (i = 0; i < manifest->n_warnings; i++)
		comet_run_report_warn(&run->report, &manifest->warnings[i].location,
				      manifest->warnings[i].text);
}

static bool grants(const struct comet_manifest *manifest, const char *above)
{
	size_t i;

	for (i = 0; i < manifest->n_fs_read; i++)
		if (comet_path_covers(above, manifest->fs_read[i].text))
			return true;
	for (i = 0; i < manifest->n_fs_write; i++)
		if (comet_path_covers(above, manifest->fs_write[i].text))
			return true;
	return false;
}

static bool declares_all(const struct comet_manifest *manifest)
{
	size_t i;

	for (i = 0; i < manifest->n_fs_read; i++)
		if (streq(manifest->fs_read[i].text, "/"))
			return true;
	for (i = 0; i < manifest->n_fs_write; i++)
		if (streq(manifest->fs_write[i].text, "/"))
			return true;
	return false;
}

/* More isolation than the manifest asks for is the operator's to choose, and less, by that word. */
static void choose_isolation(struct comet_run *run)
{
	const struct comet_manifest *manifest = run->manifest;
	bool asked = manifest->isolation == COMET_ISOLATION_CONTAINER;
	const char *why_not = NULL;

	run->private_tmp = grants(manifest, "/tmp");
	run->container = run->options.isolation == COMET_ISOLATION_CONTAINER ||
			 (asked && run->options.isolation == COMET_ISOLATION_UNSET);
	if (asked && !run->container)
		why_not = "isolation process, where the manifest asks for container: access(2) "
			  "tells whether an undeclared name exists";
	else if (run->container && run->options.audit)
		why_not = "isolation process instead of container, which would hide what --audit "
			  "is to let through";
	else if (run->container && declares_all(manifest))
		why_not = "isolation process instead of container: the manifest declares all of /, "
			  "so there is nothing to hide";
	if (!why_not)
		return;
	run->container = false;
	comet_run_report_warn(&run->report, NULL, why_not);
}

/* The smaller of what the operator and the manifest allow. */
static void choose_timeout(struct comet_run *run)
{
	int64_t budget = (int64_t)run->manifest->budget_seconds * 1000;

	run->timeout_ms = run->options.timeout_ms;
	if (budget && (!run->timeout_ms || budget < run->timeout_ms))
		run->timeout_ms = budget;
}

static int load_manifest(struct comet_run *run)
{
	int err = comet_manifest_load(run->options.pack, run->options.strict, &run->manifest,
				      &run->error);

	if (err < 0)
		return COMET_EXIT_USAGE;
	/* Upstream accepts it, but Comet could not hold an agent to exactly what it says. */
	if (run->manifest->unenforceable) {
		comet_error_set(&run->error, EINVAL, "%s", run->manifest->unenforceable);
		return COMET_EXIT_USAGE;
	}
	warn_of_manifest(run);
	choose_timeout(run);
	choose_isolation(run);
	return 0;
}

/* Where the agent's programs look for their start-up files. */
static const char *agent_home(const struct comet_run *run)
{
	const char *home = comet_environment_get(run->environment, "HOME");

	return home && home[0] == '/' ? home : run->account.home;
}

static int compile_policy(struct comet_run *run)
{
	char **nameservers = comet_nameservers_read("/etc/resolv.conf");
	const struct comet_policy_options options = {
		.home = agent_home(run),
		.workdir = run->workdir ? COMET_WORKDIR : NULL,
		.nameservers = (const char *const *)nameservers,
	};
	int err;

	if (!nameservers) {
		comet_error_set(&run->error, ENOMEM, "out of memory");
		return COMET_EXIT_CONFINE;
	}
	err = comet_policy_compile(run->manifest, &options, &run->policy, &run->error);
	comet_nameservers_free(nameservers);
	return err < 0 ? COMET_EXIT_USAGE : 0;
}

int comet_run_prepare(struct comet_run *run)
{
	int code = find_account(run);

	if (code == 0)
		code = find_workdir(run);
	if (code == 0)
		code = load_manifest(run);
	if (code == 0)
		code = compile_policy(run);
	run->report.run.container = run->container;
	if (code == 0 && comet_run_report_open(&run->report, &run->options, run->manifest,
					       run->policy, &run->error) < 0)
		code = COMET_EXIT_CONFINE;
	return code;
}
