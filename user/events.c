// SPDX-License-Identifier: Apache-2.0
/* What does a record of the ring buffer say? Bytes in, a checked violation out; no I/O here but for
 * an interface's name. */
#include "user/events.h"

#include <arpa/inet.h>
#include <cap-ng.h>
#include <ctype.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base.h"

#define MAX_ERRNO 4095 /* of the kernel: what a hook may return */
#define NSEC_PER_SEC 1000000000LL
#define ELLIPSIS "\xe2\x80\xa6"

static const char *const surface_names[] = {
	[COMET_SURFACE_EGRESS] = "egress",   [COMET_SURFACE_DNS] = "dns",
	[COMET_SURFACE_FS_READ] = "fs.read", [COMET_SURFACE_FS_WRITE] = "fs.write",
	[COMET_SURFACE_EXEC] = "exec",       [COMET_SURFACE_IPC] = "ipc",
	[COMET_SURFACE_SERVE] = "serve",     [COMET_SURFACE_TIME] = "time",
	[COMET_SURFACE_KERNEL] = "kernel",
};
_Static_assert(COMET_ARRAY_SIZE(surface_names) == _COMET_SURFACE_MAX, "a name for each surface");

static const char *const op_names[] = {
	[COMET_OP_OPEN] = "open",
	[COMET_OP_CREATE] = "create",
	[COMET_OP_TRUNCATE] = "truncate",
	[COMET_OP_STAT] = "stat",
	[COMET_OP_READLINK] = "readlink",
	[COMET_OP_MKDIR] = "mkdir",
	[COMET_OP_MKNOD] = "mknod",
	[COMET_OP_SYMLINK] = "symlink",
	[COMET_OP_LINK] = "link",
	[COMET_OP_UNLINK] = "unlink",
	[COMET_OP_RMDIR] = "rmdir",
	[COMET_OP_RENAME] = "rename",
	[COMET_OP_CHMOD] = "chmod",
	[COMET_OP_CHOWN] = "chown",
	[COMET_OP_EXEC] = "exec",
	[COMET_OP_CONNECT] = "connect",
	[COMET_OP_SEND] = "send",
	[COMET_OP_SOCKET] = "socket",
	[COMET_OP_CLONE_INTO_CGROUP] = "clone_into_cgroup",
	[COMET_OP_CGROUP_MOVE] = "cgroup_move",
	[COMET_OP_MOUNT] = "mount",
	[COMET_OP_UMOUNT] = "umount",
	[COMET_OP_PIVOT_ROOT] = "pivot_root",
	[COMET_OP_USERNS] = "userns",
	[COMET_OP_SETTIME] = "settime",
	[COMET_OP_BPF] = "bpf",
	[COMET_OP_PTRACE] = "ptrace",
	[COMET_OP_SIGNAL] = "signal",
	[COMET_OP_UTIMES] = "utimes",
	[COMET_OP_SETXATTR] = "setxattr",
	[COMET_OP_GETXATTR] = "getxattr",
	[COMET_OP_IOCTL] = "ioctl",
	[COMET_OP_NOTIFY] = "notify",
	[COMET_OP_RECEIVE] = "receive",
	[COMET_OP_SETID] = "setid",
	[COMET_OP_LISTEN] = "listen",
	[COMET_OP_BIND] = "bind",
	[COMET_OP_SCHEDULE] = "schedule",
	[COMET_OP_RLIMIT] = "rlimit",
	[COMET_OP_CAPABILITY] = "capability",
	[COMET_OP_PERF] = "perf_event_open",
	[COMET_OP_KEY] = "key",
	[COMET_OP_SYSLOG] = "syslog",
	[COMET_OP_IO_URING] = "io_uring",
	[COMET_OP_SYSV_IPC] = "sysv_ipc",
	[COMET_OP_LOCK] = "lock",
	[COMET_OP_SETSOCKOPT] = "setsockopt",
};
_Static_assert(COMET_ARRAY_SIZE(op_names) == _COMET_OP_MAX, "a name for each operation");

const char *comet_surface_to_str(enum comet_surface surface)
{
	if ((size_t)surface >= COMET_ARRAY_SIZE(surface_names))
		return "unknown";
	return surface_names[surface];
}

int comet_surface_from_str(const char *text, enum comet_surface *surface)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(surface_names); i++) {
		if (streq(text, surface_names[i])) {
			*surface = (enum comet_surface)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *comet_op_to_str(enum comet_op op)
{
	return (size_t)op < COMET_ARRAY_SIZE(op_names) ? op_names[op] : "unknown";
}

/* The buffer holds the longest tail that check_record() lets through; append never overruns it. */
static void append(struct comet_violation *v, const void *bytes, size_t len)
{
	size_t room = sizeof(v->requested) - 1 - v->requested_len;

	len = len < room ? len : room;
	memcpy(v->requested + v->requested_len, bytes, len);
	v->requested_len += len;
	v->requested[v->requested_len] = '\0';
}

static void append_str(struct comet_violation *v, const char *text)
{
	append(v, text, strlen(text));
}

/*
 * A file that was opened by its handle, while the kernel does not know where it stands: its only
 * component is "/", which no name can be.
 */
static bool is_unconnected(const char *tail, size_t len)
{
	return len >= 2 && tail[len - 2] == '/' && (len == 2 || tail[len - 3] == '\0');
}

static void put_path(struct comet_violation *v, const char *tail, size_t len)
{
	size_t end = len;

	if (is_unconnected(tail, len)) {
		append_str(v, "(a file whose path the kernel does not know)");
		return;
	}
	if (v->head.flags & COMET_EVENT_TRUNCATED)
		append_str(v, ELLIPSIS);
	if (len == 0)
		append_str(v, "/");
	while (end > 0) {
		size_t start = end - 1;

		while (start > 0 && tail[start - 1] != '\0')
			start--;
		append_str(v, "/");
		append(v, tail + start, end - 1 - start);
		end = start;
	}
}

static void put_unix(struct comet_violation *v, const struct comet_addr *addr)
{
	if (addr->path_len == 0) {
		append_str(v, "(unnamed)");
	} else if (addr->path[0] == '\0') {
		append_str(v, "@");
		append(v, addr->path + 1, addr->path_len - 1);
	} else {
		append(v, addr->path, strnlen(addr->path, addr->path_len));
	}
}

/* The word that a manifest would use; an MPTCP connection is TCP on the wire. */
static void transport(const struct comet_addr *addr, char *text, size_t size)
{
	unsigned int protocol = addr->protocol;

	if (protocol == 0 && addr->type == SOCK_STREAM)
		protocol = IPPROTO_TCP;
	else if (protocol == 0 && addr->type == SOCK_DGRAM)
		protocol = IPPROTO_UDP;

	switch (protocol) {
	case IPPROTO_TCP:
	case IPPROTO_MPTCP:
		snprintf(text, size, "tcp");
		break;
	case IPPROTO_UDP:
		snprintf(text, size, "udp");
		break;
	case IPPROTO_UDPLITE:
		snprintf(text, size, "udplite");
		break;
	case IPPROTO_SCTP:
		snprintf(text, size, "sctp");
		break;
	case IPPROTO_ICMP:
		snprintf(text, size, "icmp");
		break;
	case IPPROTO_ICMPV6:
		snprintf(text, size, "icmpv6");
		break;
	default:
		snprintf(text, size, "protocol %u", protocol);
	}
}

static void put_inet(struct comet_violation *v, const struct comet_addr *addr)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	char host[INET6_ADDRSTRLEN] = "";
	char text[INET6_ADDRSTRLEN + 64];
	char zone[IF_NAMESIZE];
	char scope[IF_NAMESIZE + 1] = "";
	char word[24];

	transport(addr, word, sizeof(word));
	if (addr->family == AF_INET || memcmp(addr->addr, mapped, sizeof(mapped)) == 0) {
		inet_ntop(AF_INET, addr->addr + (addr->family == AF_INET ? 0 : sizeof(mapped)),
			  host, sizeof(host));
		snprintf(text, sizeof(text), "%s:%u/%s", host, addr->port, word);
	} else {
		inet_ntop(AF_INET6, addr->addr, host, sizeof(host));
		if (addr->scope_id && if_indextoname(addr->scope_id, zone))
			snprintf(scope, sizeof(scope), "%%%s", zone);
		else if (addr->scope_id)
			snprintf(scope, sizeof(scope), "%%%u", addr->scope_id);
		snprintf(text, sizeof(text), "[%s%s]:%u/%s", host, scope, addr->port, word);
	}
	append_str(v, text);
}

static void put_addr(struct comet_violation *v, const struct comet_addr *addr)
{
	bool named = v->head.op != COMET_OP_SOCKET; /* a new socket has a family, no address */
	char text[64];

	if (named && addr->family == AF_UNIX) {
		put_unix(v, addr);
	} else if (named && (addr->family == AF_INET || addr->family == AF_INET6)) {
		put_inet(v, addr);
	} else {
		snprintf(text, sizeof(text), "family %u type %u", addr->family, addr->type);
		append_str(v, text);
	}
}

/* As in capabilities(7). */
static void put_capability(char *text, size_t size, __u64 value)
{
	const char *name = value < 64 ? capng_capability_to_name((unsigned int)value) : NULL;
	size_t i;

	if (name)
		snprintf(text, size, "CAP_%s", name);
	else
		snprintf(text, size, "capability %llu", (unsigned long long)value);
	for (i = 4; name && text[i]; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
}

static void put_value(struct comet_violation *v, __u64 value)
{
	enum comet_op op = (enum comet_op)v->head.op;
	const char *signal = NULL;
	char text[64];

	if (op == COMET_OP_SIGNAL && value <= INT32_MAX)
		signal = sigabbrev_np((int)value);

	if (signal)
		snprintf(text, sizeof(text), "SIG%s", signal);
	else if (op == COMET_OP_SIGNAL)
		snprintf(text, sizeof(text), "signal %llu", (unsigned long long)value);
	else if (op == COMET_OP_PTRACE)
		snprintf(text, sizeof(text), "pid %llu", (unsigned long long)value);
	else if (op == COMET_OP_BPF)
		snprintf(text, sizeof(text), "bpf command %llu", (unsigned long long)value);
	else if (op == COMET_OP_CAPABILITY)
		put_capability(text, sizeof(text), value);
	else if (op == COMET_OP_SCHEDULE || op == COMET_OP_RLIMIT)
		snprintf(text, sizeof(text), "pid %llu", (unsigned long long)value);
	else if (op == COMET_OP_SETSOCKOPT)
		snprintf(text, sizeof(text), "socket option %llu", (unsigned long long)value);
	else if (op == COMET_OP_CGROUP_MOVE)
		snprintf(text, sizeof(text), "cgroup %llu", (unsigned long long)value);
	else
		snprintf(text, sizeof(text), "%s", comet_op_to_str(op));
	append_str(v, text);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/*
 * The age is measured on the clock that also runs in suspend. Boot time is read first: being
 * interrupted between the two reads can only make the event look younger, never older than it is
 * or later than now; a read that took over a millisecond is repeated, so that order survives.
 */
static struct timespec wall_time(__u64 time)
{
	int64_t boot = 0;
	int64_t real = 0;
	int64_t age;

	for (int i = 0; i < 4; i++) {
		int64_t before = now_ns(CLOCK_MONOTONIC);

		boot = now_ns(CLOCK_BOOTTIME);
		real = now_ns(CLOCK_REALTIME);
		if (now_ns(CLOCK_MONOTONIC) - before < NSEC_PER_SEC / 1000)
			break;
	}
	age = time < (__u64)boot ? boot - (int64_t)time : 0;
	real = real > age ? real - age : 0;
	return (struct timespec){ .tv_sec = real / NSEC_PER_SEC, .tv_nsec = real % NSEC_PER_SEC };
}

static bool tail_is_sound(const struct comet_event *head, const char *tail)
{
	struct comet_addr addr;

	switch ((enum comet_tail)head->tail) {
	case COMET_TAIL_NONE:
		return true;
	case COMET_TAIL_PATH:
		return head->tail_len == 0 || tail[head->tail_len - 1] == '\0';
	case COMET_TAIL_ADDR:
		if (head->tail_len != sizeof(addr))
			return false;
		memcpy(&addr, tail, sizeof(addr));
		return addr.path_len <= sizeof(addr.path);
	case COMET_TAIL_VALUE:
		return head->tail_len == sizeof(__u64);
	}
	return false;
}

static int check_record(const void *record, size_t size, struct comet_event *head)
{
	if (size < sizeof(*head) || size > sizeof(struct comet_event_large))
		return -EINVAL;
	memcpy(head, record, sizeof(*head));
	if (head->version != COMET_WIRE_VERSION || head->tail_len > size - sizeof(*head))
		return -EINVAL;
	if (head->surface >= _COMET_SURFACE_MAX || head->op >= _COMET_OP_MAX ||
	    head->severity > COMET_SEVERITY_VIOLATION || head->layer >= COMET_LAYERS_MAX)
		return -EINVAL;
	if (head->error < 0 || head->error > MAX_ERRNO || head->count == 0)
		return -EINVAL;
	return tail_is_sound(head, (const char *)record + sizeof(*head)) ? 0 : -EINVAL;
}

int comet_events_decode(const void *record, size_t size, struct comet_violation *violation)
{
	const char *tail = (const char *)record + sizeof(struct comet_event);
	struct comet_event head;
	struct comet_addr addr;
	__u64 value;
	int r;

	r = check_record(record, size, &head);
	if (r)
		return r;

	violation->head = head;
	violation->wall = wall_time(head.time);
	violation->requested_len = 0;
	switch ((enum comet_tail)head.tail) {
	case COMET_TAIL_NONE:
		append_str(violation, comet_op_to_str((enum comet_op)head.op));
		break;
	case COMET_TAIL_PATH:
		put_path(violation, tail, head.tail_len);
		break;
	case COMET_TAIL_ADDR:
		memcpy(&addr, tail, sizeof(addr));
		put_addr(violation, &addr);
		break;
	case COMET_TAIL_VALUE:
		memcpy(&value, tail, sizeof(value));
		put_value(violation, value);
		break;
	}
	return 0;
}
