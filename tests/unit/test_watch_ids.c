/* SPDX-License-Identifier: Apache-2.0 */
#include "native/rows/growth.h"
#include "native/watch/watch.h"
#include "table/field.h"
#include "tap.h"

#define SECOND 1000000000LL

static struct watch_volume volume;

/* @return   which event an estimate gives, or WATCH_EVENTS */
static enum watch_event event_of(struct watch_ids *ids, int64_t seconds)
{
	enum watch_event event = WATCH_EVENTS;
	struct watch_id *id;

	watch_ids_estimate(ids, &volume, FSQ_PROJECT, 42, seconds);
	id = watch_ids_take_due(ids, NULL, INT64_MAX);
	for (int i = 0; id && i < WATCH_EVENTS; i++)
		if (id->tally[FSQ_BLOCKS][i].count)
			event = (enum watch_event)i;
	if (id)
		watch_ids_reported(ids, id, NULL);
	return event;
}

static void once_and_a_quarter(void)
{
	struct watch_ids ids = { .within = 100 };

	ok(event_of(&ids, 101) == WATCH_EVENTS &&
		   event_of(&ids, FIELD_NO_SECONDS) == WATCH_EVENTS && !ids.all,
	   "what is full later is not kept");
	ok(event_of(&ids, 100) == WATCH_FULL_SOON, "what is full in time is told");
	ok(event_of(&ids, 1) == WATCH_EVENTS && event_of(&ids, 125) == WATCH_EVENTS &&
		   event_of(&ids, 90) == WATCH_EVENTS,
	   "once, until it is a quarter later");
	ok(event_of(&ids, 126) == WATCH_NOT_FULL_SOON && !ids.all, "which is told, too");
	ok(event_of(&ids, 50) == WATCH_FULL_SOON &&
		   event_of(&ids, FIELD_NO_SECONDS) == WATCH_NOT_FULL_SOON,
	   "and that it does not grow");
	watch_ids_forget(&ids, NULL);
}

static void warn(struct watch_ids *ids, uint32_t id, enum fsq_warning_kind kind)
{
	const struct fsq_warning warning = { .type = FSQ_PROJECT, .id = id, .kind = kind };

	watch_ids_warn(ids, &volume, &warning);
}

/* Take what is due, and report it as it comes. @return   their IDs as digits of a number */
static unsigned int report(struct watch_ids *ids)
{
	struct watch_id *id = watch_ids_take_due(ids, NULL, INT64_MAX), *next;
	unsigned int order = 0;

	for (; id && order < 1000; id = next) {
		next = id->next_due;
		order = order * 10 + id->id;
		watch_ids_reported(ids, id, NULL);
	}
	return order;
}

static void in_another_order(void)
{
	struct watch_ids ids = { 0 };

	for (uint32_t id = 1; id <= 3; id++)
		warn(&ids, id, FSQ_WARNING_SOFT_REACHED);
	ok(report(&ids) == 123, "events are told in the order in which they came");
	warn(&ids, 2, FSQ_WARNING_HARD_REACHED);
	warn(&ids, 1, FSQ_WARNING_HARD_REACHED);
	ok(report(&ids) == 21, "and again in another one");
	warn(&ids, 3, FSQ_WARNING_BELOW_SOFT);
	ok(report(&ids) == 3 && report(&ids) == 0, "and each once");
	for (uint32_t id = 1; id <= 2; id++)
		warn(&ids, id, FSQ_WARNING_BELOW_SOFT);
	ok(report(&ids) == 12 && !ids.all, "until all is below");
	for (uint32_t id = 1; id <= 3; id++)
		warn(&ids, id, FSQ_WARNING_SOFT_REACHED);
	report(&ids);
	warn(&ids, 3, FSQ_WARNING_BELOW_SOFT);
	report(&ids);
	warn(&ids, 2, FSQ_WARNING_HARD_REACHED);
	ok(report(&ids) == 2, "one that is gone is not told with the one before it");
	watch_ids_forget(&ids, NULL);
}

#define TWICE (1U << WATCH_EVENTS)

/* What is due of project 42 is reported, with these numbers. @return  the events of space, a bit each, and TWICE */
static unsigned int told(struct watch_ids *ids, const struct fsq_dquot *dquot)
{
	struct watch_id *id = watch_ids_take_due(ids, NULL, INT64_MAX);
	unsigned int events = 0;

	if (!id)
		return 0;
	if (dquot)
		watch_ids_settle(ids, id, dquot);
	for (int i = 0; i < WATCH_EVENTS; i++) {
		events |= id->tally[FSQ_BLOCKS][i].count ? 1U << i : 0;
		events |= id->tally[FSQ_BLOCKS][i].count > 1 ? TWICE : 0;
	}
	watch_ids_reported(ids, id, dquot);
	return events;
}

static void judge(struct watch_ids *ids, struct fsq_dquot *dquot, uint64_t used, uint64_t hard)
{
	dquot->form[FSQ_BLOCKS].used = used;
	dquot->form[FSQ_BLOCKS].hard = hard;
	watch_ids_judge(ids, &volume, FSQ_PROJECT, dquot, WATCH_ALL);
}

static void at_the_hard_limit(void)
{
	const unsigned int reached = 1U << WATCH_HARD_REACHED, below = 1U << WATCH_BELOW_HARD;
	struct fsq_dquot dquot = { .id = 42 };
	struct watch_ids ids = { 0 };

	judge(&ids, &dquot, 800, 800);
	judge(&ids, &dquot, 400, 800);
	ok(told(&ids, &dquot) == (reached | below) && !ids.all,
	   "what was polled at its limit and is below when it is told is both");
	judge(&ids, &dquot, 800, 800);
	ok(told(&ids, &dquot) == reached, "what stays there is told so");
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	dquot.form[FSQ_BLOCKS].used = 400;
	ok(told(&ids, &dquot) == below && !ids.all, "that XFS repeats it when it is below is not");
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	ok(told(&ids, NULL) == reached, "it is told without numbers");
	judge(&ids, &dquot, 400, 0);
	ok(told(&ids, &dquot) == below && !ids.all, "until the limit is gone");
	watch_ids_forget(&ids, NULL);
}

static void of_both_limits(void)
{
	const unsigned int soft = 1U << WATCH_SOFT_REACHED, hard = 1U << WATCH_HARD_REACHED,
			   below_soft = 1U << WATCH_BELOW_SOFT, below_hard = 1U << WATCH_BELOW_HARD;
	struct fsq_dquot dquot = { .id = 42, .form[FSQ_BLOCKS] = { .soft = 100, .expires = 1 } };
	struct watch_ids ids = { 0 };

	judge(&ids, &dquot, 800, 800);
	ok(told(&ids, &dquot) == (soft | hard | 1U << WATCH_GRACE_OVER), "all levels are told");
	judge(&ids, &dquot, 400, 800);
	ok(told(&ids, &dquot) == below_hard, "below the hard limit alone");
	judge(&ids, &dquot, 800, 800);
	judge(&ids, &dquot, 400, 800);
	ok(told(&ids, &dquot) == (hard | below_hard), "reached again, and below when it is told");
	judge(&ids, &dquot, 800, 800);
	ok(told(&ids, &dquot) == hard, "and again");
	judge(&ids, &dquot, 400, 800);
	ok(told(&ids, &dquot) == below_hard, "and below");
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	ok(told(&ids, &dquot) == hard, "a large write that is refused is no leftover of that");
	judge(&ids, &dquot, 400, 800);
	ok(told(&ids, &dquot) == 0, "and stays so while nothing was removed");
	judge(&ids, &dquot, 50, 800);
	ok(told(&ids, &dquot) == below_soft && !ids.all,
	   "below the soft limit is told once, and nothing of what is above it");
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	judge(&ids, &dquot, 50, 800);
	ok(told(&ids, &dquot) == hard,
	   "what the kernel warns of is told before a poll finds it below");
	warn(&ids, 42, FSQ_WARNING_SOFT_REACHED);
	warn(&ids, 42, FSQ_WARNING_SOFT_REACHED);
	ok(told(&ids, &dquot) == soft, "a warning of the soft limit is told once");
	warn(&ids, 42, FSQ_WARNING_BELOW_SOFT);
	ok(told(&ids, &dquot) == below_soft && !ids.all, "the kernel's, too");
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	warn(&ids, 42, FSQ_WARNING_HARD_REACHED);
	ok(told(&ids, &dquot) == (hard | TWICE), "each write that was refused counts");
	warn(&ids, 42, FSQ_WARNING_BELOW_SOFT);
	ok(told(&ids, &dquot) == below_hard && !ids.all,
	   "where the soft limit was not reached, ext4 means the hard one");
	watch_ids_forget(&ids, NULL);
}

/* @return   when a use is full after so many looks, each so many seconds after the one before */
static int64_t full_after(int looks, int64_t seconds, uint64_t each, uint64_t hard, uint64_t free)
{
	struct growth growth = { 0 };
	struct growth_use use = { 0 };

	for (int i = 0; i < looks; i++) {
		use = growth_use(1, 42, (uint64_t)i * each, hard, free);
		growth_look(&growth, &use, 1, (1 + i * seconds) * SECOND);
	}
	growth_free(&growth);
	return use.full_seconds;
}

static void estimates(void)
{
	ok(full_after(1, 10, 100, 1000, 5000) == FIELD_NO_SECONDS, "one look knows nothing");
	ok(full_after(2, 10, 100, 1000, 5000) == 90, "two know how fast it grows");
	ok(full_after(6, 10, 100, 1000, 5000) == 50, "and more know the same, if it grows evenly");
	ok(full_after(2, 10, 100, 0, 5000) == 500 && full_after(2, 10, 100, 9000, 5000) == 500,
	   "the filesystem may be full before");
	ok(full_after(2, 10, 1000000, 0, FIELD_NOT_KNOWN) == FIELD_NO_SECONDS,
	   "no limit is never reached");
	ok(full_after(2, 10, 0, 1000, 5000) == FIELD_NO_SECONDS, "nor is one without growth");
	ok(full_after(2, 10, 100, 100, 5000) == FIELD_NO_SECONDS,
	   "and one that is reached is past");
	ok(full_after(2, 10, 1000, 1001, 5000) == 1, "less than a second is one");
}

int main(void)
{
	once_and_a_quarter();
	in_another_order();
	at_the_hard_limit();
	of_both_limits();
	estimates();
	return tap_end();
}
