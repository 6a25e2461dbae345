/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin.h"

#include <stdlib.h>

#include "native/rows/sentence.h"

/* Monitors cut lines: of a state, and of performance data, so many are shown. */
#define SENTENCES_SHOWN 10
#define VALUES_SHOWN 100

/* Add to a text by a writer. */
static void begin(struct writer *w, struct text *text)
{
	writer_start_text(w, text);
	if (text->used)
		write_char(w, ' ');
}

static enum plugin_state judge(const struct plugin *plugin, const struct project_row *row,
			       bool full, bool in_force)
{
	bool over = row->bytes_grace_seconds == 0 || row->inodes_grace_seconds == 0;

	if (over || row->percent >= plugin->critical || row->percent >= 100)
		return PLUGIN_CRITICAL;
	return full || !in_force || row->percent >= plugin->warning ? PLUGIN_WARNING : PLUGIN_OK;
}

static uint64_t part_of(uint64_t limit, double percent)
{
	return (uint64_t)((double)limit * percent / 100);
}

/* A label must not have what the line is split at. */
static void write_label(struct writer *w, const struct project_row *row)
{
	const char *name = sentence_name(row);

	if (!name)
		write_format(w, "ID %u", row->id);
	for (; name && *name; name++) {
		unsigned char c = (unsigned char)*name;

		write_char(w,
			   c < ' ' || c == 0x7f || c == '=' || c == '\'' || c == '|' ? '_' : *name);
	}
}

/* 'label'=value[unit];warning;critical;least;most */
static void write_value(struct plugin *plugin, struct writer *w, const struct project_row *row,
			enum fsq_form form)
{
	uint64_t used = form == FSQ_BLOCKS ? row->used_bytes : row->used_inodes;
	uint64_t limit = sentence_limit(row, form);

	if (used == FIELD_NOT_KNOWN || (form == FSQ_INODES && !limit))
		return;
	write_char(w, '\'');
	write_label(w, row);
	write_text(w, form == FSQ_BLOCKS ? "'=" : " inodes'=");
	write_number(w, used);
	write_text(w, form == FSQ_BLOCKS ? "B;" : ";");
	if (limit) {
		write_number(w, part_of(limit, plugin->warning));
		write_char(w, ';');
		write_number(w, part_of(limit, plugin->critical));
		write_text(w, ";0;");
		write_number(w, limit);
	} else {
		write_text(w, ";;0;");
	}
	write_char(w, ' ');
}

void plugin_add(struct plugin *plugin, const struct project_row *row, bool full, bool in_force)
{
	enum plugin_state state = judge(plugin, row, full, in_force);
	static struct writer w;

	if (plugin->count[state]++ < SENTENCES_SHOWN && state != PLUGIN_OK) {
		begin(&w, &plugin->told[state]);
		sentence_write(&w, row);
		if (!in_force)
			write_text(&w, ", but limits do not hold in it");
		write_char(&w, '.');
		plugin->no_memory |= writer_flush(&w) != 0;
	}
	if (plugin->value_count++ >= VALUES_SHOWN) {
		plugin->left_out++;
		return;
	}
	writer_start_text(&w, &plugin->values);
	write_value(plugin, &w, row, FSQ_BLOCKS);
	write_value(plugin, &w, row, FSQ_INODES);
	plugin->no_memory |= writer_flush(&w) != 0;
}

void plugin_warn(struct plugin *plugin, const char *sentence)
{
	static struct writer w;

	plugin->count[PLUGIN_WARNING]++;
	begin(&w, &plugin->told[PLUGIN_WARNING]);
	write_text(&w, sentence);
	plugin->no_memory |= writer_flush(&w) != 0;
}

/* The line is one, and has one bar. */
static void write_clean(struct writer *w, const struct text *text)
{
	size_t end = text->used;

	while (end && text->bytes[end - 1] == '\n')
		end--;
	for (size_t i = 0; i < end; i++)
		write_char(w,
			   text->bytes[i] == '|' || text->bytes[i] == '\n' ? ' ' : text->bytes[i]);
}

static void write_told(struct writer *w, const struct plugin *plugin, enum plugin_state state)
{
	if (!plugin->told[state].used)
		return;
	write_char(w, ' ');
	write_clean(w, &plugin->told[state]);
	if (plugin->count[state] > SENTENCES_SHOWN)
		write_format(w, " And %llu more.",
			     (unsigned long long)(plugin->count[state] - SENTENCES_SHOWN));
}

void plugin_show(struct session *session, struct plugin *plugin)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	static struct plugin nothing;
	enum plugin_state state;
	uint64_t judged = 0;
	struct writer *w = session->out;

	if (!plugin)
		plugin = &nothing;
	if (plugin->no_memory)
		session_no_memory(session);
	for (int i = PLUGIN_OK; i < PLUGIN_UNKNOWN; i++)
		judged += plugin->count[i];
	state = plugin->count[PLUGIN_CRITICAL]	? PLUGIN_CRITICAL
		: session->status		? PLUGIN_UNKNOWN
		: plugin->count[PLUGIN_WARNING] ? PLUGIN_WARNING
						: PLUGIN_OK;
	write_format(w, "FSQUOTA %s -", words[state]);
	write_told(w, plugin, PLUGIN_CRITICAL);
	if (session->first_error.used) {
		write_char(w, ' ');
		write_clean(w, &session->first_error);
	}
	write_told(w, plugin, PLUGIN_WARNING);
	if (state == PLUGIN_OK)
		write_format(w, " %llu judged, all below %g%%", (unsigned long long)judged,
			     plugin->warning);
	if (plugin->left_out)
		write_format(w, " (%llu projects have no performance data)",
			     (unsigned long long)plugin->left_out);
	if (plugin->values.used) {
		write_text(w, " | ");
		write_bytes(w, plugin->values.bytes, plugin->values.used - 1);
	}
	write_char(w, '\n');
	session->status = (int)state;
	session->keeps_error = false;
	for (int i = PLUGIN_OK; i < PLUGIN_UNKNOWN; i++)
		free(plugin->told[i].bytes);
	free(plugin->values.bytes);
}
