/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "quota/base/units.h"
#include "shared/clock.h"
#include "shared/sort.h"

/*
 * Gather the events of an ID for this long. Reports are made at multiples of a tick, all that are due together, so
 * that the files of the registry are read at most ten times a second.
 */
#define GATHER_MILLISECONDS 1000
#define TICK_MILLISECONDS 100

int64_t watch_now(void)
{
	return clock_milliseconds(CLOCK_MONOTONIC);
}

/* --- the set --- */

static int compare(const void *one, const void *other)
{
	const struct watch_id *a = one, *b = other;

	return compare_numbers(a->id, b->id) ?: compare_numbers(a->type, b->type) ?:
		       compare_numbers((uintptr_t)a->volume, (uintptr_t)b->volume);
}

struct watch_id *watch_ids_find(const struct watch_ids *ids, const struct watch_volume *volume,
				enum fsq_type type, uint32_t id)
{
	const struct watch_id key = { .volume = (struct watch_volume *)volume,
				      .type = type,
				      .id = id };
	struct watch_id *const *node = tfind(&key, &ids->tree, compare);

	return node ? *node : NULL;
}

static struct watch_id *add_id(struct watch_ids *ids, struct watch_volume *volume,
			       enum fsq_type type, uint32_t number)
{
	struct watch_id *id = calloc(1, sizeof(*id));

	if (id) {
		id->volume = volume;
		id->type = type;
		id->id = number;
		id->full_seconds = FIELD_NO_SECONDS;
	}
	if (!id || !tsearch(id, &ids->tree, compare)) {
		ids->no_memory = true;
		free(id);
		return NULL;
	}
	id->next = ids->all;
	if (id->next)
		id->next->previous = id;
	ids->all = id;
	return id;
}

static void drop_id(struct watch_ids *ids, struct watch_id *id)
{
	tdelete(id, &ids->tree, compare);
	if (id->next)
		id->next->previous = id->previous;
	if (id->previous)
		id->previous->next = id->next;
	else
		ids->all = id->next;
	free(id->directories);
	free(id);
}

static void drop_if_idle(struct watch_ids *ids, struct watch_id *id)
{
	if (!id->due && !id->form[FSQ_BLOCKS].reported && !id->form[FSQ_INODES].reported)
		drop_id(ids, id);
}

static void mark_hard(struct watch_id *id, enum fsq_form form, const struct fsq_amounts *amounts)
{
	id->form[form].mark = amounts->used;
	id->form[form].mark_limit = amounts->hard;
}

/* Note that use is below these levels. */
static void lower_levels(struct watch_id *id, enum fsq_form form, unsigned int below)
{
	id->form[form].reported &= ~below;
	if (below & LEVEL_HARD) {
		id->form[form].told_hard = false;
		id->form[form].mark_limit = 0;
	}
	if (below & LEVEL_FULL_SOON)
		id->full_seconds = FIELD_NO_SECONDS;
}

/* --- pending events --- */

/* Append an ID to a list. */
static void append(struct watch_id ***end, struct watch_id *id)
{
	id->next_due = NULL;
	**end = id;
	*end = &id->next_due;
}

static void add_event(struct watch_ids *ids, struct watch_id *id, enum fsq_form form,
		      enum watch_event event, const struct fsq_warning *warning)
{
	struct watch_tally *tally = &id->tally[form][event];

	if (tally->count++ == 0)
		tally->first = clock_milliseconds(CLOCK_REALTIME);
	tally->last = ++ids->events;
	tally->from_kernel |= warning != NULL;
	if (warning && warning->has_writer) {
		tally->has_writer = true;
		tally->writer = warning->writer;
	}
	if (id->due)
		return;
	id->due = watch_now() + GATHER_MILLISECONDS + TICK_MILLISECONDS - 1;
	id->due -= id->due % TICK_MILLISECONDS;
	if (!ids->first_due)
		ids->end_due = &ids->first_due;
	append(&ids->end_due, id);
}

struct watch_id *watch_ids_take_due(struct watch_ids *ids, const struct watch_volume *volume,
				    int64_t now)
{
	struct watch_id **at = &ids->first_due, *id, *taken = NULL, **end = &taken;

	while ((id = *at) && id->due <= now) {
		if (volume && id->volume != volume) {
			at = &id->next_due;
			continue;
		}
		*at = id->next_due;
		append(&end, id);
	}
	if (!*at)
		ids->end_due = at;
	return taken;
}

void watch_ids_forget(struct watch_ids *ids, const struct watch_volume *volume)
{
	struct watch_id *next;

	watch_ids_take_due(ids, volume, INT64_MAX);
	for (struct watch_id *id = ids->all; id; id = next) {
		next = id->next;
		if (!volume || id->volume == volume)
			drop_id(ids, id);
	}
}

/* --- levels: those that use is above, and the events when it crosses one --- */

static const struct {
	enum watch_level level;
	enum watch_event reached, below;
} levels[] = {
	{ LEVEL_SOFT, WATCH_SOFT_REACHED, WATCH_BELOW_SOFT },
	{ LEVEL_GRACE, WATCH_GRACE_OVER, WATCH_BELOW_SOFT },
	{ LEVEL_HARD, WATCH_HARD_REACHED, WATCH_BELOW_HARD },
	{ LEVEL_PERCENT, WATCH_PERCENT_REACHED, WATCH_BELOW_PERCENT },
	{ LEVEL_FULL_SOON, WATCH_FULL_SOON, WATCH_NOT_FULL_SOON },
};

/*
 * Add the events of a change.
 *
 * @still    reported levels that use is still above; below any other reported level
 * @above    levels that use is above now
 * @return   the part of @above that was not reported before
 */
static unsigned int change_state(struct watch_ids *ids, struct watch_id *id, enum fsq_form form,
				 unsigned int still, unsigned int above,
				 const struct fsq_warning *warning)
{
	unsigned int *reported = &id->form[form].reported, told = *reported & ~still;

	lower_levels(id, form, told);
	/* Use is below the soft limit, and so below the hard limit. */
	if (told & LEVEL_SOFT) {
		lower_levels(id, form, LEVEL_GRACE | LEVEL_HARD);
		told &= ~(unsigned int)(LEVEL_GRACE | LEVEL_HARD);
	}
	above &= ~*reported;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (told & levels[i].level)
			add_event(ids, id, form, levels[i].below, warning);
		if (above & levels[i].level)
			add_event(ids, id, form, levels[i].reached, warning);
	}
	/* A grace time runs only above the soft limit. */
	*reported |= above & LEVEL_GRACE ? above | LEVEL_SOFT : above;
	return above;
}

static unsigned int level_of(const struct watch_ids *ids, const struct fsq_dquot *dquot,
			     enum fsq_form form)
{
	const struct fsq_amounts *amounts = &dquot->form[form];
	uint64_t soft = fsq_limit_or_0(amounts->soft), hard = fsq_limit_or_0(amounts->hard);
	unsigned int level = 0;

	if (soft && amounts->used > soft)
		level |= LEVEL_SOFT;
	if ((level & LEVEL_SOFT) && amounts->expires && amounts->expires <= time(NULL))
		level |= LEVEL_GRACE;
	if (hard && (amounts->used >= hard ||
		     (form == FSQ_BLOCKS && hard - amounts->used < LEAST_SPACE / FSQ_BASIC_BLOCK)))
		level |= LEVEL_HARD;
	if (ids->over > 0 && records_percent(dquot, form) >= ids->over)
		level |= LEVEL_PERCENT;
	return level;
}

/*
 * A write that is too large is refused although there is room. So use counts as below the hard limit only if it is
 * less than at the refusal, or the limit has changed. Both marks are 0 if unknown.
 */
static bool is_below_hard(const struct watch_id *id, enum fsq_form form,
			  const struct fsq_amounts *amounts, unsigned int level)
{
	return !(level & LEVEL_HARD) && (!amounts->hard || amounts->used < id->form[form].mark ||
					 amounts->hard != id->form[form].mark_limit);
}

static unsigned int still_above(const struct watch_id *id, enum fsq_form form,
				const struct fsq_amounts *amounts, unsigned int level)
{
	unsigned int still = level | LEVEL_GRACE;

	if (!is_below_hard(id, form, amounts, level))
		still |= LEVEL_HARD;
	/* Keep LEVEL_FULL_SOON for watch_ids_estimate(), but not without use: then there may be no estimate. */
	return amounts->used ? still | LEVEL_FULL_SOON : still;
}

/* --- warnings of the kernel --- */

void watch_ids_warn(struct watch_ids *ids, struct watch_volume *volume,
		    const struct fsq_warning *warning)
{
	/* Without a soft limit, ext4 treats it as 0 and warns that use is below it. */
	static const struct {
		unsigned int above, below;
	} meaning[] = {
		[FSQ_WARNING_SOFT_REACHED] = { LEVEL_SOFT, 0 },
		[FSQ_WARNING_GRACE_OVER] = { LEVEL_GRACE, 0 },
		[FSQ_WARNING_HARD_REACHED] = { LEVEL_HARD, 0 },
		[FSQ_WARNING_BELOW_SOFT] = { 0, LEVEL_SOFT | LEVEL_HARD },
		[FSQ_WARNING_BELOW_HARD] = { 0, LEVEL_HARD },
	};
	const unsigned int above = meaning[warning->kind].above;
	struct watch_id *id = watch_ids_find(ids, volume, warning->type, warning->id);

	if (!id)
		id = add_id(ids, volume, warning->type, warning->id);
	if (!id)
		return;
	/* Count each write that was refused, not only the first. */
	id->form[warning->form].reported &= ~(above & (LEVEL_GRACE | LEVEL_HARD));
	change_state(ids, id, warning->form, ~meaning[warning->kind].below, above, warning);
	drop_if_idle(ids, id);
}

/* --- polled records --- */

static void judge_form(struct watch_ids *ids, struct watch_id *id, enum fsq_form form,
		       const struct fsq_dquot *dquot, enum watch_judgement judgement)
{
	const struct fsq_amounts *amounts = &dquot->form[form];
	unsigned int level = level_of(ids, dquot, form), still = ~0U;

	if (judgement == WATCH_BASELINE) {
		id->form[form].reported = level;
		id->form[form].told_hard = level & LEVEL_HARD;
		if (level & LEVEL_HARD)
			mark_hard(id, form, amounts);
		return;
	}
	/* The kernel has just warned; report that before the use that fell since. */
	if (id->tally[form][WATCH_HARD_REACHED].count == 0)
		still = still_above(id, form, amounts, level);
	if (judgement == WATCH_KERNEL)
		level &= LEVEL_GRACE | LEVEL_PERCENT;
	if (change_state(ids, id, form, still, level, NULL) & LEVEL_HARD)
		mark_hard(id, form, amounts);
}

void watch_ids_judge(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
		     const struct fsq_dquot *dquot, enum watch_judgement judgement)
{
	struct watch_id *id = watch_ids_find(ids, volume, type, dquot->id);

	if (!id) {
		if (level_of(ids, dquot, FSQ_BLOCKS) == 0 && level_of(ids, dquot, FSQ_INODES) == 0)
			return;
		id = add_id(ids, volume, type, dquot->id);
		if (!id)
			return;
	}
	id->pass = ids->pass;
	for (enum fsq_form form = FSQ_BLOCKS; form < WATCH_FORMS; form++)
		judge_form(ids, id, form, dquot, judgement);
	drop_if_idle(ids, id);
}

void watch_ids_estimate(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
			uint32_t number, int64_t seconds)
{
	struct watch_id *id = watch_ids_find(ids, volume, type, number);
	bool reported = id && (id->form[FSQ_BLOCKS].reported & LEVEL_FULL_SOON);
	uint64_t most = reported ? ids->within + ids->within / 4 : ids->within;
	bool soon = seconds != FIELD_NO_SECONDS && (uint64_t)seconds <= most;

	if (!id && soon)
		id = add_id(ids, volume, type, number);
	if (!id)
		return;
	change_state(ids, id, FSQ_BLOCKS, soon ? ~0U : ~(unsigned int)LEVEL_FULL_SOON,
		     soon ? LEVEL_FULL_SOON : 0, NULL);
	id->full_seconds = seconds;
}

/* --- reports --- */

void watch_ids_settle(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot)
{
	for (enum fsq_form form = FSQ_BLOCKS; form < WATCH_FORMS; form++) {
		unsigned int level = level_of(ids, dquot, form);
		struct watch_tally *hard = &id->tally[form][WATCH_HARD_REACHED];
		const struct fsq_amounts *amounts = &dquot->form[form];

		if (!hard->count || !id->form[form].mark_limit ||
		    !is_below_hard(id, form, amounts, level))
			continue;
		/* It was reported before: XFS repeats the warning. */
		if (id->form[form].told_hard)
			*hard = (struct watch_tally){ 0 };
		change_state(ids, id, form, still_above(id, form, amounts, level), 0, NULL);
	}
}

void watch_ids_reported(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot)
{
	for (enum fsq_form form = FSQ_BLOCKS; form < WATCH_FORMS; form++) {
		bool is_hard = id->tally[form][WATCH_HARD_REACHED].count &&
			       (id->form[form].reported & LEVEL_HARD);

		id->form[form].told_hard |= is_hard;
		if (is_hard && dquot)
			mark_hard(id, form, &dquot->form[form]);
		/* Without use, a single large write was refused. Use cannot become less, so forget the level. */
		if (dquot && dquot->form[form].used == 0)
			lower_levels(id, form, LEVEL_HARD);
	}
	memset(id->tally, 0, sizeof(id->tally));
	id->due = 0;
	for (size_t i = 0; i < id->directory_count; i++)
		free(id->directories[i]);
	id->directory_count = 0;
	id->is_reported = false;
	drop_if_idle(ids, id);
}
