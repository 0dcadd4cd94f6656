// SPDX-License-Identifier: Apache-2.0
/* Which forms of bpf(2), and of perf_event_open(2), would look into or undo the rules? */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/coverage/process.h"

static int bpf(int command, const union bpf_attr *attr)
{
	return road_fd(syscall(SYS_bpf, command, attr, sizeof(*attr)));
}

static int make_map(const struct place *place)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	(void)place;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int load_program(const struct place *place)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (__u64)(unsigned long)code,
		.insn_cnt = 2,
		.license = (__u64)(unsigned long)"GPL",
	};

	(void)place;
	return bpf(BPF_PROG_LOAD, &attr);
}

static int get_pinned(const struct place *place)
{
	union bpf_attr attr = { .pathname = (__u64)(unsigned long)"/sys/fs/bpf/comet" };

	(void)place;
	return bpf(BPF_OBJ_GET, &attr);
}

static int pin(const struct place *place)
{
	union bpf_attr attr = { .pathname = (__u64)(unsigned long)"/sys/fs/bpf/road" };

	(void)place;
	return bpf(BPF_OBJ_PIN, &attr);
}

/* The lowest number that is in use, as everybody who may can ask for it. */
static int of_first(int next, int get)
{
	union bpf_attr attr = { .start_id = 0 };
	int result = bpf(next, &attr);

	if (result < 0)
		return result;
	attr.map_id = attr.next_id;
	return bpf(get, &attr);
}

/* With a number that an earlier guess may have found. */
static int get_by_number(int command)
{
	union bpf_attr attr = { .map_id = 1 };
	int result = -ENOENT;

	for (attr.map_id = 1; attr.map_id < 64 && result == -ENOENT; attr.map_id++)
		result = bpf(command, &attr);
	return result;
}

#define BY_NUMBER(kind, COMMAND)                                                                   \
	static int next_##kind(const struct place *place)                                          \
	{                                                                                          \
		(void)place;                                                                       \
		return of_first(BPF_##COMMAND##_GET_NEXT_ID, BPF_##COMMAND##_GET_FD_BY_ID);        \
	}                                                                                          \
	static int by_number_##kind(const struct place *place)                                     \
	{                                                                                          \
		(void)place;                                                                       \
		return get_by_number(BPF_##COMMAND##_GET_FD_BY_ID);                                \
	}
BY_NUMBER(map, MAP)
BY_NUMBER(program, PROG)
BY_NUMBER(link, LINK)
BY_NUMBER(btf, BTF)

/* Commands on a descriptor that the caller has none of, all alike: refused before that is seen. */
#define ON_NOTHING(name, command)                                                                  \
	static int on_##name(const struct place *place)                                            \
	{                                                                                          \
		union bpf_attr attr = { 0 };                                                       \
                                                                                                   \
		(void)place;                                                                       \
		return bpf(command, &attr);                                                        \
	}
ON_NOTHING(lookup, BPF_MAP_LOOKUP_ELEM)
ON_NOTHING(update, BPF_MAP_UPDATE_ELEM)
ON_NOTHING(delete, BPF_MAP_DELETE_ELEM)
ON_NOTHING(freeze, BPF_MAP_FREEZE)
ON_NOTHING(attach, BPF_PROG_ATTACH)
ON_NOTHING(detach, BPF_PROG_DETACH)
ON_NOTHING(test_run, BPF_PROG_TEST_RUN)
ON_NOTHING(query, BPF_PROG_QUERY)
ON_NOTHING(info, BPF_OBJ_GET_INFO_BY_FD)
ON_NOTHING(tracepoint, BPF_RAW_TRACEPOINT_OPEN)
ON_NOTHING(btf_load, BPF_BTF_LOAD)
ON_NOTHING(fd_query, BPF_TASK_FD_QUERY)
ON_NOTHING(link_create, BPF_LINK_CREATE)
ON_NOTHING(link_update, BPF_LINK_UPDATE)
ON_NOTHING(link_detach, BPF_LINK_DETACH)
ON_NOTHING(stats, BPF_ENABLE_STATS)
ON_NOTHING(iterator, BPF_ITER_CREATE)
ON_NOTHING(token, 36 /* BPF_TOKEN_CREATE */)

/* What everybody may: a filter of classic BPF on one's own calls. */
static int filter_own_calls(const struct place *place)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = 1, .filter = code };

	(void)place;
	road_must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	return road_result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

/* So that the kernel's own setting does not refuse it (Debian's does). */
static void allow_perf(const struct place *place)
{
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_WRONLY | O_CLOEXEC);

	road_must(fd, "perf_event_paranoid");
	road_must(write(fd, "-1", 2), "perf_event_paranoid");
	close(fd);
	place_default(place);
}

static int perf(pid_t pid, unsigned type, unsigned long config, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = type, .config = config };

	return road_fd(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0));
}

static int perf_self(const struct place *place)
{
	(void)place;
	return perf(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, -1);
}

static int perf_cpu(const struct place *place)
{
	(void)place;
	return perf(-1, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
}

static int call_perf(pid_t pid)
{
	return perf(pid, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, -1);
}

static int perf_other(const struct place *place)
{
	return process_on_other(place, call_perf);
}

static int perf_tracepoint(const struct place *place)
{
	(void)place;
	return perf(0, PERF_TYPE_TRACEPOINT, 1, -1);
}

static int read_own_clock(const struct place *place)
{
	struct timespec time;

	(void)place;
	return road_result(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time));
}

/* Kernel 6.1 asks for CAP_BPF before it asks the hook, for some commands. */
#define BPF(text, function)                                                                        \
	{                                                                                          \
		.name = "bpf " text, .surface = "kernel", .try = function,                         \
		.twin = filter_own_calls, .hidden = { EPERM }, .walled = {                         \
			EPERM                                                                      \
		}                                                                                  \
	}
#define PERF(text, function)                                                                       \
	.name = "perf_event_open " text, .surface = "kernel", .op = "perf_event_open",             \
	.try = function, .twin = read_own_clock, .hidden = { EPERM }, .prepare = allow_perf

static const struct road kernel_bpf[] = {
	BPF("MAP_CREATE", make_map),
	BPF("PROG_LOAD", load_program),
	BPF("OBJ_GET of a pinned path", get_pinned),
	BPF("OBJ_PIN", pin),
	BPF("MAP_GET_NEXT_ID", next_map),
	BPF("MAP_GET_FD_BY_ID", by_number_map),
	BPF("PROG_GET_NEXT_ID", next_program),
	BPF("PROG_GET_FD_BY_ID", by_number_program),
	BPF("LINK_GET_NEXT_ID", next_link),
	BPF("LINK_GET_FD_BY_ID", by_number_link),
	BPF("BTF_GET_NEXT_ID", next_btf),
	BPF("BTF_GET_FD_BY_ID", by_number_btf),
	BPF("MAP_LOOKUP_ELEM", on_lookup),
	BPF("MAP_UPDATE_ELEM", on_update),
	BPF("MAP_DELETE_ELEM", on_delete),
	BPF("MAP_FREEZE", on_freeze),
	BPF("PROG_ATTACH", on_attach),
	BPF("PROG_DETACH", on_detach),
	BPF("PROG_TEST_RUN", on_test_run),
	BPF("PROG_QUERY", on_query),
	BPF("OBJ_GET_INFO_BY_FD", on_info),
	BPF("RAW_TRACEPOINT_OPEN", on_tracepoint),
	BPF("BTF_LOAD", on_btf_load),
	BPF("TASK_FD_QUERY", on_fd_query),
	BPF("LINK_CREATE", on_link_create),
	BPF("LINK_UPDATE", on_link_update),
	BPF("LINK_DETACH", on_link_detach),
	BPF("ENABLE_STATS", on_stats),
	BPF("ITER_CREATE", on_iterator),
	BPF("TOKEN_CREATE", on_token),
	{ PERF("of the caller", perf_self) },
	{ PERF("of a CPU", perf_cpu) },
	{ PERF("of a tracepoint", perf_tracepoint) },
	{ PERF("of a process outside", perf_other), .walled = { ESRCH }, .outside = process_stay },
};
ROADS(kernel_bpf);
