/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "output/xfs_quota_text.h"

/* Sorted by name. */
static const struct command commands[] = {
	{
		.name = "df",
		.alias = "free",
		.options = "bf:hiNr",
		.synopsis = "[-bir] [-hN] [-f file]",
		.summary = "show free and used counts for blocks and inodes",
		.help = " Size and free space of the filesystems, and of each project directory "
			"in\n"
			" the projects file, measured against its soft limit where it has one.\n"
			"\n"
			" -b  blocks (default)   -h  sizes with a letter (K, M, G, ...)\n"
			" -i  inodes             -N  no header\n"
			" -r  realtime blocks    -f  write to a new file\n",
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_PATHS,
		.run = command_df,
	},
	{
		.name = "disable",
		.options = "gpuv",
		.synopsis = "[-gpu] [-v]",
		.summary = "disable quota enforcement",
		.help = " Stop enforcing limits of users (-u, default), groups (-g) or projects "
			"(-p) on\n"
			" the current XFS. Use is still accounted; enable takes it back.\n"
			"\n"
			" -v  show the state afterwards\n",
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_disable,
	},
	{
		.name = "dump",
		.options = "f:gpuL:U:",
		.synopsis = "[-g|-p|-u] [-LU] [-f file]",
		.summary = "dump quota information for backup utilities",
		.help = " Print the limits of every user (-u, default), group (-g) or project (-p) "
			"that\n"
			" has any, in a form that restore reads.\n"
			"\n"
			" -L  lowest ID   -U  highest ID   -f  write to a new file\n",
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT,
		.run = command_dump,
	},
	{
		.name = "enable",
		.options = "gpuv",
		.synopsis = "[-gpu] [-v]",
		.summary = "enable quota enforcement",
		.help = " Enforce limits of users (-u, default), groups (-g) or projects (-p) on "
			"the\n"
			" current XFS, where use is accounted already: that is chosen when it is\n"
			" mounted.\n"
			"\n"
			" -v  show the state afterwards\n",
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_enable,
	},
	{
		.name = "help",
		.alias = "?",
		.options = "",
		.synopsis = "[command]",
		.summary = "help for one or all commands",
		.max_words = 1,
		.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_ANYWHERE,
		.run = command_help,
	},
	{
		.name = "limit",
		.options = "dgpu",
		.synopsis = "[-g|-p|-u] bsoft|bhard|isoft|ihard|rtbsoft|rtbhard=N -d|id|name",
		.summary = "modify quota limits",
		.help = " Set limits of a user (-u, default), group (-g) or project (-p). Limits "
			"that\n"
			" are not named stay as they are; 0 takes one away.\n"
			"\n"
			" bsoft, bhard, rtbsoft, rtbhard  bytes, or with a letter: s (512), b "
			"(4096),\n"
			"                                 k, m, g, t, p, e (powers of 1024)\n"
			" isoft, ihard                    number of inodes\n"
			" -d                              the defaults, which are kept with ID 0\n"
			"\n"
			" Example: limit -p bsoft=900m bhard=1g 42\n",
		.min_words = 2,
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_limit,
	},
	{
		.name = "off",
		.options = "gpuv",
		.synopsis = "[-gpu] [-v]",
		.summary = "permanently switch quota off for a path",
		.help = " Switch quota of users (-u, default), groups (-g) or projects (-p) off on "
			"the\n"
			" current XFS, until it is mounted anew. Since Linux 5.16 only the "
			"enforcement\n"
			" goes off and use is still accounted, as with disable.\n"
			"\n"
			" -v  show the state afterwards\n",
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_off,
	},
	{
		.name = "path",
		.alias = "paths",
		.options = "",
		.synopsis = "[N]",
		.summary = "set current path, or show the list of paths",
		.max_words = 1,
		.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT,
		.run = command_path,
	},
	{
		.name = "print",
		.alias = "p",
		.options = "",
		.summary = "list known mount points and projects",
		.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN,
		.run = command_print,
	},
	{
		.name = "project",
		.alias = "tree",
		.options = "cCd:p:s",
		.synopsis = "[-c|-s|-C|-d <depth>|-p <path>] project ...",
		.summary = "check, setup or clear project quota trees",
		.help = " Give the directories of a project its ID, and everything in them. Which\n"
			" directories these are is written in the projects file, or given with "
			"-p.\n"
			"\n"
			" -c  say what does not carry the ID (default); nothing is changed\n"
			" -s  set the ID, and let directories hand it on to what is created in "
			"them\n"
			" -C  clear the ID and the inheritance\n"
			" -d  go no deeper than this many levels; 0 is the directory alone\n"
			" -p  a directory that is not in the projects file\n"
			"\n"
			" Symbolic links are not followed, other mounts are not entered.\n"
			" Example: project -s -p /srv/volume 42\n",
		.min_words = 1,
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_WALKS,
		.run = command_project,
	},
	{
		.name = "quit",
		.alias = "q",
		.options = "",
		.summary = "exit the program",
		.max_words = -1,
		.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_ANYWHERE,
		.run = command_quit,
	},
	{
		.name = "quot",
		.options = "abcf:ghinpruv",
		.synopsis = "[-bir] [-g|-p|-u] [-acv] [-f file]",
		.summary = "summarize filesystem ownership",
		.help = " What each user (-u, default), group (-g) or project (-p) owns on an XFS, "
			"in\n"
			" KiB, counted inode by inode. Quota need not be on.\n"
			"\n"
			" -i  also how many files           -a  all filesystems\n"
			" -v  also KiB that were not read   -n  IDs instead of names\n"
			"     for 30, 60 and 90 days        -f  write to a new file\n"
			" -c  how many files there are of each size in KiB, and the sum up to it\n",
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_PATHS,
		.run = command_quot,
	},
	{
		.name = "quota",
		.alias = "l",
		.options = "bf:ghinNpruv",
		.synopsis = "[-bir] [-g|-p|-u] [-hnNv] [-f file] [id|name]...",
		.summary = "show usage and limits",
		.help = " What users (-u, default), groups (-g) or projects (-p) use, and their "
			"limits,\n"
			" on every filesystem there is. Without a name: the caller's own.\n"
			"\n"
			" -b  blocks (default)   -h  sizes with a letter   -v  also where nothing "
			"is used\n"
			" -i  inodes             -n  IDs instead of names  -f  write to a new "
			"file\n"
			" -r  realtime blocks    -N  no header\n"
			"\n"
			" Example: quota -p -N -n -v -b 42\n",
		.max_words = -1,
		.flags = COMMAND_FOREIGN,
		.run = command_quota,
	},
	{
		.name = "remove",
		.options = "gpuv",
		.synopsis = "[-gpu] [-v]",
		.summary = "remove quota extents from a filesystem",
		.help = " Free the space that the records of users (-u, default), groups (-g) or\n"
			" projects (-p) take on the current XFS. Their quota must be off.\n"
			"\n"
			" -v  show the state afterwards\n",
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_remove,
	},
	{
		.name = "report",
		.alias = "repquota",
		.options = "abf:ghilnprtuL:NU:d",
		.synopsis = "[-bir] [-gpu] [-ahntlLNU] [-f file]",
		.summary = "report filesystem quota information",
		.help = " Every user (-u), group (-g) and project (-p; default: all three) that a\n"
			" filesystem knows, with use and limits.\n"
			"\n"
			" -b  blocks (default)   -h  sizes with a letter   -a  all filesystems\n"
			" -i  inodes             -n  IDs instead of names  -t  only where "
			"something is used\n"
			" -r  realtime blocks    -N  no header             -f  write to a new "
			"file\n"
			" -L  lowest ID   -U  highest ID   -l  names even so\n",
		.max_words = -1,
		.flags = COMMAND_ONE_SHOT | COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_PATHS,
		.run = command_report,
	},
	{
		.name = "restore",
		.options = "f:gpu",
		.synopsis = "[-g|-p|-u] [-f file]",
		.summary = "restore quota limits from a backup file",
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_restore,
	},
	{
		.name = "state",
		.options = "af:gpuv",
		.synopsis = "[-gpu] [-a] [-v] [-f file]",
		.summary = "get overall quota state information",
		.help = " Whether quota of users (-u), groups (-g) and projects (-p; default: all\n"
			" three) is accounted and enforced, and how long the grace times are.\n"
			"\n"
			" -a  all filesystems   -v  also say where there is none   -f  write to a "
			"new file\n",
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT,
		.run = command_state,
	},
	{
		.name = "timer",
		.options = "bdgipru",
		.synopsis = "[-bir] [-g|-p|-u] value [-d|id|name]",
		.summary = "set quota enforcement timeouts",
		.help = " Set how long soft limits of users (-u, default), groups (-g) or projects "
			"(-p)\n"
			" may be exceeded; or, for one that exceeds them now, how much longer it "
			"may.\n"
			"\n"
			" value  seconds, or with a unit: minutes, hours, days, weeks (or m, h, d, "
			"w)\n"
			" -b     blocks          without -b, -i or -r: all that the filesystem "
			"has\n"
			" -i     inodes\n"
			" -r     realtime blocks\n"
			" -d     for all, as without an ID\n"
			"\n"
			" Example: timer -p 3days\n",
		.min_words = 1,
		.max_words = -1,
		.flags = COMMAND_FOREIGN | COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_timer,
	},
	{
		.name = "warn",
		.options = "bdgipru",
		.synopsis = "[-bir] [-g|-p|-u] value -d|id|name",
		.summary = "get/set enforcement warning counter",
		.help = " Set the number of warnings issued to a user (-u, default), group (-g) "
			"or\n"
			" project (-p), for blocks (-b), inodes (-i), realtime blocks (-r) or "
			"all.\n"
			" Linux keeps no such count since 5.19, and refuses.\n",
		.min_words = 2,
		.max_words = -1,
		.flags = COMMAND_EXPERT | COMMAND_CHANGES,
		.run = command_warn,
	},
};

const struct command *command_all(size_t *count)
{
	*count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

const struct command *command_find(const struct session *session, const char *name)
{
	size_t count;
	const struct command *all = command_all(&count);

	for (size_t i = 0; i < count; i++) {
		if ((all[i].flags & COMMAND_EXPERT) && !session->expert)
			continue;
		if (strcmp(all[i].name, name) == 0 ||
		    (all[i].alias && strcmp(all[i].alias, name) == 0))
			return &all[i];
	}
	return NULL;
}

const char *command_operands(const struct command *command)
{
	if (command->flags & COMMAND_CHANGES)
		return "PATH";
	return command->flags & COMMAND_PATHS ? "[PATH...]" : "[PATH]";
}

enum command_result command_usage(struct session *session, const struct command *command)
{
	if (session->native) {
		session_complain(session, 1, FSQ_E_USAGE, "usage: fsquota %s%s%s %s", command->name,
				 command->synopsis ? " " : "",
				 command->synopsis ? command->synopsis : "",
				 command_operands(command));
		return COMMAND_NEXT;
	}
	text_help_line(session->out, command->name, command->synopsis, command->summary);
	return COMMAND_NEXT;
}
