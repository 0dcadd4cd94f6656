// SPDX-License-Identifier: Apache-2.0
/* Can any bytes crash, hang or leak the reading of a manifest, or break what it promises? */
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

/* What every reader of a manifest relies on. */
static void check_manifest(const struct comet_manifest *manifest)
{
	require(manifest->name && manifest->version && manifest->kind && manifest->schema);
	require(strlen(manifest->digest) == 64);
	for (size_t i = 0; i < manifest->n_egress; i++) {
		const struct comet_egress *egress = &manifest->egress[i];

		require(egress->host[0] && strlen(egress->host) <= 253);
		require(egress->port >= 1 || egress->protocol == COMET_PROTOCOL_ANY);
		require(egress->port <= 65535 && egress->location.line > 0);
	}
	for (size_t i = 0; i < manifest->n_fs_read; i++)
		require(manifest->fs_read[i].text[0] == '/' && manifest->fs_read[i].location.line);
	for (size_t i = 0; i < manifest->n_fs_write; i++)
		require(manifest->fs_write[i].text[0] == '/' &&
			manifest->fs_write[i].location.line);
	for (size_t i = 0; i < manifest->n_exec; i++)
		require(manifest->exec[i].text[0] && manifest->exec[i].location.line);
	for (size_t i = 0; i < manifest->n_serve; i++)
		require(manifest->serve[i].port.number <= 65535 &&
			(manifest->serve[i].port.transport == IPPROTO_TCP ||
			 manifest->serve[i].port.transport == IPPROTO_UDP) &&
			manifest->serve[i].location.line);
	for (size_t i = 0; i < manifest->n_warnings; i++)
		require(manifest->warnings[i].text[0] && !strchr(manifest->warnings[i].text, '\n'));
}

/* A first byte of 0 or 1 chooses strict; any other belongs to a plain manifest file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct comet_manifest *manifest = NULL;
	struct comet_error error = { "" };
	bool strict = size && data[0] == 1;
	size_t skip = size && data[0] <= 1;
	int r;

	r = comet_manifest_parse("fuzz.yaml", data + skip, size - skip, strict, &manifest, &error);
	if (r < 0) {
		require(!manifest && error.text[0]);
		return 0;
	}
	check_manifest(manifest);
	require(!strict || (!manifest->n_warnings && !manifest->unenforceable));
	comet_manifest_free(manifest);
	return 0;
}
