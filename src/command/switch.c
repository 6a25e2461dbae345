/* SPDX-License-Identifier: Apache-2.0 */
/* enable, disable, off and remove: quota of a whole XFS switched. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "command.h"
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
static const char *explain_more(const struct fsq_target *target, enum fsq_switch what, int errnum)
{
	struct fsq_state state;

	if (what == FSQ_REMOVE && errnum == EINVAL)
		return fsq_kernel_state(target, FSQ_PROJECT, &state)
			       ? "there are no quota records to be removed"
			       : "quota is still on: mount the filesystem without quota first";
	if ((what == FSQ_ENABLE || what == FSQ_DISABLE) && (errnum == EINVAL || errnum == ENOSYS))
		return "quota is off: mount the filesystem with uquota, gquota or prjquota";
	return explain(what, errnum);
}

/* @return   whether it went well; else the user has been told */
static bool do_switch(struct session *session, const struct fsq_target *target,
		      enum fsq_switch what, const bool types[FSQ_TYPES])
{
	static const char *const calls[] = {
		[FSQ_ENABLE] = "XFS_QUOTAON",
		[FSQ_DISABLE] = "XFS_QUOTAOFF",
		[FSQ_OFF] = "XFS_QUOTAOFF",
		[FSQ_REMOVE] = "XFS_QUOTARM",
	};
	int rc = fsq_kernel_switch(target, what, types);
	const char *words = session->native ? explain_more(target, what, -rc) : explain(what, -rc);

	if (rc == 0)
		return true;
	if (words)
		session_complain_bare(session, 0, rc == -EEXIST ? FSQ_OK : FSQ_E_NOT_SUPPORTED,
				      "%s", words);
	else
		session_complain_bare(session, 0, -rc, "%s", calls[what]);
	return false;
}

/* One type after the other, up to the first that fails. */
static bool remove_records(struct session *session, const struct fsq_target *target,
			   const bool types[FSQ_TYPES])
{
	for (int type = 0; type < FSQ_TYPES; type++) {
		bool one[FSQ_TYPES] = { 0 };

		one[type] = types[type];
		if (types[type] && !do_switch(session, target, FSQ_REMOVE, one))
			return false;
	}
	return true;
}

static enum command_result switch_quota(struct session *session, const struct command *command,
					enum fsq_switch what, int argc, char **argv)
{
	struct selection selection = { 0 };
	const struct path_entry *path;
	bool verbose = false, done;
	int option;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'v')
			verbose = true;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	if (optind != argc)
		return command_usage(session, command);
	if (session->current_path < 0)
		return COMMAND_NEXT;
	path = &session->paths[session->current_path];
	if (options_type_count(&selection) == 0)
		selection.type[FSQ_USER] = true;
	done = what == FSQ_REMOVE ? remove_records(session, &path->fs->target, selection.type)
				  : do_switch(session, &path->fs->target, what, selection.type);
	/* JSON is for what prints data. */
	if (done && verbose && !session->json)
		state_show(session, &selection, path, true);
	return COMMAND_NEXT;
}

COMMAND_FUNCTION(enable)
{
	return switch_quota(session, command, FSQ_ENABLE, argc, argv);
}

COMMAND_FUNCTION(disable)
{
	return switch_quota(session, command, FSQ_DISABLE, argc, argv);
}

COMMAND_FUNCTION(off)
{
	return switch_quota(session, command, FSQ_OFF, argc, argv);
}

COMMAND_FUNCTION(remove)
{
	return switch_quota(session, command, FSQ_REMOVE, argc, argv);
}
