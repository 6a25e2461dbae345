/* SPDX-License-Identifier: Apache-2.0 */
#include "native_text.h"

#include <linux/fs.h>
#include <string.h>

/* In the order of lsattr's columns. */
static const struct {
	uint32_t flag;
	char letter;
} flags[] = {
	{ FS_SECRM_FL, 's' },	    { FS_UNRM_FL, 'u' },	 { FS_SYNC_FL, 'S' },
	{ FS_DIRSYNC_FL, 'D' },	    { FS_IMMUTABLE_FL, 'i' },	 { FS_APPEND_FL, 'a' },
	{ FS_NODUMP_FL, 'd' },	    { FS_NOATIME_FL, 'A' },	 { FS_COMPR_FL, 'c' },
	{ FS_ENCRYPT_FL, 'E' },	    { FS_JOURNAL_DATA_FL, 'j' }, { FS_INDEX_FL, 'I' },
	{ FS_NOTAIL_FL, 't' },	    { FS_TOPDIR_FL, 'T' },	 { FS_EXTENT_FL, 'e' },
	{ FS_NOCOW_FL, 'C' },	    { FS_DAX_FL, 'x' },		 { FS_CASEFOLD_FL, 'F' },
	{ FS_INLINE_DATA_FL, 'N' }, { FS_PROJINHERIT_FL, 'P' },	 { FS_VERITY_FL, 'V' },
	{ FS_NOCOMP_FL, 'm' },
};

void attribute_letters(char letters[ATTRIBUTE_LETTERS], uint32_t set)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (set & flags[i].flag)
			*letters++ = flags[i].letter;
	*letters = '\0';
}

void text_attributes_row(struct writer *w, const struct attributes_row *row, bool project)
{
	if (project) {
		write_number_right(w, row->project, 5);
		write_char(w, ' ');
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		write_char(w, row->flags & flags[i].flag ? flags[i].letter : '-');
	write_char(w, ' ');
	write_escaped(w, row->path);
	write_char(w, '\n');
}

void text_attributes_enter(struct writer *w, const char *directory)
{
	write_char(w, '\n');
	write_escaped(w, directory);
	write_text(w, ":\n");
}

void text_attributes_leave(struct writer *w)
{
	write_char(w, '\n');
}

void text_id_row(struct writer *w, const char *path, uint32_t id)
{
	(void)path;
	write_number(w, id);
	write_char(w, '\n');
}

void text_found_row(struct writer *w, const struct found_row *row)
{
	if (row->null) {
		write_bytes(w, row->path, strlen(row->path) + 1);
		return;
	}
	if (row->show_id) {
		write_number(w, row->id);
		write_char(w, ' ');
	}
	write_escaped(w, row->path);
	write_char(w, '\n');
}

void text_support(struct writer *w, const struct support_row *row)
{
	write_escaped(w, row->path);
	write_text(w, ": project quota on ");
	write_escaped(w, row->filesystem ? row->filesystem : "its filesystem");
	if (row->mountpoint) {
		write_text(w, ", mounted on ");
		write_escaped(w, row->mountpoint);
	}
	write_text(w, row->enforced ? "\n" : "; limits are not enforced\n");
}

void text_leftover_row(struct writer *w, const struct leftover_row *row)
{
	write_text(w, row->action);
	write_text(w, " project ");
	write_number(w, row->id);
	if (row->name) {
		write_text(w, " (");
		write_escaped(w, row->name);
		write_char(w, ')');
	}
	if (row->directory || row->mountpoint) {
		write_text(w, row->directory ? ", " : " on ");
		write_escaped(w, row->directory ? row->directory : row->mountpoint);
	}
	write_text(w, ": ");
	write_text(w, row->sentence);
	write_char(w, '\n');
}

const char *finding_level_word(enum finding_level level)
{
	static const char *const words[] = { "ok", "note", "problem" };

	return words[level];
}

void text_finding_row(struct writer *w, const struct finding_row *row)
{
	write_left(w, finding_level_word(row->level), 8);
	write_escaped(w, row->path ? row->path : "caller");
	write_text(w, ": ");
	write_escaped(w, row->message);
	if (row->repair) {
		write_text(w, "; repair: ");
		/* To be typed as it stands: names in it are quoted for the shell already. */
		write_text(w, row->repair);
	}
	write_char(w, '\n');
}
