/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "shared/writer.h"

static struct writer writer;

static bool gives(const char *wanted)
{
	bool same =
		writer.used == strlen(wanted) && memcmp(writer.buffer, wanted, writer.used) == 0;

	writer.used = 0;
	return same;
}

int main(void)
{
	char *large = malloc(3 * WRITER_BUFFER + 1);
	int pipes[2];
	size_t total = 0;
	ssize_t got;
	int fd;

	writer_start(&writer, -1);
	write_number(&writer, 0);
	ok(gives("0"), "zero");
	write_number(&writer, UINT64_MAX);
	ok(gives("18446744073709551615"), "the largest number");
	write_number_right(&writer, 42, 5);
	ok(gives("   42"), "a number to the right");
	write_number_right(&writer, 123456, 5);
	ok(gives("123456"), "a width never cuts a number");
	write_number_left(&writer, 42, 5);
	ok(gives("42   "), "a number to the left");
	write_number_zeros(&writer, 7, 2);
	ok(gives("07"), "a number with zeros");
	write_left(&writer, "ab", 4);
	write_right(&writer, "cd", 4);
	ok(gives("ab    cd"), "text to the left and to the right");
	write_right(&writer, "abcdef", 4);
	ok(gives("abcdef"), "a width never cuts text");
	write_escaped(&writer, "a b\n\033[31m\\\x7f\x01\t\r\a");
	ok(gives("a b\\n\\033[31m\\\\\\177\\001\\t\\r\\a"), "control characters are escaped");
	write_escaped(&writer, "\xc3\xa9\xff\xc2\xa0");
	ok(gives("\xc3\xa9\xff\xc2\xa0"), "other bytes are not");
	write_escaped(&writer, "\xc2\x9b"
			       "31m\xc2");
	ok(gives("\\302\\23331m\xc2"), "control characters of UTF-8 are");
	write_escaped(&writer, "\x9b"
			       "31m\xc4\x9b");
	ok(gives("\\23331m\xc4\x9b"), "and in one byte, but not as a part of a letter");
	write_blanks(&writer, 100);
	ok(writer.used == 100, "many blanks");

	if (!large || pipe(pipes))
		return 1;
	memset(large, 'x', 3 * WRITER_BUFFER);
	large[3 * WRITER_BUFFER] = '\0';
	fd = open("/dev/null", O_WRONLY);
	writer_start(&writer, fd);
	write_text(&writer, large);
	ok(writer_flush(&writer) == 0, "more than the buffer holds is written on the way");
	close(fd);

	writer_start(&writer, pipes[1]);
	for (int i = 0; i < 1000; i++)
		write_text(&writer, "line\n");
	ok(writer_flush(&writer) == 0, "the buffer goes out");
	close(pipes[1]);
	while ((got = read(pipes[0], large, WRITER_BUFFER)) > 0)
		total += (size_t)got;
	ok(total == 5000, "whole");

	fd = open("/dev/full", O_WRONLY);
	writer_start(&writer, fd);
	write_text(&writer, "lost");
	ok(writer_flush(&writer) == -ENOSPC, "a full device is noticed");
	write_text(&writer, "lost");
	ok(writer_flush(&writer) == -ENOSPC, "and remembered");
	close(fd);
	free(large);
	return tap_end();
}
