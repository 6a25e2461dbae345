/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "quota/kernel/compat.h"
#include "quota/mounts/mountinfo.h"
#include "quota/mounts/mounts.h"

static char table[] = "/tmp/fsquota-unit-XXXXXX";

static void put(const char *text)
{
	int fd = open(table, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* Does the table say that @path is on @device, mounted at @directory? */
static bool is_on(const char *path, const char *device, const char *directory)
{
	struct fsq_mount mount;
	bool right;

	if (fsq_mount_in_table(table, path, &mount, NULL))
		return false;
	right = strcmp(mount.device, device) == 0 && strcmp(mount.directory, directory) == 0;
	fsq_mount_clear(&mount);
	return right;
}

static int lookup_errno(const char *path)
{
	struct fsq_mount mount;
	struct fsq_error err;

	return fsq_mount_in_table(table, path, &mount, &err) == FSQ_E_NOT_FOUND ? err.errnum : 0;
}

static void test_table(void)
{
	put("/dev/a /proc xfs rw 0 0\n/dev/b /usr ext4 rw 0 0\n");
	ok(is_on("/proc", "/dev/a", "/proc"), "a mount point");
	ok(is_on("/dev/b", "/dev/b", "/usr"), "a device");
	ok(is_on("/usr/bin/..", "/dev/b", "/usr"), "a path that leads to a mount point");
	ok(lookup_errno("/tmp") == ENXIO, "a path on no filesystem of the table");
	ok(lookup_errno("/nonexistent") == ENOENT, "a path that is not there");
	put("/dev/a /usr xfs rw 0 0\n/dev/b /usr xfs rw 0 0\n");
	ok(is_on("/usr", "/dev/b", "/usr"), "of stacked mounts the last");
	put("/dev/a /sp\\040ace\\011tab\\134back xfs rw 0 0\n");
	ok(is_on("/sp ace\ttab\\back", "/dev/a", "/sp ace\ttab\\back"), "escapes are undone");
	put("/dev/a /usr");
	ok(is_on("/usr", "/dev/a", "/usr"), "a line may be cut off behind the mount point");
	put("/dev/a");
	ok(lookup_errno("/usr") == ENXIO, "a line cut off before it is none");
	put("");
	ok(lookup_errno("/usr") == ENXIO, "an empty table");
	put("/dev/a /usr autofs rw 0 0\n");
	ok(lookup_errno("/usr") == ENXIO, "autofs is left alone");
}

static void test_unescape(void)
{
	char text[] = "a\\040b\\0111\\x\\12";

	fsq_mountinfo_unescape(text);
	ok(strcmp(text, "a b\t1\\x\\12") == 0, "only three octal digits are an escape");
}

static void test_system(const char *path)
{
	static struct fsq_mountinfo_line line, asked;
	struct fsq_mount mount = { 0 };
	struct statx stx;
	char name[128];
	int fd = open(path, O_PATH | O_CLOEXEC);
	int rc;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) ||
	    !(stx.stx_mask & STATX_MNT_ID))
		abort();
	rc = fsq_mount_of_fd(fd, path, &mount, NULL);
	snprintf(name, sizeof(name), "%s lies on a mount", path);
	ok(rc == 0 && strncmp(mount.directory, path, strlen(mount.directory)) == 0, name);
	if (rc) {
		close(fd);
		return;
	}
	rc = fsq_mountinfo_find(FSQ_MOUNTINFO_ID, stx.stx_mnt_id, &line);
	snprintf(name, sizeof(name), "%s: %s", path,
		 rc == 0 ? "the table says the same" : "a chroot, whose root the table leaves out");
	ok(rc == 0 ? strcmp(line.directory, mount.directory) == 0 &&
			     strcmp(line.source, mount.device) == 0
		   : rc == -ENXIO && strcmp(mount.directory, "/") == 0,
	   name);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &stx))
		abort();
	rc = fsq_mountinfo_statmount(stx.stx_mnt_id, &asked);
	snprintf(name, sizeof(name), "%s: %s", path,
		 rc == 0 ? "statmount says the same" : "this kernel cannot say by statmount");
	if (stx.stx_mask & STATX_MNT_ID_UNIQUE)
		ok(rc == -ENODATA || rc == -EPERM ||
			   (rc == 0 && strcmp(asked.source, mount.device) == 0 &&
			    asked.dev == mount.dev),
		   name);
	else
		ok(rc == -ENOSYS || rc == -EPERM, name);
	fsq_mount_clear(&mount);
	close(fd);
}

static bool found;

static enum fsq_visit find_proc(const struct fsq_mountinfo_line *line, void *arg)
{
	static struct fsq_mountinfo_line same;

	++*(int *)arg;
	found = strcmp(line->directory, "/proc") == 0 && strcmp(line->type, "proc") == 0 &&
		fsq_mountinfo_find(FSQ_MOUNTINFO_ID, line->id, &same) == 0 &&
		same.dev == line->dev && same.parent == line->parent;
	return found ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static enum fsq_visit count_mounts(const struct fsq_mount *mount, void *arg)
{
	(void)mount;
	++*(int *)arg;
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit stop(const struct fsq_mount *mount, void *arg)
{
	(void)mount;
	++*(int *)arg;
	return FSQ_VISIT_STOP;
}

int main(void)
{
	struct fsq_error err;
	int fd = mkstemp(table);
	int count = 0;

	if (fd < 0)
		return 1;
	close(fd);
	test_unescape();
	test_table();
	test_system("/");
	test_system("/proc/self/status");
	ok(fsq_mountinfo_find(FSQ_MOUNTINFO_ID, UINT64_MAX, &(struct fsq_mountinfo_line){ 0 }) ==
		   -ENXIO,
	   "a mount that is not there");
	ok(fsq_mounts_each(NULL, count_mounts, &count, NULL) == 0 && count > 0,
	   "the system's mounts are listed");
	count = 0;
	ok(fsq_mountinfo_each(find_proc, &count) == 0 && found,
	   "so they are with their types and parents");
	count = 0;
	ok(fsq_mounts_each(NULL, stop, &count, NULL) == 0 && count == 1,
	   "a visitor can end the list");
	put("/dev/a /a xfs rw 0 0\nnone /b autofs rw 0 0\n/dev/c /c nfs rw 0 0\n");
	count = 0;
	ok(fsq_mounts_each(table, count_mounts, &count, NULL) == 0 && count == 2,
	   "a table of one's own is listed but for autofs");
	ok(fsq_mounts_each("/nonexistent", count_mounts, &count, &err) == FSQ_E_NOT_FOUND &&
		   err.errnum == ENOENT,
	   "a table that is not there is named");
	unlink(table);
	return tap_end();
}
