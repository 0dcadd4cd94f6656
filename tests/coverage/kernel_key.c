// SPDX-License-Identifier: Apache-2.0
/* Can keys be reached that the kernel holds for a user, inside and outside alike? */
#include <linux/keyctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int keyctl(int operation, long a, long b, long c, long d)
{
	return road_result(syscall(SYS_keyctl, operation, a, b, c, d));
}

static long add(long ring)
{
	return syscall(SYS_add_key, "user", "road", "secret", 6, ring);
}

/* A key of the user's that outlives whoever made it. */
static void make_key(const struct place *place)
{
	pid_t pid = fork();
	int status;

	place_default(place);
	road_must(pid, "fork");
	if (pid == 0) {
		if (setresgid(place->uid, place->uid, place->uid) < 0 ||
		    setresuid(place->uid, place->uid, place->uid) < 0)
			_exit(1);
		_exit(add(KEY_SPEC_USER_KEYRING) < 0);
	}
	road_must(waitpid(pid, &status, 0), "waitpid");
	if (status != 0)
		road_broken("no key was made");
}

static int add_to_user(const struct place *place)
{
	(void)place;
	return road_result(add(KEY_SPEC_USER_KEYRING));
}

static int add_to_session(const struct place *place)
{
	(void)place;
	return road_result(add(KEY_SPEC_SESSION_KEYRING));
}

static int add_to_process(const struct place *place)
{
	(void)place;
	return road_result(add(KEY_SPEC_PROCESS_KEYRING));
}

static int request(const struct place *place)
{
	(void)place;
	return road_result(syscall(SYS_request_key, "user", "road", NULL, 0));
}

#define KEYCTL(name, operation, a, b, c, d)                                                        \
	static int name(const struct place *place)                                                 \
	{                                                                                          \
		(void)place;                                                                       \
		return keyctl(operation, a, (long)(b), (long)(c), d);                              \
	}
#define OF_USER KEY_SPEC_USER_KEYRING
#define OF_USER_SESSION KEY_SPEC_USER_SESSION_KEYRING
KEYCTL(find_ring, KEYCTL_GET_KEYRING_ID, OF_USER, 1, 0, 0)
KEYCTL(find_session, KEYCTL_GET_KEYRING_ID, OF_USER_SESSION, 1, 0, 0)
KEYCTL(read_ring, KEYCTL_READ, OF_USER, NULL, 0, 0)
KEYCTL(describe, KEYCTL_DESCRIBE, OF_USER, NULL, 0, 0)
KEYCTL(search, KEYCTL_SEARCH, OF_USER, "user", "road", 0)
KEYCTL(clear, KEYCTL_CLEAR, OF_USER, 0, 0, 0)
KEYCTL(link_ring, KEYCTL_LINK, OF_USER, KEY_SPEC_PROCESS_KEYRING, 0, 0)
KEYCTL(permit, KEYCTL_SETPERM, OF_USER, 0x3f3f3f3f, 0, 0)
KEYCTL(time_out, KEYCTL_SET_TIMEOUT, OF_USER, 1000, 0, 0)
KEYCTL(invalidate, KEYCTL_INVALIDATE, OF_USER_SESSION, 0, 0, 0)
KEYCTL(security, KEYCTL_GET_SECURITY, OF_USER, NULL, 0, 0)
KEYCTL(join_named, KEYCTL_JOIN_SESSION_KEYRING, (long)"road", 0, 0, 0)
KEYCTL(join_new, KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
KEYCTL(persistent, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING, 0, 0)

/* Randomness is what most want of the kernel's secrets. */
static int get_random(const struct place *place)
{
	char bytes[16];

	(void)place;
	return road_result(syscall(SYS_getrandom, bytes, sizeof(bytes), 0));
}

/*
 * A keyring that may not be looked at is as good as none; with some calls the kernel then asks for
 * a capability.
 */
#define KEY(text, function)                                                                        \
	{                                                                                          \
		.name = text, .surface = "kernel", .try = function, .twin = get_random,            \
		.hidden = { EPERM, ENOKEY }, .prepare = make_key                                   \
	}

static const struct road kernel_key[] = {
	KEY("add_key to the user's keyring", add_to_user),
	KEY("add_key to the session's keyring", add_to_session),
	KEY("add_key to the process's keyring", add_to_process),
	KEY("request_key", request),
	KEY("keyctl GET_KEYRING_ID of the user", find_ring),
	KEY("keyctl GET_KEYRING_ID of the user's session", find_session),
	KEY("keyctl READ", read_ring),
	KEY("keyctl DESCRIBE", describe),
	KEY("keyctl SEARCH", search),
	KEY("keyctl CLEAR", clear),
	KEY("keyctl LINK", link_ring),
	KEY("keyctl SETPERM", permit),
	KEY("keyctl SET_TIMEOUT", time_out),
	KEY("keyctl INVALIDATE", invalidate),
	KEY("keyctl GET_SECURITY", security),
	KEY("keyctl JOIN_SESSION_KEYRING of a name", join_named),
	KEY("keyctl JOIN_SESSION_KEYRING", join_new),
	KEY("keyctl GET_PERSISTENT", persistent),
};
ROADS(kernel_key);
