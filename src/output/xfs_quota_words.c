/* SPDX-License-Identifier: Apache-2.0 */
#include "xfs_quota_text.h"

void text_paths_none(struct writer *w)
{
	write_text(w, "No paths are available\n");
}

void text_paths_range(struct writer *w, int value, int max)
{
	write_text(w, "value ");
	write_signed(w, value);
	write_text(w, " is out of range (0-");
	write_signed(w, max);
	write_text(w, ")\n");
}

void text_help_line(struct writer *w, const char *name, const char *synopsis, const char *summary)
{
	write_text(w, name);
	if (synopsis) {
		write_char(w, ' ');
		write_text(w, synopsis);
	}
	write_text(w, " -- ");
	write_text(w, summary);
	write_char(w, '\n');
}

void text_help_end(struct writer *w)
{
	write_text(w, "\nUse 'help commandname' for extended help.\n");
}

void text_help_unknown(struct writer *w, const char *name)
{
	write_text(w, "command ");
	write_text(w, name);
	write_text(w, " not found\n");
}
