/* SPDX-License-Identifier: Apache-2.0 */
#include "sentence.h"

#include "native/rows/records.h"

uint64_t sentence_limit(const struct project_row *row, enum fsq_form form)
{
	bool bytes = form == FSQ_BLOCKS;
	uint64_t hard = bytes ? row->hard_bytes : row->hard_inodes;
	uint64_t soft = bytes ? row->soft_bytes : row->soft_inodes;
	uint64_t shown = bytes ? row->limit_bytes : row->limit_inodes;

	int64_t grace = bytes ? row->bytes_grace_seconds : row->inodes_grace_seconds;
	uint64_t limit = first_limit(soft, hard, grace);

	return limit || shown == FIELD_NOT_KNOWN ? limit : shown;
}

const char *sentence_name(const struct project_row *row)
{
	return row->path ? row->path : row->shown_name ? row->shown_name : NULL;
}

static void write_amount(struct writer *w, uint64_t amount, enum fsq_form form)
{
	char cell[FIELD_CELL];

	if (form == FSQ_BLOCKS)
		write_text(w, field_size(cell, amount));
	else
		write_number(w, amount);
}

static void write_use(struct writer *w, const struct project_row *row, enum fsq_form form)
{
	bool bytes = form == FSQ_BLOCKS;
	uint64_t used = bytes ? row->used_bytes : row->used_inodes;
	uint64_t limit = sentence_limit(row, form);

	if (used == FIELD_NOT_KNOWN) {
		write_text(w, "use not known");
	} else {
		write_text(w,
			   (bytes ? row->bytes_at_least : row->inodes_at_least) ? "at least " : "");
		write_amount(w, used, form);
	}
	if (limit) {
		write_text(w, " of ");
		write_amount(w, limit, form);
	}
	write_text(w, bytes ? "" : " files");
	if (limit && used != FIELD_NOT_KNOWN)
		write_format(w, " (%.0f%%)", 100.0 * (double)used / (double)limit);
}

static void write_grace(struct writer *w, uint64_t soft, uint64_t hard, int64_t seconds,
			enum fsq_form form)
{
	char cell[FIELD_CELL];

	if (seconds == FIELD_NO_SECONDS)
		return;
	if (hard && soft) {
		write_text(w, ", above ");
		write_amount(w, soft, form);
	}
	if (seconds > 0)
		write_format(w, "; grace for %s", field_duration(cell, (uint64_t)seconds));
	else
		write_text(w, "; its grace time is over: nothing more can be written");
}

void sentence_write(struct writer *w, const struct project_row *row)
{
	const char *name = sentence_name(row);
	char cell[FIELD_CELL];
	bool inodes;

	if (name)
		write_escaped(w, name);
	else
		write_format(w, "ID %u", row->id);
	write_text(w, ": ");
	inodes = percent_of_limit(row->used_inodes, sentence_limit(row, FSQ_INODES)) >
		 percent_of_limit(row->used_bytes, sentence_limit(row, FSQ_BLOCKS));
	write_use(w, row, FSQ_BLOCKS);
	if (inodes) {
		write_text(w, ", ");
		write_use(w, row, FSQ_INODES);
	}
	if (row->full_seconds > 0)
		write_format(w, ", full in %s", field_duration(cell, (uint64_t)row->full_seconds));
	write_grace(w, row->soft_bytes, row->hard_bytes, row->bytes_grace_seconds, FSQ_BLOCKS);
	write_grace(w, row->soft_inodes, row->hard_inodes, row->inodes_grace_seconds, FSQ_INODES);
}
