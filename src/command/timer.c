/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "names.h"
#include "options.h"
#include "quota/units.h"

struct timer {
	enum fsq_type type;
	bool form[FSQ_FORMS];
	uint64_t seconds;
};

static void set(struct session *session, const struct fsq_target *target, enum fsq_type type,
		uint32_t id, const struct fsq_timers *timers)
{
	int rc = fsq_kernel_set_timers(target, type, id, timers);

	if (rc == -EINVAL && timers->set[FSQ_REALTIME])
		session_complain_as(session, 1, FSQ_E_NOT_SUPPORTED, -rc, "cannot set timer");
	else if (rc)
		session_complain(session, 1, -rc, "cannot set timer");
}

/* How long the grace times of all are; the kernel keeps 32 bits of them. */
static void set_default(struct session *session, const struct fsq_target *target,
			const struct timer *timer)
{
	struct fsq_timers timers = { 0 };

	for (int form = 0; form < FSQ_FORMS; form++) {
		timers.set[form] = timer->form[form];
		timers.seconds[form] = (int64_t)timer->seconds;
	}
	set(session, target, timer->type, 0, &timers);
}

/* When the grace times of one end that run already: others have none. */
static void set_one(struct session *session, const struct fsq_target *target,
		    const struct timer *timer, uint32_t id)
{
	struct fsq_timers timers = { 0 };
	struct fsq_dquot dquot;
	int rc = fsq_kernel_get(target, timer->type, id, &dquot);

	if (rc) {
		session_complain(session, 1, -rc, "cannot get quota");
		return;
	}
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot.form[form];

		timers.set[form] = timer->form[form];
		timers.seconds[form] = amounts->expires;
		if (amounts->soft && amounts->used > amounts->soft)
			timers.seconds[form] = time(NULL) + (int64_t)timer->seconds;
	}
	set(session, target, timer->type, id, &timers);
}

COMMAND_FUNCTION(timer)
{
	struct selection selection = { 0 };
	struct timer timer = { 0 };
	const struct fsq_filesystem *fs;
	bool of_all = false;
	uint32_t id = 0;
	int option, words;
	bool *form = selection.style.form;

	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		if (option == 'd')
			of_all = true;
		else if (!options_select(&selection, option))
			return command_usage(session, command);
	}
	words = argc - optind;
	if (options_type_count(&selection) > 1 || words < 1 || words > (of_all ? 1 : 2))
		return command_usage(session, command);
	timer.type = options_type(&selection);
	if (words == 2 && !names_to_id_or_complain(session, timer.type, argv[optind + 1], &id))
		return COMMAND_NEXT;
	if (fsq_parse_duration(argv[optind], &timer.seconds) ||
	    timer.seconds > (id ? FSQ_TIMER_MAX - (uint64_t)time(NULL) : UINT32_MAX)) {
		session_complain(session, 1, FSQ_E_USAGE, "Error: could not parse time %s.",
				 argv[optind]);
		return COMMAND_NEXT;
	}
	if (session->current_path < 0)
		return COMMAND_NEXT;
	fs = session->paths[session->current_path].fs;
	if (!form[ROW_BLOCKS] && !form[ROW_INODES] && !form[ROW_REALTIME]) {
		form[ROW_BLOCKS] = form[ROW_INODES] = true;
		form[ROW_REALTIME] = fs->is_xfs;
	}
	memcpy(timer.form, form, sizeof(timer.form));
	if (id)
		set_one(session, &fs->target, &timer, id);
	else
		set_default(session, &fs->target, &timer);
	return COMMAND_NEXT;
}
