/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/fs.h>
#include <string.h>

#include "native/cli/options.h"
#include "quota/fsquota.h"
#include "quota/usage/project_tree.h"

struct id_row {
	const char *path;
	uint32_t id;
};

static const struct field id_fields[] = {
	{ "PATH", "path", FIELD_PATH, .offset = offsetof(struct id_row, path),
	  "the file or directory" },
	{ "ID", "id", FIELD_ID, .offset = offsetof(struct id_row, id),
	  "its project ID; 0 is none" },
	{ 0 },
};

static void write_id(struct writer *w, const void *row)
{
	write_number(w, ((const struct id_row *)row)->id);
	write_char(w, '\n');
}

static const struct row_fields id_rows = { id_fields, sizeof(struct id_row), "ID,PATH", write_id };

static void command_id(struct session *session, const struct invocation *invocation)
{
	if (!options_some_operand(session, invocation, "path"))
		return;
	for (int i = 0; i < invocation->operand_count; i++) {
		struct id_row row = { .path = invocation->operands[i] };
		struct fsq_error err;
		bool inherit;

		if (fsq_file_get_project(row.path, &row.id, &inherit, &err))
			session_fail(session, &err);
		else
			tables_row(session, &row);
	}
	tables_end(session);
}

const struct command id_command = {
	.name = "id",
	.group = GROUP_LOOK,
	.summary = "print the project ID of files",
	.synopsis = "[OPTION]... PATH...",
	.help = "Print the project ID that each PATH carries, one a line; 0 is none.",
	.example = "id /srv/web/index.html\n"
		   "id --json /srv/*",
	.options = (option_tables){ table_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.rows = &id_rows,
	.flags = COMMAND_QUICK | COMMAND_READS,
	.run = command_id,
};

struct lsattr_options {
	bool project, all, recursive, directories_themselves;
};

struct attributes_row {
	const char *path;
	uint32_t id;
	bool inherit;	     /* the directory hands it on */
	const char *letters; /* of the flags that are set */
	uint32_t flags;	     /* FS_IOC_GETFLAGS */
	bool show_id;	     /* in text */
};

/* In the order of lsattr's columns. */
static const struct {
	uint32_t flag;
	char letter;
} flags[] = {
	{ FS_SECRM_FL, 's' },	    { FS_UNRM_FL, 'u' },	 { FS_SYNC_FL, 'S' },
	{ FS_DIRSYNC_FL, 'D' },	    { FS_IMMUTABLE_FL, 'i' },	 { FS_APPEND_FL, 'a' },
	{ FS_NODUMP_FL, 'd' },	    { FS_NOATIME_FL, 'A' },	 { FS_COMPR_FL, 'c' },
	{ FS_ENCRYPT_FL, 'E' },	    { FS_JOURNAL_DATA_FL, 'j' }, { FS_INDEX_FL, 'I' },
	{ FS_NOTAIL_FL, 't' },	    { FS_TOPDIR_FL, 'T' },	 { FS_EXTENT_FL, 'e' },
	{ FS_NOCOW_FL, 'C' },	    { FS_DAX_FL, 'x' },		 { FS_CASEFOLD_FL, 'F' },
	{ FS_INLINE_DATA_FL, 'N' }, { FS_PROJINHERIT_FL, 'P' },	 { FS_VERITY_FL, 'V' },
	{ FS_NOCOMP_FL, 'm' },
};
#define FLAGS (sizeof(flags) / sizeof(flags[0]))

#define MEMBER(name) .offset = offsetof(struct attributes_row, name)

static const struct field attributes_fields[] = {
	{ "PATH", "path", FIELD_PATH, MEMBER(path), "the file or directory" },
	{ "ID", "id", FIELD_ID, MEMBER(id), "its project ID" },
	{ "INHERIT", "inherit", FIELD_BOOL, MEMBER(inherit), "does the directory hand it on?" },
	{ "FLAGS", "flags", FIELD_TEXT, MEMBER(letters), "letters of the flags that are set" },
	{ 0 },
};

static void write_attributes(struct writer *w, const void *arg)
{
	const struct attributes_row *row = arg;

	if (row->show_id) {
		write_number_right(w, row->id, 5);
		write_char(w, ' ');
	}
	for (size_t i = 0; i < FLAGS; i++)
		write_char(w, row->flags & flags[i].flag ? flags[i].letter : '-');
	write_char(w, ' ');
	write_escaped(w, row->path);
	write_char(w, '\n');
}

static const struct row_fields attributes_rows = { attributes_fields, sizeof(struct attributes_row),
						   "ID,FLAGS,PATH", write_attributes };

struct lsattr {
	struct session *session;
	const struct lsattr_options *options;
	bool lines; /* text for people, as lsattr(1) prints it */
	const char *operand;
};

static void fail_to_read_attributes(struct lsattr *lsattr, const char *path, int errnum)
{
	session_errno(lsattr->session, 0, errnum, path, "%s: cannot read the flags", path);
}

static void show_attributes(struct lsattr *lsattr, const struct fsq_attributes *attributes)
{
	struct session *session = lsattr->session;
	char letters[FLAGS + 1], *end = letters;
	const struct attributes_row row = {
		.path = attributes->depth ? attributes->path : lsattr->operand,
		.flags = attributes->flags,
		.letters = letters,
		.id = attributes->project_id,
		.inherit = attributes->inherit,
		.show_id = lsattr->options->project,
	};
	int errnum = attributes->errnum;

	if (errnum == 0 && (lsattr->options->project || !lsattr->lines))
		errnum = attributes->project_errnum;
	for (size_t i = 0; i < FLAGS; i++)
		if (row.flags & flags[i].flag)
			*end++ = flags[i].letter;
	*end = '\0';
	if (errnum)
		fail_to_read_attributes(lsattr, row.path, errnum);
	else
		tables_row(session, &row);
}

static enum fsq_visit show_file(const struct fsq_attributes *attributes, void *arg)
{
	struct lsattr *lsattr = arg;
	struct session *session = lsattr->session;
	const struct lsattr_options *options = lsattr->options;
	const char *path = attributes->path, *slash = strrchr(path, '/');
	bool is_below = attributes->depth > 0;

	if (session_is_stopped(session))
		return FSQ_VISIT_STOP;
	if (is_below && slash && slash[1] == '.' && !options->all)
		return FSQ_VISIT_PRUNE;
	switch (attributes->kind) {
	case FSQ_FILE_REGULAR:
		show_attributes(lsattr, attributes);
		break;
	case FSQ_FILE_DIRECTORY:
		if (is_below || options->directories_themselves)
			show_attributes(lsattr, attributes);
		if (is_below && options->recursive && lsattr->lines) {
			write_char(session->out, '\n');
			write_escaped(session->out, path);
			write_text(session->out, ":\n");
		}
		break;
	case FSQ_FILE_LEAVE:
		if (is_below && options->recursive && lsattr->lines)
			write_char(session->out, '\n');
		break;
	case FSQ_FILE_SPECIAL:
		session_error(session, 0, FSQ_E_NOT_SUPPORTED, 0, path,
			      "%s: the kernel tells flags of files and directories only", path);
		break;
	case FSQ_FILE_UNKNOWN:
		fail_to_read_attributes(lsattr, path, attributes->errnum);
		break;
	case FSQ_FILE_MOUNT:
		session_warn(session, lsattr->operand, "the mount %s is not entered", path);
		break;
	}
	return FSQ_VISIT_CONTINUE;
}

static void command_lsattr(struct session *session, const struct invocation *invocation)
{
	const struct lsattr_options *options = invocation->options;
	struct lsattr lsattr = { .session = session, .options = options };
	int max_depth = options->recursive		  ? FSQ_DEPTH_INFINITE
			: options->directories_themselves ? 0
							  : 1;
	struct fsq_error err;

	if (!options_some_operand(session, invocation, "path"))
		return;
	lsattr.lines = !session_has_rows(session);
	for (int i = 0; i < invocation->operand_count; i++) {
		lsattr.operand = invocation->operands[i];
		if (fsq_attributes_each(lsattr.operand, max_depth, show_file, &lsattr, &err))
			session_fail(session, &err);
		session_report_stop(session, lsattr.operand);
	}
	tables_end(session);
}

#define FIELD(member) offsetof(struct lsattr_options, member)

static const struct command_option lsattr_options[] = {
	{ 'p', NULL, "with the project ID in front", .field = FIELD(project) },
	{ 'd', NULL, "directories themselves instead of what is in them",
	  .field = FIELD(directories_themselves) },
	{ 'a', NULL, "also files whose names begin with a dot", .field = FIELD(all) },
	{ 'R', NULL, "directories and all that is below them; mounts are not entered",
	  .field = FIELD(recursive) },
	{ 0 },
};

const struct command lsattr_command = {
	.name = "lsattr",
	.group = GROUP_LOOK,
	.summary = "list project IDs and flags of files",
	.synopsis = "[-padR] [OPTION]... PATH...",
	.help = "List the flags of each PATH, or of what is in it if it is a directory.",
	.example = "lsattr /srv/web\n"
		   "lsattr -d /srv/*",
	.options = (option_tables){ lsattr_options, table_options, help_option, NULL },
	.rows = &attributes_rows,
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct lsattr_options),
	.run = command_lsattr,
};
