/* SPDX-License-Identifier: Apache-2.0 */
/* limit, timer and warn: change quota records. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "quota/base/units.h"

/* @return   false when there is no such user, group or project; an error was reported */
static bool find_id_of_word(struct state *state, enum fsq_type type, const char *word, uint32_t *id)
{
	if (xq_find_id(state, type, word, id))
		return true;
	/* As in xfs_quota, this message has the type and the program in each other's place. */
	if (!xq_names_are_lost(state))
		xq_error(state, XQ_BARE, FSQ_E_NOT_FOUND, 0, "%s: invalid %s name: %s",
			 account_types[type], state->program, word);
	return false;
}

/* @is_supported  false: the request has a part that some kernels lack, so EINVAL means "not supported" */
static void report_set_error(struct state *state, int rc, bool is_supported, const char *message)
{
	if (rc == -EINVAL && !is_supported)
		xq_error(state, 0, FSQ_E_NOT_SUPPORTED, -rc, "%s", message);
	else if (rc)
		xq_errno(state, 0, -rc, "%s", message);
}

/*
 * Parse KEY=VALUE into @limits.
 *
 * @next     the next word, or NULL
 * @is_last  no limit follows @word: @next is the ID or name
 * @return   false: an error was reported
 */
static bool parse_limit_argument(struct state *state, const char *word, const char *next,
				 bool is_last, struct fsq_limits *limits)
{
	enum fsq_form form;
	char with_value[16];
	uint64_t value;
	bool hard;
	const char *text = limit_word(word, &form, &hard);

	if (text && (form == FSQ_INODES ? fsq_parse_count(text, &value)
					: fsq_parse_size(text, &value)) == 0) {
		limit_set(limits, form, hard, value);
		return true;
	}
	if (text)
		xq_usage_error(state, "Error: could not parse size %s.", text);
	/*
	 * If a word has no "=", xfs_quota uses the next word as its size, and then parses that word again as a limit.
	 * We reject the first word, but with the message that xfs_quota prints.
	 */
	snprintf(with_value, sizeof(with_value), "%s=", word);
	if (!text && next && limit_word(with_value, &form, &hard)) {
		if (form != FSQ_INODES && fsq_parse_size(next, &value))
			xq_usage_error(state, "Error: could not parse size %s.", next);
		else if (!is_last && !limit_word(next, &form, &hard))
			word = next;
	}
	xq_usage_error(state, "unrecognised argument %s", word);
	return false;
}

static void run_limit(struct state *state, const struct call *call)
{
	bool defaults = call->options['d'];
	int limit_count = call->operand_count - !defaults;
	enum fsq_type type = call->type;
	struct fsq_limits limits = { 0 };
	uint32_t id = 0;
	int rc;

	if (limit_count < 1) {
		xq_show_usage(state, call);
		return;
	}
	/* operands[i + 1] always exists: NULL follows the last operand. */
	for (int i = 0; i < limit_count; i++)
		if (!parse_limit_argument(state, call->operands[i], call->operands[i + 1],
					  i + 1 == limit_count, &limits))
			return;
	if (call->type_count > 1) {
		xq_show_usage(state, call);
		return;
	}
	if (!defaults && !find_id_of_word(state, type, call->operands[limit_count], &id))
		return;
	if (state->current < 0)
		return;
	rc = fsq_quota_set_limits(state->paths[state->current].fs, type, id, &limits);
	report_set_error(state, rc,
			 !(limits.mask & (FSQ_SOFT(FSQ_REALTIME) | FSQ_HARD(FSQ_REALTIME))),
			 "cannot set limits");
}

const struct command xq_limit = {
	.name = "limit",
	.letters = "ugpd",
	.min = 2,
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT,
	.synopsis = "[-g|-p|-u] bsoft|bhard|isoft|ihard|rtbsoft|rtbhard=N -d|id|name",
	.summary = "modify quota limits",
	.help = "Set limits of a user (-u, default), group (-g) or project (-p). Limits that\n"
		"are not named stay as they are; 0 takes one away.\n"
		"\n"
		"bsoft, bhard, rtbsoft, rtbhard  bytes, or with a letter: s (512), b (4096),\n"
		"                                k, m, g, t, p, e (powers of 1024)\n"
		"isoft, ihard                    number of inodes\n"
		"\n" HELP_NARROW_TYPES "  -d  the defaults, which are kept with ID 0\n"
		"\n"
		"Example: limit -p bsoft=900m bhard=1g 42\n",
	.run = run_limit,
};

static void run_timer(struct state *state, const struct call *call)
{
	enum fsq_type type = call->type;
	struct fsq_timers timers = { 0 };
	struct fsq_filesystem *fs;
	struct fsq_dquot dquot;
	uint64_t seconds;
	uint32_t id = 0;
	int rc;

	if (call->type_count > 1 || call->operand_count < 1 ||
	    call->operand_count > (call->options['d'] ? 1 : 2)) {
		xq_show_usage(state, call);
		return;
	}
	if (call->operand_count == 2 && !find_id_of_word(state, type, call->operands[1], &id))
		return;
	if (fsq_parse_duration(call->operands[0], &seconds) ||
	    seconds > (id ? FSQ_TIMER_MAX - (uint64_t)time(NULL) : UINT32_MAX)) {
		xq_usage_error(state, "Error: could not parse time %s.", call->operands[0]);
		return;
	}
	if (state->current < 0)
		return;
	fs = state->paths[state->current].fs;
	memcpy(timers.set, call->style.form, sizeof(timers.set));
	if (call->form_count == 0) {
		timers.set[FSQ_INODES] = true;
		timers.set[FSQ_REALTIME] = fsq_filesystem_get_info(fs)->is_xfs;
	}
	rc = id ? fsq_quota_get(fs, type, id, &dquot) : 0;
	if (rc) {
		xq_errno(state, 0, -rc, "cannot get quota");
		return;
	}
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot.form[form];

		/* ID 0 sets the length of all grace times; another ID, the end of those that run for it. */
		if (!id)
			timers.seconds[form] = (int64_t)seconds;
		else if (amounts->soft && amounts->used > amounts->soft)
			timers.seconds[form] = time(NULL) + (int64_t)seconds;
		else
			timers.seconds[form] = amounts->expires;
	}
	rc = fsq_quota_set_timers(fs, type, id, &timers);
	report_set_error(state, rc, !timers.set[FSQ_REALTIME], "cannot set timer");
}

const struct command xq_timer = {
	.name = "timer",
	.letters = "birugpd",
	.min = 1,
	.max = -1,
	.flags = COMMAND_FOREIGN | COMMAND_EXPERT,
	.synopsis = "[-bir] [-g|-p|-u] value [-d|id|name]",
	.summary = "set quota enforcement timeouts",
	.help = "Set how long soft limits of users (-u, default), groups (-g) or projects (-p)\n"
		"may be exceeded; or, for one that exceeds them now, how much longer it may.\n"
		"The value is in seconds, or with a unit: minutes, hours, days, weeks (or m, h,\n"
		"d, w). Without -b, -i or -r: all that the filesystem has.\n"
		"\n" HELP_NARROW_FORMS HELP_NARROW_TYPES "  -d  for all, as without an ID\n"
		"\n"
		"Example: timer -p 3days\n",
	.run = run_timer,
};

static void run_warn(struct state *state, const struct call *call)
{
	enum fsq_type type = call->type;
	bool forms[FSQ_FORMS];
	uint32_t id = 0;
	int rc;

	if (call->type_count > 1 || call->operand_count != (call->options['d'] ? 1 : 2)) {
		xq_show_usage(state, call);
		return;
	}
	if (!call->options['d'] && !find_id_of_word(state, type, call->operands[1], &id))
		return;
	if (state->current < 0)
		return;
	for (int form = 0; form < FSQ_FORMS; form++)
		forms[form] = call->style.form[form] || call->form_count == 0;
	rc = fsq_quota_set_warnings(state->paths[state->current].fs, type, id, forms,
				    (uint16_t)xq_number(call->operands[0]));
	report_set_error(state, rc, false, "cannot set warnings");
}

const struct command xq_warn = {
	.name = "warn",
	.letters = "birugpd",
	.min = 2,
	.max = -1,
	.flags = COMMAND_EXPERT,
	.synopsis = "[-bir] [-g|-p|-u] value -d|id|name",
	.summary = "get/set enforcement warning counter",
	.help = "Set the number of warnings issued to a user (-u, default), group (-g) or\n"
		"project (-p), for blocks (-b), inodes (-i), realtime blocks (-r) or all.\n"
		"Linux keeps no such count since 5.19, and refuses.\n"
		"\n" HELP_NARROW_FORMS HELP_NARROW_TYPES "  -d  for all, as without an ID\n",
	.run = run_warn,
};
