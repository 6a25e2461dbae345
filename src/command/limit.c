/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "command.h"
#include "names.h"
#include "options.h"
#include "quota/units.h"

static const struct {
	const char *key;
	enum fsq_form form;
	bool hard;
} keys[] = {
	{ "bsoft=", FSQ_BLOCKS, false },     { "bhard=", FSQ_BLOCKS, true },
	{ "isoft=", FSQ_INODES, false },     { "ihard=", FSQ_INODES, true },
	{ "rtbsoft=", FSQ_REALTIME, false }, { "rtbhard=", FSQ_REALTIME, true },
};

/* KEY=VALUE into @limits, or tell the user. */
static bool parse_limit(struct session *session, const char *word, struct fsq_limits *limits)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t length = strlen(keys[i].key);
		enum fsq_form form = keys[i].form;
		const char *text = word + length;
		uint64_t value;

		if (strncmp(word, keys[i].key, length) != 0)
			continue;
		if (form == FSQ_INODES ? fsq_parse_count(text, &value)
				       : fsq_parse_size(text, &value)) {
			session_complain(session, 1, FSQ_E_USAGE, "Error: could not parse size %s.",
					 text);
			if (session->native)
				return false;
			break;
		}
		if (session->native && form != FSQ_INODES && fsq_limit_is_lost(value)) {
			session_complain(
				session, 1, FSQ_E_USAGE,
				"%s would count as no limit; 288230376151711743 means that", word);
			return false;
		}
		if (form != FSQ_INODES)
			value = fsq_limit_blocks(value);
		(keys[i].hard ? limits->hard : limits->soft)[form] = value;
		limits->mask |= keys[i].hard ? FSQ_HARD(form) : FSQ_SOFT(form);
		return true;
	}
	session_complain(session, 1, FSQ_E_USAGE, "unrecognised argument %s", word);
	return false;
}

/* A soft limit above the hard one would be dropped by XFS without a word. */
static bool are_in_order(struct session *session, const struct fsq_target *target,
			 enum fsq_type type, uint32_t id, const struct fsq_limits *limits)
{
	struct fsq_dquot dquot;

	if (fsq_kernel_get(target, type, id, &dquot))
		dquot = (struct fsq_dquot){ 0 };
	for (int form = 0; form < FSQ_FORMS; form++) {
		bool sets_soft = limits->mask & FSQ_SOFT(form);
		bool sets_hard = limits->mask & FSQ_HARD(form);
		uint64_t soft = sets_soft ? limits->soft[form] : dquot.form[form].soft;
		uint64_t hard = sets_hard ? limits->hard[form] : dquot.form[form].hard;

		if ((sets_soft || sets_hard) && hard && soft > hard) {
			session_complain(session, 1, FSQ_E_USAGE,
					 "the soft limit would be above the hard one");
			return false;
		}
	}
	return true;
}

COMMAND_FUNCTION(limit)
{
	struct selection selection = { 0 };
	struct fsq_limits limits = { 0 };
	bool default_limits = false;
	const struct fsq_target *target;
	enum fsq_type type;
	uint32_t id = 0;
	int option, last, rc;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'd')
			default_limits = true;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	if (argc - optind < (default_limits ? 1 : 2))
		return command_usage(session, command);
	type = options_type(&selection);
	last = default_limits ? argc : argc - 1;
	for (int i = optind; i < last; i++)
		if (!parse_limit(session, argv[i], &limits))
			return COMMAND_NEXT;
	if (options_type_count(&selection) > 1)
		return command_usage(session, command);
	if (!default_limits && !names_to_id_or_complain(session, type, argv[last], &id))
		return COMMAND_NEXT;
	if (session->current_path < 0)
		return COMMAND_NEXT;
	target = &session->paths[session->current_path].fs->target;
	if (session->native && !are_in_order(session, target, type, id, &limits))
		return COMMAND_NEXT;
	rc = fsq_kernel_set_limits(target, type, id, &limits);
	if (rc == -EINVAL && (limits.mask & (FSQ_SOFT(FSQ_REALTIME) | FSQ_HARD(FSQ_REALTIME))))
		session_complain_as(session, 1, FSQ_E_NOT_SUPPORTED, -rc, "cannot set limits");
	else if (rc)
		session_complain(session, 1, -rc, "cannot set limits");
	return COMMAND_NEXT;
}
