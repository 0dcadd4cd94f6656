// SPDX-License-Identifier: Apache-2.0
/* In which order is a run made, so that nothing of it ever runs unheld? */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "user/base.h"
#include "user/cmd.h"
#include "user/control.h"
#include "user/fault.h"
#include "user/init.h"
#include "user/leftovers.h"
#include "user/pins.h"
#include "user/probe.h"
#include "user/resolve.h"
#include "user/run.h"
#include "user/sandbox.h"
#include "user/selftest.h"

/* How long pid 1 may take for a step; mounting a busy network filesystem is the slowest. */
#define STEP_TIMEOUT_MS 60000

/* Above the descriptors of programs and maps, which are opened first. */
#define ABOVE_LINKS 256

/* What a step of this file answers to its comet_error. */
static int confined(int err)
{
	return err < 0 ? COMET_EXIT_CONFINE : 0;
}

static int load_programs(struct comet_run *run)
{
	int err = comet_probe_require(&run->error);

	if (err == 0)
		err = comet_resolve_policy(run->policy, comet_run_report_warn, &run->report,
					   &run->error);
	if (err == 0)
		comet_leftovers_clear();
	if (err == 0)
		err = comet_enforcer_open(&run->enforcer, &run->error);
	return confined(err);
}

int comet_run_guard(struct comet_run *run)
{
	const int closed[] = {
		run->control,     run->capture.output.fd, run->capture.errors.fd,
		run->terminal.fd, run->guard.line,        run->pins,
	};
	const struct comet_guarded guarded = {
		.cgroup = &run->cgroup,
		.enforcer = run->enforcer,
		.policy = run->policy_id,
		.run_id = run->report.run.id,
		.closed = closed,
		.n_closed = COMET_ARRAY_SIZE(closed),
	};
	struct comet_guard former = run->guard;
	int err = comet_guard_start(&run->guard, &guarded, &run->error);

	if (err < 0)
		return COMET_EXIT_CONFINE;
	comet_fault_at("two-guards", NULL);
	comet_guard_dismiss(&former);
	return 0;
}

/* The guard stands before there is anything that it would have to clean up. */
static int make_cgroup(struct comet_run *run)
{
	int code;

	comet_terminal_open(&run->terminal);
	comet_signals_take(&run->signals);
	run->canary = comet_selftest_canary(run->report.run.id, run->container);
	if (!run->canary) {
		comet_error_set(&run->error, ENOMEM, "out of memory");
		return COMET_EXIT_CONFINE;
	}
	code = confined(comet_cgroup_plan(run->report.run.id, &run->cgroup, &run->error));
	if (code == 0) {
		run->record = comet_leftovers_record(run->report.run.id, &run->cgroup, &run->error);
		code = confined(run->record);
	}
	comet_fault_at("recorded", NULL);
	if (code == 0)
		code = comet_run_guard(run);
	return code ? code : confined(comet_cgroup_make(&run->cgroup, &run->error));
}

static int make_pins(struct comet_run *run)
{
	int err;

	if (!comet_pins_are_safe())
		return 0;
	run->pins = comet_pins_make(&run->error);
	err = run->pins;
	comet_fault_at("bpffs-made", NULL);
	if (err >= 0)
		err = comet_enforcer_pin(run->enforcer, run->pins, &run->error);
	return confined(err);
}

static void fill_init(const struct comet_run *run, struct comet_init *init)
{
	*init = (struct comet_init){
		.control = -1,
		.terminal = run->terminal.fd,
		.foreground = run->terminal.eager,
		.output = -1,
		.errors = -1,
		/* In a root of the run's own they come with that. */
		.mounts.pins = run->container ? -1 : run->pins,
		.mounts.workdir = run->workdir,
		.mounts.private_tmp = run->private_tmp,
		.account = &run->account,
		.argv = run->options.command,
		.environment = run->environment,
		.signals = &run->signals,
	};
}

/*
 * A process that dies releases its highest descriptor first: so pid 1 sees the end of this one, and
 * ends the run, before the kernel begins to detach the programs. Where there are no pins, that is
 * what keeps the agent from running on unheld when comet and its guard are killed at once.
 */
static int raise_control(struct comet_run *run)
{
	int high = fcntl(run->control, F_DUPFD_CLOEXEC, ABOVE_LINKS);

	if (high < 0)
		return comet_error_set(
			&run->error, errno,
			"the limit on open files is too low: comet needs more than %d "
			"(ulimit -n)",
			ABOVE_LINKS);
	comet_close_fd(&run->control);
	run->control = high;
	return 0;
}

static int open_channels(struct comet_run *run, struct comet_init *init)
{
	int err = comet_control_pair(&run->control, &init->control);

	if (err == 0 && run->options.json)
		err = comet_capture_open(&run->capture, &init->output, &init->errors);
	if (err == 0)
		return confined(raise_control(run));
	comet_error_set(&run->error, -err, "cannot make the run's pipes: %s", strerror(-err));
	return confined(err);
}

static int make_init(struct comet_run *run)
{
	struct comet_init init;
	int code;

	fill_init(run, &init);
	code = open_channels(run, &init);
	if (code == 0) {
		run->init_pid = comet_sandbox_clone(run->cgroup.fd, &run->init, &run->error);
		if (run->init_pid == 0)
			comet_init_main(&init);
		comet_fault_at("cloned", NULL);
		code = confined(run->init_pid);
	}
	/* Only pid 1 holds them: so their end is seen. */
	comet_close_fd(&init.control);
	comet_close_fd(&init.output);
	comet_close_fd(&init.errors);
	return code;
}

/* Waits for one message of pid 1, which may fail or die instead. */
static int expect(struct comet_run *run, uint32_t type, struct comet_message *message)
{
	int err = comet_control_receive(run->control, STEP_TIMEOUT_MS, message, NULL);

	if (err == 0 && message->type == type)
		return 0;
	if (err == 0 && message->type == COMET_MESSAGE_FAILED)
		comet_error_set(&run->error, EPERM, "%s", message->text);
	else if (err == -ETIMEDOUT)
		comet_error_set(&run->error, ETIMEDOUT,
				"the run's first process did not get ready in %d seconds",
				STEP_TIMEOUT_MS / 1000);
	else
		comet_error_set(&run->error, EPERM, "the run's first process died at its start");
	return COMET_EXIT_CONFINE;
}

static int await_mounts(struct comet_run *run)
{
	struct comet_message message;
	char path[64];
	int code = expect(run, COMET_MESSAGE_MOUNTED, &message);

	if (code)
		return code;
	snprintf(path, sizeof(path), "/proc/%d/root", run->init_pid);
	run->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (run->root >= 0)
		return 0;
	comet_error_set(&run->error, errno, "cannot open the run's root: %s", strerror(errno));
	return COMET_EXIT_CONFINE;
}

int comet_run_open_mounts(struct comet_run *run)
{
	char path[64];
	int mount_ns;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", run->init_pid);
	mount_ns = open(path, O_RDONLY | O_CLOEXEC);
	if (mount_ns < 0)
		return comet_error_set(&run->error, errno,
				       "cannot open the run's mount namespace: %s",
				       strerror(errno));
	return mount_ns;
}

static int add_policy(struct comet_run *run)
{
	_cleanup_close_ int mount_ns = comet_run_open_mounts(run);
	struct comet_policy_target target = {
		.mount_ns = mount_ns,
		.by_mount = run->container,
		/* What is missing was told when the run's own root was planned. */
		.warn = run->container ? NULL : comet_run_report_warn,
		.warn_context = &run->report,
	};

	if (mount_ns < 0)
		return COMET_EXIT_CONFINE;
	target.flags = (run->options.audit ? COMET_POLICY_AUDIT : 0) |
		       (run->options.kill ? COMET_POLICY_KILL : 0);
	return confined(comet_enforcer_add(run->enforcer, run->policy, &target, &run->policy_id,
					   &run->error));
}

static int make_canary(struct comet_run *run)
{
	return confined(comet_selftest_make(run->root, run->canary, &run->error));
}

static int seal(struct comet_run *run)
{
	int r = comet_enforcer_filter(run->enforcer, run->policy_id, run->cgroup.fd, run->pins,
				      &run->error);

	comet_fault_at("filter-attached", NULL);
	comet_close_fd(&run->pins);
	if (!r)
		r = comet_enforcer_bind(run->enforcer, run->policy_id, run->cgroup.id, &run->error);
	return confined(r);
}

static int run_selftest(struct comet_run *run)
{
	struct comet_selftest result;
	struct comet_message message;
	int err = comet_control_send(run->control, COMET_MESSAGE_SELFTEST, 0, run->canary,
				     strlen(run->canary));
	int code;

	if (err < 0) {
		comet_error_set(&run->error, -err, "cannot start the self-test: %s",
				strerror(-err));
		return COMET_EXIT_CONFINE;
	}
	comet_fault_at("probes-sent", NULL);
	code = expect(run, COMET_MESSAGE_PROBES, &message);
	if (code)
		return code;
	memcpy(&result, message.text, sizeof(result));
	comet_selftest_remove(run->root, run->canary);
	return confined(comet_selftest_judge(&result, &run->error));
}

static int check_interrupted(struct comet_run *run)
{
	int sig = comet_signals_pending();

	if (!sig)
		return 0;
	comet_error_set(&run->error, EINTR, "interrupted before the command started (SIG%s)",
			sigabbrev_np(sig));
	return 128 + sig;
}

int comet_run_confine(struct comet_run *run)
{
	static const struct {
		const char *name;
		int (*take)(struct comet_run *);
	} steps[] = {
		{ "load-programs", load_programs },
		{ "make-cgroup", make_cgroup },
		{ "make-pins", make_pins },
		{ "make-init", make_init },
		{ "await-mounts", await_mounts },
		{ "add-rules", comet_run_add_rules },
		{ "make-root", comet_run_make_root },
		{ "make-canary", make_canary },
		{ "add-policy", add_policy },
		{ "add-objects", comet_run_add_objects },
		/* Again: this one knows the policy, and holds the objects that it names. */
		{ "guard", comet_run_guard },
		{ "seal", seal },
		{ "selftest", run_selftest },
		{ "interrupted", check_interrupted },
	};
	size_t i;
	int code = 0;

	for (i = 0; code == 0 && i < COMET_ARRAY_SIZE(steps); i++) {
		code = confined(comet_fault_at(steps[i].name, &run->error));
		if (code == 0)
			code = steps[i].take(run);
	}
	return code;
}
