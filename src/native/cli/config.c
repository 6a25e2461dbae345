/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "budgets.h"
#include "quota/base/units.h"
#include "quota/fsquota.h"
#include "shared/array.h"
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
	KEY_MAIL,
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
	[KEY_MAIL] = { "mail", "ADDRESS" },
	[KEY_REGISTER] = { "register", "yes|no" },
	[KEY_BUDGET] = { "budget", "/PATH SIZE" },
	[KEY_OVERCOMMIT] = { "overcommit", "[/PATH] PERCENT%" },
};

bool config_is_key(const char *word)
{
	const size_t length = strcspn(word, "=");

	for (enum key key = 0; key < KEYS; key++)
		if (strlen(keys[key].key) == length && memcmp(keys[key].key, word, length) == 0)
			return true;
	return false;
}

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

/* Can it stand in the header of a mail? Several have commas between them. */
static bool is_address(const char *text)
{
	const char *at = text;

	while (*at >= ' ' && *at < 0x7f)
		at++;
	return at > text && !*at;
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
	case KEY_MAIL:
		session->mail = value;
		return is_address(value);
	case KEY_BUDGET:
	case KEY_OVERCOMMIT:
		return take_budget_of_config(session, keys[key].key, value);
	default:
		session->no_register = strcmp(value, "no") == 0;
		return session->no_register || strcmp(value, "yes") == 0;
	}
}

static bool take_config_line(struct session *session, const char *file, char *line,
			     unsigned int number, bool reads)
{
	char text[512], *value, *comment;
	enum key key = 0;

	line = trim(line);
	if (line[0] == '#' || line[0] == '\0')
		return true;
	comment = strstr(line, " #");
	if (comment)
		*comment = '\0';
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
	else if (line[0] == '/')
		snprintf(text, sizeof(text),
			 "line %u: is a line of fsquota.d(5): it belongs in /etc/fsquota.d/*.conf",
			 number);
	else
		snprintf(text, sizeof(text),
			 "line %u: there is no key \"%.200s\"; a line is KEY = VALUE, see "
			 "fsquota.conf(5)",
			 number, line);
	/* A misspelled key may have been meant for a budget. */
	session->budgets_unknown |= key < KEYS ? key == KEY_BUDGET || key == KEY_OVERCOMMIT
					       : value[0] == '/' || strchr(value, '%');
	/* A command that only reads passes over the line, unless it would read another file of the registry. */
	if (!reads || key == KEY_PROJECTS_FILE || key == KEY_PROJID_FILE)
		return session_usage_error(session, "%s, %s", file, text);
	session_error(session, 0, FSQ_OK, 0, file, "%s, %s: the line is passed over", file, text);
	return true;
}

static bool is_same_budget(const struct fsq_budget *one, const struct fsq_budget *other)
{
	return !one->percent == !other->percent && !one->directory == !other->directory &&
	       (!one->directory || strcmp(one->directory, other->directory) == 0);
}

/* Forget those of the first @count budgets that the file behind them has, too. */
static void forget_replaced_budgets(struct session *session, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->budget_count; i++) {
		const struct fsq_budget budget = session->budgets[i];
		bool replaced = false;

		for (size_t k = count; i < count && k < session->budget_count; k++)
			replaced |= is_same_budget(&budget, &session->budgets[k]);
		if (replaced)
			free((char *)budget.directory);
		else
			session->budgets[kept++] = budget;
	}
	session->budget_count = kept;
}

/* @text     of @file, which must stay */
static bool take_config_text(struct session *session, const struct config_file *file, char *text,
			     bool reads)
{
	const size_t budgets = session->budget_count;
	char *rest = text, *line;
	unsigned int number = 0;
	bool good = true;

	if (strlen(text) < file->length)
		return session_usage_error(session, "%s: there is a NUL byte in it", file->path);
	while (good && (line = fsq_next_line(&rest, text + file->length)))
		good = take_config_line(session, file->path, line, ++number, reads);
	forget_replaced_budgets(session, budgets);
	return good;
}

/* --- the files --- */

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".conf") == 0;
}

int config_list(const char *directory, struct dirent ***entries)
{
	int count = scandir(directory, entries, is_conf, alphasort);

	return count < 0 ? -errno : count;
}

/* Not those of editors and packages, such as web.conf~ and web.conf.dpkg-old, nor what explains. */
static int is_passed_over(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !strstr(entry->d_name, ".conf") &&
	       strncmp(entry->d_name, "README", strlen("README")) != 0;
}

void config_tell_of_others(struct session *session, const char *directory)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_passed_over, alphasort);

	for (int i = 0; i < count; i++) {
		session_warn(session, directory, "%s is not read: its name does not end in .conf",
			     entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

void config_forget(struct config_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->list[i].path);
		free(files->list[i].text);
	}
	free(files->list);
	*files = (struct config_files){ 0 };
}

/*
 * Add a file, without a text if it is not there. A symlink in the directory that leads nowhere is an error: it may have
 * been meant for a budget.
 */
static bool add_file(struct session *session, struct config_files *files, const char *path)
{
	struct config_file file = { .path = path ? strdup(path) : NULL };
	struct stat st;
	int rc = -ENOMEM;

	if (file.path) {
		if (session->config)
			file.stamp = fsq_file_stamp_of(path);
		rc = fsq_read_file(path, &file.text, &file.length);
	}
	if (rc == -ENOENT && (strcmp(path, FSQ_CONFIG_FILE) == 0 || lstat(path, &st)))
		rc = 0;
	if (rc == 0 &&
	    array_add(&files->list, &files->count, &files->capacity, &file, sizeof(file)))
		return true;
	free(file.path);
	free(file.text);
	return session_errno(session, 0, rc ? -rc : ENOMEM, path, "cannot read %s",
			     path ? path : FSQ_CONFIG_DIRECTORY);
}

static bool files_are_current(const struct config_files *files)
{
	bool current =
		files->read && fsq_file_stamp_is_current(&files->directory, FSQ_CONFIG_DIRECTORY);

	/* The directory shows which files there are, and nothing of what is in them. */
	for (size_t i = 0; current && i < files->count; i++)
		current = fsq_file_stamp_is_current(&files->list[i].stamp, files->list[i].path);
	return current;
}

/* @return  whether all files could be read; else an error was reported */
static bool read_files(struct session *session, struct config_files *files)
{
	struct dirent **entries = NULL;
	char *path;
	bool good;
	int count;

	if (files->checked || files_are_current(files)) {
		files->checked = true;
		return true;
	}
	config_forget(files);
	if (session->config)
		files->directory = fsq_file_stamp_of(FSQ_CONFIG_DIRECTORY);
	good = add_file(session, files, FSQ_CONFIG_FILE);
	count = good ? config_list(FSQ_CONFIG_DIRECTORY, &entries) : 0;
	if (count < 0 && count != -ENOENT)
		good = session_errno(session, 0, -count, FSQ_CONFIG_DIRECTORY,
				     "cannot list " FSQ_CONFIG_DIRECTORY);
	for (int i = 0; i < count; i++) {
		if (asprintf(&path, FSQ_CONFIG_DIRECTORY "/%s", entries[i]->d_name) < 0)
			path = NULL;
		good = good && add_file(session, files, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	/* After a failure, read again next time. */
	files->read = files->checked = good;
	return good;
}

bool config_read(struct session *session, bool reads)
{
	struct config_files own = { 0 }, *files = session->config ? session->config : &own;
	bool good = read_files(session, files);
	size_t size = 0;
	char *text;

	for (size_t i = 0; i < files->count; i++)
		size += files->list[i].text ? files->list[i].length + 1 : 0;
	if (good && size > 0) {
		session->config_text = malloc(size);
		good = session->config_text || session_no_memory(session);
	}
	text = session->config_text;
	for (size_t i = 0; good && i < files->count; i++) {
		const struct config_file *file = &files->list[i];

		if (!file->text)
			continue;
		memcpy(text, file->text, file->length + 1);
		good = take_config_text(session, file, text, reads);
		text += file->length + 1;
	}
	config_forget(&own);
	return good;
}
