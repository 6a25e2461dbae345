/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "quota/kernel/compat.h"
#include "quota/mounts/mount.h"
#include "quota/mounts/mount_table.h"

static char table[] = "/tmp/fsquota-unit-XXXXXX";

static void put(const char *text)
{
	int fd = open(table, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* What the kernel says by statmount(2), if it can, mountinfo says, too, and libmount. */
static void test_system(const char *path)
{
	struct fsq_mount mount = { 0 }, line;
	struct fsq_mount_points *points;
	const struct fsq_mount *listed = NULL;
	char name[128];
	int fd = open(path, O_PATH | O_CLOEXEC), rc;

	if (fd < 0 || fsq_mount_points_read(&points, NULL))
		abort();
	rc = fsq_mount_of_fd(fd, path, &mount, NULL);
	snprintf(name, sizeof(name), "%s lies on a mount", path);
	ok(rc == 0 && strncmp(mount.directory, path, strlen(mount.directory)) == 0, name);
	rc = fsq_mount_line_of_fd(fd, &line);
	snprintf(name, sizeof(name), "%s: %s", path,
		 rc == 0 ? "the table says the same" : "a chroot, whose root the table leaves out");
	ok(rc == 0 ? strcmp(line.directory, mount.directory) == 0 &&
			     strcmp(line.device, mount.device) == 0 && line.dev == mount.dev
		   : rc == -ENXIO && strcmp(mount.directory, "/") == 0,
	   name);
	for (size_t i = 0; i < points->count && !listed; i++)
		if (points->mounts[i].id == line.id)
			listed = &points->mounts[i];
	snprintf(name, sizeof(name), "%s: libmount says the same", path);
	ok(rc || (listed && strcmp(listed->directory, line.directory) == 0 &&
		  strcmp(listed->device, line.device) == 0 &&
		  strcmp(listed->type, line.type) == 0 && strcmp(listed->root, line.root) == 0 &&
		  listed->parent == line.parent && listed->dev == line.dev &&
		  fsq_mount_points_get(points, path) == listed),
	   name);
	fsq_mount_points_free(points);
	fsq_mount_clear(&line);
	fsq_mount_clear(&mount);
	close(fd);
}

/* Behind whatever was looked for before, a path is where it is behind "/". */
static void test_order(void)
{
	static const char *const ends[] = { "", "/a", "/a/b", "/../a", "x/a", "//" };
	const size_t count = sizeof(ends) / sizeof(ends[0]);
	struct fsq_mount_points *points;
	bool same = true;

	if (fsq_mount_points_read(&points, NULL))
		abort();
	for (size_t i = 0; i < 1000 * points->count && i < 100000; i++) {
		char before[2 * PATH_MAX], path[2 * PATH_MAX];
		const struct fsq_mount *mount;
		size_t other = i * 7919;

		sprintf(before, "%s%s", points->mounts[i % points->count].directory,
			ends[i % count]);
		sprintf(path, "%s%s", points->mounts[other % points->count].directory,
			ends[other / points->count % count]);
		fsq_mount_points_get(points, "/");
		mount = fsq_mount_points_get(points, path);
		fsq_mount_points_get(points, before);
		same &= fsq_mount_points_get(points, path) == mount;
	}
	ok(same, "where a path lies does not depend on the one before");
	fsq_mount_points_free(points);
}

static enum fsq_visit put_line(const struct fsq_mount *mount, void *arg)
{
	char *text = arg;

	sprintf(text + strlen(text), "%d:%s:%s:%s:%s;", (int)mount->line, mount->device,
		mount->directory, mount->type, mount->options ? mount->options : "-");
	return FSQ_VISIT_CONTINUE;
}

static void test_fstab(void)
{
	char text[1024] = "";

	put("# first\n\n/dev/a / xfs rw 0 0\n  # in between\nUUID=1-2\t//srv/./a/\text4\n"
	    "garbage\n/srv/a /b\\040c none bind 0 0\nLABEL=x none swap sw 0 0\n/dev/z /z xfs "
	    "prjquota");
	ok(fsq_fstab_each(table, put_line, text, NULL) == 0 &&
		   strcmp(text,
			  "3:/dev/a:/:xfs:rw;5:UUID=1-2:/srv/a:ext4:-;7:/srv/a:/b c:none:bind;"
			  "8:LABEL=x:none:swap:sw;9:/dev/z:/z:xfs:prjquota;") == 0,
	   "fstab: comments, tags, spellings, escapes, and the numbers of the lines");
	ok(fsq_fstab_each("/nonexistent", put_line, text, NULL) == 0, "no fstab is an empty one");
}

static void test_options(void)
{
	struct fsq_mount mount = { .options = (char[]){ "rw,noatime" },
				   .super_options =
					   (char[]){ "rw,upperdir=/a\\054b,noquota,x=1" } };
	char *value = fsq_options_value(mount.super_options, "upperdir");
	char *all = fsq_options_with_quota(&mount);

	ok(value && strcmp(value, "/a,b") == 0, "an option's value has its escapes undone");
	ok(all && strcmp(all, "noatime,upperdir=/a,b,x=1,prjquota") == 0, "options with quota");
	ok(fsq_options_enforce("a,prjquota") && fsq_options_enforce("pquota") &&
		   !fsq_options_enforce("pqnoenforce") &&
		   !fsq_options_enforce("prjquota,noquota") && !fsq_options_enforce("xprjquota") &&
		   !fsq_options_enforce(NULL),
	   "which options enforce project quotas");
	free(value);
	value = fsq_options_value("rw,lowerdir=/a\"b,upperdir=/\"c,workdir=/d", "upperdir");
	ok(value && strcmp(value, "/\"c") == 0, "a quote in an option is a character like others");
	free(value);
	value = fsq_options_value("rw,xupperdir=/a,upperdirs=/b", "upperdir");
	ok(!value, "an option's name is all of it");
	free(all);
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
	test_system("/");
	test_system("/proc/self/status");
	test_order();
	test_fstab();
	test_options();
	ok(fsq_mounts_each(NULL, count_mounts, &count, NULL) == 0 && count > 0,
	   "the system's mounts are listed");
	count = 0;
	ok(fsq_mounts_each(NULL, stop, &count, NULL) == 0 && count == 1,
	   "a visitor can end the list");
	put("/dev/a /a xfs rw 0 0\nnone /b autofs rw 0 0\n/dev/c /c nfs rw 0 0\n");
	count = 0;
	ok(fsq_mounts_each(table, count_mounts, &count, NULL) == 0 && count == 2,
	   "a table of one's own is listed but for autofs");
	count = 0;
	ok(fsq_mounts_each(table, stop, &count, NULL) == 0 && count == 1,
	   "a visitor can end that list, too");
	ok(fsq_mounts_each("/nonexistent", count_mounts, &count, &err) == FSQ_E_NOT_FOUND &&
		   err.errnum == ENOENT,
	   "a table that is not there is named");
	unlink(table);
	return tap_end();
}
