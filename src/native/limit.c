/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "change.h"
#include "options.h"
#include "quota/fsquota.h"

struct limit_options {
	struct quota_options quota;
	bool defaults;
};

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
			session_usage_error(session, "Error: could not parse size %s.", text);
			return false;
		}
		if (form != FSQ_INODES && fsq_limit_is_lost(value)) {
			session_usage_error(
				session,
				"%s would count as no limit; 288230376151711743 means that", word);
			return false;
		}
		if (form != FSQ_INODES)
			value = fsq_limit_blocks(value);
		(keys[i].hard ? limits->hard : limits->soft)[form] = value;
		limits->mask |= keys[i].hard ? FSQ_HARD(form) : FSQ_SOFT(form);
		return true;
	}
	session_usage_error(session, "unrecognised argument %s", word);
	return false;
}

static void set_limits(struct session *session, enum fsq_type type, uint32_t id,
		       const struct fsq_limits *limits)
{
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	/* XFS would drop the soft limit without an error. */
	int rc = fsq_quota_is_out_of_order(fs, type, id, limits);

	if (rc > 0) {
		session_usage_error(session, "the soft limit would be above the hard one");
		return;
	}
	if (rc == 0)
		rc = change_limits(session, fs, type, id, limits);
	if (rc == -EINVAL && (limits->mask & (FSQ_SOFT(FSQ_REALTIME) | FSQ_HARD(FSQ_REALTIME))))
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, -rc, NULL, "cannot set limits");
	else if (rc)
		session_errno(session, session_flag_of(type), -rc, NULL, "cannot set limits");
}

static void command_limit(struct session *session, const struct invocation *invocation)
{
	const struct limit_options *options = invocation->options;
	enum fsq_type type = options_type(&options->quota);
	int last = invocation->operand_count - !options->defaults;
	struct fsq_limits limits = { 0 };
	uint32_t id = 0;

	if (last < 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	for (int i = 0; i < last; i++)
		if (!parse_limit(session, invocation->operands[i], &limits))
			return;
	if (options_type_count(&options->quota) > 1)
		command_show_usage(session, invocation->command);
	else if (options->defaults ||
		 names_to_id_or_complain(session, type, invocation->operands[last], &id))
		set_limits(session, type, id, &limits);
}

#define FIELD(member) offsetof(struct limit_options, member)

static const struct command_option defaults_option[] = {
	{ 'd', NULL, "the defaults, which are kept with ID 0", .field = FIELD(defaults) },
	{ 0 },
};

const struct command limit_command = {
	.name = "limit",
	.summary = "modify quota limits",
	.synopsis = "[-g|-p|-u] bsoft|bhard|isoft|ihard|rtbsoft|rtbhard=N -d|id|name",
	.help = "Set limits of a project (-p, default), user (-u) or group (-g). Limits that are\n"
		"not named stay as they are; 0 takes one away.\n"
		"\n"
		"bsoft, bhard, rtbsoft, rtbhard  bytes, or with a letter: s (512), b (4096),\n"
		"                                k, m, g, t, p, e (powers of 1024)\n"
		"isoft, ihard                    number of inodes",
	.example = "limit bsoft=900m bhard=1g 42",
	.options = (option_tables){ users_option, other_types_options, defaults_option,
				    dry_run_option, NULL },
	.operands = { { VALUE_LIMIT, "LIMIT=N", true }, { VALUE_NAME, "ID", false } },
	.rows = &changed_limits_rows,
	.options_size = sizeof(struct limit_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES,
	.run = command_limit,
};
