/* SPDX-License-Identifier: Apache-2.0 */
#include "next_mount.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device.h"
#include "mount.h"
#include "mount_table.h"
#include "quota/base/error.h"
#include "quota/kernel/mount_options.h"
#include "shared/read_file.h"
#include "shared/sort.h"

/* Where systemd looks for units, those that count most first. fstab is read between the two. */
static const char *const above_fstab[] = { "/etc/systemd/system.control",
					   "/run/systemd/system.control", "/run/systemd/transient",
					   "/etc/systemd/system", "/run/systemd/system" };
static const char *const below_fstab[] = { "/usr/local/lib/systemd/system",
					   "/usr/lib/systemd/system", "/lib/systemd/system",
					   "/run/systemd/generator.late" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct search {
	const struct fsq_next_wanted *wanted;
	struct fsq_next_mount *next;
	bool no_memory;
	int errnum; /* of what is there and cannot be read, or 0 */
};

static void note_errno(struct search *search, int errnum)
{
	if (!search->errnum && errnum != ENOENT && errnum != ENOTDIR)
		search->errnum = errnum;
}

void fsq_next_mount_clear(struct fsq_next_mount *next)
{
	free(next->file);
	free(next->unit);
	free(next->options);
	free(next->directory);
	*next = (struct fsq_next_mount){ 0 };
}

/* Replace a text by a copy of another one, which may be NULL. */
static void set_text(struct search *search, char **text, const char *value)
{
	free(*text);
	*text = value ? strdup(value) : NULL;
	search->no_memory |= value && !*text;
}

/* --- names of units --- */

static bool is_plain(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == ':' || c == '_' || (c == '.' && !first);
}

char *fsq_mount_unit_name(const char *directory)
{
	char *name = malloc(4 * strlen(directory) + sizeof("-.mount")), *to = name;

	if (!name)
		return NULL;
	while (*directory == '/')
		directory++;
	if (!*directory)
		*to++ = '-';
	for (bool first = true; *directory; first = false) {
		if (*directory == '/') {
			while (*directory == '/')
				directory++;
			if (*directory)
				*to++ = '-';
		} else if (is_plain(*directory, first)) {
			*to++ = *directory++;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*directory++);
		}
	}
	strcpy(to, ".mount");
	return name;
}

/* --- units --- */

/* What a unit says, or a drop-in of one. */
struct unit {
	char *what, *where, *options;
	bool has_options;
};

static void clear_unit(struct unit *unit)
{
	free(unit->what);
	free(unit->where);
	free(unit->options);
	*unit = (struct unit){ 0 };
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static void take_setting(struct search *search, struct unit *unit, char *line)
{
	char *value = strchr(line, '=');

	if (!value)
		return;
	*value++ = '\0';
	line = trim(line);
	value = trim(value);
	if (strcmp(line, "What") == 0)
		set_text(search, &unit->what, value);
	else if (strcmp(line, "Where") == 0)
		set_text(search, &unit->where, value);
	else if (strcmp(line, "Options") == 0) {
		set_text(search, &unit->options, value);
		unit->has_options = true;
	}
}

/* A line that ends with a backslash goes on. @return  whether there is such a file, and it is not empty */
static bool read_unit(struct search *search, struct unit *unit, const char *file)
{
	char *text, *rest, *line, *whole = NULL;
	bool in_mount = false;
	size_t length;
	int rc = fsq_read_file(file, &text, &length);

	if (rc) {
		note_errno(search, -rc);
		return false;
	}
	rest = text;
	while ((line = fsq_next_line(&rest, text + length))) {
		size_t end = strlen(line);
		bool goes_on = end && line[end - 1] == '\\';

		if (whole && (*line == '#' || *line == ';'))
			continue;
		if (goes_on)
			line[end - 1] = ' ';
		if (whole) {
			/* The lines lie one behind the other. */
			memmove(whole + strlen(whole), line, end + 1);
			line = whole;
		}
		whole = goes_on ? line : NULL;
		if (goes_on)
			continue;
		line = trim(line);
		if (*line == '[')
			in_mount = strcmp(line, "[Mount]") == 0;
		else if (in_mount && *line != '#' && *line != ';')
			take_setting(search, unit, line);
	}
	free(text);
	return length > 0;
}

/* A device of a unit or of fstab. */
static bool is_device(const struct fsq_next_wanted *wanted, const char *source)
{
	struct stat st;

	if (fsq_is_tag(source))
		return fsq_device_load(NULL) == 0 && fsq_device_has_tag(wanted->device, source);
	return strncmp(source, "/dev/", 5) == 0 && stat(source, &st) == 0 && S_ISBLK(st.st_mode) &&
	       st.st_rdev == wanted->dev;
}

/* Another device, for certain. */
static bool is_other_device(struct search *search, const char *source)
{
	const struct fsq_next_wanted *wanted = search->wanted;
	struct stat st;

	if (strncmp(source, "UUID=", 5) == 0 || strncmp(source, "LABEL=", 6) == 0) {
		bool is;

		errno = 0;
		is = wanted->device < 0 || fsq_device_load(NULL) ||
		     fsq_device_has_tag(wanted->device, source);
		search->no_memory |= !is && errno == ENOMEM;
		return !is;
	}
	return strncmp(source, "/dev/", 5) == 0 && stat(source, &st) == 0 && S_ISBLK(st.st_mode) &&
	       st.st_rdev != wanted->dev;
}

/* Take what a unit says of the mount. */
static void take_unit(struct search *search, const char *file, const char *name,
		      const struct unit *unit)
{
	set_text(search, &search->next->file, file);
	set_text(search, &search->next->unit, name);
	set_text(search, &search->next->options, unit->options);
	set_text(search, &search->next->directory, unit->where);
	search->next->line = 0;
}

/* Find the unit of a directory, or of a device, in one of the directories of systemd. @return  whether it is there */
static bool find_unit_in(struct search *search, const char *place)
{
	const struct fsq_next_wanted *wanted = search->wanted;
	char *name = wanted->directory ? fsq_mount_unit_name(wanted->directory) : NULL;
	DIR *directory = wanted->directory ? NULL : opendir(place);
	const struct dirent *entry = NULL;
	bool found = false;

	search->no_memory |= wanted->directory && !name;
	if (!wanted->directory && !directory)
		note_errno(search, errno);
	while (!found && !search->no_memory &&
	       (name || (directory && (entry = readdir(directory))))) {
		const char *unit_name = name ? name : entry->d_name;
		struct unit unit = { 0 };
		char *file = NULL;

		if (fnmatch("*.mount", unit_name, 0) != 0)
			continue;
		search->no_memory |= asprintf(&file, "%s/%s", place, unit_name) < 0;
		found = !search->no_memory && read_unit(search, &unit, file) &&
			(name || (unit.what && is_device(wanted, unit.what)));
		if (found)
			take_unit(search, file, unit_name, &unit);
		clear_unit(&unit);
		if (!search->no_memory)
			free(file);
		if (name)
			break;
	}
	if (directory)
		closedir(directory);
	free(name);
	return found;
}

static bool find_unit(struct search *search, const char *const *places, size_t count)
{
	for (size_t i = 0; i < count && !search->no_memory; i++)
		if (find_unit_in(search, places[i]))
			return true;
	return false;
}

/* --- drop-ins --- */

/* The last file of a drop-in directory, by name, that sets the options; of files of one name that of the first place counts. */
struct drop_in {
	char *name, *file, *options;
};

static void look_at_drop_in(struct search *search, struct drop_in *last, const char *place,
			    const char *name)
{
	struct unit unit = { 0 };
	char *file = NULL;

	if (last->name && strcmp(name, last->name) <= 0)
		return;
	if (asprintf(&file, "%s/%s", place, name) < 0) {
		search->no_memory = true;
		return;
	}
	if (read_unit(search, &unit, file) && unit.has_options) {
		set_text(search, &last->name, name);
		set_text(search, &last->file, file);
		set_text(search, &last->options, unit.options);
	}
	clear_unit(&unit);
	free(file);
}

static void look_at_drop_ins(struct search *search, struct drop_in *last, const char *top)
{
	char *place = NULL;
	const struct dirent *entry;
	DIR *directory;

	if (asprintf(&place, "%s/%s.d", top, search->next->unit) < 0) {
		search->no_memory = true;
		return;
	}
	directory = opendir(place);
	if (!directory)
		note_errno(search, errno);
	while (directory && (entry = readdir(directory)))
		if (fnmatch("*.conf", entry->d_name, FNM_PERIOD) == 0)
			look_at_drop_in(search, last, place, entry->d_name);
	if (directory)
		closedir(directory);
	free(place);
}

/* systemd makes a unit of each line of fstab, and drop-ins of that count, too. */
static void find_drop_ins(struct search *search)
{
	struct drop_in last = { 0 };

	if (!search->next->unit)
		search->next->unit = fsq_mount_unit_name(search->next->directory);
	search->no_memory |= !search->next->unit;
	for (size_t i = 0; i < COUNT(above_fstab) && !search->no_memory; i++)
		look_at_drop_ins(search, &last, above_fstab[i]);
	for (size_t i = 0; i < COUNT(below_fstab) && !search->no_memory; i++)
		look_at_drop_ins(search, &last, below_fstab[i]);
	if (last.file) {
		set_text(search, &search->next->file, last.file);
		set_text(search, &search->next->options, last.options);
		search->next->line = 0;
	}
	free(last.name);
	free(last.file);
	free(last.options);
}

/* --- fstab --- */

/* The first line counts, as for mount(8). A bind mount has the options of its source. */
static enum fsq_visit look_at_line(const struct fsq_mount *line, void *arg)
{
	struct search *search = arg;
	const struct fsq_next_wanted *wanted = search->wanted;

	if (fsq_options_have(line->options, "bind") || fsq_options_have(line->options, "rbind") ||
	    !(wanted->directory ? strcmp(line->directory, wanted->directory) == 0
				: is_device(wanted, line->device)))
		return FSQ_VISIT_CONTINUE;
	if (is_other_device(search, line->device)) {
		search->next->other_line = line->line;
		return FSQ_VISIT_CONTINUE;
	}
	set_text(search, &search->next->file, wanted->fstab);
	set_text(search, &search->next->options, line->options);
	set_text(search, &search->next->directory, line->directory);
	search->next->line = line->line;
	return FSQ_VISIT_STOP;
}

int fsq_next_mount_find(const struct fsq_next_wanted *wanted, struct fsq_next_mount *next,
			struct fsq_error *err)
{
	struct search search = { .wanted = wanted, .next = next };
	struct fsq_error of_fstab = { 0 };

	*next = (struct fsq_next_mount){ 0 };
	if (!find_unit(&search, above_fstab, COUNT(above_fstab))) {
		if (fsq_fstab_each(wanted->fstab, look_at_line, &search, &of_fstab))
			note_errno(&search, of_fstab.errnum);
		if (!next->file && !search.no_memory)
			find_unit(&search, below_fstab, COUNT(below_fstab));
	}
	if (!next->directory && wanted->directory)
		set_text(&search, &next->directory, wanted->directory);
	if (next->file && next->directory && !search.no_memory)
		find_drop_ins(&search);
	if (search.no_memory)
		search.errnum = ENOMEM;
	if (!search.errnum)
		return 0;
	fsq_next_mount_clear(next);
	return fsq_fail_errno(err, search.errnum, wanted->fstab, "cannot find the next mount");
}
