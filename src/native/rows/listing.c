/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "change.h"
#include "native/cli/budgets.h"
#include "projects.h"
#include "quota/base/pod_path.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"
#include "records.h"
#include "shared/errno_words.h"

#define MEMBER(name) .offset = offsetof(struct project_row, name)

/* Rows of projects are older than those of users: they have no such key. */
static const char *const account_keys[] = { "user", "group", NULL, NULL };

static const struct field project_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the directory" },
	{ NULL, "directories", FIELD_TEXTS, MEMBER(directories), .optional = true },
	{ "TYPE", NULL, FIELD_WORD, MEMBER(type), "user, group or project",
	  .words = account_types },
	{ NULL, "type", FIELD_WORD, MEMBER(type), "user or group; not of projects",
	  .words = account_keys, .optional = true },
	{ "ID", "id", FIELD_ID, MEMBER(id), "ID of the project, user or group" },
	{ "NAME", NULL, FIELD_TEXT, MEMBER(shown_name), "its name", .if_any = true,
	  .first_out = true },
	{ NULL, "name", FIELD_TEXT, MEMBER(name), "its name" },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(used_bytes), "space in use",
	  .at_least = offsetof(struct project_row, bytes_at_least) },
	{ "TREE", "tree_bytes", FIELD_BYTES, MEMBER(tree_bytes),
	  "space in use by it and by the projects in its directory", .optional = true },
	{ "SOFT", "soft_bytes", FIELD_BYTES_LIMIT, MEMBER(soft_bytes), "soft limit of space",
	  .minor = true, .if_any = true },
	{ "HARD", NULL, FIELD_BYTES_LIMIT, MEMBER(shown_hard_bytes), "hard limit of space",
	  .at_least = offsetof(struct project_row, limits_at_least) },
	{ NULL, "hard_bytes", FIELD_BYTES_LIMIT, MEMBER(hard_bytes), "hard limit of space" },
	{ "AVAIL", "available_bytes", FIELD_BYTES, MEMBER(available_bytes),
	  "what can still be written, as limits and the filesystem allow", .optional = true },
	{ "GRACE", "bytes_grace_seconds", FIELD_SECONDS, MEMBER(bytes_grace_seconds),
	  "time left above the soft limit of space", .if_any = true },
	{ "USE%", NULL, FIELD_PERCENT, MEMBER(percent),
	  "use of the limit that stops first, of space or inodes" },
	{ "IUSED", "used_inodes", FIELD_COUNT, MEMBER(used_inodes), "inodes in use",
	  .at_least = offsetof(struct project_row, inodes_at_least), .minor = true },
	{ "ISOFT", "soft_inodes", FIELD_COUNT_LIMIT, MEMBER(soft_inodes), "soft limit of inodes" },
	{ "IHARD", NULL, FIELD_COUNT_LIMIT, MEMBER(shown_hard_inodes), "hard limit of inodes",
	  .at_least = offsetof(struct project_row, limits_at_least), .minor = true },
	{ NULL, "hard_inodes", FIELD_COUNT_LIMIT, MEMBER(hard_inodes), "hard limit of inodes" },
	{ "IGRACE", "inodes_grace_seconds", FIELD_SECONDS, MEMBER(inodes_grace_seconds),
	  "time left above the soft limit of inodes" },
	{ NULL, "percent", FIELD_PERCENT, MEMBER(percent) },
	{ "SOURCE", "source", FIELD_TEXT, MEMBER(source),
	  "where the numbers are from: quota, walk or statfs" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(mountpoint),
	  "where the filesystem is mounted" },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, MEMBER(accounting), "is use counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, MEMBER(enforced), "are limits enforced?" },
	{ "INFORCE", "in_force", FIELD_TEXT, MEMBER(in_force),
	  "do its limits hold in its directories? yes, or why not", .optional = true },
	{ NULL, "limit_bytes", FIELD_BYTES, MEMBER(limit_bytes),
	  "the limit that statfs(2) shows, soft or hard", .optional = true },
	{ NULL, "limit_inodes", FIELD_COUNT, MEMBER(limit_inodes), "the same of inodes",
	  .optional = true },
	{ NULL, "used_at_least", FIELD_CHANGE, MEMBER(used_at_least),
	  "can the use be higher than it is shown?" },
	{ "MOUNTS", "mounts_skipped", FIELD_COUNT, MEMBER(mounts_skipped),
	  "mounts that are not entered", .optional = true },
	{ "SPECIAL", "special_files", FIELD_COUNT, MEMBER(special),
	  "symbolic links and special files that cannot carry the ID: they count for no project",
	  .optional = true },
	{ "FULLIN", "full_in_seconds", FIELD_SECONDS, MEMBER(full_seconds),
	  "when nothing is available any more, if it goes on so", .optional = true },
	{ "POD", "pod", FIELD_TEXT, MEMBER(pod), "namespace, pod and volume of kubelet",
	  .optional = true },
	{ "UNTIL", "until", FIELD_TIME, MEMBER(until),
	  "when its limits go back, see resize --until", .optional = true, .if_any = true },
	{ NULL, "changed", FIELD_CHANGE, MEMBER(change) },
	{ NULL, "over_budget", FIELD_PATH, MEMBER(over_budget),
	  "the directory or mount point whose budget the limit exceeds", .optional = true },
	{ 0 },
};

/* clang-format off */
#define ROWS(name, columns) \
	const struct row_fields name = { project_fields, sizeof(struct project_row), .usual = columns }
/* clang-format on */

ROWS(list_rows, "ID,NAME,USED,SOFT,HARD,USE%,IUSED,IHARD,PATH");
/* For people: a program reads as many fields in each row. */
ROWS(shown_list_rows, "ID,NAME,USED,SOFT,HARD,USE%,GRACE,IUSED,IHARD,PATH,UNTIL");
/* Only MOUNTPOINT identifies the row of what is in no project. */
ROWS(total_list_rows, "ID,NAME,USED,SOFT,HARD,USE%,IUSED,IHARD,MOUNTPOINT,PATH");
ROWS(total_tree_rows, "ID,NAME,USED,TREE,SOFT,HARD,USE%,IUSED,IHARD,MOUNTPOINT,PATH");
ROWS(check_rows, "ID,NAME,USED,SOFT,HARD,USE%,GRACE,IUSED,IHARD,PATH");
ROWS(within_rows, "ID,NAME,USED,SOFT,HARD,USE%,GRACE,FULLIN,IUSED,IHARD,PATH");
ROWS(usage_rows, "PATH,ID,NAME,USED,SOFT,HARD,USE%,GRACE,IUSED,IHARD,SOURCE");
ROWS(shown_usage_rows, "PATH,ID,NAME,USED,SOFT,HARD,USE%,GRACE,IUSED,IHARD,SOURCE,UNTIL");
ROWS(user_list_rows, "ID,NAME,USED,SOFT,HARD,USE%,IUSED,IHARD,MOUNTPOINT");
ROWS(user_check_rows, "ID,NAME,USED,SOFT,HARD,USE%,GRACE,IUSED,IHARD,MOUNTPOINT");
ROWS(user_within_rows, "ID,NAME,USED,SOFT,HARD,USE%,GRACE,FULLIN,IUSED,IHARD,MOUNTPOINT");

double listing_percent(const struct project_row *row)
{
	double bytes =
		percent_of_limit(row->used_bytes, first_limit(row->soft_bytes, row->hard_bytes,
							      row->bytes_grace_seconds));
	double inodes =
		percent_of_limit(row->used_inodes, first_limit(row->soft_inodes, row->hard_inodes,
							       row->inodes_grace_seconds));

	return bytes > inodes ? bytes : inodes;
}

/* @return   0 or a negative errno */
static int ask_space(const char *mountpoint, struct statvfs *space)
{
	int fd = fsq_lookup(NULL, mountpoint, O_PATH, NULL);
	int rc = fd < 0 ? fd : fstatvfs(fd, space) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

uint64_t listing_total_bytes(const char *mountpoint)
{
	struct statvfs space;

	return ask_space(mountpoint, &space) ? 0 : (uint64_t)space.f_blocks * space.f_frsize;
}

uint64_t listing_free_bytes(struct session *session, const char *mountpoint)
{
	struct statvfs space;
	int rc;

	if (!mountpoint)
		return FIELD_NOT_KNOWN;
	rc = ask_space(mountpoint, &space);
	if (rc == 0)
		return (uint64_t)space.f_bavail * space.f_frsize;
	if (rc != -EACCES && rc != -ENOENT)
		session_errno(session, ERROR_AT_PATH, -rc, mountpoint, "cannot ask what is left");
	return FIELD_NOT_KNOWN;
}

void listing_set_available(struct project_row *row, uint64_t free_bytes)
{
	uint64_t hard = row->shown_hard_bytes, left;

	row->available_bytes = free_bytes;
	if (!row->enforced || row->used_bytes == FIELD_NOT_KNOWN)
		return;
	left = !hard ? free_bytes : hard > row->used_bytes ? hard - row->used_bytes : 0;
	if (row->bytes_grace_seconds == 0)
		left = 0;
	if (left < free_bytes)
		row->available_bytes = left;
}

const char *listing_in_force_word(enum fsq_in_force is)
{
	static const char *const words[] = {
		[FSQ_IN_FORCE_UNKNOWN] = NULL,
		[FSQ_IN_FORCE_YES] = "yes",
		[FSQ_IN_FORCE_NOT_ENFORCED] = "not-enforced",
		[FSQ_IN_FORCE_OTHER_ID] = "other-id",
		[FSQ_IN_FORCE_NOT_INHERITED] = "not-inherited",
	};

	return words[is];
}

struct in_force listing_look(struct session *session, const struct fsq_mount_points *points,
			     const struct field_texts *directories, uint32_t id, bool enforced)
{
	struct in_force worst = { .is = enforced ? FSQ_IN_FORCE_UNKNOWN
						 : FSQ_IN_FORCE_NOT_ENFORCED };

	for (size_t i = 0; i < directories->count; i++) {
		const char *directory = directories->texts[i];
		struct fsq_inode_project project;
		enum fsq_in_force is;
		int rc = fsq_lookup_project(points, directory, &project);

		if (rc == -ENOMEM)
			session_no_memory(session);
		else if (rc && rc != -ENOENT && rc != -ENOTDIR && rc != -EACCES && rc != -EPERM)
			session_warn(session, directory, "cannot see whether limits hold in it: %s",
				     errno_words(-rc));
		worst.gone += rc == -ENOENT;
		if (rc)
			continue;
		is = fsq_in_force_of(id, &project, false, enforced);
		if (is > worst.is)
			worst = (struct in_force){ is, directory, worst.gone, project.id };
	}
	return worst;
}

bool listing_is_in_force(struct session *session, const struct project_row *row)
{
	const char *path = row->force.outside ? row->force.outside : row->path;

	switch (row->force.is) {
	case FSQ_IN_FORCE_UNKNOWN:
	case FSQ_IN_FORCE_YES:
		return true;
	case FSQ_IN_FORCE_OTHER_ID:
		session_warn(session, path,
			     "is outside of its quota: it carries ID %u, and is registered with "
			     "%u; fsquota assign gives it that again",
			     row->force.carried_id, row->id);
		break;
	case FSQ_IN_FORCE_NOT_INHERITED:
		session_warn(session, path,
			     "does not hand its project %u on: what is made in it is outside of "
			     "its quota; fsquota assign repairs that",
			     row->id);
		break;
	case FSQ_IN_FORCE_NOT_ENFORCED:
		if (!row->hard_bytes && !row->hard_inodes && !row->soft_bytes && !row->soft_inodes)
			return true;
		if (!row->warned)
			session_warn_not_enforced(session, row->mountpoint);
		break;
	}
	return false;
}

void listing_warn_if_outside(struct session *session, const struct fsq_mount_points *points,
			     const char *directory, uint32_t id)
{
	const struct project_row row = {
		.id = id,
		.force = listing_look(session, points, &(struct field_texts){ &directory, 1 }, id,
				      true),
	};

	listing_is_in_force(session, &row);
}

void listing_set_shown_name(struct session *session, struct project_row *row)
{
	row->shown_name = row->name;
	/* The name that kubelet, and assign without --name, gives says nothing to people. */
	if (((session->style.format == TABLE_TEXT &&
	      (session->style.added || !table_has_column(&session->style, "NAME"))) ||
	     row->pod) &&
	    (!row->name || (row->type == FSQ_PROJECT && fsq_is_usual_name(row->name, row->id))))
		row->shown_name = row->pod;
}

void listing_set_name(struct session *session, struct project_row *row)
{
	bool none = row->type == FSQ_PROJECT && row->id == 0;

	row->name = none ? NULL : names_of_id(session, row->type, row->id);
	listing_set_shown_name(session, row);
}

struct project_row listing_row_unnamed(enum fsq_type type, const char *path,
				       const struct fsq_usage *usage)
{
	static const char *const sources[] = {
		[FSQ_USAGE_QUOTA] = "quota",
		[FSQ_USAGE_WALK] = "walk",
		[FSQ_USAGE_STATFS] = "statfs",
	};

	struct project_row row = {
		.type = type,
		.path = path,
		.id = usage->id,
		.used_bytes = usage->used_bytes,
		.used_inodes = usage->used_inodes,
		.soft_bytes = usage->soft_bytes,
		.hard_bytes = usage->hard_bytes,
		.soft_inodes = usage->soft_inodes,
		.hard_inodes = usage->hard_inodes,
		.bytes_grace_seconds = records_grace_left(usage->bytes_expires),
		.inodes_grace_seconds = records_grace_left(usage->inodes_expires),
		.source = sources[usage->source],
		.filesystem = usage->device,
		.mountpoint = usage->mountpoint,
		.accounting = usage->accounting,
		.enforced = usage->enforced,
		.shown_hard_bytes = usage->hard_bytes,
		.shown_hard_inodes = usage->hard_inodes,
		.tree_bytes = FIELD_NOT_KNOWN,
		.available_bytes = FIELD_NOT_KNOWN,
		.limit_bytes = FIELD_NOT_KNOWN,
		.limit_inodes = FIELD_NOT_KNOWN,
		.full_seconds = FIELD_NO_SECONDS,
		.mounts_skipped = FIELD_NOT_KNOWN,
		.special = FIELD_NOT_KNOWN,
	};

	row.force = (struct in_force){ .is = usage->in_force, .carried_id = usage->carried_id };
	row.in_force = listing_in_force_word(row.force.is);
	row.percent = listing_percent(&row);
	/* statfs(2) does not tell whether a limit is soft or hard, and shows no use above it. */
	if (usage->at_least) {
		row.limits_at_least = true;
		row.bytes_at_least = row.used_bytes == row.hard_bytes;
		row.inodes_at_least = row.used_inodes == row.hard_inodes;
		row.used_at_least =
			row.bytes_at_least || row.inodes_at_least ? ROW_CHANGED : ROW_UNCHANGED;
		row.limit_bytes = row.hard_bytes ? row.hard_bytes : FIELD_NOT_KNOWN;
		row.limit_inodes = row.hard_inodes ? row.hard_inodes : FIELD_NOT_KNOWN;
		row.soft_bytes = row.hard_bytes = row.soft_inodes = row.hard_inodes = 0;
	}
	return row;
}

struct project_row listing_row(struct session *session, const char *path,
			       const struct fsq_usage *usage)
{
	struct project_row row = listing_row_unnamed(FSQ_PROJECT, path, usage);

	listing_set_name(session, &row);
	return row;
}

void listing_tell_of_size(struct session *session, const char *directory,
			  const struct fsq_usage *usage)
{
	if (usage->source == FSQ_USAGE_STATFS && usage->at_least && !usage->enforced)
		session_warn(session, directory,
			     "the numbers are of a limit, or of a whole filesystem: %s does not "
			     "say which",
			     usage->device);
}

/* Find the mount of a directory that has no project yet, or of the nearest one above. */
static void find_mount_of_usage(const char *directory, struct fsq_usage *usage)
{
	char *copy = strdup(directory), *above = copy;
	struct fsq_support support;
	int rc = copy ? fsq_supported(copy, &support, NULL) : -ENOMEM;

	while (rc == FSQ_E_NOT_FOUND && strcmp(above, "/") != 0 && strcmp(above, ".") != 0) {
		above = dirname(above);
		rc = fsq_supported(above, &support, NULL);
	}
	if (rc == 0) {
		usage->device = support.device ? strdup(support.device) : NULL;
		usage->mountpoint = support.mountpoint ? strdup(support.mountpoint) : NULL;
		usage->accounting = true;
		usage->enforced = support.enforced;
		fsq_support_clear(&support);
	}
	free(copy);
}

void listing_plan_change(struct fsq_usage *usage, const struct listing_change *change)
{
	const struct record_row limits = change_values(&change->limits);

	if (usage->id != change->id) {
		usage->used_bytes = usage->used_inodes = FSQ_NOT_KNOWN;
		usage->bytes_expires = usage->inodes_expires = 0;
	}
	usage->id = change->id;
	usage->soft_bytes = limits.soft_bytes;
	usage->hard_bytes = limits.hard_bytes;
	usage->soft_inodes = limits.soft_inodes;
	usage->hard_inodes = limits.hard_inodes;
}

bool listing_show_change(struct session *session, const struct listing_change *change)
{
	struct project_row row;
	struct fsq_usage usage;
	struct fsq_error err;
	int rc = session_usage(session, change->directory, &usage, &err);

	/* In a dry run the directory may have no project yet, or not exist. */
	if (rc && !(session->dry_run && rc == FSQ_E_NOT_FOUND))
		return session_fail(session, &err);
	if (rc) {
		usage = (struct fsq_usage){ .source = FSQ_USAGE_QUOTA };
		find_mount_of_usage(change->directory, &usage);
	}
	if (session->dry_run)
		listing_plan_change(&usage, change);
	if (session->dry_run && change->walked)
		usage.in_force = usage.enforced ? FSQ_IN_FORCE_YES : FSQ_IN_FORCE_NOT_ENFORCED;
	row = listing_row(session, change->directory, &usage);
	row.name = row.name ? row.name : change->name;
	listing_set_shown_name(session, &row);
	row.enforced &= change->enforced;
	row.change = change_word(change->changed);
	row.over_budget = budgets_where(change->over, row.mountpoint);
	row.until = 1000 * change->until;
	if (change->walked)
		row.mounts_skipped = change->mounts_skipped;
	if (change->special)
		row.special = change->special;
	tables_row(session, &row);
	fsq_usage_clear(&usage);
	return true;
}
