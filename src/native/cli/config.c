/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budgets.h"
#include "quota/base/units.h"
#include "quota/fsquota.h"
#include "shared/read_file.h"

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

bool config_parse_seconds(const char *text, unsigned int *seconds)
{
	uint32_t number;

	if (fsq_parse_id(text, &number) || text[0] == '+' || number > 1000000)
		return false;
	*seconds = number;
	return true;
}

enum key {
	KEY_ID_RANGE,
	KEY_LOCK_TIMEOUT,
	KEY_PROJECTS_FILE,
	KEY_PROJID_FILE,
	KEY_LOG,
	KEY_REGISTER,
	KEY_BUDGET,
	KEY_OVERCOMMIT,
	KEYS
};

static const struct {
	const char *key, *form;
} keys[KEYS] = {
	[KEY_ID_RANGE] = { "id-range", "FIRST-LAST" },
	[KEY_LOCK_TIMEOUT] = { "lock-timeout", "SECONDS" },
	[KEY_PROJECTS_FILE] = { "projects-file", "/PATH" },
	[KEY_PROJID_FILE] = { "projid-file", "/PATH" },
	[KEY_LOG] = { "log", "journal|syslog|none" },
	[KEY_REGISTER] = { "register", "yes|no" },
	[KEY_BUDGET] = { "budget", "/PATH SIZE" },
	[KEY_OVERCOMMIT] = { "overcommit", "[/PATH] PERCENT%" },
};

/* "/PATH VALUE", or the value alone. */
static bool take_budget_of_config(struct session *session, const char *key, const char *text)
{
	const char *value = text + strlen(text);
	char *directory = NULL;
	int rc = -EINVAL;

	while (value > text && !strchr(BLANKS, value[-1]))
		value--;
	if (value > text) {
		directory = strndup(text, (size_t)(value - text));
		if (!directory)
			return session_no_memory(session);
		trim(directory);
	}
	if (!directory || directory[0] == '/')
		rc = budgets_add(session, key, directory, value);
	free(directory);
	return rc == -ENOMEM ? session_no_memory(session) : rc == 0;
}

/* @value must stay */
static bool take_value(struct session *session, enum key key, const char *value)
{
	switch (key) {
	case KEY_ID_RANGE:
		session->range_configured = fsq_parse_id_range(value, &session->range) == 0;
		return session->range_configured;
	case KEY_LOCK_TIMEOUT:
		return config_parse_seconds(value, &session->lock_seconds);
	case KEY_PROJECTS_FILE:
		session->projects_file = value;
		return value[0] == '/';
	case KEY_PROJID_FILE:
		session->projid_file = value;
		return value[0] == '/';
	case KEY_LOG:
		session->log = strcmp(value, "none") == 0     ? LOG_TO_NOTHING
			       : strcmp(value, "syslog") == 0 ? LOG_TO_SYSLOG
							      : LOG_TO_JOURNAL;
		return session->log != LOG_TO_JOURNAL || strcmp(value, "journal") == 0;
	case KEY_BUDGET:
	case KEY_OVERCOMMIT:
		return take_budget_of_config(session, keys[key].key, value);
	default:
		session->no_register = strcmp(value, "no") == 0;
		return session->no_register || strcmp(value, "yes") == 0;
	}
}

/*
 * A line is wrong. Pass over it with a warning if the command only reads, but not if it reads another file of the
 * registry then.
 *
 * @key      its key; KEYS: there is none
 * @return   whether to go on; else an error was reported
 */
static bool pass_over_line(struct session *session, bool reads, enum key key, const char *text)
{
	if (!reads || key == KEY_PROJECTS_FILE || key == KEY_PROJID_FILE)
		return session_usage_error(session, FSQ_CONFIG_FILE ", %s", text);
	session_error(session, 0, FSQ_OK, 0, FSQ_CONFIG_FILE,
		      FSQ_CONFIG_FILE ", %s: the line is passed over", text);
	return true;
}

static bool take_config_line(struct session *session, char *line, unsigned int number, bool reads)
{
	char text[512], *value;
	enum key key = 0;

	line = trim(line);
	if (line[0] == '#' || line[0] == '\0')
		return true;
	value = strchr(line, '=');
	if (value)
		*value++ = '\0';
	line = trim(line);
	value = value ? trim(value) : line + strlen(line);
	while (key < KEYS && strcmp(line, keys[key].key) != 0)
		key++;
	if (key < KEYS && take_value(session, key, value))
		return true;
	if (session->no_memory)
		return false;
	if (key < KEYS)
		snprintf(text, sizeof(text), "line %u: \"%.200s\" is not \"%s = %s\"", number,
			 value, keys[key].key, keys[key].form);
	else
		snprintf(text, sizeof(text), "line %u: there is no key \"%.200s\"", number, line);
	/* A misspelled key may have been meant for a budget. */
	session->budgets_unknown |= key < KEYS ? key == KEY_BUDGET || key == KEY_OVERCOMMIT
					       : value[0] == '/' || strchr(value, '%');
	return pass_over_line(session, reads, key, text);
}

/* Read the file, if it exists, as fsq_read_file(). */
static int read_once(struct config_file *file, char **text, size_t *length)
{
	if (file->read && !file->checked)
		file->read = fsq_file_stamp_is_current(&file->stamp, FSQ_CONFIG_FILE);
	if (!file->read) {
		free(file->text);
		file->stamp = fsq_file_stamp_of(FSQ_CONFIG_FILE);
		file->rc = fsq_read_file(FSQ_CONFIG_FILE, &file->text, &file->length);
	}
	/* After a failure, read again next time. */
	file->read = file->checked = file->rc == 0 || file->rc == -ENOENT;
	if (file->rc) {
		file->text = NULL;
		return file->rc;
	}
	*text = malloc(file->length + 1);
	*length = file->length;
	if (!*text)
		return -ENOMEM;
	memcpy(*text, file->text, file->length + 1);
	return 0;
}

bool config_read(struct session *session, bool reads)
{
	char *rest, *line;
	size_t length;
	unsigned int number = 0;
	bool good = true;
	int rc = session->config ? read_once(session->config, &session->config_text, &length)
				 : fsq_read_file(FSQ_CONFIG_FILE, &session->config_text, &length);

	if (rc == -ENOENT)
		return true;
	if (rc)
		return session_errno(session, 0, -rc, FSQ_CONFIG_FILE,
				     "cannot read " FSQ_CONFIG_FILE);
	rest = session->config_text;
	if (strlen(rest) < length)
		return session_usage_error(session, FSQ_CONFIG_FILE ": there is a NUL byte in it");
	while (good && (line = fsq_next_line(&rest, session->config_text + length)))
		good = take_config_line(session, line, ++number, reads);
	return good;
}
