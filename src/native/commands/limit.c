/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "native/apply/edit.h"
#include "native/cli/options.h"
#include "native/cli/suggest.h"
#include "native/rows/change.h"
#include "quota/base/units.h"
#include "quota/fsquota.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"

struct limit_options {
	struct quota_options quota;
	bool defaults, edit;
};

/* Parse KEY=VALUE of that type into @limits, or report an error. */
static bool parse_limit_word(struct session *session, enum fsq_type type, const char *word,
			     struct fsq_limits *limits)
{
	enum fsq_form form;
	uint64_t value;
	bool hard;
	char why[SUGGESTION];
	const char *text = limit_word(word, &form, &hard);

	if (!text)
		return session_usage_error(session, "unrecognised argument %s: name " LIMIT_WORDS,
					   word);
	if (strchr(text, ',') && strchr(text, '='))
		return session_usage_error(session, "%s: blanks separate limits, not commas", word);
	if (strcmp(text, "none") == 0)
		text = "0";
	/* Refuse "+1G": as a size it would replace the limit. */
	if (text[0] == '+' && type == FSQ_PROJECT && form == FSQ_BLOCKS && hard)
		return session_usage_error(session,
					   "%s: limit takes the whole limit, without a sign; "
					   "fsquota resize DIR %s adds to it",
					   word, text);
	if (text[0] == '+')
		return session_usage_error(session,
					   "%s: limit takes the whole limit, without a sign", word);
	if (form == FSQ_INODES ? fsq_parse_count(text, &value) : fsq_parse_size(text, &value))
		return session_usage_error(session, "cannot parse %s: write %s such as %s", word,
					   form == FSQ_INODES ? "a number" : "a size",
					   form == FSQ_INODES ? "1000" : "10m");
	if (form != FSQ_INODES && suggest_unit(text, value, why))
		return session_usage_error(session, "%s: %s", word, why);
	if (form != FSQ_INODES && fsq_limit_is_lost(value))
		return session_usage_error(
			session, "%s would count as no limit; 288230376151711743 means that", word);
	limit_set(limits, form, hard, value);
	return true;
}

/* @realtime  a realtime limit was asked for, which the filesystem may not have */
static void report_limit_error(struct session *session, int rc, enum fsq_type type, bool realtime,
			       const char *message)
{
	if (rc == -EINVAL && realtime)
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, -rc, NULL, "%s", message);
	else if (rc)
		session_errno(session, session_flag_of(type), -rc, NULL, "%s", message);
}

/* @limits   set to what has changed. @return  whether to set them; else that was reported, or there is nothing to do */
static bool edit_record(struct session *session, enum fsq_type type, uint32_t id,
			struct fsq_limits *limits, char **file)
{
	const struct path_entry *path = &session->paths[session->current_path];
	const char *name = names_of_id(session, type, id);
	struct fsq_dquot dquot = { .id = id };
	int rc = fsq_quota_get(path->fs, type, id, &dquot);
	struct text subject = { 0 };
	static struct writer w;
	enum edited edited = EDIT_FAILED;

	if (rc && rc != -ENOENT)
		return session_errno(session, session_flag_of(type), -rc, NULL, "cannot get quota");
	*limits = fsq_limits_of(&dquot);
	writer_start_text(&w, &subject);
	records_write_account(&w, type, id, name);
	write_char(&w, '\0');
	if (writer_flush(&w))
		session_no_memory(session);
	else
		edited = edit_limits(session, subject.bytes, path->directory, limits, file);
	free(subject.bytes);
	if (edited == EDIT_UNCHANGED && !change_is_shown(session))
		write_text(session->out, "nothing changed\n");
	return edited == EDIT_CHANGED || (edited == EDIT_UNCHANGED && change_is_shown(session));
}

/* limit bhard=1g -d DIR: it would look as if the directory had a limit. */
static void tell_of_defaults(struct session *session, const struct invocation *invocation)
{
	const char *word = invocation->operands[invocation->operand_count];
	const char *top = session->paths[session->current_path].info->directory;
	struct stat st, of_top;

	if (word && fsq_lookup_stat(NULL, word, 0, &st, NULL) == 0 && S_ISDIR(st.st_mode) &&
	    fsq_lookup_stat(NULL, top, 0, &of_top, NULL) == 0 && st.st_ino != of_top.st_ino)
		session_warn(
			session, top,
			"the default of all is set; of one directory: fsquota assign %s --hard "
			"SIZE",
			word);
}

static void command_limit(struct session *session, const struct invocation *invocation)
{
	const struct limit_options *options = invocation->options;
	enum fsq_type type = options_type(&options->quota);
	int last = invocation->operand_count - !options->defaults;
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	struct fsq_limits limits = { 0 }, after = { 0 }, both;
	char text[FSQ_ORDER_TEXT], *file = NULL;
	uint32_t id = 0;
	int rc;

	if (!options->edit && last < 1) {
		session_usage_error(session, "name " LIMIT_WORDS);
		return;
	}
	if (options->edit && last != 0) {
		command_show_usage(session, invocation->command);
		return;
	}
	for (int i = 0; i < last; i++)
		if (!parse_limit_word(session, type, invocation->operands[i], &limits))
			return;
	if (options_type_count(&options->quota) > 1) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (!options->defaults &&
	    !names_to_id_or_complain(session, type, invocation->operands[last], &id))
		return;
	if (options->edit && !edit_record(session, type, id, &limits, &file))
		return;
	/* XFS would drop the soft limit without an error. */
	rc = fsq_quota_order_limits(fs, type, id, &limits, &after);
	if (rc > 0) {
		both = fsq_limits_asked_both(&limits);
		session_error(session, 0,
			      fsq_limits_order_text(text, &both) ? FSQ_E_USAGE : FSQ_E_CONFLICT, 0,
			      NULL, "%s", fsq_limits_order_text(text, &after));
		goto out;
	}
	if (rc == 0)
		rc = change_limits(session, fs, type, id, &limits);
	if (rc == 0 && options->defaults)
		tell_of_defaults(session, invocation);
	report_limit_error(session, rc, type,
			   limits.mask & (FSQ_SOFT(FSQ_REALTIME) | FSQ_HARD(FSQ_REALTIME)),
			   "cannot set limits");
out:
	if (file)
		edit_end(session, file, rc == 0);
}

#define FIELD(member) offsetof(struct limit_options, member)

static const struct command_option edit_option[] = {
	{ 0, "edit", "edit them as a line, with $VISUAL or $EDITOR", .field = FIELD(edit) },
	{ 0 },
};

static const struct command_option defaults_option[] = {
	{ 'd', NULL, "the defaults, which are kept with ID 0", .field = FIELD(defaults) },
	{ 0 },
};

const struct command limit_command = {
	.name = "limit",
	.group = GROUP_RECORDS,
	.summary = "set limits",
	.synopsis = "[-g|-p|-u] bsoft|bhard|isoft|ihard|rtbsoft|rtbhard=N|--edit -d|id|name",
	.help = "Set limits of a project (-p, default), user (-u) or group (-g). Limits that are\n"
		"not named stay as they are; 0 or none takes one away.\n"
		"\n"
		"bsoft, bhard, rtbsoft, rtbhard  bytes, or with a letter: s (512), b (4096),\n"
		"                                k, m, g, t, p, e (powers of 1024)\n"
		"isoft, ihard                    number of inodes",
	.example = "limit -u ihard=100000 alice /srv\n"
		   "limit -u --edit alice /srv",
	.options =
		(option_tables){ type_options, defaults_option, edit_option, dry_run_option, NULL },
	.operands = { { VALUE_LIMIT, "LIMIT=N", true }, { VALUE_NAME, "ID", false } },
	.rows = &changed_limits_rows,
	.options_size = sizeof(struct limit_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	.run = command_limit,
};

/* As in "3 days". */
static bool is_unit(const char *word)
{
	uint64_t seconds;
	char time[16];

	snprintf(time, sizeof(time), "1%.12s", word);
	return *word && !isdigit((unsigned char)*word) && options_parse_duration(time, &seconds);
}

/* Set the grace times of all, of which the kernel keeps 32 bits; or the end of the running ones of one ID. */
static void command_timer(struct session *session, const struct invocation *invocation)
{
	const struct limit_options *options = invocation->options;
	enum fsq_type type = options_type(&options->quota);
	char **operands = invocation->operands;
	int words = invocation->operand_count, rc;
	struct fsq_filesystem *fs = session->paths[session->current_path].fs;
	struct fsq_timers timers = { 0 };
	struct fsq_dquot dquot;
	uint64_t seconds;
	uint32_t id = 0;
	bool is_time, runs = false;

	if (words < 1) {
		session_usage_error(session,
				    "name a time such as 7d; fsquota state shows the grace times");
		return;
	}
	if (options_type_count(&options->quota) > 1 || words > (options->defaults ? 1 : 2)) {
		command_show_usage(session, invocation->command);
		return;
	}
	is_time = options_parse_duration(operands[0], &seconds);
	if (is_time && words == 2 && is_unit(operands[1])) {
		session_usage_error(session, "a time is one word: %s%s", operands[0], operands[1]);
		return;
	}
	if (is_time && words == 2 && !names_to_id_or_complain(session, type, operands[1], &id))
		return;
	if (!is_time || seconds > (id ? FSQ_TIMER_MAX - (uint64_t)time(NULL) : UINT32_MAX)) {
		session_usage_error(session,
				    "cannot parse %s: the time comes first, in one word: seconds, "
				    "without a letter, or 30m, 12h, 7d, 2w",
				    operands[0]);
		return;
	}
	memcpy(timers.set, options->quota.form, sizeof(timers.set));
	/* Without -b, -i or -r, set all forms that the filesystem has. */
	if (!options_has_form(&options->quota)) {
		timers.set[FSQ_BLOCKS] = timers.set[FSQ_INODES] = true;
		timers.set[FSQ_REALTIME] = fsq_filesystem_get_info(fs)->is_xfs;
	}
	rc = id ? fsq_quota_get(fs, type, id, &dquot) : 0;
	if (rc) {
		session_errno(session, session_flag_of(type), -rc, NULL, "cannot get quota");
		return;
	}
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot.form[form];
		const bool is_above = id && amounts->soft && amounts->used > amounts->soft;

		timers.seconds[form] = (int64_t)seconds;
		if (is_above)
			timers.seconds[form] += time(NULL);
		else if (id)
			timers.seconds[form] = amounts->expires;
		runs |= is_above && timers.set[form];
	}
	rc = change_timers(session, fs, type, id, &timers);
	report_limit_error(session, rc, type, timers.set[FSQ_REALTIME], "cannot set timer");
	if (rc == 0 && id && !runs && session_has_person(session))
		session_warn(
			session, NULL,
			"%s %u is above no soft limit: no grace time runs, and nothing changes",
			account_types[type], id);
	if (!id && session_has_person(session))
		options_tell_of_others(session, &options->quota, fs, "timer");
}

static const struct command_option timer_form_options[] = {
	{ 'b', NULL, "blocks", .field = FIELD(quota.form[FSQ_BLOCKS]) },
	{ 'i', NULL, "inodes", .field = FIELD(quota.form[FSQ_INODES]) },
	{ 'r', NULL, "realtime blocks", .field = FIELD(quota.form[FSQ_REALTIME]) },
	{ 0 },
};

static const struct command_option of_all_option[] = {
	{ 'd', NULL, "for all, as without an ID", .field = FIELD(defaults) },
	{ 0 },
};

const struct command timer_command = {
	.name = "timer",
	.group = GROUP_RECORDS,
	.summary = "set grace times",
	.synopsis = "[-bir] [-g|-p|-u] value [-d|id|name]",
	.help = "Set how long soft limits of projects (-p, default), users (-u) or groups (-g)\n"
		"may be exceeded; or, for one that exceeds them now, how much longer it may.\n"
		"The value is in seconds, or with a unit: minutes, hours, days, weeks (or m, h,\n"
		"d, w). Without -b, -i or -r: all that the filesystem has.",
	.example = "timer 3days /srv\n"
		   "timer 1h 42 /srv",
	.options = (option_tables){ timer_form_options, type_options, of_all_option, dry_run_option,
				    NULL },
	.operands = { { VALUE_TIME, "TIME", false }, { VALUE_NAME, "ID", true } },
	.rows = &changed_times_rows,
	.options_size = sizeof(struct limit_options),
	.flags = COMMAND_FILESYSTEMS | COMMAND_CHANGES | COMMAND_CONFIG,
	.run = command_timer,
};
