// SPDX-License-Identifier: Apache-2.0
/* Are words, digests, quotes, hints and errors what the rest of manifest/ takes them for? */
#define _GNU_SOURCE 1
#include <errno.h>
#include <netinet/in.h>

#include "manifest/scalar.h"
#include "manifest/sha256.h"
#include "manifest/syntax.h"
#include "test_manifest.h"

static void check_scalar(const char *text, const char *expected)
{
	struct comet_scalar scalar;
	char shown[80];

	comet_scalar_resolve(text, strlen(text), &scalar);
	switch (scalar.kind) {
	case COMET_SCALAR_BOOL:
		snprintf(shown, sizeof(shown), "bool %d", scalar.boolean);
		break;
	case COMET_SCALAR_INT:
		snprintf(shown, sizeof(shown), "int %lld", (long long)scalar.integer);
		break;
	case COMET_SCALAR_UNSIGNED:
		snprintf(shown, sizeof(shown), "uint");
		break;
	case COMET_SCALAR_FLOAT:
		snprintf(shown, sizeof(shown), "float %g", scalar.real);
		break;
	case COMET_SCALAR_TEXT:
	case COMET_SCALAR_NULL:
	case COMET_SCALAR_TIMESTAMP:
	case _COMET_SCALAR_MAX:
		snprintf(shown, sizeof(shown), "%s", comet_scalar_tag(&scalar) + 2);
		break;
	}
	if (strcmp(shown, expected) != 0)
		print_error("\"%s\": wanted %s, found %s\n", text, expected, shown);
	assert_string_equal(shown, expected);
}

static void test_scalars(void **state)
{
	static const char *const rows[][2] = {
		{ "", "null" },
		{ "~", "null" },
		{ "null", "null" },
		{ "Null", "null" },
		{ "NULL", "null" },
		{ "nUll", "str" },
		{ "true", "bool 1" },
		{ "False", "bool 0" },
		{ "tRUE", "str" },
		{ "yes", "str" },
		{ "on", "str" },
		{ "no", "str" },
		{ "0", "int 0" },
		{ "-0", "int 0" },
		{ "443", "int 443" },
		{ "+443", "int 443" },
		{ "-443", "int -443" },
		{ "0443", "int 291" },
		{ "0o443", "int 291" },
		{ "0O443", "int 291" },
		{ "08", "float 8" },
		{ "0x1bb", "int 443" },
		{ "0X1BB", "int 443" },
		{ "-0x10", "int -16" },
		{ "0b101", "int 5" },
		{ "-0b101", "int -5" },
		{ "0b-1", "int -1" },
		{ "0o-7", "int -7" },
		{ "-0b-1", "str" },
		{ "0x", "str" },
		{ "0b", "str" },
		{ "0o", "str" },
		{ "0b2", "str" },
		{ "0xg", "str" },
		{ "4_43", "int 443" },
		{ "_443", "str" },
		{ "4__4_", "int 44" },
		{ "1 2", "str" },
		{ "--1", "str" },
		{ "-", "str" },
		{ "+", "str" },
		{ "+-1", "str" },
		{ "9223372036854775807", "int 9223372036854775807" },
		{ "-9223372036854775808", "int -9223372036854775808" },
		{ "9223372036854775808", "uint" },
		{ "18446744073709551615", "uint" },
		{ "18446744073709551616", "float 1.84467e+19" },
		{ "+18446744073709551615", "float 1.84467e+19" },
		{ "-9223372036854775809", "float -9.22337e+18" },
		{ "443.5", "float 443.5" },
		{ "443.", "float 443" },
		{ ".5", "float 0.5" },
		{ "-.5", "float -0.5" },
		{ ".", "str" },
		{ "..", "str" },
		{ ".5.", "str" },
		{ ".5_0", "str" },
		{ "1e3", "float 1000" },
		{ "1E+3", "float 1000" },
		{ "1e", "str" },
		{ "1e+", "str" },
		{ "1e999", "str" },
		{ "1e-999", "float 0" },
		{ "1.2.3", "str" },
		{ "0x1p3", "str" },
		{ "inf", "str" },
		{ ".inf", "float inf" },
		{ "-.INF", "float -inf" },
		{ "nan", "str" },
		{ "1:59", "str" },
		{ "22:22", "str" },
		{ "2026-01-01", "timestamp" },
		{ "2026-1-1", "timestamp" },
		{ "2026-02-29", "str" },
		{ "2024-02-29", "timestamp" },
		{ "1900-02-29", "str" },
		{ "2000-02-29", "timestamp" },
		{ "2026-13-01", "str" },
		{ "2026-00-01", "str" },
		{ "2026-04-31", "str" },
		{ "2026-01-01T10:00:00Z", "timestamp" },
		{ "2026-01-01t1:2:3.5+02:00", "timestamp" },
		{ "2026-01-01 10:00:00", "timestamp" },
		{ "2026-01-01 10:00:00Z", "str" },
		{ "2026-01-01T10:00:00", "str" },
		{ "2026-01-01T24:00:00Z", "str" },
		{ "26-01-01", "str" },
		{ "<<", "str" },
		{ "0000000000000000000000000000000000000000000000000000000000000000", "int 0" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++)
		check_scalar(rows[i][0], rows[i][1]);
}

static void test_sha256(void **state)
{
	/* FIPS 180-4 examples and the published long vectors. */
	static const struct {
		const char *text;
		size_t times;
		const char *digest;
	} rows[] = {
		{ "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		  1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
		{ "a", 1000000,
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		struct comet_sha256 sha;
		char hex[65];

		comet_sha256_begin(&sha);
		for (size_t n = 0; n < rows[i].times; n++)
			comet_sha256_add(&sha, rows[i].text, strlen(rows[i].text));
		comet_sha256_end(&sha, hex);
		assert_string_equal(hex, rows[i].digest);
	}
}

static void check_quote(const char *bytes, size_t size, size_t capacity, const char *expected)
{
	char *out = malloc(capacity);

	assert_non_null(out);
	comet_quote(bytes, size, out, capacity);
	assert_string_equal(out, expected);
	free(out);
}

static void test_quotes(void **state)
{
	static const char controls[] = "a\a\b\t\n\v\f\r\\\"\x1b[31m\x7f\0z";

	(void)state;
	check_quote("plain text", 10, 100, "plain text");
	check_quote(controls, sizeof(controls) - 1, 100,
		    "a\\a\\b\\t\\n\\v\\f\\r\\\\\\\"\\x1b[31m\\x7f\\x00z");
	check_quote("\xc3\xbc\xe4\xb8\xad\xf0\x9f\x90\xa7", 9, 100,
		    "\xc3\xbc\xe4\xb8\xad\xf0\x9f\x90\xa7");
	check_quote("\xff\xc3(\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe4\xb8", 14, 100,
		    "\\xff\\xc3(\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe4\\xb8");
	check_quote("\xe2\x80\xae\xc2\xa0\xef\xbb\xbf\xf3\xa0\x80\x81", 12, 100,
		    "\\u202e\\u00a0\\ufeff\\U000e0001");
	check_quote("abcdef", 6, 7, "abcdef");
	check_quote("abcdef", 6, 6, "ab...");
	check_quote("abcdef", 6, 4, "...");
	check_quote("abcdef", 6, 2, ".");
	check_quote("abcdef", 6, 1, "");
	check_quote("ab\xe4\xb8\xad\xe4\xb8\xad", 8, 8, "ab...");
	check_quote("", 0, 1, "");
}

static void test_suggestions(void **state)
{
	static const char *const words[] = { "egress",  "fs",   "fs_read",
					     "fs.read", "exec", "determinism_tier" };
	static const char *const rows[][2] = {
		{ "egres", "egress" },
		{ "egerss", "egress" },
		{ "Egress", "egress" },
		{ "fs-read", "fs_read" },
		{ "fs.raed", "fs.read" },
		{ "fs_raed", "fs_read" },
		{ "exce", "exec" },
		{ "exe", "exec" },
		{ "determinism-teir", "determinism_tier" },
		{ "gibberish", NULL },
		{ "", NULL },
		{ "f", "fs" },
		{ "network", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(rows); i++) {
		const char *found = comet_suggest(rows[i][0], strlen(rows[i][0]), words,
						  COMET_ARRAY_SIZE(words));

		if (rows[i][1])
			assert_string_equal(found ? found : "(none)", rows[i][1]);
		else
			assert_null(found);
	}
}

static void test_errors(void **state)
{
	struct comet_error error = { "" };
	char longer[3000];

	(void)state;
	assert_int_equal(comet_error_set(&error, EINVAL, "a %d", 1), -EINVAL);
	assert_string_equal(error.text, "a 1");
	assert_int_equal(comet_error_wrap(&error, -EPERM, "in %s", "b"), -EPERM);
	assert_string_equal(error.text, "in b: a 1");
	assert_int_equal(comet_error_set(NULL, ENOMEM, "x"), -ENOMEM);
	assert_int_equal(comet_error_wrap(NULL, -1, "x"), -1);
	for (size_t shift = 0; shift < 4; shift++) {
		size_t length;

		memset(longer, 'x', shift);
		for (size_t i = shift; i + 3 < sizeof(longer); i += 3)
			memcpy(longer + i, "\xe4\xb8\xad", 4);
		comet_error_set(&error, 0, "%s", longer);
		length = strlen(error.text);
		assert_in_range(length, sizeof(error.text) - 4, sizeof(error.text) - 1);
		assert_int_equal((length - shift) % 3, 0);
	}
}

static void test_words(void **state)
{
	enum comet_protocol protocol;

	(void)state;
	for (int i = 0; i < _COMET_PROTOCOL_MAX; i++) {
		assert_int_equal(comet_protocol_from_str(
					 comet_protocol_to_str((enum comet_protocol)i), &protocol),
				 0);
		assert_int_equal(protocol, i);
	}
	assert_int_equal(comet_protocol_from_str("HTTPS", &protocol), -EINVAL);
	assert_int_equal(comet_protocol_from_str("", &protocol), -EINVAL);
	assert_int_equal(comet_protocol_transport(COMET_PROTOCOL_GRPC), IPPROTO_TCP);
	assert_int_equal(comet_protocol_transport(COMET_PROTOCOL_QUIC), IPPROTO_UDP);
	assert_int_equal(comet_protocol_transport(COMET_PROTOCOL_ANY), 0);
	assert_string_equal(comet_dialect_to_str(COMET_DIALECT_SPEC), "spec");
	assert_string_equal(comet_isolation_to_str(COMET_ISOLATION_CONTAINER), "container");
}

static void test_forms(void **state)
{
	(void)state;
	assert_true(comet_is_env_ref("${AB}", 5));
	assert_true(comet_is_env_ref("${_9}", 5));
	assert_false(comet_is_env_ref("${A}", 4));
	assert_false(comet_is_env_ref("${9A}", 5));
	assert_false(comet_is_env_ref("${ab}", 5));
	assert_false(comet_is_env_ref("$AB", 3));
	assert_false(comet_is_slug("", 0));
	assert_false(comet_is_slug("a\0b", 3));
	assert_true(comet_is_label("7up", 3));
	assert_false(comet_is_label("a.b", 3));
}

static void test_arena(void **state)
{
	struct comet_arena arena = { 0 };
	char *first = comet_arena_alloc(&arena, 1);
	char *large = comet_arena_alloc(&arena, 1000000);
	char *second = comet_arena_alloc(&arena, 1);

	(void)state;
	assert_non_null(first);
	assert_non_null(large);
	assert_int_equal((uintptr_t)first % _Alignof(max_align_t), 0);
	assert_int_equal((uintptr_t)large % _Alignof(max_align_t), 0);
	/* A large object does not end the chunk that small ones are filling. */
	assert_ptr_equal(second, first + sizeof(max_align_t));
	assert_int_equal(large[999999], 0);
	memset(large, 1, 1000000);
	assert_null(comet_arena_array(&arena, SIZE_MAX / 2, 4));
	assert_null(comet_arena_alloc(&arena, SIZE_MAX));
	assert_string_equal(comet_arena_quote(&arena, "a\"b", 3), "\"a\\\"b\"");
	comet_arena_free(&arena);
	comet_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars), cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_quotes),  cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_errors),  cmocka_unit_test(test_words),
		cmocka_unit_test(test_forms),   cmocka_unit_test(test_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
