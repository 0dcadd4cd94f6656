/* SPDX-License-Identifier: Apache-2.0 */
/* How is one request given to io_uring, without its library? */
#ifndef COMET_URING_H
#define COMET_URING_H

#include <linux/io_uring.h>

/*
 * Its result; the ring is made for it, with these IORING_SETUP_* flags, and closed. With
 * personality 1 the caller's credentials are registered as that.
 */
int uring_do(const struct io_uring_sqe *request, unsigned int flags);
/* At most four, one after the other. Each result goes to answers. */
void uring_do_all(const struct io_uring_sqe *requests, int *answers, unsigned int n,
		  unsigned int flags);

#endif /* COMET_URING_H */
