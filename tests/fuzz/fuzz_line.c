/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of -c: as strtok(3) cuts them, and as each command takes its letters. Nothing is run. */
#include "fuzz.h"

#include <unistd.h>

#include "xfs_quota/command.h"

static size_t length_without_blanks(const char *text)
{
	size_t length = 0;

	for (; *text; text++)
		length += *text != ' ';
	return length;
}

static void parse(const struct command *command, int count, char **words)
{
	static struct writer output;
	struct state state = { .program = "xfs_quota", .out = &output };
	struct call call = { .command = command, .argc = count, .argv = words };
	struct text text = { 0 };

	writer_start_text(&output, &text);
	opterr = 0;
	if (xq_parse_options(&state, &call)) {
		MUST(call.operand_count >= 0 && !call.operands[call.operand_count]);
		MUST(!command->refused || !call.options[(unsigned char)command->refused]);
		MUST(call.type_count <= FSQ_TYPES);
	} else {
		xq_flush(&state);
		MUST(text.used > 0);
	}
	free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = text_of(data, size);
	size_t length = length_without_blanks(line), sum = 0;
	const struct command *command;
	char **words;
	int count;

	words = xq_split_line(line, &count);
	MUST(words && !words[count]);
	for (int i = 0; i < count; i++) {
		MUST(words[i][0] && !strchr(words[i], ' '));
		sum += strlen(words[i]);
	}
	MUST(sum == length);
	for (size_t i = 0; count > 0 && (command = xq_command_at(i)); i++)
		if (strcmp(words[0], command->name) == 0)
			parse(command, count, words);
	free(words);
	free(line);
	return 0;
}
