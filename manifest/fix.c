// SPDX-License-Identifier: Apache-2.0
/* What must be added to a manifest so that a refused access is allowed? */
#include "manifest/fix.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "manifest/address.h"
#include "manifest/port.h"
#include "manifest/target.h"

#define HTTPS_PORT 443

/* Where the dialect keeps what; NULL where it has no place for it. */
struct words {
	const char *egress;
	const char *protocol;
	const char *fs; /* a map around read and write, NULL when they stand alone */
	const char *read;
	const char *write;
	const char *exec;
	const char *protocols[_COMET_PROTOCOL_MAX]; /* its word for the same transport */
};

static const struct words words[] = {
	[COMET_DIALECT_SEED] = {
		.egress = "egress",
		.protocol = "protocol",
		.fs = "fs",
		.read = "read",
		.write = "write",
		.protocols = { NULL, "http", "https", "grpc", "tcp", "quic", "udp" },
	},
	[COMET_DIALECT_SPEC] = {
		.egress = "network.out",
		.protocol = "proto",
		.read = "fs.read",
		.write = "fs.write",
		.exec = "exec",
		.protocols = { NULL, "http", "https", "tcp", "tcp", "udp", "udp" },
	},
	[COMET_DIALECT_GO] = {
		.egress = "network_out",
		.protocol = "proto",
		.read = "fs_read",
		.write = "fs_write",
		.exec = "exec",
		.protocols = { NULL, "http", "https", "grpc", "http", "quic", "quic" },
	},
};
_Static_assert(sizeof(words) / sizeof(words[0]) == _COMET_DIALECT_MAX, "words for every dialect");

/* The text so far; once something went wrong the rest is not written. */
struct output {
	char *text;
	size_t size;
	size_t used;
	int error;
};

static void put_bytes(struct output *out, const char *bytes, size_t len)
{
	if (out->error)
		return;
	if (len >= out->size - out->used) {
		out->error = -ENOBUFS;
		return;
	}
	memcpy(out->text + out->used, bytes, len);
	out->used += len;
	out->text[out->used] = '\0';
}

static void put(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct output *out, const char *format, ...)
{
	char line[128];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	put_bytes(out, line, (size_t)n);
}

/* Reads one UTF-8 character; 0 bytes for what is none. */
static size_t decode(const unsigned char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = text[0] < 0x80   ? 1
		     : text[0] < 0xc2 ? 0
		     : text[0] < 0xe0 ? 2
		     : text[0] < 0xf0 ? 3
		     : text[0] < 0xf5 ? 4
				      : 0;
	uint32_t value;

	if (len <= 1) {
		*code = text[0];
		return len;
	}
	value = text[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (value < least[len] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*code = value;
	return len;
}

/* Characters that a reader or a YAML parser may not see as they are. */
static bool must_escape(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0xa0) || code == 0xad ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xfff0 && code <= 0xffff) || (code >= 0xe0000 && code <= 0xe0fff);
}

static void put_quoted(struct output *out, const char *text)
{
	put_bytes(out, "\"", 1);
	while (*text) {
		uint32_t code;
		size_t len = decode((const unsigned char *)text, &code);

		if (len == 0) {
			out->error = -EILSEQ;
			return;
		}
		if (code == '"' || code == '\\')
			put(out, "\\%c", (char)code);
		else if (!must_escape(code))
			put_bytes(out, text, len);
		else if (code < 0x100)
			put(out, "\\x%02x", code);
		else if (code < 0x10000)
			put(out, "\\u%04x", code);
		else
			put(out, "\\U%08x", code);
		text += len;
	}
	put_bytes(out, "\"", 1);
}

/* Text that YAML 1.1 and 1.2 both read as that very text needs no quotes. */
static bool is_plain(const char *text)
{
	static const char *const reserved[] = { "y",   "n",    "yes",   "no",  "on",
						"off", "true", "false", "null" };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";

	if (text[0] != '/' && !strchr(letters, text[0]))
		return false;
	if (text[strspn(text, safe)] != '\0')
		return false;
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strcasecmp(text, reserved[i]) == 0)
			return false;
	return true;
}

static void put_scalar(struct output *out, const char *text)
{
	if (text[0] != '\0' && is_plain(text))
		put_bytes(out, text, strlen(text));
	else
		put_quoted(out, text);
}

static const char *protocol_word(const struct words *dialect, const struct comet_target *target)
{
	if (target->protocol == COMET_PROTOCOL_TCP && target->port == HTTPS_PORT)
		return dialect->protocols[COMET_PROTOCOL_HTTPS];
	return dialect->protocols[target->protocol];
}

static void put_egress(struct output *out, const struct words *dialect,
		       const struct comet_target *target)
{
	put(out, "capabilities:\n  %s:\n    - host: ", dialect->egress);
	put_scalar(out, target->host);
	put(out, "\n      port: %u\n      %s: %s", target->port, dialect->protocol,
	    protocol_word(dialect, target));
}

/* The socket's address plays no part: "0.0.0.0:8080/tcp" is fixed as "8080/tcp" is. */
static int put_serve(struct output *out, const char *resource)
{
	struct comet_target target;
	struct comet_port port;

	if (comet_target_parse(resource, &target, NULL) == 0) {
		port.number = target.port;
		port.transport = (uint8_t)comet_protocol_transport(target.protocol);
	} else if (comet_port_parse(resource, strlen(resource), &port) < 0 || port.number == 0) {
		return -EINVAL;
	}
	put(out, "capabilities:\n  serve:\n    - %u%s", port.number,
	    port.transport == IPPROTO_UDP ? "/udp" : "");
	return 0;
}

static void put_item(struct output *out, const char *map, const char *key, const char *text)
{
	put(out, "capabilities:\n");
	if (map)
		put(out, "  %s:\n    %s:\n      - ", map, key);
	else
		put(out, "  %s:\n    - ", key);
	put_scalar(out, text);
}

/* A name without port, as a refused look-up has it: nearly always meant for HTTPS. */
static int put_name(struct output *out, const struct words *dialect, const char *name)
{
	struct comet_target target = { .port = HTTPS_PORT, .protocol = COMET_PROTOCOL_HTTPS };
	size_t len = strlen(name);

	if (len > 1 && name[len - 1] == '.')
		len--;
	if (len == 0 || len >= sizeof(target.host))
		return -EINVAL;
	memcpy(target.host, name, len);
	put_egress(out, dialect, &target);
	return 0;
}

/* Only one link-local address can be declared behind an interface; others are so without. */
static void drop_zone(char *host)
{
	char *zone = strchr(host, '%');
	struct comet_prefix prefix;

	if (zone && comet_address_parse(host, &prefix, NULL) < 0)
		*zone = '\0';
}

/* Upstream compares base names, and finds by them what stands where programs do. */
static const char *program_word(const char *path)
{
	static const char *const places[] = { "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/",
					      "/usr/local/bin/" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t len = strlen(places[i]);

		if (strncmp(path, places[i], len) == 0 && path[len] && !strchr(path + len, '/'))
			return path + len;
	}
	return path;
}

static int put_fix(struct output *out, const struct words *dialect, enum comet_surface surface,
		   const char *resource)
{
	struct comet_target target;
	int r;

	switch (surface) {
	case COMET_SURFACE_EGRESS:
		r = comet_target_parse(resource, &target, NULL);
		if (r == 0)
			drop_zone(target.host);
		if (r == 0)
			put_egress(out, dialect, &target);
		return r;
	case COMET_SURFACE_DNS:
		return put_name(out, dialect, resource);
	case COMET_SURFACE_FS_READ:
	case COMET_SURFACE_FS_WRITE:
	case COMET_SURFACE_IPC:
		if (resource[0] != '/')
			return -EINVAL;
		put_item(out, dialect->fs,
			 surface == COMET_SURFACE_FS_READ ? dialect->read : dialect->write,
			 resource);
		return 0;
	case COMET_SURFACE_EXEC:
		if (resource[0] == '\0')
			return -EINVAL;
		put_item(out, NULL, dialect->exec, program_word(resource));
		return 0;
	case COMET_SURFACE_SERVE:
		return put_serve(out, resource);
	case COMET_SURFACE_TIME:
	case COMET_SURFACE_KERNEL:
	case _COMET_SURFACE_MAX:
		break;
	}
	return -EOPNOTSUPP;
}

const char *comet_explain_unfixable(enum comet_dialect dialect, enum comet_surface surface)
{
	switch (surface) {
	case COMET_SURFACE_EGRESS:
	case COMET_SURFACE_DNS:
	case COMET_SURFACE_FS_READ:
	case COMET_SURFACE_FS_WRITE:
	case COMET_SURFACE_IPC:
	case COMET_SURFACE_SERVE:
		return NULL;
	case COMET_SURFACE_EXEC:
		if ((unsigned int)dialect < _COMET_DIALECT_MAX && words[dialect].exec)
			return NULL;
		return "this dialect has no entry for programs: only the program that comet run starts is allowed (a soyapack.v0 manifest can list others under exec)";
	case COMET_SURFACE_TIME:
		return "no manifest can grant setting the clock";
	case COMET_SURFACE_KERNEL:
	case _COMET_SURFACE_MAX:
		break;
	}
	return "no manifest can grant this: it would let a process out of its policy";
}

int comet_explain_fix(enum comet_dialect dialect, enum comet_surface surface, const char *resource,
		      char *buffer, size_t size)
{
	struct output out = { .text = buffer, .size = size };
	int r = -EOPNOTSUPP;

	if (size == 0)
		return -ENOBUFS;
	buffer[0] = '\0';
	if ((unsigned int)dialect < _COMET_DIALECT_MAX &&
	    !comet_explain_unfixable(dialect, surface))
		r = put_fix(&out, &words[dialect], surface, resource);
	if (r == 0)
		r = out.error;
	if (r < 0)
		buffer[0] = '\0';
	return r;
}
