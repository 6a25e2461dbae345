/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "native/cli/finding_words.h"
#include "native/cli/options.h"
#include "native/cli/progress.h"
#include "native/cli/until.h"
#include "native/rows/projects.h"
#include "native/rows/totals.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "quota/usage/usage.h"

struct supported_options {
	bool quiet;
};

/* A directory that can have a quota. */
struct support_row {
	const char *path;
	bool accounting;
	struct fsq_support is;
};

#define SUPPORT(name) .offset = offsetof(struct support_row, name)

static const struct field support_fields[] = {
	{ "PATH", "path", FIELD_PATH, SUPPORT(path), "the directory" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, SUPPORT(is.device), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, SUPPORT(is.mountpoint),
	  "where the filesystem is mounted" },
	{ "ACCOUNTING", "accounting", FIELD_BOOL, SUPPORT(accounting),
	  "is the use of projects counted?" },
	{ "ENFORCED", "enforced", FIELD_BOOL, SUPPORT(is.enforced),
	  "are limits of projects enforced?" },
	{ 0 },
};

static void write_support(struct writer *w, const void *arg)
{
	const struct support_row *row = arg;

	write_escaped(w, row->path);
	write_text(w, ": project quota on ");
	write_escaped(w, row->is.device ? row->is.device : "its filesystem");
	if (row->is.mountpoint) {
		write_text(w, ", mounted on ");
		write_escaped(w, row->is.mountpoint);
	}
	write_text(w, row->is.enforced ? "\n" : "; limits are not enforced\n");
}

static const struct row_fields support_rows = { support_fields, sizeof(struct support_row),
						"PATH,FILESYSTEM,MOUNTPOINT,ENFORCED",
						write_support };

static void command_supported(struct session *session, const struct invocation *invocation)
{
	const struct supported_options *options = invocation->options;
	struct support_row row = { .accounting = true };
	struct fsq_error err;

	row.path = invocation->operands[0];
	if (!options_some_operand(session, invocation, "directory") ||
	    (invocation->operand_count > 1 &&
	     !options_refuse(session, invocation, "one directory at a time")))
		return;
	if (fsq_supported(row.path, &row.is, &err)) {
		if (options->quiet)
			session->status = session_exit_code(err.kind);
		else
			session_fail(session, &err);
		return;
	}
	if (!options->quiet) {
		session->table.single = true;
		tables_row(session, &row);
		tables_end(session);
	}
	fsq_support_clear(&row.is);
}

static const struct command_option quiet_option[] = {
	{ 'q', "quiet", "say nothing else", .field = offsetof(struct supported_options, quiet) },
	{ 0 },
};

const struct command supported_command = {
	.name = "supported",
	.group = GROUP_DIRECTORY,
	.summary = "check whether a directory can get a quota",
	.synopsis = "DIR [OPTION]...",
	.help = "Can a quota be put on DIR, here and by this caller? The exit status says so:\n"
		"0 yes, 3 not on this filesystem, 4 not by this caller.",
	.example = "supported /srv\n"
		   "supported -q /srv && echo yes",
	.options = (option_tables){ quiet_option, table_options, help_option, NULL },
	.rows = &support_rows,
	.answers = ANSWER_SINGLE,
	.operands = { { VALUE_DIRECTORY, "DIR", false } },
	.options_size = sizeof(struct supported_options),
	.flags = COMMAND_QUICK | COMMAND_READS,
	.run = command_supported,
};

struct doctor_options {
	bool quiet, deep;
};

struct finding_row {
	struct fsq_finding finding;
	struct finding_words words;
	/* Columns of the terminal, to wrap the text; 0: not a terminal, print one line. */
	int width;
	bool colored;
};

#define INDENT 8

static const char *const level_words[] = {
	[FSQ_FINDING_OK] = "ok",
	[FSQ_FINDING_NOTE] = "note",
	[FSQ_FINDING_PROBLEM] = "problem",
	NULL,
};

#define MEMBER(name) .offset = offsetof(struct finding_row, name)

static const struct field finding_fields[] = {
	{ "LEVEL", "level", FIELD_WORD, MEMBER(finding.level), "ok, note or problem",
	  .words = level_words },
	{ "FINDING", "finding", FIELD_TEXT, MEMBER(words.word), "the word for it" },
	{ "PATH", "path", FIELD_TEXT, MEMBER(finding.path), "what it is about" },
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, MEMBER(finding.filesystem),
	  "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, MEMBER(finding.mountpoint),
	  "where the filesystem is mounted" },
	{ "ID", "id", FIELD_ID_OR_NONE, MEMBER(finding.project), "project ID" },
	{ "LINE", "line", FIELD_COUNT_LIMIT, MEMBER(finding.line), "line of the file" },
	{ "MESSAGE", "message", FIELD_TEXT, MEMBER(words.sentence), "what was found" },
	{ "REPAIR", "repair", FIELD_TEXT, MEMBER(words.repair), "the command that repairs it" },
	{ "TYPE", "type", FIELD_TEXT, MEMBER(finding.type), "type of the filesystem" },
	{ "VERSION", "version", FIELD_TEXT, MEMBER(finding.version), "of the format on a device" },
	{ "UUID", "uuid", FIELD_TEXT, MEMBER(finding.uuid), "of what is on a device" },
	{ "LABEL", "label", FIELD_TEXT, MEMBER(finding.label), "of what is on a device" },
	{ 0 },
};

/* Write a text that begins in column @at, wrapped at @width and indented. */
static void write_wrapped(struct writer *w, const char *text, int at, int width)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		char word[256];

		if (at > INDENT && at + (int)length >= width) {
			write_char(w, '\n');
			write_blanks(w, INDENT);
			at = INDENT;
		} else if (at > INDENT) {
			write_char(w, ' ');
			at++;
		}
		at += (int)length;
		for (; length; length -= strlen(word), text += strlen(word)) {
			snprintf(word, sizeof(word), "%.*s", (int)length, text);
			write_escaped(w, word);
		}
		text += strspn(text, " ");
	}
	write_char(w, '\n');
}

static void write_on_terminal(struct writer *w, const struct finding_row *row)
{
	static const char *const colors[] = {
		[FSQ_FINDING_OK] = "\033[32m",
		[FSQ_FINDING_NOTE] = "\033[33m",
		[FSQ_FINDING_PROBLEM] = "\033[31m",
	};
	const char *path = row->finding.path ? row->finding.path : "caller";

	write_format(w, "%s%-*s%s", row->colored ? colors[row->finding.level] : "", INDENT,
		     level_words[row->finding.level], row->colored ? "\033[0m" : "");
	write_escaped(w, path);
	write_char(w, ':');
	write_wrapped(w, row->words.sentence, INDENT + (int)strlen(path) + 1, row->width);
	/* Do not wrap the command: it is meant to be copied. */
	if (row->words.repair)
		write_format(w, "%*srepair: %s\n", INDENT, "", row->words.repair);
}

static void write_finding_row(struct writer *w, const void *arg)
{
	const struct finding_row *row = arg;

	if (row->width) {
		write_on_terminal(w, row);
		return;
	}
	write_left(w, level_words[row->finding.level], INDENT);
	write_escaped(w, row->finding.path ? row->finding.path : "caller");
	write_text(w, ": ");
	write_escaped(w, row->words.sentence);
	/* Print it unescaped: the names in it are quoted for the shell. */
	if (row->words.repair)
		write_format(w, "; repair: %s", row->words.repair);
	write_char(w, '\n');
}

static const struct row_fields finding_rows = { finding_fields, sizeof(struct finding_row),
						"LEVEL,FINDING,PATH,MESSAGE,REPAIR",
						write_finding_row };

struct doctor {
	struct session *session;
	const struct invocation *invocation;
	bool quota_on; /* on at least one filesystem */
	bool quiet;    /* omit findings that are "ok" */
	bool problem;  /* there was a finding of level problem */
	struct progress *progress;
	int width; /* of the terminal, or 0 */
	bool colored;
};

static enum fsq_visit print_finding(const struct fsq_finding *finding, void *arg)
{
	struct doctor *doctor = arg;
	struct session *session = doctor->session;
	struct finding_row row = {
		.finding = *finding,
		.width = doctor->width,
		.colored = doctor->colored,
	};

	progress_clear(doctor->progress);
	doctor->quota_on |= finding->id == FSQ_FINDING_QUOTA_ON;
	doctor->problem |= finding->level == FSQ_FINDING_PROBLEM;
	if (doctor->quiet && finding->level == FSQ_FINDING_OK)
		return FSQ_VISIT_CONTINUE;
	if (!finding_words_get(&row.words, finding)) {
		session_errno(session, 0, ENOMEM, finding->path, "cannot print all");
		return FSQ_VISIT_STOP;
	}
	tables_row(session, &row);
	finding_words_clear(&row.words);
	return FSQ_VISIT_CONTINUE;
}

static void report_failed_path(const struct fsq_error *err, void *arg)
{
	struct doctor *doctor = arg;

	progress_clear(doctor->progress);
	session_fail(doctor->session, err);
}

static bool is_asked_for(const struct doctor *doctor, dev_t dev)
{
	const struct invocation *invocation = doctor->invocation;
	struct stat st;

	for (int i = 0; i < invocation->operand_count; i++)
		if (fsq_lookup_stat(NULL, invocation->operands[i], 0, &st, NULL) == 0 &&
		    st.st_dev == dev)
			return true;
	return invocation->operand_count == 0;
}

/* Limits that nothing has put back. */
static void look_at_overdue(struct doctor *doctor)
{
	const int64_t now = time(NULL);
	struct until until = { 0 };
	char date[UNTIL_DATE];
	struct stat st;

	until_read_silently(doctor->session, &until);
	for (size_t i = 0; i < until.count; i++) {
		const struct until_line *line = &until.list[i];
		const struct fsq_finding finding = {
			.id = FSQ_FINDING_LIMITS_OVERDUE,
			.level = FSQ_FINDING_NOTE,
			.path = line->directory,
			.name = until_date(date, line->when),
			.project = line->id,
		};

		if (line->when <= now &&
		    fsq_lookup_stat(NULL, line->directory, 0, &st, NULL) == 0 &&
		    is_asked_for(doctor, st.st_dev))
			print_finding(&finding, doctor);
	}
	until_free(&until);
}

/* Print an exceeded budget of a filesystem that was looked at. */
static void print_budget(const struct total_row *row, void *arg)
{
	struct doctor *doctor = arg;
	const struct fsq_finding finding = {
		.id = FSQ_FINDING_BUDGET_EXCEEDED,
		.level = FSQ_FINDING_NOTE,
		.path = row->path ? row->path : row->mountpoint,
		.filesystem = row->filesystem,
		.mountpoint = row->mountpoint,
		.count = row->hard_bytes,
		.other_count = row->budget_bytes,
	};

	if (is_asked_for(doctor, row->dev) && totals_is_exceeded(row))
		print_finding(&finding, doctor);
}

static void look_at_budgets(struct doctor *doctor)
{
	struct projects projects = { .session = doctor->session,
				     .type = FSQ_PROJECT,
				     .want_sums = true,
				     .pass_over = true };

	if (projects_collect_scopes(&projects, true))
		totals_each(&projects, print_budget, doctor);
	projects_free(&projects);
}

static void command_doctor(struct session *session, const struct invocation *invocation)
{
	const struct doctor_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct doctor doctor = { .session = session,
				 .invocation = invocation,
				 .quiet = options->quiet };
	struct progress progress;
	const struct fsq_diagnose_request request = {
		.size = sizeof(request),
		.paths = (const char *const *)invocation->operands,
		.path_count = (size_t)invocation->operand_count,
		.deep = options->deep,
		.registry = &registry,
		.options = &progress.options,
		.failed = report_failed_path,
	};
	struct fsq_error err;

	doctor.width = terminal_width(session->out->fd);
	doctor.colored = table_wants_colors(&session->style, session->out->fd);
	progress_begin(&progress, session);
	progress.options.mount_skipped = NULL;
	doctor.progress = &progress;
	if (fsq_diagnose(&request, print_finding, &doctor, &err))
		session_fail(session, &err);
	progress_clear(&progress);
	if (session->budget_count && doctor.quota_on)
		look_at_budgets(&doctor);
	if (doctor.quota_on)
		look_at_overdue(&doctor);
	tables_end(session);
	/* A failed write matters more than the findings. */
	session_flush(session);
	if (doctor.problem && session->status == 0)
		session->status = session_exit_code(FSQ_E_NOT_SUPPORTED);
}

#define FIELD(member) offsetof(struct doctor_options, member)

static const struct command_option own_options[] = {
	{ 'q', "quiet", "only what is not ok", .field = FIELD(quiet) },
	{ 0, "deep", "also count what is in PATH, and what is registered", .field = FIELD(deep) },
	{ 0 },
};

const struct command doctor_command = {
	.name = "doctor",
	.group = GROUP_NODE,
	.summary = "find out why quotas work or do not work here",
	.synopsis = "[OPTION]... [PATH]...",
	.help = "Look at the filesystem of each PATH, or at all that can have project quotas, and\n"
		"at what is registered. Each finding is a line: ok, note or problem, what it\n"
		"means, and the command that repairs it, which is never run. The exit status\n"
		"is 3 if there is a problem. PATH can be a device, mounted or not, LABEL=, UUID=,\n"
		"PARTLABEL= or PARTUUID= of one, or an image.",
	.example = "doctor /srv\n"
		   "doctor -q && echo \"all is well\"",
	.options = (option_tables){ own_options, progress_option, registry_options, table_options,
				    help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.rows = &finding_rows,
	.options_size = sizeof(struct doctor_options),
	.flags = COMMAND_CONFIG | COMMAND_READS | COMMAND_BUDGETS,
	.run = command_doctor,
};
