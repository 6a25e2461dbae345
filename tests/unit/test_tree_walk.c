/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/tree_walk.h"
#include "tap.h"

static char root[] = "/tmp/fsquota-unit-XXXXXX";

struct seen {
	int files, directories, specials, leaves, failures, deepest, highest_fd;
	bool bad_fd;
	const char *prune;
};

static int note(const struct fsq_walk_entry *entry, void *arg)
{
	struct seen *seen = arg;
	const char *name = strrchr(entry->path, '/') + 1;
	struct stat st;

	switch (entry->kind) {
	case FSQ_WALK_FILE:
		seen->files++;
		seen->bad_fd |= fstat(entry->fd, &st) || !S_ISREG(st.st_mode);
		break;
	case FSQ_WALK_DIRECTORY:
		seen->directories++;
		seen->bad_fd |= fstat(entry->fd, &st) || !S_ISDIR(st.st_mode);
		if (seen->prune && strcmp(name, seen->prune) == 0)
			return FSQ_WALK_PRUNE;
		break;
	case FSQ_WALK_SPECIAL:
		seen->specials++;
		break;
	case FSQ_WALK_LEAVE:
		seen->leaves++;
		break;
	case FSQ_WALK_NO_STAT:
	case FSQ_WALK_NO_OPEN:
		seen->failures++;
		break;
	}
	if (entry->depth > seen->deepest)
		seen->deepest = entry->depth;
	if (entry->fd > seen->highest_fd)
		seen->highest_fd = entry->fd;
	return 0;
}

static int stop(const struct fsq_walk_entry *entry, void *arg)
{
	(void)entry;
	return ++*(int *)arg == 3 ? 77 : 0;
}

static struct seen walk(const char *path, int depth)
{
	struct seen seen = { 0 };

	if (fsq_tree_walk(path, depth, note, &seen, NULL))
		abort();
	return seen;
}

static void make(const char *name)
{
	if (mkdir(name, 0700) && errno != EEXIST)
		abort();
}

static void touch(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		abort();
	close(fd);
}

/* As deep as no path name can be. */
static void make_deep(int levels)
{
	int at = open(".", O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < levels; i++) {
		int next;

		if (mkdirat(at, "d", 0700))
			abort();
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
}

static void remove_deep(int levels)
{
	for (int i = 0; i < levels; i++)
		if (chdir("d"))
			abort();
	for (int i = 0; i < levels; i++)
		if (chdir("..") || rmdir("d"))
			abort();
}

static void test_small(void)
{
	struct seen seen;
	int calls = 0;

	seen = walk(root, FSQ_WALK_INFINITE);
	ok(seen.files == 3 && seen.directories == 3 && seen.specials == 4,
	   "every entry is visited once");
	ok(seen.leaves == 3 && seen.failures == 0, "each directory is left");
	ok(!seen.bad_fd, "descriptors are of what is visited");
	seen = walk(root, 0);
	ok(seen.directories == 1 && seen.files == 0 && seen.leaves == 0,
	   "depth 0 is the root alone");
	seen = walk(root, 1);
	ok(seen.directories == 2 && seen.files == 2 && seen.deepest == 1,
	   "depth 1 is what is in it");
	seen = (struct seen){ .prune = "a" };
	fsq_tree_walk(root, FSQ_WALK_INFINITE, note, &seen, NULL);
	ok(seen.directories == 2 && seen.files == 2, "a pruned directory is not entered");
	ok(fsq_tree_walk(root, FSQ_WALK_INFINITE, stop, &calls, NULL) == 77 && calls == 3,
	   "a visitor can end the walk");
	seen = walk("file", FSQ_WALK_INFINITE);
	ok(seen.files == 1 && seen.directories == 0, "a root may be a file");
	seen = walk("link/", FSQ_WALK_INFINITE);
	ok(seen.specials == 1 && seen.directories == 0, "a root that is a symlink is not followed");
	alarm(20);
	seen = walk("fifo", FSQ_WALK_INFINITE);
	ok(seen.specials == 1, "a root that is a FIFO does not block");
	seen = walk("gone", FSQ_WALK_INFINITE);
	ok(seen.failures == 1, "a root that is not there is told");
	seen = walk("/proc/self", 0);
	ok(seen.specials == 1, "/proc/self is a symlink like any other");
}

static void test_deep(void)
{
	const int levels = 3000;
	struct seen seen;

	if (mkdir("deep", 0700) || chdir("deep"))
		abort();
	make_deep(levels);
	seen = walk(".", FSQ_WALK_INFINITE);
	ok(seen.directories == levels + 1 && seen.leaves == levels + 1 && seen.failures == 0,
	   "a tree 3000 levels deep");
	ok(seen.deepest == levels, "to its end");
	ok(seen.highest_fd < 128, "with few descriptors");
	remove_deep(levels);
	if (chdir("..") || rmdir("deep"))
		abort();
}

static void test_wide_below_deep(void)
{
	const int files = 2000, levels = 100;
	struct seen seen;
	char name[32];

	/* The upper directories are closed meanwhile and must be read on where they were left. */
	if (mkdir("wide", 0700) || chdir("wide"))
		abort();
	for (int level = 0; level < 3; level++) {
		for (int i = 0; i < files; i++) {
			snprintf(name, sizeof(name), "file%d", i);
			touch(name);
		}
		if (mkdir("d", 0700) || chdir("d"))
			abort();
	}
	make_deep(levels);
	if (chdir("../../.."))
		abort();
	seen = walk(".", FSQ_WALK_INFINITE);
	ok(seen.files == 3 * files && seen.directories == levels + 4 && seen.failures == 0,
	   "wide directories above deep ones are read to their end, each entry once");
	if (chdir("d/d/d"))
		abort();
	remove_deep(levels);
	if (chdir("../../..") || chdir("..") || system("rm -rf wide"))
		abort();
}

int main(void)
{
	if (!mkdtemp(root) || chdir(root))
		return 1;
	make("a");
	make("a/b");
	touch("file");
	touch("file2");
	touch("a/af");
	if (symlink("a", "link") || symlink("nowhere", "dangling") || symlink("..", "a/up") ||
	    mkfifo("fifo", 0600))
		return 1;
	test_small();
	test_deep();
	test_wide_below_deep();
	if (chdir("/"))
		return 1;
	for (const char *const *name =
		     (const char *const[]){ "a/af", "a/up", "a/b", "a", "file", "file2", "link",
					    "dangling", "fifo", NULL };
	     *name; name++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", root, *name);
		remove(path);
	}
	rmdir(root);
	return tap_end();
}
