// SPDX-License-Identifier: Apache-2.0
/* Does `comet pack` say the right words on the right stream, with the right exit code? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/cmd.h"

#define DATA "tests/data/policy/"
#define ARGS_MAX 8

/* What one call of the verb left behind. */
struct result {
	int code;
	char out[32768];
	char err[4096];
};

static void read_back(FILE *file, char *text, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
}

/* Runs `comet pack ARG...`; the arguments end with NULL. */
static void run(struct result *result, ...)
{
	char *argv[ARGS_MAX + 1] = { (char *)"pack" };
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out = dup(1), saved_err = dup(2);
	int argc = 1;
	va_list args;

	va_start(args, result);
	while (argc < ARGS_MAX && (argv[argc] = va_arg(args, char *)))
		argc++;
	va_end(args);
	assert_non_null(out);
	assert_non_null(err);
	fflush(stdout);
	fflush(stderr);
	dup2(fileno(out), 1);
	dup2(fileno(err), 2);
	result->code = comet_cmd_pack(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	close(saved_out);
	close(saved_err);
	read_back(out, result->out, sizeof(result->out));
	read_back(err, result->err, sizeof(result->err));
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static json_t *parse(const struct result *result)
{
	json_t *object = json_loads(result->out, 0, NULL);

	assert_non_null(object);
	assert_string_equal(result->out + strcspn(result->out, "\n"), "\n");
	return object;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

static void a_valid_manifest_is_told_in_one_line(void **state)
{
	struct result r;

	(void)state;
	run(&r, "validate", DATA "seed", NULL);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.out, "OK · soyaos.ai/v0/research-summarizer@0.1.0 · kind=Agent\n");
	assert_string_equal(r.err, "");
	run(&r, "validate", DATA "go/soyapack.yaml", NULL);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.out, "OK · soyapack.v0/go-skill@0.3.0 · kind=Skill\n");
	assert_string_equal(r.err, "");
}

static void warnings_have_a_place_and_are_errors_when_strict(void **state)
{
	struct result r;

	(void)state;
	run(&r, "validate", DATA "spec", NULL);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.out, "OK · soyapack.v0/spec-agent@0.2.0 · kind=Agent\n");
	assert_says(r.err, DATA "spec/soyapack.yaml:23:5: warning: ");
	run(&r, "validate", "--strict", DATA "spec", NULL);
	assert_int_equal(r.code, 2);
	assert_string_equal(r.out, "");
	assert_says(r.err, "comet: " DATA "spec/soyapack.yaml:23:5: ");
}

static void what_upstream_accepts_and_comet_does_not_run(void **state)
{
	struct result r;

	(void)state;
	run(&r, "validate", DATA "unenforceable.yaml", NULL);
	assert_int_equal(r.code, 0);
	assert_says(r.out, "OK · ");
	assert_says(r.err, "comet run refuses it: " DATA "unenforceable.yaml:18:7: ");
	run(&r, "validate", DATA "unenforceable.yaml", "--strict", NULL);
	assert_int_equal(r.code, 2);
	run(&r, "explain", DATA "unenforceable.yaml", NULL);
	assert_int_equal(r.code, 2);
	assert_string_equal(r.out, "");
	assert_says(r.err, "comet: " DATA "unenforceable.yaml:18:7: ");
}

static void a_manifest_that_cannot_be_read(void **state)
{
	struct result r;

	(void)state;
	run(&r, "validate", DATA "no-such-pack", NULL);
	assert_int_equal(r.code, 2);
	assert_string_equal(r.out, "");
	assert_says(r.err, "comet: ");
	assert_says(r.err, "no-such-pack");
	run(&r, "explain", DATA "no-such-pack", "fs.read", "/x", NULL);
	assert_int_equal(r.code, 2);
	run(&r, "validate", "--json", DATA "no-such-pack", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.out, "\"ok\":false");
}

static void usage(void **state)
{
	struct result r;

	(void)state;
	run(&r, NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "expected validate or explain");
	run(&r, "validate", NULL);
	assert_int_equal(r.code, 2);
	assert_string_equal(r.err,
			    "comet: pack validate: expected <path> (directory or .yaml file)\n");
	run(&r, "explain", NULL);
	assert_int_equal(r.code, 2);
	run(&r, "validate", "a", "b", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "too many arguments");
	run(&r, "explain", DATA "seed", "fs.read", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "expected a resource");
	run(&r, "explain", DATA "seed", "fs.read", "/x", "/y", NULL);
	assert_int_equal(r.code, 2);
	run(&r, "validate", "--no-such", DATA "seed", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "unknown option --no-such");
	run(&r, "validate", "-x", DATA "seed", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "unknown option -x");
	run(&r, "lint", DATA "seed", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "there is no verb lint");
	run(&r, "explain", DATA "seed", "fs.raed", "/x", NULL);
	assert_int_equal(r.code, 2);
	assert_says(r.err, "fs.raed");
}

static void help_teaches_with_an_example(void **state)
{
	static const char *const verbs[] = { "validate", "explain" };
	struct result r;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		run(&r, verbs[i], "--help", NULL);
		assert_int_equal(r.code, 0);
		assert_says(r.out, "usage: comet pack ");
		assert_says(r.out, "  $ comet pack ");
		assert_string_equal(r.err, "");
	}
	run(&r, "--help", NULL);
	assert_int_equal(r.code, 0);
	assert_says(r.out, "validate");
	assert_says(r.out, "explain");
}

static void everything_is_shown(void **state)
{
	struct result r;

	(void)state;
	run(&r, "explain", DATA "seed", NULL);
	assert_int_equal(r.code, 0);
	assert_says(r.out, "research-summarizer@0.1.0 · Agent · ");
	assert_says(r.out, "api.openai.com:443/https  " DATA "seed/soyapack.yaml:12:13\n");
	assert_says(r.out, "/srv/papers               " DATA "seed/soyapack.yaml:25:9\n");
	assert_says(r.out, "  8080/tcp                  " DATA "seed/soyapack.yaml:29:7\n");
	assert_says(r.out, "\nname servers: ");
	assert_says(r.out, "\nbase set: ");
	assert_says(r.out, "\nquiet set: ");
	assert_says(r.out, "\ncanaries: ");
	assert_null(strchr(r.out, '\033'));
}

static void questions_by_exit_code_and_line(void **state)
{
	static const struct {
		const char *pack, *surface, *resource;
		int code;
		const char *part;
	} rows[] = {
		{ "seed", "fs.read", "/workdir/inputs/a", 0, "soyapack.yaml:24:9\n" },
		{ "seed", "fs.read", "/workdir-evil", 1, "      - /workdir-evil\n" },
		{ "seed", "fs.read", "/etc/shadow", 1, "canary" },
		{ "seed", "fs.write", "/workdir/out/a", 0, "soyapack.yaml:27:9\n" },
		{ "seed", "fs.write", "/workdir/a", 1, "        write:\n" },
		{ "seed", "egress", "api.openai.com:443/https", 0, "soyapack.yaml:12:13\n" },
		{ "seed", "egress", "192.168.1.255:53/udp", 0, "soyapack.yaml:18:13\n" },
		{ "seed", "egress", "192.168.2.0:53/udp", 1, "      protocol: udp\n" },
		{ "seed", "exec", "git", 1, "no entry for programs" },
		{ "seed", "serve", "8080", 0, "by 8080/tcp, " DATA "seed/soyapack.yaml:29:7\n" },
		{ "seed", "serve", "53/udp", 0, "soyapack.yaml:30:7\n" },
		{ "seed", "serve", "8080/udp", 1, "      serve:\n        - 8080/udp\n" },
		{ "spec", "serve", "8080", 1, "      serve:\n        - 8080\n" },
		{ "spec", "egress", "[2001:db8::5]:53/udp", 0, "soyapack.yaml:25:16\n" },
		{ "spec", "egress", "[2001:db9::]:53/udp", 1, "      network.out:\n" },
		{ "spec", "fs.write", "/workdir/out", 0, "soyapack.yaml:29:9\n" },
		{ "go", "egress", "10.1.1.1:443/tcp", 0, "soyapack.yaml:21:13\n" },
		{ "go", "egress", "1.1.1.1:443/https", 0, "soyapack.yaml:18:13\n" },
		{ "go", "egress", "192.168.0.1:443/https", 1, "192.168.0.0/16 (private)" },
		{ "go", "fs.read", "/srv/data", 0, "soyapack.yaml:26:7\n" },
		{ "go", "fs.write", "/workdir/x", 1, "      fs_write:\n" },
		{ "go", "exec", "sh", 0, "soyapack.yaml:29:7\n" },
		{ "go", "exec", "id", 1, "        - id\n" },
	};
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char pack[64];

		snprintf(pack, sizeof(pack), DATA "%s", rows[i].pack);
		run(&r, "explain", pack, rows[i].surface, rows[i].resource, NULL);
		if (r.code != rows[i].code)
			fail_msg("%s %s %s: exit code %d", rows[i].pack, rows[i].surface,
				 rows[i].resource, r.code);
		assert_says(r.out, rows[i].part);
	}
}

static void the_same_as_json(void **state)
{
	struct result r;
	json_t *object;

	(void)state;
	run(&r, "validate", "--json", DATA "spec", NULL);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.err, "");
	object = parse(&r);
	assert_true(json_is_true(json_object_get(object, "ok")));
	assert_string_equal(text_of(object, "name"), "spec-agent");
	assert_int_equal(json_array_size(json_object_get(object, "warnings")), 1);
	json_decref(object);

	run(&r, "explain", "--json", DATA "go", NULL);
	assert_int_equal(r.code, 0);
	object = parse(&r);
	assert_int_equal(json_array_size(json_object_get(object, "egress")), 2);
	assert_int_equal(json_array_size(json_object_get(object, "fs.write")), 0);
	assert_true(json_array_size(json_object_get(object, "base")) > 50);
	assert_true(json_array_size(json_object_get(object, "quiet")) > 10);
	assert_true(json_array_size(json_object_get(object, "canaries")) > 10);
	json_decref(object);

	run(&r, "explain", "--json", DATA "seed", NULL);
	assert_int_equal(r.code, 0);
	object = parse(&r);
	assert_int_equal(json_array_size(json_object_get(object, "serve")), 2);
	assert_says(r.out, "{\"port\":53,\"protocol\":\"udp\",");
	json_decref(object);

	run(&r, "explain", "--json", DATA "go", "fs.write", "/a\"\n\xff", NULL);
	assert_int_equal(r.code, 1);
	object = parse(&r);
	assert_true(json_is_false(json_object_get(object, "allowed")));
	assert_string_equal(text_of(object, "matched"), "no match");
	assert_string_equal(text_of(object, "resource"), "/a\"\n\xef\xbf\xbd");
	json_decref(object);

	run(&r, "explain", "--json", DATA "go", "exec", "sh", NULL);
	assert_int_equal(r.code, 0);
	object = parse(&r);
	assert_true(json_is_true(json_object_get(object, "allowed")));
	assert_string_equal(text_of(object, "source"), "manifest");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(object, "location"), "line")),
		29);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_manifest_is_told_in_one_line),
		cmocka_unit_test(warnings_have_a_place_and_are_errors_when_strict),
		cmocka_unit_test(what_upstream_accepts_and_comet_does_not_run),
		cmocka_unit_test(a_manifest_that_cannot_be_read),
		cmocka_unit_test(usage),
		cmocka_unit_test(help_teaches_with_an_example),
		cmocka_unit_test(everything_is_shown),
		cmocka_unit_test(questions_by_exit_code_and_line),
		cmocka_unit_test(the_same_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
