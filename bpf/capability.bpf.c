// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What of root's power is left to a governed process? What acts on files and processes is judged
 * where they are; what acts on the kernel itself is refused, whatever user namespace it is had in.
 *
 * capable: settings of the clock (adjtimex asks nothing else), modules, kexec, reboot, swap, host
 *   name, quota, mounts, namespaces, raw devices, network configuration, ...
 * bpf, perf_event_open, syslog, key_*, uring_override_creds: what is had without a capability, too.
 */
#include "bpf/member.bpf.h"
#include "bpf/report.bpf.h"

/* include/uapi/linux/capability.h */
#define CAP_SYS_ADMIN 21
#define CAP_SYS_TIME 25
#define CAP_SETFCAP 31
#define CAP_WAKE_ALARM 35
#define BIT(n) (1ULL << (n))
#define COMET_CAPABILITIES_REFUSED                                                                 \
	(BIT(9) /* LINUX_IMMUTABLE */ | BIT(12) /* NET_ADMIN */ | BIT(13) /* NET_RAW */ |          \
	 BIT(15) /* IPC_OWNER */ | BIT(16) /* SYS_MODULE */ | BIT(17) /* SYS_RAWIO */ |            \
	 BIT(20) /* SYS_PACCT */ | BIT(CAP_SYS_ADMIN) | BIT(22) /* SYS_BOOT */ |                   \
	 BIT(CAP_SYS_TIME) | BIT(26) /* SYS_TTY_CONFIG */ | BIT(30) /* AUDIT_CONTROL */ |          \
	 BIT(CAP_SETFCAP) | BIT(32) /* MAC_OVERRIDE */ | BIT(33) /* MAC_ADMIN */ |                 \
	 BIT(34) /* SYSLOG */ | BIT(CAP_WAKE_ALARM) | BIT(36) /* BLOCK_SUSPEND */ |                \
	 BIT(37) /* AUDIT_READ */ | BIT(38) /* PERFMON */ | BIT(39) /* BPF */ |                    \
	 BIT(40) /* CHECKPOINT_RESTORE */)

/* Runs often for everybody's root: the cheapest test stands first. */
SEC("lsm/capable")
int BPF_PROG(comet_capable, const struct cred *cred, struct user_namespace *ns, int capability,
	     unsigned int options, int ret)
{
	struct comet_layers *layers;
	__u8 surface = COMET_SURFACE_KERNEL;

	if (ret)
		return ret;
	if (!(COMET_CAPABILITIES_REFUSED >> (capability & 63) & 1))
		return 0;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	/*
	 * What overlayfs asks for its attributes, in the caller's name. Only these: a request of a
	 * ring may also run in the task itself under credentials that it had before.
	 */
	if ((capability == CAP_SYS_ADMIN || capability == CAP_SETFCAP) && comet_kernel_acts())
		return 0;
	/* The kernel asks for itself whether to do more than was asked for. */
	if (options & CAP_OPT_NOAUDIT)
		return -EPERM;
	if (capability == CAP_SYS_TIME || capability == CAP_WAKE_ALARM)
		surface = COMET_SURFACE_TIME;
	return comet_verdict(
		comet_refuse_value(layers, surface, COMET_OP_CAPABILITY, EPERM, capability));
}

static __always_inline int comet_refuse_kernel(__u8 op, __u64 value)
{
	struct comet_layers *layers = comet_layers_current();

	if (!layers)
		return 0;
	return comet_verdict(comet_refuse_value(layers, COMET_SURFACE_KERNEL, op, EPERM, value));
}

/* Arguments come and go between kernels: only the first, or none, is looked at. */
SEC("lsm/bpf")
int BPF_PROG(comet_bpf, int command)
{
	return comet_refuse_kernel(COMET_OP_BPF, command);
}

SEC("lsm/perf_event_open")
int BPF_PROG(comet_perf_event_open)
{
	return comet_refuse_kernel(COMET_OP_PERF, 0);
}

SEC("lsm/syslog")
int BPF_PROG(comet_syslog, int type)
{
	return comet_refuse_kernel(COMET_OP_SYSLOG, 0);
}

/*
 * The keys of a user are the same inside and outside. The kernel's own searches, for a mounted
 * network filesystem, say, run under credentials of their own.
 */
SEC("lsm/key_alloc")
int BPF_PROG(comet_key_alloc)
{
	return comet_kernel_acts() ? 0 : comet_refuse_kernel(COMET_OP_KEY, 0);
}

SEC("lsm/key_permission")
int BPF_PROG(comet_key_permission)
{
	return comet_kernel_acts() ? 0 : comet_refuse_kernel(COMET_OP_KEY, 0);
}

/* Requests of a ring under other credentials would look like the kernel's own work. */
SEC("lsm/uring_override_creds")
int BPF_PROG(comet_uring_override_creds)
{
	return comet_refuse_kernel(COMET_OP_IO_URING, 0);
}
