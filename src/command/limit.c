/* SPDX-License-Identifier: Apache-2.0 */
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
		if (form != FSQ_INODES)
			value = fsq_limit_blocks(value);
		(keys[i].hard ? limits->hard : limits->soft)[form] = value;
		limits->mask |= keys[i].hard ? FSQ_HARD(form) : FSQ_SOFT(form);
		return true;
	}
	session_complain(session, 1, FSQ_E_USAGE, "unrecognised argument %s", word);
	return false;
}

COMMAND_FUNCTION(limit)
{
	struct selection selection = { 0 };
	struct fsq_limits limits = { 0 };
	bool default_limits = false;
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
	rc = fsq_kernel_set_limits(&session->paths[session->current_path].fs->target, type, id,
				   &limits);
	if (rc)
		session_complain(session, 1, -rc, "cannot set limits");
	return COMMAND_NEXT;
}
