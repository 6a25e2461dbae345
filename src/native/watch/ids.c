/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "shared/clock.h"
#include "shared/sort.h"

/*
 * How long the events of an ID are gathered. Those that are due are reported together, so that the files of
 * the registry are read at most ten times a second.
 */
#define GATHER_MILLISECONDS 1000
#define TICK_MILLISECONDS 100

/* With less space than this left nothing can be written any more: a block of 4096 bytes. */
#define BLOCK 8

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

static struct watch_id *add(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
			    uint32_t number)
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

static void drop(struct watch_ids *ids, struct watch_id *id)
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
		drop(ids, id);
}

static void mark(struct watch_id *id, int form, const struct fsq_amounts *amounts)
{
	id->form[form].marked = true;
	id->form[form].mark = amounts->used;
	id->form[form].mark_limit = amounts->hard;
}

/* @levels   enum watch_level that it is below of */
static void lower(struct watch_id *id, int form, unsigned int levels)
{
	id->form[form].reported &= ~levels;
	if (levels & LEVEL_HARD)
		id->form[form].marked = id->form[form].told_hard = false;
}

/* --- what is due --- */

/* Whatever the ID was linked to in another list, it is the last one of this. */
static void append(struct watch_id ***end, struct watch_id *id)
{
	id->next_due = NULL;
	**end = id;
	*end = &id->next_due;
}

static void add_event(struct watch_ids *ids, struct watch_id *id, int form, enum watch_event event,
		      const struct fsq_warning *warning)
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

void watch_ids_reported(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot)
{
	for (int form = 0; form < WATCH_FORMS; form++) {
		bool is_hard = id->tally[form][WATCH_HARD_REACHED].count &&
			       (id->form[form].reported & LEVEL_HARD);

		id->form[form].told_hard |= is_hard;
		if (is_hard && dquot)
			mark(id, form, &dquot->form[form]);
		/* A single large write was refused: use cannot fall below. */
		if (dquot && dquot->form[form].used == 0)
			lower(id, form, LEVEL_HARD);
	}
	memset(id->tally, 0, sizeof(id->tally));
	id->due = 0;
	for (size_t i = 0; i < id->directory_count; i++)
		free(id->directories[i]);
	id->directory_count = 0;
	id->is_reported = false;
	drop_if_idle(ids, id);
}

void watch_ids_forget(struct watch_ids *ids, const struct watch_volume *volume)
{
	struct watch_id *next;

	watch_ids_take_due(ids, volume, INT64_MAX);
	for (struct watch_id *id = ids->all; id; id = next) {
		next = id->next;
		if (!volume || id->volume == volume)
			drop(ids, id);
	}
}

/* --- warnings of the kernel --- */

void watch_ids_warn(struct watch_ids *ids, struct watch_volume *volume,
		    const struct fsq_warning *warning)
{
	_Static_assert((int)FSQ_WARNING_BELOW_HARD == (int)WATCH_BELOW_HARD, "the same order");
	struct watch_id *id = watch_ids_find(ids, volume, warning->type, warning->id);
	enum watch_event event = (enum watch_event)warning->kind;
	unsigned int *reported;

	if (!id)
		id = add(ids, volume, warning->type, warning->id);
	if (!id)
		return;
	reported = &id->form[warning->form].reported;
	/* Without a soft limit, ext4 takes it for 0. */
	if (event == WATCH_BELOW_SOFT && !(*reported & LEVEL_SOFT))
		event = WATCH_BELOW_HARD;
	switch (event) {
	case WATCH_SOFT_REACHED:
		/* XFS warns at every write. */
		if (!(*reported & LEVEL_SOFT))
			add_event(ids, id, (int)warning->form, event, warning);
		*reported |= LEVEL_SOFT;
		break;
	case WATCH_BELOW_SOFT:
		lower(id, (int)warning->form, LEVEL_SOFT | LEVEL_GRACE | LEVEL_HARD);
		add_event(ids, id, (int)warning->form, event, warning);
		break;
	case WATCH_BELOW_HARD:
		if (*reported & LEVEL_HARD)
			add_event(ids, id, (int)warning->form, event, warning);
		lower(id, (int)warning->form, LEVEL_HARD);
		break;
	default:
		*reported |= event == WATCH_HARD_REACHED ? LEVEL_HARD : LEVEL_GRACE | LEVEL_SOFT;
		add_event(ids, id, (int)warning->form, event, warning);
	}
	drop_if_idle(ids, id);
}

/* --- what is polled --- */

static uint64_t limit_of(enum fsq_form form, uint64_t limit)
{
	return form == FSQ_BLOCKS && fsq_limit_is_none(limit) ? 0 : limit;
}

static unsigned int level_of(const struct watch_ids *ids, const struct fsq_dquot *dquot,
			     enum fsq_form form)
{
	const struct fsq_amounts *amounts = &dquot->form[form];
	uint64_t soft = limit_of(form, amounts->soft), hard = limit_of(form, amounts->hard);
	unsigned int level = 0;

	if (soft && amounts->used > soft)
		level |= LEVEL_SOFT;
	if ((level & LEVEL_SOFT) && amounts->expires && amounts->expires <= time(NULL))
		level |= LEVEL_GRACE;
	if (hard && (amounts->used >= hard || (form == FSQ_BLOCKS && hard - amounts->used < BLOCK)))
		level |= LEVEL_HARD;
	if (ids->over > 0 && records_percent(dquot, form) >= ids->over)
		level |= LEVEL_PERCENT;
	return level;
}

/*
 * A write may have been refused with some room left: then there must be more room than at that time, which may
 * not be known.
 */
static bool is_below_hard(const struct watch_id *id, enum fsq_form form,
			  const struct fsq_amounts *amounts, unsigned int level)
{
	return !(level & LEVEL_HARD) && (!amounts->hard || amounts->used < id->form[form].mark ||
					 amounts->hard != id->form[form].mark_limit);
}

static void judge_down(struct watch_ids *ids, struct watch_id *id, enum fsq_form form,
		       const struct fsq_amounts *amounts, unsigned int level)
{
	unsigned int *reported = &id->form[form].reported;

	if ((*reported & LEVEL_SOFT) && !(level & LEVEL_SOFT)) {
		add_event(ids, id, (int)form, WATCH_BELOW_SOFT, NULL);
		lower(id, (int)form, LEVEL_SOFT | LEVEL_GRACE | LEVEL_HARD);
	} else if ((*reported & LEVEL_HARD) && is_below_hard(id, form, amounts, level)) {
		add_event(ids, id, (int)form, WATCH_BELOW_HARD, NULL);
		lower(id, (int)form, LEVEL_HARD);
	}
	if ((*reported & LEVEL_PERCENT) && !(level & LEVEL_PERCENT)) {
		add_event(ids, id, (int)form, WATCH_BELOW_PERCENT, NULL);
		lower(id, (int)form, LEVEL_PERCENT);
	}
	/* The record may be gone, so there is no estimate. */
	if ((*reported & LEVEL_FULL_SOON) && amounts->used == 0) {
		add_event(ids, id, (int)form, WATCH_NOT_FULL_SOON, NULL);
		lower(id, (int)form, LEVEL_FULL_SOON);
		id->full_seconds = FIELD_NO_SECONDS;
	}
}

static void judge_form(struct watch_ids *ids, struct watch_id *id, enum fsq_form form,
		       const struct fsq_dquot *dquot, enum watch_judgement judgement)
{
	const struct fsq_amounts *amounts = &dquot->form[form];
	unsigned int level = level_of(ids, dquot, form), *reported = &id->form[form].reported;
	unsigned int reported_by_kernel = LEVEL_SOFT | LEVEL_HARD, risen;

	if (judgement == WATCH_BASELINE) {
		*reported = level;
		id->form[form].told_hard = level & LEVEL_HARD;
	} else {
		/* The kernel has just warned; report that before the use that fell since. */
		if (id->tally[form][WATCH_HARD_REACHED].count == 0)
			judge_down(ids, id, form, amounts, level);
		level &= ~*reported;
		risen = judgement == WATCH_KERNEL ? level & ~reported_by_kernel : level;
		if (risen & LEVEL_SOFT)
			add_event(ids, id, (int)form, WATCH_SOFT_REACHED, NULL);
		if (risen & LEVEL_GRACE)
			add_event(ids, id, (int)form, WATCH_GRACE_OVER, NULL);
		if (risen & LEVEL_HARD)
			add_event(ids, id, (int)form, WATCH_HARD_REACHED, NULL);
		if (risen & LEVEL_PERCENT)
			add_event(ids, id, (int)form, WATCH_PERCENT_REACHED, NULL);
		*reported |= risen & LEVEL_GRACE ? risen | LEVEL_SOFT : risen;
	}
	if (judgement != WATCH_KERNEL && (level & LEVEL_HARD))
		mark(id, (int)form, amounts);
}

void watch_ids_settle(struct watch_ids *ids, struct watch_id *id, const struct fsq_dquot *dquot)
{
	for (int form = 0; form < WATCH_FORMS; form++) {
		unsigned int level = level_of(ids, dquot, (enum fsq_form)form);
		struct watch_tally *hard = &id->tally[form][WATCH_HARD_REACHED];
		const struct fsq_amounts *amounts = &dquot->form[form];

		if (!hard->count || !id->form[form].marked ||
		    !is_below_hard(id, (enum fsq_form)form, amounts, level))
			continue;
		/* XFS has repeated it. */
		if (id->form[form].told_hard)
			*hard = (struct watch_tally){ 0 };
		judge_down(ids, id, (enum fsq_form)form, amounts, level);
	}
}

void watch_ids_judge(struct watch_ids *ids, struct watch_volume *volume, enum fsq_type type,
		     const struct fsq_dquot *dquot, enum watch_judgement judgement)
{
	struct watch_id *id = watch_ids_find(ids, volume, type, dquot->id);

	if (!id) {
		if (level_of(ids, dquot, FSQ_BLOCKS) == 0 && level_of(ids, dquot, FSQ_INODES) == 0)
			return;
		id = add(ids, volume, type, dquot->id);
		if (!id)
			return;
	}
	id->pass = ids->pass;
	for (int form = 0; form < WATCH_FORMS; form++)
		judge_form(ids, id, (enum fsq_form)form, dquot, judgement);
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
		id = add(ids, volume, type, number);
	if (!id)
		return;
	id->full_seconds = seconds;
	if (soon == reported)
		return;
	id->form[FSQ_BLOCKS].reported ^= LEVEL_FULL_SOON;
	add_event(ids, id, FSQ_BLOCKS, soon ? WATCH_FULL_SOON : WATCH_NOT_FULL_SOON, NULL);
}
