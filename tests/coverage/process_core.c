// SPDX-License-Identifier: Apache-2.0
/* Where does a process that crashes leave its memory? */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coverage/road.h"

static const char *core_of(const struct place *place)
{
	return road_path("%s/cores/road-%03u-%c", place->root, place->number, "hrgd"[place->side]);
}

static void set_pattern(const char *pattern)
{
	int fd = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);

	road_must(fd, "core_pattern");
	if (write(fd, pattern, strlen(pattern)) < 0)
		road_broken("core_pattern");
	close(fd);
}

/* As on a host that collects them in one place, by the name of who crashed. */
static void collect_cores(const struct place *place)
{
	place_default(place);
	place_directory(place, road_path("%s/cores", place->root));
	set_pattern(road_path("%s/cores/%%e", place->root));
}

/* Older kernels open it to be read as well. */
static void grant_core(const struct place *place)
{
	road_grant("fs.read %s", core_of(place));
	road_grant("fs.write %s", core_of(place));
}

static int crash(const struct place *place)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t pid = fork();
	int status;

	place_names(place, "%s", core_of(place));
	road_must(pid, "fork");
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &unlimited);
		prctl(PR_SET_DUMPABLE, 1);
		kill(getpid(), SIGQUIT);
		_exit(0);
	}
	road_must(waitpid(pid, &status, 0), "waitpid");
	if (!WIFSIGNALED(status))
		road_broken("it did not crash");
	return WCOREDUMP(status) ? 0 : -EACCES;
}

static bool core_is_there(const struct place *place)
{
	set_pattern("core");
	return access(core_of(place), F_OK) == 0;
}

static const struct road process_core[] = {
	{
		.name = "core dump",
		.surface = "fs.write",
		.op = "create",
		.try = crash,
		.hidden = { EACCES },
		.prepare = collect_cores,
		.grants = grant_core,
		.harmed = core_is_there,
		.flags = ROAD_CHANGES,
	},
};
ROADS(process_core);
