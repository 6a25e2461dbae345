/* SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include <stdio.h>

#include "rows.h"

#define DAY 86400

struct scale {
	uint64_t unit;
	char letter;
};

/* A value in the largest unit it reaches, with one decimal where it is no multiple. */
static void human_cell(char cell[CELL], uint64_t value, const struct scale *scale)
{
	if (value % scale->unit == 0)
		snprintf(cell, CELL, "%3llu%c", (unsigned long long)(value / scale->unit),
			 scale->letter);
	else
		snprintf(cell, CELL, "%3.1f%c", (double)value / (double)scale->unit, scale->letter);
}

void cell_blocks(char cell[CELL], uint64_t blocks)
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
	snprintf(cell, CELL, "%4s", blocks ? "512" : "0");
}

void cell_inodes(char cell[CELL], uint64_t inodes)
{
	/* The last is what 10^21 leaves in 64 bits. */
	static const struct scale scales[] = {
		{ 1000000000000000000U, 'r' }, { 1000000000000000U, 'g' }, { 1000000000000U, 't' },
		{ 1000000000U, 'b' },	       { 1000000U, 'm' },	   { 1000U, 'k' },
	};
	static const struct scale overflown = { 3875820019684212736U, 's' };

	if (inodes > overflown.unit) {
		human_cell(cell, inodes, &overflown);
		return;
	}
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (inodes > scales[i].unit) {
			human_cell(cell, inodes, &scales[i]);
			return;
		}
	snprintf(cell, CELL, "%4llu", (unsigned long long)inodes);
}

void cell_grace(char cell[CELL], int64_t seconds, bool exact, bool human)
{
	long long days, clock;

	if (seconds == ROW_NO_GRACE) {
		snprintf(cell, CELL, human ? "[------]" : "[--------]");
		return;
	}
	if (!exact && seconds > DAY)
		seconds += 30;
	days = seconds / DAY;
	clock = seconds % DAY;
	if (clock == 0 || (!exact && days > 0))
		snprintf(cell, CELL, "[%lld day%s]", days, days == 1 ? "" : "s");
	else if (exact)
		snprintf(cell, CELL, "[%lld day%s %02lld:%02lld:%02lld]", days,
			 days == 1 ? "" : "s", clock / 3600, clock / 60 % 60, clock % 60);
	else
		snprintf(cell, CELL, human ? "%02lld:%02lld:%02lld" : "[%02lld:%02lld:%02lld]",
			 clock / 3600, clock / 60 % 60, clock % 60);
}
