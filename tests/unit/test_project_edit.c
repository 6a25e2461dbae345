/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/registry/project_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

static char projects[] = "projects", projid[] = "projid";

/* The number of the call that fails, as on a bad disk; 0: none. */
static int failing_sync;
static bool no_sync;

/* In place of the C library's. */
int fsync(int fd)
{
	if (failing_sync > 0 && --failing_sync == 0) {
		errno = EIO;
		return -1;
	}
	return no_sync ? 0 : (int)syscall(SYS_fsync, fd);
}

static bool no_memory;

/* In place of the C library's, too. */
void *reallocarray(void *items, size_t count, size_t size)
{
	return no_memory ? NULL : realloc(items, count * size);
}

static void put(const char *file, const char *text)
{
	FILE *stream = fopen(file, "w");

	fputs(text, stream);
	fclose(stream);
}

static bool holds(const char *file, const char *text)
{
	char buffer[20000];
	FILE *stream = fopen(file, "r");
	size_t length;

	if (!stream)
		return text == NULL;
	length = fread(buffer, 1, sizeof(buffer) - 1, stream);
	buffer[length] = '\0';
	fclose(stream);
	return text && strcmp(buffer, text) == 0;
}

static const struct fsq_registry registry = { .projects_file = projects, .projid_file = projid };

static struct fsq_project_edit *lock(bool to_write)
{
	struct fsq_project_edit *edit = fsq_project_edit_new(&registry, !to_write, NULL);

	if (edit && fsq_project_edit_lock(edit, false, NULL) == 0)
		return edit;
	fsq_project_edit_free(edit);
	return NULL;
}

static void add(uint32_t id, const char *directory, const char *name)
{
	struct fsq_project_edit *edit = lock(true);

	ok(edit && (fsq_project_edit_has_name(edit, id) ||
		    fsq_project_edit_add_name(edit, id, name, NULL) == 0),
	   "add a name");
	ok(edit && fsq_project_edit_add_directory(edit, id, directory, NULL) == 0,
	   "add a directory");
	fsq_project_edit_free(edit);
}

static void take_away(uint32_t id, const char *directory)
{
	struct fsq_project_edit *edit = lock(true);

	ok(edit && fsq_project_edit_remove(edit, id, directory, true, NULL) == 0, "remove");
	fsq_project_edit_free(edit);
}

static ino_t inode_of(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 ? st.st_ino : 0;
}

static void test_looking(void)
{
	struct fsq_project_edit *edit;
	uint32_t id = 0;
	const char *name;
	size_t length;

	put(projects,
	    "# 9:/comment\n5:/five/\n 6 :/six\nrubbish\n5:/other\n4294967295:/none\n7:/a:b");
	put(projid, "five:5\nseven:7:rest\n#eight:8\n");
	edit = lock(false);
	ok(fsq_project_edit_id_of(edit, "/five", &id) && id == 5, "a slash at the end is none");
	ok(fsq_project_edit_id_of(edit, "/six", &id) && id == 6, "blanks around the ID");
	ok(fsq_project_edit_id_of(edit, "/a:b", &id) && id == 7, "a colon in the path, no newline");
	ok(!fsq_project_edit_id_of(edit, "/comment", &id), "a comment");
	ok(!fsq_project_edit_id_of(edit, "/none", &id), "no project ID");
	ok(fsq_project_edit_id_of_name(edit, "seven", &id) && id == 7,
	   "a name, with a third field");
	ok(!fsq_project_edit_id_of_name(edit, "#eight", &id), "no name");
	name = fsq_project_edit_name_of(edit, 5, &length);
	ok(name && length == 4 && memcmp(name, "five", 4) == 0, "the name of an ID");
	ok(!fsq_project_edit_name_of(edit, 6, &length), "an ID without a name");
	ok(fsq_project_edit_is_shared(edit, 5, "/five"), "two directories");
	ok(!fsq_project_edit_is_shared(edit, 6, "/six"), "one directory");
	ok(fsq_project_edit_unlisted(edit, 1) == 1, "an ID that is nowhere");
	ok(fsq_project_edit_unlisted(edit, 5) == 8, "the first one that is nowhere");
	ok(fsq_project_edit_unlisted(edit, 4294967294U) == 4294967294U, "the last ID");
	fsq_project_edit_free(edit);
}

static void test_long_line(void)
{
	static char text[100100];
	struct fsq_project_edit *edit;
	size_t length;
	uint32_t id = 0;

	memset(text, 'x', 100000);
	memcpy(text, "5:/", 3);
	strcpy(text + 100000, "\n6:/a\n");
	put(projects, text);
	edit = lock(false);
	ok(!fsq_project_edit_directory_of(edit, 5, &length), "100000 bytes are no path");
	ok(fsq_project_edit_id_of(edit, "/a", &id) && id == 6, "the next line is one");
	fsq_project_edit_free(edit);
}

static void test_adding(void)
{
	ino_t inode;

	put(projects, "# mine\n5:/five\n");
	put(projid, "five:5");
	inode = inode_of(projects);
	add(9, "/nine", "nine");
	ok(holds(projects, "# mine\n5:/five\n9:/nine\n"), "a line at the end");
	ok(holds(projid, "five:5\nnine:9"), "behind a line without newline, and without");
	ok(inode_of(projects) == inode, "the file is the same");
	add(9, "/more", "nine");
	take_away(9, "/nine");
	ok(holds(projects, "# mine\n5:/five\n9:/more\n"), "one of two directories");
	ok(holds(projid, "five:5\nnine:9"), "the name stays");
	inode = inode_of(projects);
	take_away(9, "/more");
	ok(holds(projects, "# mine\n5:/five\n"), "as it was");
	ok(holds(projid, "five:5"), "as it was, without newline");
	ok(inode_of(projects) == inode, "cut, not replaced");
}

static void test_making(void)
{
	struct fsq_project_edit *edit;

	unlink(projects);
	unlink(projid);
	edit = lock(false);
	ok(edit && fsq_project_edit_unlisted(edit, 3) == 3, "no files are no IDs");
	fsq_project_edit_free(edit);
	ok(holds(projects, NULL), "to look makes no file");
	edit = lock(true);
	ok(edit && fsq_project_edit_add_name(edit, 3, "three", NULL) == 0 &&
		   fsq_project_edit_add_directory(edit, 3, "/three", NULL) == 0,
	   "made");
	fsq_project_edit_rollback(edit);
	fsq_project_edit_free(edit);
	ok(holds(projects, "") && holds(projid, ""), "undone, they are empty");
	add(3, "/three", "three");
	ok(holds(projects, "3:/three\n") && holds(projid, "three:3\n"), "made, and written");
}

/* A line that does not fit into the rest of a page is written in two steps. */
static void test_page(void)
{
	static char text[4200], expected[4300];

	for (size_t length = 4080; length <= 4096; length++) {
		memset(text, '#', length);
		text[length - 1] = '\n';
		text[length] = '\0';
		put(projects, text);
		put(projid, "");
		add(1048577, "/somewhere", "x");
		snprintf(expected, sizeof(expected), "%s1048577:/somewhere\n", text);
		if (!holds(projects, expected))
			ok(false, "at the end of a page");
	}
	ok(true, "at the end of a page");
}

static int try_lock(const char *file, bool dry_run, struct fsq_error *err)
{
	const struct fsq_registry other = { .projects_file = file, .projid_file = projid };
	struct fsq_project_edit *edit = fsq_project_edit_new(&other, dry_run, NULL);
	int rc = fsq_project_edit_lock(edit, false, err);

	fsq_project_edit_free(edit);
	return rc;
}

static void test_refusing(void)
{
	struct fsq_error err;

	put(projid, "");
	mkdir("directory", 0700);
	ok(try_lock("directory", true, &err) == FSQ_E_FAILED, "a directory, to look");
	ok(link(projid, "link") == 0 && try_lock("link", false, &err) == FSQ_E_USAGE,
	   "a second name of the other");
}

/* Others who have it open may be in the middle of reading it. */
static void test_readers(void)
{
	int fd;

	put(projects, "5:/five\n9:/nine\n# end\n");
	put(projid, "nine:9\nalso:9\n");
	fd = open(projects, O_RDONLY);
	take_away(9, "/nine");
	ok(holds(projects, "5:/five\n9~/nine\n# end\n"), "one byte");
	ok(holds(projid, ""), "all names of the ID");
	add(9, "/nin", "n");
	ok(holds(projects, "5:/five\n9~/nine\n# end\n9:/nin\n"), "it does not fit by one");
	take_away(9, "/nin");
	add(7, "/more", "seven");
	ok(holds(projects, "5:/five\n7:/more\n# end\n9~/nin\n"), "a place is used again");
	add(8, "/a:b", "eight");
	take_away(8, "/a:b");
	ok(holds(projects, "5:/five\n7:/more\n# end\n9~/nin\n#:/a:b\n"), "with two colons");
	close(fd);
	take_away(7, "/more");
	ok(holds(projects, "5:/five\n# end\n#:/a:b\n"), "tidied when nobody has it open");
	put(projects, "~~~~\n~fsquota~x\n5:/five-and-more\n# end\n");
	fd = open(projects, O_RDONLY);
	take_away(5, "/five-and-more");
	add(7, "/more", "seven");
	ok(holds(projects, "~~~~\n~fsquota~x\n5~/five-and-more\n# end\n7:/more\n"),
	   "no room for the rest");
	add(8, "/m", "eight");
	ok(holds(projects, "~~~~\n~fsquota~x\n8:/m\n~fsquota~~~\n# end\n7:/more\n"), "with a rest");
	close(fd);
	take_away(8, "/m");
	ok(holds(projects, "~~~~\n~fsquota~x\n# end\n7:/more\n"), "lines of others stay");
}

/* A line that did not get to the disk is none, whatever it was written over. */
static void test_bad_disk(void)
{
	struct fsq_project_edit *edit;
	int reader;

	put(projid, "");
	for (int sync = 1; sync <= 2; sync++) {
		put(projects, "9~/nine\n# end\n");
		reader = open(projects, O_RDONLY);
		edit = lock(true);
		failing_sync = sync;
		ok(edit && fsq_project_edit_add_directory(edit, 7, "/more", NULL) == FSQ_E_FAILED &&
			   failing_sync == 0,
		   "a call that fails");
		/* Nothing was added that could be taken back, nor taken that could come back. */
		fsq_project_edit_rollback(edit);
		fsq_project_edit_free(edit);
		ok(holds(projects, "7~/more\n# end\n"), "the line is switched off");
		close(reader);
	}
	unlink(projects);
	edit = lock(true);
	failing_sync = 2;
	ok(edit && fsq_project_edit_add_directory(edit, 7, "/new", NULL) == FSQ_E_FAILED &&
		   failing_sync == 0 && holds(projects, ""),
	   "nor has a file that was made a name on it");
	fsq_project_edit_free(edit);
}

static void test_no_memory(void)
{
	char text[65] = "";
	struct fsq_project_edit *edit;

	for (int line = 0; line < 16; line++)
		strcat(text, "1:/\n");
	put(projects, text);
	edit = lock(true);
	no_memory = true;
	ok(edit && fsq_project_edit_add_directory(edit, 7, "/more", NULL) == FSQ_E_FAILED &&
		   holds(projects, text),
	   "one line more than there is place for, without memory");
	no_memory = false;
	fsq_project_edit_free(edit);
}

/* Control characters above 0x7f: alone, and in UTF-8. */
static void test_names(void)
{
	char longest[NAME_MAX + 1] = "";

	memset(longest, 'n', NAME_MAX);
	ok(fsq_project_name_is_valid(longest), "255 bytes are a name");
	ok(fsq_project_name_is_valid("pod-1.a/b~\xc3\xbc\xe2\x82\xac\xc3\x9b"),
	   "most words are names");
	ok(!fsq_project_name_is_valid("a\x9bm") && !fsq_project_name_is_valid("\x9bm") &&
		   !fsq_project_name_is_valid("a\xc2\x9bm"),
	   "no control character is in one");
}

/* As kubelet adds volumes: all lines are written anew, and the new ones are the last. */
static void append(const char *file, const char *lines)
{
	FILE *from = fopen(file, "r"), *to = fopen("replacement", "w");
	int byte;

	while (from && (byte = fgetc(from)) != EOF)
		fputc(byte, to);
	fputs(lines, to);
	fclose(to);
	if (from)
		fclose(from);
	if (rename("replacement", file))
		abort();
}

#define ALIVE 50
#define VOLUMES 100000 /* with FSQUOTA_FULL, else a fifth of it */
#define BETWEEN 12     /* volumes that come between two calls that remove what is gone */

static const char *directory_of(uint32_t id)
{
	static const char *const volumes[] = { "cache", "tmp-data", "workdir", "logs-of-the-app" };
	static char text[200];

	snprintf(text, sizeof(text),
		 "/var/lib/kubelet/pods/%08x-0000-4000-8000-0123456789ab/"
		 "volumes/kubernetes.io~empty-dir/%s",
		 id * 2654435761U, volumes[id / 7 % 4]);
	return text;
}

/* @return  how many bytes a file has, and its entries */
static size_t count_bytes(const char *file, size_t *lines, size_t *of_lines)
{
	FILE *stream = fopen(file, "r");
	size_t bytes = 0, length;
	char line[300];

	*lines = *of_lines = 0;
	while (fgets(line, sizeof(line), stream)) {
		length = strlen(line);
		bytes += length;
		if (!strchr(line, ':') || line[0] == '#')
			continue;
		++*lines;
		*of_lines += length;
	}
	fclose(stream);
	return bytes;
}

/* A month of a busy node, at whose end the files are as short as at its begin. */
static void test_month(void)
{
	uint32_t alive[ALIVE] = { 0 }, gone[BETWEEN], next = 1048577;
	const uint32_t last = next + (getenv("FSQUOTA_FULL") ? VOLUMES : VOLUMES / 5);
	size_t largest = 0, lines, of_lines, bytes;
	bool all = true;

	put(projects, "# directories\n10:/home/ann\n");
	put(projid, "# names\nann:10\n");
	no_sync = true;
	srandom(1);
	while (next < last) {
		struct fsq_project_edit *edit;
		char *added, *added_names;
		size_t count = 0, size;
		FILE *lines_of = open_memstream(&added, &size);
		FILE *names = open_memstream(&added_names, &size);

		for (int i = 0; i < BETWEEN; i++, next++) {
			uint32_t *place = &alive[(size_t)random() % ALIVE];

			fprintf(lines_of, "%u:%s\n", next, directory_of(next));
			fprintf(names, "volume%u:%u\n", next, next);
			if (*place)
				gone[count++] = *place;
			*place = next;
		}
		fclose(lines_of);
		fclose(names);
		append(projects, added);
		append(projid, added_names);
		free(added);
		free(added_names);
		edit = lock(true);
		fsq_project_edit_begin_batch(edit);
		for (size_t i = 0; i < count; i++)
			all &= fsq_project_edit_remove(edit, gone[i], directory_of(gone[i]), true,
						       NULL) == 0;
		all &= fsq_project_edit_sync_batch(edit, NULL) == 0;
		fsq_project_edit_free(edit);
		bytes = count_bytes(projects, &lines, &of_lines);
		largest = bytes > largest ? bytes : largest;
	}
	no_sync = false;
	ok(all, "all that is gone was removed");
	bytes = count_bytes(projects, &lines, &of_lines);
	printf("# %zu lines of %zu bytes in %zu, %zu at most\n", lines, of_lines, bytes, largest);
	ok(lines == ALIVE + 1, "each line is there once");
	ok(bytes < 2 * of_lines && largest < 3 * of_lines,
	   "less than twice the bytes of the lines, at the end, and never thrice");
	bytes = count_bytes(projid, &lines, &of_lines);
	ok(lines == ALIVE + 1 && bytes < 2 * of_lines, "the same of names");
	struct fsq_project_edit *edit = lock(false);
	for (int i = 0; i < ALIVE; i++) {
		uint32_t id = 0;

		all &= fsq_project_edit_id_of(edit, directory_of(alive[i]), &id) &&
		       id == alive[i] && fsq_project_edit_has_name(edit, id);
	}
	ok(all, "each volume has its line and its name");
	fsq_project_edit_free(edit);
}

int main(void)
{
	char directory[] = "/tmp/fsquota-edit.XXXXXX";

	if (!mkdtemp(directory) || chdir(directory))
		return 1;
	test_looking();
	test_long_line();
	test_adding();
	test_making();
	test_page();
	test_refusing();
	test_readers();
	test_bad_disk();
	test_no_memory();
	test_names();
	test_month();
	for (const char *const *file = (const char *const[]){ "projects", "projid", "link", NULL };
	     *file; file++)
		unlink(*file);
	rmdir("directory");
	return chdir("/") || rmdir(directory) ? 1 : tap_end();
}
