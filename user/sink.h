/* SPDX-License-Identifier: Apache-2.0 */
/* Where do events go? `--events FILE|fd:N|unix:PATH|-`. */
#ifndef COMET_SINK_H
#define COMET_SINK_H

#include <stdint.h>

#include "manifest/error.h"

/*
 * Lines are queued and written as the other end takes them; writing never blocks. A line that
 * finds the queue full waits for room. All waits together are bounded by the patience, which is
 * restored when the queue runs empty; after that, lines that find no room are counted as lost at
 * once. So a reader that stalls costs a run one second and then events, never the run.
 */
#define COMET_SINK_QUEUE (1U << 20) /* bytes */
#define COMET_SINK_PATIENCE_MS 1000

struct comet_sink;

/*
 * "-" is standard error. A file is appended to (0600 when made). The run must not start without
 * its sink.
 */
int comet_sink_open(const char *spec, struct comet_sink **sink, struct comet_error *error);
/* One line; the newline is added. Whole lines or nothing. 0 or negative errno (kept for close). */
int comet_sink_write(struct comet_sink *sink, const char *line);
/*
 * Waits at most the patience until all lines are out, drops what is left, and returns how many
 * lines were lost in all. Comes before close where the number matters. NULL is fine.
 */
uint64_t comet_sink_flush(struct comet_sink *sink);
/* Flushes. The first write error, if any, else 0. NULL is fine. */
int comet_sink_close(struct comet_sink *sink);

#endif /* COMET_SINK_H */
