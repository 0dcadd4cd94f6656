/* SPDX-License-Identifier: Apache-2.0 */
/* What do the tests of explain share? One manifest with an entry of every kind, and questions. */
#ifndef COMET_TEST_EXPLAIN_H
#define COMET_TEST_EXPLAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/explain.h"

#define AT(n)                                                                                      \
	{                                                                                          \
		.file = "soyapack.yaml", .line = (n), .column = 9                                  \
	}
#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct comet_egress egress[] = {
	{ (char *)"api.test", 443, COMET_PROTOCOL_HTTPS, AT(10) },
	{ (char *)"*.cdn.test", 443, COMET_PROTOCOL_HTTPS, AT(11) },
	{ (char *)"a.cdn.test", 443, COMET_PROTOCOL_HTTPS, AT(12) },
	{ (char *)"10.0.0.0/8", 53, COMET_PROTOCOL_UDP, AT(13) },
	{ (char *)"2001:db8::1", 443, COMET_PROTOCOL_QUIC, AT(14) },
	{ (char *)"*", 80, COMET_PROTOCOL_HTTP, AT(15) },
};
static struct comet_entry fs_read[] = {
	{ (char *)"/workdir", AT(20) },
	{ (char *)"/workdir/inputs", AT(21) },
	{ (char *)"/data/set", AT(22) },
};
static struct comet_entry fs_write[] = { { (char *)"/workdir/out", AT(30) },
					 { (char *)"/spool/out", AT(31) } };
static struct comet_entry exec[] = { { (char *)"sh", AT(40) }, { (char *)"no-such-tool", AT(41) } };
static struct comet_serve serve[] = {
	{ { 8080, IPPROTO_TCP }, AT(50) },
	{ { 53, IPPROTO_UDP }, AT(51) },
};

static struct comet_manifest manifest = {
	.file = (char *)"soyapack.yaml",
	.name = (char *)"pack",
	.version = (char *)"1.0.0",
	.kind = (char *)"Agent",
	.dialect = COMET_DIALECT_GO,
	.block = { "soyapack.yaml", 23, 7 },
	.egress = egress,
	.n_egress = N(egress),
	.fs_read = fs_read,
	.n_fs_read = N(fs_read),
	.fs_write = fs_write,
	.n_fs_write = N(fs_write),
	.exec = exec,
	.n_exec = N(exec),
	.serve = serve,
	.n_serve = N(serve),
};
static struct comet_policy *policy;

static inline int set_up(void **state)
{
	static const char *const servers[] = { "127.0.0.53", NULL };
	struct comet_policy_options options = { .home = "/home/agent", .nameservers = servers };

	(void)state;
	return comet_policy_compile(&manifest, &options, &policy, NULL);
}

static inline int tear_down(void **state)
{
	(void)state;
	comet_policy_free(policy);
	return 0;
}

static inline struct comet_answer ask(const char *surface, const char *resource)
{
	struct comet_answer answer = { 0 };
	struct comet_error error = { "" };

	if (comet_explain_query(&manifest, policy, surface, resource, &answer, &error) != 0)
		fail_msg("%s %s: %s", surface, resource, error.text);
	return answer;
}

static inline void assert_allowed(const char *surface, const char *resource, unsigned int line)
{
	struct comet_answer answer = ask(surface, resource);

	if (!answer.allowed)
		fail_msg("%s %s: not allowed", surface, resource);
	if (answer.location.line != line)
		fail_msg("%s %s: line %u", surface, resource, answer.location.line);
	assert_non_null(answer.matched);
	assert_null(answer.fix);
	assert_null(answer.unfixable);
	comet_answer_clear(&answer);
}

static inline void assert_refused(const char *surface, const char *resource)
{
	struct comet_answer answer = ask(surface, resource);

	if (answer.allowed)
		fail_msg("%s %s: allowed by %s", surface, resource, answer.matched);
	assert_null(answer.matched);
	assert_non_null(answer.fix);
	comet_answer_clear(&answer);
}

static inline void assert_note(const char *surface, const char *resource, const char *part)
{
	struct comet_answer answer = ask(surface, resource);

	if (!answer.note || !strstr(answer.note, part))
		fail_msg("%s %s: \"%s\" does not say \"%s\"", surface, resource,
			 answer.note ? answer.note : "", part);
	comet_answer_clear(&answer);
}

#endif /* COMET_TEST_EXPLAIN_H */
