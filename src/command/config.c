/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quota/whole_file.h"

#define BLANKS " \t\r"

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length > 0 && strchr(BLANKS, text[length - 1]))
		text[--length] = '\0';
	return text;
}

static bool take_line(struct session *session, char *line, struct fsq_id_range *range)
{
	char *value;

	line = trim(line);
	if (line[0] == '#' || line[0] == '\0')
		return true;
	value = strchr(line, '=');
	if (value)
		*value++ = '\0';
	line = trim(line);
	value = value ? trim(value) : NULL;
	if (value && strcmp(line, "id-range") == 0 && fsq_parse_id_range(value, range) == 0)
		return true;
	session_complain(session, 1, FSQ_E_USAGE,
			 FSQ_CONFIG_FILE ": \"%s%s%s\" is not \"id-range = FIRST-LAST\"", line,
			 value ? " = " : "", value ? value : "");
	return false;
}

bool config_id_range(struct session *session, struct fsq_id_range *range)
{
	char *text, *rest, *line;
	size_t length;
	bool good = true;
	int rc = fsq_read_whole(FSQ_CONFIG_FILE, &text, &length);

	if (rc == -ENOENT)
		return true;
	if (rc) {
		session_complain(session, 1, -rc, "cannot read " FSQ_CONFIG_FILE);
		return false;
	}
	rest = text;
	while (good && (line = fsq_next_line(&rest, text + length)))
		good = take_line(session, line, range);
	free(text);
	return good;
}
