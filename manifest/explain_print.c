// SPDX-License-Identifier: Apache-2.0
/* How does a reader see what a policy grants? */
#define _GNU_SOURCE 1

#include "manifest/explain.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest/address.h"
#include "manifest/base.h"
#include "manifest/util.h"

#define WIDTH_MAX 52
#define QUOTE_SIZE 1000

struct printer {
	FILE *out;
	const struct comet_manifest *manifest;
	const struct comet_policy *policy;
	bool colour;
	int width; /* of the column before the locations */
};

static void heading(const struct printer *p, const char *name, const char *meaning)
{
	fprintf(p->out, "\n%s%s%s: %s\n", p->colour ? "\033[1m" : "", name,
		p->colour ? "\033[0m" : "", meaning);
}

static const char *quote(const char *text, char *buffer)
{
	return comet_quote(text, strlen(text), buffer, QUOTE_SIZE);
}

static void print_location(const struct printer *p, const struct comet_location *location)
{
	char buffer[QUOTE_SIZE];

	if (!location->file)
		return;
	fprintf(p->out, "%s%s", p->colour ? "\033[2m" : "", quote(location->file, buffer));
	if (location->line != 0)
		fprintf(p->out, ":%u:%u", location->line, location->column);
	fputs(p->colour ? "\033[0m" : "", p->out);
}

static void print_grant(const struct printer *p, const char *text,
			const struct comet_location *location, const char *remark)
{
	char buffer[QUOTE_SIZE];

	fprintf(p->out, "  %-*s  ", p->width, quote(text, buffer));
	print_location(p, location);
	fprintf(p->out, "%s%s\n", remark ? "  " : "", remark ? remark : "");
}

/* What an entry does not grant although it may look so. */
static const char *remark_on(const struct comet_egress *egress)
{
	if (strcmp(egress->host, "*") == 0)
		return "public addresses only";
	if (strncmp(egress->host, "*.", 2) == 0)
		return "nothing yet: names are looked up when a run starts, patterns cannot be";
	if (strcmp(egress->host, "0.0.0.0") == 0 || strcmp(egress->host, "::") == 0)
		return "the local host, by this address only";
	return NULL;
}

/* "host:port/protocol" as the questions have it. */
static void format_egress(const struct comet_egress *egress, char *text, size_t size)
{
	bool brackets = strchr(egress->host, ':');
	char port[16] = "*";

	if (egress->port != 0)
		snprintf(port, sizeof(port), "%u", egress->port);
	snprintf(text, size, "%s%s%s:%s/%s", brackets ? "[" : "", egress->host, brackets ? "]" : "",
		 port,
		 egress->protocol == COMET_PROTOCOL_ANY ? "*"
							: comet_protocol_to_str(egress->protocol));
}

static void widen(struct printer *p, const char *text)
{
	int len = (int)strnlen(text, WIDTH_MAX);

	if (len > p->width)
		p->width = len;
}

static void measure(struct printer *p)
{
	const struct comet_manifest *m = p->manifest;
	char text[QUOTE_SIZE];

	for (size_t i = 0; i < m->n_egress; i++) {
		format_egress(&m->egress[i], text, sizeof(text));
		widen(p, text);
	}
	for (size_t i = 0; i < m->n_fs_read; i++)
		widen(p, m->fs_read[i].text);
	for (size_t i = 0; i < m->n_fs_write; i++)
		widen(p, m->fs_write[i].text);
	for (size_t i = 0; i < m->n_exec; i++)
		widen(p, m->exec[i].text);
	for (size_t i = 0; i < m->n_serve; i++)
		widen(p, comet_port_format(&m->serve[i].port, text));
}

static void print_nothing(const struct printer *p, size_t n)
{
	if (n == 0)
		fputs("  nothing declared\n", p->out);
}

static void print_entries(const struct printer *p, const struct comet_entry *entries, size_t n)
{
	print_nothing(p, n);
	for (size_t i = 0; i < n; i++)
		print_grant(p, entries[i].text, &entries[i].location, NULL);
}

static void print_declared(const struct printer *p)
{
	const struct comet_manifest *m = p->manifest;
	char text[QUOTE_SIZE];

	heading(p, "egress",
		"hosts it may reach; http, https, grpc and tcp are TCP, quic and udp are UDP");
	print_nothing(p, m->n_egress);
	for (size_t i = 0; i < m->n_egress; i++) {
		format_egress(&m->egress[i], text, sizeof(text));
		print_grant(p, text, &m->egress[i].location, remark_on(&m->egress[i]));
	}
	heading(p, "fs.read", "paths it may read, with all below them");
	print_entries(p, m->fs_read, m->n_fs_read);
	heading(p, "fs.write",
		"paths it may write, with all below them; writing does not imply reading");
	print_entries(p, m->fs_write, m->n_fs_write);
	heading(p, "exec", "programs it may start besides the one that comet run starts");
	print_entries(p, m->exec, m->n_exec);
	heading(p, "serve", "ports it may listen on");
	print_nothing(p, m->n_serve);
	for (size_t i = 0; i < m->n_serve; i++)
		print_grant(p, comet_port_format(&m->serve[i].port, text), &m->serve[i].location,
			    NULL);
}

static const char *access_str(uint32_t access)
{
	if (access & COMET_FS_WRITE)
		return access & COMET_FS_READ ? "read write" : "write";
	if (access & COMET_FS_READ)
		return "read";
	if (access & COMET_FS_EXEC)
		return "exec";
	if (access & COMET_FS_STAT)
		return "stat";
	return access & COMET_FS_CANARY ? "canary" : "quiet";
}

/* What the loader added: nothing for a policy that comes straight from the compiler. */
static void print_run(const struct printer *p)
{
	bool first = true;

	for (size_t i = 0; i < p->policy->n_paths; i++) {
		const struct comet_path_rule *rule = &p->policy->paths[i];
		char buffer[QUOTE_SIZE];

		if (rule->source != COMET_SOURCE_RUN)
			continue;
		if (first)
			heading(p, "run", "what the command line gives");
		first = false;
		fprintf(p->out, "  %-10s  %s\n", access_str(rule->access),
			quote(rule->path, buffer));
	}
}

static void print_wildcards(const struct printer *p)
{
	const struct comet_special *rows;
	bool found = false;
	size_t n;

	for (size_t i = 0; i < p->policy->n_nets; i++)
		found |= p->policy->nets[i].kind == COMET_HOST_ANY;
	if (!found)
		return;
	heading(p, "not behind *",
		"addresses that a wildcard does not reach unless an entry names them");
	rows = comet_special_table(&n);
	for (size_t i = 0; i < n; i++)
		fprintf(p->out, "  %-18s  %s\n", rows[i].text, rows[i].why);
}

static void print_nameservers(const struct printer *p)
{
	bool first = true;

	for (size_t i = 0; i < p->policy->n_nets; i++) {
		const struct comet_net_rule *rule = &p->policy->nets[i];

		if (rule->source != COMET_SOURCE_BASE || rule->transport != IPPROTO_UDP)
			continue;
		if (first)
			heading(p, "name servers", "base set, by UDP and TCP");
		first = false;
		fprintf(p->out, "  %s port %u\n", rule->host, rule->port);
	}
}

static const char *scope_str(const struct comet_base_entry *row)
{
	if (row->scope == COMET_BASE_TREE)
		return "";
	if (row->scope == COMET_BASE_PROC)
		return " (itself, and the run's processes below it)";
	return row->access == COMET_FS_STAT ? " (the link)" : " (itself)";
}

static void print_table(const struct printer *p, enum comet_source source, const char *name,
			const char *meaning)
{
	size_t n;
	const struct comet_base_entry *rows = comet_base_table(source, &n);
	const char *why = NULL;

	heading(p, name, meaning);
	for (size_t i = 0; i < n; i++) {
		if (!why || strcmp(why, rows[i].why) != 0)
			fprintf(p->out, "  %s\n", rows[i].why);
		why = rows[i].why;
		if (source == COMET_SOURCE_BASE)
			fprintf(p->out, "    %-10s  %s%s\n", access_str(rows[i].access),
				rows[i].path, scope_str(&rows[i]));
		else
			fprintf(p->out, "    %s%s\n", rows[i].path, scope_str(&rows[i]));
	}
}

void comet_explain_print(FILE *out, const struct comet_manifest *manifest,
			 const struct comet_policy *policy)
{
	struct printer p = {
		.out = out,
		.manifest = manifest,
		.policy = policy,
		.colour = comet_wants_colour(out),
		.width = 20,
	};
	char buffer[QUOTE_SIZE];

	measure(&p);
	fprintf(out, "%s%s%s", p.colour ? "\033[1m" : "", quote(policy->pack, buffer),
		p.colour ? "\033[0m" : "");
	fprintf(out, " · %s · ", manifest->kind);
	fprintf(out, "%s\n", quote(manifest->file, buffer));
	print_declared(&p);
	print_run(&p);
	print_wildcards(&p);
	print_nameservers(&p);
	print_table(&p, COMET_SOURCE_BASE, "base set",
		    "what every run gets, besides /workdir for reading");
	print_table(
		&p, COMET_SOURCE_QUIET, "quiet set",
		"not granted; a refused read is reported, but is no violation (the nearest mark counts)");
	print_table(&p, COMET_SOURCE_CANARY, "canaries",
		    "not granted; a refused read is always a violation (the nearest mark counts)");
}

static const char *source_phrase(enum comet_source source)
{
	if (source == COMET_SOURCE_BASE)
		return "base set";
	return source == COMET_SOURCE_RUN ? "command line" : "manifest";
}

static void print_fix(const struct printer *p, const struct comet_answer *answer)
{
	char buffer[QUOTE_SIZE];

	if (!answer->fix) {
		fprintf(p->out, "  %s\n", answer->unfixable);
		return;
	}
	if (p->manifest->block.line) {
		fputs("  to allow it, merge into the capabilities block, ", p->out);
		print_location(p, &p->manifest->block);
		fputs(":\n", p->out);
	} else {
		fprintf(p->out, "  to allow it, add to %s:\n", quote(p->manifest->file, buffer));
	}
	for (const char *line = answer->fix; *line;) {
		size_t len = strcspn(line, "\n");

		fprintf(p->out, "    %.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

void comet_answer_print(FILE *out, const struct comet_manifest *manifest,
			const struct comet_answer *answer)
{
	struct printer p = {
		.out = out,
		.manifest = manifest,
		.colour = comet_wants_colour(out),
	};
	const char *verdict = answer->allowed ? "allowed" : "not allowed";
	const char *colour = answer->allowed ? "\033[32m" : "\033[31m";
	char buffer[QUOTE_SIZE];

	fprintf(out, "%s%s%s: %s %s\n", p.colour ? colour : "", verdict, p.colour ? "\033[0m" : "",
		comet_explain_surface(answer->surface), quote(answer->resource, buffer));
	if (answer->matched && answer->location.file) {
		fprintf(out, "  by %s, ", quote(answer->matched, buffer));
		print_location(&p, &answer->location);
		fputc('\n', out);
	} else if (answer->matched) {
		fprintf(out, "  by %s, %s\n", quote(answer->matched, buffer),
			source_phrase(answer->source));
	} else {
		fputs("  no match\n", out);
	}
	if (answer->note)
		fprintf(out, "  %s\n", answer->note);
	if (!answer->allowed)
		print_fix(&p, answer);
}
