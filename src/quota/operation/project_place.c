/* SPDX-License-Identifier: Apache-2.0 */
#include "project_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "quota/base/error.h"
#include "quota/registry/project_edit.h"

int fsq_project_place_open(struct fsq_project_place *place, const char *projects_file,
			   struct fsq_error *err)
{
	int rc = fsq_volumes_open(&place->volumes, err);

	if (rc == 0)
		rc = fsq_entries_of_projects(&place->lines, projects_file, err);
	if (rc == 0)
		rc = fsq_entries_index(&place->lines, err);
	if (rc)
		return rc;
	place->certain = calloc(place->lines.count + 1, sizeof(*place->certain));
	return place->certain ? 0
			      : fsq_fail(err, FSQ_E_FAILED, ENOMEM, projects_file, "cannot read");
}

void fsq_project_place_close(struct fsq_project_place *place)
{
	free(place->certain);
	fsq_entries_free(&place->lines);
	fsq_volumes_close(&place->volumes);
}

static bool is_wanted(const struct fsq_project_place *place, const struct fsq_entry *line)
{
	return line->id == place->id && (!place->only || strcmp(line->word, place->only) == 0);
}

enum fsq_presence fsq_project_place_of(struct fsq_project_place *place,
				       const struct fsq_entry *line,
				       const struct fsq_filesystem *fs)
{
	const struct fsq_volume *volume;
	enum fsq_presence presence;

	if (!is_wanted(place, line) || !place->certain[line - place->lines.list])
		return FSQ_ELSEWHERE;
	presence = fsq_volumes_find(&place->volumes, line->word, &volume);
	if (presence != FSQ_ELSEWHERE && presence != FSQ_UNSEEN &&
	    fsq_filesystem_get_info(volume->fs)->dev != fsq_filesystem_get_info(fs)->dev)
		return FSQ_ELSEWHERE;
	return presence;
}

int fsq_project_place_fail_unseen(const struct fsq_project_place *place,
				  const struct fsq_entry *line, struct fsq_error *err)
{
	return fsq_fail(err, FSQ_E_FAILED, place->volumes.errnum, line->word,
			"cannot find out whether it exists");
}

/* @fs       set, unless the line is in doubt
 * @return   0 or a failure */
static int find_line(struct fsq_project_place *place, const struct fsq_entry *line, bool named,
		     struct fsq_filesystem **fs, struct fsq_error *err)
{
	const struct fsq_volume *volume;
	enum fsq_presence presence = fsq_volumes_find(&place->volumes, line->word, &volume);
	struct fsq_dquot dquot = { 0 };
	enum fsq_leftover_kept doubt;
	int rc = 0;

	*fs = NULL;
	if (presence == FSQ_ELSEWHERE)
		return 0;
	if (presence == FSQ_UNSEEN)
		return fsq_project_place_fail_unseen(place, line, err);
	if (volume->has_quota)
		rc = fsq_volume_read_quota(volume, line->id, &dquot, err);
	if (rc == 0)
		rc = fsq_volumes_doubt(&place->volumes, &place->lines, volume, presence, line,
				       fsq_dquot_has_anything(&dquot), &doubt, err);
	if (rc)
		return rc;
	/* A named directory or file system is trusted, unless the kernel contradicts. */
	if (doubt == FSQ_NOT_KEPT || (doubt == FSQ_KEPT_UNPROVEN && (named || place->only)) ||
	    (doubt == FSQ_KEPT_ELSEWHERE && named))
		*fs = volume->fs;
	place->certain[line - place->lines.list] = *fs != NULL;
	return 0;
}

int fsq_project_place_name(struct fsq_project_place *place, struct fsq_error *err)
{
	struct fsq_filesystem *fs;
	int rc = 0;

	for (size_t i = 0; i < place->lines.count && rc == 0; i++)
		if (is_wanted(place, &place->lines.list[i]))
			rc = find_line(place, &place->lines.list[i], true, &fs, err);
	return rc;
}

/* @doubtful the first of its directories, or NULL when it has none */
static int fail_without(struct fsq_project_place *place, const char *doubtful,
			struct fsq_error *err)
{
	const struct fsq_volume *volume;

	if (!doubtful)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, NULL, "project %u has no registered directory",
			 place->id);
	else if (fsq_volumes_find(&place->volumes, doubtful, &volume) == FSQ_PRESENT)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is registered with project ID %u, which is not in use there: its "
			 "filesystem is not mounted, or another one took its place",
			 place->id);
	else if (place->only)
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is gone, or its filesystem is not mounted");
	else
		fsq_fail(err, FSQ_E_NOT_FOUND, 0, doubtful,
			 "is a directory of project %u that is gone, or its filesystem is not "
			 "mounted",
			 place->id);
	return fsq_add_hint(err, place->only ? FSQ_HINT_RELEASE_AT : FSQ_HINT_NAME_FILESYSTEM,
			    FSQ_E_NOT_FOUND);
}

int fsq_project_place_find(struct fsq_project_place *place, struct fsq_filesystem **fs,
			   struct fsq_error *err)
{
	const char *doubtful = NULL;

	*fs = NULL;
	for (size_t i = 0; i < place->lines.count; i++) {
		const struct fsq_entry *line = &place->lines.list[i];
		struct fsq_filesystem *found;
		int rc;

		if (!is_wanted(place, line))
			continue;
		if (!doubtful)
			doubtful = line->word;
		rc = find_line(place, line, false, &found, err);
		if (rc)
			return rc;
		if (*fs && found &&
		    fsq_filesystem_get_info(found)->dev != fsq_filesystem_get_info(*fs)->dev)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, line->word,
					"is on another filesystem than other directories of "
					"project %u: name one of them",
					line->id);
		if (!*fs)
			*fs = found;
	}
	return *fs ? 0 : fail_without(place, doubtful, err);
}

int fsq_project_place_check(const struct fsq_registry *registry, const char *directory, uint32_t id,
			    struct fsq_error *err)
{
	struct fsq_project_place place = { .id = id, .only = directory };
	const struct fsq_volume *volume;
	struct fsq_filesystem *fs;
	int rc = fsq_project_place_open(&place, fsq_registry_or_default(registry)->projects_file,
					err);

	if (rc == 0 && fsq_volumes_find(&place.volumes, directory, &volume) != FSQ_ELSEWHERE)
		rc = fsq_project_place_find(&place, &fs, err);
	fsq_project_place_close(&place);
	return rc;
}
