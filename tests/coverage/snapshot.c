// SPDX-License-Identifier: Apache-2.0
/* Has anything in a directory changed? All that a change can show in, but for times of access. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/coverage/road.h"

/* What changes an inode shows in ctime; but a mapping may change content long before. */
static unsigned long sum_of(const char *path)
{
	unsigned char block[4096];
	unsigned long sum = 5381;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	while ((n = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < n; i++)
			sum = sum * 33 + block[i];
	close(fd);
	return sum;
}

/* True if it is a directory. */
static bool write_one(FILE *out, const char *path)
{
	char names[1024] = "";
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0) {
		fprintf(out, "%s: %s\n", path, strerror(errno));
		return false;
	}
	fprintf(out, "%s ino=%lu mode=%o uid=%u gid=%u rdev=%lx links=%lu size=%ld", path,
		(unsigned long)st.st_ino, st.st_mode, st.st_uid, st.st_gid,
		(unsigned long)st.st_rdev, (unsigned long)st.st_nlink, (long)st.st_size);
	fprintf(out, " mtime=%ld.%09ld ctime=%ld.%09ld", (long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, (long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	if (S_ISREG(st.st_mode))
		fprintf(out, " sum=%lx", sum_of(path));
	n = llistxattr(path, names, sizeof(names));
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1)
		fprintf(out, " xattr=%s", names + i);
	fputc('\n', out);
	return S_ISDIR(st.st_mode);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void write_tree(FILE *out, const char *path)
{
	struct dirent **entries;
	char child[1024];
	int n;

	if (!write_one(out, path))
		return;
	n = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
			snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
			write_tree(out, child);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

void snapshot_save(const char *dir, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		road_broken("%s", path);
	write_tree(out, dir);
	if (fclose(out) != 0)
		road_broken("%s", path);
}

bool snapshot_same(const char *dir, const char *path)
{
	char *now = NULL, *before;
	size_t n = 0, found;
	FILE *out = open_memstream(&now, &n), *in = fopen(path, "re");
	bool same;

	if (!out || !in)
		road_broken("%s", path);
	write_tree(out, dir);
	fclose(out);
	before = calloc(1, n + 2);
	found = before ? fread(before, 1, n + 1, in) : 0;
	same = found == n && memcmp(before, now, n) == 0;
	if (!same)
		fprintf(stderr, "differs\n%s---\n%s", before ? before : "", now);
	fclose(in);
	free(before);
	free(now);
	return same;
}
