/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "change.h"
#include "names.h"
#include "options.h"

struct warn_options {
	struct quota_options quota;
	bool of_all;
};

static void set_warnings(struct session *session, const struct quota_options *options, uint32_t id,
			 uint32_t warnings)
{
	bool form[FSQ_FORMS];
	int rc;

	if (session->current_path < 0)
		return;
	for (int i = 0; i < FSQ_FORMS; i++)
		form[i] = options->style.form[i] || !options_has_form(options);
	rc = change_warnings(session, session->paths[session->current_path].fs,
			     options_type(options), id, form, (uint16_t)warnings);
	if (rc == -EINVAL)
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, -rc, NULL, "cannot set warnings");
	else if (rc)
		session_errno(session, session_flag_of(options_type(options)), -rc, NULL,
			      "cannot set warnings");
}

static void command_warn(struct session *session, const struct invocation *invocation)
{
	const struct warn_options *options = invocation->options;
	char **operands = invocation->operands;
	uint32_t id = 0, warnings;

	if (options_type_count(&options->quota) > 1 ||
	    invocation->operand_count != (options->of_all ? 1 : 2)) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (!options->of_all &&
	    !names_to_id_or_complain(session, options_type(&options->quota), operands[1], &id))
		return;
	if (options_number(session, operands[0], &warnings))
		set_warnings(session, &options->quota, id, warnings);
}

#define FIELD(member) offsetof(struct warn_options, member)

static const struct command_option of_all_option[] = {
	{ 'd', NULL, "for all, as without an ID", .field = FIELD(of_all) },
	{ 0 },
};

const struct command warn_command = {
	.name = "warn",
	.summary = "get/set enforcement warning counter",
	.synopsis = "[-bir] [-g|-p|-u] value -d|id|name",
	.help = "Set the number of warnings issued to a user (-u, default), group (-g) or\n"
		"project (-p), for blocks (-b), inodes (-i), realtime blocks (-r) or all.\n"
		"Linux keeps no such count since 5.19, and refuses.",
	.options = (option_tables){ blocks_option, other_forms_options, default_users_option,
				    other_types_options, of_all_option, dry_run_option, NULL },
	.operands = { { VALUE_NUMBER, "N", false }, { VALUE_NAME, "ID", true } },
	.options_size = sizeof(struct warn_options),
	.min_words = 2,
	.flags = COMMAND_XFS_QUOTA | COMMAND_EXPERT | COMMAND_CHANGES,
	.run = command_warn,
};
