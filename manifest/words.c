// SPDX-License-Identifier: Apache-2.0
/* How are dialects, isolations and protocols spelt? */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "manifest/manifest.h"
#include "manifest/util.h"

static const char *const dialects[] = {
	[COMET_DIALECT_SEED] = "seed",
	[COMET_DIALECT_SPEC] = "spec",
	[COMET_DIALECT_GO] = "go",
};
_Static_assert(COMET_ARRAY_SIZE(dialects) == _COMET_DIALECT_MAX, "a word for each dialect");

static const char *const isolations[] = {
	[COMET_ISOLATION_UNSET] = "unset",
	[COMET_ISOLATION_PROCESS] = "process",
	[COMET_ISOLATION_CONTAINER] = "container",
	[COMET_ISOLATION_MICROVM] = "microvm",
};
_Static_assert(COMET_ARRAY_SIZE(isolations) == _COMET_ISOLATION_MAX, "a word for each isolation");

static const char *const protocols[] = {
	[COMET_PROTOCOL_ANY] = "any",     [COMET_PROTOCOL_HTTP] = "http",
	[COMET_PROTOCOL_HTTPS] = "https", [COMET_PROTOCOL_GRPC] = "grpc",
	[COMET_PROTOCOL_TCP] = "tcp",     [COMET_PROTOCOL_QUIC] = "quic",
	[COMET_PROTOCOL_UDP] = "udp",
};
_Static_assert(COMET_ARRAY_SIZE(protocols) == _COMET_PROTOCOL_MAX, "a word for each protocol");

const char *comet_dialect_to_str(enum comet_dialect dialect)
{
	return (size_t)dialect < COMET_ARRAY_SIZE(dialects) ? dialects[dialect] : "unknown";
}

const char *comet_isolation_to_str(enum comet_isolation isolation)
{
	return (size_t)isolation < COMET_ARRAY_SIZE(isolations) ? isolations[isolation] : "unknown";
}

const char *comet_protocol_to_str(enum comet_protocol protocol)
{
	return (size_t)protocol < COMET_ARRAY_SIZE(protocols) ? protocols[protocol] : "unknown";
}

int comet_protocol_from_str(const char *text, enum comet_protocol *protocol)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(protocols); i++) {
		if (strcmp(text, protocols[i]) != 0)
			continue;
		*protocol = (enum comet_protocol)i;
		return 0;
	}
	return -EINVAL;
}

int comet_protocol_transport(enum comet_protocol protocol)
{
	switch (protocol) {
	case COMET_PROTOCOL_HTTP:
	case COMET_PROTOCOL_HTTPS:
	case COMET_PROTOCOL_GRPC:
	case COMET_PROTOCOL_TCP:
		return IPPROTO_TCP;
	case COMET_PROTOCOL_QUIC:
	case COMET_PROTOCOL_UDP:
		return IPPROTO_UDP;
	case COMET_PROTOCOL_ANY:
	case _COMET_PROTOCOL_MAX:
		break;
	}
	return 0;
}
