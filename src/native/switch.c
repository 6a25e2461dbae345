/* SPDX-License-Identifier: Apache-2.0 */
/* enable, disable, off and remove: quota of a whole XFS switched. */
#include <errno.h>
#include <string.h>

#include "change.h"
#include "options.h"
#include "state.h"

/* A type of quota that is switched. */
struct switched_row {
	enum fsq_type type;
	bool accounting, enforced; /* afterwards */
	enum row_change change;
	const char *device, *directory;
	bool was_enforced;
};

#define MEMBER(name) .offset = offsetof(struct switched_row, name)

static const struct field switched_fields[] = {
	{ "TYPE", "type", FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting), "is its use counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced), "are its limits enforced?" },
	{ "CHANGED", "changed", FIELD_CHANGE, MEMBER(change), "was, or would it be changed?" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(device), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(directory), "where it is mounted" },
	{ 0 },
};

static void write_switched(struct writer *w, const void *arg)
{
	static const char *const words[] = { "not enforced", "enforced" };
	const struct switched_row *row = arg;

	write_text(w, change_action(row->change));
	write_char(w, ' ');
	write_text(w, account_types[row->type]);
	write_text(w, " quota, ");
	write_escaped(w, row->directory);
	if (row->change == ROW_CHANGE_UNKNOWN) {
		write_text(w, ": the records, if there are any");
	} else if (row->was_enforced != row->enforced) {
		write_text(w, ": ");
		write_text(w, words[row->was_enforced]);
		write_text(w, " -> ");
		write_text(w, words[row->enforced]);
	}
	write_char(w, '\n');
}

static const struct row_fields switched_rows = { switched_fields, sizeof(struct switched_row),
						 "TYPE,ACCOUNTING,ENFORCED,CHANGED,MOUNTPOINT",
						 write_switched };

/* Sentences for errors that are expected, with what to do. */
static const char is_off[] = "quota is off: mount the filesystem with uquota, gquota or prjquota";

static const char *explain(struct fsq_filesystem *fs, enum fsq_switch what, int errnum)
{
	struct fsq_state state;

	/* ext4 and f2fs: accounting is switched by mounting. */
	if (what == FSQ_OFF && errnum == EOPNOTSUPP)
		return "use is counted as long as it is mounted: disable stops the enforcement";
	if (what == FSQ_REMOVE && errnum == EINVAL)
		return fsq_quota_state(fs, FSQ_PROJECT, &state)
			       ? "there are no quota records to be removed"
			       : "quota is still on: mount the filesystem without quota first";
	if (errnum == ENOSYS && !fsq_filesystem_get_info(fs)->is_xfs &&
	    fsq_quota_state(fs, FSQ_PROJECT, &state) == 0)
		return "this filesystem switches quota only when it is mounted";
	if ((what == FSQ_ENABLE || what == FSQ_DISABLE) && (errnum == EINVAL || errnum == ENOSYS))
		return is_off;
	if (what == FSQ_ENABLE && errnum == EEXIST)
		return "Quota enforcement already enabled.";
	if (what == FSQ_DISABLE && errnum == EEXIST)
		return "Quota enforcement already disabled.";
	if (what == FSQ_OFF && (errnum == EEXIST || errnum == ENOSYS))
		return "Quota already off.";
	return NULL;
}

/* XFS says EEXIST where all is so already, ext4 and f2fs EBUSY or nothing. */
static int switch_types(struct fsq_filesystem *fs, enum fsq_switch what,
			const bool types[FSQ_TYPES])
{
	struct fsq_state before, after;
	int rc = 0;

	if (!fsq_filesystem_get_info(fs)->is_xfs)
		rc = fsq_quota_plan_switch(fs, what, types, &before, &after);
	if (rc == 0)
		rc = fsq_quota_switch(fs, what, types);
	return rc == -EBUSY ? -EEXIST : rc;
}

static void show_type(struct session *session, struct fsq_filesystem *fs, enum fsq_switch what,
		      enum fsq_type type, const struct fsq_state *before,
		      const struct fsq_state *after)
{
	const struct switched_row row = {
		.type = type,
		.device = fsq_filesystem_get_info(fs)->device,
		.directory = session->paths[session->current_path].directory,
		.accounting = after->accounting[type],
		.enforced = after->enforced[type],
		.was_enforced = before->enforced[type],
		/* While quota is off the kernel does not tell of records. */
		.change =
			what == FSQ_REMOVE
				? ROW_CHANGE_UNKNOWN
				: change_word(before->enforced[type] != after->enforced[type] ||
					      before->accounting[type] != after->accounting[type]),
	};

	tables_row(session, session->table, &row);
}

/* Do it, or find out, and show what becomes of each type. @return  as fsq_quota_switch() */
static int switch_and_show(struct session *session, struct fsq_filesystem *fs, enum fsq_switch what,
			   const bool types[FSQ_TYPES])
{
	struct fsq_state before, after;
	int rc;

	if (!change_is_shown(session))
		return switch_types(fs, what, types);
	rc = fsq_quota_plan_switch(fs, what, types, &before, &after);
	if (!session->dry_run) {
		rc = switch_types(fs, what, types);
		if (fsq_quota_state(fs, FSQ_PROJECT, &after))
			after = (struct fsq_state){ 0 };
	}
	if (rc == 0 || rc == -EEXIST)
		for (int type = 0; type < FSQ_TYPES; type++)
			if (types[type])
				show_type(session, fs, what, (enum fsq_type)type, &before, &after);
	return rc;
}

/* @return   whether it went well; else an error was reported */
static bool do_switch(struct session *session, struct fsq_filesystem *fs, enum fsq_switch what,
		      const bool types[FSQ_TYPES])
{
	static const char *const calls[] = {
		[FSQ_ENABLE] = "XFS_QUOTAON",
		[FSQ_DISABLE] = "XFS_QUOTAOFF",
		[FSQ_OFF] = "XFS_QUOTAOFF",
		[FSQ_REMOVE] = "XFS_QUOTARM",
	};
	int rc = switch_and_show(session, fs, what, types);
	const char *words = explain(fs, what, -rc);

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
		session_errno(session, 0, -rc, NULL, "%s", calls[what]);
	return false;
}

/* One type after the other, up to the first that fails. */
static bool remove_records(struct session *session, struct fsq_filesystem *fs,
			   const bool types[FSQ_TYPES])
{
	for (int type = 0; type < FSQ_TYPES; type++) {
		bool one[FSQ_TYPES] = { 0 };

		one[type] = types[type];
		if (types[type] && !do_switch(session, fs, FSQ_REMOVE, one))
			return false;
	}
	return true;
}

static void switch_quota(struct session *session, const struct invocation *invocation,
			 enum fsq_switch what)
{
	const struct quota_options *options = invocation->options;
	bool types[FSQ_TYPES], done;
	struct table table;
	const struct path_entry *path;

	if (invocation->operand_count > 0) {
		command_show_usage(session, invocation->command);
		return;
	}
	path = &session->paths[session->current_path];
	memcpy(types, options->type, sizeof(types));
	types[FSQ_PROJECT] |= options_type_count(options) == 0;
	done = what == FSQ_REMOVE ? remove_records(session, path->fs, types)
				  : do_switch(session, path->fs, what, types);
	/* There is no state after remove, which requires that quota is off. */
	if (!done || !options->verbose || what == FSQ_REMOVE || change_is_shown(session))
		return;
	table = tables_begin(session, "state");
	table.type = &state_rows;
	state_show(session, &table, types);
	tables_end(session, &table);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "show the state afterwards", .field = FIELD(verbose) },
	{ 0 },
};

static const struct command_option *const switch_options[] = { users_option, other_types_options,
							       verbose_option, dry_run_option,
							       NULL };

static void command_enable(struct session *session, const struct invocation *invocation)
{
	switch_quota(session, invocation, FSQ_ENABLE);
}

const struct command enable_command = {
	.name = "enable",
	.summary = "enable quota enforcement",
	.synopsis = "[-gpu] [-v]",
	.help = "Enforce limits of projects (-p, default), users (-u) or groups (-g) on the\n"
		"current XFS or ext4, where use is accounted already: that is chosen when it\n"
		"is mounted.",
	.options = switch_options,
	.rows = &switched_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES,
	.run = command_enable,
};

static void command_disable(struct session *session, const struct invocation *invocation)
{
	switch_quota(session, invocation, FSQ_DISABLE);
}

const struct command disable_command = {
	.name = "disable",
	.summary = "disable quota enforcement",
	.synopsis = "[-gpu] [-v]",
	.help = "Stop enforcing limits of projects (-p, default), users (-u) or groups (-g) on\n"
		"the current XFS or ext4. Use is still accounted; enable takes it back.",
	.options = switch_options,
	.rows = &switched_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES,
	.run = command_disable,
};

static void command_off(struct session *session, const struct invocation *invocation)
{
	switch_quota(session, invocation, FSQ_OFF);
}

const struct command off_command = {
	.name = "off",
	.summary = "permanently switch quota off for a path",
	.synopsis = "[-gpu] [-v]",
	.help = "Switch quota of projects (-p, default), users (-u) or groups (-g) off on the\n"
		"current XFS, until it is mounted anew. Since Linux 5.16 only the enforcement\n"
		"goes off and use is still accounted, as with disable.",
	.options = switch_options,
	.rows = &switched_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES,
	.run = command_off,
};

static void command_remove(struct session *session, const struct invocation *invocation)
{
	switch_quota(session, invocation, FSQ_REMOVE);
}

const struct command remove_command = {
	.name = "remove",
	.summary = "remove quota extents from a filesystem",
	.synopsis = "[-gpu] [-v]",
	.help = "Free the space that the records of projects (-p, default), users (-u) or\n"
		"groups (-g) take on the current XFS. Their quota must be off.",
	.options = switch_options,
	.rows = &switched_rows,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_XFS | COMMAND_CHANGES,
	.run = command_remove,
};
