// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How is a refusal counted and told? Each is counted as denied and as exactly one of delivered,
 * folded and lost. The record is filled where it was reserved, in the policy's ring buffer.
 */
#include "bpf/report.bpf.h"

static __always_inline void comet_fill_head(struct comet_event *head,
					    const struct comet_refusal *refusal)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 ids = bpf_get_current_pid_tgid();

	head->version = COMET_WIRE_VERSION;
	head->policy = refusal->policy;
	head->sequence = refusal->sequence;
	head->time = bpf_ktime_get_boot_ns();
	head->cgroup = task->cgroups->dfl_cgrp->kn->id;
	head->count = refusal->count;
	head->pid = ids >> 32;
	head->tid = (__u32)ids;
	head->ppid = task->real_parent->tgid;
	head->uid = (__u32)bpf_get_current_uid_gid();
	head->error = refusal->error;
	head->flags = refusal->flags;
	head->layer = refusal->layer;
	head->surface = refusal->surface;
	head->op = refusal->op;
	head->severity = refusal->severity;
	head->tail = COMET_TAIL_NONE;
	head->padding = 0;
	head->tail_len = 0;
	bpf_get_current_comm(head->comm, sizeof(head->comm));
}

/* True: an equal refusal was told less than COMET_FOLD_NS ago, its next event will count this. */
static __noinline bool comet_fold(struct comet_refusal *refusal)
{
	struct comet_fold_key key = {
		.object = { refusal->object[0], refusal->object[1], refusal->object[2] },
		.policy = refusal->policy,
		.pid = bpf_get_current_pid_tgid() >> 32,
		.detail = refusal->detail,
		.surface = refusal->surface,
		.op = refusal->op,
	};
	struct comet_fold first = { .since = bpf_ktime_get_boot_ns() };
	struct comet_fold *fold = bpf_map_lookup_elem(&comet_folds, &key);

	refusal->count = 1;
	if (!fold) {
		bpf_map_update_elem(&comet_folds, &key, &first, BPF_ANY);
		return false;
	}
	if (first.since - fold->since < COMET_FOLD_NS) {
		__sync_fetch_and_add(&fold->pending, 1);
		return true;
	}
	fold->since = first.since;
	refusal->count += __sync_lock_test_and_set(&fold->pending, 0);
	return false;
}

/* The ring to tell it in, or NULL: folded or lost, and counted as that. */
static __always_inline void *comet_count(struct comet_refusal *refusal,
					 struct comet_counters **counters)
{
	__u32 policy = refusal->policy; /* 6.1 takes no key from a caller's memory */
	struct comet_counters *c = bpf_map_lookup_elem(&comet_counters, &policy);
	void *ring;

	*counters = c;
	if (!c)
		return NULL;
	refusal->sequence = __sync_fetch_and_add(&c->denied, 1) + 1;
	if (refusal->severity == COMET_SEVERITY_VIOLATION)
		__sync_fetch_and_add(&c->violations, 1);
	if (comet_fold(refusal)) {
		__sync_fetch_and_add(&c->folded, 1);
		return NULL;
	}
	ring = bpf_map_lookup_elem(&comet_rings, &policy);
	if (!ring)
		__sync_fetch_and_add(&c->lost, 1);
	return ring;
}

/*
 * Reserves a record of the given type in ring and counts it as delivered or lost. A macro: a
 * pointer that passed through a second test is no longer known to be reserved (6.1).
 */
#define COMET_RESERVE(record, ring, counters)                                                      \
	do {                                                                                       \
		(record) = bpf_ringbuf_reserve(ring, sizeof(*(record)), 0);                        \
		if (!(record)) {                                                                   \
			__sync_fetch_and_add(&(counters)->lost, 1);                                \
			return 0;                                                                  \
		}                                                                                  \
		__sync_fetch_and_add(&(counters)->delivered, 1);                                   \
	} while (0)

/*
 * Path text, leaf first, straight into the reserved record: no scratch memory that another task
 * could overwrite while this one is preempted (7.2 preempts BPF programs).
 */
struct comet_text {
	struct comet_walk walk;
	char *out;
	__u32 used;
	__u32 full;
};

/* start_max is a mask: a component starts at or below it, so that its 255 bytes and NUL fit. */
static __always_inline long comet_text_step(struct comet_text *text, __u32 start_max)
{
	__u32 used = text->used;
	char *out = text->out;
	__u32 len = text->walk.len;

	/*
	 * The root of a mount has no name of its own, nor has a filesystem's where the mount is
	 * not known. Another object that is its own parent has one: a memory file, say.
	 */
	if (text->walk.dentry != text->walk.mount_root &&
	    (text->walk.mount || text->walk.dentry != text->walk.parent)) {
		if (used > start_max) {
			text->full = 1;
			return 1;
		}
		/* clang 14 forgets the bounds it just tested. */
		asm volatile("%0 &= %1" : "+r"(used) : "i"(start_max));
		asm volatile("%0 &= 255" : "+r"(len));
		bpf_probe_read_kernel(out + used, len, (void *)text->walk.name);
		used += len;
		out[used] = 0;
		text->used = used + 1;
	}
	return comet_walk_up(&text->walk) ? 0 : 1;
}

static long comet_text_step_small(__u32 index, struct comet_text *text)
{
	return comet_text_step(text, COMET_TAIL_SMALL / 2 - 1);
}

static long comet_text_step_large(__u32 index, struct comet_text *text)
{
	return comet_text_step(text, COMET_PATH_MAX - 1);
}

/*
 * Zero, but the verifier cannot know: 6.1 checks a loop's body for its first round alone, and would
 * take what is known then for true in all rounds.
 */
__u32 comet_zero;

static __always_inline void comet_text_start(struct comet_text *text, __u64 mount, __u64 dentry,
					     char *out)
{
	__builtin_memset(text, 0, sizeof(*text));
	comet_walk_start(&text->walk, mount, dentry);
	text->out = out;
	text->used = comet_zero;
}

static __always_inline void comet_text_end(struct comet_text *text, struct comet_event *head)
{
	head->tail = COMET_TAIL_PATH;
	head->tail_len = text->used;
	if (text->full)
		head->flags |= COMET_EVENT_TRUNCATED;
}

/* Most paths fit a small record; a long one gives it back and takes a large one. */
int comet_tell_path(struct comet_refusal *refusal, __u64 mount, __u64 dentry)
{
	struct comet_counters *counters;
	void *ring;
	struct comet_event_small *small;
	struct comet_event_large *large;
	struct comet_text text;

	if (!refusal)
		return 0;
	ring = comet_count(refusal, &counters);
	if (!ring)
		return 0;
	COMET_RESERVE(small, ring, counters);
	comet_text_start(&text, mount, dentry, small->tail);
	bpf_loop(COMET_WALK_STEPS, comet_text_step_small, &text, 0);
	if (!text.full) {
		comet_fill_head(&small->head, refusal);
		comet_text_end(&text, &small->head);
		bpf_ringbuf_submit(small, 0);
		return 0;
	}
	bpf_ringbuf_discard(small, 0);
	__sync_fetch_and_add(&counters->delivered, -1);

	COMET_RESERVE(large, ring, counters);
	comet_text_start(&text, mount, dentry, large->tail);
	bpf_loop(COMET_WALK_STEPS, comet_text_step_large, &text, 0);
	comet_fill_head(&large->head, refusal);
	comet_text_end(&text, &large->head);
	bpf_ringbuf_submit(large, 0);
	return 0;
}

int comet_tell_addr(struct comet_refusal *refusal, struct comet_addr *addr)
{
	struct comet_counters *counters;
	void *ring;
	struct comet_event_small *record;

	if (!refusal || !addr)
		return 0;
	ring = comet_count(refusal, &counters);
	if (!ring)
		return 0;
	COMET_RESERVE(record, ring, counters);
	comet_fill_head(&record->head, refusal);
	record->head.tail = COMET_TAIL_ADDR;
	record->head.tail_len = sizeof(*addr);
	__builtin_memcpy(record->tail, addr, sizeof(*addr));
	bpf_ringbuf_submit(record, 0);
	return 0;
}

int comet_tell_value(struct comet_refusal *refusal, __u64 value)
{
	struct comet_counters *counters;
	void *ring;
	struct comet_event_small *record;

	if (!refusal)
		return 0;
	ring = comet_count(refusal, &counters);
	if (!ring)
		return 0;
	COMET_RESERVE(record, ring, counters);
	comet_fill_head(&record->head, refusal);
	record->head.tail = COMET_TAIL_VALUE;
	record->head.tail_len = sizeof(value);
	__builtin_memcpy(record->tail, &value, sizeof(value));
	bpf_ringbuf_submit(record, 0);
	return 0;
}
