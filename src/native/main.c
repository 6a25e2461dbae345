/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <locale.h>
#ifdef __GLIBC__
#include <nss.h>
#endif
#include <paths.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "commands.h"
#include "native/apply/file.h"
#include "native/check/plugin.h"
#include "native/cli/options.h"
#include "native/cli/paths.h"
#include "native/cli/suggest.h"
#include "quota/fsquota.h"
#include "quota/mounts/device.h"
#include "shared/load_library.h"

#define ENTRY(name) &name##_command,
static const struct command *const commands[] = { NATIVE_COMMANDS(ENTRY) NULL };

/*
 * The filesystems of a command: those of --at, and what stands last.
 *
 * @return   whether there is one to work on; else an error was reported
 */
static bool choose_filesystems(struct session *session, struct invocation *invocation)
{
	unsigned int flags = invocation->command->flags;
	int count = invocation->operand_count, left = count;
	bool takes_file = command_find_option(invocation->command, 'f', NULL, 0) != NULL;

	for (; left > 0; left--) {
		const char *word = invocation->operands[left - 1];

		/* Without --at, take the operands that can only be paths. */
		if (!(flags & COMMAND_PATHS) &&
		    (session->at.count > 0 || !(strchr(word, '/') || strcmp(word, ".") == 0 ||
						strcmp(word, "..") == 0 || fsq_is_tag(word))))
			break;
	}
	for (size_t i = 0; i < session->at.count; i++)
		paths_add(session, session->at.words[i], NULL);
	for (int i = left; i < count; i++)
		paths_add(session, invocation->operands[i], NULL);
	invocation->operand_count = left;
	if (session->at.count == 0 && left == count) {
		if (flags & COMMAND_CHANGES)
			session_usage_error(
				session,
				"name the filesystem by a directory on it: the last "
				"word, or --at%s%s",
				count && takes_file ? "; a file takes -f" : "",
				strcmp(invocation->command->name, "limit") == 0
					? "; before it " LIMIT_WORDS
				: strcmp(invocation->command->name, "timer") == 0
					? "; before it a time such as 7d; fsquota state "
					  "shows the grace times"
					: "");
		else if (flags & COMMAND_WITHOUT_QUOTA)
			paths_add_all(session);
		else
			paths_add_all_with_quota(session);
	}
	/* Change all filesystems or none. */
	return session->path_count > 0 && !(session->status && (flags & COMMAND_CHANGES));
}

static void run_on_each(struct session *session, struct invocation *invocation)
{
	const struct command *command = invocation->command;

	for (size_t i = 0; i < session->path_count; i++) {
		session->current_path = (int)i;
		/* The filesystem was visited under another name. */
		if (paths_find_dev(session, session->paths[i].info->dev) < (int)i)
			continue;
		command->run(session, invocation);
		/* A usage error would repeat for every filesystem. */
		if (session->status == session_exit_code(FSQ_E_USAGE))
			break;
	}
}

static void run_on_filesystems(struct session *session, struct invocation *invocation)
{
	const struct command *command = invocation->command;
	const char *file = session->output_file;
	int rc = 0;

	if (!choose_filesystems(session, invocation))
		return;
	if (file && strcmp(file, "-") == 0)
		file = NULL;
	if (file)
		rc = writer_push_file(&session->out, file);
	if (rc) {
		session_errno(session, ERROR_OF_FILE, -rc, file, "open on %s failed%s", file,
			      rc == -EEXIST ? ", -f writes a new one; > FILE replaces it" : "");
		return;
	}
	tables_begin(session, command->name);
	session->current_path = 0;
	if (command->flags & COMMAND_ONCE)
		command->run(session, invocation);
	else
		run_on_each(session, invocation);
	session->current_path = -1;
	tables_end(session);
	if (!file)
		return;
	session_flush(session);
	rc = writer_pop(&session->out);
	if (rc)
		session_errno(session, 0, -rc, NULL, "cannot write the output");
}

/* Reject "": functions disagree on what it means. */
static bool check_operand_paths(struct session *session, const struct invocation *invocation)
{
	static const char *const paths[] = { VALUE_PATH, VALUE_DIRECTORY, VALUE_REGISTERED,
					     VALUE_FILE };
	const char *kind = invocation->command->operands[0].kind;
	bool are_paths = false;

	for (size_t i = 0; kind && i < sizeof(paths) / sizeof(paths[0]); i++)
		are_paths |= strcmp(kind, paths[i]) == 0;
	for (int i = 0; are_paths && i < invocation->operand_count; i++) {
		const char *word = invocation->operands[i];

		if (!word[0])
			return session_usage_error(
				session, "word %d is empty: a variable without a value?", i + 1);
		/* More likely an option that was written behind "--". */
		if (strncmp(word, "--", 2) == 0 && access(word, F_OK) && errno == ENOENT)
			return session_usage_error(
				session, "%s is no path: write options in front of --, or ./%s",
				word, word);
	}
	return true;
}

/* @words    behind its name */
static void run_command(struct session *session, const struct command *command, char **words)
{
	void *options = calloc(1, command->options_size + 1);
	struct invocation invocation;
	static char program[32];

	snprintf(program, sizeof(program), "fsquota %s", command->name);
	session->program = program;
	session->takes_name = command_takes_project(command);
	session->takes_over = command_find_option(command, 0, "over", strlen("over")) != NULL;
	session->reads = command->flags & COMMAND_READS;
	session->saves = command->flags & COMMAND_SAVES;
	session->rows = command->rows;
	if (session->read_only && !(command->flags & COMMAND_READS)) {
		session_error(session, 0, FSQ_E_PERMISSION, 0, NULL,
			      "batch --read-only does not run %s", command->name);
		free(options);
		return;
	}
	if (!options) {
		session_no_memory(session);
		return;
	}
	if (((command->flags & COMMAND_CONFIG) &&
	     !config_read(session, command->flags & COMMAND_READS)) ||
	    !parse_words(session, command, words, &invocation, options) ||
	    !check_operand_paths(session, &invocation))
		goto out;
	if ((command->flags & COMMAND_BUDGETS) && !session->help && !apply_read_budgets(session))
		goto out;
	if (!(command->flags & COMMAND_QUICK))
		session_wait(session);
	if (session->help) {
		command_explain(session, command);
	} else if (command->flags & COMMAND_FILESYSTEMS) {
		run_on_filesystems(session, &invocation);
	} else {
		tables_begin(session, command->name);
		command->run(session, &invocation);
	}
	apply_tell_of_lines(session);
out:
	if (command->clear_options)
		command->clear_options(options);
	free(options);
}

static bool is_option_of_any(const struct session *session, const char *name)
{
	bool is = false;

	for (size_t i = 0; session->commands[i] && !is; i++)
		is = command_find_option(session->commands[i], 0, name, strcspn(name, "="));
	return is;
}

static bool refuse_command(struct session *session, const char *name)
{
	const char *instead = NULL, *word = name;
	struct suggestion like;
	char all[512];
	size_t used = 0;

	suggest_begin(&like, word, strlen(word));
	/* --xfs-quota, --list */
	if (strncmp(name, "--", 2) == 0 && !like.commands && !is_option_of_any(session, name + 2)) {
		word += 2;
		suggest_begin(&like, word, strcspn(word, "="));
	}
	for (size_t i = 0; session->commands[i]; i++)
		if (suggest_is_nearer(&like, session->commands[i]->name))
			instead = session->commands[i]->name;
	if (like.commands)
		return session_usage_error(session, "there is no command \"%s\"; did you mean %s?",
					   name, like.commands);
	if (like.topic)
		return session_usage_error(session, "there is no command \"%s\"; %s", name,
					   like.topic);
	if (strcmp(name, "fsquota") == 0)
		return session_usage_error(session,
					   "write the command without \"%s\" in front of it", name);
	if (strchr(name, '/'))
		return session_usage_error(session,
					   "%s is a path: write a command in front of it, such as "
					   "list",
					   name);
	if (instead)
		return session_usage_error(
			session, "there is no command \"%s\"; did you mean \"%s\"?", name, instead);
	if (name[0] == '-' && name[1] && strcmp(name, "--") != 0)
		return session_usage_error(
			session, "options stand behind a command, not %s; see fsquota --help",
			name);
	for (size_t i = 0; session->commands[i]; i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 session->commands[i]->name);
	return session_usage_error(
		session, "there is no command \"%s\"; there are %s: see fsquota --help", name, all);
}

/* @return   the command of that name; NULL: an error was reported */
static const struct command *look_up_command(struct session *session, const char *name)
{
	const struct command *command = command_find(session, name);

	if (!command)
		refuse_command(session, name);
	return command;
}

#define MAN "/usr/bin/man"

/* @return   whether man(1) showed its page. Neither it nor its pager is looked up in the caller's PATH */
static bool show_page(const struct command *command)
{
	char page[32];
	int status = -1;
	pid_t pid;

	snprintf(page, sizeof(page), "fsquota-%s", command->name);
	pid = fork();
	if (pid == 0) {
		/* Silence man(1): if it is missing, or has no such page, we print the help. */
		close(STDERR_FILENO);
		open("/dev/null", O_WRONLY);
		setenv("PATH", _PATH_STDPATH, 1);
		execl(MAN, "man", "8", page, NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Print the options in front of a command, for the completion of shells. */
static const struct command before_command = {
	.options = common_options,
	.operands = { { VALUE_COMMAND, "COMMAND", false } },
};

/* help [--machine] [COMMAND] */
static void help(struct session *session, char **words)
{
	bool machine = words[1] && strcmp(words[1], "--machine") == 0;
	char **names = words + 1 + machine;
	const struct command *command = NULL;

	if (names[0] && names[1])
		session_usage_error(session, "%s takes one command, not \"%s\"", words[0],
				    names[1]);
	else if (names[0] && machine && strcmp(names[0], "help") == 0)
		command = &before_command;
	else if (names[0])
		command = look_up_command(session, names[0]);
	if (session->status)
		return;
	if (machine)
		command_describe(session, command);
	else if (!command)
		command_list_all(session);
	else if (session->batch || session->has_root || !isatty(STDOUT_FILENO) ||
		 !show_page(command))
		command_explain(session, command);
}

/* Put the command in front of the options that stand before it. */
static void move_options(char **words)
{
	char **at = words, *command;

	while (*at && strncmp(*at, "--", 2) == 0) {
		size_t length = strcspn(*at + 2, "=");
		const struct command_option *found =
			command_find_option(&before_command, 0, *at + 2, length);

		if (!found)
			break;
		/* A value may be the next word. */
		at += found->kind && !(*at)[2 + length] && at[1] ? 2 : 1;
	}
	if (at == words || !*at)
		return;
	command = *at;
	memmove(words + 1, words, (size_t)(at - words) * sizeof(*words));
	words[0] = command;
}

/* --- another root --- */

/* Look up users and groups in files only: other modules of nsswitch.conf(5) would be loaded from the new root. */
static void load_names(void)
{
#ifdef __GLIBC__
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
#endif
	getpwnam("");
	getgrnam("");
}

/* Load the locale and, if it is not UTF-8, its module of iconv(3), which is loaded with the first character. */
static void load_characters(void)
{
	static locale_t kept;

	kept = newlocale(LC_CTYPE_MASK, "", NULL);
	if (!kept)
		return;
	uselocale(kept);
	btowc(0xff);
	uselocale(LC_GLOBAL_LOCALE);
}

/*
 * From now on paths, files, mounts and the journal are those of the directory. Libraries are the caller's, and
 * loaded before: code of the directory must not run.
 *
 * Source: chroot(2)
 */
static bool enter_root(struct session *session, const char *directory, bool serves)
{
	const char *missing;

	if (session->batch)
		return session_usage_error(session,
					   "--root is for batch itself, not for a request");
	missing = load_libraries(serves);
	if (missing)
		return session_error(session, ERROR_OF_FILE, FSQ_E_FAILED, 0, missing,
				     "--root: cannot load %s, which must not come from there: "
				     "install it",
				     missing);
	load_names();
	load_characters();
	session->has_root = true;
	if (chroot(directory) || chdir("/"))
		return session_errno(session, ERROR_OF_FILE, errno, directory,
				     "--root %s: cannot enter", directory);
	if (access("/proc/self/mountinfo", R_OK))
		return session_error(session, ERROR_OF_FILE, FSQ_E_NOT_FOUND, errno, directory,
				     "--root %s: cannot read proc/self/mountinfo in it: it takes "
				     "the files of a whole system, with /proc mounted there",
				     directory);
	return true;
}

/* Take --root out, wherever it stands: the first file is read before options are parsed. @directory  set, or NULL */
static bool take_root(struct session *session, char **words, const char **directory)
{
	char **to = words;

	*directory = NULL;
	for (; *words && strcmp(*words, "--") != 0; words++) {
		if (strcmp(*words, "--root") == 0)
			*directory = *++words;
		else if (strncmp(*words, "--root=", strlen("--root=")) == 0)
			*directory = *words + strlen("--root=");
		else
			*to++ = *words;
		if (!*words)
			return session_usage_error(session, "option --root takes a value");
	}
	while ((*to++ = *words))
		words++;
	return true;
}

/* @words    without --root and its value */
static bool enter_root_for(struct session *session, char **words, const char *directory)
{
	bool serves = false;

	if (words[0] && strcmp(words[0], setup_command.name) == 0)
		return session_usage_error(
			session, "setup runs programs of this system: not with --root; have "
				 "the image run it at its first boot");
	for (char **at = words; *at; at++)
		serves |= strncmp(*at, "--listen", strlen("--listen")) == 0;
	return enter_root(session, directory, serves);
}

/* Is this check --format nagios? Its errors are answers, too, before the options are parsed as well. */
static bool is_plugin(char **words)
{
	if (!words[0] || strcmp(words[0], "check") != 0)
		return false;
	for (char **at = words + 1; *at && strcmp(*at, "--") != 0; at++)
		if (strcmp(*at, "--format=nagios") == 0 ||
		    (strcmp(*at, "--format") == 0 && at[1] && strcmp(at[1], "nagios") == 0))
			return true;
	return false;
}

static void run_words(struct session *session, char **words)
{
	const struct command *command;
	const char *root;
	bool plugin, good;

	/* Errors before the options are parsed are JSON, too. */
	for (char **at = words; *at && strcmp(*at, "--") != 0; at++)
		session->json |= strcmp(*at, "--json") == 0 || strcmp(*at, "--jsonl") == 0;
	good = take_root(session, words, &root);
	move_options(words);
	if (!good || (root && !enter_root_for(session, words, root))) {
		session_flush(session);
		return;
	}
	plugin = !session->batch && is_plugin(words);
	session->keeps_error = plugin;
	if (!words[0] && session->batch) {
		session_usage_error(session, "no command given; see fsquota --help");
	} else if (!words[0]) {
		command_list_all(session);
		session->status = session_exit_code(FSQ_E_USAGE);
	} else if (strcmp(words[0], "help") == 0 || strcmp(words[0], "--help") == 0 ||
		   strcmp(words[0], "-h") == 0) {
		help(session, words);
	} else if (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0 ||
		   strcmp(words[0], "version") == 0) {
		if (words[1])
			session_usage_error(session, "%s takes no other words, not \"%s\"",
					    words[0], words[1]);
		else
			write_text(session->out, "fsquota " PACKAGE_VERSION "\n");
	} else {
		command = look_up_command(session, words[0]);
		if (command)
			run_command(session, command, words + 1);
	}
	session_settle_status(session);
	if (plugin && session->keeps_error && session->status)
		plugin_show(session, NULL);
	session_flush(session);
}

struct session native_session(struct writer *out)
{
	struct session session = session_new(out);

	session.commands = commands;
	session.run = run_words;
	session.suggest = suggest_for_path;
	return session;
}

int native_main(int argc, char **argv)
{
	static struct writer standard_output;
	struct session session = native_session(&standard_output);

	writer_start(&standard_output, STDOUT_FILENO);
	run_words(&session, argv + (argc > 0));
	session_end(&session);
	return session.status;
}
