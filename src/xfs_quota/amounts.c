/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DAY 86400

struct scale {
	uint64_t unit;
	char letter;
};

/* Print a value in the unit of @scale; one decimal if it is no multiple of the unit. */
static void human_cell(char cell[XQ_CELL], uint64_t value, const struct scale *scale)
{
	if (value % scale->unit == 0)
		snprintf(cell, XQ_CELL, "%3llu%c", (unsigned long long)(value / scale->unit),
			 scale->letter);
	else
		snprintf(cell, XQ_CELL, "%3.1f%c", (double)value / (double)scale->unit,
			 scale->letter);
}

/* 512-byte blocks in the largest of K, M, G, T, P, E they reach, e.g. "10M" or "1.5G". */
static void cell_blocks(char cell[XQ_CELL], uint64_t blocks)
{
	static const struct scale scales[] = {
		{ 1ULL << 51, 'E' }, { 1ULL << 41, 'P' }, { 1ULL << 31, 'T' },
		{ 1ULL << 21, 'G' }, { 1ULL << 11, 'M' }, { 1ULL << 1, 'K' },
	};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (blocks >= scales[i].unit) {
			human_cell(cell, blocks, &scales[i]);
			return;
		}
	snprintf(cell, XQ_CELL, "%4s", blocks ? "512" : "0");
}

/* Inodes in the largest power of 1000 they exceed: k, m, b(illion), t, g, r. */
static void cell_inodes(char cell[XQ_CELL], uint64_t inodes)
{
	/* xfs_quota computes the first unit, 10^21, in 64 bits, where it overflows. */
	static const struct scale scales[] = {
		{ 3875820019684212736U, 's' },
		{ 1000000000000000000U, 'r' },
		{ 1000000000000000U, 'g' },
		{ 1000000000000U, 't' },
		{ 1000000000U, 'b' },
		{ 1000000U, 'm' },
		{ 1000U, 'k' },
	};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (inodes > scales[i].unit) {
			human_cell(cell, inodes, &scales[i]);
			return;
		}
	snprintf(cell, XQ_CELL, "%4llu", (unsigned long long)inodes);
}

void xq_cell_grace(char cell[XQ_CELL], int64_t seconds, bool exact, bool human)
{
	long long days, clock;

	if (seconds == XQ_NO_GRACE) {
		snprintf(cell, XQ_CELL, human ? "[------]" : "[--------]");
		return;
	}
	if (!exact && seconds > DAY)
		seconds += 30;
	days = seconds / DAY;
	clock = seconds % DAY;
	if (clock == 0 || (!exact && days > 0))
		snprintf(cell, XQ_CELL, "[%lld day%s]", days, days == 1 ? "" : "s");
	else if (exact)
		snprintf(cell, XQ_CELL, "[%lld day%s %02lld:%02lld:%02lld]", days,
			 days == 1 ? "" : "s", clock / 3600, clock / 60 % 60, clock % 60);
	else
		snprintf(cell, XQ_CELL, human ? "%02lld:%02lld:%02lld" : "[%02lld:%02lld:%02lld]",
			 clock / 3600, clock / 60 % 60, clock % 60);
}

void xq_write_columns(struct writer *to, enum fsq_form form, bool human, uint64_t first,
		      uint64_t second, uint64_t third)
{
	const uint64_t amounts[] = { first, second, third };
	char cell[XQ_CELL];

	for (int i = 0; i < 3; i++) {
		write_char(to, ' ');
		if (!human) {
			write_number_right(to, form == FSQ_INODES ? amounts[i] : amounts[i] / 2,
					   10);
			continue;
		}
		if (form == FSQ_INODES)
			cell_inodes(cell, amounts[i]);
		else
			cell_blocks(cell, amounts[i]);
		write_right(to, cell, 6);
	}
}

void xq_write_amounts(struct writer *to, enum fsq_form form, bool human,
		      const struct fsq_amounts *amounts, size_t gap)
{
	char cell[XQ_CELL];
	int64_t now;

	xq_write_columns(to, form, human, amounts->used, amounts->soft, amounts->hard);
	write_blanks(to, gap);
	write_number_zeros(to, amounts->warnings, 2);
	if (amounts->hard && amounts->used > amounts->hard) {
		write_text(to, human ? " [-none-]" : " [--none--]");
		return;
	}
	/* Most rows have no grace time that runs: do not call time(2) for them. */
	if (!amounts->expires) {
		write_text(to, human ? " [------]" : " [--------]");
		return;
	}
	now = time(NULL);
	xq_cell_grace(cell, amounts->expires > now ? amounts->expires - now : 0, false, human);
	write_char(to, ' ');
	write_right(to, cell, human ? 8 : 9);
}

bool xq_is_unused(const struct style *style, const struct fsq_dquot *dquot)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (style->form[form] && dquot->form[form].used)
			return false;
	return true;
}

bool xq_has_limits(const struct style *style, const struct fsq_dquot *dquot)
{
	for (int form = 0; form < FSQ_FORMS; form++)
		if (style->form[form] && (dquot->form[form].soft || dquot->form[form].hard))
			return true;
	return false;
}

uint32_t xq_number(const char *word)
{
	return word ? (uint32_t)strtol(word, NULL, 10) : 0;
}
