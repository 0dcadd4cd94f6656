// SPDX-License-Identifier: Apache-2.0
/*
 * Which part of Comet is to break? COMET_FAULT="NAME[=ARGUMENT][,...]" says it, test builds alone
 * hear it:
 *
 *   kill@STEP stop@STEP  the process that comes to the step gets SIGKILL, SIGSTOP
 *   kill-both@STEP       comet's guard and then comet get SIGKILL
 *   oom@STEP             the process takes memory until its cgroup's limit kills it
 *   fail@STEP            the step answers an error
 *   trace                each step that is come to is told on standard error
 *   keep-capabilities    an agent that is root keeps every capability
 *   host-pids host-ipc   no pid, no ipc namespace
 *   no-packet-filter     no packet filter on the run's cgroup
 *   reader-stopped       no event is read before the end of the run
 *   no-selftest          the self-test's answer does not count
 *   no-socket-hooks      = without=comet_socket_
 *   without=PREFIX       programs whose names begin so are not loaded (implies no-selftest)
 *   reject=PROGRAM       the verifier refuses that program
 *   small-map=MAP:N      the map has room for N entries
 *   keep-leftovers       cgroups and records of dead runs are not cleared at the start
 *   own-set=WORD         programs and maps are not shared with runs that lack the same words
 *   few-programs=WORD    as own-set, with no more programs than the self-test asks
 */
#include "user/fault.h"

#include <bpf/libbpf.h>
#include <limits.h>
#include <linux/bpf.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "user/base.h"
#include "user/cmd.h"

#define FAULTS_MAX 16

enum kind {
	PLAIN, /* no argument */
	STEP,
	SET, /* shapes the set of programs and maps */
};

static const struct {
	const char *name;
	enum kind kind;
} names[] = {
	{ "kill", STEP },
	{ "stop", STEP },
	{ "kill-both", STEP },
	{ "oom", STEP },
	{ "fail", STEP },
	{ "trace", PLAIN },
	{ "keep-capabilities", PLAIN },
	{ "host-pids", PLAIN },
	{ "host-ipc", PLAIN },
	{ "no-packet-filter", PLAIN },
	{ "reader-stopped", PLAIN },
	{ "no-selftest", PLAIN },
	{ "keep-leftovers", PLAIN },
	{ "no-socket-hooks", PLAIN },
	{ "without", SET },
	{ "reject", SET },
	{ "small-map", SET },
	{ "few-programs", SET },
	{ "own-set", SET },
};

struct fault {
	const char *name;
	const char *argument; /* "" where there is none */
	enum kind kind;
};

static char words[1024]; /* cut into the faults */
static char set_words[1024];
static struct fault faults[FAULTS_MAX];
static size_t n_faults;
static pid_t guard_pid;

static void __attribute__((noreturn)) reject_word(const char *word)
{
	fprintf(stderr, "comet: COMET_FAULT: %s is not understood\n", word);
	exit(COMET_EXIT_USAGE);
}

static void add(const char *name, const char *argument)
{
	size_t i = 0;

	while (i < COMET_ARRAY_SIZE(names) && !streq(names[i].name, name))
		i++;
	if (i == COMET_ARRAY_SIZE(names) || n_faults == FAULTS_MAX ||
	    (names[i].kind == PLAIN) != !argument[0])
		reject_word(name);
	faults[n_faults++] = (struct fault){
		.name = names[i].name,
		.argument = argument,
		.kind = names[i].kind,
	};
	if (names[i].kind == SET) {
		size_t used = strlen(set_words);

		snprintf(set_words + used, sizeof(set_words) - used, "%s=%s,", name, argument);
	}
}

void comet_fault_read(void)
{
	const char *text = getenv("COMET_FAULT");
	char *save = NULL;
	char *word;

	if (!text)
		return;
	if (strlen(text) >= sizeof(words))
		reject_word(text);
	memcpy(words, text, strlen(text) + 1);
	/* The agent need not know. */
	unsetenv("COMET_FAULT");
	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *argument = word + strcspn(word, "@:=");

		if (*argument)
			*argument++ = '\0';
		if (streq(word, "no-socket-hooks"))
			add("without", "comet_socket_");
		add(word, argument);
	}
}

bool comet_fault(const char *name)
{
	size_t i;

	for (i = 0; i < n_faults; i++)
		if (streq(faults[i].name, name))
			return true;
	return streq(name, "no-selftest") && comet_fault("without");
}

const char *comet_fault_set(void)
{
	return set_words;
}

void comet_fault_guard(pid_t guard)
{
	guard_pid = guard;
}

/* Ends here. Pid 1 of a namespace takes no such signal from itself. */
static void __attribute__((noreturn)) die(void)
{
	kill(getpid(), SIGKILL);
	_exit(128 + SIGKILL);
}

static void rest(void)
{
	if (getpid() != 1)
		kill(getpid(), SIGSTOP);
	else
		for (;;)
			pause();
}

/* Until the cgroup's limit has it killed: within a gigabyte, or the test has set none. */
static void __attribute__((noreturn)) take_memory(const char *step)
{
	size_t size = (size_t)1 << 20;
	int i;

	for (i = 0; i < 1024; i++) {
		void *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (more == MAP_FAILED)
			break;
		memset(more, 1, size);
	}
	fprintf(stderr, "comet: no limit on memory at %s\n", step);
	_exit(COMET_EXIT_USAGE);
}

static int suffer(const struct fault *fault, struct comet_error *error)
{
	if (streq(fault->name, "kill-both") && guard_pid > 0)
		kill(guard_pid, SIGKILL);
	if (streq(fault->name, "kill") || streq(fault->name, "kill-both"))
		die();
	if (streq(fault->name, "stop"))
		rest();
	if (streq(fault->name, "oom"))
		take_memory(fault->argument);
	if (streq(fault->name, "fail") && error)
		return comet_error_set(error, EIO, "the step %s failed, as COMET_FAULT says",
				       fault->argument);
	return 0;
}

int comet_fault_at(const char *step, struct comet_error *error)
{
	struct timespec now;
	int err = 0;
	size_t i;

	if (comet_fault("trace")) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		dprintf(STDERR_FILENO, "step %s %lld ms%s\n", step,
			(long long)now.tv_sec * 1000 + now.tv_nsec / 1000000,
			error ? " may fail" : "");
	}
	for (i = 0; i < n_faults && err == 0; i++)
		if (faults[i].kind == STEP && streq(faults[i].argument, step))
			err = suffer(&faults[i], error);
	return err;
}

/* An instruction that leaves the rest unreachable, which no verifier takes. */
static int spoil(struct bpf_object *object, const char *name)
{
	static const struct bpf_insn exit_insn = { .code = BPF_JMP | BPF_EXIT };
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		return -ENOENT;
	*(struct bpf_insn *)bpf_program__insns(program) = exit_insn;
	return 0;
}

static bool is_one_of(const char *name, const char *const *list)
{
	while (*list && !streq(*list, name))
		list++;
	return *list != NULL;
}

/* These two are no hooks: comet itself uses them, and would not start. */
static const char *const used[] = { "comet_dump_objects", "comet_packet_egress", NULL };

static int leave_out(struct bpf_object *object, const char *prefix)
{
	struct bpf_program *program;
	int err = -ENOENT;

	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);

		if (strncmp(name, prefix, strlen(prefix)) == 0 && !is_one_of(name, used))
			err = bpf_program__set_autoload(program, false);
	}
	return err;
}

static int leave_most_out(struct bpf_object *object)
{
	static const char *const few[] = {
		"comet_cgroup_mkdir",   "comet_cgroup_rmdir",   "comet_task_alloc",
		"comet_file_open",      "comet_path_mknod",     "comet_bprm_check_security",
		"comet_socket_connect", "comet_socket_sendmsg", NULL,
	};
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);

		if (!is_one_of(name, few) && !is_one_of(name, used))
			err |= bpf_program__set_autoload(program, false);
	}
	return err;
}

static int cut_map(struct bpf_object *object, const char *argument)
{
	struct bpf_map *map;
	char name[32];
	unsigned int n;

	if (sscanf(argument, "%31[^:]:%u", name, &n) != 2)
		return -EINVAL;
	map = bpf_object__find_map_by_name(object, name);
	return map ? bpf_map__set_max_entries(map, n) : -ENOENT;
}

int comet_fault_object(struct bpf_object *object, struct comet_error *error)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n_faults && err == 0; i++) {
		const char *argument = faults[i].argument;

		if (streq(faults[i].name, "without"))
			err = leave_out(object, argument);
		else if (streq(faults[i].name, "few-programs"))
			err = leave_most_out(object);
		else if (streq(faults[i].name, "reject"))
			err = spoil(object, argument);
		else if (streq(faults[i].name, "small-map"))
			err = cut_map(object, argument);
		if (err)
			comet_error_set(error, -err, "COMET_FAULT: %s=%s: %s", faults[i].name,
					argument, strerror(-err));
	}
	return err;
}
