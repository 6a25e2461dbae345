/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "quota/units.h"

/* Commands copy by index. */
_Static_assert((int)ROW_BLOCKS == (int)FSQ_BLOCKS && (int)ROW_INODES == (int)FSQ_INODES &&
		       (int)ROW_REALTIME == (int)FSQ_REALTIME && (int)ROW_USER == (int)FSQ_USER &&
		       (int)ROW_GROUP == (int)FSQ_GROUP && (int)ROW_PROJECT == (int)FSQ_PROJECT,
	       "rows and quota records are in the same order");

void options_begin(void)
{
	/* See getopt.c: it starts anew at 0, and then looks at POSIXLY_CORRECT again. */
	optind = 0;
}

bool options_select(struct selection *selection, int option)
{
	switch (option) {
	case 'u':
		selection->type[FSQ_USER] = true;
		return true;
	case 'g':
		selection->type[FSQ_GROUP] = true;
		return true;
	case 'p':
		selection->type[FSQ_PROJECT] = true;
		return true;
	case 'b':
		selection->style.form[ROW_BLOCKS] = true;
		return true;
	case 'i':
		selection->style.form[ROW_INODES] = true;
		return true;
	case 'r':
		selection->style.form[ROW_REALTIME] = true;
		return true;
	case 'h':
		selection->style.human = true;
		return true;
	case 'n':
		selection->style.numeric = true;
		return true;
	default:
		return false;
	}
}

bool options_number(struct session *session, const char *text, uint32_t *number)
{
	/* As atoi(3) of glibc, where it is too large. */
	*number = (uint32_t)strtol(text, NULL, 10);
	if (!session->native || fsq_parse_id(text, number) == 0)
		return true;
	session_complain(session, 1, FSQ_E_USAGE, "%s is not a number from 0 to %u", text,
			 FSQ_ID_MAX);
	return false;
}

int options_type_count(const struct selection *selection)
{
	return selection->type[FSQ_USER] + selection->type[FSQ_GROUP] +
	       selection->type[FSQ_PROJECT];
}

enum fsq_type options_type(const struct selection *selection)
{
	if (selection->type[FSQ_PROJECT])
		return FSQ_PROJECT;
	return selection->type[FSQ_GROUP] ? FSQ_GROUP : FSQ_USER;
}

void options_default_form(struct selection *selection)
{
	const bool *form = selection->style.form;

	if (!form[ROW_BLOCKS] && !form[ROW_INODES] && !form[ROW_REALTIME])
		selection->style.form[ROW_BLOCKS] = true;
}

static int64_t grace_left(int64_t expires, int64_t *now)
{
	if (!expires)
		return ROW_NO_GRACE;
	if (!*now)
		*now = time(NULL);
	return expires > *now ? expires - *now : 0;
}

void options_usage_row(const struct fsq_dquot *dquot, int64_t *now, struct amounts_row row[])
{
	for (int form = 0; form < FSQ_FORMS; form++) {
		const struct fsq_amounts *amounts = &dquot->form[form];

		row[form] = (struct amounts_row){
			.used_units = amounts->used,
			.soft_units = amounts->soft,
			.hard_units = amounts->hard,
			.grace_seconds = grace_left(amounts->expires, now),
			.warnings = amounts->warnings,
		};
	}
}

bool options_is_unused(const struct row_style *style, const struct amounts_row row[])
{
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form] && row[form].used_units)
			return false;
	return true;
}

bool options_has_limits(const struct row_style *style, const struct amounts_row row[])
{
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form] && (row[form].soft_units || row[form].hard_units))
			return true;
	return false;
}
