/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsquota: manage and measure filesystem project quotas.
 *
 * The house has four floors, and nothing on one knows what is above it:
 *
 *   frontend/   turns words into the call of a command
 *     xfs_quota.c      the door of that name: options, table of paths, iteration
 *     shell.c line.c   the same, with commands from standard input (line_editor.c)
 *     native.c         fsquota COMMAND [OPTIONS] PATH...
 *     dispatch.c       where a command of xfs_quota may run, and for which filesystems
 *   command/    does what was asked: collects rows, hands each to a renderer
 *     table.c          all commands; each is in the file of its name, described at its end
 *     parse.c help.c   made of the descriptions: options, --help
 *     options.c        the options that commands share
 *     session.c        what a run is about; errors are printed here, once
 *     paths.c          the filesystems and project directories of a run
 *     dquots.c         quota records
 *     names.c          users, groups and projects by name
 *     listing.c        util-linux's options, and the row of a project
 *     config.c         /etc/fsquota.conf
 *     progress.c       how far a walk has come (output/progress_text.c)
 *     getopt.c         getopt(3) as glibc has it
 *     generation.c     the differences between xfs_quota 6.1 and 7.2
 *   output/     rows to bytes; the only place that prints to standard output
 *     xfs_quota_text.c json_rows.c   the renderers of rows (renderer.h)
 *     native_text.c    the text of rows that xfs_quota does not have
 *     project_rows.c   projects as a table (smartcols.c, plain_table.c) or JSON
 *     help_text.c xfs_quota_words.c error_text.c   help, answers of the shell, errors
 *     errno_words.c    what errors are called
 *     cells.c json.c writer.c        what they are made of
 *   quota/      the library: what a quota is; no printing, no exit, no globals
 *     assign.c release.c   a quota on a directory, wholly or not at all
 *       allocate.c       an ID that nobody has
 *       owner.c          which project is a directory's own (tree_account.c)
 *       directory.c      the directory, held open
 *       tree_tag.c       what is in it (inode_map.c)
 *       project_edit.c   the only writer of /etc/projects and /etc/projid: project_list.c is one
 *                        of them, locked_file.c and file_lock.c how it is changed
 *       enforcement.c    who is stopped at a limit
 *       interrupt.c      signals wait meanwhile
 *     resize.c limits.c    limits
 *     usage.c disk_use.c   what is used, or counted
 *     filesystem.c     a filesystem, opened by any path
 *     kernel.c         the only caller of quotactl
 *     inode_project.c  the only caller of the FSXATTR ioctls and of file_[gs]etattr
 *     tree_walk.c      every file of a tree, safely: walk_way.c is where it is, walk_crew.c its
 *                      threads, walk_view.c a view without mounts, walk_entry.c what is
 *                      done with an entry
 *     mounts.c         the only reader of mount tables (mountinfo.c, libmount.c)
 *     project_files.c  /etc/projects and /etc/projid, read; project_line.c parses their lines
 *     all_inodes.c     every inode of an XFS, without walking
 *     privilege.c space.c units.c whole_file.c error.c
 *
 * `output` and `quota` are on the same floor and do not know each other. load_library.h and
 * shared/ are for all.
 */
#include <string.h>

#include "frontend/native.h"
#include "frontend/xfs_quota.h"

/*
 * Which door? By the name xfs_quota that one; else, too, when the first word is one of its options.
 * What both have is ours: --help, --version, -V.
 */
static int is_xfs_quota(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];

	if (strcmp(name, "xfs_quota") == 0)
		return 1;
	if (argc < 2 || argv[1][0] != '-')
		return 0;
	if (strcmp(argv[1], "--strict") == 0)
		return 1;
	return strchr("cdDfPptx", argv[1][1]) != NULL && argv[1][1] != '\0';
}

int main(int argc, char **argv)
{
	if (argc < 1)
		return 2;
	return is_xfs_quota(argc, argv) ? xfs_quota_main(argc, argv) : native_main(argc, argv);
}
