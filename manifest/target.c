// SPDX-License-Identifier: Apache-2.0
/* Which host, port and protocol does `host:port/protocol` name? */
#include "manifest/target.h"

#include <errno.h>
#include <string.h>

#include "manifest/port.h"
#include "manifest/util.h"

#define QUOTE_SIZE 300

static int refuse(const char *text, struct comet_error *error)
{
	char quoted[QUOTE_SIZE];

	return comet_error_set(
		error, EINVAL,
		"\"%s\" is no host:port/protocol; examples: api.example.com:443/https, 10.0.0.1:53/udp, [2001:db8::1]:443/tcp",
		comet_quote(text, strlen(text), quoted, sizeof(quoted)));
}

/* Where the colon before the port stands; NULL when there is none, or more than one. */
static const char *find_port(const char *text, const char **host, size_t *len)
{
	const char *end;

	*host = text;
	if (text[0] != '[') {
		end = strchr(text, ':');
		if (!end || strchr(end + 1, ':'))
			return NULL;
		*len = (size_t)(end - text);
		return end;
	}
	end = strchr(text, ']');
	if (!end || end[1] != ':')
		return NULL;
	*host = text + 1;
	*len = (size_t)(end - text) - 1;
	return end + 1;
}

int comet_target_parse(const char *text, struct comet_target *target, struct comet_error *error)
{
	struct comet_target result;
	const char *host, *colon, *slash;
	size_t len;

	colon = find_port(text, &host, &len);
	slash = colon ? strchr(colon, '/') : NULL;
	if (!slash || len == 0 || len >= sizeof(result.host))
		return refuse(text, error);
	result.port = comet_port_number(colon + 1, (size_t)(slash - colon) - 1);
	if (result.port == 0 || comet_protocol_from_str(slash + 1, &result.protocol) < 0)
		return refuse(text, error);
	memcpy(result.host, host, len);
	/* Only ASCII letters have a case in a host name; a zone's are told apart. */
	for (size_t i = 0; i < len && host[i] != '%'; i++)
		if (host[i] >= 'A' && host[i] <= 'Z')
			result.host[i] |= 0x20;
	if (len > 1 && result.host[len - 1] == '.')
		len--;
	result.host[len] = '\0';
	*target = result;
	return 0;
}
