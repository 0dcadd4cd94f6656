// SPDX-License-Identifier: Apache-2.0
/* Do bytes that anybody may have chosen leave as text that nobody can be fooled by? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/base.h"
#include "user/text.h"

/* Encodes any 21 bits as UTF-8 would, also where UTF-8 forbids it. */
static size_t encode(uint32_t c, size_t n, char *out)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	if (n == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (char)(lead[n] | c);
	return n;
}

static size_t shortest(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

static void every_character_is_decoded_in_its_shortest_form_only(void **state)
{
	char bytes[4];

	(void)state;
	for (uint32_t c = 0; c < 0x1fffff; c += c < 0x11000 ? 1 : 251) {
		bool valid = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);

		for (size_t n = shortest(c); n <= 4; n++) {
			bool expected = valid && n == shortest(c);
			uint32_t back = 0;

			encode(c, n, bytes);
			assert_int_equal(comet_text_decode(bytes, n, &back), expected ? n : 0);
			if (expected)
				assert_int_equal(back, c);
			assert_int_equal(comet_text_decode(bytes, n - 1, NULL), 0);
		}
	}
}

static void bytes_that_start_nothing_are_refused(void **state)
{
	(void)state;
	for (int lead = 0x80; lead <= 0xff; lead++) {
		char bytes[4] = { (char)lead, 'a', 'a', 'a' };

		assert_int_equal(comet_text_decode(bytes, 4, NULL), 0);
	}
	assert_int_equal(comet_text_decode("\xc3\xc3", 2, NULL), 0);
	assert_int_equal(comet_text_decode("\xc3\xa4", 2, NULL), 2);
}

static void text_with_a_nul_is_not_text(void **state)
{
	(void)state;
	assert_true(comet_text_is_utf8("", 0));
	assert_true(comet_text_is_utf8("a\xc3\xa4", 3));
	assert_false(comet_text_is_utf8("a\0b", 3));
	assert_false(comet_text_is_utf8("a\xc3", 2));
}

static void hex_is_lower_case(void **state)
{
	char *hex = comet_text_to_hex("\x00\x0f\xf0\xab", 4);

	(void)state;
	assert_string_equal(hex, "000ff0ab");
	free(hex);
}

static void assert_quoted(const char *bytes, size_t len, const char *expected)
{
	char *quoted = comet_text_quote(bytes, len);

	assert_non_null(quoted);
	assert_string_equal(quoted, expected);
	free(quoted);
}

static void plain_names_stay_as_they_are(void **state)
{
	(void)state;
	assert_quoted("/usr/lib/x86_64-linux-gnu/libc.so.6", 35,
		      "/usr/lib/x86_64-linux-gnu/libc.so.6");
	assert_quoted("[2001:db8::1%3]:443/udp", 23, "[2001:db8::1%3]:443/udp");
	assert_quoted("@bus", 4, "@bus");
}

static void other_names_are_quoted(void **state)
{
	(void)state;
	assert_quoted("", 0, "\"\"");
	assert_quoted("a b", 3, "\"a b\"");
	assert_quoted("a(b)", 4, "\"a(b)\"");
	assert_quoted("a\0b", 3, "\"a\\x00b\"");
	assert_quoted("\n\t\"\\", 4, "\"\\n\\t\\\"\\\\\"");
	assert_quoted("\x1b\x7f\xff", 3, "\"\\x1b\\x7f\\xff\"");
	assert_quoted("\xe2\x80\xae", 3, "\"\\u202e\"");
	assert_quoted("\xc3\xa4", 2, "\"\xc3\xa4\"");
}

static void the_longest_escapes_are_not_cut(void **state)
{
	char bytes[5000];
	char *quoted;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	quoted = comet_text_quote(bytes, sizeof(bytes));
	assert_non_null(quoted);
	assert_int_equal(strlen(quoted), 4 * sizeof(bytes) + 2);
	assert_string_equal(quoted + strlen(quoted) - 5, "\\xff\"");
	free(quoted);
}

static void a_line_of_json_has_no_other_line_ends(void **state)
{
	char *line =
		comet_text_json_line("{\"a\":\"\xe2\x80\xa8\xe2\x80\xa9\x7f\xc2\x85\xc3\xa4\"}");

	(void)state;
	assert_non_null(line);
	assert_string_equal(line, "{\"a\":\"\\u2028\\u2029\\u007f\\u0085\xc3\xa4\"}");
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_character_is_decoded_in_its_shortest_form_only),
		cmocka_unit_test(bytes_that_start_nothing_are_refused),
		cmocka_unit_test(text_with_a_nul_is_not_text),
		cmocka_unit_test(hex_is_lower_case),
		cmocka_unit_test(plain_names_stay_as_they_are),
		cmocka_unit_test(other_names_are_quoted),
		cmocka_unit_test(the_longest_escapes_are_not_cut),
		cmocka_unit_test(a_line_of_json_has_no_other_line_ends),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
