/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsquota: manage and measure filesystem project quotas.
 *
 * Two programs share a library: xfs_quota, and the native commands, which are three folders, of which
 * none includes what is above it in this list:
 *
 *   xfs_quota/  what xfs_quota does and prints, whole: a program of its own over the library
 *     main.c           its options, and the commands of -c
 *     shell.c          commands from standard input, edited by libedit
 *     commands.c       the table of commands (command.h), their options, where they run, help
 *     paths.c          the table of paths: filesystems, and directories of projects
 *     names.c          users, groups and projects, and their quota records
 *     amounts.c        use, limits and grace times as text
 *     output.c         bytes to standard output, messages and the exit status
 *     report.c quota.c df.c dump.c limit.c switch.c project.c quot.c print.c   the commands:
 *                      dump.c has restore, limit.c timer and warn, switch.c state, enable,
 *                      disable, off and remove, print.c path
 *   frontend/   turns words into the call of a native command
 *     native.c         fsquota COMMAND [OPTIONS] PATH...
 *     batch.c          the same from standard input, a line each (request.c)
 *     dispatch.c       for which filesystems a command runs
 *   command/    does what was asked: collects rows, hands each to a renderer
 *     table.c          all commands; each is in the file of its name, described at its end
 *     parse.c help.c   options and --help, from the descriptions
 *     options.c        the options that commands share
 *     session.c        the state of a run, and every error on its way to the user
 *     paths.c          the filesystems and project directories of a run
 *     dquots.c         quota records; projects.c  those of projects, with their directories
 *     change.c         changes of records, made or in a dry run foreseen, and shown
 *     names.c          users, groups and projects by name
 *     apply_file.c     the lines of apply; assign_request.c their words, and assign's
 *     finding_words.c  what doctor says, and the commands that repair
 *     template.c       texts with names in them, and words of the shell
 *     listing.c        util-linux's options, and the row of a project
 *     replacement.c    output that replaces a file, whole or not at all (metrics)
 *     config.c         /etc/fsquota.conf
 *     watch.c          waits for what happens: watch_places.c where, watch_ids.c to whom and how often,
 *                      watch_poll.c what the kernel does not tell; watch_tell.c, watch_run.c --exec
 *     notify.c         what a service tells its manager
 *     progress.c       how far a walk is (output/progress_text.c), and how it is cancelled
 *     signals.c        a pending signal ends a call of the library
 *     hints.c          the advice after an error; cause.c: why something is not supported
 *     getopt.c         getopt(3) as glibc has it
 *   output/     rows to bytes; only this prints to standard output
 *     xfs_quota_text.c json_rows.c   the renderers of rows (renderer.h, rows.h)
 *     native_text.c    the text of rows that xfs_quota does not have
 *     change_text.c change_json.c    rows of what is changed, or would be
 *     project_rows.c   projects as a table (smartcols.c, plain_table.c) or JSON;
 *                      project_columns.c has their cells and keys, project_order.c sorts,
 *                      project_totals.c sums
 *     openmetrics.c    projects and filesystems for Prometheus
 *     help_text.c xfs_quota_words.c error_text.c   help, answers of the shell, errors
 *     answer.c         to a request of batch
 *     watch_rows.c     the lines of watch
 *     cells.c json.c   numbers and JSON
 *   quota/      the library: no printing, no exit, no globals. All others include fsquota.h only
 *     operation/       what the header offers
 *       assign.c release.c resize.c limits.c usage.c supported.c files.c project_tree.c
 *       assign_tree.c assign_limits.c  the steps of an assignment
 *       release_project.c  a project by its ID, and directories that are gone
 *       project_place.c  where a project is, by its directories
 *       prune.c          what those have left (volumes.c: where they would be)
 *       assign_plan.c    what dry runs would have done, for the next one
 *       assigned.c       is all so already?
 *       diagnose.c       what stands in the way (diagnosis.h names its parts)
 *       allocate.c       an ID that nobody has (store.c: what containers' engines do)
 *       make_directory.c  a directory with its owner and mode, or none
 *       owner.c          which project is a directory's own (tree_account.c)
 *       tree_tag.c       the ID of everything in a directory
 *       enforcement.c    who is stopped at a limit
 *       plan.c           what a change of quota records would do
 *       disk_use.c       use, counted by a walk
 *       directory_space.c  use, as statfs(2) shows it
 *       cache.c          what was read already (mount_cache.c, project_cache.c)
 *     walk/            every file of a tree, safely
 *       tree_walk.c      the visit of entries (entry.c), in mount_clone.c without mounts
 *       dir_stack.c      where a walk is
 *       thread_pool.c    its threads, and events in the order of one thread
 *     registry/        /etc/projects and /etc/projid
 *       project_files.c  read (entries.c: at once); project_line.c parses their lines
 *       project_edit.c   written, by nobody else: project_list.c is one of them, locked_file.c and
 *                        file_lock.c how it is changed
 *     mounts/          the filesystem of a path
 *       filesystem.c     opened by any path; place.c is a file or directory, held open
 *       mounts.c         mount tables, read by nobody else (mountinfo.c, libmount.c)
 *       mount_points.c   where a path lies, by its name alone
 *       mount_entry.c    a mount with its options, and its line in fstab
 *     kernel/          the calls: quotactl.c, inode_project.c (FSXATTR, file_[gs]etattr), bulkstat.c,
 *                      space.c, privilege.c, superblock.c, openat2.c, late_close.c; warnings.c  what
 *                      the kernel tells by itself (genetlink.c)
 *     base/            error.c units.c path.c id_set.c inode_map.c: nothing of quotas
 *
 * A folder of quota/ includes only those below it in this list; tests/source/includes checks that.
 * output/ and quota/ do not know each other's inside. shared/ is for all: array.h, sort.h,
 * texts.h, read_file.c, file_stamp.c, statx.h, writer.c (the buffer of a line), utf8.c, errno_words.c
 * (names and texts of errors), and load_library.h, the one list of libraries that are
 * loaded on first use (first_memory.c: of the static program only).
 */
#include <string.h>

#include "frontend/native.h"
#include "xfs_quota/main.h"

/*
 * The program is xfs_quota if it is called by that name, or if the first word is one of its options.
 * Options that both have are native: --help, --version, -V.
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
