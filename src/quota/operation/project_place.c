/* SPDX-License-Identifier: Apache-2.0 */
#include "project_place.h"

#include <string.h>

#include "quota/base/error.h"

int fsq_project_place_open(struct fsq_project_place *place, const char *projects_file,
			   struct fsq_error *err)
{
	int rc = fsq_volumes_open(&place->volumes, err);

	return rc ? rc : fsq_entries_of_projects(&place->lines, projects_file, err);
}

void fsq_project_place_close(struct fsq_project_place *place)
{
	fsq_entries_free(&place->lines);
	fsq_volumes_close(&place->volumes);
}

static enum fsq_presence find(struct fsq_project_place *place, const struct fsq_entry *line,
			      const struct fsq_volume **volume)
{
	if (line->id != place->id || (place->only && strcmp(line->word, place->only) != 0))
		return FSQ_ELSEWHERE;
	return fsq_volumes_find(&place->volumes, line->word, volume);
}

enum fsq_presence fsq_project_place_of(struct fsq_project_place *place,
				       const struct fsq_entry *line,
				       const struct fsq_filesystem *fs)
{
	const struct fsq_volume *volume;
	enum fsq_presence presence = find(place, line, &volume);

	if (presence == FSQ_ELSEWHERE ||
	    fsq_filesystem_get_info(volume->fs)->dev != fsq_filesystem_get_info(fs)->dev)
		return FSQ_ELSEWHERE;
	return presence;
}

static int fail_without(struct fsq_project_place *place, struct fsq_error *err)
{
	if (place->only)
		return fsq_fail(err, FSQ_E_NOT_FOUND, 0, place->only,
				"is gone, and its filesystem may not be mounted");
	return fsq_add_hint(err, FSQ_HINT_NAME_FILESYSTEM,
			    fsq_fail(err, FSQ_E_NOT_FOUND, 0, NULL,
				     "project %u has no registered directory", place->id));
}

int fsq_project_place_find(struct fsq_project_place *place, struct fsq_filesystem **fs,
			   struct fsq_error *err)
{
	*fs = NULL;
	for (size_t i = 0; i < place->lines.count; i++) {
		const struct fsq_entry *line = &place->lines.list[i];
		const struct fsq_volume *volume;
		enum fsq_presence presence = find(place, line, &volume);

		if (presence == FSQ_ELSEWHERE || presence == FSQ_UNMOUNTED)
			continue;
		if (*fs && fsq_project_place_of(place, line, *fs) == FSQ_ELSEWHERE)
			return fsq_fail(err, FSQ_E_CONFLICT, 0, line->word,
					"is on another filesystem than other directories of "
					"project %u: name one of them",
					line->id);
		if (!*fs)
			*fs = volume->fs;
	}
	return *fs ? 0 : fail_without(place, err);
}
