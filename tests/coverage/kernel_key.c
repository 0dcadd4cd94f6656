// SPDX-License-Identifier: Apache-2.0
/* Can keys be reached that the kernel holds for a user, inside and outside alike? */
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static int keyctl(int operation, long a, long b, long c, long d)
{
	return road_result(syscall(SYS_keyctl, operation, a, b, c, d));
}

/* The row's own, in a keyring that is the same inside and outside. */
static const char *name_of(const struct place *place)
{
	return road_path("road-%03u-%d", place->number, place->side);
}

static long add(const struct place *place, const char *payload, long ring)
{
	return syscall(SYS_add_key, "user", name_of(place), payload, strlen(payload), ring);
}

#define PAYLOAD "secret"

/* In a process of the user's: 0 if all is well. */
static bool as_user(const struct place *place, bool (*call)(const struct place *place))
{
	pid_t pid = fork();
	int status;

	road_must(pid, "fork");
	if (pid == 0)
		_exit(setresgid(place->uid, place->uid, place->uid) < 0 ||
		      setresuid(place->uid, place->uid, place->uid) < 0 || !call(place));
	road_must(waitpid(pid, &status, 0), "waitpid");
	return status == 0;
}

static bool add_outside(const struct place *place)
{
	return add(place, PAYLOAD, KEY_SPEC_USER_KEYRING) >= 0;
}

/* A key of the user's that outlives whoever made it. */
static void make_key(const struct place *place)
{
	place_default(place);
	if (!as_user(place, add_outside))
		road_broken("no key was made");
}

static bool is_as_made(const struct place *place)
{
	char payload[16] = "", text[128] = "";
	long key;

	/* So that it is one's own. */
	syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING);
	key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name_of(place), 0);
	if (key < 0 || syscall(SYS_keyctl, KEYCTL_READ, key, payload, sizeof(payload) - 1) < 0 ||
	    syscall(SYS_keyctl, KEYCTL_DESCRIBE, key, text, sizeof(text) - 1) < 0)
		return false;
	return strcmp(payload, PAYLOAD) == 0 &&
	       strcmp(text, road_path("user;%u;%u;3f010000;%s", place->uid, place->uid,
				      name_of(place))) == 0;
}

static bool key_changed(const struct place *place)
{
	return !as_user(place, is_as_made);
}

static int add_to_user(const struct place *place)
{
	return road_result(add(place, "inside", KEY_SPEC_USER_KEYRING));
}

static int add_to_session(const struct place *place)
{
	return road_result(add(place, "inside", KEY_SPEC_SESSION_KEYRING));
}

static int add_to_process(const struct place *place)
{
	return road_result(add(place, "inside", KEY_SPEC_PROCESS_KEYRING));
}

static int request(const struct place *place)
{
	return road_result(syscall(SYS_request_key, "user", name_of(place), NULL, 0));
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
KEYCTL(search, KEYCTL_SEARCH, OF_USER, "user", name_of(place), 0)
KEYCTL(clear, KEYCTL_CLEAR, OF_USER, 0, 0, 0)
KEYCTL(link_ring, KEYCTL_LINK, OF_USER, KEY_SPEC_PROCESS_KEYRING, 0, 0)
KEYCTL(permit, KEYCTL_SETPERM, OF_USER, 0x3f3f3f3f, 0, 0)
KEYCTL(time_out, KEYCTL_SET_TIMEOUT, OF_USER, 1000, 0, 0)
KEYCTL(invalidate, KEYCTL_INVALIDATE, OF_USER_SESSION, 0, 0, 0)
KEYCTL(security, KEYCTL_GET_SECURITY, OF_USER, NULL, 0, 0)
KEYCTL(join_named, KEYCTL_JOIN_SESSION_KEYRING, (long)"road", 0, 0, 0)
KEYCTL(join_new, KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
KEYCTL(persistent, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING, 0, 0)

static long *number_made; /* shared with who makes it */

static bool add_and_say(const struct place *place)
{
	*number_made = add(place, PAYLOAD, KEY_SPEC_USER_KEYRING);
	return *number_made >= 0;
}

static void make_and_tell_key(const struct place *place)
{
	number_made = mmap(NULL, sizeof(*number_made), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	place_default(place);
	if (number_made == MAP_FAILED || !as_user(place, add_and_say))
		road_broken("no key was made");
	place_tell(place, "%lx", *number_made);
}

/* One of the kernel's own, as of trusted certificates. */
static void tell_kernel_ring(const struct place *place)
{
	FILE *keys = fopen("/proc/keys", "re");
	char line[256], number[16] = "";

	place_default(place);
	if (!keys)
		road_broken("/proc/keys");
	while (fgets(line, sizeof(line), keys))
		if (strstr(line, " keyring ") && strstr(line, " .builtin_") &&
		    sscanf(line, "%15s", number) == 1)
			place_tell(place, "%s", number);
	fclose(keys);
	if (!*place_told(place))
		road_broken("the kernel has no keyring of its own");
}

static long number_told(const struct place *place)
{
	return (long)(int)strtoul(place_told(place), NULL, 16);
}

#define BY_NUMBER(name, operation, b, c, d)                                                        \
	static int name(const struct place *place)                                                 \
	{                                                                                          \
		return keyctl(operation, number_told(place), (long)(b), (long)(c), (long)(d));     \
	}
BY_NUMBER(read_number, KEYCTL_READ, (char[16]){ 0 }, 16, 0)
BY_NUMBER(describe_number, KEYCTL_DESCRIBE, (char[64]){ 0 }, 64, 0)
BY_NUMBER(update_number, KEYCTL_UPDATE, "other", 5, 0)
BY_NUMBER(revoke_number, KEYCTL_REVOKE, 0, 0, 0)
BY_NUMBER(invalidate_number, KEYCTL_INVALIDATE, 0, 0, 0)
BY_NUMBER(chown_number, KEYCTL_CHOWN, place->uid, -1, 0)
BY_NUMBER(permit_number, KEYCTL_SETPERM, 0x3f3f3f3f, 0, 0)
BY_NUMBER(time_out_number, KEYCTL_SET_TIMEOUT, 1000, 0, 0)
BY_NUMBER(unlink_number, KEYCTL_UNLINK, OF_USER, 0, 0)
BY_NUMBER(move_number, KEYCTL_MOVE, OF_USER, OF_USER_SESSION, 0)
BY_NUMBER(list_kernel_ring, KEYCTL_READ, (char[64]){ 0 }, 64, 0)
BY_NUMBER(restrict_ring, KEYCTL_RESTRICT_KEYRING, 0, 0, 0)
KEYCTL(to_parent, KEYCTL_SESSION_TO_PARENT, 0, 0, 0, 0)

/* The kernel would start a program of the host's, as root, to ask for the key. */
static int request_from_program(const struct place *place)
{
	(void)place;
	return road_result(
		syscall(SYS_request_key, "user", "road-unknown", "", KEY_SPEC_SESSION_KEYRING));
}

static int request_name(const struct place *place)
{
	(void)place;
	return road_result(syscall(SYS_request_key, "dns_resolver", "example.org", "",
				   KEY_SPEC_SESSION_KEYRING));
}

static int trust_certificate(const struct place *place)
{
	return road_result(
		syscall(SYS_add_key, "asymmetric", NULL, "\x30\x00", 2, number_told(place)));
}

static int add_asymmetric(const struct place *place)
{
	(void)place;
	return road_result(
		syscall(SYS_add_key, "asymmetric", NULL, "\x30\x00", 2, KEY_SPEC_PROCESS_KEYRING));
}

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
/* By number, what the kernel cannot find in a keyring of the caller's is held for a stranger's. */
#define KEY_WITH(text, function, before, after)                                                    \
	{                                                                                          \
		.name = text, .surface = "kernel", .try = function, .twin = get_random,            \
		.hidden = { EPERM, ENOKEY, EACCES }, .prepare = before, .harmed = after            \
	}
#define KEY(text, function) KEY_WITH(text, function, make_key, key_changed)
#define KEY_BY(text, function)                                                                     \
	KEY_WITH(text " by its number", function, make_and_tell_key, key_changed)

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
	KEY("keyctl SESSION_TO_PARENT", to_parent),
	KEY("request_key with a program's help", request_from_program),
	KEY("request_key of a name on the network (dns_resolver)", request_name),
	KEY("add_key of a certificate", add_asymmetric),
	KEY_BY("keyctl READ", read_number),
	KEY_BY("keyctl DESCRIBE", describe_number),
	KEY_BY("keyctl UPDATE", update_number),
	KEY_BY("keyctl REVOKE", revoke_number),
	KEY_BY("keyctl INVALIDATE", invalidate_number),
	KEY_BY("keyctl CHOWN", chown_number),
	KEY_BY("keyctl SETPERM", permit_number),
	KEY_BY("keyctl SET_TIMEOUT", time_out_number),
	KEY_BY("keyctl UNLINK", unlink_number),
	KEY_BY("keyctl MOVE", move_number),
	KEY_WITH("keyctl READ of a keyring of the kernel's", list_kernel_ring, tell_kernel_ring,
		 NULL),
	KEY_WITH("keyctl RESTRICT_KEYRING of a keyring of the kernel's", restrict_ring,
		 tell_kernel_ring, NULL),
	KEY_WITH("add_key of a certificate to a keyring of the kernel's", trust_certificate,
		 tell_kernel_ring, NULL),
};
ROADS(kernel_key);
