/* SPDX-License-Identifier: Apache-2.0 */
/* What does a pack declare? Text in, a located description out; no privilege, no BPF call. */
#ifndef COMET_MANIFEST_H
#define COMET_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "manifest/error.h"
#include "manifest/port.h"

/* Where something stands. file is owned by the manifest; line and column count from 1, 0 = none. */
struct comet_location {
	const char *file;
	unsigned int line;
	unsigned int column;
};

enum comet_dialect {
	COMET_DIALECT_SEED, /* apiVersion: soyaos.ai/v0; egress, fs.read, fs.write */
	COMET_DIALECT_SPEC, /* spec_version: soyapack.v0; network.out, fs.read, fs.write */
	COMET_DIALECT_GO,   /* spec_version: soyapack.v0; network_out, fs_read, fs_write, exec */
	_COMET_DIALECT_MAX,
};

enum comet_isolation {
	COMET_ISOLATION_UNSET,
	COMET_ISOLATION_PROCESS,
	COMET_ISOLATION_CONTAINER,
	COMET_ISOLATION_MICROVM,
	_COMET_ISOLATION_MAX,
};

enum comet_protocol {
	COMET_PROTOCOL_ANY, /* only for the seed's `egress: ["*"]` */
	COMET_PROTOCOL_HTTP,
	COMET_PROTOCOL_HTTPS,
	COMET_PROTOCOL_GRPC,
	COMET_PROTOCOL_TCP,
	COMET_PROTOCOL_QUIC,
	COMET_PROTOCOL_UDP,
	_COMET_PROTOCOL_MAX,
};

const char *comet_dialect_to_str(enum comet_dialect dialect);
const char *comet_isolation_to_str(enum comet_isolation isolation);
const char *comet_protocol_to_str(enum comet_protocol protocol);
/* Returns 0, or -EINVAL for a word that is none of them (exact case). */
int comet_protocol_from_str(const char *text, enum comet_protocol *protocol);
/* IPPROTO_TCP or IPPROTO_UDP; 0 for COMET_PROTOCOL_ANY (both). */
int comet_protocol_transport(enum comet_protocol protocol);

/* One egress entry as written; host is lower-cased and without a trailing dot. */
struct comet_egress {
	char *host;        /* name, "*", "*.suffix", IPv4, IPv6 (no brackets) or CIDR */
	unsigned int port; /* 1..65535; 0 = every port, only for `egress: ["*"]` */
	enum comet_protocol protocol;
	struct comet_location location;
};

/* One port that may be listened on. */
struct comet_serve {
	struct comet_port port;
	struct comet_location location;
};

/* One path or program as written (paths lexically normalised). */
struct comet_entry {
	char *text;
	struct comet_location location;
};

struct comet_warning {
	char *text; /* one sentence, without location */
	struct comet_location location;
};

struct comet_manifest {
	char *file;      /* path of the manifest file */
	char *directory; /* path of the pack's directory */
	char *name, *version, *kind;
	const char *schema; /* "soyaos.ai/v0" or "soyapack.v0" */
	char digest[65];    /* SHA-256 of the manifest's bytes (then capabilities.yml's, where
			     * it is read), lower-case hex */
	enum comet_dialect dialect;  /* the words of the capabilities block */
	struct comet_location block; /* that block, line 0 where there is none */
	enum comet_isolation isolation;
	char *determinism_tier; /* NULL when absent */
	unsigned int
		budget_seconds; /* sandbox.budget_seconds_max, else resources.timeout_s; 0 = none */

	struct comet_egress *egress;
	size_t n_egress;
	struct comet_entry *fs_read, *fs_write, *exec;
	size_t n_fs_read, n_fs_write, n_exec;
	struct comet_serve *serve;
	size_t n_serve;

	struct comet_warning *warnings;
	size_t n_warnings;
	/*
	 * Upstream accepts the manifest, but part of it cannot be enforced exactly: the first such
	 * sentence, with its place; NULL = none. Whoever runs or explains it must refuse with it.
	 */
	char *unenforceable;
	void *storage; /* owns what the pointers above point to, where they do not */
};

/*
 * Reads and validates the pack at path (a directory with soyapack.yaml, or a manifest file).
 * strict turns warnings into errors. On success *manifest is the caller's, to be freed with
 * comet_manifest_free(). A valid manifest that must not run has `unenforceable` set (with strict
 * that is an error too). On failure *manifest is unchanged, the result is a negative errno
 * (-EINVAL for a manifest that does not validate) and error holds one sentence that starts with
 * file:line:column where there is a place.
 */
int comet_manifest_load(const char *path, bool strict, struct comet_manifest **manifest,
			struct comet_error *error);

/* The same from memory, for tests and fuzzing; name stands for the file in messages. */
int comet_manifest_parse(const char *name, const void *bytes, size_t size, bool strict,
			 struct comet_manifest **manifest, struct comet_error *error);

/* NULL is fine. */
void comet_manifest_free(struct comet_manifest *manifest);

#endif /* COMET_MANIFEST_H */
