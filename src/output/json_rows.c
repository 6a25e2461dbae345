/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as JSON. Every key is documented in fsquota-json(5), and keeps its name and type. */
#include "change_json.h"
#include "json.h"
#include "json_rows.h"
#include "native_text.h"
#include "renderer.h"
#include "watch_rows.h"

/* KEP-1029's "accounting without a limit": from its value for ext4 on, 2^58-1 bytes. */
#define UNLIMITED_BLOCKS ((1ULL << 49) - 1)

const char *json_type_word(enum row_type type)
{
	static const char *const words[] = { "user", "group", "project" };

	return words[type];
}

/* One object a line, each below the array that begin() opened. */
void json_row_begin(struct json *json, struct writer *w)
{
	json_start(json, w);
	write_text(w, w->rows++ ? ",\n" : "\n");
	json_open(json, NULL, '{');
}

void json_row_end(struct json *json)
{
	json_close(json, '}');
}

static void begin(struct writer *w, const char *name)
{
	write_text(w, "{\"");
	write_text(w, name);
	write_text(w, "\":[");
}

static void end(struct writer *w)
{
	write_text(w, w->rows ? "\n]}\n" : "]}\n");
}

static void bytes(struct json *json, const char *key, uint64_t blocks)
{
	json_number(json, key, blocks > UINT64_MAX / 512 ? UINT64_MAX : blocks * 512);
}

void json_limit_bytes(struct json *json, const char *key, uint64_t blocks)
{
	if (blocks == 0 || blocks >= UNLIMITED_BLOCKS)
		json_null(json, key);
	else
		bytes(json, key, blocks);
}

void json_limit_count(struct json *json, const char *key, uint64_t count)
{
	if (count == 0)
		json_null(json, key);
	else
		json_number(json, key, count);
}

void json_grace(struct json *json, const char *key, int64_t seconds)
{
	if (seconds == ROW_NO_GRACE)
		json_null(json, key);
	else
		json_number(json, key, (uint64_t)seconds);
}

void json_place(struct json *json, const char *device, const char *directory)
{
	json_string(json, "filesystem", device);
	json_string(json, "mountpoint", directory);
}

static void usage(struct writer *w, const struct row_style *style, const struct usage_row *row)
{
	const struct amounts_row *blocks = &row->form[ROW_BLOCKS];
	const struct amounts_row *inodes = &row->form[ROW_INODES];
	const struct amounts_row *realtime = &row->form[ROW_REALTIME];
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "type", json_type_word(row->owner.type));
	json_number(&json, "id", row->owner.id);
	json_string(&json, "name", row->owner.name);
	bytes(&json, "used_bytes", blocks->used_units);
	json_limit_bytes(&json, "soft_bytes", blocks->soft_units);
	json_limit_bytes(&json, "hard_bytes", blocks->hard_units);
	json_grace(&json, "bytes_grace_seconds", blocks->grace_seconds);
	json_number(&json, "used_inodes", inodes->used_units);
	json_limit_count(&json, "soft_inodes", inodes->soft_units);
	json_limit_count(&json, "hard_inodes", inodes->hard_units);
	json_grace(&json, "inodes_grace_seconds", inodes->grace_seconds);
	if (style->form[ROW_REALTIME]) {
		bytes(&json, "used_realtime_bytes", realtime->used_units);
		json_limit_bytes(&json, "soft_realtime_bytes", realtime->soft_units);
		json_limit_bytes(&json, "hard_realtime_bytes", realtime->hard_units);
		json_grace(&json, "realtime_grace_seconds", realtime->grace_seconds);
	}
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

static void state_row(struct writer *w, const struct state_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "type", json_type_word(row->type));
	json_bool(&json, "accounting", row->accounting);
	json_bool(&json, "enforced", row->enforced);
	json_grace(&json, "bytes_grace_seconds", row->grace_seconds[ROW_BLOCKS]);
	json_grace(&json, "inodes_grace_seconds", row->grace_seconds[ROW_INODES]);
	json_grace(&json, "realtime_grace_seconds", row->grace_seconds[ROW_REALTIME]);
	if (row->has_inode)
		json_number(&json, "inode", row->inode);
	else
		json_null(&json, "inode");
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

static void limits_row(struct writer *w, const struct limits_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_number(&json, "id", row->id);
	json_limit_bytes(&json, "soft_bytes", row->soft_units[ROW_BLOCKS]);
	json_limit_bytes(&json, "hard_bytes", row->hard_units[ROW_BLOCKS]);
	json_limit_count(&json, "soft_inodes", row->soft_units[ROW_INODES]);
	json_limit_count(&json, "hard_inodes", row->hard_units[ROW_INODES]);
	json_limit_bytes(&json, "soft_realtime_bytes", row->soft_units[ROW_REALTIME]);
	json_limit_bytes(&json, "hard_realtime_bytes", row->hard_units[ROW_REALTIME]);
	json_string(&json, "filesystem", row->device);
	json_row_end(&json);
}

static void ownership_row(struct writer *w, const struct ownership_row *row, bool files,
			  bool unread)
{
	static const char *const unread_keys[] = { "unread_30_days_bytes", "unread_60_days_bytes",
						   "unread_90_days_bytes" };
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "type", json_type_word(row->owner.type));
	json_number(&json, "id", row->owner.id);
	json_string(&json, "name", row->owner.name);
	json_number(&json, "used_bytes", row->kib * 1024);
	if (files)
		json_number(&json, "files", row->files);
	for (int i = 0; unread && i < 3; i++)
		json_number(&json, unread_keys[i], row->unread_kib[i] * 1024);
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

static void file_size_row(struct writer *w, const struct file_size_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_number(&json, "file_bytes", row->kib * 1024);
	json_number(&json, "files", row->files);
	json_number(&json, "sum_bytes", row->sum_kib * 1024);
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

static void space_row(struct writer *w, const struct row_style *style, const struct space_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	if (style->form[ROW_BLOCKS] || !style->form[ROW_INODES]) {
		bytes(&json, "total_bytes", row->total_units);
		bytes(&json, "used_bytes", row->used_units);
		bytes(&json, "available_bytes", row->available_units);
	} else {
		json_number(&json, "total_inodes", row->total_units);
		json_number(&json, "used_inodes", row->used_units);
		json_number(&json, "available_inodes", row->available_units);
	}
	json_string(&json, "filesystem", row->device);
	json_string(&json, "path", row->directory);
	json_row_end(&json);
}

static void types(struct json *json, const char *key, const bool of[3])
{
	json_open(json, key, '[');
	for (int type = 0; type < 3; type++)
		if (of[type])
			json_string(json, NULL, json_type_word((enum row_type)type));
	json_close(json, ']');
}

static void paths_row(struct writer *w, bool numbered, bool foreign, const struct path_row *row)
{
	struct json json;

	(void)numbered, (void)foreign;
	json_row_begin(&json, w);
	json_string(&json, "path", row->directory);
	json_string(&json, "filesystem", row->device);
	json_bool(&json, "xfs", !row->foreign);
	if (row->is_project)
		json_number(&json, "id", row->project.id);
	else
		json_null(&json, "id");
	json_string(&json, "name", row->project.name);
	types(&json, "accounting", row->accounting);
	types(&json, "enforced", row->enforced);
	json_row_end(&json);
}

static void project_begin(struct writer *w, enum project_action action, const char *project,
			  const char *directory)
{
	static const char *const words[] = { "check", "setup", "clear" };
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "action", words[action]);
	json_string(&json, "project", project);
	json_string(&json, "path", directory);
	json_row_end(&json);
}

static void project_wrong_id(struct writer *w, const char *path, uint32_t is, uint32_t wanted)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "finding", "id");
	json_number(&json, "id", is);
	json_number(&json, "expected_id", wanted);
	json_string(&json, "path", path);
	json_row_end(&json);
}

static void project_no_inheritance(struct writer *w, const char *path)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "finding", "inheritance");
	json_string(&json, "path", path);
	json_row_end(&json);
}

static void id_row(struct writer *w, const char *path, uint32_t id)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "path", path);
	json_number(&json, "id", id);
	json_row_end(&json);
}

static void found_row(struct writer *w, const struct found_row *row)
{
	id_row(w, row->path, row->id);
}

static void found_end(struct writer *w, uint64_t mounts_skipped)
{
	write_text(w, w->rows ? "\n],\"mounts_skipped\":" : "],\"mounts_skipped\":");
	write_number(w, mounts_skipped);
	write_text(w, "}\n");
}

static void attributes_row(struct writer *w, const struct attributes_row *row, bool project)
{
	char letters[ATTRIBUTE_LETTERS];
	struct json json;

	(void)project;
	attribute_letters(letters, row->flags);
	json_row_begin(&json, w);
	json_string(&json, "path", row->path);
	json_number(&json, "id", row->project);
	json_bool(&json, "inherit", row->inherit);
	json_string(&json, "flags", letters);
	json_row_end(&json);
}

/* A document that is one object under a key. */
static void document_begin(struct json *json, struct writer *w, const char *key)
{
	json_start(json, w);
	json_open(json, NULL, '{');
	json_open(json, key, '{');
}

static void document_end(struct json *json)
{
	json_close(json, '}');
	json_close(json, '}');
	json_end(json);
}

static void support(struct writer *w, const struct support_row *row)
{
	struct json json;

	document_begin(&json, w, "supported");
	json_string(&json, "path", row->path);
	json_string(&json, "filesystem", row->filesystem);
	json_string(&json, "mountpoint", row->mountpoint);
	json_bool(&json, "accounting", true);
	json_bool(&json, "enforced", row->enforced);
	document_end(&json);
}

static void finding_row(struct writer *w, const struct finding_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "level", finding_level_word(row->level));
	json_string(&json, "finding", row->finding);
	json_string(&json, "path", row->path);
	json_string(&json, "filesystem", row->filesystem);
	json_string(&json, "mountpoint", row->mountpoint);
	json_limit_count(&json, "id", row->id);
	json_limit_count(&json, "line", row->line);
	json_string(&json, "message", row->message);
	json_string(&json, "repair", row->repair);
	json_row_end(&json);
}

const struct renderer json_renderer = {
	.begin = begin,
	.end = end,
	.quota_row = usage,
	.report_row = usage,
	.state_row = state_row,
	.limits_row = limits_row,
	.ownership_row = ownership_row,
	.file_size_row = file_size_row,
	.space_row = space_row,
	.paths_row = paths_row,
	.project_begin = project_begin,
	.project_wrong_id = project_wrong_id,
	.project_no_inheritance = project_no_inheritance,
	.id_row = id_row,
	.attributes_row = attributes_row,
	.found_row = found_row,
	.found_end = found_end,
	.support = support,
	.leftover_row = json_leftover_row,
	.applied_row = json_applied_row,
	.changed_quota_row = json_changed_quota_row,
	.switched_row = json_switched_row,
	.changed_tree_row = json_changed_tree_row,
	.released_row = json_released_row,
	.watch_row = json_watch_row,
	.finding_row = finding_row,
};
