/* SPDX-License-Identifier: Apache-2.0 */
#include "assign_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "90%": a part of something else. @return  whether it is one; else @text may be a size */
static bool take_percent(struct fsq_assign_request *request, bool hard, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long percent = digits < 4 ? strtoul(text, NULL, 10) : 0;

	if (strcmp(text + digits, "%") != 0 || percent < 1 || percent > 100)
		return false;
	*(hard ? &request->hard_percent : &request->soft_percent) = (unsigned int)percent;
	return true;
}

static bool set_limit(struct fsq_assign_request *request, const char *key, const char *text,
		      char why[ASSIGN_WHY])
{
	struct fsq_limits *limits = &request->limits;
	bool hard = key[0] == 'h';
	enum fsq_form form = strchr(key, '-') ? FSQ_INODES : FSQ_BLOCKS;
	uint64_t value;
	int rc;

	if (form == FSQ_BLOCKS && take_percent(request, hard, text))
		return true;
	rc = form == FSQ_INODES ? fsq_parse_positive(text, &value) : fsq_parse_bytes(text, &value);
	if (rc == -ERANGE)
		snprintf(why, ASSIGN_WHY, "\"%.100s\" is too large for a limit", text);
	else if (rc)
		snprintf(why, ASSIGN_WHY, "\"%.100s\" is no %s", text,
			 form == FSQ_INODES ? "number of inodes, such as 10000"
					    : "size, such as 500M or 10G");
	if (rc)
		return false;
	if (form != FSQ_INODES)
		value = fsq_limit_blocks_up(value);
	(hard ? limits->hard : limits->soft)[form] = value;
	limits->mask |= hard ? FSQ_HARD(form) : FSQ_SOFT(form);
	return true;
}

static bool set_name(struct fsq_assign_request *request, const char *name, char why[ASSIGN_WHY])
{
	request->name = name;
	if (fsq_project_name_is_valid(name))
		return true;
	snprintf(why, ASSIGN_WHY, "\"%.100s\" cannot be the name of a project", name);
	return false;
}

static bool set_id(struct fsq_assign_request *request, const char *text, char why[ASSIGN_WHY])
{
	if (fsq_parse_id(text, &request->id) == 0 && request->id != 0)
		return true;
	snprintf(why, ASSIGN_WHY, "\"%.100s\" is no project ID from 1 to %u", text, FSQ_ID_MAX);
	return false;
}

static bool set_mode(struct fsq_assign_request *request, const char *text, char why[ASSIGN_WHY])
{
	char *end;

	request->mode = (mode_t)strtoul(text, &end, 8);
	if (strspn(text, "01234567") == strlen(text) && strlen(text) <= 4 && request->mode)
		return true;
	snprintf(why, ASSIGN_WHY, "\"%.100s\" is no mode, such as 0750", text);
	return false;
}

/* USER, USER:GROUP or :GROUP, by name or number. */
static bool set_owner(struct session *session, struct fsq_assign_request *request, const char *text,
		      char why[ASSIGN_WHY])
{
	const char *colon = strchr(text, ':');
	char *user = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	bool good = user && *text &&
		    (!*user || names_to_id(session, FSQ_USER, user, &request->owner)) &&
		    (!colon || names_to_id(session, FSQ_GROUP, colon + 1, &request->group));

	free(user);
	if (!good)
		snprintf(why, ASSIGN_WHY, "there is no user or group \"%.100s\"", text);
	return good;
}

bool assign_request_set(struct session *session, struct fsq_assign_request *request,
			const char *key, const char *value, char why[ASSIGN_WHY])
{
	bool bare = strcmp(key, "unlimited") == 0 || strcmp(key, "mkdir") == 0;

	if (bare != !value) {
		snprintf(why, ASSIGN_WHY, "%s takes %s value", key, bare ? "no" : "a");
		return false;
	}
	if (strcmp(key, "unlimited") == 0)
		return request->unlimited = true;
	if (strcmp(key, "mkdir") == 0)
		return request->make = true;
	if (strcmp(key, "hard") == 0 || strcmp(key, "soft") == 0 ||
	    strcmp(key, "hard-inodes") == 0 || strcmp(key, "soft-inodes") == 0)
		return set_limit(request, key, value, why);
	if (strcmp(key, "name") == 0)
		return set_name(request, value, why);
	if (strcmp(key, "id") == 0)
		return set_id(request, value, why);
	if (strcmp(key, "mode") == 0)
		return set_mode(request, value, why);
	if (strcmp(key, "owner") == 0)
		return set_owner(session, request, value, why);
	snprintf(why, ASSIGN_WHY, "there is no key \"%.100s\"", key);
	return false;
}

struct fsq_assign_request assign_request_new(const struct session *session)
{
	return (struct fsq_assign_request){
		.size = sizeof(struct fsq_assign_request),
		.range = session->range,
	};
}

bool assign_request_check(const struct fsq_assign_request *request, char why[ASSIGN_WHY])
{
	if (request->unlimited &&
	    (request->limits.mask || request->hard_percent || request->soft_percent)) {
		snprintf(why, ASSIGN_WHY, "unlimited does not go with other limits");
		return false;
	}
	if (!request->make && (request->mode || request->owner || request->group)) {
		snprintf(why, ASSIGN_WHY, "mode and owner go with mkdir");
		return false;
	}
	return true;
}

void assign_request_warn_of_enforcement(struct session *session,
					const struct fsq_assign_request *request,
					const struct fsq_assignment *assignment)
{
	if (fsq_assignment_enforcement(assignment) == FSQ_NOT_ENFORCED)
		session_warn(session, request->directory,
			     "limits are not enforced on this filesystem: they stop nobody");
}

void assign_request_warn_of_store(struct session *session, const struct fsq_assign_request *request,
				  const struct fsq_assignment *assignment)
{
	enum fsq_store_relation relation = fsq_assignment_store(assignment);
	const char *what = relation == FSQ_STORE_HOLDS ? "is or holds a container store"
						       : "lies in a container store";
	uint32_t id = fsq_assignment_id(assignment);

	if (relation == FSQ_STORE_NONE)
		return;
	if (request->id || request->range.first)
		session_warn(session, request->directory,
			     "%s, whose engine takes the IDs after %u: without --id and an ID "
			     "range, it gets an ID with room after it",
			     what, id);
	else
		session_warn(session, request->directory,
			     "%s, whose engine takes IDs one after the other: %u has room after it",
			     what, id);
}
