// SPDX-License-Identifier: Apache-2.0
/* Can the kernel be held up in the midst of a call? */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/coverage/road.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* A fault of the kernel's own waits for as long as the owner likes: most races need that. */
static int hold_kernel_faults(const struct place *place)
{
	(void)place;
	return road_fd(syscall(SYS_userfaultfd, O_CLOEXEC));
}

static int hold_own_faults(const struct place *place)
{
	(void)place;
	return road_fd(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

static const struct road kernel_fault[] = {
	{
		.name = "userfaultfd for faults of the kernel",
		.surface = "kernel",
		.try = hold_kernel_faults,
		.twin = hold_own_faults,
		.hidden = { EPERM },
		.walled = { EPERM },
	},
};
ROADS(kernel_fault);
