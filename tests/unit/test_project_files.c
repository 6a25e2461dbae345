/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "quota/registry/entries.h"

static char file[] = "/tmp/fsquota-unit-XXXXXX";
static char seen[4096];

static void put(const char *bytes, size_t length)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		abort();
	close(fd);
}

static enum fsq_visit note(uint32_t id, const char *directory, void *arg)
{
	size_t used = strlen(seen);

	(void)arg;
	snprintf(seen + used, sizeof(seen) - used, "%u=%.40s;", id, directory);
	return FSQ_VISIT_CONTINUE;
}

static enum fsq_visit stop(uint32_t id, const char *directory, void *arg)
{
	(void)id, (void)directory;
	++*(int *)arg;
	return FSQ_VISIT_STOP;
}

static bool projects_are(const char *text, size_t length, const char *wanted)
{
	put(text, length);
	seen[0] = '\0';
	return fsq_projects_each(file, note, NULL, NULL) == 0 && strcmp(seen, wanted) == 0;
}

#define PROJECTS_ARE(text, wanted) projects_are(text, sizeof(text) - 1, wanted)

static void test_projects(void)
{
	int visits = 0;
	struct fsq_error err;
	char *longest = malloc(100100);

	ok(PROJECTS_ARE("1:/a\n2:/b c\n", "1=/a;2=/b c;"), "IDs and directories in order");
	ok(PROJECTS_ARE("1:/a:b \n", "1=/a:b ;"), "colons and blanks belong to the directory");
	ok(PROJECTS_ARE("3:/last", "3=/last;"), "the last line needs no newline");
	ok(PROJECTS_ARE("#1:/a\n\nnocolon\n", ""),
	   "comments and lines without colon are passed over");
	ok(PROJECTS_ARE("abc:/a\n:/b\n-3:/c\n1x:/d\n", ""), "what is no ID is never project 0");
	ok(PROJECTS_ARE("4294967295:/a\n4294967296:/b\n4294967297:/c\n", ""), "IDs do not wrap");
	ok(PROJECTS_ARE(" 48 :/a\n", "48=/a;"), "blanks around an ID do not count");
	if (!longest)
		abort();
	memset(longest, 'x', 100000);
	memcpy(longest, "5:/", 3);
	memcpy(longest + 100000, "\n6:/a\n", 7);
	ok(projects_are(longest, 100006, "6=/a;"), "a line of 100000 characters is no path");
	ok(PROJECTS_ARE("1:/a\0b\n2:/c\n", "1=/a;2=/c;"), "a NUL ends a line's text");
	free(longest);
	put("1:/a\n2:/b\n", 10);
	ok(fsq_projects_each(file, stop, &visits, NULL) == 0 && visits == 1,
	   "a visitor can end the reading");
	ok(fsq_projects_each("/nonexistent/file", note, NULL, &err) == FSQ_E_NOT_FOUND &&
		   err.errnum == ENOENT && strcmp(err.path, "/nonexistent/file") == 0,
	   "a file that is not there is named");
}

static bool names_are(struct fsq_project_names **names, const char *text, size_t length)
{
	put(text, length);
	return fsq_project_names_read(names, file, NULL) == 0;
}

static void test_names(void)
{
	static const char text[] =
		"ten:10\nsp ace:12\ndup:13\ndup:14\nsame:15\nother:15\n"
		"neg:-5\nbig:4294967297\nempty:\nnocolon\n#c:16\n/p/q:17:x\nlast:18";
	struct fsq_project_names *names;
	uint32_t id = 0;

	if (!names_are(&names, text, sizeof(text) - 1))
		abort();
	ok(!fsq_project_names_id(names, "te", &id) && !fsq_project_names_id(names, "tenn", &id) &&
		   !fsq_project_names_id(names, "ten:10", &id) &&
		   !fsq_project_names_id(names, "", &id),
	   "a part of a name, or more, is another name");
	ok(!fsq_project_names_name(NULL, 10) && !fsq_project_names_id(NULL, "ten", &id),
	   "where there are no names, nothing has one");
	ok(fsq_project_names_id(names, "ten", &id) && id == 10, "an ID by name");
	ok(strcmp(fsq_project_names_name(names, 10), "ten") == 0, "a name by ID");
	ok(strcmp(fsq_project_names_name(names, 12), "sp ace") == 0, "names may have blanks");
	ok(fsq_project_names_id(names, "dup", &id) && id == 13, "the first ID of a name counts");
	ok(strcmp(fsq_project_names_name(names, 15), "same") == 0,
	   "the first name of an ID counts");
	ok(!fsq_project_names_id(names, "neg", &id) && !fsq_project_names_id(names, "big", &id) &&
		   !fsq_project_names_id(names, "empty", &id),
	   "an entry without a proper ID is none");
	ok(!fsq_project_names_id(names, "#c", &id) && !fsq_project_names_name(names, 16),
	   "comments are no entries");
	ok(fsq_project_names_id(names, "/p/q", &id) && id == 17,
	   "names may be paths, more fields follow");
	ok(fsq_project_names_id(names, "last", &id) && id == 18, "the last line needs no newline");
	ok(!fsq_project_names_name(names, 0) && !fsq_project_names_name(names, 11),
	   "no name, no guess");
	ok(fsq_project_names_id(names, "dup", &id) && id == 13 &&
		   fsq_project_names_id(names, "last", &id) && id == 18 &&
		   !fsq_project_names_id(names, "neg", &id) &&
		   !fsq_project_names_id(names, "te", &id),
	   "IDs by name are the same after names by ID were asked for");
	seen[0] = '\0';
	fsq_project_names_each(names, note, NULL);
	ok(strncmp(seen, "10=ten;12=sp ace;13=dup;14=dup;", 31) == 0, "all entries in order");
	fsq_project_names_free(names);

	ok(fsq_project_names_read(&names, "/nonexistent/file", NULL) == 0 &&
		   !fsq_project_names_name(names, 0),
	   "a file that is not there has no names");
	fsq_project_names_free(names);
	ok(names_are(&names, "", 0) && !fsq_project_names_id(names, "", &id),
	   "nor has an empty one");
	fsq_project_names_free(names);
	ok(fsq_project_names_read(&names, "/tmp", NULL) == FSQ_E_FAILED, "a directory is an error");
}

int main(void)
{
	int fd = mkstemp(file);

	if (fd < 0)
		return 1;
	close(fd);
	test_projects();
	test_names();
	unlink(file);
	return tap_end();
}
