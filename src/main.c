/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsquota: manage and measure filesystem project quotas. Two programs over one library:
 *
 *   native/      fsquota COMMAND [OPTIONS] [PATH]...
 *     main.c           all commands, which one runs, and for which filesystems; each is in the file of
 *                      its name, described at its end, but: records.c has report and quota, dump.c
 *                      restore, limit.c timer, state.c enable, disable, off and remove, lsattr.c id,
 *                      doctor.c supported
 *     batch.c          the same from standard input, a line each (request.c)
 *     command.c        options and --help, from the descriptions; options.c  those that commands share,
 *                      and how a command prints its rows
 *     session.c        the state of a run: names, registry, signals, output
 *     errors.c         every error on its way to the user: what to do about it, and why something is
 *                      not supported
 *     paths.c          the filesystems and project directories of a run, and which projects are wanted
 *     records.c        quota records and their rows; projects.c  projects with their directories;
 *                      listing.c  their rows
 *     change.c         changes of records, made or in a dry run found out, and shown
 *     apply_file.c     the lines of apply, whose words are those of assign.c
 *     finding_words.c  what doctor says, and the commands that repair
 *     watch.c          tells what happens: watch_wait.c waits and polls, watch_places.c knows where,
 *                      watch_ids.c whom and how often; watch_tell.c prints, watch_run.c --exec
 *     budgets.c        what limits may add up to, of the configuration; totals.c  how that stands
 *     top.c            who grows: growth.c knows how fast, screen.c takes a terminal
 *     http.c           one page over HTTP, for metrics.c
 *     pods.c           the pod of a volume, for metrics.c
 *     schema.c         the JSON of all rows as JSON Schema
 *     oci_hook.c       called by runtimes of containers
 *     config.c         /etc/fsquota.conf
 *     progress.c       how far a walk is, and how it is cancelled
 *   xfs_quota/   what xfs_quota(8) does, byte for byte
 *     main.c           options, and what -c says; shell.c  the same from standard input
 *     commands.c       all commands, and help; arguments.c getopt.c  their words; paths.c  the table of
 *                      paths
 *     names.c          users, groups and projects, and their quota records
 *     amounts.c        numbers, sizes and times as it prints them; output.c  output and errors
 *     report.c quota.c df.c dump.c limit.c switch.c project.c quot.c print.c   the commands: dump.c has
 *                      restore, limit.c timer and warn, switch.c state, enable, disable, off and remove
 *   common/      what both gather: owners.c (users, groups and projects by name, and what each owns)
 *   table/       rows, described once by fields
 *     field.c          a field of a row: as a cell, compared; table.c  rows in the format that was chosen
 *     aligned.c        a table for people; json.c  JSON
 *   quota/       the library: no printing, no exit, no globals. All others include fsquota.h only
 *     operation/       what the header offers
 *       assign.c release.c resize.c limits.c usage.c project_tree.c
 *       assign_tree.c assign_limits.c  the steps of an assignment
 *       release_directory.c  one directory that exists
 *       project_place.c  where a project is, by its directories
 *       prune.c          what those have left
 *       assigned.c       is all so already?
 *       diagnose.c       what stands in the way (diagnosis.h names its parts; diagnosis.c  what they share)
 *       allocate.c       an ID that nobody has (store.c: what containers' engines do)
 *       make_directory.c  a directory with its owner and mode, or none
 *       owner.c          which project is a directory's own
 *       tree_tag.c       the ID of everything in a directory
 *       enforcement.c    who is stopped at a limit
 *       plan.c           what a change of quota records would do
 *       disk_use.c       use, counted by a walk
 *       budget.c         what limits may add up to
 *       overlay.c        where an overlay writes
 *       explain.c        where it is: each file, also deleted ones that processes have (open_files.c)
 *       cache.c          what was read already
 *     walk/            every file of a tree, safely
 *       tree_walk.c      the visit of entries; a large tree is entered without mounts
 *       dir_stack.c      where a walk is
 *       thread_pool.c    its threads, and events in the order of one thread
 *     registry/        /etc/projects and /etc/projid
 *       entries.c        read; project_line.c parses their lines
 *       project_edit.c   written, by nobody else: project_list.c is one of them, locked_file.c and
 *                        file_lock.c how it is changed
 *     mounts/          the filesystem of a path
 *       filesystem.c     opened by any path; place.c is a file or directory, held open
 *       mount.c          the mount of an open file, remembered, and of a path in a table of one's own; fstab
 *       mount_table.c    all mounts, where a path lies by its name alone, and options: libmount
 *       device.c         what is on a device, and which one LABEL= means: libblkid
 *     kernel/          the calls: quotactl.c, inode_project.c (FSXATTR, file_[gs]etattr), space.c (and
 *                      bulkstat), privilege.c, superblock.c, openat2.c; warnings.c  what the kernel
 *                      tells by itself
 *     base/            error.c units.c path.c id_set.c inode_map.c: nothing of quotas
 *   shared/      for all: writer.c (output, and UTF-8 in it), json_read.c, errno_words.c, array.h, sort.h, texts.h,
 *                read_file.c, file_stamp.c, clock.h, statx.h, and load_library.h, the one list of libraries that
 *                are loaded on first use (first_memory.c: of the static program only)
 *
 * native/ and xfs_quota/ do not know each other. A folder of quota/ includes only those below it in this
 * list; tests/source/includes checks both.
 */
#include <string.h>

#include "native/command.h"
#include "xfs_quota/main.h"

/* By its name, or else by the first word: an option of xfs_quota. What both have is ours: --help,
 * --version, -V. */
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
