/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes does a manifest file hold? */
#ifndef COMET_FILE_H
#define COMET_FILE_H

#include <stddef.h>

#include "manifest/error.h"

struct comet_file {
	char *name;
	void *bytes;
	size_t size;
};

/*
 * Reads the file called file->name, at most COMET_DOCUMENT_SIZE_MAX bytes. The error has
 * upstream's words for a file that cannot be opened or read.
 */
int comet_file_read(struct comet_file *file, struct comet_error *error);

void comet_file_free(struct comet_file *file);

#endif /* COMET_FILE_H */
