// SPDX-License-Identifier: Apache-2.0
/* Which ports does `serve` let an agent listen on, in every dialect, and what is said of faults? */
#define _GNU_SOURCE 1
#include "test_manifest.h"

#include <netinet/in.h>

#include "manifest/port.h"

#define PORT "expected a port from 1 to 65535, with /tcp or /udp or without, or \"*\", found "
#define ONLY_COMET                                                                                 \
	"only Comet reads \"serve\": upstream does not know it, and holds no agent to it\n"

static void test_texts_of_ports(void **state)
{
	static const struct {
		const char *text;
		unsigned int number;
		uint8_t transport; /* 0: not a port */
	} rows[] = {
		{ "8080", 8080, IPPROTO_TCP },
		{ "8080/tcp", 8080, IPPROTO_TCP },
		{ "53/udp", 53, IPPROTO_UDP },
		{ "1", 1, IPPROTO_TCP },
		{ "65535/udp", 65535, IPPROTO_UDP },
		{ "*", 0, IPPROTO_TCP },
		{ "*/tcp", 0, IPPROTO_TCP },
		{ "*/udp", 0, IPPROTO_UDP },
		{ "", 0, 0 },
		{ "0", 0, 0 },
		{ "0/tcp", 0, 0 },
		{ "65536", 0, 0 },
		{ "99999", 0, 0 },
		{ "4294967297", 0, 0 },
		{ "080", 0, 0 },
		{ " 80", 0, 0 },
		{ "+80", 0, 0 },
		{ "-80", 0, 0 },
		{ "80-90", 0, 0 },
		{ "8*", 0, 0 },
		{ "**", 0, 0 },
		{ "80/", 0, 0 },
		{ "/tcp", 0, 0 },
		{ "80/TCP", 0, 0 },
		{ "80/tcpx", 0, 0 },
		{ "80/sctp", 0, 0 },
		{ "80/tcp/udp", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		struct comet_port port = { 7, 7 };
		int r = comet_port_parse(rows[i].text, strlen(rows[i].text), &port);

		if (r != (rows[i].transport ? 0 : -22))
			fail_msg("\"%s\": %d", rows[i].text, r);
		assert_int_equal(port.number, r ? 7 : rows[i].number);
		assert_int_equal(port.transport, r ? 7 : rows[i].transport);
	}
	assert_int_equal(comet_port_parse("80\0/tcp", 7, &(struct comet_port){}), -22);
}

/* A line of the block in the words of the code; the line's number is 20. */
static void test_in_the_words_of_the_code(void **state)
{
	static const struct vector vectors[] = {
		{ "    exec:", "    serve: [8080]\n    exec:", "serve 8080/tcp (21:13)\n" },
		{ "    exec:", "    serve: [8080]\n    exec:", "warning 21:5: " ONLY_COMET },
		{ "    exec:", "    serve: [8080]\n    exec:", "!not to be run" },
		{ "    exec:", "    serve: [8080]\n    exec:", "exec git (22:12)\n" },
		{ "    exec:", "    serve:\n      - 53/udp\n      - \"80\"\n    exec:",
		  "serve 53/udp (22:9)\nserve 80/tcp (23:9)\n" },
		{ "    exec:",
		  "    serve: [{port: 53, proto: udp}, {proto: tcp, port: \"54\"}]\n    exec:",
		  "serve 53/udp (21:13)\nserve 54/tcp (21:37)\n" },
		{ "    exec:", "    serve: [{port: 55}]\n    exec:", "serve 55/tcp (21:13)\n" },
		{ "    exec:", "    serve: [\"*\"]\n    exec:",
		  "warning 21:13: \"*\" lets the agent listen on every TCP port (name the ports that are needed)" },
		{ "    exec:", "    serve: [{port: \"*\", proto: udp}]\n    exec:",
		  "warning 21:13: \"*\" lets the agent listen on every UDP port" },
		{ "    exec:", "    serve: &a [8080]\n    x-b: [*a]\n    exec:", "serve 8080/tcp" },
		{ "    exec:", "    serve: []\n    exec:", "!serve 8" },
		/* Twice is as good as once; it is one rule in the policy. */
		{ "    exec:", "    serve: [80, 80/tcp]\n    exec:",
		  "serve 80/tcp (21:13)\nserve 80/tcp (21:17)\n" },
		{ "    exec:", "    srve: [80]\n    exec:",
		  "warning 21:5: \"srve\" is no capability, so it grants nothing (did you mean \"serve\"?)" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* Upstream accepts all of these, so they are valid; but nothing is run by half. */
static void test_faults_leave_upstreams_verdict(void **state)
{
	static const struct {
		const char *value, *sentence; /* at 21:12 unless it says where */
	} rows[] = {
		{ "8080", "21:12: expected a list for serve, found the number 8080" },
		{ "~", "21:12: expected a list for serve, found nothing (write [] for none)" },
		{ "{port: 1}", "21:12: expected a list for serve, found a map" },
		{ "[0]", "21:13: " PORT "the number 0" },
		{ "[65536]", "21:13: " PORT "the number 65536" },
		{ "[-1]", "21:13: " PORT "the number -1" },
		{ "[80.5]", "21:13: " PORT "the number 80.5" },
		{ "[true]", "21:13: " PORT "the boolean true" },
		{ "[~]", "21:13: " PORT "nothing" },
		{ "[[80]]", "21:13: " PORT "a list" },
		{ "[80-90]", "21:13: " PORT "the text \"80-90\"" },
		{ "[80/http]", "21:13: " PORT "the text \"80/http\"" },
		{ "[\"\"]", "21:13: " PORT "the text \"\"" },
		{ "[http]", "21:13: " PORT "the text \"http\"" },
		{ "[!!binary MQ==]", "21:13: " PORT "the text \"MQ==\"" },
		{ "[0120]",
		  "21:13: expected a port in plain decimal digits, found the number 0120 (did you mean 80?)" },
		{ "[0x50]",
		  "21:13: expected a port in plain decimal digits, found the number 0x50 (did you mean 80?)" },
		{ "[{proto: tcp}]",
		  "21:13: expected {port, proto} in a serve entry, found no port" },
		{ "[{port: 80, protocol: tcp}]",
		  "21:24: expected {port, proto} in a serve entry, found the text \"protocol\"" },
		{ "[{port: 80, host: a}]",
		  "21:24: expected {port, proto} in a serve entry, found the text \"host\"" },
		{ "[{port: 80, [a]: b}]",
		  "21:24: expected {port, proto} in a serve entry, found a list" },
		{ "[{port: 80, proto: https}]",
		  "21:31: expected a proto of tcp or udp, found the text \"https\"" },
		{ "[{port: 80, proto: [tcp]}]",
		  "21:31: expected a proto of tcp or udp, found a list" },
		{ "[{port: 80/udp, proto: tcp}]", "21:20: " PORT "the text \"80/udp\"" },
		{ "[{port: 80, port: 81}]", "21:24: expected each key once, found \"port\" again" },
		{ "[{port: 0}]", "21:20: " PORT "the number 0" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		char line[200], wanted[400];
		struct vector vector = { "    exec:", line, wanted };

		snprintf(line, sizeof(line), "    serve: %s\n    exec:", rows[i].value);
		snprintf(wanted, sizeof(wanted), "not to be run: pack.yaml:%s\n", rows[i].sentence);
		check_vectors(GO_MANIFEST, &vector, 1);
		/* Nor is a part of it granted. */
		snprintf(wanted, sizeof(wanted), "!\nserve ");
		check_vectors(GO_MANIFEST, &vector, 1);
	}
}

static void test_in_the_words_of_the_seed(void **state)
{
	static const struct vector vectors[] = {
		{ "  determinism_tier", "  serve: [8080, 53/udp]\n  determinism_tier",
		  "serve 8080/tcp (17:11)\nserve 53/udp (17:17)\n" },
		{ "  determinism_tier", "  serve: [8080]\n  determinism_tier", "!warning" },
		{ "  determinism_tier", "  serve: [{port: 53, protocol: udp}]\n  determinism_tier",
		  "serve 53/udp (17:11)\n" },
		{ "  determinism_tier", "  serve: [\"*\"]\n  determinism_tier",
		  "warning 17:11: \"*\" lets the agent listen on every TCP port" },
		{ "  determinism_tier", "  serve: [0]\n  determinism_tier",
		  "error: 17:11: " PORT "the number 0" },
		{ "  determinism_tier", "  serve: 80\n  determinism_tier",
		  "error: 17:10: expected a list for serve, found the number 80" },
		{ "  determinism_tier", "  serve: [{port: 53, proto: udp}]\n  determinism_tier",
		  "error: 17:22: expected {port, protocol} in a serve entry, found the text \"proto\"" },
		{ "  determinism_tier", "  serv: [80]\n  determinism_tier",
		  "error: 17:3: expected a known key in capabilities, found \"serv\" (did you mean \"serve\"?)" },
	};

	(void)state;
	check_vectors(SEED_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* Whose block upstream reads as deny-all anyhow: that is said once, and faults are errors. */
static void test_in_the_words_of_the_specification(void **state)
{
	static const struct vector vectors[] = {
		{ "fs_read: [/workdir]\n    fs_write: [/workdir/out]\n",
		  "fs_read: []\n    serve: [{port: 53, proto: udp}]\n", "serve 53/udp (20:13)\n" },
		{ "network_out:\n      - {host: api.example.com, port: 443, proto: https}\n"
		  "    fs_read: [/workdir]\n    fs_write: [/workdir/out]\n",
		  "fs.read: [/a]\n    serve: [80]\n", "serve 80/tcp (18:13)\nwarning 17:5: " },
		{ "network_out:\n      - {host: api.example.com, port: 443, proto: https}\n"
		  "    fs_read: [/workdir]\n    fs_write: [/workdir/out]\n",
		  "fs.read: [/a]\n    serve: [80]\n", "!only Comet" },
		{ "network_out:\n      - {host: api.example.com, port: 443, proto: https}\n"
		  "    fs_read: [/workdir]\n    fs_write: [/workdir/out]\n",
		  "fs.read: [/a]\n    serve: [x]\n", "error: 18:13: " PORT "the text \"x\"" },
		{ "network_out:\n      - {host: api.example.com, port: 443, proto: https}\n"
		  "    fs_read: [/workdir]\n    fs_write: [/workdir/out]\n",
		  "egress: []\n    serve: [{port: 1, protocol: udp}]\n", "serve 1/udp (18:13)\n" },
	};

	(void)state;
	check_vectors(GO_MANIFEST, vectors, COMET_ARRAY_SIZE(vectors));
}

/* What the end of the file may have cut is no port: 80 may have been 8080. */
static void test_a_cut_port_is_refused(void **state)
{
	static const char *const ends[] = { "  serve:\n    - 80", "  serve:\n    - port: 80",
					    "  serve:\n    - port: 80\n      proto: tcp" };

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(ends); i++) {
		const char *block = strstr(GO_MANIFEST, "sandbox:");
		char *text = NULL;
		char *shown;

		assert_true(asprintf(&text, "%.*saffinity: any\ncapabilities:\n%s",
				     (int)(block - GO_MANIFEST), GO_MANIFEST, ends[i]) > 0);
		shown = read_and_show(text, false);
		assert_non_null(strstr(shown, "not to be run: "));
		assert_non_null(strstr(shown, "it may be cut off"));
		assert_null(strstr(shown, "\nserve "));
		free(shown);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_of_ports),
		cmocka_unit_test(test_in_the_words_of_the_code),
		cmocka_unit_test(test_faults_leave_upstreams_verdict),
		cmocka_unit_test(test_in_the_words_of_the_seed),
		cmocka_unit_test(test_in_the_words_of_the_specification),
		cmocka_unit_test(test_a_cut_port_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
