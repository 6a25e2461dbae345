/* SPDX-License-Identifier: Apache-2.0 */
#include "help_text.h"

void text_program_help_begin(struct writer *w)
{
	write_text(w, "Usage: fsquota COMMAND [OPTIONS] PATH...\n"
		      "       fsquota -x -c 'XFS_QUOTA COMMAND' PATH\n"
		      "\n"
		      "Manage and measure project quotas of XFS, ext4 and f2fs.\n"
		      "\n"
		      "Commands:\n");
}

void text_program_help_row(struct writer *w, const char *name, const char *summary)
{
	write_text(w, "  ");
	write_left(w, name, 12);
	write_text(w, summary);
	write_char(w, '\n');
}

void text_program_help_end(struct writer *w)
{
	write_text(w,
		   "\n"
		   "fsquota help COMMAND explains one of them.\n"
		   "With -x, -c or another option of xfs_quota first, or called by that name, it\n"
		   "behaves as xfs_quota does; fsquota -x -c help lists those commands.\n");
}

void text_program_version(struct writer *w, const char *version)
{
	write_text(w, "fsquota ");
	write_text(w, version);
	write_char(w, '\n');
}

void text_usage(struct writer *w, const char *name, const char *synopsis, const char *paths)
{
	write_text(w, "Usage: fsquota ");
	write_text(w, name);
	if (synopsis) {
		write_char(w, ' ');
		write_text(w, synopsis);
	}
	write_text(w, paths);
	write_text(w, "\n\n");
}

void text_help_option(struct writer *w, const char *label, size_t width, const char *help)
{
	write_blanks(w, 2);
	write_left(w, label, width);
	write_blanks(w, 2);
	for (; *help; help++) {
		write_char(w, *help);
		if (*help == '\n')
			write_blanks(w, width + 4);
	}
	write_char(w, '\n');
}

void text_machine_line(struct writer *w, const char *const *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			write_char(w, '\t');
		for (const char *at = fields[i] && *fields[i] ? fields[i] : "-"; *at; at++)
			write_char(w, *at == '\n' ? ' ' : *at);
	}
	write_char(w, '\n');
}
