/* SPDX-License-Identifier: Apache-2.0 */
#include "xfs_quota_text.h"

#include <stdio.h>

#include "cells.h"
#include "change_text.h"
#include "native_text.h"
#include "renderer.h"
#include "watch_rows.h"

static const char *type_word(enum row_type type)
{
	static const char *const words[] = { "User", "Group", "Project" };

	return words[type];
}

static void write_human(struct writer *w, enum row_form form, uint64_t units)
{
	char cell[CELL];

	if (form == ROW_INODES)
		cell_inodes(cell, units);
	else
		cell_blocks(cell, units);
	write_right(w, cell, 6);
}

static void write_three(struct writer *w, enum row_form form, bool human, uint64_t first,
			uint64_t second, uint64_t third)
{
	const uint64_t units[] = { first, second, third };

	for (int i = 0; i < 3; i++) {
		write_char(w, ' ');
		if (human)
			write_human(w, form, units[i]);
		else
			write_number_right(w, form == ROW_INODES ? units[i] : units[i] / 2, 10);
	}
}

static void write_grace(struct writer *w, const struct amounts_row *amounts, bool human)
{
	char cell[CELL];

	if (amounts->hard_units && amounts->used_units > amounts->hard_units) {
		write_text(w, human ? " [-none-]" : " [--none--]");
		return;
	}
	/* Nearly every row of a report. */
	if (amounts->grace_seconds == ROW_NO_GRACE) {
		if (human)
			write_text(w, " [------]");
		else
			write_text(w, " [--------]");
		return;
	}
	write_char(w, ' ');
	cell_grace(cell, amounts->grace_seconds, false, human);
	write_right(w, cell, human ? 8 : 9);
}

static void write_amounts(struct writer *w, const struct row_style *style, enum row_form form,
			  const struct amounts_row *amounts, size_t gap)
{
	write_three(w, form, style->human, amounts->used_units, amounts->soft_units,
		    amounts->hard_units);
	write_blanks(w, gap);
	write_number_zeros(w, amounts->warnings, 2);
	write_grace(w, amounts, style->human);
}

static void quota_begin(struct writer *w, const struct row_style *style,
			const struct owner_row *owner)
{
	static const char *const plain[] = {
		"     Blocks      Quota      Limit  Warn/Time      ",
		"      Files      Quota      Limit  Warn/Time      ",
		"   Realtime      Quota      Limit  Warn/Time      ",
	};
	static const char *const human[] = {
		" Blocks  Quota  Limit Warn/Time    ",
		"  Files  Quota  Limit Warn/Time    ",
		"Realtime Quota  Limit Warn/Time    ",
	};

	write_text(w, "Disk quotas for ");
	write_text(w, type_word(owner->type));
	write_char(w, ' ');
	if (owner->name) {
		write_safely(w, owner->name, 0);
	} else {
		write_char(w, '#');
		write_number(w, owner->id);
	}
	write_text(w, " (");
	write_number(w, owner->id);
	write_text(w, ")\n");
	write_left(w, "Filesystem", style->human ? 12 : 19);
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form])
			write_text(w, (style->human ? human : plain)[form]);
	write_text(w, "Mounted on\n");
}

static void quota_row(struct writer *w, const struct row_style *style, const struct usage_row *row)
{
	write_safely(w, row->device, style->human ? 12 : 19);
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form]) {
			write_amounts(w, style, (enum row_form)form, &row->form[form],
				      style->human ? 2 : 3);
			write_char(w, ' ');
		}
	write_safely(w, row->directory, 0);
	write_char(w, '\n');
}

static void report_begin(struct writer *w, const struct row_style *style, enum row_type type,
			 const char *directory, const char *device)
{
	static const char *const titles[] = { " Blocks ", " Inodes ", " Realtime Blocks " };
	static const size_t plain_gap[] = { 20, 20, 15 };
	static const size_t human_gap[] = { 13, 13, 9 };
	static const char *const plain[] = {
		"      Used       Soft       Hard    Warn/Grace     ",
		"      Used       Soft       Hard    Warn/ Grace     ",
		"      Used       Soft       Hard    Warn/Grace     ",
	};
	static const char *const human[] = {
		"  Used   Soft   Hard Warn/Grace   ",
		"  Used   Soft   Hard Warn/Grace  ",
		"  Used   Soft   Hard Warn/Grace   ",
	};
	static const char *const ids[] = { "User ID    ", "Group ID   ", "Project ID " };

	write_text(w, type_word(type));
	write_text(w, " quota on ");
	write_safely(w, directory, 0);
	write_text(w, " (");
	write_safely(w, device, 0);
	write_text(w, ")\n");
	write_blanks(w, 10);
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form]) {
			size_t gap = (style->human ? human_gap : plain_gap)[form];

			write_blanks(w, gap);
			write_text(w, titles[form]);
			write_blanks(w, gap);
		}
	write_char(w, '\n');
	write_text(w, ids[type]);
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form])
			write_text(w, (style->human ? human : plain)[form]);
	write_text(w, "\n---------- ");
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form]) {
			for (int i = 0; i < (style->human ? 33 : 50); i++)
				write_char(w, '-');
			write_char(w, ' ');
		}
	write_char(w, '\n');
}

static void report_row(struct writer *w, const struct row_style *style, const struct usage_row *row)
{
	if (row->owner.name) {
		write_safely(w, row->owner.name, 10);
	} else {
		write_char(w, '#');
		/* One column too wide without names: scripts know it so. */
		write_number_left(w, row->owner.id, style->numeric ? 10 : 9);
	}
	for (int form = 0; form < ROW_FORMS; form++)
		if (style->form[form])
			write_amounts(w, style, (enum row_form)form, &row->form[form],
				      style->human ? 2 : 5);
	write_char(w, '\n');
}

static void report_end(struct writer *w)
{
	write_char(w, '\n');
}

static void write_state_grace(struct writer *w, const char *title, int64_t seconds)
{
	char cell[CELL];

	cell_grace(cell, seconds, true, false);
	write_text(w, title);
	write_text(w, " grace time: ");
	write_text(w, cell);
	write_char(w, '\n');
}

static void write_state_warnings(struct writer *w, const char *title, unsigned int warnings)
{
	write_text(w, title);
	write_text(w, " max warnings: ");
	write_number(w, warnings);
	write_char(w, '\n');
}

static void state_row(struct writer *w, const struct state_row *row)
{
	write_text(w, type_word(row->type));
	write_text(w, " quota state on ");
	write_safely(w, row->directory, 0);
	write_text(w, " (");
	write_safely(w, row->device, 0);
	write_text(w, ")\n  Accounting: ");
	write_text(w, row->accounting ? "ON" : "OFF");
	write_text(w, "\n  Enforcement: ");
	write_text(w, row->enforced ? "ON" : "OFF");
	write_text(w, "\n  Inode: ");
	if (row->has_inode) {
		write_char(w, '#');
		write_number(w, row->inode);
		write_text(w, " (");
		write_number(w, row->blocks);
		write_text(w, " blocks, ");
		write_number(w, row->extents);
		write_text(w, " extents)\n");
	} else {
		write_text(w, "N/A\n");
	}
	write_state_grace(w, "Blocks", row->grace_seconds[ROW_BLOCKS]);
	write_state_warnings(w, "Blocks", row->max_warnings[ROW_BLOCKS]);
	write_state_grace(w, "Inodes", row->grace_seconds[ROW_INODES]);
	write_state_warnings(w, "Inodes", row->max_warnings[ROW_INODES]);
	write_state_grace(w, "Realtime Blocks", row->grace_seconds[ROW_REALTIME]);
	if (row->has_realtime_warnings)
		write_state_warnings(w, "Realtime Blocks", row->max_warnings[ROW_REALTIME]);
}

static void state_off(struct writer *w, enum row_type type, const char *device)
{
	write_text(w, type_word(type));
	write_text(w, " quota are not enabled on ");
	write_safely(w, device, 0);
	write_char(w, '\n');
}

static void limits_row(struct writer *w, const struct limits_row *row)
{
	bool realtime = row->soft_units[ROW_REALTIME] || row->hard_units[ROW_REALTIME];

	write_text(w, "fs = ");
	write_safely(w, row->device, 0);
	write_char(w, '\n');
	write_number_left(w, row->id, 10);
	for (int form = 0; form < (realtime ? ROW_FORMS : ROW_REALTIME); form++) {
		write_char(w, ' ');
		write_number_right(w, row->soft_units[form], 7);
		write_char(w, ' ');
		write_number_right(w, row->hard_units[form], 7);
	}
	write_char(w, '\n');
}

static void write_place(struct writer *w, const char *directory, const char *device)
{
	write_safely(w, device, 0);
	write_text(w, " (");
	write_safely(w, directory, 0);
	write_char(w, ')');
}

static void ownership_begin(struct writer *w, enum row_type type, const char *directory,
			    const char *device)
{
	write_place(w, directory, device);
	write_char(w, ' ');
	write_text(w, type_word(type));
	write_text(w, ":\n");
}

static void ownership_row(struct writer *w, const struct ownership_row *row, bool files,
			  bool unread)
{
	char name[CELL];

	write_number_right(w, row->kib, 8);
	write_blanks(w, 4);
	if (files) {
		write_number_right(w, row->files, 8);
		write_blanks(w, 4);
	}
	if (row->owner.name)
		snprintf(name, sizeof(name), "%-8.8s", row->owner.name);
	else
		snprintf(name, sizeof(name), "#%-7d", (int)row->owner.id);
	write_safely(w, name, 0);
	for (int i = 0; unread && i < 3; i++) {
		write_blanks(w, 4);
		write_number_right(w, row->unread_kib[i], 8);
	}
	write_char(w, '\n');
}

static void file_size_begin(struct writer *w, const char *directory, const char *device)
{
	write_place(w, directory, device);
	write_text(w, ":\n");
}

static void file_size_row(struct writer *w, const struct file_size_row *row)
{
	write_number(w, row->kib);
	write_char(w, '\t');
	write_number(w, row->files);
	write_char(w, '\t');
	write_number(w, row->sum_kib);
	write_char(w, '\n');
}

static enum row_form space_form(const struct row_style *style)
{
	return style->form[ROW_BLOCKS]	 ? ROW_BLOCKS
	       : style->form[ROW_INODES] ? ROW_INODES
					 : ROW_REALTIME;
}

static void space_begin(struct writer *w, const struct row_style *style)
{
	bool blocks = style->form[ROW_BLOCKS] || style->form[ROW_REALTIME];

	write_left(w, "Filesystem", style->human ? 12 : 20);
	if (style->human)
		write_text(w, blocks ? "   Size   Used  Avail Use%" : " Inodes   Used   Free Use%");
	else
		write_text(w, blocks ? " 1K-blocks       Used  Available  Use%"
				     : "    Inodes      IUsed      IFree IUse%");
	write_text(w, " Pathname\n");
}

static void space_row(struct writer *w, const struct row_style *style, const struct space_row *row)
{
	enum row_form form = space_form(style);
	uint64_t percent = 0;

	if (row->total_units)
		percent = (uint64_t)(100.0 * (double)row->used_units / (double)row->total_units +
				     0.5);
	write_safely(w, row->device, style->human ? 12 : 19);
	write_three(w, form, style->human, row->total_units, row->used_units, row->available_units);
	write_blanks(w, style->human ? 1 : 2);
	write_number_right(w, percent, 3);
	write_text(w, "% ");
	write_safely(w, row->directory, 0);
	write_char(w, '\n');
}

static void paths_begin(struct writer *w, bool numbered, bool foreign)
{
	if (numbered)
		write_blanks(w, 6);
	if (foreign)
		write_blanks(w, 4);
	write_text(w, "Filesystem          Pathname\n");
}

static void write_path_types(struct writer *w, const struct path_row *row)
{
	static const char *const on[] = { "uquota", "gquota", "pquota" };
	static const char *const off[] = { "uqnoenforce", "gqnoenforce", "pqnoenforce" };
	const char *before = " (";

	for (int type = 0; type < 3; type++)
		if (row->accounting[type]) {
			write_text(w, before);
			write_text(w, (row->enforced[type] ? on : off)[type]);
			before = ", ";
		}
	if (before[0] == ',')
		write_char(w, ')');
}

static void paths_row(struct writer *w, bool numbered, bool foreign, const struct path_row *row)
{
	if (numbered) {
		write_char(w, row->current ? '[' : ' ');
		write_number_zeros(w, row->index, 3);
		write_text(w, row->current ? "] " : "  ");
	}
	if (foreign)
		write_text(w, row->foreign ? "(F) " : "    ");
	write_safely(w, row->directory, 19);
	write_char(w, ' ');
	write_safely(w, row->device, 0);
	if (row->is_project) {
		write_text(w, " (project ");
		write_number(w, row->project.id);
		if (row->project.name) {
			write_text(w, ", ");
			write_safely(w, row->project.name, 0);
		}
		write_char(w, ')');
	} else {
		write_path_types(w, row);
	}
	write_char(w, '\n');
}

static void project_begin(struct writer *w, enum project_action action, const char *project,
			  const char *directory)
{
	static const char *const words[] = { "Checking", "Setting up", "Clearing" };

	write_text(w, words[action]);
	write_text(w, " project ");
	write_safely(w, project, 0);
	write_text(w, " (path ");
	write_safely(w, directory, 0);
	write_text(w, ")...\n");
}

static void project_wrong_id(struct writer *w, const char *path, uint32_t is, uint32_t wanted)
{
	write_safely(w, path, 0);
	write_text(w, " - project identifier is not set (inode=");
	write_number(w, is);
	write_text(w, ", tree=");
	write_number(w, wanted);
	write_text(w, ")\n");
}

static void project_no_inheritance(struct writer *w, const char *path)
{
	write_safely(w, path, 0);
	write_text(w, " - project inheritance flag is not set\n");
}

static void project_end(struct writer *w, unsigned int directories, const char *projects_file,
			const char *project, int depth)
{
	write_text(w, "Processed ");
	write_number(w, directories);
	write_text(w, " (");
	write_safely(w, projects_file, 0);
	write_text(w, " and cmdline) paths for project ");
	write_safely(w, project, 0);
	write_text(w, " with recursion depth ");
	if (depth < 0) {
		write_text(w, "infinite (-1).\n");
	} else {
		write_text(w, "limited (");
		write_signed(w, depth);
		write_text(w, ").\n");
	}
}

const struct renderer text_renderer = {
	.quota_begin = quota_begin,
	.quota_row = quota_row,
	.report_begin = report_begin,
	.report_row = report_row,
	.report_end = report_end,
	.state_row = state_row,
	.state_off = state_off,
	.limits_row = limits_row,
	.ownership_begin = ownership_begin,
	.ownership_row = ownership_row,
	.file_size_begin = file_size_begin,
	.file_size_row = file_size_row,
	.space_begin = space_begin,
	.space_row = space_row,
	.paths_begin = paths_begin,
	.paths_row = paths_row,
	.project_begin = project_begin,
	.project_wrong_id = project_wrong_id,
	.project_no_inheritance = project_no_inheritance,
	.project_end = project_end,
	.id_row = text_id_row,
	.attributes_row = text_attributes_row,
	.found_row = text_found_row,
	.attributes_enter = text_attributes_enter,
	.attributes_leave = text_attributes_leave,
	.support = text_support,
	.leftover_row = text_leftover_row,
	.applied_row = text_applied_row,
	.changed_quota_row = text_changed_quota_row,
	.switched_row = text_switched_row,
	.changed_tree_row = text_changed_tree_row,
	.released_row = text_released_row,
	.watch_row = text_watch_row,
	.finding_row = text_finding_row,
};
