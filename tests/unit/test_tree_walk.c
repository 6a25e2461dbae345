/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "quota/walk/tree_walk.h"
#include "quota/usage/project_tree.h"

static char root[] = "/tmp/fsquota-unit-XXXXXX";

struct seen {
	int files, directories, specials, leaves, failures, deepest, highest_fd;
	bool bad_fd;
	const char *prune;
};

static enum fsq_visit note(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
			   void *arg)
{
	struct seen *seen = arg;
	const char *name = strrchr(entry->path, '/') + 1;
	struct stat st;

	(void)event;
	switch (entry->kind) {
	case FSQ_WALK_FILE:
		seen->files++;
		seen->bad_fd |= fstat(entry->fd, &st) || !S_ISREG(st.st_mode);
		break;
	case FSQ_WALK_DIRECTORY:
		seen->directories++;
		seen->bad_fd |= fstat(entry->fd, &st) || !S_ISDIR(st.st_mode);
		if (seen->prune && strcmp(name, seen->prune) == 0)
			return FSQ_VISIT_PRUNE;
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
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit stop(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
			   void *arg)
{
	(void)entry;
	(void)event;
	return ++*(int *)arg == 3 ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static int walk_with(const char *path, int depth, fsq_walk_visitor visit, void *arg)
{
	struct fsq_walk request = {
		.root = path,
		.root_fd = -1,
		.max_depth = depth,
		.access = FSQ_ACCESS_OPEN,
		.alone = true,
		.visit = visit,
		.arg = arg,
	};

	return fsq_tree_walk(&request, NULL);
}

static struct seen walk(const char *path, int depth)
{
	struct seen seen = { 0 };

	if (walk_with(path, depth, note, &seen))
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

static int count_descriptors(void)
{
	int count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void test_small(void)
{
	struct seen seen;
	int calls = 0;

	seen = walk(root, FSQ_DEPTH_INFINITE);
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
	walk_with(root, FSQ_DEPTH_INFINITE, note, &seen);
	ok(seen.directories == 2 && seen.files == 2, "a pruned directory is not entered");
	ok(walk_with(root, FSQ_DEPTH_INFINITE, stop, &calls) == 0 && calls == 3,
	   "a visitor can end the walk");
	seen = walk("file", FSQ_DEPTH_INFINITE);
	ok(seen.files == 1 && seen.directories == 0, "a root may be a file");
	seen = walk("link/", FSQ_DEPTH_INFINITE);
	ok(seen.specials == 1 && seen.directories == 0, "a root that is a symlink is not followed");
	alarm(20);
	seen = walk("fifo", FSQ_DEPTH_INFINITE);
	alarm(0);
	ok(seen.specials == 1, "a root that is a FIFO does not block");
	seen = walk("gone", FSQ_DEPTH_INFINITE);
	ok(seen.failures == 1, "a root that is not there is emitted");
	seen = walk("/proc/self", 0);
	ok(seen.specials == 1, "/proc/self is a symlink like any other");
}

static void test_deep(void)
{
	const int files = 2000, wide = 3, levels = 3000;
	struct seen seen;
	char name[32];

	/* The upper directories are closed meanwhile and must be read on where they were left. */
	if (mkdir("deep", 0700) || chdir("deep"))
		abort();
	for (int level = 0; level < wide; level++) {
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
	seen = walk(".", FSQ_DEPTH_INFINITE);
	ok(seen.directories == wide + levels + 1 && seen.leaves == wide + levels + 1,
	   "a tree 3000 levels deep");
	ok(seen.deepest == wide + levels, "to its end");
	ok(seen.highest_fd < 128, "with few descriptors");
	ok(seen.files == wide * files && seen.failures == 0,
	   "wide directories above it are read to their end, each entry once");
	if (chdir("..") || system("rm -rf deep"))
		abort();
}

/* Deep enough for the upper ones to be closed, when the deepest is reached. */
#define LEVELS 100

struct moving {
	struct seen seen;
	int moved, replaced; /* these levels, then; 0: none */
};

static const char *level(int depth)
{
	static char path[2 * LEVELS];

	for (int i = 0; i < depth; i++)
		memcpy(path + 2 * i, "d/", 2);
	path[2 * depth - 1] = '\0';
	return path;
}

static enum fsq_visit move(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
			   void *arg)
{
	struct moving *moving = arg;

	if (entry->depth == LEVELS && entry->kind == FSQ_WALK_DIRECTORY) {
		if (rename(level(moving->moved), "../moved"))
			abort();
		if (moving->replaced && (rename(level(moving->replaced), "../replaced") ||
					 mkdir(level(moving->replaced), 0700)))
			abort();
	}
	return note(entry, event, &moving->seen);
}

static void test_moved(void)
{
	struct moving moved = { .moved = 60 }, both = { .moved = 60, .replaced = 59 };
	int descriptors = count_descriptors();

	make("tree");
	if (chdir("tree"))
		abort();
	make_deep(LEVELS);
	walk_with(".", FSQ_DEPTH_INFINITE, move, &moved);
	ok(moved.seen.leaves == LEVELS + 1 && moved.seen.failures == 0,
	   "the way up from what was moved away is found by names");
	if (rename("../moved", level(60)))
		abort();
	walk_with(".", FSQ_DEPTH_INFINITE, move, &both);
	ok(both.seen.leaves == LEVELS + 1 && both.seen.failures == 1,
	   "but for a directory in whose place there is another");
	ok(count_descriptors() == descriptors, "no descriptor stays open");
	if (chdir("..") || system("rm -rf tree moved replaced"))
		abort();
}

/* --- a large tree --- */

#define DIRECTORIES 60
#define FILES 50
#define ENTRIES (1 + DIRECTORIES * (2 + FILES))

struct crowd {
	unsigned int threads;
	enum fsq_access_mode access;
	int prune;		    /* of so many directories one is not entered; 0: none */
	int end_at;		    /* the event that ends the walk; 0: none */
	unsigned int cancel_at;	    /* so many events cancel it; 0: none do */
	bool by_default;	    /* without options */
	atomic_uint reported;	    /* events */
	atomic_int visits[ENTRIES]; /* by the number in the name, from 1 on */
	atomic_int others;
	_Atomic(pthread_t) first_thread;
	atomic_bool several;
	char *emitted; /* the paths, a line each */
	size_t emitted_size;
	int emitted_count;
	FILE *out;
};

/* What is emitted: each third file, and each directory. */
static enum fsq_visit visit_crowd(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				  void *arg)
{
	struct crowd *crowd = arg;
	const char *slash = strrchr(entry->path, '/');
	int number = slash ? atoi(slash + 2) : 0;
	pthread_t none = 0;
	struct stat st;

	if (entry->kind == FSQ_WALK_LEAVE)
		return FSQ_VISIT_CONTINUE;
	if (!atomic_compare_exchange_strong(&crowd->first_thread, &none, pthread_self()) &&
	    !pthread_equal(none, pthread_self()))
		atomic_store(&crowd->several, true);
	if (number > 0 && number < ENTRIES &&
	    fstatat(entry->dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0)
		atomic_fetch_add(&crowd->visits[number], 1);
	else
		atomic_fetch_add(&crowd->others, 1);
	event->what = entry->kind == FSQ_WALK_DIRECTORY || number % 3 == 0;
	atomic_fetch_add(&crowd->reported, event->what != 0);
	if (crowd->prune && entry->kind == FSQ_WALK_DIRECTORY && number % crowd->prune == 1)
		return FSQ_VISIT_PRUNE;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit emit_crowd(const struct fsq_walk_event *event, void *arg)
{
	struct crowd *crowd = arg;

	fprintf(crowd->out, "%s\n", event->path);
	if (++crowd->emitted_count != crowd->end_at)
		return FSQ_VISIT_CONTINUE;
	/* Until another thread has an event, too, if there are others by now. */
	for (int i = 0; i < 100000 && crowd->end_at > 700; i++) {
		if (crowd->reported > (unsigned int)crowd->emitted_count)
			break;
		sched_yield();
	}
	return FSQ_VISIT_STOP;
}

static bool is_cancelled(void *arg)
{
	struct crowd *crowd = arg;

	return crowd->cancel_at > 0 && crowd->reported >= crowd->cancel_at;
}

static int walk_crowd(struct crowd *crowd, uint64_t *entries)
{
	const struct fsq_call_options options = { .threads = crowd->threads,
						  .is_cancelled = is_cancelled,
						  .arg = crowd };
	struct fsq_walk request = {
		.root = ".",
		.root_fd = -1,
		.max_depth = FSQ_DEPTH_INFINITE,
		.access = crowd->access,
		.options = crowd->by_default ? NULL : &options,
		.visit = visit_crowd,
		.emit = emit_crowd,
		.arg = crowd,
	};
	int rc;

	crowd->out = open_memstream(&crowd->emitted, &crowd->emitted_size);
	if (!crowd->out)
		abort();
	rc = fsq_tree_walk(&request, NULL);
	fclose(crowd->out);
	*entries = request.entries;
	return rc;
}

static int compare_lines(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Have both emitted the same, in any order? */
static bool emitted_alike(const struct crowd *one, const struct crowd *other)
{
	const struct crowd *both[] = { one, other };
	static char *lines[2][ENTRIES];
	bool alike = one->emitted_count == other->emitted_count;

	for (int i = 0; i < 2; i++) {
		char *copy = strdup(both[i]->emitted), *line = strtok(copy, "\n");

		for (int count = 0; count < both[i]->emitted_count; count++) {
			lines[i][count] = strdup(line ? line : "");
			line = strtok(NULL, "\n");
		}
		free(copy);
		qsort(lines[i], (size_t)both[i]->emitted_count, sizeof(lines[i][0]), compare_lines);
	}
	for (int count = 0; count < one->emitted_count && alike; count++)
		alike = strcmp(lines[0][count], lines[1][count]) == 0;
	for (int i = 0; i < 2; i++)
		for (int count = 0; count < both[i]->emitted_count; count++)
			free(lines[i][count]);
	return alike;
}

static bool each_once(const struct crowd *crowd)
{
	for (int i = 1; i < ENTRIES; i++)
		if (crowd->visits[i] != 1)
			return false;
	return true;
}

/* Directories d1, d1/d52 and so on, with files in each; every name has a number of its own. */
static void make_crowd(void)
{
	char name[64];
	int number = 1;

	for (int i = 0; i < DIRECTORIES; i++) {
		int outer = number++, inner = number++;

		snprintf(name, sizeof(name), "d%d", outer);
		make(name);
		snprintf(name, sizeof(name), "d%d/d%d", outer, inner);
		make(name);
		for (int file = 0; file < FILES; file++, number++) {
			snprintf(name, sizeof(name), "d%d/%s%d", outer, file % 2 ? "f" : "g",
				 number);
			if (file % 2)
				snprintf(name, sizeof(name), "d%d/d%d/f%d", outer, inner, number);
			touch(name);
		}
	}
}

/* What a visitor asks of an entry that is not as it was listed. */
static void test_entries(void)
{
	const struct fsq_inode_project project = { .inherit = true };
	const struct timespec future = { .tv_sec = INT32_MAX };
	struct fsq_walk_entry entry = {
		.kind = FSQ_WALK_FILE, .fd = -1, .dirfd = AT_FDCWD, .name = "a"
	};

	ok(fsq_walk_is_directory(&entry, &project), "a file that is a directory now");
	entry.name = "file";
	ok(!fsq_walk_is_directory(&entry, &project), "one that is none");
	entry.name = "nothing";
	ok(!fsq_walk_is_directory(&entry, &project), "one that is gone");
	entry = (struct fsq_walk_entry){ .kind = FSQ_WALK_LEAVE, .dirfd = -1 };
	ok(fsq_walk_changed_since(&entry, &future), "a directory that is nowhere has changed");
	entry.dirfd = INT32_MAX;
	ok(fsq_walk_changed_since(&entry, &future), "as one has that cannot be asked");
	entry.dirfd = open("a", O_RDONLY | O_DIRECTORY);
	ok(!fsq_walk_changed_since(&entry, &future), "another has not");
	close(entry.dirfd);
}

static enum fsq_visit find_slashes(const struct fsq_walk_entry *entry, struct fsq_walk_event *event,
				   void *arg)
{
	(void)event;
	if (entry->path[0] != '/' || strstr(entry->path, "//"))
		*(bool *)arg = true;
	return FSQ_VISIT_CONTINUE;
}

static void test_root(void)
{
	bool found = false;

	ok(walk_with("/", 1, find_slashes, &found) == 0 && !found,
	   "paths in the root directory have one slash");
}

static void test_crowd(void)
{
	static const enum fsq_access_mode modes[] = { FSQ_ACCESS_OPEN, FSQ_ACCESS_PROJECT,
						      FSQ_ACCESS_CLOSED };
	static struct crowd alone, crowd;
	bool all = true, alike = true, several = false, counted = true, ended = true;
	int descriptors = count_descriptors();
	uint64_t entries;

	if (mkdir("crowd", 0700) || chdir("crowd"))
		abort();
	make_crowd();
	alone = (struct crowd){ .threads = 1 };
	ok(walk_crowd(&alone, &entries) == 0 && each_once(&alone) && entries == ENTRIES,
	   "a large tree with one thread: each entry once");
	ok(!alone.several && alone.emitted_count > 1000, "it is one thread");
	for (int i = 0; i < 12; i++) {
		crowd = (struct crowd){ .threads = 2 + (unsigned int)i, .access = modes[i % 3] };
		all &= walk_crowd(&crowd, &entries) == 0 && each_once(&crowd);
		alike &= emitted_alike(&crowd, &alone);
		/* On a busy machine the first may be done before another begins. */
		several |= crowd.several;
		counted &= entries == ENTRIES;
		free(crowd.emitted);
	}
	ok(all, "with 2 to 13 threads: each entry once");
	ok(several, "they are several");
	ok(alike, "events are those of one thread");
	ok(counted, "and the count is right");
	for (int i = 1; i < 2000; i = 3 * i) {
		crowd = (struct crowd){ .threads = 6, .end_at = i };
		ended &= walk_crowd(&crowd, &entries) == 0 && crowd.emitted_count == i;
		free(crowd.emitted);
	}
	ok(ended, "a handler that has ended the walk is not called again");
	crowd = (struct crowd){ .by_default = true };
	ok(walk_crowd(&crowd, &entries) == 0 && each_once(&crowd) && emitted_alike(&crowd, &alone),
	   "without options it is the same");
	free(crowd.emitted);
	crowd = (struct crowd){ .threads = 6, .cancel_at = 400 };
	ok(walk_crowd(&crowd, &entries) == FSQ_E_FAILED &&
		   (unsigned int)crowd.emitted_count == crowd.reported &&
		   crowd.emitted_count < alone.emitted_count,
	   "a walk that is cancelled emits what was seen");
	free(crowd.emitted);
	free(alone.emitted);
	alone = (struct crowd){ .threads = 1, .prune = 2 };
	crowd = (struct crowd){ .threads = 5, .prune = 2 };
	ok(walk_crowd(&alone, &entries) == 0 && walk_crowd(&crowd, &entries) == 0 &&
		   emitted_alike(&alone, &crowd) && !each_once(&crowd),
	   "directories are pruned alike");
	free(alone.emitted);
	free(crowd.emitted);
	ok(count_descriptors() == descriptors, "no descriptor stays open");
	if (chdir("..") || system("rm -rf crowd"))
		abort();
}

int main(void)
{
	char clean[64];

	if (!mkdtemp(root) || chdir(root))
		return 1;
	snprintf(clean, sizeof(clean), "rm -rf %s", root);
	make("a");
	make("a/b");
	touch("file");
	touch("file2");
	touch("a/af");
	if (symlink("a", "link") || symlink("nowhere", "dangling") || symlink("..", "a/up") ||
	    mkfifo("fifo", 0600))
		return 1;
	test_small();
	test_entries();
	test_root();
	test_deep();
	test_moved();
	test_crowd();
	return chdir("/") || system(clean) ? 1 : tap_end();
}
