// SPDX-License-Identifier: Apache-2.0
/* What holds a run to the end of its last task, whoever of Comet is killed? */
#define _GNU_SOURCE 1

#include "user/pins.h"

#include <bpf/bpf.h>
#include <sys/mount.h>
#include <sys/utsname.h>

#include "user/base.h"

bool comet_pins_are_safe(void)
{
	unsigned int major, minor;
	struct utsname host;

	if (uname(&host) < 0 || sscanf(host.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 5);
}

int comet_pins_make(struct comet_error *error)
{
	_cleanup_close_ int fs = fsopen("bpf", FSOPEN_CLOEXEC);
	int pins = -1;

	if (fs >= 0 && fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		pins = fsmount(fs, FSMOUNT_CLOEXEC,
			       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (pins < 0)
		return comet_error_set(error, errno, "cannot make a BPF filesystem for the run: %s",
				       strerror(errno));
	return pins;
}

int comet_pins_add(int pins, const char *name, int link, struct comet_error *error)
{
	char path[64];

	/* The kernel takes a path only, before 6.5, and none leads there. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", pins, name);
	if (bpf_obj_pin(link, path))
		return comet_error_set(error, errno, "cannot pin %s for the run: %s", name,
				       strerror(errno));
	return 0;
}
