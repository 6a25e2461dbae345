/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tap.h"
#include "xfs_quota/amounts.h"

static bool blocks(uint64_t value, const char *wanted)
{
	char cell[XQ_CELL];

	xq_cell_blocks(cell, value);
	return strcmp(cell, wanted) == 0;
}

static bool inodes(uint64_t value, const char *wanted)
{
	char cell[XQ_CELL];

	xq_cell_inodes(cell, value);
	return strcmp(cell, wanted) == 0;
}

static bool grace(int64_t seconds, bool exact, bool human, const char *wanted)
{
	char cell[XQ_CELL];

	xq_cell_grace(cell, seconds, exact, human);
	return strcmp(cell, wanted) == 0;
}

int main(void)
{
	ok(blocks(0, "   0") && blocks(1, " 512"), "nothing, and half a KiB");
	ok(blocks(2, "  1K") && blocks(3, "1.5K") && blocks(2047, "1023.5K"), "KiB");
	ok(blocks(2048, "  1M") && blocks(1023 * 2048, "1023M"), "no rounding up to the next unit");
	ok(blocks(1ULL << 21, "  1G") && blocks(1ULL << 31, "  1T"), "GiB and TiB");
	ok(blocks(1ULL << 54, "  8E") && blocks(UINT64_MAX, "8192.0E"), "the largest of all");

	ok(inodes(0, "   0") && inodes(1000, "1000") && inodes(1001, "1.0k"),
	   "thousands are exceeded");
	ok(inodes(1000000, "1000k") && inodes(1500000, "1.5m"), "millions");
	ok(inodes(1000000001, "1.0b") && inodes(5000000000000000, "  5g"), "billions and more");
	ok(inodes(5000000000000000000, "1.3s"), "where 10^21 overflowed");

	ok(grace(XQ_NO_GRACE, false, false, "[--------]"), "no grace time");
	ok(grace(XQ_NO_GRACE, false, true, "[------]"), "the same, narrow");
	ok(grace(0, false, false, "[0 days]") && grace(86400, false, false, "[1 day]"), "days");
	ok(grace(172769, false, false, "[1 day]") && grace(172771, false, false, "[2 days]"),
	   "half a minute is rounded up");
	ok(grace(86399, false, false, "[23:59:59]") && grace(86399, false, true, "23:59:59"),
	   "less than a day");
	ok(grace(90, true, false, "[0 days 00:01:30]") && grace(604800, true, false, "[7 days]") &&
		   grace(90001, true, false, "[1 day 01:00:01]"),
	   "configured times are exact");
	return tap_end();
}
