/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "shared/array.h"
#include "tables.h"
#include "watch.h"

static const struct {
	const char *word;
	const char *sentence[WATCH_FORMS];
} words[] = {
	[WATCH_SOFT_REACHED] = { "soft-reached",
				 { "soft limit of space reached",
				   "soft limit of inodes reached" } },
	[WATCH_GRACE_OVER] = { "grace-over",
			       { "grace time of space is over", "grace time of inodes is over" } },
	[WATCH_HARD_REACHED] = { "hard-reached",
				 { "hard limit of space reached",
				   "hard limit of inodes reached" } },
	[WATCH_BELOW_SOFT] = { "below-soft",
			       { "below the soft limit of space",
				 "below the soft limit of inodes" } },
	[WATCH_BELOW_HARD] = { "below-hard",
			       { "below the hard limit of space",
				 "below the hard limit of inodes" } },
	[WATCH_PERCENT_REACHED] = { "percent-reached",
				    { "percentage of space reached",
				      "percentage of inodes reached" } },
	[WATCH_BELOW_PERCENT] = { "below-percent",
				  { "below the percentage of space",
				    "below the percentage of inodes" } },
};

/* --- directories --- */

static void add_directory(struct watch_id *id, const char *directory)
{
	char **directories = array_grow(id->directories, id->directory_count,
					&id->directory_capacity, sizeof(char *));
	char *copy = directories ? strdup(directory) : NULL;

	if (directories)
		id->directories = directories;
	if (copy)
		directories[id->directory_count++] = copy;
}

/* Most lines match no pending event; skip them. */
static enum fsq_visit visit_line(uint32_t project, const char *directory, void *arg)
{
	struct watch *watch = arg;

	for (size_t i = 0; i < watch->places.count; i++) {
		struct watch_place *place = watch->places.all[i];
		struct watch_id *id = watch_ids_find(&watch->ids, place, FSQ_PROJECT, project);

		if (id && id->is_told && watch_places_of(&watch->places, directory) == place)
			add_directory(id, directory);
	}
	return FSQ_VISIT_CONTINUE;
}

/* Read once for all that is told. */
static void find_directories(struct watch *watch, struct watch_id *first)
{
	struct fsq_error err;
	bool wanted = false;

	for (struct watch_id *id = first; id; id = id->next_due) {
		id->is_told = true;
		wanted |= id->type == FSQ_PROJECT;
	}
	if (wanted && fsq_projects_each(watch->session->projects_file, visit_line, watch, &err))
		session_note_projects(watch->session, &err);
}

/* --- events --- */

/* @return   0; or the filesystem cannot be asked: it is gone */
static int read_record(const struct watch_id *id, struct fsq_dquot *dquot)
{
	struct fsq_filesystem *fs;
	struct fsq_error err;
	int rc = watch_place_open(id->place, &fs, &err);

	*dquot = (struct fsq_dquot){ .id = id->id };
	if (rc)
		return rc;
	rc = fsq_quota_get(fs, id->type, id->id, dquot);
	fsq_filesystem_close(fs);
	/* Its use and limits may be gone: there are zeros. */
	return rc == -ENOENT ? 0 : rc;
}

static uint64_t bytes_of(uint64_t blocks)
{
	uint64_t limit = watch_limit(FSQ_BLOCKS, blocks);

	return limit ? fsq_limit_bytes(limit) : 0;
}

static void set_numbers(struct watch_row *row, const struct fsq_dquot *dquot, enum fsq_form form)
{
	const struct fsq_amounts *space = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];
	int64_t now = 0;

	row->used_bytes = space->used * FSQ_BASIC_BLOCK;
	row->soft_bytes = bytes_of(space->soft);
	row->hard_bytes = bytes_of(space->hard);
	row->bytes_grace_seconds = records_grace_left(space->expires, &now);
	row->used_inodes = inodes->used;
	row->soft_inodes = inodes->soft;
	row->hard_inodes = inodes->hard;
	row->inodes_grace_seconds = records_grace_left(inodes->expires, &now);
	row->percent = watch_percent(dquot, form);
}

/* @dquot    or NULL: it could not be asked for */
static void tell_event(struct watch *watch, const struct watch_id *id, int form,
		       enum watch_event event, const struct fsq_dquot *dquot)
{
	struct session *session = watch->session;
	const struct watch_tally *tally = &id->tally[form][event];
	static const char *const none[1];
	struct watch_row row = {
		.milliseconds = tally->first,
		.event = words[event].word,
		.sentence = words[event].sentence[form],
		.limit = form == FSQ_INODES ? "inodes" : "space",
		.type = id->type,
		.id = id->id,
		.name = names_of_id(session, id->type, id->id),
		/* An empty list is one, too. */
		.directories = { id->directories ? (const char *const *)id->directories : none,
				 id->directory_count },
		.filesystem = id->place->device,
		.mountpoint = id->place->directory,
		.source = tally->from_kernel ? "kernel" : "poll",
		.writer = tally->has_writer ? tally->writer : FIELD_NOT_KNOWN,
		.count = tally->count,
		.used_bytes = FIELD_NOT_KNOWN,
		.used_inodes = FIELD_NOT_KNOWN,
		.bytes_grace_seconds = FIELD_NO_SECONDS,
		.inodes_grace_seconds = FIELD_NO_SECONDS,
		.percent = -1,
	};

	if (dquot)
		set_numbers(&row, dquot, (enum fsq_form)form);
	tables_row(session, &watch->table, &row);
	if (watch->runs)
		watch_run(&watch->run, &row, id->place->dev);
	watch->ends |= watch->counts && --watch->left == 0;
}

/* Print by time of the last occurrence. */
static void tell_id(struct watch *watch, struct watch_id *id)
{
	struct fsq_dquot dquot;
	bool known = read_record(id, &dquot) == 0;
	uint64_t told = 0;

	if (known)
		watch_ids_settle(&watch->ids, id, &dquot);
	while (!watch->ends) {
		const struct watch_tally *next = NULL;
		int number = 0;

		for (int i = 0; i < WATCH_FORMS * WATCH_EVENTS; i++) {
			const struct watch_tally *tally =
				&id->tally[i / WATCH_EVENTS][i % WATCH_EVENTS];

			if (tally->count && tally->last > told &&
			    (!next || tally->last < next->last)) {
				next = tally;
				number = i;
			}
		}
		if (!next)
			break;
		told = next->last;
		tell_event(watch, id, number / WATCH_EVENTS,
			   (enum watch_event)(number % WATCH_EVENTS), known ? &dquot : NULL);
	}
	watch_ids_told(&watch->ids, id, known ? &dquot : NULL);
}

void watch_tell(struct watch *watch, int64_t now)
{
	struct session *session = watch->session;
	struct watch_id *first = NULL, **end = &first, *id;
	struct fsq_error err;

	while ((id = watch_ids_take_due(&watch->ids, now))) {
		id->next_due = NULL;
		*end = id;
		end = &id->next_due;
	}
	if (!first)
		return;
	fsq_cache_check(watch->cache);
	if (session_read_names(session, &err))
		session_note_projects(session, &err);
	find_directories(watch, first);
	while ((id = first)) {
		first = id->next_due;
		tell_id(watch, id);
	}
	session_flush(session);
	watch->ends |= session->out->errnum != 0;
}
