// SPDX-License-Identifier: Apache-2.0
/* What does a pack declare? Finds the files, the dialect, and what only the whole can show. */
#define _GNU_SOURCE 1 /* asprintf */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/block.h"
#include "manifest/file.h"
#include "manifest/manifest.h"
#include "manifest/path.h"
#include "manifest/report.h"
#include "manifest/scalar.h"
#include "manifest/sha256.h"

#define MANIFEST_NAME "soyapack.yaml"
#define SIBLING_NAME "capabilities.yml"

/* The manifest is the first thing in its own arena, so freeing that frees all. */
struct storage {
	struct comet_arena arena;
	struct comet_manifest manifest;
};

static void storage_free(struct storage *storage)
{
	if (!storage)
		return;
	comet_arena_free(&storage->arena);
	free(storage);
}

static void storage_free_ptr(struct storage **storage)
{
	storage_free(*storage);
}

void comet_manifest_free(struct comet_manifest *manifest)
{
	if (manifest)
		storage_free(manifest->storage);
}

/* apiVersion alone names the seed's dialect; with spec_version beside it upstream decides. */
static bool is_seed_dialect(const struct comet_document *document)
{
	const struct comet_node *root = document->root;
	bool has_api = false;

	if (!root || root->kind != COMET_NODE_MAPPING)
		return false;
	for (size_t i = 0; i < root->n_children; i += 2) {
		const struct comet_node *key = root->children[i];

		if (comet_bytes_are(key->text, key->size, "spec_version"))
			return false;
		if (comet_bytes_are(key->text, key->size, "apiVersion"))
			has_api = true;
	}
	return has_api;
}

static int read_source(struct comet_report *report, const struct comet_file *source,
		       bool *has_block)
{
	struct comet_document document = { 0 };
	int r;

	r = comet_document_parse(report->arena, report->file, source->bytes, source->size,
				 &document, report->error);
	if (r < 0)
		return r;
	if (!is_seed_dialect(&document))
		return comet_soyapack_read(report, &document, has_block);
	*has_block = true;
	return comet_seed_read(report, &document);
}

/* The block in a file of its own, which must be the only one. */
static int read_sibling(struct comet_report *report, const struct comet_file *sibling,
			bool has_block)
{
	struct comet_document document = { 0 };
	int r;

	report->file = comet_arena_copy(report->arena, sibling->name, strlen(sibling->name));
	if (!report->file)
		return comet_report_no_memory(report);
	if (has_block) {
		report->upstream_accepts = strcmp(report->manifest->schema, "soyapack.v0") == 0;
		r = comet_report_refuse(
			report, NULL,
			"expected one capabilities block, found this file beside the block in the manifest");
		report->upstream_accepts = false;
		return r;
	}
	r = comet_document_parse(report->arena, report->file, sibling->bytes, sibling->size,
				 &document, report->error);
	if (r < 0)
		return r;
	r = comet_report_rest(report, &document);
	if (r < 0 || !document.root || comet_node_is_null(document.root))
		return r;
	return comet_block_read_file(report, document.root);
}

static void take_digest(const struct comet_file *source, const struct comet_file *sibling,
			char hex[65])
{
	struct comet_sha256 sha;

	comet_sha256_begin(&sha);
	comet_sha256_add(&sha, source->bytes, source->size);
	if (sibling)
		comet_sha256_add(&sha, sibling->bytes, sibling->size);
	comet_sha256_end(&sha, hex);
}

static int name_files(struct comet_report *report, const char *name)
{
	struct comet_manifest *manifest = report->manifest;
	const char *slash = strrchr(name, '/');
	size_t length = slash ? (size_t)(slash - name) : 1;

	manifest->file = comet_arena_copy(report->arena, name, strlen(name));
	if (slash == name)
		length = 1;
	manifest->directory = comet_arena_copy(report->arena, slash ? name : ".", length);
	if (!manifest->file || !manifest->directory)
		return comet_report_no_memory(report);
	report->file = manifest->file;
	return 0;
}

/* An agent that may write its own manifest grants itself more at the next run. */
static int warn_if_writable(struct comet_report *report)
{
	struct comet_manifest *manifest = report->manifest;
	char file[PATH_MAX];
	char entry[PATH_MAX];
	int r;

	if (!realpath(manifest->file, file))
		return 0;
	for (size_t i = 0; i < manifest->n_fs_write; i++) {
		const struct comet_entry *write = &manifest->fs_write[i];
		struct comet_node place = { .line = write->location.line,
					    .column = write->location.column };

		if (!comet_path_covers(write->text, file) &&
		    !(realpath(write->text, entry) && comet_path_covers(entry, file)))
			continue;
		report->file = write->location.file;
		r = comet_report_warn(
			report, &place,
			"this path holds the manifest itself, so the agent could rewrite what it is allowed");
		report->file = manifest->file;
		if (r < 0)
			return r;
	}
	return 0;
}

/* sibling NULL = no such file; on_disk = the name is a path that can be looked at. */
static int read_pack(const struct comet_file *source, const struct comet_file *sibling,
		     bool on_disk, bool strict, struct comet_manifest **manifest,
		     struct comet_error *error)
{
	_cleanup_(storage_free_ptr) struct storage *storage = NULL;
	struct comet_error scratch;
	struct comet_report report;
	bool has_block = false;
	int r;

	storage = calloc(1, sizeof(*storage));
	if (!storage)
		return comet_error_set(error, ENOMEM, "no memory to read the manifest");
	report = (struct comet_report){
		.manifest = &storage->manifest,
		.arena = &storage->arena,
		.error = error ? error : &scratch,
	};
	r = name_files(&report, source->name);
	if (r == 0)
		r = read_source(&report, source, &has_block);
	if (r == 0 && sibling)
		r = read_sibling(&report, sibling, has_block);
	report.file = storage->manifest.file;
	if (r == 0 && on_disk)
		r = warn_if_writable(&report);
	if (r == 0 && strict)
		r = comet_report_strict(&report);
	if (r < 0)
		return r;
	take_digest(source, has_block ? NULL : sibling, storage->manifest.digest);
	storage->manifest.storage = storage;
	*manifest = &storage->manifest;
	storage = NULL;
	return 0;
}

int comet_manifest_parse(const char *name, const void *bytes, size_t size, bool strict,
			 struct comet_manifest **manifest, struct comet_error *error)
{
	/* Only read from: the casts lend the caller's memory. */
	struct comet_file source = { .name = (char *)name, .bytes = (void *)bytes, .size = size };

	return read_pack(&source, NULL, false, strict, manifest, error);
}

/* Only a pack's own manifest has a sibling: any other YAML file is a pack by itself. */
static bool may_have_sibling(const char *file)
{
	const char *slash = strrchr(file, '/');

	return strcmp(slash ? slash + 1 : file, MANIFEST_NAME) == 0;
}

static char *join(const char *directory, const char *name)
{
	size_t length = strlen(directory);
	char *path;

	if (asprintf(&path, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/",
		     name) < 0)
		return NULL;
	return path;
}

static char *find_manifest(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return join(path, MANIFEST_NAME);
	return strdup(path);
}

static char *find_sibling(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *path;

	if (!slash)
		return strdup(SIBLING_NAME);
	if (asprintf(&path, "%.*s%s", (int)(slash + 1 - file), file, SIBLING_NAME) < 0)
		return NULL;
	return path;
}

int comet_manifest_load(const char *path, bool strict, struct comet_manifest **manifest,
			struct comet_error *error)
{
	_cleanup_(comet_file_free) struct comet_file sibling = { 0 };
	_cleanup_(comet_file_free) struct comet_file file = { 0 };
	bool has_sibling = false;
	int r;

	file.name = find_manifest(path);
	if (!file.name)
		return comet_error_set(error, ENOMEM, "no memory to read the manifest");
	r = comet_file_read(&file, error);
	if (r < 0)
		return r;
	if (may_have_sibling(file.name)) {
		sibling.name = find_sibling(file.name);
		if (!sibling.name)
			return comet_error_set(error, ENOMEM, "no memory to read the manifest");
		has_sibling = access(sibling.name, F_OK) == 0 || errno != ENOENT;
	}
	if (has_sibling) {
		r = comet_file_read(&sibling, error);
		if (r < 0)
			return r;
	}
	return read_pack(&file, has_sibling ? &sibling : NULL, true, strict, manifest, error);
}
