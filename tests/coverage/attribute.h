/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes do the rows read and set? With what the C library's headers lack. */
#ifndef COMET_ATTRIBUTE_H
#define COMET_ATTRIBUTE_H

#include <linux/types.h>

#include "tests/coverage/road.h"

#define ATTRIBUTE "user.road"
#define ATTRIBUTE_ACL "system.posix_acl_access"
#define ATTRIBUTE_DEFAULT_ACL "system.posix_acl_default"

/* The same numbers on all architectures. */
#define SYS_FCHMODAT2 452
#define SYS_SETXATTRAT 463
#define SYS_GETXATTRAT 464
#define SYS_REMOVEXATTRAT 466
#define SYS_FILE_GETATTR 468
#define SYS_FILE_SETATTR 469

/* struct xattr_args */
struct attribute_args {
	__u64 value __attribute__((aligned(8)));
	__u32 size;
	__u32 flags;
};

/* struct file_attr */
struct attribute_flags {
	__u64 xflags;
	__u32 extsize;
	__u32 nextents;
	__u32 projid;
	__u32 cowextsize;
};

/* struct posix_acl_xattr_header with its entries */
struct attribute_acl {
	__u32 version;
	struct {
		__u16 tag;
		__u16 permissions;
		__u32 id;
	} entries[5];
};

/* A file with ATTRIBUTE and an ACL. */
void attribute_prepare(const struct place *place);

#endif /* COMET_ATTRIBUTE_H */
