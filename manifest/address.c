// SPDX-License-Identifier: Apache-2.0
/* Which addresses does a text name? */
#include "manifest/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "manifest/util.h"

#define ADDRESS_BITS 128
#define IPV4_OFFSET 96
#define NAME_MAX_LEN 253
#define LABEL_MAX_LEN 63
#define QUOTE_SIZE 120

static const struct comet_prefix mapped = {
	.addr = { [10] = 0xff, [11] = 0xff },
	.bits = IPV4_OFFSET,
};

bool comet_prefix_contains(const struct comet_prefix *outer, const struct comet_prefix *inner)
{
	unsigned int bytes = outer->bits / 8;
	unsigned int rest = outer->bits % 8;
	uint8_t mask;

	if (outer->bits > inner->bits || (outer->zone[0] && strcmp(outer->zone, inner->zone) != 0))
		return false;
	if (memcmp(outer->addr, inner->addr, bytes) != 0)
		return false;
	if (rest == 0)
		return true;
	mask = (uint8_t)(0xff << (8 - rest));
	return (outer->addr[bytes] & mask) == (inner->addr[bytes] & mask);
}

bool comet_prefix_is_ipv4(const struct comet_prefix *prefix)
{
	return comet_prefix_contains(&mapped, prefix);
}

bool comet_prefix_names(const struct comet_prefix *outer, const struct comet_prefix *inner)
{
	if (comet_prefix_is_ipv4(outer) != comet_prefix_is_ipv4(inner))
		return false;
	return comet_prefix_contains(outer, inner);
}

/* Clears the bits after the prefix; true if one was set. */
static bool clear_host_bits(struct comet_prefix *prefix)
{
	bool found = false;

	for (unsigned int bit = prefix->bits; bit < ADDRESS_BITS; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> (bit % 8));

		if (prefix->addr[bit / 8] & mask)
			found = true;
		prefix->addr[bit / 8] &= (uint8_t)~mask;
	}
	return found;
}

const char *comet_prefix_format(const struct comet_prefix *prefix,
				char buffer[static COMET_PREFIX_STRLEN])
{
	bool ipv4 = comet_prefix_is_ipv4(prefix);
	unsigned int bits = ipv4 ? prefix->bits - IPV4_OFFSET : prefix->bits;
	unsigned int all = ipv4 ? 32 : ADDRESS_BITS;
	size_t len;

	/* 46 bytes hold every address, so that inet_ntop() cannot fail. */
	inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? prefix->addr + 12 : prefix->addr, buffer,
		  INET6_ADDRSTRLEN);
	len = strlen(buffer);
	if (prefix->zone[0])
		snprintf(buffer + len, COMET_PREFIX_STRLEN - len, "%%%s", prefix->zone);
	else if (bits != all)
		snprintf(buffer + len, COMET_PREFIX_STRLEN - len, "/%u", bits);
	return buffer;
}

/* The last label decides, as URL parsers do: "127.1" and "0x7f000001" are addresses to libc. */
static bool ends_in_number(const char *text)
{
	const char *label = strrchr(text, '.');

	label = label ? label + 1 : text;
	if (*label == '\0')
		return false;
	if (label[0] == '0' && (label[1] == 'x' || label[1] == 'X'))
		return label[2 + strspn(label + 2, "0123456789abcdefABCDEF")] == '\0';
	return label[strspn(label, "0123456789")] == '\0';
}

bool comet_address_is_literal(const char *text)
{
	return strpbrk(text, ":/%[]") || ends_in_number(text);
}

/* Reads the number after the slash; -1 when it is none or above max. */
static int parse_bits(const char *text, int max)
{
	int bits = 0;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		bits = bits * 10 + (*text - '0');
		if (bits > max)
			return -1;
	}
	return bits;
}

static int refuse_literal(const char *host, struct comet_error *error)
{
	char text[QUOTE_SIZE];

	comet_quote(host, strlen(host), text, sizeof(text));
	if (strchr(text, '%'))
		return comet_error_set(
			error, EINVAL,
			"\"%s\": a zone is the name of an interface behind one address of fe80::/10, as fe80::1%%eth0",
			text);
	if (strpbrk(text, "[]"))
		return comet_error_set(
			error, EINVAL,
			"\"%s\" is no address: write IPv6 without brackets and the port in its own field",
			text);
	if (strstr(text, "://"))
		return comet_error_set(
			error, EINVAL,
			"\"%s\" is a URL; write only its host, with port and protocol in their own fields",
			text);
	return comet_error_set(
		error, EINVAL,
		"\"%s\" is no address: expected an IPv4 address of four decimal numbers, an IPv6 address, or one of them with /bits",
		text);
}

static int refuse_host_bits(const char *text, const struct comet_prefix *network, const char *host,
			    struct comet_error *error)
{
	char buffer[COMET_PREFIX_STRLEN];

	return comet_error_set(
		error, EINVAL,
		"\"%s\" has bits set after its prefix; write %s for the range, or %s for the one address",
		text, comet_prefix_format(network, buffer), host);
}

/* Reads what follows the percent sign. False: no name that an interface can have. */
static bool parse_zone(const char *text, struct comet_prefix *prefix)
{
	static const struct comet_prefix link_local = { .addr = { 0xfe, 0x80 }, .bits = 10 };
	size_t len = strlen(text);

	if (!comet_prefix_contains(&link_local, prefix))
		return false;
	if (len == 0 || len >= sizeof(prefix->zone) || strpbrk(text, "/: \t\n\v\f\r"))
		return false;
	memcpy(prefix->zone, text, len + 1);
	return true;
}

int comet_address_parse(const char *text, struct comet_prefix *prefix, struct comet_error *error)
{
	struct comet_prefix result = mapped;
	char host[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "/%");
	int offset = IPV4_OFFSET;
	int bits;

	if (len >= sizeof(host))
		return refuse_literal(text, error);
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET, host, result.addr + 12) != 1) {
		offset = 0;
		if (inet_pton(AF_INET6, host, result.addr) != 1)
			return refuse_literal(text, error);
	}
	bits = ADDRESS_BITS - offset;
	if (text[len] == '/') {
		bits = parse_bits(text + len + 1, bits);
		if (bits < 0)
			return comet_error_set(
				error, EINVAL,
				"%s has no valid prefix length: expected 0 to %d after the slash",
				host, ADDRESS_BITS - offset);
	}
	result.bits = (uint8_t)(bits + offset);
	if (text[len] == '%' && !parse_zone(text + len + 1, &result))
		return refuse_literal(text, error);
	if (clear_host_bits(&result))
		return refuse_host_bits(text, &result, host, error);
	*prefix = result;
	return 0;
}

static bool is_label_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static const char *name_fault(const char *name)
{
	size_t label = 0;

	if (name[0] == '\0' || strlen(name) > NAME_MAX_LEN)
		return "expected a name of 1 to 253 bytes";
	for (const char *c = name; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			return "a host name must be ASCII; write an international name in its xn-- form";
		if (*c == '*')
			return "a wildcard is \"*\" alone or the whole first label (\"*.example.com\")";
		if (*c != '.' && !is_label_char(*c))
			return "expected letters, digits, \"-\", \"_\" and \".\"";
		if (*c == '.' && label == 0)
			return "a label is empty";
		label = *c == '.' ? 0 : label + 1;
		if (label > LABEL_MAX_LEN)
			return "a label has more than 63 bytes";
	}
	return label == 0 ? "the last label is empty" : NULL;
}

/* Can the name be put into a DNS question? */
static int check_name(const char *host, const char *name, struct comet_error *error)
{
	const char *fault = name_fault(name);
	char text[QUOTE_SIZE];

	if (!fault)
		return 0;
	return comet_error_set(error, EINVAL, "host \"%s\": %s",
			       comet_quote(host, strlen(host), text, sizeof(text)), fault);
}

int comet_host_parse(const char *host, enum comet_host *kind, struct comet_prefix *prefix,
		     struct comet_error *error)
{
	struct comet_prefix result = { .bits = ADDRESS_BITS };
	enum comet_host found = COMET_HOST_NAME;
	int r;

	if (strcmp(host, "*") == 0) {
		found = COMET_HOST_ANY;
		result.bits = 0;
	} else if (strncmp(host, "*.", 2) == 0) {
		found = COMET_HOST_SUFFIX;
		r = check_name(host, host + 2, error);
		if (r < 0)
			return r;
		if (ends_in_number(host))
			return refuse_literal(host, error);
	} else if (comet_address_is_literal(host)) {
		found = COMET_HOST_LITERAL;
		r = comet_address_parse(host, &result, error);
		if (r < 0)
			return r;
	} else {
		r = check_name(host, host, error);
		if (r < 0)
			return r;
	}
	*kind = found;
	*prefix = result;
	return 0;
}

bool comet_host_covers(enum comet_host kind, const char *host, const char *name)
{
	size_t len = strlen(name);
	size_t suffix;

	if (len > 0 && name[len - 1] == '.')
		len--;
	switch (kind) {
	case COMET_HOST_ANY:
		return true;
	case COMET_HOST_NAME:
		return strlen(host) == len && strncasecmp(host, name, len) == 0;
	case COMET_HOST_SUFFIX:
		suffix = strlen(host) - 1;
		return len > suffix && strncasecmp(host + 1, name + len - suffix, suffix) == 0;
	case COMET_HOST_LITERAL:
	case _COMET_HOST_MAX:
		break;
	}
	return false;
}
