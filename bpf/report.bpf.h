/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How is a refusal counted and told? The verdict is fixed before anything here runs: a full ring
 * buffer, a missing map entry or a long path change what is told, never what is refused. Each
 * refusal is counted as denied and as exactly one of delivered, folded and lost.
 */
#ifndef COMET_REPORT_BPF_H
#define COMET_REPORT_BPF_H

#include "bpf/maps.bpf.h"
#include "bpf/walk.bpf.h"

struct comet_refusal {
	/*
	 * What tells equal refusals from different ones: a name in a directory, a number, or an
	 * address, of which the caller chooses every bit; so nothing is mixed into it.
	 */
	__u64 object[3];
	__u64 sequence; /* filled by report.bpf.c */
	__u64 count;
	__u32 policy;
	__s32 error; /* positive errno */
	__u32 flags; /* COMET_EVENT_* */
	__u16 detail;
	__u8 layer;
	__u8 surface;
	__u8 op;
	__u8 severity;
	__u8 padding[6];
};

/*
 * Counts the refusal and tells it with the path of (mount, dentry), the address, or a number: a
 * signal, a process, a command, as the operation has it.
 * Always 0: the verdict is not theirs. Functions of their own for the verifier: checked once.
 */
int comet_tell_path(struct comet_refusal *refusal, __u64 mount, __u64 dentry);
int comet_tell_addr(struct comet_refusal *refusal, struct comet_addr *addr);
int comet_tell_value(struct comet_refusal *refusal, __u64 value);

/* A violation that no event can tell of: it is counted as lost. */
static __always_inline void comet_count_untold(__u32 policy)
{
	struct comet_counters *counters = bpf_map_lookup_elem(&comet_counters, &policy);

	if (!counters)
		return;
	__sync_fetch_and_add(&counters->denied, 1);
	__sync_fetch_and_add(&counters->violations, 1);
	__sync_fetch_and_add(&counters->lost, 1);
}

/* What the policy wants done about a refusal; returns the error for the caller, 0 in audit mode. */
static __always_inline int comet_treat(struct comet_refusal *refusal)
{
	struct comet_policy_state *state = bpf_map_lookup_elem(&comet_policies, &refusal->policy);

	if (!state)
		return -refusal->error;
	if (state->flags & COMET_POLICY_AUDIT) {
		refusal->flags |= COMET_EVENT_AUDIT;
		return 0;
	}
	if ((state->flags & COMET_POLICY_KILL) && refusal->severity == COMET_SEVERITY_VIOLATION) {
		refusal->flags |= COMET_EVENT_KILLED;
		bpf_send_signal(9);
	}
	return -refusal->error;
}

/* Policy of one layer; past the layers in use 0, which is no policy: see comet_layers. */
static __always_inline __u32 comet_layer_policy(const struct comet_layers *layers, __u32 layer)
{
	return layers->policy[layer & (COMET_LAYERS_MAX - 1)];
}

/* Refuses what no policy can grant, in the outermost layer's name. */
static __noinline int comet_refuse_value(const struct comet_layers *layers, __u8 surface, __u8 op,
					 int error, __u64 value)
{
	struct comet_refusal refusal = {
		.object = { value },
		.policy = comet_layer_policy(layers, 0),
		.error = error,
		.surface = surface,
		.op = op,
		.severity = COMET_SEVERITY_VIOLATION,
	};
	int result = comet_treat(&refusal);

	comet_tell_value(&refusal, value);
	return result;
}

#endif /* COMET_REPORT_BPF_H */
