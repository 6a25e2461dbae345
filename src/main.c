/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsquota: manage and measure filesystem project quotas. Two programs over one library:
 *
 *   native/      fsquota COMMAND [OPTIONS] [PATH]...
 *     main.c           selects a command and its filesystems; commands.h  the list of commands
 *     commands/        one command, one file, with its description at the end. Add yours here. Two names in one
 *                      file: limit.c has timer, dump.c restore, report.c quota, state.c enable and
 *                      disable, lsattr.c id, schema.c completion. batch.c runs commands from standard input
 *     apply/           texts.c  reads files that nobody writes; file.c  parses them, see fsquota.d(5)
 *       edit.c           limits as a line in an editor
 *       grace.c          sets the grace times of filesystems; watch.c  waits for changes, for --watch
 *     check/           plugin.c  answers as a plugin of a monitor; usage/  brief.c  a sentence for who logs in
 *     watch/           watch.c  waits for warnings and polls; ids.c  the IDs at a limit and their events;
 *                      report.c  prints events; run.c  runs --exec
 *     metrics/         http.c  serves pages over HTTP, with libmicrohttpd
 *     top/             projects, users or groups by growth; screen.c  takes over a terminal
 *     doctor/          also the command supported
 *     setup/           plan.c  the steps to quotas that last; edit.c  changes a word of a file; carry.c  carries them out
 *     rows/            the rows that commands share, and how they are found
 *       records.c        quota records; projects.c  projects with their directories, or users or groups;
 *                        listing.c  as rows
 *       sentence.c       a row as a sentence
 *       change.c         changes quota records, or predicts it in a dry run, as rows
 *       totals.c         what limits add up to, and budgets; growth.c  how fast use grows
 *     cli/             what every command needs
 *       session.c        the state of a run: names, registry, signals, output
 *       command.c        parses options and prints --help, from the descriptions; options.c  the options that
 *                        commands share, and the output of rows
 *       errors.c         prints errors, with hints and the reason why something is not supported;
 *                        finding_words.c  the findings of a diagnosis as sentences and repairs
 *       paths.c          the filesystems, directories and projects that a run works on
 *       request.c        the request of assign, from words; budgets.c  the budgets of the configuration
 *       line.c           writes words of fsquota.d(5); program.c  runs another program
 *       journal.c        a line in the journal for each change; marks.c  what apply has assigned;
 *                        until.c  limits that go back
 *       config.c         reads /etc/fsquota.conf and its directory; suggest.c  guesses what a wrong word may have meant
 *       progress.c       progress and cancellation of walks; replacement.c  replaces a file atomically
 *   xfs_quota/   what xfs_quota(8) does, byte for byte
 *     main.c           its options and -c; shell.c  commands from standard input
 *     commands.c       the table of commands, help, and the words of a line; getopt.c  their options
 *     paths.c          the table of paths, with the commands print and path
 *     names.c          users, groups and projects, and their quota records
 *     amounts.c        numbers, sizes and times in its layout; output.c  output and errors
 *     report.c quota.c df.c dump.c limit.c switch.c project.c quot.c   the other commands: dump.c has
 *                      restore, limit.c timer and warn, switch.c state, enable, disable, off and remove
 *   common/      what both programs need: accounts.c  users, groups, projects and limits by the words that people
 *                type; signals.c  blocks signals during a change
 *   table/       rows, described once by fields
 *     field.c          a field of a row: printed and compared; table.c  rows in all formats
 *     aligned.c        the aligned table; json.c  JSON
 *   quota/       the library: no printing, no exit, no globals. fsquota.h is for everybody; the programs
 *                also include headers of the folders
 *     diagnose/        why quotas do not work: filesystem.c, records.c, registry.c and trees.c look, diagnosis.c
 *                      is common to them
 *     usage/           what is used, and by what
 *       usage.c          the use and limits of a directory; disk_use.c  by a walk
 *       explain.c        accounts for the space of a project; open_files.c  deleted files of processes
 *       project_tree.c   sets, clears and checks the ID of a tree
 *     directory/       a quota on a directory
 *       assign.c resize.c move.c prune.c release.c; release_directory.c  releases one that exists
 *       project_location.c  finds the filesystem of a project by its directories
 *       allocate.c       finds a free ID; store.c  finds container stores, whose engines use IDs
 *       make_directory.c makes a directory with owner and mode, or none
 *       owner.c          finds the project that belongs to a directory
 *       tree_tag.c       sets the ID of everything in a directory, and undoes it
 *       budget.c         what limits may add up to
 *     limits/          limits.c  quota records; plan.c  predicts a change of them
 *     walk/            every file of a tree, safely
 *       tree_walk.c      visits the entries; a large tree in a clone without mounts
 *       dir_stack.c      the directories above the current entry
 *       thread_pool.c    threads, which take directories from a queue
 *     registry/        /etc/projects and /etc/projid
 *       entries.c        reads them; project_line.c parses their lines
 *       project_edit.c   writes them; project_list.c  one of the files; locked_file.c and file_lock.c
 *                        lock it and change it in place
 *     mounts/          the filesystem of a path
 *       lookup.c         the one way from a path, or a pattern, to a file
 *       filesystem.c     a filesystem, opened by any path; handle.c  a file or directory, held open
 *       mount.c          the mount of an open file, a cache of mounts, and tables such as fstab
 *       mount_table.c    all mounts, by path without touching them; options: libmount
 *       overlay.c        the directories that an overlay writes to
 *       device.c         what is on a device, and LABEL=: libblkid
 *     kernel/          system calls: quotactl.c, inode_project.c (FSXATTR, file_[gs]etattr), space.c (and
 *                      bulkstat), privilege.c, superblock.c, openat2.c; warnings.c  quota netlink
 *     base/            error.c units.c path.c id_set.c inode_map.c: nothing of quotas
 *   shared/      for all: writer.c (output), utf8.c, json_read.c, errno_words.c, array.h, sort.h,
 *                texts.h, read_file.c, file_stamp.c, clock.h, statx.h, used_up.h (when a file system is full),
 *                and load_library.h, the list of libraries that are loaded on first use
 *
 * native/ and xfs_quota/ do not know each other. A folder of quota/ includes only those below it in this list, and
 * rows/ only cli/; tests/source/includes checks it.
 */
#include <string.h>

#include "native/cli/command.h"
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
