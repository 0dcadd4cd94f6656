// SPDX-License-Identifier: Apache-2.0
/* What does an operation on files cost? In the working directory, which should be empty. */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/bench/operations.h"

#define SYS_FILE_GETATTR 468
#define SYS_FILE_SETATTR 469

static int file;

static void make_file(void)
{
	file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (symlink("file", "link") < 0)
		perror("link");
}

static int open_close(void)
{
	int fd = open("file", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fd : close(fd);
}

static int look(void)
{
	struct stat st;

	return stat("file", &st);
}

static int read_link(void)
{
	char text[64];

	return (int)readlink("link", text, sizeof(text));
}

static int cut(void)
{
	return truncate("file", 0);
}

static int cut_open(void)
{
	return ftruncate(file, 0);
}

static int create_unlink(void)
{
	int fd = open("new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd < 0 || close(fd) < 0 ? -1 : unlink("new");
}

static int mkfifo_unlink(void)
{
	return mkfifo("fifo", 0644) < 0 ? -1 : unlink("fifo");
}

static int mkdir_rmdir(void)
{
	return mkdir("folder", 0755) < 0 ? -1 : rmdir("folder");
}

static int symlink_unlink(void)
{
	return symlink("file", "soft") < 0 ? -1 : unlink("soft");
}

static int link_unlink(void)
{
	return link("file", "hard") < 0 ? -1 : unlink("hard");
}

static int rename_twice(void)
{
	return rename("file", "other") < 0 ? -1 : rename("other", "file");
}

static int change_mode(void)
{
	return chmod("file", 0644);
}

static int change_owner(void)
{
	return chown("file", 0, 0);
}

static int change_times(void)
{
	return utimensat(AT_FDCWD, "file", NULL, 0);
}

static int set_attribute(void)
{
	return setxattr("file", "user.word", "value", 5, 0);
}

static int get_attribute(void)
{
	char value[64];

	return (int)getxattr("file", "user.word", value, sizeof(value));
}

static int list_attributes(void)
{
	char names[256];

	return (int)listxattr("file", names, sizeof(names));
}

static int set_remove_attribute(void)
{
	return setxattr("file", "user.gone", "value", 5, 0) < 0 ? -1
								: removexattr("file", "user.gone");
}

/* include/uapi/linux/posix_acl_xattr.h: version 2; owner, a user, group, mask, others. */
static const struct {
	uint32_t version;
	struct {
		uint16_t tag, permissions;
		uint32_t id;
	} entries[5];
} acl = { 2, { { 1, 6, ~0U }, { 2, 4, 1000 }, { 4, 4, ~0U }, { 16, 4, ~0U }, { 32, 4, ~0U } } };

static int set_acl(void)
{
	return setxattr("file", "system.posix_acl_access", &acl, sizeof(acl), 0);
}

static int get_acl(void)
{
	char value[256];

	return (int)getxattr("file", "system.posix_acl_access", value, sizeof(value));
}

static int set_remove_acl(void)
{
	return set_acl() < 0 ? -1 : removexattr("file", "system.posix_acl_access");
}

static int notify;

static void make_notify(void)
{
	notify = inotify_init1(IN_CLOEXEC);
}

static int watch_once(void)
{
	int watch = inotify_add_watch(notify, "file", IN_MODIFY);
	char event[256];

	/* That the watch is gone is an event, too. */
	return watch < 0 || inotify_rm_watch(notify, watch) < 0
		       ? -1
		       : (int)read(notify, event, sizeof(event));
}

static int ask_flags(void)
{
	int flags;

	return ioctl(file, FS_IOC_GETFLAGS, &flags);
}

#ifdef __x86_64__
/* Without 32-bit programs the instruction is a fault: past it, and no such call. */
static void skip_instruction(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	(void)info;
	at->uc_mcontext.gregs[REG_RIP] += 2;
	at->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

static void catch_fault(void)
{
	const struct sigaction action = { .sa_sigaction = skip_instruction,
					  .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
}

/* As a 32-bit program calls it; the address must fit, which a static program's does. */
static int ask_size_compat(void)
{
	static int size;
	int result = 54; /* __NR_ioctl of i386 */

	asm volatile("int $0x80"
		     : "+a"(result)
		     : "b"(file), "c"(FIGETBSZ), "d"((uint32_t)(uintptr_t)&size)
		     : "memory", "r8", "r9", "r10", "r11");
	errno = result < 0 ? -result : 0;
	return result < 0 ? -1 : 0;
}
#endif

/* struct file_attr of include/uapi/linux/fs.h, since 6.17 */
static uint64_t attributes[3];

static int get_file_attributes(void)
{
	return (int)syscall(SYS_FILE_GETATTR, AT_FDCWD, "file", attributes, sizeof(attributes), 0);
}

static int set_file_attributes(void)
{
	return (int)syscall(SYS_FILE_SETATTR, AT_FDCWD, "file", attributes, sizeof(attributes), 0);
}

static int get_flags(void)
{
	return fcntl(file, F_GETFL);
}

static int lock_unlock(void)
{
	return flock(file, LOCK_EX) < 0 ? -1 : flock(file, LOCK_UN);
}

static const struct operation operations[] = {
	{ "file_open", "open + close", 5000, open_close, 0, make_file },
	{ "inode_getattr", "stat", 5000, look, 0, NULL },
	{ "inode_readlink", "readlink", 5000, read_link, 0, NULL },
	{ "path_truncate", "truncate", 2000, cut, 0, NULL },
	{ "file_truncate", "ftruncate", 2000, cut_open, 0, NULL },
	{ "path_mknod,inode_create,path_unlink,inode_unlink,file_open", "create + close + unlink",
	  2000, create_unlink, 0, NULL },
	{ "path_mknod,path_unlink", "mkfifo + unlink", 2000, mkfifo_unlink, 0, NULL },
	{ "path_mkdir,path_rmdir", "mkdir + rmdir", 2000, mkdir_rmdir, 0, NULL },
	{ "path_symlink,path_unlink", "symlink + unlink", 2000, symlink_unlink, 0, NULL },
	{ "path_link,path_unlink", "link + unlink", 2000, link_unlink, 0, NULL },
	{ "path_rename", "rename, and back", 2000, rename_twice, 0, NULL },
	{ "path_chmod", "chmod", 2000, change_mode, 0, NULL },
	{ "path_chown", "chown", 2000, change_owner, 0, NULL },
	{ "inode_setattr", "utimensat", 2000, change_times, 0, NULL },
	{ "inode_setxattr", "setxattr", 2000, set_attribute, 0, NULL },
	{ "inode_getxattr", "getxattr", 5000, get_attribute, 0, NULL },
	{ "inode_listxattr", "listxattr", 5000, list_attributes, 0, NULL },
	{ "inode_setxattr,inode_removexattr", "setxattr + removexattr", 2000, set_remove_attribute,
	  0, NULL },
	{ "inode_set_acl", "set an ACL", 2000, set_acl, 0, NULL },
	{ "inode_get_acl", "read an ACL", 5000, get_acl, 0, NULL },
	{ "inode_set_acl,inode_remove_acl", "set + remove an ACL", 2000, set_remove_acl, 0, NULL },
	{ "path_notify", "watch + forget + read the event", 2000, watch_once, 0, make_notify },
	{ "file_ioctl", "ioctl FS_IOC_GETFLAGS", 5000, ask_flags, 0, NULL },
#ifdef __x86_64__
	{ "file_ioctl_compat", "32-bit ioctl FIGETBSZ", 5000, ask_size_compat, 0, catch_fault },
#endif
	{ "inode_file_getattr", "file_getattr", 5000, get_file_attributes, 0, NULL },
	{ "inode_file_setattr", "file_setattr", 2000, set_file_attributes, 0, NULL },
	{ "file_fcntl", "fcntl F_GETFL", 5000, get_flags, 0, NULL },
	{ "file_lock", "flock, and unlock", 5000, lock_unlock, 0, NULL },
};

OPERATIONS_MAIN(operations)
