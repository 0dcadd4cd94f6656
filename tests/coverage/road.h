/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is a road? One way from inside a run to a thing outside of what its manifest grants: a row
 * of a table. Adding a road is adding a row; `make coverage` tries every row and judges it.
 *
 * Each row is tried on up to three sides, each time in a process of its own:
 *   hidden    what the manifest does not name at all
 *   readable  what it grants for reading alone (fs.write roads)
 *   granted   what it grants, but is refused even so: there .twin does the nearest allowed thing
 *   declared  what it grants: the twin, which must succeed
 */
#ifndef COMET_ROAD_H
#define COMET_ROAD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ROAD_CANARY "canary-7d20\n"
#define ROAD_ANSWERS 4
#define ROAD_USER 1000 /* the ordinary user in the VM */

enum road_side {
	ROAD_HIDDEN,
	ROAD_READABLE,
	ROAD_GRANTED,
	ROAD_DECLARED,
	_ROAD_SIDE_MAX,
};

/* Where one side of one row is tried. All of it is on one filesystem. */
struct place {
	const struct road *road;
	unsigned number; /* of the row */
	enum road_side side;
	uid_t uid;         /* who tries it: owner of what `prepare` makes */
	unsigned port;     /* one of its own for each row and side; the next one is free as well */
	char root[256];    /* the directory of all places */
	char dir[256];     /* the row's directory on this side, as the side says */
	char target[256];  /* dir/f: a file that holds ROAD_CANARY */
	char scratch[256]; /* a directory that is always declared, for the other end of a call */
	char mine[256];    /* scratch/f: a file there that holds "mine\n" */
};

/* In .hidden and .readable: not an errno but success (LEAKS rows). */
#define ROAD_SUCCEEDS 4095

#define ROAD_ROOT (1U << 0)     /* only root can try it at all */
#define ROAD_CHANGES (1U << 1)  /* the twin must have an effect that is seen from outside */
#define ROAD_NO_EVENT (1U << 2) /* it is refused without an event; .why says why */
#define ROAD_LEAKS (1U << 3)    /* a documented limit; .why says what it tells; no event */
#define ROAD_ANY_NAME (1U << 4) /* the event names something else than place_names() says */
/* Behind the other walls (see .walled) the twin is refused alike. */
#define ROAD_TWIN_WALLED (1U << 5)
/*
 * Only behind the other walls can the twin succeed (or the LEAKS row): it needs the run's own
 * /proc.
 */
#define ROAD_TWIN_INSIDE (1U << 6)
/* Of the quiet set (see the manual), for some personas: the event may be of severity info. */
#define ROAD_QUIET (1U << 7)
/* It sends by IP: also tried with nothing but the packet filter in the way. */
#define ROAD_PACKETS (1U << 8)
/* There the host's own copy of the datagram arrives all the same; .why says why. */
#define ROAD_OWN_COPY (1U << 9)
/* Even where nothing refuses it, it does no harm that could be seen; .why says why. */
#define ROAD_UNSEEN (1U << 10)

struct road {
	const char *name;    /* unique, in words of the manual */
	const char *surface; /* of the event expected: "fs.read" */
	const char *op;      /* of the event expected: "open"; NULL: any */
	const char *also;    /* events of this op may come besides, on any surface */
	/*
	 * Inside, as the agent: does it, and returns 0 or -errno of the call that is tried. A step
	 * on the way that fails for another reason is no answer: road_broken().
	 */
	int (*try)(const struct place *place);
	int (*twin)(const struct place *place); /* tried on the declared side instead, if set */
	int hidden[ROAD_ANSWERS]; /* errno values that are right there; empty: side not tried */
	int readable[ROAD_ANSWERS];
	int granted[ROAD_ANSWERS];
	/*
	 * What another wall of `comet run` (capabilities, namespaces, seccomp) or the kernel itself
	 * answers before a hook is asked: right without an event in every persona but "hooks".
	 */
	int walled[ROAD_ANSWERS];
	/* Outside, before the run, as root; default: dir with target in it. See place_*(). */
	void (*prepare)(const struct place *place);
	/*
	 * Outside, in a process of its own during the run, as root: a listener, a victim. Calls
	 * road_ready() when it is in place, place_happened() when what must not happen does. Killed
	 * after the run.
	 */
	void (*outside)(const struct place *place);
	/* What the declared side needs in the manifest beside its directory: road_grant(). */
	void (*grants)(const struct place *place);
	/*
	 * Outside, afterwards: has it happened? Beside this, always: place_happened() was called,
	 * or anything in dir differs from what was there before the run (names, inodes, contents,
	 * times but for atime, xattrs).
	 */
	bool (*harmed)(const struct place *place);
	unsigned flags; /* ROAD_* */
	int since;      /* first kernel that has the call, as 0x060c; before it: ENOSYS, "-" */
	/*
	 * First kernel where a hook sees it; before it the packet filter or the kernel itself
	 * answers: EPERM, no event.
	 */
	int hooked;
	const char *why;
};

/* One table of rows makes itself known; nothing else need be told of it. */
struct roads {
	const struct road *rows;
	size_t n;
	const char *name;
};
#define ROADS(table)                                                                               \
	static const struct roads table##_all                                                      \
		__attribute__((used, section("roads"),                                             \
			       aligned(8))) = { table, sizeof(table) / sizeof((table)[0]), #table }

/* 0 or more: 0; less: -errno. */
int road_result(long result);
/* The same for a call that returns a descriptor, which is closed. */
int road_fd(long fd);
/* A step that is not the tried one failed: the cell is broken, with this text and errno's. */
void road_broken(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* result, or road_broken() with what. */
long road_must(long result, const char *what);

/* A path in a buffer that lasts until the 8th call after this one. */
const char *road_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* dir/name and scratch/name, the same way. */
const char *road_in(const struct place *place, const char *name);
const char *road_mine(const struct place *place, const char *name);

/* 0 if what is read from fd begins with ROAD_CANARY, else -errno or -EBADMSG; closes fd. */
int road_read_canary(long fd);

/* For .prepare, outside: all is made as root and given to place->uid. */
void place_default(const struct place *place);
void place_file(const struct place *place, const char *path, const char *content, mode_t mode);
void place_directory(const struct place *place, const char *path);

/* For .grants: "fs.read PATH", "fs.write PATH", "exec PATH", "egress HOST PORT PROTO",
 * "serve PORT". */
void road_grant(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For .outside: it is in place; and it has seen what must not happen (what may, on the twin). */
void road_ready(const struct place *place);
void place_happened(const struct place *place);
/* From .outside or .prepare to .try: one line of text, such as a pid. */
void place_tell(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The line that was told, or "" if none was. */
const char *place_told(const struct place *place);

/*
 * In .try: what the event must give as `requested`; default: on surfaces fs.*: target, on others:
 * anything. Also finds the event where a kernel thread did it (io_uring), whose name tells nothing.
 */
void place_names(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives up a capability of this process, if it has it. */
void road_drop(int capability);

/* True with the walls of `comet run` before the hooks: false in the persona "hooks". */
bool road_walled(void);

/* snapshot.c: writes what dir is like to path; true if it still is so. */
void snapshot_save(const char *dir, const char *path);
bool snapshot_same(const char *dir, const char *path);

#endif /* COMET_ROAD_H */
