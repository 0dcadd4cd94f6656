// SPDX-License-Identifier: Apache-2.0
/* Does a policy hold what its manifest declares, and nothing else? */
#include "tests/unit/test_policy.h"

static size_t count_paths(const struct comet_policy *policy, enum comet_source source)
{
	size_t n = 0;

	for (size_t i = 0; i < policy->n_paths; i++)
		n += policy->paths[i].source == source;
	return n;
}

static void paths_keep_access_and_line(void **state)
{
	struct comet_entry read[] = { { (char *)"/data//in/", AT(11) } };
	struct comet_entry write[] = { { (char *)"/workdir/out", AT(13) } };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	const struct comet_path_rule *rule;
	struct comet_policy *policy;

	(void)state;
	m.fs_read = read;
	m.n_fs_read = 1;
	m.fs_write = write;
	m.n_fs_write = 1;
	policy = compile(&m, NULL);
	assert_string_equal(policy->pack, "pack@1.0.0");
	rule = find_path(policy, "/data/in", COMET_FS_READ);
	assert_non_null(rule);
	assert_int_equal(rule->source, COMET_SOURCE_MANIFEST);
	assert_int_equal(rule->location.line, 11);
	assert_false(rule->self_only);
	assert_false(rule->optional);
	rule = find_path(policy, "/workdir/out", COMET_FS_WRITE);
	assert_non_null(rule);
	assert_int_equal(rule->location.line, 13);
	assert_null(find_path(policy, "/workdir/out", COMET_FS_READ));
	assert_int_equal(count_paths(policy, COMET_SOURCE_MANIFEST), 2);
	comet_policy_free(policy);
}

static void workdir_is_always_readable_and_never_writable(void **state)
{
	struct comet_policy_options options = { .workdir = "/somewhere" };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy = compile(&m, NULL);
	const struct comet_path_rule *rule = find_path(policy, "/workdir", COMET_FS_READ);

	(void)state;
	assert_non_null(rule);
	assert_int_equal(rule->source, COMET_SOURCE_BASE);
	assert_null(find_path(policy, "/workdir", COMET_FS_WRITE));
	comet_policy_free(policy);
	policy = compile(&m, &options);
	assert_non_null(find_path(policy, "/somewhere", COMET_FS_READ));
	assert_null(find_path(policy, "/workdir", COMET_FS_READ));
	comet_policy_free(policy);
}

static void equal_entries_are_one_and_the_manifest_keeps_the_line(void **state)
{
	struct comet_entry read[] = {
		{ (char *)"/workdir", AT(11) },
		{ (char *)"/data", AT(12) },
		{ (char *)"/data/", AT(13) },
		{ (char *)"/datax", AT(14) },
	};
	struct comet_entry exec[] = {
		{ (char *)"git", AT(20) },
		{ (char *)"git", AT(21) },
		{ (char *)"/usr/bin/git", AT(22) },
	};
	struct comet_egress egress[] = {
		{ (char *)"a.test", 443, COMET_PROTOCOL_HTTPS, AT(30) },
		{ (char *)"a.test", 443, COMET_PROTOCOL_GRPC, AT(31) },
		{ (char *)"a.test", 443, COMET_PROTOCOL_QUIC, AT(32) },
		{ (char *)"10.0.0.1", 443, COMET_PROTOCOL_TCP, AT(33) },
		{ (char *)"::ffff:10.0.0.1", 443, COMET_PROTOCOL_TCP, AT(34) },
	};
	struct comet_manifest m = manifest_with_egress(egress, N(egress));
	struct comet_policy *policy;

	(void)state;
	m.fs_read = read;
	m.n_fs_read = N(read);
	m.exec = exec;
	m.n_exec = N(exec);
	policy = compile(&m, NULL);
	assert_int_equal(count_paths(policy, COMET_SOURCE_MANIFEST), 3);
	assert_int_equal(find_path(policy, "/workdir", COMET_FS_READ)->location.line, 11);
	assert_int_equal(find_path(policy, "/data", COMET_FS_READ)->location.line, 12);
	assert_int_equal(policy->n_execs, 2);
	assert_int_equal(policy->execs[0].location.line, 20);
	assert_string_equal(policy->execs[1].program, "/usr/bin/git");
	assert_int_equal(policy->n_nets, 3);
	assert_int_equal(policy->nets[0].location.line, 30);
	assert_int_equal(policy->nets[1].location.line, 32);
	assert_int_equal(policy->nets[2].location.line, 33);
	comet_policy_free(policy);
}

static void one_path_read_and_written_is_two_rules(void **state)
{
	struct comet_entry both[] = { { (char *)"/data", AT(11) } };
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy;

	(void)state;
	m.fs_read = both;
	m.fs_write = both;
	m.n_fs_read = 1;
	m.n_fs_write = 1;
	policy = compile(&m, NULL);
	assert_non_null(find_path(policy, "/data", COMET_FS_READ));
	assert_non_null(find_path(policy, "/data", COMET_FS_WRITE));
	comet_policy_free(policy);
}

/* 0: nothing lets it be listened on. */
static unsigned int line_of_port(const struct comet_policy *policy, unsigned int number,
				 uint8_t transport)
{
	const struct comet_port port = { number, transport };
	const struct comet_serve_rule *rule = comet_policy_serve_lookup(policy, &port);

	return rule ? rule->location.line : 0;
}

static void ports_to_listen_on(void **state)
{
	struct comet_serve serve[] = {
		{ { 8080, IPPROTO_TCP }, AT(40) }, { { 53, IPPROTO_UDP }, AT(41) },
		{ { 8080, IPPROTO_TCP }, AT(42) }, { { 8080, IPPROTO_UDP }, AT(43) },
		{ { 0, IPPROTO_UDP }, AT(44) },
	};
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_policy *policy;

	(void)state;
	m.serve = serve;
	m.n_serve = N(serve);
	policy = compile(&m, NULL);
	assert_int_equal(policy->n_nets, 0);
	assert_int_equal(policy->n_serves, 4);
	assert_int_equal(policy->serves[0].location.line, 40);
	assert_string_equal(policy->serves[0].text, "8080/tcp");
	assert_string_equal(policy->serves[2].text, "8080/udp");
	assert_string_equal(policy->serves[3].text, "*/udp");
	for (size_t i = 0; i < policy->n_serves; i++)
		assert_int_equal(policy->serves[i].source, COMET_SOURCE_MANIFEST);
	/* The port's own rule is named before that of every port. */
	assert_int_equal(line_of_port(policy, 8080, IPPROTO_UDP), 43);
	assert_int_equal(line_of_port(policy, 8081, IPPROTO_UDP), 44);
	assert_int_equal(line_of_port(policy, 8080, IPPROTO_TCP), 40);
	assert_int_equal(line_of_port(policy, 8081, IPPROTO_TCP), 0);
	assert_int_equal(line_of_port(policy, 53, IPPROTO_TCP), 0);
	comet_policy_free(policy);

	serve[1].port.number = 65536;
	assert_not_compiled(&m, NULL, EINVAL, "soyapack.yaml:41:9: port 65536 is above 65535");
}

static void faults_are_told_with_their_place(void **state)
{
	struct comet_egress egress[] = { { (char *)"10.1.2.3/8", 443, COMET_PROTOCOL_HTTPS,
					   AT(14) } };
	struct comet_entry entry[] = { { (char *)"out", AT(15) } };
	struct comet_policy_options options = { .home = "home" };
	struct comet_manifest m = manifest_with_egress(egress, 1);

	(void)state;
	assert_not_compiled(&m, NULL, EINVAL, "soyapack.yaml:14:9: ");
	assert_not_compiled(&m, NULL, EINVAL, "10.0.0.0/8");
	m.n_egress = 0;
	m.fs_read = entry;
	m.n_fs_read = 1;
	assert_not_compiled(&m, NULL, EINVAL, "soyapack.yaml:15:9: \"out\" is a relative path");
	m.n_fs_read = 0;
	m.fs_write = entry;
	m.n_fs_write = 1;
	assert_not_compiled(&m, NULL, EINVAL, "relative");
	m.n_fs_write = 0;
	assert_not_compiled(&m, &options, EINVAL, "home");
}

static void programs(void **state)
{
	static const struct {
		const char *program, *part; /* part NULL: accepted */
	} rows[] = {
		{ "git", NULL },         { "/usr/bin/git", NULL },
		{ "g++", NULL },         { "-c", NULL },
		{ "", "empty" },         { ".", "directory" },
		{ "..", "directory" },   { "bin/git", "relative" },
		{ "./git", "relative" }, { "/usr/bin/", "directory" },
	};
	struct comet_entry entry = { .location = AT(3) };
	struct comet_manifest m = manifest_with_egress(NULL, 0);

	(void)state;
	m.exec = &entry;
	m.n_exec = 1;
	for (size_t i = 0; i < N(rows); i++) {
		entry.text = (char *)rows[i].program;
		if (rows[i].part)
			assert_not_compiled(&m, NULL, EINVAL, rows[i].part);
		else
			comet_policy_free(compile(&m, NULL));
	}
}

static char *long_path(size_t len, size_t name)
{
	char *path = malloc(len + 1);

	assert_non_null(path);
	for (size_t i = 0; i < len; i++)
		path[i] = i % (name + 1) == 0 ? '/' : 'a';
	path[len] = '\0';
	if (path[len - 1] == '/')
		path[len - 1] = 'a';
	return path;
}

static void limits_of_paths(void **state)
{
	static const struct {
		size_t len, name;
		const char *part; /* NULL: accepted */
	} rows[] = {
		{ 4095, 200, NULL },
		{ 4096, 200, "the limit is 4095" },
		{ 256, 255, NULL },
		{ 257, 256, "the limit is 255" },
	};
	struct comet_entry entry = { .location = AT(3) };
	struct comet_manifest m = manifest_with_egress(NULL, 0);

	(void)state;
	m.fs_read = &entry;
	m.n_fs_read = 1;
	for (size_t i = 0; i < N(rows); i++) {
		entry.text = long_path(rows[i].len, rows[i].name);
		if (rows[i].part)
			assert_not_compiled(&m, NULL, ENAMETOOLONG, rows[i].part);
		else
			comet_policy_free(compile(&m, NULL));
		free(entry.text);
	}
}

static void limit_of_rules_with_the_first_entry_over_it(void **state)
{
	struct comet_manifest m = manifest_with_egress(NULL, 0);
	struct comet_entry *entries = calloc(COMET_POLICY_RULES_MAX + 1, sizeof(*entries));
	char(*names)[16] = calloc(COMET_POLICY_RULES_MAX + 1, sizeof(*names));
	struct comet_policy *policy;
	char expected[64];
	size_t base;

	(void)state;
	assert_non_null(entries);
	assert_non_null(names);
	for (size_t i = 0; i <= COMET_POLICY_RULES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "/p/%zu", i);
		entries[i].text = names[i];
		entries[i].location = (struct comet_location)AT((unsigned int)i + 1);
	}
	m.exec = entries;
	m.n_exec = COMET_POLICY_RULES_MAX;
	policy = compile(&m, NULL);
	assert_int_equal(policy->n_execs, COMET_POLICY_RULES_MAX);
	base = policy->n_paths;
	comet_policy_free(policy);
	m.n_exec = COMET_POLICY_RULES_MAX + 1;
	assert_not_compiled(&m, NULL, E2BIG, "soyapack.yaml:20001:9: ");
	assert_not_compiled(&m, NULL, E2BIG, "limit of 20000");
	m.n_exec = 0;

	/* The base set counts; the place is that of the entry all the same. */
	m.fs_read = entries;
	m.n_fs_read = COMET_POLICY_RULES_MAX - base;
	policy = compile(&m, NULL);
	assert_int_equal(policy->n_paths, COMET_POLICY_RULES_MAX);
	comet_policy_free(policy);
	m.n_fs_read++;
	snprintf(expected, sizeof(expected), "soyapack.yaml:%zu:9: ", m.n_fs_read);
	assert_not_compiled(&m, NULL, E2BIG, expected);
	free(entries);
	free(names);
}

static void sources_have_words(void **state)
{
	(void)state;
	for (int i = 0; i < _COMET_SOURCE_MAX; i++)
		assert_non_null(comet_source_to_str((enum comet_source)i));
	assert_string_equal(comet_source_to_str(COMET_SOURCE_CANARY), "canary");
	assert_null(comet_source_to_str(_COMET_SOURCE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_keep_access_and_line),
		cmocka_unit_test(workdir_is_always_readable_and_never_writable),
		cmocka_unit_test(equal_entries_are_one_and_the_manifest_keeps_the_line),
		cmocka_unit_test(one_path_read_and_written_is_two_rules),
		cmocka_unit_test(ports_to_listen_on),
		cmocka_unit_test(faults_are_told_with_their_place),
		cmocka_unit_test(programs),
		cmocka_unit_test(limits_of_paths),
		cmocka_unit_test(limit_of_rules_with_the_first_entry_over_it),
		cmocka_unit_test(sources_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
