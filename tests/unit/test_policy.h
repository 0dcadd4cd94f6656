/* SPDX-License-Identifier: Apache-2.0 */
/* What do the tests of policies share? Manifests made by hand, compiled or refused. */
#ifndef COMET_TEST_POLICY_H
#define COMET_TEST_POLICY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/policy.h"

#define AT(n)                                                                                      \
	{                                                                                          \
		.file = "soyapack.yaml", .line = (n), .column = 9                                  \
	}
#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Does a policy hold what its manifest declares, and nothing else? */
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

#include "manifest/address.h"
#include "manifest/base.h"
#include "manifest/policy.h"

#define AT(n)                                                                                      \
	{                                                                                          \
		.file = "soyapack.yaml", .line = (n), .column = 9                                  \
	}
#define N(array) (sizeof(array) / sizeof((array)[0]))

static inline struct comet_manifest manifest_with_egress(struct comet_egress *egress, size_t n)
{
	return (struct comet_manifest){
		.name = (char *)"pack",
		.version = (char *)"1.0.0",
		.egress = egress,
		.n_egress = n,
	};
}

static inline struct comet_policy *compile(const struct comet_manifest *manifest,
					   const struct comet_policy_options *options)
{
	struct comet_policy *policy = NULL;
	struct comet_error error = { "" };

	if (comet_policy_compile(manifest, options, &policy, &error) != 0)
		fail_msg("%s", error.text);
	return policy;
}

static inline void assert_not_compiled(const struct comet_manifest *manifest,
				       const struct comet_policy_options *options, int code,
				       const char *part)
{
	struct comet_policy *policy = (struct comet_policy *)"unchanged";
	struct comet_error error = { "" };

	assert_int_equal(comet_policy_compile(manifest, options, &policy, &error), -code);
	assert_string_equal((char *)policy, "unchanged");
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static inline const struct comet_path_rule *find_path(const struct comet_policy *policy,
						      const char *path, uint32_t access)
{
	for (size_t i = 0; i < policy->n_paths; i++)
		if (strcmp(policy->paths[i].path, path) == 0 && policy->paths[i].access == access)
			return &policy->paths[i];
	return NULL;
}

#endif /* COMET_TEST_POLICY_H */
