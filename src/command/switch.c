/* SPDX-License-Identifier: Apache-2.0 */
/* enable, disable, off and remove: quota of a whole XFS switched. */
#include <errno.h>
#include <string.h>

#include "change.h"
#include "options.h"
#include "state.h"

/* The words for what is no surprise; failures of these commands have never changed the status. */
static const char *explain(enum fsq_switch what, int errnum)
{
	if (what == FSQ_ENABLE && errnum == EEXIST)
		return "Quota enforcement already enabled.";
	if (what == FSQ_ENABLE && (errnum == EINVAL || errnum == ENOSYS))
		return "Can't enable enforcement when quota off.";
	if (what == FSQ_DISABLE && errnum == EEXIST)
		return "Quota enforcement already disabled.";
	if (what == FSQ_DISABLE && (errnum == EINVAL || errnum == ENOSYS))
		return "Can't disable enforcement when quota off.";
	if (what == FSQ_OFF && (errnum == EEXIST || errnum == ENOSYS))
		return "Quota already off.";
	return NULL;
}

/* At the native door also what to do. */
static const char is_off[] = "quota is off: mount the filesystem with uquota, gquota or prjquota";

static const char *explain_more(struct fsq_filesystem *fs, enum fsq_switch what, int errnum)
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
	return explain(what, errnum);
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
		.type = (enum row_type)type,
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
		.would = session->dry_run,
	};

	session->render->switched_row(session->out, &row);
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
	const char *words = session->native ? explain_more(fs, what, -rc) : explain(what, -rc);

	if (rc == 0)
		return true;
	if (words)
		session_error(
			session,
			ERROR_BARE | ERROR_STATUS_0 |
				(words == is_off
					 ? ERROR_NO_QUOTA |
						   session_flag_of(types[FSQ_PROJECT] ? FSQ_PROJECT
										      : FSQ_USER)
					 : 0),
			rc == -EEXIST ? FSQ_OK : FSQ_E_NOT_SUPPORTED, 0, NULL, "%s", words);
	else
		session_errno(session, ERROR_BARE | ERROR_STATUS_0, -rc, NULL, "%s", calls[what]);
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
	const struct path_entry *path;

	if (invocation->operand_count > 0) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (session->current_path < 0)
		return;
	path = &session->paths[session->current_path];
	memcpy(types, options->type, sizeof(types));
	types[FSQ_USER] |= options_type_count(options) == 0;
	done = what == FSQ_REMOVE ? remove_records(session, path->fs, types)
				  : do_switch(session, path->fs, what, types);
	if (done && options->verbose && !change_is_shown(session))
		state_show(session, types, path, true);
}

#define FIELD(member) offsetof(struct quota_options, member)

static const struct command_option verbose_option[] = {
	{ 'v', NULL, "show the state afterwards", .field = FIELD(verbose) },
	{ 0 },
};

static const struct command_option *const switch_options[] = { default_users_option,
							       other_types_options, verbose_option,
							       dry_run_option, NULL };

static void command_enable(struct session *session, const struct invocation *invocation)
{
	switch_quota(session, invocation, FSQ_ENABLE);
}

const struct command enable_command = {
	.name = "enable",
	.summary = "enable quota enforcement",
	.synopsis = "[-gpu] [-v]",
	.help = "Enforce limits of users (-u, default), groups (-g) or projects (-p) on the\n"
		"current XFS or ext4, where use is accounted already: that is chosen when it\n"
		"is mounted.",
	.options = switch_options,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_CHANGES | COMMAND_FOREIGN_NATIVE,
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
	.help = "Stop enforcing limits of users (-u, default), groups (-g) or projects (-p) on\n"
		"the current XFS or ext4. Use is still accounted; enable takes it back.",
	.options = switch_options,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_CHANGES | COMMAND_FOREIGN_NATIVE,
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
	.help = "Switch quota of users (-u, default), groups (-g) or projects (-p) off on the\n"
		"current XFS, until it is mounted anew. Since Linux 5.16 only the enforcement\n"
		"goes off and use is still accounted, as with disable.",
	.options = switch_options,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_CHANGES | COMMAND_FOREIGN_NATIVE,
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
	.help = "Free the space that the records of users (-u, default), groups (-g) or\n"
		"projects (-p) take on the current XFS. Their quota must be off.",
	.options = switch_options,
	.options_size = sizeof(struct quota_options),
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_CHANGES,
	.run = command_remove,
};
