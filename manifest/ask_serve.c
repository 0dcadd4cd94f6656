// SPDX-License-Identifier: Apache-2.0
/* Which rule decides on listening on one port? */
#include "manifest/ask.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/port.h"
#include "manifest/util.h"

#define QUOTE_SIZE 300

/* The port is declared, but not for this transport. */
static int note_other_transport(const struct comet_policy *policy, const struct comet_port *port,
				struct comet_answer *answer)
{
	struct comet_port other = *port;
	bool is_udp = port->transport == IPPROTO_UDP;

	other.transport = is_udp ? IPPROTO_TCP : IPPROTO_UDP;
	if (!comet_policy_serve_lookup(policy, &other))
		return 0;
	return comet_answer_add_note(answer, "The port is declared for %s, not for %s.",
				     is_udp ? "TCP" : "UDP", is_udp ? "UDP" : "TCP");
}

int comet_ask_serve(const struct comet_policy *policy, const char *text,
		    struct comet_answer *answer, struct comet_error *error)
{
	const struct comet_serve_rule *rule;
	char name[COMET_PORT_TEXT];
	struct comet_port port;
	char quoted[QUOTE_SIZE];
	int r;

	/* "*" is no port to ask about. */
	if (comet_port_parse(text, strlen(text), &port) < 0 || port.number == 0)
		return comet_error_set(
			error, EINVAL,
			"\"%s\" is no port: expected 1 to 65535, alone or as in 8080/tcp, 53/udp",
			comet_quote(text, strlen(text), quoted, sizeof(quoted)));
	answer->resource = strdup(comet_port_format(&port, name));
	if (!answer->resource)
		return -ENOMEM;
	rule = comet_policy_serve_lookup(policy, &port);
	if (rule) {
		answer->allowed = true;
		return comet_answer_set_match(answer, rule->text, rule->source, &rule->location);
	}
	r = note_other_transport(policy, &port, answer);
	if (r < 0)
		return r;
	return comet_answer_add_note(answer, "It answers EACCES, and to try is a violation.");
}
