// SPDX-License-Identifier: Apache-2.0
/* Which port, of which transport, does `8080`, `53/udp` or `*` name? */
#include "manifest/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "manifest/util.h"

unsigned int comet_port_number(const char *text, size_t size)
{
	unsigned int number = 0;

	if (size == 0 || size > 5 || text[0] == '0')
		return 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		number = number * 10 + (unsigned int)(text[i] - '0');
	}
	return number <= COMET_PORT_MAX ? number : 0;
}

int comet_transport_parse(const char *text, size_t size, uint8_t *transport)
{
	if (comet_bytes_are(text, size, "tcp"))
		*transport = IPPROTO_TCP;
	else if (comet_bytes_are(text, size, "udp"))
		*transport = IPPROTO_UDP;
	else
		return -EINVAL;
	return 0;
}

int comet_port_parse(const char *text, size_t size, struct comet_port *port)
{
	const char *slash = memchr(text, '/', size);
	size_t length = slash ? (size_t)(slash - text) : size;
	struct comet_port result = { .transport = IPPROTO_TCP };

	if (!comet_bytes_are(text, length, "*")) {
		result.number = comet_port_number(text, length);
		if (result.number == 0)
			return -EINVAL;
	}
	if (slash && comet_transport_parse(slash + 1, size - length - 1, &result.transport) < 0)
		return -EINVAL;
	*port = result;
	return 0;
}

char *comet_port_format(const struct comet_port *port, char text[static COMET_PORT_TEXT])
{
	const char *transport = port->transport == IPPROTO_UDP ? "udp" : "tcp";

	if (port->number)
		snprintf(text, COMET_PORT_TEXT, "%u/%s", port->number, transport);
	else
		snprintf(text, COMET_PORT_TEXT, "*/%s", transport);
	return text;
}
