/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>

#include "config.h"
#include "listing.h"
#include "native_command.h"
#include "output/native_text.h"
#include "progress.h"
#include "quota/units.h"

#define NATIVE_LOCK_HELP \
	"      --lock-timeout S    wait at most S seconds for the locks of both files: 60\n"
#define NATIVE_WALK_HELP "      --progress WHEN     how far it is: auto, never, always\n"

/* Sorted by name. */
static const struct native_command commands[] = {
	{
		.name = "assign",
		.program = "fsquota assign",
		.summary = "put a quota on a directory, all or nothing",
		.usage = "fsquota assign DIR [--hard SIZE] [--soft SIZE] [OPTION]...",
		.help = "Choose an unused project ID, set its limits, give it to DIR and all that "
			"is\n"
			"in it, register both, and print the ID. Any error: nothing has changed.\n"
			"Again on the same DIR: the same ID; limits that are given are changed.\n"
			"\n"
			"      --hard SIZE         at most so much space: 500M, 10G, ...\n"
			"      --soft SIZE         more than this only for the grace time\n"
			"      --hard-inodes N     at most so many files and directories\n"
			"      --soft-inodes N     more than this only for the grace time\n"
			"      --unlimited         only count; the default for a new project\n"
			"      --name NAME         join the project of that name, or make it; "
			"without,\n"
			"                          it is called volume<ID>\n"
			"      --id ID             insist on this ID\n"
			"      --id-range A-B      choose from these, instead of "
			"/etc/fsquota.conf's\n"
			"      --no-register       write nothing to the files\n"
			"      --projects-file F   instead of /etc/projects\n"
			"      --projid-file F     instead of /etc/projid\n" NATIVE_LOCK_HELP
			"      --require-enforced  fail where the limits would stop nobody\n"
			"      --dry-run           only say which ID it would be\n" NATIVE_WALK_HELP
			"      --json              print the whole row as JSON, see "
			"fsquota-json(5)\n"
			"  -h, --help              show this and exit\n",
		.run = native_assign,
	},
	{
		.name = "id",
		.program = "fsquota id",
		.summary = "print the project ID of files",
		.usage = "fsquota id [--json] PATH...",
		.help = "Print the project ID that each PATH carries, one a line; 0 is none.\n"
			"\n"
			"      --json  JSON, see fsquota-json(5)\n"
			"  -h, --help  show this and exit\n",
		.run = native_id,
	},
	{
		.name = "list",
		.program = "fsquota list",
		.summary = "list projects with their directories, use and limits",
		.usage = "fsquota list [OPTION]... [PATH]...",
		.help = "List every project of the filesystem of each PATH, or of all that have "
			"quota.\n"
			"\n"
			"      --sort KEY          by id (default), use or percent, largest "
			"first\n" LISTING_HELP
			"      --projects-file F   instead of /etc/projects\n"
			"      --projid-file F     instead of /etc/projid\n"
			"      --json              JSON, see fsquota-json(5)\n"
			"  -h, --help              show this and exit\n",
		.run = native_list,
	},
	{
		.name = "lsattr",
		.program = "fsquota lsattr",
		.summary = "list project IDs and flags of files, as lsattr(1) does",
		.usage = "fsquota lsattr [-padR] [--json] PATH...",
		.help = "List the flags of each PATH, or of what is in it if it is a directory.\n"
			"\n"
			"  -p          with the project ID in front\n"
			"  -d          directories themselves instead of what is in them\n"
			"  -a          also files whose names begin with a dot\n"
			"  -R          directories and all that is below them; mounts are not "
			"entered\n"
			"      --json  JSON with the project ID, see fsquota-json(5)\n"
			"  -h, --help  show this and exit\n",
		.run = native_lsattr,
	},
	{
		.name = "release",
		.program = "fsquota release",
		.summary = "take the quota off a directory, and free its ID",
		.usage = "fsquota release DIR [OPTION]...",
		.help = "Take the project ID off DIR and all that is in it and, if DIR was its "
			"last\n"
			"directory, the limits off the project and its lines out of the files. "
			"Any\n"
			"error: nothing has changed. Also for a quota that other tools put there.\n"
			"\n"
			"      --keep-tags         leave the ID on the files: DIR is about to be "
			"deleted\n"
			"      --id ID             insist that this ID, which DIR carries, is its "
			"own\n"
			"      --no-register       leave the files as they are\n"
			"      --projects-file F   instead of /etc/projects\n"
			"      --projid-file F     instead of /etc/projid\n" NATIVE_LOCK_HELP
			"      --dry-run           only say whether there is a quota to be taken "
			"off\n" NATIVE_WALK_HELP
			"      --json              errors as JSON, too, see fsquota-json(5)\n"
			"  -h, --help              show this and exit\n",
		.run = native_release,
	},
	{
		.name = "resize",
		.program = "fsquota resize",
		.summary = "change the hard limit of a directory's quota",
		.usage = "fsquota resize DIR SIZE|+SIZE [OPTION]...",
		.help = "Make the hard limit of the project that DIR belongs to SIZE, or larger by "
			"SIZE:\n"
			"500M, 10G, +5G, ... It cannot become smaller than what is in use.\n"
			"\n"
			"      --allow-shrink     let it become smaller than it is\n"
			"      --id ID            insist that this ID, which DIR carries, is its "
			"own\n"
			"      --projects-file F  instead of /etc/projects\n"
			"      --projid-file F    instead of /etc/projid\n"
			"      --dry-run          only say whether it could be done\n"
			"      --json             errors as JSON, too, see fsquota-json(5)\n"
			"  -h, --help             show this and exit\n",
		.run = native_resize,
	},
	{
		.name = "supported",
		.program = "fsquota supported",
		.summary = "tell whether a quota can be put on a directory",
		.usage = "fsquota supported DIR [OPTION]...",
		.help = "Can a quota be put on DIR, here and by this caller? The exit status says "
			"so:\n"
			"0 yes, 3 not on this filesystem, 4 not by this caller.\n"
			"\n"
			"  -q, --quiet  say nothing else\n"
			"      --json   JSON, see fsquota-json(5)\n"
			"  -h, --help   show this and exit\n",
		.run = native_supported,
	},
	{
		.name = "usage",
		.program = "fsquota usage",
		.summary = "show how much of its quota a directory uses",
		.usage = "fsquota usage [OPTION]... DIR...",
		.help = "Show the project of each DIR, its use and its limits, in constant time "
			"and with\n"
			"deleted files that are still open.\n"
			"\n"
			"      --fallback HOW      where no quota applies: walk (count as du "
			"does), or\n"
			"                          none (an error, the default)\n" LISTING_HELP
				NATIVE_WALK_HELP
			"      --projects-file F   instead of /etc/projects\n"
			"      --projid-file F     instead of /etc/projid\n"
			"      --json              JSON, see fsquota-json(5)\n"
			"  -h, --help              show this and exit\n",
		.run = native_usage,
	},
};

const struct native_command *native_command_all(size_t *count)
{
	*count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

static bool take_common(struct session *session, int option)
{
	switch (option) {
	case NATIVE_JSON:
		session->json = true;
		session->render = &json_renderer;
		return true;
	case NATIVE_PROJECTS_FILE:
		session->projects_file = optarg;
		return true;
	case NATIVE_PROJID_FILE:
		session->projid_file = optarg;
		return true;
	case NATIVE_LOCK_TIMEOUT:
		if (config_parse_seconds(optarg, &session->lock_seconds))
			return true;
		session_complain(session, 1, FSQ_E_USAGE,
				 "--lock-timeout is a number of seconds, not \"%s\"", optarg);
		return false;
	case NATIVE_PROGRESS:
		return progress_parse(session, optarg);
	default:
		return false;
	}
}

int native_option(struct session *session, const struct native_command *command, int argc,
		  char **argv, const char *letters, const struct option *words)
{
	static const struct option only_help[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	do {
		option = getopt_long(argc, argv, letters, words ? words : only_help, NULL);
	} while (take_common(session, option));
	switch (option) {
	case NATIVE_LOCK_TIMEOUT: /* it was none */
	case NATIVE_PROGRESS:
		return 0;
	case 'h':
		text_command_help(session->out, command->usage, command->help);
		return 0;
	case '?':
		if (optopt >= 256)
			session_complain(session, 1, FSQ_E_USAGE, "option %s takes a value",
					 argv[optind - 1]);
		else if (optopt)
			session_complain(session, 1, FSQ_E_USAGE, "unknown option -%c; usage: %s",
					 optopt, command->usage);
		else
			session_complain(session, 1, FSQ_E_USAGE, "unknown option %s; usage: %s",
					 argv[optind - 1], command->usage);
		return 0;
	default:
		return option;
	}
}

bool native_take_id(struct session *session, struct fsq_claim *claim)
{
	claim->has_id = fsq_parse_id(optarg, &claim->id) == 0 && claim->id != 0;
	if (!claim->has_id)
		session_complain(session, 1, FSQ_E_USAGE, "\"%s\" is no project ID from 1 to %u",
				 optarg, FSQ_ID_MAX);
	return claim->has_id;
}

bool native_operand(struct session *session, const struct native_command *command, int argc,
		    char **argv, const char **operand)
{
	if (argc - optind == 1) {
		*operand = argv[optind];
		return true;
	}
	session_complain(session, 1, FSQ_E_USAGE, "%s; usage: %s",
			 optind == argc ? "no directory given" : "one directory at a time",
			 command->usage);
	return false;
}
