/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "native/cli/finding_words.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/commands.h"
#include "native/rows/change.h"
#include "quota/limits/limits.h"
#include "quota/mounts/device.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"

struct state_row {
	enum fsq_type type;
	bool accounting, enforced;
	int64_t grace_seconds[FSQ_FORMS];
	uint64_t inode; /* FIELD_NOT_KNOWN: none */
	const char *filesystem, *mountpoint;
};

#define MEMBER(name) .offset = offsetof(struct state_row, name)

static const struct field fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting), "is its use counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced), "are its limits enforced?" },
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_BLOCKS]),
	  "how long the soft limit of space may be exceeded" },
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_INODES]),
	  "how long the soft limit of inodes may be exceeded" },
	{ "RGRACE", "realtime_grace_seconds", FIELD_SECONDS, MEMBER(grace_seconds[FSQ_REALTIME]),
	  "how long the soft limit of realtime space may be exceeded" },
	{ "INODE", "inode", FIELD_COUNT, MEMBER(inode), "inode of the quota file", .is_id = true },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint), "where it is mounted" },
	{ 0 },
};

static const struct row_fields state_rows = {
	fields, sizeof(struct state_row),
	.usual = "TYPE,ACCOUNTING,ENFORCED,GRACE,IGRACE,MOUNTPOINT"
};

/* A row for each type that is selected, or for all if none is, of the current filesystem. */
static void show_state_rows(struct session *session, const bool types[FSQ_TYPES])
{
	const struct path_entry *path = &session->paths[session->current_path];
	bool all = !types[FSQ_USER] && !types[FSQ_GROUP] && !types[FSQ_PROJECT];

	for (int type = 0; type < FSQ_TYPES; type++) {
		struct state_row row = { .type = (enum fsq_type)type,
					 .filesystem = path->info->device,
					 .mountpoint = path->directory };
		struct fsq_state state;
		int rc;

		if (!all && !types[type])
			continue;
		rc = fsq_quota_state(path->fs, row.type, &state);
		if (rc) {
			session_errno(session, session_flag_of(row.type), -rc, NULL, "no %s quota",
				      account_types[row.type]);
			continue;
		}
		row.accounting = state.accounting[type];
		row.enforced = state.enforced[type];
		row.inode = state.has_inode ? state.inode : FIELD_NOT_KNOWN;
		for (int form = 0; form < FSQ_FORMS; form++)
			if (state.grace_seconds[form])
				row.grace_seconds[form] = state.grace_seconds[form];
			else
				row.grace_seconds[form] = FIELD_NO_SECONDS;
		tables_row(session, &row);
	}
}

static void command_state(struct session *session, const struct invocation *invocation)
{
	const struct quota_options *options = invocation->options;

	if (invocation->operand_count > 0)
		command_refuse_operand(session, invocation);
	else
		show_state_rows(session, options->type);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "ignored: where there is none is always said", .field = FIELD(verbose) },
	{ 0 },
};

const struct command state_command = {
	.name = "state",
	.group = GROUP_RECORDS,
	.summary = "show which quota is on",
	.synopsis = "[-gpu] [-a] [-v] [-f file]",
	.help = "Whether quota of users (-u), groups (-g) and projects (-p; default: all\n"
		"three) is accounted and enforced, and how long the grace times are.",
	.example = "state /srv\n"
		   "state -p --json",
	.options = (option_tables){ type_options, all_option, verbose_option, output_file_option,
				    NULL },
	.rows = &state_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_READS,
	.run = command_state,
};

/* A type of quota that is switched. */
struct switched_row {
	enum fsq_type type;
	bool accounting, enforced; /* afterwards */
	enum row_change change;
	const char *device, *directory;
	bool was_enforced;
};

#define SWITCHED(name) .offset = offsetof(struct switched_row, name)

static const struct field switched_fields[] = {
	{ "TYPE", "type", FIELD_WORD, SWITCHED(type), "user, group or project",
	  .words = account_types },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, SWITCHED(accounting), "is its use counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, SWITCHED(enforced), "are its limits enforced?" },
	{ "CHANGED", "changed", FIELD_CHANGE, SWITCHED(change), "was, or would it be changed?" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, SWITCHED(device), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, SWITCHED(directory), "where it is mounted" },
	{ 0 },
};

static void write_switched_row(struct writer *w, const void *arg)
{
	static const char *const words[] = { "not enforced", "enforced" };
	const struct switched_row *row = arg;

	write_format(w, "%s %s quota, ", change_action(row->change), account_types[row->type]);
	write_escaped(w, row->directory);
	if (row->was_enforced != row->enforced)
		write_format(w, ": %s -> %s", words[row->was_enforced], words[row->enforced]);
	write_char(w, '\n');
}

static const struct row_fields switched_rows = { switched_fields, sizeof(struct switched_row),
						 "TYPE,ACCOUNTING,ENFORCED,CHANGED,MOUNTPOINT",
						 write_switched_row };

/* Sentences for errors that are expected, with what to do. */
static const char is_off[] = "quota is off: mount the filesystem with uquota, gquota or prjquota";

static const char *explain_switch_error(struct fsq_filesystem *fs, enum fsq_switch what, int errnum)
{
	struct fsq_state state;

	/* On f2fs only mounting switches enforcement. */
	if (errnum == ENOSYS && !fsq_filesystem_get_info(fs)->is_xfs &&
	    fsq_quota_state(fs, FSQ_PROJECT, &state) == 0)
		return "this filesystem switches quota only when it is mounted";
	if (errnum == EINVAL || errnum == ENOSYS)
		return is_off;
	if (errnum == EEXIST)
		return what == FSQ_ENABLE ? "Quota enforcement already enabled."
					  : "Quota enforcement already disabled.";
	return NULL;
}

/* Switch quota, or in a dry run predict it, and show the result for each type. @return as fsq_quota_switch() */
static int switch_and_show(struct session *session, struct fsq_filesystem *fs, enum fsq_switch what,
			   const bool types[FSQ_TYPES])
{
	bool is_xfs = fsq_filesystem_get_info(fs)->is_xfs, shown = change_is_shown(session);
	struct fsq_state before, after;
	int rc = 0;

	if (shown || !is_xfs)
		rc = fsq_quota_plan_switch(fs, what, types, &before, &after);
	if (!session->dry_run) {
		if (rc == 0 || is_xfs)
			rc = fsq_quota_switch(fs, what, types);
		/* If nothing changes XFS says EEXIST, ext4 and f2fs EBUSY or nothing. */
		if (rc == -EBUSY)
			rc = -EEXIST;
		if (shown && fsq_quota_state(fs, FSQ_PROJECT, &after))
			after = (struct fsq_state){ 0 };
	}
	if (!shown)
		return rc;
	for (int type = 0; type < FSQ_TYPES && (rc == 0 || rc == -EEXIST); type++) {
		bool changed = before.enforced[type] != after.enforced[type] ||
			       before.accounting[type] != after.accounting[type];
		const struct switched_row row = {
			.type = (enum fsq_type)type,
			.device = fsq_filesystem_get_info(fs)->device,
			.directory = session->paths[session->current_path].directory,
			.accounting = after.accounting[type],
			.enforced = after.enforced[type],
			.was_enforced = before.enforced[type],
			.change = change_word(changed),
		};

		if (types[type])
			tables_row(session, &row);
	}
	return rc;
}

/* @return   whether it went well; else an error was reported */
static bool do_switch(struct session *session, struct fsq_filesystem *fs, enum fsq_switch what,
		      const bool types[FSQ_TYPES])
{
	int rc = switch_and_show(session, fs, what, types);
	const char *words = explain_switch_error(fs, what, -rc);

	for (int type = 0; type < FSQ_TYPES && rc != -EEXIST; type++)
		if (types[type])
			change_write_journal(session, fs, (enum fsq_type)type, 0, NULL, rc);

	if (rc == 0)
		return true;
	if (words)
		session_error(session,
			      words == is_off
				      ? ERROR_NO_QUOTA |
						session_flag_of(types[FSQ_PROJECT] ? FSQ_PROJECT
										   : FSQ_USER)
				      : 0,
			      rc == -EEXIST ? FSQ_OK : FSQ_E_NOT_SUPPORTED, 0, NULL, "%s", words);
	else
		session_errno(session, 0, -rc, NULL, "%s",
			      what == FSQ_ENABLE ? "XFS_QUOTAON" : "XFS_QUOTAOFF");
	return false;
}

/* Where a filesystem is mounted as a whole. */
struct mount_point {
	dev_t dev;
	char *directory; /* for free(3); or NULL */
};

/* A mount of a part may be the directory of one user. */
static enum fsq_visit take_whole_mount(const struct fsq_mount *mount, void *arg)
{
	struct mount_point *point = arg;
	struct stat st;

	if (mount->dev != point->dev || (mount->root && strcmp(mount->root, "/") != 0) ||
	    fsq_lookup_stat(NULL, mount->directory, 0, &st, NULL) || st.st_dev != point->dev)
		return FSQ_VISIT_CONTINUE;
	point->directory = strdup(mount->directory);
	return FSQ_VISIT_STOP;
}

/* @return   the mount point of the filesystem if a word names another directory on it, for free(3); else NULL */
static char *find_other_mount_point(struct session *session, const char *word)
{
	struct mount_point point = { 0 };
	struct stat st, root;
	int path;

	if (fsq_is_tag(word) || fsq_lookup_stat(NULL, word, 0, &st, NULL) || S_ISBLK(st.st_mode))
		return NULL;
	point.dev = st.st_dev;
	path = paths_find_dev(session, st.st_dev);
	fsq_mounts_each(NULL, take_whole_mount, &point, NULL);
	if (!point.directory && path >= 0)
		point.directory = strdup(session->paths[path].info->directory);
	if (!point.directory || fsq_lookup_stat(NULL, point.directory, 0, &root, NULL) ||
	    root.st_dev != st.st_dev || root.st_ino != st.st_ino)
		return point.directory;
	free(point.directory);
	return NULL;
}

/* A message doubles each backslash, and the word would be another one. */
static const char *as_shown(const char *quoted)
{
	return strchr(quoted, '\\') ? "DIR" : quoted;
}

/* Refuse a directory: its caller may not mean the whole filesystem. @return  false: it is one; an error was reported */
static bool check_is_filesystem(struct session *session, const char *command, const char *word)
{
	char *mount_point = find_other_mount_point(session, word);
	char *shown_point = mount_point ? quote_for_shell(mount_point) : NULL;
	char *directory = shown_point ? quote_for_shell(word) : NULL;

	if (directory)
		session_usage_error(session,
				    "%s is not all of the filesystem: fsquota release %s takes "
				    "the quota off it, fsquota %s %s switches that of all",
				    word, as_shown(directory), command, as_shown(shown_point));
	else if (mount_point)
		session_no_memory(session);
	free(directory);
	free(shown_point);
	free(mount_point);
	return !mount_point;
}

/* @return   whether each word names a whole filesystem; else an error was reported */
static bool check_filesystems(struct session *session, const struct invocation *invocation)
{
	const char *command = invocation->command->name;
	char **words = invocation->operands + invocation->operand_count;

	for (; *words; words++)
		if (!check_is_filesystem(session, command, *words))
			return false;
	for (size_t i = 0; i < session->at.count; i++)
		if (!check_is_filesystem(session, command, session->at.words[i]))
			return false;
	return true;
}

static void command_switch(struct session *session, const struct invocation *invocation)
{
	enum fsq_switch what = invocation->command == &enable_command ? FSQ_ENABLE : FSQ_DISABLE;
	const struct quota_options *options = invocation->options;
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	bool types[FSQ_TYPES];
	struct table before;

	if (invocation->operand_count > 0) {
		command_refuse_operand(session, invocation);
		return;
	}
	if (!check_filesystems(session, invocation))
		return;
	memcpy(types, options->type, sizeof(types));
	types[FSQ_PROJECT] |= options_type_count(options) == 0;
	if (!do_switch(session, fs, what, types) || !options->verbose || change_is_shown(session))
		return;
	before = session->table;
	tables_begin(session, "state");
	session->table.type = &state_rows;
	show_state_rows(session, types);
	tables_end(session);
	session->table = before;
}

static const struct command_option show_state_option[] = {
	{ 'v', NULL, "show the state afterwards", .field = FIELD(verbose) },
	{ 0 },
};

static const struct command_option *const switch_options[] = { type_options, show_state_option,
							       dry_run_option, NULL };

/* What both have in common. */
#define SWITCH                                                                        \
	.synopsis = "[-gpu] [-v]", .options = switch_options, .rows = &switched_rows, \
	.options_size = sizeof(struct quota_options), .run = command_switch

const struct command enable_command = {
	.name = "enable",
	.group = GROUP_RECORDS,
	.summary = "enforce limits",
	.help = "Enforce limits of projects (-p, default), users (-u) or groups (-g) on the\n"
		"current XFS or ext4, where use is accounted already: that is chosen when it\n"
		"is mounted.",
	.example = "enable -p /srv\n"
		   "enable -v -u -g /srv",
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	SWITCH,
};

const struct command disable_command = {
	.name = "disable",
	.group = GROUP_RECORDS,
	.summary = "stop enforcing limits",
	.help = "Stop enforcing limits of projects (-p, default), users (-u) or groups (-g) on\n"
		"the current XFS or ext4. Use is still accounted; enable takes it back.",
	.example = "disable -p /srv\n"
		   "disable -v -u -g /srv",
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	SWITCH,
};
