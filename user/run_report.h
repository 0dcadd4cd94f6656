/* SPDX-License-Identifier: Apache-2.0 */
/* What does a run tell, and to whom? Events to the sink, words to people, a result to --json. */
#ifndef COMET_RUN_REPORT_H
#define COMET_RUN_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "manifest/error.h"
#include "manifest/manifest.h"
#include "manifest/policy.h"
#include "user/capture.h"
#include "user/run_options.h"
#include "user/scope.h"
#include "user/sink.h"
#include "user/voice.h"

/* Violations that the --json result holds; the rest is counted only. */
#define COMET_RUN_REPORT_AUDIT_MAX 10000

struct comet_run_report {
	struct comet_scope_run run;
	struct comet_sink *sink; /* NULL: no events */
	struct comet_voice voice;
	bool human; /* a line for each violation on standard error */
	bool colour;
	bool quiet;
	bool json;
	bool started;
	json_t *errors, *audit; /* for --json */
	bool audit_truncated;
};

/* How the run ended, for the --json result. */
struct comet_run_report_result {
	const struct comet_scope_end *end;
	const struct comet_capture *capture; /* NULL: nothing was captured */
	uint64_t cpu_usec;
};

/* What can be told before there is a manifest. */
int comet_run_report_init(struct comet_run_report *report, const struct comet_run_options *options,
			  struct comet_error *error);
/* Opens the sink and makes the run's id. manifest and policy must live as long as report. */
int comet_run_report_open(struct comet_run_report *report, const struct comet_run_options *options,
			  const struct comet_manifest *manifest, const struct comet_policy *policy,
			  struct comet_error *error);
/* Frees all, and tells when not every event has gone out. */
void comet_run_report_close(struct comet_run_report *report);

/* A comet_warn_fn; context is the report. */
void comet_run_report_warn(void *context, const struct comet_location *location, const char *text);
/* Always on standard error, with --json in the result too. */
void comet_run_report_error(struct comet_run_report *report, const char *text);

void comet_run_report_started(struct comet_run_report *report, char *const argv[], uint32_t pid,
			      const char *cgroup);
void comet_run_report_violation(struct comet_run_report *report,
				const struct comet_violation *violation);
/* run_completed, and for people a line about what was counted. */
void comet_run_report_completed(struct comet_run_report *report, const struct comet_scope_end *end);

/* Prints the --json result on standard output; does nothing without --json. */
void comet_run_report_print_result(struct comet_run_report *report,
				   const struct comet_run_report_result *result);

#endif /* COMET_RUN_REPORT_H */
