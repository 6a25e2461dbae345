/* SPDX-License-Identifier: Apache-2.0 */
#include "unknown_option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "suggest.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What to say of options of other tools, and of words that a command takes in another way. The first row counts. They
 * are what somebody means before a similar name is.
 */
static const struct {
	const char *words; /* separated by blanks, with one at each end */
	const char *whom;  /* commands, in the same way; or "--OPTION": those that have it */
	const char *answer;
} answers[] = {
	{ " format mkfs fs fstype ", " setup ", "setup makes no filesystem, mkfs(8) does" },
	{ " mount mountpoint at dir directory ", " setup ",
	  "mount -o prjquota DEVICE DIR, then fsquota setup --yes DIR" },
	{ " undo remove revert uninstall disable off ", " setup ",
	  "there is no undo: fsquota release DIR..., and take prjquota out of /etc/fstab" },
	{ " exit-code changed quiet q ", " setup ",
	  "--dry-run exits with 9 if steps are left; --json lists what was done" },
	{ " boot persist permanent fstab-line ", " setup ",
	  "--yes writes the line of fstab; --at-boot is for the root filesystem" },
	{ " device disk ", " setup ", "PATH is the device, or the directory where it is mounted" },
	{ " kubelet kubernetes k8s ", " doctor ",
	  "fsquota doctor /var/lib/kubelet looks at its filesystem; see KUBELET in "
	  "fsquota-xfs_quota(7)" },
	{ " fix repair yes y force f ", " doctor ",
	  "doctor changes nothing: run the commands behind \"repair:\"" },

	{ " exit-code strict warnings-as-errors fail ", " doctor ",
	  "it exits with 3 if there is a problem" },

	{ " limit limits size quota hard soft hard-inodes soft-inodes inodes bhard bsoft ihard "
	  "isoft ",
	  " limit ",
	  "fsquota limit -u bhard=50M USER PATH; of a directory: fsquota assign DIR --hard 50M" },
	{ " id name ", " limit timer quota project find ",
	  "the ID or name is a word of its own, in front of PATH" },
	{ " id name ", " list top explain report df metrics ",
	  "fsquota usage takes --id and --name, and shows the directory" },
	{ " grace timer ", " limit assign resize apply timer ",
	  "fsquota timer TIME [ID] PATH sets grace times" },
	{ " user users u group groups g ", " assign resize ",
	  "limits of a user: fsquota limit -u bhard=10M USER PATH; --owner is that of a new "
	  "directory" },
	{ " user users u group groups g ", " release ",
	  "limits of a user: fsquota limit -u bsoft=0 bhard=0 USER PATH takes them away" },

	{ " add increase increment plus by grow extend ", " resize ",
	  "fsquota resize DIR +SIZE adds to the limit" },
	{ " undo cancel end revert back reset now ", " resize ",
	  "resize DIR --until now puts back what --until has changed" },
	{ " read-only readonly ro as-user as ", " list top check report explain usage ",
	  "fsquota batch --read-only lets others look, by sudo(8)" },
	{ " file filename f config conf ", " apply ", "FILE is an operand, without an option" },
	{ " b ", " assign resize ", "--hard SIZE is the limit" },
	{ " if-not-exists if-needed if-missing new exclusive no-clobber create-only ", " assign ",
	  "it may run again: it changes only the limits that are given" },
	{ " from-file file f ", " assign ", "fsquota apply FILE takes lines" },
	{ " if-changed exit-code changed ", " assign resize release move ",
	  "it writes only what differs; changed in --json says so" },
	{ " verbose v ", " apply ", "--diff shows the limits before and after" },
	{ " daemon follow ", " apply ", "--watch stays, and looks again" },
	{ " boot at-boot on-boot enable ", " apply ",
	  "systemctl enable fsquota-apply.service has it run at boot" },
	{ " skip-missing ignore-missing ignore-errors keep-going ", " apply ",
	  "a directory that fails does not stop the others" },
	{ " mkdir ", " apply ", "it is a word of the line: /srv/web hard=10G mkdir" },
	{ " json J jsonl text output format ", " batch ", "each answer is a line of JSON" },
	{ " listen socket port daemon ", " batch ",
	  "systemctl enable --now fsquota-batch.socket listens" },

	{ " labels label pods pod kubelet kubernetes ", " metrics ",
	  "--info has a metric with the pod of a volume" },
	{ " format ", " metrics ", "it has the format of Prometheus" },

	{ " p ", " assign ", "--id ID chooses the ID; mkdir -p makes what is above DIR" },
	{ " d ", " top ", "--interval SECONDS is between two looks" },
	{ " T ", " report quota limit resize ",
	  "fsquota timer sets grace times, report shows them" },
	{ " all a ", " setup ", "name one filesystem; fsquota doctor shows them" },
	{ " yes y assume-yes force f ",
	  " assign resize move release apply prune limit timer project restore enable disable ",
	  "the command does not ask" },
	{ " exclude except keep only interactive i ", " prune ",
	  "it removes what is gone for certain, and --dry-run shows it; fsquota release DIR "
	  "takes one" },
	{ " a ", " prune ",
	  "without a path it takes all filesystems; --all removes also what it would keep" },
	{ " user users u group groups g ", " prune ",
	  "limits of users who are gone: fsquota limit -u bsoft=0 bhard=0 ID PATH" },
	{ " quiet q silent ", " move resize release ",
	  "it prints nothing but warnings and errors" },
	{ " quiet q silent ", " assign ",
	  "it prints the ID, warnings and errors, and nothing else" },
	{ " fail fail-over fail-on exit-code strict ", " check ",
	  "it exits with 8 if it finds something; see EXIT STATUS in fsquota-check(8)" },
	{ " P ", " report quota limit timer dump restore enable disable state ",
	  "projects are -p, users -u" },
	{ " all a ", " release ", "name the directories, which fsquota list shows" },
	{ " remove delete rm purge ", " release ",
	  "release deletes no files: rm -r does, and fsquota prune what is left" },
	{ " schema ", "--json", "fsquota schema COMMAND prints it" },
	{ " enforced require-enforced ", " supported apply list check export ",
	  "fsquota doctor exits with 3 where limits would not hold" },
	{ " budget budgets total ", " apply assign ",
	  "a budget is a line: /srv budget=100G, see fsquota.d(5)" },
	{ " mkdir ", " export ", "sed 's/$/ mkdir/' adds the word to each line" },
	{ " recursive r R ", " release ",
	  "it takes each directory that has a quota: fsquota list DIR shows them" },
	{ " recursive r R ", " assign resize move apply prune project ",
	  "DIR stands for all that is in it" },
	{ " retag tag repair ", " assign resize apply ",
	  "fsquota project -s NAME puts its ID on all files again" },
	{ " check verify set clear ", " project ",
	  "-s sets the ID, as project -s -p DIR ID; -c looks for files without it, -C takes it "
	  "off" },
	{ " no-project none unassigned without-project ", " find list ",
	  "fsquota explain of a mount point shows what has none" },
	{ " foreign ", " find ", "fsquota project -c NAME shows files that have another ID" },
	{ " size largest l long ", " find ", "fsquota explain DIR shows the largest" },
	{ " users user u owners owner by-user by-owner ", " find list explain ",
	  "fsquota quota -u USER has the limits; of a project's files: fsquota find -0 NAME | "
	  "xargs -0 stat -c '%U %s %n'" },

	{ " human human-readable k m si unit units block-size B ", "--bytes",
	  "sizes have a letter (K, M, G, ...), or take --bytes" },
	{ " output-file out ", "--bytes", "> FILE writes to a file" },
	{ " format ", " report ", "--html FILE writes a page; rows have --csv, --json and --raw" },
	{ " s ", " usage report quota ", "sizes have a letter (K, M, G, ...), or take --bytes" },
	{ " over above percent ", " report quota df ", "fsquota list --over PERCENT" },
	{ " due until temporary ", " list check usage top report quota export ",
	  "fsquota list -o +until shows when limits go back" },
	{ " until for ", " assign ", "fsquota resize DIR SIZE --until WHEN, when it has a quota" },
	{ " until for ", " limit ",
	  "fsquota resize DIR SIZE --until WHEN is for directories; of users: at(1)" },
	{ " 0 z null print0 zero ", "--jsonl",
	  "--jsonl has any name in a line; --raw has no blanks in a cell" },
	{ " install enable install-sudoers user users ro sudoers ", " batch ",
	  "--read-only and sudoers(5) let others look: see fsquota-batch(8)" },
	{ " install enable ", " watch check prune ",
	  "systemctl enable has a unit run it, see FILES" },
	{ " q quiet ", " usage ", "fsquota check --quiet tells by its exit status" },
	{ " fail-if-over exit-code ", " usage list ", "fsquota check tells by its exit status" },
	{ " porcelain parsable parseable machine-readable xml ", "--csv",
	  "programs read --json, --csv, --pairs or --raw" },
	{ " w ", " list ", "fsquota watch and fsquota top follow changes" },
	{ " b ", " usage ", "--bytes -N -o USED prints one exact number" },
	{ " n ", " top ", "--rows N shows so many, --batch N prints them so many times" },
	{ " n ", " list ",
	  "-N has no header, --top N has N rows; for kubectl's -n: | grep NAMESPACE/" },
	{ " gone deleted removed orphans orphaned orphan stale missing dead ",
	  " list find check usage explain ",
	  "fsquota prune --dry-run shows directories that are gone" },
	{ " files0-from files-from stdin ", " usage ",
	  "fsquota batch reads requests from standard input; or xargs fsquota usage" },
	{ " get field only number ", "--bytes",
	  "-o COLUMN -N --bytes has the value of one column" },
	{ " shell sh eval export env ", "--pairs", "eval takes what --pairs prints" },
	{ " recursive depth d max-depth subdirs ", " usage list top explain ",
	  "fsquota usage --fallback=walk DIR/* counts each directory" },
	{ " A all-namespaces ", " list top check ",
	  "without a path it takes volumes of all namespaces" },
	{ " pod pods kubelet by group-by ", " list top check usage explain assign ",
	  "fsquota list /var/lib/kubelet/pods shows volumes; | grep finds the UID of a pod, or "
	  "its name" },
	{ " filter selector ", " list ", "fsquota list | grep WORD" },
	{ " watch follow f stay ", " watch top ", "it stays by itself" },
	{ " watch follow ", "--bytes", "fsquota watch and fsquota top follow changes" },
	{ " namespace ", "--bytes",
	  "names of volumes begin with it, where /var/log/pods is: fsquota list | grep "
	  "NAMESPACE/" },
	{ " all a ",
	  " list top check watch find export doctor metrics report quota dump df state project ",
	  "without a path it takes all filesystems" },
	{ " at ", " watch ", "--over PERCENT is for what is so full; PATH takes no option" },
	{ " at path mount mountpoint filesystem device dir directory folder target ",
	  " list top watch find export prune doctor metrics explain id supported lsattr assign "
	  "resize release usage move check report ",
	  "a path is an operand, without an option" },
	{ " user users u group groups g ", " export ", "fsquota dump -u has the limits of users" },
	{ " user users u group groups g ", " doctor ", "fsquota quota -u USER has the limits" },
	{ " user users u group groups g ", " setup ",
	  "it keeps quotas of users, and sets up those of projects" },
	{ " copy like proto p ", " limit ", "name the limits, for one user at a time" },
	{ " pod pods namespace ", " release resize ",
	  "--name NAMESPACE/POD/VOLUME, as fsquota list shows it" },
	{ " configmap ", " apply ",
	  "apply --watch DIR follows one that is mounted; see fsquota-containers(7)" },
	{ " mail email to mailto recipient pdf ", "--html",
	  "--html FILE makes a page, which mail(1) sends and a browser prints" },
	{ " webhook url slack hook ", " watch check ",
	  "fsquota watch --exec PROGRAM calls one, which may be a script with curl(1)" },
	{ " month monthly weekly daily cron schedule ", " report list check export dump ",
	  "cron(8) or a timer of systemd runs it again and again" },
	{ " since history from ", " report list top ",
	  "there is no history: fsquota metrics is for Prometheus, report --html FILE for each "
	  "month" },
	{ " syslog log journal logger ", " watch ",
	  "fsquota watch ... | logger -t fsquota logs its lines" },
	{ " mail email notify alert ", " watch ",
	  "fsquota check --mail sends it, from a timer; or --exec a program" },
};

static bool concerns(const char *whom, const struct command *command)
{
	return whom[0] == '-' ? command_find_option(command, 0, whom + 2, strlen(whom + 2)) != NULL
			      : suggest_has_word(whom, command->name, strlen(command->name));
}

static const char *find_answer(const struct command *command, const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(answers); i++)
		if (suggest_has_word(answers[i].words, name, length) &&
		    concerns(answers[i].whom, command))
			return answers[i].answer;
	return NULL;
}

/* Formats of tables are options of their own. @return  the format that the command has, or NULL */
static const char *find_format(const struct command *command, const char *name, size_t length,
			       const char *value)
{
	static const char *const formats[] = { "csv", "json", "jsonl", "pairs", "raw" };

	if (length != 6 || strncmp(name, "format", length) != 0 || !value)
		return NULL;
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(value, formats[i]) == 0 &&
		    command_find_option(command, 0, value, strlen(value)))
			return formats[i];
	return NULL;
}

/* @return   whether the command has the letter -u, -g or -p for these users, groups or projects */
static bool is_type(const struct command *command, const char *name, size_t length)
{
	static const char *const types[] = { "users", "groups", "projects" };

	for (size_t i = 0; i < COUNT(types); i++)
		if (length + 1 >= strlen(types[i]) && length <= strlen(types[i]) &&
		    strncmp(name, types[i], length) == 0)
			return command_find_option(command, *name, NULL, 0);
	return false;
}

static bool takes_name(const struct command *command)
{
	bool takes = false;

	for (const struct command_operand *operand = command->operands; operand->kind; operand++)
		takes |= strcmp(operand->kind, VALUE_NAME) == 0;
	return takes;
}

/*
 * The options that somebody means by a word of other tools, or else the one whose name is most similar.
 *
 * @meant    filled; "": there is none
 */
static void find_meant(const struct command *command, const char *name, size_t length, char *meant,
		       size_t size)
{
	const struct command_option *option;
	struct suggestion like;
	size_t used = 0;

	*meant = '\0';
	suggest_begin(&like, name, length);
	for (size_t i = 0; (option = command_option(command, i)); i++) {
		bool is_meant = option->name && suggest_is_meant(&like, option->name);

		if (!is_meant &&
		    (length == 1 || !option->name || !suggest_is_nearer(&like, option->name)))
			continue;
		if (!is_meant)
			used = 0;
		snprintf(meant + used, size - used, "%s--%s%s%s", used ? " or " : "", option->name,
			 option->argument ? " " : "", option->argument ? option->argument : "");
		used = strlen(meant);
	}
}

/*
 * The commands that have an option of this name, as "a and b have" or "a, b and others have".
 *
 * @text     filled; "": none has
 */
static void find_owners(const struct session *session, const char *name, size_t length, char *text,
			size_t size)
{
	const char *owners[3];
	size_t count = 0;

	for (size_t i = 0; session->commands[i] && count < COUNT(owners); i++)
		if (command_find_option(session->commands[i], 0, name, length))
			owners[count++] = session->commands[i]->name;
	*text = '\0';
	if (count == 1)
		snprintf(text, size, "fsquota %s has", owners[0]);
	else if (count)
		snprintf(text, size, "fsquota %s%s%s%s have", owners[0], count > 2 ? ", " : " and ",
			 owners[1], count > 2 ? " and others" : "");
}

bool report_unknown_option(struct session *session, const struct command *command, const char *word,
			   size_t length, const char *whole, const char *value)
{
	const char *name = word + (whole ? 1 : 2), *answer;
	size_t name_length = length - (whole ? 1 : 2);
	int shown = (int)length;
	char opposite[32], meant[128], owners[64];
	struct suggestion like;

	if (whole && isdigit((unsigned char)*name) &&
	    command_find_option(command, 0, "allow-shrink", 12)) {
		session_usage_error(session, "give the new size instead of %s, with --allow-shrink",
				    whole);
		return true;
	}
	snprintf(opposite, sizeof(opposite), "no-%.*s", (int)name_length, name);
	find_meant(command, name, name_length, meant, sizeof(meant));
	find_owners(session, name, name_length, owners, sizeof(owners));
	suggest_begin(&like, name, name_length);
	if (!whole && command_find_option(command, 0, opposite, strlen(opposite)))
		session_usage_error(session,
				    "unknown option %.*s: it does so, unless --%s is given", shown,
				    word, opposite);
	else if (!whole && is_type(command, name, name_length))
		session_usage_error(session, "unknown option %.*s; did you mean -%c?%s", shown,
				    word, *name,
				    takes_name(command) ? "" : " (of one: fsquota quota -u NAME)");
	else if (value && strcmp(value, "html") == 0 && !command_find_option(command, 0, "html", 4))
		session_usage_error(session,
				    "unknown option %.*s; fsquota report --html FILE writes a page",
				    shown, word);
	else if (value && strcmp(value, "prometheus") == 0 && strcmp(command->name, "metrics"))
		session_usage_error(session,
				    "unknown option %.*s; fsquota metrics is for Prometheus", shown,
				    word);
	else if ((answer = find_format(command, name, name_length, value)))
		session_usage_error(session, "unknown option %.*s; did you mean --%s?", shown, word,
				    answer);
	else if ((answer = find_answer(command, name, name_length)))
		session_usage_error(session, "unknown option %.*s: %s", shown, word, answer);
	else if (*meant)
		session_usage_error(session, "unknown option %.*s; did you mean %s?", shown, word,
				    meant);
	else if (like.topic)
		session_usage_error(session, "unknown option %.*s; %s", shown, word, like.topic);
	else if (*owners)
		session_usage_error(session, "unknown option %.*s of %s; %s it", shown, word,
				    command->name, owners);
	else if (like.commands && !strstr(like.commands, command->name))
		session_usage_error(session, "unknown option %.*s; did you mean the command %s?",
				    shown, word, like.commands);
	else
		return false;
	return true;
}
