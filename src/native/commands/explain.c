/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/fsquota.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "native/cli/pods.h"
#include "native/cli/progress.h"
#include "native/rows/records.h"
#include "quota/kernel/privilege.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/lookup.h"

/* A bound, since the largest are kept in memory, in order. */
#define TOP_MAX 10000
#define TOP_DEFAULT 10

struct explain_options {
	uint64_t top;
	bool everywhere, shared;
};

struct explain {
	struct session *session;
	const char *pod; /* of the volume that is explained: NAMESPACE/POD/VOLUME; or NULL */
	uint64_t used_bytes, unexplained_bytes;
	bool has_foreign;
};

struct explained_row {
	struct fsq_explained of;
	const char *pod;	      /* only of what is used */
	double share;		      /* percent of what is used, or -1 */
	enum field_nearness nearness; /* marks what du(1) does not find */
};

#define MEMBER(name) .offset = offsetof(struct explained_row, of.name)

static const char *const parts[] = {
	[FSQ_SPACE_USED] = "used",	     [FSQ_SPACE_TREE] = "tree",
	[FSQ_SPACE_HIDDEN] = "hidden",	     [FSQ_SPACE_OPEN] = "open",
	[FSQ_SPACE_ELSEWHERE] = "elsewhere", [FSQ_SPACE_UNEXPLAINED] = "unexplained",
	[FSQ_SPACE_UNCOUNTED] = "uncounted", [FSQ_SPACE_FOREIGN] = "foreign",
	[FSQ_SPACE_LINKED] = "linked",	     [FSQ_SPACE_PREALLOCATED] = "preallocated",
	[FSQ_SPACE_DIRECTORY] = "directory", [FSQ_SPACE_FILE] = "file",
	[FSQ_SPACE_UNASKED] = "unasked",     [FSQ_SPACE_SPECIAL] = "special",
	[FSQ_SPACE_SHARED] = "shared",	     NULL,
};

static const struct field explained_fields[] = {
	{ "PART", "part", FIELD_WORD, MEMBER(part),
	  "used: what the kernel counts, the sum of tree, hidden, open, elsewhere and unexplained",
	  .words = parts },
	{ "USED", "used_bytes", FIELD_BYTES, MEMBER(bytes), "space that it takes" },
	{ "SHARE%", "share_percent", FIELD_PERCENT, .offset = offsetof(struct explained_row, share),
	  "its part of what is used", .nearness = offsetof(struct explained_row, nearness) },
	{ "INODES", "used_inodes", FIELD_COUNT, MEMBER(inodes), "files and directories" },
	{ "PID", "pid", FIELD_ID_OR_NONE, MEMBER(pid), "process that has the deleted file open" },
	{ "COMMAND", "command", FIELD_TEXT, MEMBER(command), "its name" },
	{ "PROCESSES", "processes", FIELD_COUNT, MEMBER(processes), "how many have it open" },
	{ "PATH", "path", FIELD_TEXT, MEMBER(path), "where it is, or was" },
	{ "POD", "pod", FIELD_TEXT, .offset = offsetof(struct explained_row, pod),
	  "namespace, pod and volume of kubelet", .optional = true },
	{ 0 },
};

static const struct row_fields explained_rows = {
	explained_fields, sizeof(struct explained_row),
	.usual = "PART,USED,SHARE%,INODES,PID,COMMAND,PATH"
};

static enum fsq_visit show_space_part(const struct fsq_explained *explained, void *arg)
{
	struct explain *explain = arg;
	const bool is_all = explained->part == FSQ_SPACE_USED;
	struct explained_row all = { *explained, is_all ? explain->pod : NULL, -1, FIELD_FAR };
	struct fsq_explained *row = &all.of;

	if (is_all)
		explain->used_bytes = row->bytes;
	else if (row->part != FSQ_SPACE_UNASKED && row->part != FSQ_SPACE_FOREIGN &&
		 row->part != FSQ_SPACE_UNCOUNTED && row->part != FSQ_SPACE_SPECIAL)
		all.share = percent_of_limit(row->bytes, explain->used_bytes);
	if (row->bytes && (row->part == FSQ_SPACE_OPEN || row->part == FSQ_SPACE_HIDDEN ||
			   row->part == FSQ_SPACE_ELSEWHERE || row->part == FSQ_SPACE_UNEXPLAINED))
		all.nearness = FIELD_NEAR;
	if (row->part == FSQ_SPACE_UNEXPLAINED)
		explain->unexplained_bytes = row->bytes;
	explain->has_foreign |= row->part == FSQ_SPACE_FOREIGN && row->bytes;
	if (row->part == FSQ_SPACE_UNASKED)
		row->bytes = FIELD_NOT_KNOWN;
	if (row->processes == 0)
		row->processes = FIELD_NOT_KNOWN;
	tables_row(explain->session, &all);
	return FSQ_VISIT_CONTINUE;
}

static void tell_of_unexplained(struct session *session, const char *directory)
{
	struct fsq_usage usage = { 0 };

	if (session_usage(session, directory, &usage, NULL) == 0 && usage.at_least && !usage.id)
		session_warn(session, directory,
			     "some of it is not explained: %s is asked for sums alone, and root "
			     "of its server sees the rest",
			     usage.device);
	else
		session_warn(session, directory,
			     fsq_is_privileged()
				     ? "some of it is not explained: --everywhere looks for files "
				       "of the project in the whole filesystem"
				     : "some of it is not explained: root sees deleted files of "
				       "others, and files in other places, too");
	fsq_usage_clear(&usage);
}

/* @return   what is to be said of one form, in @text; or NULL */
static const char *describe_limit(char text[128], const char *what, uint64_t used, uint64_t soft,
				  uint64_t hard, int64_t expires)
{
	const int64_t left = records_grace_left(expires);

	if (hard && used >= hard)
		snprintf(text, 128, "full: all of the hard limit of %s is used", what);
	else if (soft && used > soft && left == 0)
		snprintf(text, 128, "full: above the soft limit of %s, and its grace time is over",
			 what);
	else if (soft && used > soft)
		snprintf(text, 128, "above the soft limit of %s: full when the grace time is over",
			 what);
	else
		return NULL;
	return text;
}

/* Who cannot write any more wants to know why. */
static void tell_of_limits(struct session *session, const char *directory)
{
	struct fsq_usage usage = { 0 };
	const char *said = NULL;
	char text[128];

	if (session_usage(session, directory, &usage, NULL))
		return;
	if (!usage.at_least) {
		said = describe_limit(text, "space", usage.used_bytes, usage.soft_bytes,
				      usage.hard_bytes, usage.bytes_expires);
		if (!said)
			said = describe_limit(text, "inodes", usage.used_inodes, usage.soft_inodes,
					      usage.hard_inodes, usage.inodes_expires);
	} else if (usage.id && (usage.used_bytes == FSQ_NOT_KNOWN ||
				(usage.hard_bytes && usage.used_bytes >= usage.hard_bytes))) {
		said = "all of the limit that stops first is used, soft or hard";
	}
	if (said)
		session_warn(session, directory, "%s", said);
	fsq_usage_clear(&usage);
}

/* The same of the user: the caller, or for root the owner. */
static void tell_of_user(struct session *session, const char *directory)
{
	struct fsq_filesystem *fs;
	struct fsq_dquot dquot;
	struct stat st;
	char what[40], text[128];
	uid_t user = geteuid();

	if (fsq_lookup_stat(NULL, directory, 0, &st, NULL) ||
	    fsq_filesystem_open(&fs, directory, NULL, FSQ_OPEN_NO_TAG, NULL))
		return;
	if (fsq_is_privileged())
		user = st.st_uid;
	for (int form = FSQ_BLOCKS;
	     user && form <= FSQ_INODES && fsq_quota_get(fs, FSQ_USER, user, &dquot) == 0; form++) {
		snprintf(what, sizeof(what), "%s of user %u",
			 form == FSQ_BLOCKS ? "space" : "inodes", user);
		if (describe_limit(text, what, dquot.form[form].used,
				   fsq_limit_or_0(dquot.form[form].soft),
				   fsq_limit_or_0(dquot.form[form].hard), dquot.form[form].expires))
			session_warn(session, directory, "%s; see fsquota quota -u %u", text, user);
	}
	fsq_filesystem_close(fs);
}

static void explain_space(struct session *session, const struct invocation *invocation)
{
	const struct explain_options *options = invocation->options;
	struct explain explain = { .session = session };
	struct texts texts = { 0 };
	struct pods pods = { 0 };
	struct progress progress;
	struct fsq_explain_request request = {
		.size = sizeof(request),
		.directory = invocation->operand_count ? invocation->operands[0] : getenv("HOME"),
		.projects_file = session->projects_file,
		.top = (unsigned int)options->top,
		.everywhere = options->everywhere,
		.shared = options->shared,
		.options = &progress.options,
	};
	struct fsq_error err;
	sigset_t before;
	int rc;

	if (invocation->operand_count > 1) {
		options_refuse(session, invocation, "one directory is wanted");
		return;
	}
	if (!request.directory || !request.directory[0]) {
		session_usage_error(session, "whose home? HOME is not set: name a directory");
		return;
	}
	if (options->top > TOP_MAX) {
		session_usage_error(session, "--top takes a number from 1 to %d", TOP_MAX);
		return;
	}
	explain.pod = pods_text(&pods, &texts, request.directory);
	if (explain.pod && session->style.format == TABLE_TEXT && !session->style.column_count)
		table_choose(&session->style, &explained_rows, "+POD");
	progress_begin(&progress, session);
	session_wait(session);
	block_interrupts(&before);
	rc = fsq_explain(&request, show_space_part, &explain, &err);
	progress_clear(&progress);
	if (rc && invocation->operand_count)
		session_fail(session, &err);
	else if (rc)
		session_fail_missing(session, &err, request.directory,
				     "without DIR it is $HOME; . is this directory");
	tables_end(session);
	session_flush(session);
	restore_signals(&before);
	texts_free(&texts);
	pods_free(&pods);
	if (rc == 0 && session_has_person(session))
		tell_of_limits(session, request.directory);
	if (rc == 0 && session_has_person(session))
		tell_of_user(session, request.directory);
	if (rc == 0 && explain.has_foreign && session_has_person(session))
		session_warn(session, request.directory,
			     "foreign: what other projects have in it, which fsquota list shows");
	if (rc == 0 && explain.unexplained_bytes && !options->everywhere)
		tell_of_unexplained(session, request.directory);
}

#define FIELD(member) offsetof(struct explain_options, member)

static const struct command_option own_options[] = {
	{ 0, "top", "how many of the largest directories and files (10)", .kind = VALUE_NUMBER,
	  .argument = "N", .field = FIELD(top), .positive = true },
	{ 0, "everywhere", "walk the whole filesystem for its files, too",
	  .field = FIELD(everywhere) },
	{ 0, "shared", "open its files, and ask what they share: reflinks",
	  .field = FIELD(shared) },
	{ 0 },
};

const struct command explain_command = {
	.name = "explain",
	.group = GROUP_LOOK,
	.summary = "account for the space that a project uses",
	.synopsis = "[DIR] [OPTION]...",
	.help = "Show what the use of DIR's project is made of: files in DIR, below mounts and in\n"
		"other places, and deleted files that are open, with their processes.\n"
		"Without DIR: of your home directory.",
	.example = "explain /srv/web\n"
		   "explain /srv/web --top 5 --json",
	.options = (option_tables){ own_options, table_options, progress_option, registry_options,
				    help_option, NULL },
	.operands = { { VALUE_REGISTERED, "DIR", false } },
	.rows = &explained_rows,
	.options_size = sizeof(struct explain_options),
	.defaults = &(const struct explain_options){ .top = TOP_DEFAULT },
	.flags = COMMAND_CONFIG | COMMAND_READS,
	.run = explain_space,
};
