/* SPDX-License-Identifier: Apache-2.0 */
#include "projects.h"
#include "records.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native/cli/suggest.h"
#include "quota/usage/project_tree.h"

#define MEMBER(name) .offset = offsetof(struct record_row, name)

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the user, group or project" },
	{ "NAME", NULL, FIELD_TEXT, MEMBER(shown_name), "its name" },
	{ NULL, "name", FIELD_TEXT, MEMBER(name), "its name" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use" },
	FIELDS_OF_SPACE(struct record_row, ),
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(bytes_grace_seconds),
	  "time left above the soft limit of space" },
	{ "USE%", NULL, FIELD_PERCENT, MEMBER(percent),
	  "use of the limit that is nearer, of space or inodes" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use" },
	FIELDS_OF_INODES(struct record_row, ),
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(inodes_grace_seconds),
	  "time left above the soft limit of inodes" },
	{ "RUSED", "used_realtime_bytes", FIELD_BYTES, MEMBER(used_realtime_bytes),
	  "realtime space in use", .sometimes = true },
	{ "RSOFT", "soft_realtime_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_realtime_bytes),
	  "soft limit of realtime space", .sometimes = true },
	{ "RHARD", "hard_realtime_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_realtime_bytes),
	  "hard limit of realtime space", .sometimes = true },
	{ "RGRACE", "realtime_grace_seconds", FIELD_SECONDS, MEMBER(realtime_grace_seconds),
	  "time left above the soft limit of realtime space", .sometimes = true },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ 0 },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

const struct row_fields record_rows = { fields, sizeof(struct record_row),
					.usual = "ID,NAME,RUSED,RSOFT,RHARD,RGRACE,MOUNTPOINT" };

void records_choose(struct session *session, const bool form[FSQ_FORMS], bool numeric,
		    const char *first)
{
	static const char *const columns[FSQ_FORMS] = {
		[FSQ_BLOCKS] = "USED,SOFT,HARD,GRACE,",
		[FSQ_INODES] = "IUSED,ISOFT,IHARD,IGRACE,",
		[FSQ_REALTIME] = "RUSED,RSOFT,RHARD,RGRACE,",
	};
	static struct field shown[FIELDS];
	static char usual[160];
	static const struct row_fields rows = { shown, sizeof(struct record_row), .usual = usual };
	bool none = !form[FSQ_BLOCKS] && !form[FSQ_INODES] && !form[FSQ_REALTIME];
	char *at = stpcpy(usual, first);

	at = stpcpy(at, numeric ? "ID," : "ID,NAME,");
	for (int i = 0; i < FSQ_FORMS; i++)
		if (form[i] || (none && i == FSQ_BLOCKS))
			at = stpcpy(at, columns[i]);
	strcpy(at, "MOUNTPOINT");
	memcpy(shown, fields, sizeof(fields));
	for (size_t i = 0; i < FIELDS && !form[FSQ_REALTIME]; i++)
		if (shown[i].sometimes)
			shown[i].key = NULL;
	session->table.type = &rows;
}

int64_t records_grace_left(int64_t expires)
{
	int64_t now;

	if (!expires)
		return FIELD_NO_SECONDS;
	now = time(NULL);
	return expires > now ? expires - now : 0;
}

/* @return   the time left, by the same rule as fsq_usage_set_dquot() */
static int64_t grace_of(const struct fsq_dquot *dquot, enum fsq_form form)
{
	const struct fsq_amounts *amounts = &dquot->form[form];

	return dquot->id && !fsq_limit_is_none(amounts->soft) ? records_grace_left(amounts->expires)
							      : FIELD_NO_SECONDS;
}

uint64_t records_first_limit(const struct fsq_dquot *dquot, enum fsq_form form)
{
	const struct fsq_amounts *amounts = &dquot->form[form];

	return first_limit(fsq_limit_or_0(amounts->soft), fsq_limit_or_0(amounts->hard),
			   grace_of(dquot, form));
}

struct record_row records_row(struct session *session, const struct path_entry *path,
			      enum fsq_type type, const struct fsq_dquot *dquot, bool numeric)
{
	const struct fsq_amounts *space = &dquot->form[FSQ_BLOCKS];
	const struct fsq_amounts *inodes = &dquot->form[FSQ_INODES];
	const struct fsq_amounts *realtime = &dquot->form[FSQ_REALTIME];
	const double of_space = records_percent(dquot, FSQ_BLOCKS);
	const double of_inodes = records_percent(dquot, FSQ_INODES);
	/* There, XFS keeps the limits of those that have none of their own: nobody is stopped by them. */
	bool has_defaults = path && path->info->is_xfs && dquot->id == 0;
	const char *name = numeric ? NULL : names_of_id(session, type, dquot->id);
	bool is_none = !numeric && type == FSQ_PROJECT && dquot->id == 0 && !name &&
		       session->style.format == TABLE_TEXT;

	return (struct record_row){
		.type = type,
		.id = dquot->id,
		.name = name,
		.shown_name = is_none ? NO_PROJECT : name,
		.used_bytes = fsq_block_bytes(space->used),
		.soft_bytes = fsq_block_bytes(fsq_limit_or_0(space->soft)),
		.hard_bytes = fsq_block_bytes(fsq_limit_or_0(space->hard)),
		.bytes_grace_seconds = grace_of(dquot, FSQ_BLOCKS),
		.used_inodes = inodes->used,
		.soft_inodes = fsq_limit_or_0(inodes->soft),
		.hard_inodes = fsq_limit_or_0(inodes->hard),
		.inodes_grace_seconds = grace_of(dquot, FSQ_INODES),
		.used_realtime_bytes = fsq_block_bytes(realtime->used),
		.soft_realtime_bytes = fsq_block_bytes(fsq_limit_or_0(realtime->soft)),
		.hard_realtime_bytes = fsq_block_bytes(fsq_limit_or_0(realtime->hard)),
		.realtime_grace_seconds = grace_of(dquot, FSQ_REALTIME),
		.percent = has_defaults		  ? -1
			   : of_space > of_inodes ? of_space
						  : of_inodes,
		.filesystem = path ? path->info->device : NULL,
		.mountpoint = path ? path->directory : NULL,
	};
}

void records_write_account(struct writer *w, enum fsq_type type, uint32_t id, const char *name)
{
	write_format(w, "%s %u", account_types[type], id);
	if (!name)
		return;
	write_text(w, " (");
	write_escaped(w, name);
	write_char(w, ')');
}

bool records_is_empty(const struct fsq_dquot *dquot)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (dquot->form[form].used || dquot->form[form].soft || dquot->form[form].hard)
			return false;
	return true;
}

/* Visit what the kernel tells everybody: the records of the caller and of the caller's groups. */
static void visit_own(struct fsq_filesystem *fs, enum fsq_type type,
		      const struct record_range *range,
		      void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	static gid_t ids[GROUPS_MAX];
	int count = type == FSQ_USER ? 1 : type == FSQ_GROUP ? getgroups(GROUPS_MAX, ids) : 0;
	struct fsq_dquot dquot;

	if (type == FSQ_USER)
		ids[0] = getuid();
	for (int i = 0; i < count; i++)
		if (ids[i] >= range->lower && (!range->upper || ids[i] <= range->upper) &&
		    fsq_quota_get(fs, type, ids[i], &dquot) == 0 && !records_is_empty(&dquot))
			visit(&dquot, arg);
}

bool records_each(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  const struct record_range *range,
		  void (*visit)(const struct fsq_dquot *dquot, void *arg), void *arg)
{
	struct fsq_dquot dquot;
	uint32_t id = range->lower;
	int rc = fsq_quota_get_next(fs, type, id, &dquot);

	while (rc == 0 && dquot.id >= id && (!range->upper || dquot.id <= range->upper)) {
		if (dquot.id == 0 || !records_is_empty(&dquot))
			visit(&dquot, arg);
		if (dquot.id >= FSQ_ID_MAX)
			break;
		id = dquot.id + 1;
		rc = fsq_quota_get_next(fs, type, id, &dquot);
	}
	if (rc == 0 || rc == -ENOENT)
		return true;
	if (rc == -EPERM) {
		visit_own(fs, type, range, visit, arg);
		return session_forbidden(session);
	}
	return session_errno(session, session_flag_of(type), -rc, NULL, "cannot read %s%s quotas",
			     id > range->lower ? "the other " : "", account_types[type]);
}

/* Show the records of one ID on all filesystems. */
static void show_record_of_id(struct session *session, const struct quota_options *options,
			      uint32_t id)
{
	enum fsq_type type = options_type(options);
	int rc = -ENOENT;

	for (size_t i = 0; i < session->path_count; i++) {
		const struct path_entry *path = &session->paths[i];
		struct fsq_dquot dquot;
		struct record_row row;
		int failed = fsq_quota_get(path->fs, type, id, &dquot);

		if (failed == -EIO)
			session_errno(session, 0, EIO, path->directory, "no quota of %s %u on %s",
				      account_types[type], id, path->directory);
		if (rc)
			rc = failed;
		if (failed)
			continue;
		row = records_row(session, path, type, &dquot, options->numeric);
		tables_row(session, &row);
	}
	if (rc && rc != -EIO)
		session_errno(session, session_flag_of(type), -rc, NULL, "no quota of %s %u",
			      account_types[type], id);
}

/* Without a name: the caller's own, and of projects that of each directory. */
static void show_own_record(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	char **directories = invocation->operands + invocation->operand_count;
	gid_t groups[GROUPS_MAX];
	int count;
	bool found = false, inherit;
	uint32_t id;

	switch (options_type(options)) {
	case FSQ_USER:
		show_record_of_id(session, options, getuid());
		break;
	case FSQ_GROUP:
		count = getgroups(GROUPS_MAX, groups);
		for (int i = 0; i < count; i++)
			show_record_of_id(session, options, groups[i]);
		break;
	default:
		for (; *directories; directories++) {
			if (fsq_file_get_project(*directories, &id, &inherit, NULL) || id == 0)
				continue;
			show_record_of_id(session, options, id);
			found = true;
		}
		directories = invocation->operands + invocation->operand_count;
		if (!found && *directories &&
		    strcmp(*directories, session->paths[session->current_path].directory) != 0)
			session_error(session, ERROR_AT_PATH, FSQ_E_USAGE, 0, *directories,
				      "belongs to no project; fsquota assign gives it one");
		else if (!found)
			session_usage_error(session,
					    "name a project or a directory of one, or -u or -g for "
					    "your own quota; without root: fsquota usage DIR");
		break;
	}
}

static void command_quota(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;
	enum fsq_type type = options_type(options);
	struct suggestion like;
	uint32_t id;

	if (options_type_count(options) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	records_choose(session, options->form, options->numeric, "");
	if (invocation->operand_count == 0)
		show_own_record(session, invocation);
	for (int i = 0; i < invocation->operand_count; i++) {
		const char *word = invocation->operands[i];

		suggest_begin(&like, word, strlen(word));
		if (like.commands && !names_to_id(session, type, word, &id))
			session_error(session, 0, FSQ_E_NOT_FOUND, 0, NULL,
				      "there is no %s %s; did you mean the command %s?",
				      account_types[type], word, like.commands);
		else if (names_to_id_or_complain(session, type, word, &id))
			show_record_of_id(session, options, id);
	}
}

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "ignored: what uses nothing is always shown",
	  .field = offsetof(struct quota_options, verbose) },
	{ 0 },
};

const struct command quota_command = {
	.name = "quota",
	.alias = "l",
	.group = GROUP_RECORDS,
	.summary = "show use and limits of one user, group or project",
	.synopsis = "[-bir] [-g|-p|-u] [-hnv] [-f file] [id|name]...",
	.help = "What projects (-p, default), users (-u) or groups (-g) use, and their limits, on\n"
		"every filesystem there is. Without a name: the project of the directory PATH,\n"
		"or the caller's own, with -u or -g.",
	.example = "quota -b 42\n"
		   "quota -u alice /srv",
	.options = (option_tables){ form_options, type_options, human_option, numeric_option,
				    verbose_option, output_file_option, NULL },
	.operands = { { VALUE_NAME, "ID", true } },
	.rows = &record_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_ONCE | COMMAND_QUICK | COMMAND_READS,
	.run = command_quota,
};
