/* SPDX-License-Identifier: Apache-2.0 */
/* How does one write to a stream that others share, and never wait for its reader? */
#ifndef COMET_STREAM_H
#define COMET_STREAM_H

/*
 * A pipe or terminal behind fd opened anew, for writing without waiting, on a descriptor of the
 * caller's; or a negative errno: fd is something else, or may not be opened again. O_NONBLOCK on fd
 * itself would be the agent's, too; and poll(2) promises nothing where the agent writes as well.
 */
int comet_stream_again(int fd);

#endif /* COMET_STREAM_H */
