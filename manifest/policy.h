/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does a manifest grant, rule by rule? A manifest compiled to the entries that the enforcer
 * puts into the maps: paths still as text (only the enforcer can ask the kernel for the objects),
 * network rules as prefixes, each rule with the manifest line that gives it.
 */
#ifndef COMET_POLICY_H
#define COMET_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "manifest/manifest.h"

enum comet_source {
	COMET_SOURCE_MANIFEST,
	COMET_SOURCE_BASE,   /* the base set: what any program needs */
	COMET_SOURCE_QUIET,  /* the quiet set: probing is not misuse */
	COMET_SOURCE_CANARY, /* never quiet */
	COMET_SOURCE_RUN,    /* given by the command line: the program to start, --workdir, ... */
	_COMET_SOURCE_MAX,
};
const char *comet_source_to_str(enum comet_source source);

struct comet_path_rule {
	char *path;      /* absolute, lexically normalised */
	uint32_t access; /* COMET_FS_* granted (READ, WRITE, EXEC) or marked (QUIET, CANARY) */
	bool self_only;  /* the object alone, not what is below it */
	bool optional;   /* base, quiet and canary rules: not being there is no warning */
	bool proc;       /* the run's own procfs: COMET_OBJECT_PROC */
	enum comet_source source;
	struct comet_location location;
};

enum comet_host {
	COMET_HOST_LITERAL, /* address or CIDR */
	COMET_HOST_NAME,    /* one name, to be resolved */
	COMET_HOST_SUFFIX,  /* *.suffix */
	COMET_HOST_ANY,     /* * */
	_COMET_HOST_MAX,
};

/* The name of a network interface, with its NUL: IFNAMSIZ. */
#define COMET_ZONE_SIZE 16

struct comet_net_rule {
	char *host; /* as written */
	enum comet_host kind;
	uint8_t addr[16];           /* LITERAL, ANY: IPv4 as ::ffff:a.b.c.d */
	uint8_t bits;               /* LITERAL, ANY: prefix length in that 128-bit form */
	char zone[COMET_ZONE_SIZE]; /* LITERAL: the interface; empty: any */
	uint8_t transport;          /* IPPROTO_TCP, IPPROTO_UDP */
	uint16_t port;              /* host byte order; 0 = every port */
	uint32_t verdict; /* enum comet_net_verdict; DENY for special ranges under a wildcard */
	enum comet_source source;
	struct comet_location location;
};

struct comet_prefix;

struct comet_exec_rule {
	char *program; /* basename or absolute path, as written */
	enum comet_source source;
	struct comet_location location;
};

struct comet_serve_rule {
	char *text; /* "8080/tcp"; "*" stands for every port */
	struct comet_port port;
	enum comet_source source;
	struct comet_location location;
};

struct comet_policy {
	char *pack; /* "name@version" */
	struct comet_path_rule *paths;
	size_t n_paths;
	struct comet_net_rule *nets;
	size_t n_nets;
	struct comet_exec_rule *execs;
	size_t n_execs;
	struct comet_serve_rule *serves;
	size_t n_serves;
};

/*
 * What depends on who runs the pack. home NULL = no home. Everything may be left zero for
 * `explain` without a run.
 */
struct comet_policy_options {
	const char *home;    /* the agent's home directory: quiet set, canaries */
	const char *workdir; /* where --workdir is mounted, "/workdir"; NULL = as in the manifest */
	const char *const
		*nameservers; /* literal addresses of the host's name servers, NULL-terminated */
};

/*
 * Compiles manifest to a policy: manifest grants, base set, quiet set, canaries. Checks the limits
 * of bpf/wire.h; the message names the limit. The policy is independent of the manifest's
 * lifetime except for location.file, which the manifest owns. Negative errno on failure.
 */
int comet_policy_compile(const struct comet_manifest *manifest,
			 const struct comet_policy_options *options, struct comet_policy **policy,
			 struct comet_error *error);

/* Append one rule (copied). -E2BIG over COMET_POLICY_RULES_MAX, -ENOMEM. */
int comet_policy_add_path(struct comet_policy *policy, const struct comet_path_rule *rule,
			  struct comet_error *error);
int comet_policy_add_net(struct comet_policy *policy, const struct comet_net_rule *rule,
			 struct comet_error *error);
int comet_policy_add_exec(struct comet_policy *policy, const struct comet_exec_rule *rule,
			  struct comet_error *error);
/* text is made from the port; that of rule is not looked at. */
int comet_policy_add_serve(struct comet_policy *policy, const struct comet_serve_rule *rule,
			   struct comet_error *error);

/*
 * The kernel's verdict on one address, as it stands in the rules: the longest prefix of the exact
 * port and, where that does not allow, the longest prefix of port 0. Returns the rule that
 * decides (its verdict says what), NULL when there is none: refused. Names are not asked.
 */
const struct comet_net_rule *comet_policy_net_lookup(const struct comet_policy *policy,
						     uint8_t transport, uint16_t port,
						     const struct comet_prefix *address);

/* The rule that lets that port be listened on: its own, else that of every port; NULL: refused. */
const struct comet_serve_rule *comet_policy_serve_lookup(const struct comet_policy *policy,
							 const struct comet_port *port);

/* NULL is fine. */
void comet_policy_free(struct comet_policy *policy);

#endif /* COMET_POLICY_H */
