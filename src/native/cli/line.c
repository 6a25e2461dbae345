/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "shared/utf8.h"

static bool is_printable(const char *path)
{
	size_t length;

	for (; *path && (length = fsq_utf8_printable(path)); path += length)
		;
	return *path == '\0';
}

void line_write_path(struct writer *w, const char *path)
{
	const bool in_octal = !is_printable(path);
	const char *special = in_octal ? "'\\" : "\"\\";
	const bool is_special = strpbrk(path, " \"\\*?[#{$") || path[strlen(path) - 1] == ':';
	const bool quoted = in_octal || is_special;

	if (quoted)
		write_text(w, in_octal ? "$'" : "\"");
	for (; *path; path++) {
		size_t length = fsq_utf8_printable(path);

		if (length == 0) {
			write_format(w, "\\%03o", (unsigned char)*path);
			continue;
		}
		if (strchr(special, *path))
			write_char(w, '\\');
		write_bytes(w, path, length);
		path += length - 1;
	}
	if (quoted)
		write_char(w, in_octal ? '\'' : '"');
}

static void write_limit(struct writer *w, const char *key, uint64_t value, bool is_size)
{
	static const char units[] = "KMGTPE";
	size_t power = 0;

	if (!value)
		return;
	for (; is_size && value % 1024 == 0 && power < strlen(units); power++)
		value /= 1024;
	write_text(w, key);
	write_number(w, value);
	if (power)
		write_char(w, units[power - 1]);
}

void line_write_limits(struct writer *w, uint64_t hard_bytes, uint64_t soft_bytes,
		       uint64_t hard_inodes, uint64_t soft_inodes)
{
	write_limit(w, " hard=", hard_bytes, true);
	write_limit(w, " soft=", soft_bytes, true);
	write_limit(w, " hard-inodes=", hard_inodes, false);
	write_limit(w, " soft-inodes=", soft_inodes, false);
	if (!hard_bytes && !soft_bytes && !hard_inodes && !soft_inodes)
		write_text(w, " unlimited");
}
