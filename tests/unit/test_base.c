/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/trace.h"
#include "quota/base/error.h"
#include "quota/base/id_set.h"
#include "quota/base/path.h"
#include "quota/kernel/openat2.h"
#include "tap.h"

static bool is_below(const char *directory, const char *path, const char *wanted)
{
	const char *below = fsq_path_below(directory, path, strlen(path));

	return wanted ? below && strcmp(below, wanted) == 0 : !below;
}

static void test_paths(void)
{
	char *path;
	int fd = open("/proc", O_RDONLY);

	ok(is_below("/a", "/a/b/c", "b/c") && is_below("/a", "/a//b", "b"), "a path below");
	ok(is_below("/a", "/a", "") && is_below("/a", "/a/", ""), "the same path");
	ok(is_below("/", "/a", "a") && is_below("/", "/", ""), "below the root");
	ok(is_below("/a", "/ab", NULL) && is_below("/a/b", "/a", NULL) && is_below("/a", "b", NULL),
	   "not below");
	ok(!fsq_path_below("/a/b", "/a/bc", 3), "a path that no NUL ends");
	ok(is_below("/a/b", "//a/.//b/./c", "c") && is_below("/a", "/a/.b", ".b") &&
		   is_below("/a/b", "/a/./b/.", "") && is_below("/a/b", "/a.b", NULL) &&
		   is_below("/a/b", "/a/../b", NULL) && is_below("/a/b", "/a//bc", NULL),
	   "other spellings");
	ok(fsq_path_is("/a/b", "/a/b", 4) && fsq_path_is("/a/b", "//a/b/.", 7) &&
		   fsq_path_is("/", "//.", 3) && !fsq_path_is("/a/b", "/a/c/b", 6) &&
		   !fsq_path_is("/a/b", "/a", 2) && !fsq_path_is("/a/b", "/a/b/./b", 8) &&
		   !fsq_path_is("/a/b", "/a/bb", 5),
	   "is it that directory?");
	path = fsq_fd_path(fd);
	ok(path && strcmp(path, "/proc") == 0, "the path of a descriptor");
	free(path);
	close(fd);
	ok(!fsq_fd_path(fd), "a closed one has none");
}

static void test_ids(void)
{
	struct fsq_id_set set = { 0 };

	fsq_id_set_sort(&set);
	ok(!fsq_id_set_has(&set, 0) && fsq_id_set_first_missing(&set, 7) == 7, "an empty set");
	for (uint32_t id = 100; id > 0; id--)
		if (id != 50 && fsq_id_set_add(&set, id))
			abort();
	fsq_id_set_add(&set, 1);
	fsq_id_set_add(&set, FSQ_ID_MAX);
	fsq_id_set_sort(&set);
	ok(fsq_id_set_has(&set, 1) && fsq_id_set_has(&set, 100) && fsq_id_set_has(&set, FSQ_ID_MAX),
	   "what was added is in it");
	ok(!fsq_id_set_has(&set, 0) && !fsq_id_set_has(&set, 50) && !fsq_id_set_has(&set, 101),
	   "and nothing else");
	ok(fsq_id_set_first_missing(&set, 1) == 50 && fsq_id_set_first_missing(&set, 51) == 101 &&
		   fsq_id_set_first_missing(&set, 50) == 50,
	   "the first that is missing");
	ok(fsq_id_set_first_missing(&set, FSQ_ID_MAX) == (uint64_t)FSQ_ID_MAX + 1,
	   "above the highest there is none");
	fsq_id_set_free(&set);
}

static void test_many_ids(int count)
{
	struct fsq_id_set set = { 0 };
	uint32_t id = 1;
	bool sorted = true, same = true;

	/* All 32 bits of them, some twice. */
	for (int i = 0; i < count; i++) {
		id = id * 1664525U + 1013904223U;
		if (fsq_id_set_add(&set, id) || (i % 7 == 0 && fsq_id_set_add(&set, id)))
			abort();
	}
	fsq_id_set_sort(&set);
	for (size_t i = 1; i < set.count; i++)
		sorted &= set.ids[i - 1] < set.ids[i];
	ok(sorted && set.count == (size_t)count, "a long list is sorted, and has each once");
	id = 1;
	for (int i = 0; i < count; i++)
		same &= fsq_id_set_has(&set, id = id * 1664525U + 1013904223U);
	ok(same, "and has what it had");
	if (fsq_id_set_insert(&set, 7) || fsq_id_set_insert(&set, 7))
		abort();
	sorted = true;
	for (size_t i = 1; i < set.count; i++)
		sorted &= set.ids[i - 1] < set.ids[i];
	ok(sorted && fsq_id_set_has(&set, 7), "and can be added to");
	fsq_id_set_remove(&set, 7);
	fsq_id_set_remove(&set, 7);
	ok(!fsq_id_set_has(&set, 7) && set.count == (size_t)count, "and taken from");
	fsq_id_set_free(&set);
}

/* A request, as a program knows it that was built with a later library. */
struct later {
	size_t size;
	uint64_t known;
	uint64_t later;
};

static void test_sizes(void)
{
	struct later later = { .size = sizeof(later), .known = 1 };
	const size_t known = offsetof(struct later, later);
	struct fsq_error err;

	ok(fsq_check_size(&later, later.size, known, &err) == 0,
	   "a larger request that asks for nothing new");
	later.later = 1;
	ok(fsq_check_size(&later, later.size, known, &err) == FSQ_E_USAGE && err.errnum == E2BIG,
	   "one that asks for something new");
	ok(fsq_check_size(&later, 0, known, &err) == FSQ_E_USAGE && err.errnum == EINVAL,
	   "one whose size is not set");
}

static void test_errors(void)
{
	struct fsq_error err;
	char path[2 * FSQ_PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ok(fsq_fail(&err, FSQ_E_CONFLICT, EBUSY, path, "is %s", "busy") == FSQ_E_CONFLICT &&
		   err.kind == FSQ_E_CONFLICT && err.errnum == EBUSY && !err.hint &&
		   strcmp(err.message, "is busy") == 0 && strlen(err.path) == FSQ_PATH_MAX - 1,
	   "an error is filled, a long path cut");
	ok(fsq_add_hint(&err, FSQ_HINT_ROOT_ONLY, FSQ_E_CONFLICT) == FSQ_E_CONFLICT &&
		   err.hint == FSQ_HINT_ROOT_ONLY,
	   "a hint is added");
	ok(fsq_fail(NULL, FSQ_E_FAILED, 0, NULL, "x") == FSQ_E_FAILED &&
		   fsq_add_hint(NULL, FSQ_HINT_ROOT_ONLY, FSQ_E_FAILED) == FSQ_E_FAILED,
	   "without an error to fill");
	ok(fsq_error_kind_of(0) == FSQ_OK && fsq_error_kind_of(EPERM) == FSQ_E_PERMISSION &&
		   fsq_error_kind_of(ENOENT) == FSQ_E_NOT_FOUND &&
		   fsq_error_kind_of(ENOSYS) == FSQ_E_NOT_SUPPORTED &&
		   fsq_error_kind_of(EIO) == FSQ_E_FAILED,
	   "kinds of errnos");
	ok(FSQ_E_FAILED < -4095, "kinds are no errnos");
}

/* For the rest of this process. */
static bool forbid_openat2(void)
{
	const unsigned int call = SYS_openat2;

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       filter_calls(&call, 1, SECCOMP_RET_ERRNO | ENOSYS) == 0;
}

/* @return   whether it opens: 0, or the negative errno */
static int try(int dirfd, const char *path, int flags, uint64_t resolve)
{
	int fd = fsq_openat2(dirfd, path, flags | O_CLOEXEC, resolve);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void test_parts(int fd)
{
	char far[PATH_MAX + 2];

	memset(far, 'x', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	ok(try(fd, "sub/deep", O_RDONLY, RESOLVE_BENEATH) == 0, "a path beneath");
	ok(try(fd, ".", O_RDONLY, RESOLVE_BENEATH) == 0, "the directory itself");
	ok(try(fd, "sub/none", O_RDONLY, RESOLVE_BENEATH) == -ENOENT, "what is not there");
	ok(try(fd, "../sub", O_RDONLY, RESOLVE_BENEATH) == -EXDEV, "up is not beneath");
	ok(try(fd, "/", O_RDONLY, RESOLVE_BENEATH) == -EXDEV, "the root is not beneath");
	ok(try(fd, "/", O_RDONLY, 0) == 0 && try(fd, "/", O_RDONLY, RESOLVE_NO_XDEV) == 0,
	   "the root");
	ok(try(fd, "/proc", O_RDONLY, RESOLVE_NO_XDEV) == -EXDEV, "another mount");
	ok(try(fd, "link/deep", O_RDONLY, RESOLVE_NO_SYMLINKS) == -ELOOP, "a symlink on the way");
	ok(try(fd, "link", O_RDONLY, RESOLVE_NO_SYMLINKS) == -ELOOP, "a symlink at the end");
	ok(try(fd, far, O_RDONLY, 0) == -ENAMETOOLONG, "a path that is too long");
	ok(try(-1, "sub", O_RDONLY, 0) == -EBADF, "below no directory");
}

/* With openat2(2), and then without. */
static void test_openat2(void)
{
	char directory[] = "/tmp/fsquota-test-XXXXXX";
	int fd;

	if (!mkdtemp(directory) || chdir(directory) || mkdir("sub", 0755) ||
	    mkdir("sub/deep", 0755) || symlink("sub", "link")) {
		ok(false, "a directory to look at");
		return;
	}
	fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	test_parts(fd);
	ok(try(fd, "link/deep", O_RDONLY, RESOLVE_BENEATH) == 0, "a symlink that may be followed");
	ok(forbid_openat2(), "from here on there is none");
	test_parts(fd);
	ok(try(fd, "link/deep", O_RDONLY, RESOLVE_BENEATH) == -ENOSYS,
	   "one that cannot be followed");
	close(fd);
	ok(unlink("link") == 0 && rmdir("sub/deep") == 0 && rmdir("sub") == 0 &&
		   rmdir(directory) == 0,
	   "nothing is left");
}

int main(void)
{
	test_paths();
	test_ids();
	test_many_ids(600);
	test_many_ids(50000);
	test_sizes();
	test_errors();
	test_openat2();
	return tap_end();
}
