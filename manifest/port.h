/* SPDX-License-Identifier: Apache-2.0 */
/* Which port, of which transport, does `8080`, `53/udp` or `*` name? */
#ifndef COMET_PORT_H
#define COMET_PORT_H

#include <stddef.h>
#include <stdint.h>

#define COMET_PORT_MAX 65535
#define COMET_PORT_TEXT 16 /* room for any number and "/udp" */

struct comet_port {
	unsigned int number; /* 1..65535; 0 = every port */
	uint8_t transport;   /* IPPROTO_TCP or IPPROTO_UDP */
};

/* 0 for anything but 1..65535 in plain decimal digits. */
unsigned int comet_port_number(const char *text, size_t size);

/*
 * Reads "PORT", "PORT/tcp" or "PORT/udp", where PORT may be "*"; without transport it is TCP alone.
 * -EINVAL.
 */
int comet_port_parse(const char *text, size_t size, struct comet_port *port);

/* "tcp" or "udp" in exactly these letters: 0, or -EINVAL. */
int comet_transport_parse(const char *text, size_t size, uint8_t *transport);

/* "8080/tcp"; "*" stands for every port. Returns text. */
char *comet_port_format(const struct comet_port *port, char text[static COMET_PORT_TEXT]);

#endif /* COMET_PORT_H */
