// SPDX-License-Identifier: Apache-2.0
/* How does a run under isolation container get a root of its own? */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/cmd.h"
#include "user/root_decoys.h"
#include "user/root_plan.h"
#include "user/run.h"

#define CONSOLE "/dev/console"

static void free_place(struct comet_place **place)
{
	comet_place_free(*place);
}

/* From a directory one gets to all that is above and below it, whatever the root. */
static int check_descriptors(struct comet_run *run)
{
	struct stat st;
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return comet_error_set(&run->error, EINVAL,
					       "descriptor %d is a directory: under isolation "
					       "container it would lead out of the run's own root",
					       fd);
	return 0;
}

/* The operator's pseudo terminal is none of the run's own: it gets the name of a console. */
static int add_console(struct comet_place *root)
{
	char name[64];
	struct comet_place *place;
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (ttyname_r(fd, name, sizeof(name)) == 0 && strncmp(name, "/dev/pts/", 9) == 0)
			break;
	if (fd == 3)
		return 0;
	place = comet_place_reach(root, CONSOLE);
	if (!place)
		return -ENOMEM;
	if (comet_place_is_inside(place))
		return 0;
	place->kind = COMET_PLACE_SHOWN;
	place->target = strdup(name);
	return place->target ? 0 : -ENOMEM;
}

/* What is in memory, and the run's own, may be listed and used. */
static int add_rules(struct comet_run *run, const struct comet_place *root)
{
	const struct comet_place *dev = comet_place_find(root, "dev");
	const struct comet_place *pts = dev ? comet_place_find(dev, "pts") : NULL;
	int err = comet_run_add_path(run, "/", COMET_FS_READ, true);

	if (err < 0 || !dev || dev->kind != COMET_PLACE_WAY)
		return err;
	err = comet_run_add_path(run, "/dev", COMET_FS_READ, true);
	if (err == 0 && pts && pts->kind == COMET_PLACE_PTS)
		err = comet_run_add_path(run, "/dev/pts", COMET_FS_READ | COMET_FS_WRITE, false);
	if (err == 0)
		err = comet_run_add_path(run, "/dev/ptmx", COMET_FS_STAT, true);
	return err;
}

/* Is the run's first process where it should be? From elsewhere the agent would see the host. */
static int reopen_root(struct comet_run *run)
{
	_cleanup_close_ int root = -1;
	struct stat before, after;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", run->init_pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || fstat(root, &after) < 0 || fstat(run->root, &before) < 0)
		return comet_error_set(&run->error, errno, "cannot open the run's root: %s",
				       strerror(errno));
	/* As when comet was started in a root that is not its mount namespace's. */
	if (before.st_dev == after.st_dev)
		return comet_error_set(&run->error, EPERM,
				       "the run did not get into its own root: start comet in the "
				       "root of its mount namespace, not under chroot");
	comet_close_fd(&run->root);
	run->root = COMET_TAKE_FD(root);
	return 0;
}

static int make_root(struct comet_run *run)
{
	_cleanup_(free_place) struct comet_place *root = NULL;
	_cleanup_close_ int mount_ns = comet_run_open_mounts(run);
	struct comet_policy_target target = {
		.mount_ns = mount_ns,
		.warn = comet_run_report_warn,
		.warn_context = &run->report,
	};
	int err;

	if (mount_ns < 0)
		return mount_ns;
	root = comet_root_plan(run->policy, &target, run->private_tmp, &run->error);
	if (!root)
		return -EPERM;
	err = comet_root_add_decoys(root, run->policy);
	if (err == 0)
		err = add_console(root);
	if (err < 0)
		return comet_error_set(&run->error, -err, "cannot plan the run's own root: %s",
				       strerror(-err));
	err = comet_root_build(root, mount_ns, run->pins, &run->sockets, &run->error);
	if (err == 0)
		err = reopen_root(run);
	return err < 0 ? err : add_rules(run, root);
}

int comet_run_make_root(struct comet_run *run)
{
	int err;

	if (!run->container)
		return 0;
	err = check_descriptors(run);
	if (err == 0)
		err = make_root(run);
	return err < 0 ? COMET_EXIT_CONFINE : 0;
}
