/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "quota/mounts/mount_table.h"

#define ROOT_FLAGS "rootflags="

/* @return  a text with @length bytes at @at replaced, for free(3), or NULL without memory */
static char *replace(const char *text, const char *at, size_t length, const char *by)
{
	char *all;

	if (asprintf(&all, "%.*s%s%s", (int)(at - text), text, by, at + length) < 0)
		return NULL;
	return all;
}

/* --- fstab --- */

/* @return  the beginning of a line, or NULL */
static const char *find_line(const char *text, uint64_t line)
{
	while (text && line-- > 1) {
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return text && *text ? text : NULL;
}

char *edit_fstab(const char *text, uint64_t line, const char *type, const char *types)
{
	static const char blanks[] = " \t", ends[] = " \t\n";
	const char *at = find_line(text, line), *before;
	char *old, *options, *field, *all;
	size_t length;

	errno = EINVAL;
	for (int i = 0; at && i < 3; i++) {
		at += strspn(at, blanks);
		if (!*at || *at == '\n')
			return NULL;
		at += strcspn(at, ends);
	}
	if (!at)
		return NULL;
	before = at;
	at += strspn(at, blanks);
	length = strcspn(at, ends);
	errno = ENOMEM;
	old = strndup(at, length);
	options = old ? fsq_options_edit(type, length ? old : "defaults", types) : NULL;
	free(old);
	if (!options)
		return NULL;
	/* A line may end after the type. */
	if (asprintf(&field, "%s%s", length ? "" : " ", options) < 0)
		field = NULL;
	free(options);
	all = field ? replace(text, length ? at : before, length, field) : NULL;
	free(field);
	return all;
}

char *edit_fstab_add(const char *text, const char *device, const char *directory, const char *type,
		     const char *options)
{
	const bool is_open = *text && text[strlen(text) - 1] != '\n';
	char *what = fsq_fstab_field(device), *where = fsq_fstab_field(directory), *all = NULL;

	if (!what || !where ||
	    asprintf(&all, "%s%s%s %s %s %s 0 2\n", text, is_open ? "\n" : "", what, where, type,
		     options) < 0)
		all = NULL;
	free(what);
	free(where);
	return all;
}

struct reading {
	uint64_t line;
	const char *options;
	bool found;
};

static enum fsq_visit compare_line(const struct fsq_mount *mount, void *arg)
{
	struct reading *reading = arg;

	if (mount->line != reading->line)
		return FSQ_VISIT_CONTINUE;
	reading->found = mount->options && strcmp(mount->options, reading->options) == 0;
	return FSQ_VISIT_STOP;
}

int edit_fstab_is_read(const char *text, uint64_t line, const char *options)
{
	struct reading reading = { .line = line, .options = options };
	int fd = memfd_create("fstab", MFD_CLOEXEC);
	const ssize_t length = (ssize_t)strlen(text);
	struct fsq_error err;
	char file[32];
	int rc = 0;

	if (fd < 0)
		return -errno;
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	if (write(fd, text, (size_t)length) != length)
		rc = -EIO;
	else if (fsq_fstab_each(file, compare_line, &reading, &err))
		rc = -err.errnum;
	close(fd);
	return rc ? rc : reading.found;
}

/* --- command lines --- */

/* @return  the last rootflags= that begins a word before @end, or NULL */
static const char *last_flags(const char *from, const char *end)
{
	const char *found = NULL;

	for (const char *at = from; (at = strstr(at, ROOT_FLAGS)) && at < end; at++)
		if (at == from || strchr(" \t\"'", at[-1]))
			found = at;
	return found;
}

/* Set rootflags= between two places of a text: the one that counts, or a new one at the end. */
static char *set_flags(const char *text, const char *from, const char *end, const char *flags)
{
	const char *at = last_flags(from, end);
	char *word, *all;

	if (asprintf(&word, "%s%s%s", at || end == from ? "" : " ", ROOT_FLAGS, flags) < 0)
		return NULL;
	all = at ? replace(text, at, strcspn(at, " \t\n\"'"), word) : replace(text, end, 0, word);
	free(word);
	return all;
}

char *edit_grub(const char *text, const char *flags)
{
	/* The words of the second follow those of the first, and count. */
	static const char *const names[] = { "GRUB_CMDLINE_LINUX=", "GRUB_CMDLINE_LINUX_DEFAULT=" };
	const char *from = NULL, *end = NULL;
	char *all;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		for (size_t i = 0; i < 2; i++) {
			const char *value = line + strlen(names[i]), *stop;

			if (strncmp(line, names[i], strlen(names[i])) != 0)
				continue;
			stop = value + strcspn(value, "\n");
			if (*value == '"' || *value == '\'') {
				stop = strchr(value + 1, *value);
				value++;
			}
			if (stop && (!from || i == 0 || last_flags(value, stop)) &&
			    !(from && i == 0 && last_flags(from, end))) {
				from = value;
				end = stop;
			}
		}
	if (from && end >= from)
		return set_flags(text, from, end, flags);
	if (asprintf(&all, "%s%sGRUB_CMDLINE_LINUX=\"%s%s\"\n", text,
		     *text && text[strlen(text) - 1] != '\n' ? "\n" : "", ROOT_FLAGS, flags) < 0)
		return NULL;
	return all;
}

char *edit_cmdline(const char *text, const char *flags)
{
	return set_flags(text, text, text + strcspn(text, "\n"), flags);
}

/* --- what differs --- */

static void put_lines(FILE *to, char sign, const char *from, const char *end)
{
	while (from < end) {
		const size_t length = strcspn(from, "\n");

		fprintf(to, "%c%.*s\n", sign, (int)length, from);
		from += length + (from[length] == '\n');
	}
}

char *edit_difference(const char *before, const char *after)
{
	const char *a = before + strlen(before), *b = after + strlen(after);
	size_t same = 0, line = 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (; before[same] && before[same] == after[same]; same++)
		if (before[same] == '\n')
			line = same + 1;
	/* Whole lines from the end, too. */
	while (a > before + line && b > after + line && a[-1] == b[-1])
		a--, b--;
	while (*a && a > before + line && a[-1] != '\n')
		a++, b++;
	put_lines(to, '-', before + line, a);
	put_lines(to, '+', after + line, b);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}
