/* SPDX-License-Identifier: Apache-2.0 */
#include "setup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "native/cli/finding_words.h"
#include "native/cli/options.h"
#include "quota/kernel/privilege.h"
#include "quota/mounts/lookup.h"

/* Steps are left, which this command could do; and only what waits for a mount or a boot. */
#define STATUS_LEFT 9
#define STATUS_WAITS 7

struct setup_options {
	bool yes, unmount, at_boot;
};

static const char *const state_words[] = {
	[STEP_TO_DO] = "to-do",
	[STEP_DONE] = "done",
	[STEP_NEEDS_UNMOUNT] = "needs-unmount",
	[STEP_NEEDS_AT_BOOT] = "needs-at-boot",
	[STEP_WAITS] = "waits",
	[STEP_IS_BY_HAND] = "by-hand",
	NULL,
};

static const char *const acts_words[] = {
	[ACTS_NOW] = "now",
	[ACTS_AT_MOUNT] = "next-mount",
	[ACTS_AT_BOOT] = "next-boot",
	NULL,
};

#define STEP(member) .offset = offsetof(struct step, member)

static const struct field step_fields[] = {
	{ "STEP", "step", FIELD_COUNT, STEP(number), "its number", .is_id = true },
	{ "STATE", "state", FIELD_WORD, STEP(state),
	  "to-do, done, needs-unmount, needs-at-boot, waits or by-hand", .words = state_words },
	{ "ACTS", "acts", FIELD_WORD, STEP(acts), "when it has an effect", .words = acts_words },
	{ "WHAT", "what", FIELD_TEXT, STEP(what), "what it changes" },
	{ "COMMAND", "command", FIELD_TEXT, STEP(command), "the program that is run" },
	{ "FILE", "file", FIELD_TEXT, STEP(file), "the file that is written" },
	{ "DIFFERENCE", "difference", FIELD_TEXT, STEP(difference), "the lines that change in it" },
	{ "INTERRUPTS", "interrupts", FIELD_TEXT, STEP(interrupts), "who has to stop for it" },
	{ 0 },
};

static const char *const acts_text[] = {
	[ACTS_NOW] = "acts now",
	[ACTS_AT_MOUNT] = "acts at the next mount",
	[ACTS_AT_BOOT] = "acts at the next boot",
};

static const char *const state_text[] = {
	[STEP_TO_DO] = "",
	[STEP_DONE] = "; done",
	[STEP_NEEDS_UNMOUNT] = "; needs --unmount",
	[STEP_NEEDS_AT_BOOT] = "; needs --at-boot",
	[STEP_WAITS] = "; waits",
	[STEP_IS_BY_HAND] = "; by hand",
};

#define INDENT 4

static void write_indented(struct writer *w, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		const size_t length = end ? (size_t)(end - text) : strlen(text);

		write_blanks(w, INDENT);
		write_bytes(w, text, length);
		write_char(w, '\n');
		text += length + (end != NULL);
	}
}

static void write_step(struct writer *w, const void *arg)
{
	const struct step *step = arg;

	write_format(w, "%2llu. ", (unsigned long long)step->number);
	write_escaped(w, step->what);
	write_format(w, " (%s%s)\n", acts_text[step->acts], state_text[step->state]);
	if (step->interrupts) {
		write_format(w, "%*sinterrupts ", INDENT, "");
		write_escaped(w, step->interrupts);
		write_char(w, '\n');
	}
	if (step->file)
		write_format(w, "%*s%s %s\n", INDENT, "", step->kind == STEP_REMOVE ? "rm" : "edit",
			     step->file);
	if (step->difference)
		write_indented(w, step->difference);
	if (step->command)
		write_format(w, "%*s# %s\n", INDENT, "", step->command);
}

static const struct row_fields step_rows = { step_fields, sizeof(struct step),
					     "STEP,STATE,ACTS,WHAT,COMMAND,FILE", write_step };

struct force_row {
	const char *filesystem, *mountpoint, *type;
	struct plan_result is, will;
	bool steps;
};

#define FORCE(member) .offset = offsetof(struct force_row, member)

static const struct field force_fields[] = {
	{ "FILESYSTEM", "filesystem", FIELD_TEXT, FORCE(filesystem), "device of the filesystem" },
	{ "MOUNTPOINT", "mountpoint", FIELD_TEXT, FORCE(mountpoint), "where it is mounted" },
	{ "TYPE", "type", FIELD_TEXT, FORCE(type), "type of the filesystem" },
	{ "NOW", "now", FIELD_BOOL, FORCE(is.now), "are limits enforced?" },
	{ "AFTER-MOUNT", "after_mount", FIELD_BOOL, FORCE(is.after_mount),
	  "are they after the next mount?" },
	{ "AFTER-BOOT", "after_boot", FIELD_BOOL, FORCE(is.after_boot),
	  "are they after the next boot?" },
	{ "NOW-THEN", "now_then", FIELD_BOOL, FORCE(will.now),
	  "are they, once all steps are done?" },
	{ "AFTER-MOUNT-THEN", "after_mount_then", FIELD_BOOL, FORCE(will.after_mount),
	  "the same after the next mount" },
	{ "AFTER-BOOT-THEN", "after_boot_then", FIELD_BOOL, FORCE(will.after_boot),
	  "the same after the next boot" },
	{ 0 },
};

static const char *yes_or_no(bool is)
{
	return is ? "yes" : "no";
}

static void write_result(struct writer *w, const char *when, const struct plan_result *is)
{
	write_format(w, "%s: %s; after the next mount: %s; after the next boot: %s\n", when,
		     yes_or_no(is->now), yes_or_no(is->after_mount), yes_or_no(is->after_boot));
}

static void write_force(struct writer *w, const void *arg)
{
	const struct force_row *row = arg;

	write_escaped(w, row->mountpoint ? row->mountpoint : row->filesystem);
	write_format(w, ": %s", row->type);
	if (row->mountpoint) {
		write_text(w, " on ");
		write_escaped(w, row->filesystem);
	} else {
		write_text(w, ", not mounted");
	}
	write_char(w, '\n');
	write_result(w, "in force now", &row->is);
	if (row->steps)
		write_result(w, "after these steps: now", &row->will);
}

static const struct row_fields force_rows = { force_fields, sizeof(struct force_row),
					      "FILESYSTEM,MOUNTPOINT,NOW,AFTER-MOUNT,AFTER-BOOT",
					      write_force };

static int status_of(const struct plan *left)
{
	const bool lasts = fsq_outlook_after_boot(left->outlook);

	for (size_t i = 0; i < left->count; i++)
		switch (left->steps[i].state) {
		case STEP_WAITS:
			break;
		case STEP_NEEDS_UNMOUNT:
			if (lasts)
				break;
			return STATUS_LEFT;
		default:
			return STATUS_LEFT;
		}
	return left->count ? STATUS_WAITS : 0;
}

/* Print what was planned or done, and what is in force with it. */
static void show(struct session *session, const struct plan *steps, const struct plan *left)
{
	const struct fsq_outlook *outlook = left->outlook;
	const struct force_row row = { .filesystem = outlook->device,
				       .mountpoint = outlook->mount.directory,
				       .type = outlook->type,
				       .is = { outlook->enforced, fsq_outlook_after_mount(outlook),
					       fsq_outlook_after_boot(outlook) },
				       .will = plan_result(left),
				       .steps = left->count > 0 };

	session->table.left_open = true;
	for (size_t i = 0; i < steps->count; i++)
		tables_row(session, &steps->steps[i]);
	tables_end(session);
	tables_begin(session, "total");
	session->table.type = &force_rows;
	session->table.follows = true;
	session->table.after_rows = steps->count > 0;
	tables_row(session, &row);
	tables_end(session);
	/* A failed write must not look like success. */
	session_flush(session);
	if (session->status == 0)
		session->status = status_of(left);
}

static bool needs(const struct plan *plan, enum step_state state)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].state == state)
			return true;
	return false;
}

/* Of a plan that is only shown. */
static void tell_how(struct session *session, const struct plan *plan, const char *path)
{
	const bool unmount = plan->unmount || needs(plan, STEP_NEEDS_UNMOUNT);
	const bool at_boot = plan->at_boot || needs(plan, STEP_NEEDS_AT_BOOT);
	char *quoted = session_has_person(session) ? quote_for_shell(path) : NULL;

	if (quoted && (unmount || at_boot || needs(plan, STEP_TO_DO)))
		session_warn(session, NULL,
			     "nothing is changed: fsquota setup --yes%s%s %s does the steps",
			     unmount ? " --unmount" : "", at_boot ? " --at-boot" : "", quoted);
	free(quoted);
}

/* Do what can be done, and look again. */
static void carry_out(struct session *session, struct plan *plan, const char *path)
{
	struct fsq_outlook outlook;
	struct plan left = { .session = session,
			     .outlook = &outlook,
			     .unmount = plan->unmount,
			     .at_boot = plan->at_boot };
	struct fsq_error err;

	plan_carry_out(plan);
	/* Its loop device may be another one now. */
	if (plan->image && plan->outlook->mount.directory)
		path = plan->outlook->mount.directory;
	if (fsq_outlook_get(&outlook, path, FSQ_FSTAB, &err)) {
		session_fail(session, &err);
		return;
	}
	if (plan_make(&left)) {
		show(session, plan, &left);
		if (needs(&left, STEP_NEEDS_UNMOUNT))
			session_warn(session, path, "steps are left: --unmount does them");
	}
	plan_clear(&left);
	fsq_outlook_clear(&outlook);
}

static bool is_device(const char *word)
{
	struct stat st;

	return strchr(word, '=') ||
	       (fsq_lookup_stat(NULL, word, 0, &st, NULL) == 0 && S_ISBLK(st.st_mode));
}

/* @return   whether one filesystem is named; else an error was reported */
static bool check_operands(struct session *session, const struct invocation *invocation)
{
	char **words = invocation->operands;
	struct stat st;

	if (!options_some_operand(session, invocation, "filesystem"))
		return false;
	if (invocation->operand_count == 2 && is_device(words[0]) && !is_device(words[1]))
		return session_usage_error(
			session,
			"setup mounts nothing new: mount %s %s, and then fsquota "
			"setup %s",
			words[0], words[1], words[1]);
	if (invocation->operand_count > 1)
		return options_refuse(session, invocation, "one filesystem at a time");
	if (fsq_lookup_stat(NULL, words[0], 0, &st, NULL) == 0 && S_ISREG(st.st_mode))
		return session_usage_error(
			session,
			"%s is a file: of an image, mount -o loop %s DIR, and then "
			"fsquota setup DIR",
			words[0], words[0]);
	return true;
}

/* Who forgot to mount something names a directory of the filesystem above. */
static void warn_of_directory(struct session *session, const struct fsq_outlook *outlook,
			      const char *path)
{
	struct stat st, top;

	if (outlook->mount.directory && fsq_lookup_stat(NULL, path, 0, &st, NULL) == 0 &&
	    fsq_lookup_stat(NULL, outlook->mount.directory, 0, &top, NULL) == 0 &&
	    S_ISDIR(st.st_mode) && st.st_dev == top.st_dev && st.st_ino != top.st_ino)
		session_warn(
			session, path,
			"the steps are for all of %s, of which it is a directory; if a disk of its "
			"own belongs there, mount that first",
			outlook->mount.directory);
}

static void command_setup(struct session *session, const struct invocation *invocation)
{
	const struct setup_options *options = invocation->options;
	struct fsq_outlook outlook;
	struct plan plan = { .session = session,
			     .outlook = &outlook,
			     .unmount = options->unmount,
			     .at_boot = options->at_boot };
	struct fsq_error err;

	if (!check_operands(session, invocation))
		return;
	if (options->yes && !session->dry_run && !fsq_is_privileged()) {
		session_error(session, 0, FSQ_E_PERMISSION, 0, invocation->operands[0],
			      "--yes changes the system: run it as root");
		return;
	}
	if (fsq_outlook_get(&outlook, invocation->operands[0], FSQ_FSTAB, &err)) {
		session_fail_missing(session, &err, invocation->operands[0],
				     "make it and mount the disk there, or name the device");
		return;
	}
	warn_of_directory(session, &outlook, invocation->operands[0]);
	if (plan_make(&plan)) {
		if (options->yes && !session->dry_run && plan.count > 0)
			carry_out(session, &plan, invocation->operands[0]);
		else {
			show(session, &plan, &plan);
			tell_how(session, &plan, invocation->operands[0]);
		}
	}
	plan_clear(&plan);
	fsq_outlook_clear(&outlook);
}

#define FIELD(member) offsetof(struct setup_options, member)

static const struct command_option own_options[] = {
	{ 'y', "yes", "do the steps that can be done now", .field = FIELD(yes) },
	{ 0, "unmount", "unmount it for that, if nobody has it open", .field = FIELD(unmount) },
	{ 0, "at-boot", "have the next boot do what the root filesystem needs",
	  .field = FIELD(at_boot) },
	{ 0 },
};

const struct command setup_command = {
	.name = "setup",
	.group = GROUP_NODE,
	.summary = "prepare a filesystem for project quotas that last",
	.synopsis = "[--yes] [OPTION]... PATH",
	.help = "Print the steps from the filesystem of PATH to project quotas that hold now,\n"
		"after the next mount and after the next boot: what each changes, when it acts\n"
		"and whom it interrupts. Nothing is changed without --yes. PATH can be a device,\n"
		"or LABEL=, UUID=, PARTLABEL= or PARTUUID= of one. The exit status is 0 if\n"
		"nothing is left to do, 9 if steps are left, and 7 if all that is left waits for\n"
		"a mount or a boot.",
	.example = "setup /srv\n"
		   "setup --yes --unmount /srv",
	.options = (option_tables){ own_options, dry_run_option, table_options, help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", false } },
	.rows = &step_rows,
	.totals = &force_rows,
	.options_size = sizeof(struct setup_options),
	.run = command_setup,
};
