/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <time.h>

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
				       : fsq_parse_size(text, &value))
			return session_usage_error(session, "Error: could not parse size %s.",
						   text);
		if (form != FSQ_INODES && fsq_limit_is_lost(value))
			return session_usage_error(
				session,
				"%s would count as no limit; 288230376151711743 means that", word);
		if (form != FSQ_INODES)
			value = fsq_limit_blocks(value);
		(keys[i].hard ? limits->hard : limits->soft)[form] = value;
		limits->mask |= keys[i].hard ? FSQ_HARD(form) : FSQ_SOFT(form);
		return true;
	}
	return session_usage_error(session, "unrecognised argument %s", word);
}

static void command_limit(struct session *session, const struct invocation *invocation)
{
	const struct limit_options *options = invocation->options;
	enum fsq_type type = options_type(&options->quota);
	int last = invocation->operand_count - !options->defaults;
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	struct fsq_limits limits = { 0 };
	uint32_t id = 0;
	int rc;

	if (last < 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	for (int i = 0; i < last; i++)
		if (!parse_limit(session, invocation->operands[i], &limits))
			return;
	if (options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (!options->defaults &&
	    !names_to_id_or_complain(session, type, invocation->operands[last], &id))
		return;
	/* XFS would drop the soft limit without an error. */
	rc = fsq_quota_is_out_of_order(fs, type, id, &limits);
	if (rc > 0) {
		session_usage_error(session, "the soft limit would be above the hard one");
		return;
	}
	if (rc == 0)
		rc = change_limits(session, fs, type, id, &limits);
	if (rc == -EINVAL && (limits.mask & (FSQ_SOFT(FSQ_REALTIME) | FSQ_HARD(FSQ_REALTIME))))
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, -rc, NULL, "cannot set limits");
	else if (rc)
		session_errno(session, session_flag_of(type), -rc, NULL, "cannot set limits");
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
	.options = (option_tables){ type_options, defaults_option, dry_run_option, NULL },
	.operands = { { VALUE_LIMIT, "LIMIT=N", true }, { VALUE_NAME, "ID", false } },
	.rows = &changed_limits_rows,
	.options_size = sizeof(struct limit_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	.run = command_limit,
};

struct timer_options {
	struct quota_options quota;
	bool of_all;
};

struct timer {
	enum fsq_type type;
	bool form[FSQ_FORMS];
	uint64_t seconds;
};

/*
 * How long the grace times of all are, of which the kernel keeps 32 bits; or of one, when those end that run
 * already: others have none.
 */
static void set_timers(struct session *session, struct fsq_filesystem *fs,
		       const struct timer *timer, uint32_t id)
{
	struct fsq_timers timers = { 0 };
	struct fsq_dquot dquot;
	int rc = id ? fsq_quota_get(fs, timer->type, id, &dquot) : 0;

	if (rc) {
		session_errno(session, session_flag_of(timer->type), -rc, NULL, "cannot get quota");
		return;
	}
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot.form[form];

		timers.set[form] = timer->form[form];
		timers.seconds[form] = (int64_t)timer->seconds;
		if (id && amounts->soft && amounts->used > amounts->soft)
			timers.seconds[form] += time(NULL);
		else if (id)
			timers.seconds[form] = amounts->expires;
	}
	rc = change_timers(session, fs, timer->type, id, &timers);
	if (rc == -EINVAL && timers.set[FSQ_REALTIME])
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, -rc, NULL, "cannot set timer");
	else if (rc)
		session_errno(session, session_flag_of(timer->type), -rc, NULL, "cannot set timer");
}

static void command_timer(struct session *session, const struct invocation *invocation)
{
	const struct timer_options *options = invocation->options;
	int words = invocation->operand_count;
	char **operands = invocation->operands;
	struct timer timer = { .type = options_type(&options->quota) };
	struct fsq_filesystem *fs;
	uint32_t id = 0;

	if (options_type_count(&options->quota) > 1 || words < 1 ||
	    words > (options->of_all ? 1 : 2)) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (words == 2 && !names_to_id_or_complain(session, timer.type, operands[1], &id))
		return;
	if (fsq_parse_duration(operands[0], &timer.seconds) ||
	    timer.seconds > (id ? FSQ_TIMER_MAX - (uint64_t)time(NULL) : UINT32_MAX)) {
		session_usage_error(session, "Error: could not parse time %s.", operands[0]);
		return;
	}
	fs = session->paths[session->current_path].fs;
	memcpy(timer.form, options->quota.form, sizeof(timer.form));
	/* Without any, all that the filesystem has. */
	if (!options_has_form(&options->quota)) {
		timer.form[FSQ_BLOCKS] = timer.form[FSQ_INODES] = true;
		timer.form[FSQ_REALTIME] = fsq_filesystem_get_info(fs)->is_xfs;
	}
	set_timers(session, fs, &timer, id);
}

static const struct command_option timer_form_options[] = {
	{ 'b', NULL, "blocks", .field = offsetof(struct timer_options, quota.form[FSQ_BLOCKS]) },
	{ 'i', NULL, "inodes", .field = offsetof(struct timer_options, quota.form[FSQ_INODES]) },
	{ 'r', NULL, "realtime blocks",
	  .field = offsetof(struct timer_options, quota.form[FSQ_REALTIME]) },
	{ 0 },
};

static const struct command_option of_all_option[] = {
	{ 'd', NULL, "for all, as without an ID", .field = offsetof(struct timer_options, of_all) },
	{ 0 },
};

const struct command timer_command = {
	.name = "timer",
	.summary = "set quota enforcement timeouts",
	.synopsis = "[-bir] [-g|-p|-u] value [-d|id|name]",
	.help = "Set how long soft limits of projects (-p, default), users (-u) or groups (-g)\n"
		"may be exceeded; or, for one that exceeds them now, how much longer it may.\n"
		"The value is in seconds, or with a unit: minutes, hours, days, weeks (or m, h,\n"
		"d, w). Without -b, -i or -r: all that the filesystem has.",
	.example = "timer 3days",
	.options = (option_tables){ timer_form_options, type_options, of_all_option, dry_run_option,
				    NULL },
	.operands = { { VALUE_TIME, "TIME", false }, { VALUE_NAME, "ID", true } },
	.rows = &changed_times_rows,
	.options_size = sizeof(struct timer_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	.run = command_timer,
};
