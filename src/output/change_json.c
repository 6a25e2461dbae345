/* SPDX-License-Identifier: Apache-2.0 */
#include "change_json.h"

#include "json_rows.h"

void json_leftover_row(struct writer *w, const struct leftover_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "action", row->action);
	json_string(&json, "kind", row->kind);
	json_string(&json, "reason", row->reason);
	json_number(&json, "id", row->id);
	json_string(&json, "name", row->name);
	json_string(&json, "directory", row->directory);
	json_string(&json, "mountpoint", row->mountpoint);
	json_number(&json, "inodes", row->inodes);
	json_change(&json, row->change, row->would);
	json_row_end(&json);
}

static void applied_limits(struct json *json, const char *key, const struct applied_limits *limits)
{
	if (!limits) {
		json_null(json, key);
		return;
	}
	json_open(json, key, '{');
	json_limit_count(json, "soft_bytes", limits->soft_bytes);
	json_limit_count(json, "hard_bytes", limits->hard_bytes);
	json_limit_count(json, "soft_inodes", limits->soft_inodes);
	json_limit_count(json, "hard_inodes", limits->hard_inodes);
	json_close(json, '}');
}

void json_applied_row(struct writer *w, const struct applied_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "path", row->path);
	json_string(&json, "action", row->action);
	json_change(&json, row->change, row->would);
	json_limit_count(&json, "id", row->id);
	json_string(&json, "file", row->file);
	json_number(&json, "line", row->line);
	applied_limits(&json, "before", row->before);
	applied_limits(&json, "after", row->after);
	json_row_end(&json);
}

static void quota(struct json *json, const char *key, const struct changed_quota_row *row,
		  const struct amounts_row forms[])
{
	const struct amounts_row *blocks = &forms[ROW_BLOCKS], *inodes = &forms[ROW_INODES],
				 *realtime = &forms[ROW_REALTIME];

	json_open(json, key, '{');
	switch (row->what) {
	case CHANGED_LIMITS:
		json_limit_bytes(json, "soft_bytes", blocks->soft_units);
		json_limit_bytes(json, "hard_bytes", blocks->hard_units);
		json_limit_count(json, "soft_inodes", inodes->soft_units);
		json_limit_count(json, "hard_inodes", inodes->hard_units);
		json_limit_bytes(json, "soft_realtime_bytes", realtime->soft_units);
		json_limit_bytes(json, "hard_realtime_bytes", realtime->hard_units);
		break;
	case CHANGED_GRACE:
		json_grace(json, "bytes_grace_seconds", blocks->grace_seconds);
		json_grace(json, "inodes_grace_seconds", inodes->grace_seconds);
		json_grace(json, "realtime_grace_seconds", realtime->grace_seconds);
		break;
	case CHANGED_WARNINGS:
		json_number(json, "bytes_warnings", blocks->warnings);
		json_number(json, "inodes_warnings", inodes->warnings);
		json_number(json, "realtime_warnings", realtime->warnings);
		break;
	}
	json_close(json, '}');
}

void json_changed_quota_row(struct writer *w, const struct changed_quota_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "type", json_type_word(row->owner.type));
	json_number(&json, "id", row->owner.id);
	json_string(&json, "name", row->owner.name);
	json_change(&json, row->change, row->would);
	quota(&json, "before", row, row->before);
	quota(&json, "after", row, row->after);
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

void json_switched_row(struct writer *w, const struct switched_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "type", json_type_word(row->type));
	json_bool(&json, "accounting", row->accounting);
	json_bool(&json, "enforced", row->enforced);
	json_change(&json, row->change, row->would);
	json_place(&json, row->device, row->directory);
	json_row_end(&json);
}

void json_changed_tree_row(struct writer *w, const struct changed_tree_row *row)
{
	static const char *const words[] = { "check", "setup", "clear" };
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "action", words[row->action]);
	json_string(&json, "project", row->project);
	json_string(&json, "path", row->path);
	json_number(&json, "files", row->entries);
	json_number(&json, "changed_files", row->changed);
	json_number(&json, "mounts_skipped", row->mounts_skipped);
	json_change(&json, row->changed ? ROW_CHANGED : ROW_UNCHANGED, row->would);
	json_row_end(&json);
}

void json_released_row(struct writer *w, const struct released_row *row)
{
	struct json json;

	json_row_begin(&json, w);
	json_string(&json, "path", row->path);
	json_limit_count(&json, "id", row->id);
	json_string(&json, "name", row->name);
	json_change(&json, row->change, row->would);
	applied_limits(&json, "before", row->limits);
	json_number(&json, "lines", row->lines);
	json_number(&json, "changed_files", row->untagged);
	json_number(&json, "left_inodes", row->left_inodes);
	json_number(&json, "mounts_skipped", row->mounts_skipped);
	json_row_end(&json);
}
