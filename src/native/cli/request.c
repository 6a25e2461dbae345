/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "quota/directory/assign.h"
#include "quota/limits/limits.h"
#include "suggest.h"

bool assign_refuse(struct session *session, const struct word_origin *origin, const char *format,
		   ...)
{
	char why[256], where[PATH_MAX + 300] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (origin->file)
		snprintf(where, sizeof(where), "%s, line %u: ", origin->file, origin->line);
	strncat(where, why, sizeof(where) - strlen(where) - 1);
	if (reported_add(origin->reported, where))
		session_usage_error(session, "%s", where);
	return false;
}

static bool set_limit(struct session *session, const struct word_origin *origin,
		      struct fsq_assign_request *request, const char *key, const char *text)
{
	struct fsq_limits *limits = &request->limits;
	bool hard = key[0] == 'h';
	enum fsq_form form = strchr(key, '-') ? FSQ_INODES : FSQ_BLOCKS;
	size_t digits = strspn(text, "0123456789");
	unsigned long percent = digits < 4 ? strtoul(text, NULL, 10) : 0;
	char why[SUGGESTION];
	uint64_t value;
	int rc = 0;

	/* "90%" of the filesystem, or of the hard limit. */
	if (form == FSQ_BLOCKS && strcmp(text + digits, "%") == 0 && percent >= 1 &&
	    percent <= 100) {
		*(hard ? &request->hard_percent : &request->soft_percent) = (unsigned int)percent;
		return true;
	}
	if (form == FSQ_BLOCKS && strchr(text, '%'))
		return assign_refuse(
			session, origin,
			"\"%.100s\" is no percentage: a whole number from 1%% to 100%%, "
			"such as 10%%",
			text);
	if (strcmp(text, "none") == 0)
		value = 0;
	else if (form == FSQ_INODES)
		rc = fsq_parse_positive(text, &value);
	else
		rc = fsq_parse_bytes(text, &value);
	if (rc == -EINVAL && form == FSQ_INODES)
		return assign_refuse(session, origin,
				     "\"%.100s\" is no number of inodes, such as 10000, or none",
				     text);
	if (rc)
		return assign_refuse(session, origin, "%s",
				     suggest_size(text, rc, "500M, 10G or none", why));
	if (form != FSQ_INODES && suggest_unit(text, value, why))
		return assign_refuse(session, origin, "%s%s%s%.20s: %s", origin->file ? "" : "--",
				     key, origin->file ? "=" : " ", text, why);
	if (form != FSQ_INODES)
		value = fsq_limit_blocks_up(value);
	(hard ? limits->hard : limits->soft)[form] = value;
	limits->mask |= hard ? FSQ_HARD(form) : FSQ_SOFT(form);
	return true;
}

/* USER, USER:GROUP or :GROUP, by name or number. */
static bool set_owner(struct session *session, const struct word_origin *origin,
		      struct fsq_assign_request *request, const char *text)
{
	const char *colon = strchr(text, ':');
	char *user = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	bool good = user && *text &&
		    (!*user || names_to_id(session, FSQ_USER, user, &request->owner)) &&
		    (!colon || names_to_id(session, FSQ_GROUP, colon + 1, &request->group));

	free(user);
	return good || assign_refuse(session, origin, "there is no user or group \"%.100s\"", text);
}

/* What a line can have, in fsquota.d(5). */
static const char *const keys_of_lines[] = {
	"hard",	     "soft",  "hard-inodes", "soft-inodes", "name",	  "id",
	"mode",	     "owner", "grace",	     "budget",	    "overcommit", "grace-inodes",
	"unlimited", "keep",  "around",	     "mkdir",	    "registered",
};

/* @return   whether a key begins there, and behind it @after */
static bool is_key(const char *word, char after)
{
	for (size_t i = 0; i < sizeof(keys_of_lines) / sizeof(keys_of_lines[0]); i++) {
		size_t length = strlen(keys_of_lines[i]);

		if (strncmp(word, keys_of_lines[i], length) == 0 && word[length] == after)
			return true;
	}
	return false;
}

/* As modules of Ansible and Puppet say it: absent, state=absent, ensure=absent. */
static bool is_removal(const char *word)
{
	static const char *const words[] = { "absent", "delete", "remove", "state", "ensure" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static bool refuse_removal(struct session *session, const struct word_origin *origin,
			   const char *word)
{
	return assign_refuse(
		session, origin,
		"there is no \"%s\": without its line, fsquota apply --prune takes the "
		"quota of a directory away",
		word);
}

static bool refuse_key(struct session *session, const struct word_origin *origin, const char *key)
{
	const char *instead = NULL, *name = key + strspn(key, "-");
	struct suggestion like;
	char word[32];
	size_t length = 0;

	if (is_removal(key))
		return refuse_removal(session, origin, key);
	if (strcmp(key, "until") == 0)
		return assign_refuse(
			session, origin,
			"there is no key \"until\": fsquota resize DIR SIZE --until WHEN, "
			"and apply leaves it so");
	if (config_is_key(key))
		return assign_refuse(session, origin,
				     "%s belongs in " FSQ_CONFIG_FILE ", see fsquota.conf(5)", key);
	/* Written as an option, in capitals or with another stroke. */
	for (; name[length] && length < sizeof(word) - 1; length++)
		word[length] =
			name[length] == '_' ? '-' : (char)tolower((unsigned char)name[length]);
	suggest_begin(&like, word, length);
	for (size_t i = 0; i < sizeof(keys_of_lines) / sizeof(keys_of_lines[0]); i++)
		if (suggest_is_nearer(&like, keys_of_lines[i]))
			instead = keys_of_lines[i];
	return assign_refuse(session, origin, "there is no key \"%.100s\"; %s%s%s", key,
			     instead ? "did you mean " : "see fsquota.d(5)", instead ? instead : "",
			     instead ? "?" : "");
}

/* Refuse a word without a value that is none of those that have none. */
static bool refuse_bare(struct session *session, const struct word_origin *origin, const char *word)
{
	uint64_t bytes;

	if (is_key(word, '\0'))
		return assign_refuse(session, origin, "%s takes a value, such as hard=10G", word);
	if (is_removal(word))
		return refuse_removal(session, origin, word);
	if (fsq_parse_bytes(word, &bytes) == 0)
		return assign_refuse(session, origin,
				     "\"%.100s\" has no key; did you mean hard=%s?", word, word);
	return assign_refuse(
		session, origin,
		"\"%.60s\" is neither KEY=VALUE, such as hard=10G, nor around, keep, "
		"mkdir, registered or unlimited; a path with blanks takes double quotes",
		word);
}

bool assign_request_set(struct session *session, const struct word_origin *origin,
			struct fsq_assign_request *request, const char *key, const char *value)
{
	bool bare = strcmp(key, "unlimited") == 0 || strcmp(key, "mkdir") == 0 ||
		    strcmp(key, "around") == 0;
	const char *comma = value && origin->file ? strchr(value, ',') : NULL;

	if (comma && is_key(comma + 1, '='))
		return assign_refuse(session, origin,
				     "blanks separate words, not commas: %s=%.*s %.40s", key,
				     (int)(comma - value), value, comma + 1);
	if (bare && value)
		return assign_refuse(session, origin, "%s takes no value", key);
	if (!bare && !value)
		return refuse_bare(session, origin, key);
	if (strcmp(key, "unlimited") == 0)
		return request->unlimited = true;
	if (strcmp(key, "mkdir") == 0)
		return request->make = true;
	if (strcmp(key, "around") == 0)
		return request->around = true;
	if (strcmp(key, "hard") == 0 || strcmp(key, "soft") == 0 ||
	    strcmp(key, "hard-inodes") == 0 || strcmp(key, "soft-inodes") == 0)
		return set_limit(session, origin, request, key, value);
	if (strcmp(key, "name") == 0) {
		request->name = value;
		return fsq_project_name_is_valid(value) ||
		       assign_refuse(session, origin,
				     "\"%.100s\" cannot be the name of a project: names are no "
				     "numbers, do not begin with #, and have no blanks, quotes, "
				     "colons, $ or backslashes",
				     value);
	}
	if (strcmp(key, "id") == 0)
		return (fsq_parse_id(value, &request->id) == 0 && request->id != 0) ||
		       assign_refuse(session, origin,
				     "\"%.100s\" is no project ID from 1 to %u; a name takes %s",
				     value, FSQ_ID_MAX, origin->file ? "name=" : "--name");
	if (strcmp(key, "mode") == 0) {
		request->mode = (mode_t)strtoul(value, NULL, 8);
		return (strspn(value, "01234567") == strlen(value) && strlen(value) <= 4 &&
			request->mode) ||
		       assign_refuse(session, origin, "\"%.100s\" is no mode, such as 0750", value);
	}
	if (strcmp(key, "owner") == 0)
		return set_owner(session, origin, request, value);
	return refuse_key(session, origin, key);
}

bool assign_request_check(struct session *session, const struct word_origin *origin,
			  const struct fsq_assign_request *request)
{
	const struct fsq_limits both = fsq_limits_asked_both(&request->limits);
	char text[FSQ_ORDER_TEXT];

	if (request->unlimited &&
	    (request->limits.mask || request->hard_percent || request->soft_percent))
		return assign_refuse(session, origin, "unlimited does not go with other limits");
	if (fsq_limits_order_text(text, &both))
		return assign_refuse(session, origin, "%s", text);
	if (!request->make && (request->mode || request->owner || request->group))
		return assign_refuse(session, origin,
				     origin->file ? "mode and owner need mkdir"
						  : "--mode and --owner need --mkdir; limits "
						    "of a user: fsquota limit -u");
	return true;
}

void assign_warn_of_store(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment)
{
	enum fsq_store_relation relation = fsq_assignment_store(assignment);
	const char *what = relation == FSQ_STORE_HOLDS ? "is or holds a container store"
						       : "lies in a container store";
	uint32_t id = fsq_assignment_id(assignment);

	if (relation == FSQ_STORE_NONE)
		return;
	if (fsq_assignment_change(assignment) != FSQ_CREATED)
		session_warn(session, request->directory,
			     "the engine of this container store takes the IDs after %u, and "
			     "changes the limits of other projects: see fsquota doctor",
			     id);
	else if (request->id || request->range.first)
		session_warn(session, request->directory,
			     "%s, whose engine takes the IDs after %u: without --id and an ID "
			     "range, it gets an ID with room after it",
			     what, id);
	else
		session_warn(session, request->directory,
			     "%s, whose engine takes IDs one after the other: %u has room after it",
			     what, id);
}

void assign_write_journal(struct session *session, const struct fsq_assign_request *request,
			  const struct fsq_assignment *assignment, const struct fsq_error *err)
{
	struct journal_entry entry = { .directory = request->directory,
				       .name = request->name,
				       .type = FSQ_PROJECT,
				       .id = request->id };
	struct fsq_limits before, after;

	if (assignment && fsq_assignment_change(assignment) == FSQ_UNCHANGED)
		return;
	if (assignment) {
		fsq_assignment_limits(assignment, &before, &after);
		entry.id = fsq_assignment_id(assignment);
		entry.before = &before;
		entry.after = &after;
	} else {
		entry.err = err;
	}
	journal_write(session, &entry);
}
