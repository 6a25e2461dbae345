/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of -c: as strtok(3) cuts them, and as each command takes its letters. Nothing is run. */
#include "parse_command.h"

#include "xfs_quota/line.h"

static size_t length_without_blanks(const char *text)
{
	size_t length = 0;

	for (; *text; text++)
		length += *text != ' ';
	return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = text_of(data, size);
	size_t length = length_without_blanks(line), sum = 0;
	const struct command *command;
	char **words;
	int count;

	words = line_split(line, &count);
	MUST(words && !words[count]);
	for (int i = 0; i < count; i++) {
		MUST(words[i][0] && !strchr(words[i], ' '));
		sum += strlen(words[i]);
	}
	MUST(sum == length);
	command = count > 0 ? command_find(words[0]) : NULL;
	if (command)
		parse_command(command, count, words, false);
	free(words);
	free(line);
	return 0;
}
