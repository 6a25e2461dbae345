/* SPDX-License-Identifier: Apache-2.0 */
#include "progress_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names are the tenant's: they must not move the cursor. */
static void append(char *line, size_t size, const char *path)
{
	size_t length = strlen(line);

	for (; *path && length + 1 < size; path++)
		line[length++] = (unsigned char)*path < ' ' || *path == 127 ? '?' : *path;
	line[length] = '\0';
}

void progress_text_show(const struct progress_row *row, unsigned int columns)
{
	char line[4096];

	snprintf(line, sizeof(line), "%" PRIu64 " entries, %" PRIu64 "/s%s", row->entries,
		 row->entries_per_second, row->path ? "  " : "");
	/* One column less: some terminals go to the next line after the last. */
	if (row->path)
		append(line, columns > 0 && columns < sizeof(line) ? columns : sizeof(line),
		       row->path);
	if (columns > 0)
		fprintf(stderr, "\r%s\033[K", line);
	else
		fprintf(stderr, "%s\n", line);
}

void progress_text_clear(void)
{
	fputs("\r\033[K", stderr);
}
