/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/accounts.h"
#include "native/cli/options.h"
#include "native/rows/projects.h"
#include "quota/base/path.h"
#include "quota/base/pod_path.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"
#include "shared/array.h"
#include "watch.h"

#define MEMBER(name) .offset = offsetof(struct watch_row, name)

static const struct field fields[] = {
	{ "TIME", "time", FIELD_TIME, MEMBER(milliseconds), "when it happened" },
	{ "EVENT", "event", FIELD_TEXT, MEMBER(words.event), "the word for what happened" },
	{ "LIMIT", "limit", FIELD_TEXT, MEMBER(limit), "of which limit: space or inodes" },
	{ "TYPE", "type", FIELD_WORD, MEMBER(record.type), "user, group or project",
	  .words = account_types },
	{ "ID", "id", FIELD_ID, MEMBER(record.id), "ID of the user, group or project" },
	{ "NAME", "name", FIELD_TEXT, MEMBER(record.name), "its name" },
	{ "POD", "pod", FIELD_TEXT, MEMBER(pod), "namespace, pod and volume of kubelet" },
	{ NULL, "directories", FIELD_TEXTS, MEMBER(directories) },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(record.filesystem),
	  "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(record.mountpoint),
	  "where it is mounted" },
	{ "SOURCE", "source", FIELD_TEXT, MEMBER(source), "who says it: kernel or poll" },
	{ "UID", "uid", FIELD_COUNT, MEMBER(writer), "the user who caused it", .is_id = true },
	{ "COUNT", "count", FIELD_COUNT, MEMBER(count), "how often since the last one" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(record.used_bytes), "space in use" },
	FIELDS_OF_SPACE(struct watch_row, record.),
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(record.bytes_grace_seconds),
	  "time left above the soft limit of space" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(record.used_inodes), "inodes in use" },
	FIELDS_OF_INODES(struct watch_row, record.),
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(record.inodes_grace_seconds),
	  "time left above the soft limit of inodes" },
	{ "USE%", "percent", FIELD_PERCENT, MEMBER(record.percent),
	  "how much of the limit is in use" },
	{ "FULLIN", "full_in_seconds", FIELD_SECONDS, MEMBER(full_seconds),
	  "when the hard limit of space is reached, if it goes on so" },
	{ "INFORCE", "in_force", FIELD_TEXT, MEMBER(in_force),
	  "do its limits hold in its directories? yes, or why not" },
	{ 0 },
};

static void write_amount(struct writer *w, const char *name, uint64_t amount, bool inodes)
{
	char cell[FIELD_CELL];

	if (inodes)
		write_format(w, ", %s %" PRIu64, name, amount);
	else
		write_format(w, ", %s %s", name, field_size(cell, amount));
}

static void write_line(struct writer *w, const void *arg)
{
	const struct watch_row *row = arg;
	const struct record_row *record = &row->record;
	bool inodes = strcmp(row->limit, "inodes") == 0;
	uint64_t used = inodes ? record->used_inodes : record->used_bytes;
	uint64_t soft = inodes ? record->soft_inodes : record->soft_bytes;
	uint64_t hard = inodes ? record->hard_inodes : record->hard_bytes;
	char time[FIELD_CELL];

	write_format(w, "%s ", field_time(time, row->milliseconds));
	write_escaped(w, record->mountpoint);
	write_char(w, ' ');
	records_write_account(
		w, record->type, record->id,
		row->pod && (!record->name || fsq_is_usual_name(record->name, record->id))
			? row->pod
			: record->name);
	write_format(w, ": %s", row->words.before_limit);
	if (row->over > 0)
		write_format(w, "%g%% of ", row->over);
	write_format(w, "%s%s", row->limit, row->words.after_limit);
	if (used != FIELD_NOT_KNOWN)
		write_amount(w, "used", used, inodes);
	if (used != FIELD_NOT_KNOWN && soft)
		write_amount(w, "soft", soft, inodes);
	if (used != FIELD_NOT_KNOWN && hard)
		write_amount(w, "hard", hard, inodes);
	if (row->full_seconds != FIELD_NO_SECONDS)
		write_format(w, ", full in %s", field_duration(time, (uint64_t)row->full_seconds));
	if (row->writer != FIELD_NOT_KNOWN)
		write_format(w, ", by user %" PRIu64, row->writer);
	if (row->count > 1)
		write_format(w, ", %" PRIu64 " times", row->count);
	for (size_t i = 0; i < row->directories.count; i++) {
		write_text(w, i ? " " : ", in ");
		write_escaped(w, row->directories.texts[i]);
	}
	write_char(w, '\n');
}

const struct row_fields watch_rows = { fields, sizeof(struct watch_row),
				       "TIME,EVENT,LIMIT,TYPE,ID,NAME,USED,HARD,USE%,MOUNTPOINT",
				       write_line };

static const struct watch_words words[] = {
	[WATCH_SOFT_REACHED] = { "soft-reached", "soft limit of ", " reached" },
	[WATCH_GRACE_OVER] = { "grace-over", "grace time of ", " is over" },
	[WATCH_HARD_REACHED] = { "hard-reached", "hard limit of ", " reached" },
	[WATCH_BELOW_SOFT] = { "below-soft", "below the soft limit of ", "" },
	[WATCH_BELOW_HARD] = { "below-hard", "below the hard limit of ", "" },
	[WATCH_PERCENT_REACHED] = { "percent-reached", "", " reached" },
	[WATCH_BELOW_PERCENT] = { "below-percent", "below ", "" },
	[WATCH_FULL_SOON] = { "full-soon", "hard limit of ", " reached soon" },
	[WATCH_NOT_FULL_SOON] = { "not-full-soon", "hard limit of ", " not reached soon" },
};

/* --- filesystems and directories --- */

int watch_volume_open(const struct watch_volume *volume, struct fsq_filesystem **fs,
		      struct fsq_error *err)
{
	int rc;

	if (volume->has_device)
		return fsq_filesystem_of_device(fs, volume->device, err);
	rc = fsq_filesystem_open(fs, volume->directory, NULL, 0, err);
	if (rc || fsq_filesystem_get_info(*fs)->dev == volume->dev)
		return rc;
	/* It was unmounted: the directory is now on another filesystem, with other records. */
	fsq_filesystem_close(*fs);
	*err = (struct fsq_error){ .kind = FSQ_E_NOT_FOUND, .errnum = ENODEV };
	return FSQ_E_NOT_FOUND;
}

/* @return  how a directory is spelled without symbolic links; NULL: by its name, it is on another filesystem */
static const char *spell_on_volume(struct watch *watch, const struct watch_volume *volume,
				   const char *directory)
{
	const char *spelled = NULL;
	dev_t dev = 0;

	if (watch->points || fsq_mount_points_read(&watch->points, NULL) == 0) {
		spelled = fsq_lookup_known(watch->points, directory, &dev);
		fsq_lookup_pause(watch->points);
	} else {
		watch->points = NULL;
	}
	if (dev ? dev != volume->dev
		: !fsq_path_below(volume->directory, directory, strlen(directory)))
		return NULL;
	return spelled ? spelled : directory;
}

/* @return  whether an operand selects a project; mounted again, a filesystem may have another device number */
static bool is_wanted(const struct watch *watch, const struct watch_volume *volume, uint32_t id,
		      const char *directory)
{
	for (size_t i = 0; i < watch->scopes.count; i++) {
		const struct scope *scope = &watch->scopes.list[i];

		if ((scope->dev == volume->dev || strcmp(watch->only[i], volume->directory) == 0) &&
		    scope_has(scope, id, directory))
			return true;
	}
	return watch->scopes.count == 0;
}

/* Most lines match no pending event; skip them. */
static enum fsq_visit visit_line(uint32_t project, const char *directory, void *arg)
{
	struct watch *watch = arg;

	for (size_t i = 0; i < watch->volume_count; i++) {
		struct watch_volume *volume = watch->volumes[i];
		struct watch_id *id = watch_ids_find(&watch->ids, volume, FSQ_PROJECT, project);

		const char *spelled =
			id && id->is_reported ? spell_on_volume(watch, volume, directory) : NULL;

		if (spelled) {
			char *copy = strdup(directory);

			id->is_wanted |= is_wanted(watch, volume, project, spelled);
			if (!copy || !array_add(&id->directories, &id->directory_count,
						&id->directory_capacity, &copy, sizeof(copy)))
				free(copy);
		}
	}
	return FSQ_VISIT_CONTINUE;
}

/* --- events --- */

/* @return  whether limits hold in the directories of a project that is reported */
static const char *look_at_directories(struct watch *watch, const struct watch_id *id)
{
	const struct field_texts directories = { (const char *const *)id->directories,
						 id->directory_count };
	struct in_force force;

	if (!watch->points)
		return NULL;
	force = listing_look(watch->session, watch->points, &directories, id->id, true);
	fsq_lookup_pause(watch->points);
	return listing_in_force_word(force.is);
}

/* @dquot    NULL: it could not be read */
static void report_event(struct watch *watch, const struct watch_id *id, enum fsq_form form,
			 enum watch_event event, const struct fsq_dquot *dquot,
			 const char *in_force)
{
	static const char *const none[1];
	const struct fsq_dquot nothing = { .id = id->id };
	struct session *session = watch->session;
	const struct watch_tally *tally = &id->tally[form][event];
	struct watch_row row = {
		.milliseconds = tally->first,
		.words = words[event],
		.limit = form == FSQ_INODES ? "inodes" : "space",
		.over = event == WATCH_PERCENT_REACHED || event == WATCH_BELOW_PERCENT
				? watch->ids.over
				: 0,
		.record = records_row(session, NULL, id->type, dquot ? dquot : &nothing, false),
		/* Print an empty list, too. */
		.directories = { id->directories ? (const char *const *)id->directories : none,
				 id->directory_count },
		.pod = pods_text(&watch->pods, &watch->texts,
				 id->directory_count ? id->directories[0] : NULL),
		.source = tally->from_kernel ? "kernel" : "poll",
		.writer = tally->has_writer ? tally->writer : FIELD_NOT_KNOWN,
		.count = tally->count,
		.full_seconds = id->full_seconds,
		.in_force = in_force,
	};

	row.record.filesystem = id->volume->device;
	row.record.mountpoint = id->volume->directory;
	if (dquot)
		row.record.percent = records_percent(dquot, form);
	else
		row.record.used_bytes = row.record.used_inodes = FIELD_NOT_KNOWN;
	tables_row(session, &row);
	if (watch->run.words)
		watch_run(&watch->run, &row, id->volume->dev);
	if (watch->left && --watch->left == 0)
		watch->ends = watch->complete = true;
}

/* Report the events of an ID, by time of the last occurrence. */
static void report_id(struct watch *watch, struct watch_id *id)
{
	struct fsq_dquot dquot = { .id = id->id };
	struct fsq_filesystem *fs;
	struct fsq_error err;
	uint64_t reported = 0;
	const char *in_force = id->is_wanted ? look_at_directories(watch, id) : NULL;
	/* False: the filesystem is gone. */
	bool known = watch_volume_open(id->volume, &fs, &err) == 0;

	if (known) {
		int rc = fsq_quota_get(fs, id->type, id->id, &dquot);

		fsq_filesystem_close(fs);
		/* ENOENT: there is no use and no limit, so @dquot is all zero. */
		known = rc == 0 || rc == -ENOENT;
	}
	if (known)
		watch_ids_settle(&watch->ids, id, &dquot);
	/* Report all events, even if a signal has set @ends; --count stops in between. */
	for (const struct watch_tally *next; id->is_wanted && !watch->complete;
	     reported = next->last) {
		const struct watch_tally *first = id->tally[0], *tally = first;

		for (next = NULL; tally < first + WATCH_FORMS * WATCH_EVENTS; tally++)
			if (tally->last > reported && (!next || tally->last < next->last))
				next = tally;
		if (!next)
			break;
		report_event(watch, id, (enum fsq_form)((next - first) / WATCH_EVENTS),
			     (enum watch_event)((next - first) % WATCH_EVENTS),
			     known ? &dquot : NULL, in_force);
	}
	watch_ids_reported(&watch->ids, id, known ? &dquot : NULL);
}

void watch_report(struct watch *watch, const struct watch_volume *volume, int64_t now)
{
	struct session *session = watch->session;
	struct watch_id *first = watch_ids_take_due(&watch->ids, volume, now), *id;
	struct fsq_error err;
	bool wanted = false;

	if (!first)
		return;
	fsq_cache_check(session->cache);
	if (session_read_names(session, &err))
		session_note_projects(session, &err);
	for (id = first; id; id = id->next_due) {
		id->is_reported = true;
		id->is_wanted =
			id->type != FSQ_PROJECT || is_wanted(watch, id->volume, id->id, NULL);
		wanted |= id->type == FSQ_PROJECT;
	}
	/* Read the projects file once for all events. */
	if (wanted && fsq_projects_each(session->projects_file, visit_line, watch, &err))
		session_note_projects(session, &err);
	while ((id = first)) {
		first = id->next_due;
		report_id(watch, id);
	}
	/* Pods come and go. */
	pods_free(&watch->pods);
	watch->pods = (struct pods){ 0 };
	texts_free(&watch->texts);
	watch->texts = (struct texts){ 0 };
	session_flush(session);
	watch->ends |= session->out->errnum != 0;
}

/* Who is above a level at the start, and so gets no event. */
static void tell_of_full(const struct watch *watch)
{
	size_t count = 0;

	/* Of a directory it is not known yet which of them are in it. */
	for (size_t i = 0; i < watch->scopes.count; i++)
		if (!watch->scopes.list[i].whole)
			return;
	for (const struct watch_id *id = watch->ids.all; id && !watch->initial; id = id->next) {
		bool any = false;

		for (int form = 0; form < WATCH_FORMS; form++)
			any |= id->form[form].reported != 0;
		count += any;
	}
	if (count)
		session_warn(watch->session, NULL,
			     "at a limit or over a level already: %zu; --initial begins with those",
			     count);
}

void watch_report_start(const struct watch *watch)
{
	static struct writer w;

	tell_of_full(watch);
	if (!session_has_person(watch->session))
		return;
	writer_start(&w, STDERR_FILENO);
	write_text(&w, "fsquota watch: watches ");
	for (size_t i = 0; i < watch->scopes.count; i++) {
		const char *given = watch->scopes.list[i].given;

		write_text(&w, i ? ", " : "");
		write_escaped(&w, given ? given : watch->only[i]);
	}
	for (size_t i = 0; i < watch->volume_count && watch->scopes.count == 0; i++) {
		write_text(&w, i ? ", " : "");
		write_escaped(&w, watch->volumes[i]->directory);
	}
	write_text(&w, " until it is interrupted\n");
	writer_flush(&w);
}
