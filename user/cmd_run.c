// SPDX-License-Identifier: Apache-2.0
/* How does `comet run` go from its command line to its exit code? */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "user/base.h"
#include "user/cmd.h"
#include "user/fault.h"
#include "user/leftovers.h"
#include "user/run.h"
#include "user/selftest.h"

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void comet_run_reset(struct comet_run *run)
{
	*run = (struct comet_run){
		.terminal.fd = -1,
		.cgroup.fd = -1,
		.guard.line = -1,
		.capture.output.fd = -1,
		.capture.errors.fd = -1,
		.record = -1,
		.control = -1,
		.init = -1,
		.pins = -1,
		.root = -1,
	};
}

static void end_init(struct comet_run *run)
{
	siginfo_t info;

	comet_close_fd(&run->control);
	if (run->init >= 0)
		waitid(P_PIDFD, (id_t)run->init, &info, WEXITED);
	comet_close_fd(&run->init);
}

void comet_run_release(struct comet_run *run)
{
	int err = comet_cgroup_destroy(&run->cgroup);

	if (err < 0)
		comet_run_report_error(&run->report, "the run's cgroup could not be removed");
	comet_fault_at("cgroup-removed", NULL);
	end_init(run);
	/* Only now, when no task is left that it would hold. */
	if (run->policy_id)
		comet_enforcer_remove(run->enforcer, run->policy_id);
	comet_fault_at("policy-removed", NULL);
	run->policy_id = 0;
	comet_selftest_remove(run->root, run->canary);
	if (err == 0 && run->record >= 0)
		comet_leftovers_forget(run->report.run.id);
	comet_fault_at("record-removed", NULL);
	comet_close_fd(&run->record);
	comet_enforcer_close(run->enforcer);
	comet_fault_at("enforcer-closed", NULL);
	comet_guard_release(&run->guard);
	run->enforcer = NULL;
	comet_close_fd(&run->pins);
	comet_close_fd(&run->root);
	comet_root_sockets_close(&run->sockets);
	comet_capture_close(&run->capture);
	free(run->canary);
	free(run->program);
	free(run->directory);
	free(run->workdir);
	run->canary = run->program = run->directory = run->workdir = NULL;
	comet_environment_free(run->environment);
	run->environment = NULL;
	comet_account_free(&run->account);
	comet_policy_free(run->policy);
	run->policy = NULL;
	comet_manifest_free(run->manifest);
	run->manifest = NULL;
}

static void on_started(void *context, pid_t agent)
{
	struct comet_run *run = context;

	comet_run_report_started(&run->report, run->options.command, (uint32_t)agent,
				 run->cgroup.path);
}

static void on_violation(void *context, const struct comet_violation *violation)
{
	struct comet_run *run = context;

	comet_run_report_violation(&run->report, violation);
}

/* Somebody has killed the guard: the next one takes its place. */
static void on_child_ended(void *context)
{
	struct comet_run *run = context;

	if (run->guard.pid <= 0 || waitpid(run->guard.pid, NULL, WNOHANG) != run->guard.pid)
		return;
	run->guard.pid = 0;
	comet_close_fd(&run->guard.line);
	if (comet_run_guard(run) != 0)
		comet_run_report_error(&run->report, run->error.text);
}

static int supervise(struct comet_run *run, struct comet_outcome *outcome)
{
	const struct comet_supervisor supervisor = {
		.control = run->control,
		.init = run->init,
		.ring = comet_enforcer_ring(run->enforcer, run->policy_id),
		.cgroup = &run->cgroup,
		.terminal = &run->terminal,
		.capture = run->options.json ? &run->capture : NULL,
		.timeout_ms = run->timeout_ms,
		.kill_on_violation = run->options.kill,
		.started = on_started,
		.violation = on_violation,
		.child_ended = on_child_ended,
		.context = run,
	};

	return comet_supervise(&supervisor, run->program, run->directory, outcome, &run->error);
}

/* In this order: nothing ran, it ran too long, it did what it may not, its own answer. */
static int exit_code(const struct comet_run *run, const struct comet_outcome *outcome,
		     const struct comet_counters *counters)
{
	if (outcome->failed)
		return COMET_EXIT_CONFINE;
	if (outcome->exec_error)
		return outcome->exec_error == ENOENT ? COMET_EXIT_NOT_FOUND
						     : COMET_EXIT_NOT_EXECUTABLE;
	if (outcome->timed_out)
		return COMET_EXIT_TIMEOUT;
	if (counters->violations && !run->options.audit)
		return COMET_EXIT_VIOLATION;
	return outcome->status;
}

static void tell_end(struct comet_run *run, const struct comet_outcome *outcome)
{
	struct comet_error text;

	if (outcome->failed) {
		comet_run_report_error(&run->report, outcome->failure.text);
	} else if (outcome->exec_error) {
		comet_error_set(&text, 0, "cannot execute %s: %s", run->program,
				strerror(outcome->exec_error));
		comet_run_report_error(&run->report, text.text);
	} else if (outcome->timed_out) {
		comet_error_set(&text, 0, "timed out after %g second%s: the whole run was killed",
				(double)run->timeout_ms / 1000, run->timeout_ms == 1000 ? "" : "s");
		comet_run_report_error(&run->report, text.text);
	}
}

static int run_command(struct comet_run *run)
{
	struct comet_outcome outcome;
	struct comet_scope_end end = { 0 };
	struct comet_run_report_result result = { .end = &end, .capture = &run->capture };
	int64_t start = now_ms();
	int err = supervise(run, &outcome);

	comet_fault_at("supervised", NULL);
	comet_terminal_close(&run->terminal, err < 0 || outcome.status < 0 || outcome.status > 128);
	if (err < 0) {
		comet_run_report_error(&run->report, run->error.text);
		comet_cgroup_kill(&run->cgroup);
		outcome.failed = true;
	}
	comet_enforcer_counters(run->enforcer, run->policy_id, &end.counters);
	result.cpu_usec = comet_cgroup_cpu_usec(&run->cgroup);
	end.exit_code = exit_code(run, &outcome, &end.counters);
	end.ok = end.exit_code == 0;
	end.status = outcome.failed || outcome.exec_error ? -1 : outcome.status;
	end.timed_out = outcome.timed_out;
	end.total_ms = now_ms() - start;
	if (err == 0)
		tell_end(run, &outcome);
	comet_run_report_completed(&run->report, &end);
	comet_fault_at("completed", NULL);
	comet_run_report_print_result(&run->report, &result);
	return end.exit_code;
}

/* The command has not run; with --json the answer is an object all the same. */
static int refuse(struct comet_run *run, int code)
{
	const struct comet_scope_end end = { .exit_code = code, .status = -1 };
	const struct comet_run_report_result result = { .end = &end };

	comet_terminal_close(&run->terminal, false);
	if (run->error.text[0])
		comet_run_report_error(&run->report, run->error.text);
	comet_run_report_print_result(&run->report, &result);
	return code;
}

/* Comet's own files must not take the places of missing standard streams. */
static void fill_standard_streams(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(COMET_EXIT_CONFINE);
}

static int run_all(struct comet_run *run)
{
	int code = comet_run_prepare(run);

	comet_fault_at("prepared", NULL);
	if (code == 0)
		code = comet_run_confine(run);
	code = code ? refuse(run, code) : run_command(run);
	comet_run_release(run);
	comet_run_report_close(&run->report);
	return code;
}

int comet_cmd_run(int argc, char **argv)
{
	struct comet_run run;
	int code = COMET_EXIT_USAGE;
	int err;

	fill_standard_streams();
	comet_run_reset(&run);
	err = comet_run_options_parse(argc, argv, &run.options, &run.error);
	if (err < 0 && run.error.text[0])
		fprintf(stderr, "comet: %s\n", run.error.text);
	else if (err == 0 && run.options.help)
		code = COMET_EXIT_OK;
	else if (err == 0 && comet_run_report_init(&run.report, &run.options, &run.error) < 0)
		code = COMET_EXIT_CONFINE;
	else if (err == 0)
		code = run_all(&run);
	comet_run_options_free(&run.options);
	return code;
}
