// SPDX-License-Identifier: Apache-2.0
/* Can this entry be enforced exactly? Then it goes into the manifest; else it is refused. */
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"
#include "manifest/address.h"
#include "manifest/grant.h"
#include "manifest/path.h"

#define HOST_MAX 253

int comet_grant_check_count(struct comet_report *report, const struct comet_node *list,
			    size_t count, bool *fits)
{
	*fits = count <= COMET_POLICY_RULES_MAX;
	if (*fits)
		return 0;
	return comet_report_refuse(report, list, "expected at most %d entries, found %zu",
				   COMET_POLICY_RULES_MAX, count);
}

int comet_grant_check_whole(struct comet_report *report, const struct comet_node *word, bool *whole)
{
	char found[120];

	*whole = !word || !word->cut;
	if (*whole)
		return 0;
	return comet_report_refuse(
		report, word,
		"expected a newline after the last line, found the end of the file in %s (it may be cut off)",
		comet_node_describe(word, found, sizeof(found)));
}

/* The array, with room for one element more; it grows by doubling. NULL without memory. */
static void *grow(struct comet_arena *arena, void *array, size_t count, size_t size)
{
	void *bigger;

	if ((count & (count - 1)) != 0)
		return array;
	bigger = comet_arena_array(arena, count ? count * 2 : 1, size);
	if (bigger && count)
		memcpy(bigger, array, count * size);
	return bigger;
}

/* The commonest mistakes get a hint of their own; NULL = none of them. */
static const char *host_hint(const char *host)
{
	const char *colon = strchr(host, ':');
	const char *last = strrchr(host, '.');

	if (strstr(host, "://"))
		return "write the host alone: the scheme belongs in the protocol field";
	if (strpbrk(host, " \t\r\n"))
		return "a host has no spaces";
	if (colon && !strchr(colon + 1, ':'))
		return "write the host alone: the port belongs in the port field";
	last = last ? last + 1 : host;
	if (!strpbrk(host, ":/*%[]") && *last && !last[strspn(last, "0123456789")])
		return "programs read numbers like this as an IPv4 address: write four decimal numbers, or a name";
	if (!strpbrk(host, ":/*%[]") && strncmp(last, "0x", 2) == 0)
		return "programs read numbers like this as an IPv4 address: write four decimal numbers, or a name";
	return NULL;
}

/* *reason is set when the host cannot be used; normal has HOST_MAX + 2 bytes. */
static void normalise_host(const char *host, size_t size, char *normal, const char **reason,
			   struct comet_error *scratch)
{
	struct comet_prefix prefix;
	enum comet_host kind;
	bool zone = false; /* an interface's name: its case counts */

	*reason = NULL;
	if (size > HOST_MAX + 1) {
		*reason = "a host has at most 253 bytes";
		return;
	}
	if (memchr(host, '\0', size)) {
		*reason = "a host has no NUL";
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)host[i] >= 0x80) {
			*reason =
				"write an international name in its ASCII form, which starts with xn--";
			return;
		}
		normal[i] = zone ? host[i] : (char)tolower((unsigned char)host[i]);
		zone |= host[i] == '%';
	}
	if (size > 1 && normal[size - 1] == '.' && normal[size - 2] != '.')
		size--;
	normal[size] = '\0';
	if (comet_host_parse(normal, &kind, &prefix, scratch) == 0)
		return;
	*reason = host_hint(normal);
	if (!*reason)
		*reason = scratch->text;
}

int comet_grant_egress(struct comet_report *report, const struct comet_node *node, const char *host,
		       size_t size, unsigned int port, enum comet_protocol protocol)
{
	struct comet_manifest *manifest = report->manifest;
	struct comet_egress *egress;
	struct comet_error scratch;
	char normal[HOST_MAX + 2];
	const char *reason;
	char quoted[120];

	normalise_host(host, size, normal, &reason, &scratch);
	if (reason)
		return comet_report_refuse(
			report, node,
			"expected a host name, an address or a range, found \"%s\" (%s)",
			comet_quote(host, size, quoted, sizeof(quoted)), reason);
	egress = grow(report->arena, manifest->egress, manifest->n_egress, sizeof(*egress));
	if (!egress)
		return comet_report_no_memory(report);
	manifest->egress = egress;
	egress += manifest->n_egress;
	egress->host = comet_arena_copy(report->arena, normal, strlen(normal));
	if (!egress->host)
		return comet_report_no_memory(report);
	egress->port = port;
	egress->protocol = protocol;
	egress->location = comet_report_locate(report, node);
	manifest->n_egress++;
	return 0;
}

/* Why the text is no path that can be granted; NULL when it is one. */
static const char *path_fault(const char *text, size_t size)
{
	size_t start = 0;

	if (size == 0)
		return "write an absolute path";
	if (memchr(text, '\0', size))
		return "a path has no NUL";
	if (text[0] == '~' || text[0] == '$' || text[0] == '%')
		return "nothing is expanded in a manifest: write the absolute path";
	if (text[0] != '/')
		return "write an absolute path, one that starts with \"/\"";
	if (size >= COMET_PATH_MAX)
		return "a path has at most 4095 bytes";
	for (size_t i = 0; i <= size; i++) {
		size_t length = i - start;

		if (i < size && text[i] != '/')
			continue;
		if (length == 2 && text[start] == '.' && text[start + 1] == '.')
			return "write the path without \"..\", which symbolic links can turn elsewhere";
		if (length > COMET_NAME_MAX)
			return "a name in a path has at most 255 bytes";
		start = i + 1;
	}
	return NULL;
}

/* *clean is freed by the caller; it stays NULL when the path was refused. */
static int clean_path(struct comet_report *report, const struct comet_node *node, const char *text,
		      size_t size, char **clean)
{
	const char *fault = path_fault(text, size);
	char quoted[120];

	*clean = NULL;
	if (fault)
		return comet_report_refuse(report, node,
					   "expected an absolute path, found \"%s\" (%s)",
					   comet_quote(text, size, quoted, sizeof(quoted)), fault);
	*clean = comet_path_clean(text);
	return *clean ? 0 : comet_report_no_memory(report);
}

static int add_entry(struct comet_report *report, const struct comet_node *node, const char *text,
		     struct comet_entry **entries, size_t *count)
{
	struct comet_entry *entry = grow(report->arena, *entries, *count, sizeof(*entry));

	if (!entry)
		return comet_report_no_memory(report);
	*entries = entry;
	entry += *count;
	entry->text = comet_arena_copy(report->arena, text, strlen(text));
	if (!entry->text)
		return comet_report_no_memory(report);
	entry->location = comet_report_locate(report, node);
	(*count)++;
	return 0;
}

/* What is right by the letter, and hardly what was meant. */
static int warn_of_path(struct comet_report *report, const struct comet_node *node,
			const char *path)
{
	char quoted[120];

	if (strcmp(path, "/") == 0)
		return comet_report_warn(
			report, node,
			"\"/\" grants every file there is (name the directories that are needed)");
	if (strpbrk(path, "*?["))
		return comet_report_warn(
			report, node,
			"\"%s\" is taken letter by letter: there are no patterns in paths, and a directory covers what is below it",
			comet_quote(path, strlen(path), quoted, sizeof(quoted)));
	return 0;
}

static int grant_path(struct comet_report *report, const struct comet_node *node, const char *text,
		      size_t size, struct comet_entry **entries, size_t *count)
{
	char *clean;
	int r;

	r = clean_path(report, node, text, size, &clean);
	if (r < 0 || !clean)
		return r;
	r = add_entry(report, node, clean, entries, count);
	if (r == 0)
		r = warn_of_path(report, node, clean);
	free(clean);
	return r;
}

int comet_grant_read(struct comet_report *report, const struct comet_node *node, const char *text,
		     size_t size)
{
	return grant_path(report, node, text, size, &report->manifest->fs_read,
			  &report->manifest->n_fs_read);
}

int comet_grant_write(struct comet_report *report, const struct comet_node *node, const char *text,
		      size_t size)
{
	return grant_path(report, node, text, size, &report->manifest->fs_write,
			  &report->manifest->n_fs_write);
}

/* A base name, or an absolute path, which upstream never matches. */
int comet_grant_exec(struct comet_report *report, const struct comet_node *node, const char *text,
		     size_t size)
{
	struct comet_manifest *manifest = report->manifest;
	char quoted[120];
	char *clean;
	int r;

	if (size > 1 && text[0] == '/') {
		r = clean_path(report, node, text, size, &clean);
		if (r < 0 || !clean)
			return r;
		r = add_entry(report, node, clean, &manifest->exec, &manifest->n_exec);
		free(clean);
		if (r < 0)
			return r;
		return comet_report_warn(
			report, node,
			"upstream compares only base names, so it never allows an entry with a slash");
	}
	comet_quote(text, size, quoted, sizeof(quoted));
	if (size == 0 || size > COMET_NAME_MAX || memchr(text, '\0', size) ||
	    memchr(text, '/', size) || comet_bytes_are(text, size, ".") ||
	    comet_bytes_are(text, size, ".."))
		return comet_report_refuse(
			report, node,
			"expected the name of a program or an absolute path, found \"%s\"", quoted);
	return add_entry(report, node, text, &manifest->exec, &manifest->n_exec);
}

int comet_grant_serve(struct comet_report *report, const struct comet_node *node,
		      const struct comet_port *port)
{
	struct comet_manifest *manifest = report->manifest;
	struct comet_serve *serve;

	serve = grow(report->arena, manifest->serve, manifest->n_serve, sizeof(*serve));
	if (!serve)
		return comet_report_no_memory(report);
	manifest->serve = serve;
	serve += manifest->n_serve++;
	serve->port = *port;
	serve->location = comet_report_locate(report, node);
	if (port->number != 0)
		return 0;
	return comet_report_warn(
		report, node,
		"\"*\" lets the agent listen on every %s port (name the ports that are needed)",
		port->transport == IPPROTO_UDP ? "UDP" : "TCP");
}
