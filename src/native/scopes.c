/* SPDX-License-Identifier: Apache-2.0 */
#include "scopes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "paths.h"
#include "quota/fsquota.h"
#include "shared/array.h"
#include "shared/statx.h"

bool scopes_add(struct scopes *scopes, const struct scope *scope)
{
	struct scope *list =
		array_grow(scopes->list, scopes->count, &scopes->capacity, sizeof(*list));

	if (!list)
		return false;
	scopes->list = list;
	list[scopes->count++] = *scope;
	return true;
}

static char *without_slashes_at_end(const char *path)
{
	char *copy = strdup(path);

	for (size_t i = copy ? strlen(copy) : 0; i > 1 && copy[i - 1] == '/'; i--)
		copy[i - 1] = '\0';
	return copy;
}

/* @return   0 or -1 with errno; whether all of the filesystem is meant by its mount point or device */
static int look_at(const char *path, bool *whole, bool *is_directory)
{
	struct statx stx;

	*whole = fsq_is_tag(path);
	if (*whole)
		return 0;
	if (get_statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_TYPE, &stx))
		return -1;
	*is_directory = S_ISDIR(stx.stx_mode);
	*whole = S_ISBLK(stx.stx_mode) ||
		 (*is_directory && (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT));
	return 0;
}

/* The project of a directory, 0: none. @return  false: an error was reported */
static bool find_own(struct session *session, const char *path, uint32_t *id)
{
	const struct fsq_usage_request request = {
		.size = sizeof(request),
		.path = path,
		.projects_file = session->projects_file,
	};
	struct fsq_usage usage;
	struct fsq_error err;
	int rc = fsq_usage_get(&usage, &request, &err);

	*id = rc ? 0 : usage.id;
	if (rc == 0)
		fsq_usage_clear(&usage);
	/* Others are below it, or nothing is, which the caller sees. */
	if (rc == 0 || (rc == FSQ_E_NOT_FOUND && err.errnum == 0))
		return true;
	session_fail(session, &err);
	return false;
}

/* @return   false: an error was reported, and *@scope points to nothing */
static bool fill_scope(struct session *session, const char *path, bool own, struct scope *scope)
{
	bool is_directory;

	if (look_at(path, &scope->whole, &is_directory)) {
		session_errno(session, 0, errno, path, "%s: cannot read", path);
		return false;
	}
	if (scope->whole)
		return true;
	if (!is_directory) {
		session_error(session, 0, FSQ_E_USAGE, 0, path,
			      "%s: is neither a directory nor a device", path);
		return false;
	}
	if (own && !find_own(session, path, &scope->id))
		return false;
	scope->directory = realpath(path, NULL);
	scope->given = without_slashes_at_end(path);
	if (scope->directory && scope->given)
		return true;
	session_errno(session, 0, errno, path, "%s: cannot find it again", path);
	free(scope->directory);
	free(scope->given);
	return false;
}

void scopes_add_path(struct scopes *scopes, struct session *session, const char *path, bool own)
{
	struct scope scope = { 0 };
	int at = paths_find(session, path);

	if (at >= 0)
		scope.dev = session->paths[at].info->dev;
	else if (!paths_add(session, path, &scope.dev))
		return;
	if (!fill_scope(session, path, own, &scope) || scopes_add(scopes, &scope))
		return;
	session_errno(session, 0, ENOMEM, path, "cannot list %s", path);
	free(scope.directory);
	free(scope.given);
}

bool scope_is_below(const char *directory, const char *above)
{
	size_t length = strlen(above);

	return strncmp(directory, above, length) == 0 &&
	       (directory[length] == '\0' || directory[length] == '/');
}

bool scope_has(const struct scope *scope, uint32_t id, const char *directory)
{
	if (scope->whole || (scope->id && scope->id == id))
		return true;
	return directory && scope->directory &&
	       (scope_is_below(directory, scope->directory) ||
		scope_is_below(directory, scope->given));
}

bool scopes_want(const struct scopes *scopes, dev_t dev, uint32_t id, const char *directory)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->list[i].dev == dev && scope_has(&scopes->list[i], id, directory))
			return true;
	return scopes->count == 0;
}

bool scopes_want_some(const struct scopes *scopes, dev_t dev)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->list[i].dev == dev)
			return true;
	return scopes->count == 0;
}

uint32_t scopes_next_id(const struct scopes *scopes, dev_t dev, uint32_t above)
{
	uint32_t id = 0;

	for (size_t i = 0; i < scopes->count; i++) {
		const struct scope *scope = &scopes->list[i];

		if (scope->dev == dev && scope->id > above && (!id || scope->id < id))
			id = scope->id;
	}
	return id;
}

void scopes_free(struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->count; i++) {
		free(scopes->list[i].directory);
		free(scopes->list[i].given);
	}
	free(scopes->list);
}
