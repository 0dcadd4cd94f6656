// SPDX-License-Identifier: Apache-2.0
//
// What do the two halves of the VM's init know of each other?
#ifndef VM_INIT_H
#define VM_INIT_H

// Ends the VM without a result, which scripts/vm takes for a broken VM; the text goes to the
// console.
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Mounts all but cgroups, and makes the device nodes that devtmpfs leaves out.
void host_mount(void);

// MODE as in scripts/vm --cgroup.
void host_mount_cgroups(const char *mode);

// Names, lo, limits, sysctls.
void host_set_up(void);

#endif
