/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "edit.h"
#include "native/cli/finding_words.h"
#include "quota/kernel/privilege.h"
#include "quota/mounts/mount_table.h"
#include "setup.h"
#include "shared/array.h"
#include "shared/errno_words.h"
#include "shared/read_file.h"

#define UNITS "/etc/systemd/system"
#define DROP_IN "zz-fsquota.conf"
#define GRUB "/etc/default/grub"
#define KERNEL_CMDLINE "/etc/kernel/cmdline"
#define INITRAMFS_HOOK "/usr/share/initramfs-tools/hooks/fsquota"
#define DRACUT_MODULE "/usr/lib/dracut/modules.d/95fsquota/module-setup.sh"
#define AT_BOOT_UNIT "fsquota-at-boot.service"

/* Names of so many processes are enough to see who it is. */
#define USERS_SHOWN 8

/* --- texts --- */

static const char *keep(struct plan *plan, const char *text)
{
	const char *kept = text ? texts_keep(&plan->texts, text) : NULL;

	plan->no_memory |= text && !kept;
	return kept;
}

/* Keep a text from malloc(3), and free it. NULL: there was no memory. */
static const char *take(struct plan *plan, char *text)
{
	const char *kept = keep(plan, text);

	plan->no_memory |= !text;
	free(text);
	return kept;
}

static const char *print(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *print(struct plan *plan, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return take(plan, length < 0 ? NULL : text);
}

static bool is_there(const char *file)
{
	return access(file, F_OK) == 0;
}

static bool has_program(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Without what a file says the plan could be wrong. */
static void note_errno(struct plan *plan, int errnum, const char *file)
{
	plan->no_memory |= errnum == ENOMEM;
	if (plan->errnum)
		return;
	plan->errnum = errnum;
	plan->unread = keep(plan, file);
}

/* @return  the text of a file, or NULL where there is none, or it cannot be read */
static const char *read_text(struct plan *plan, const char *file)
{
	const char *kept = NULL;
	char *text;
	size_t length;

	const int rc = fsq_read_file(file, &text, &length);

	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		note_errno(plan, -rc, file);
	if (rc == 0)
		kept = strlen(text) == length ? take(plan, text) : (free(text), NULL);
	return kept;
}

/* --- steps --- */

#define WORDS(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static const char *command_of(struct plan *plan, const struct step *step)
{
	char *line = NULL;
	size_t size;
	FILE *to;

	if (!step->words[0])
		return NULL;
	to = open_memstream(&line, &size);
	for (size_t i = 0; to && step->words[i]; i++) {
		char *word = quote_for_shell(step->words[i]);

		plan->no_memory |= !word;
		fprintf(to, "%s%s", i ? " " : "", word ? word : "");
		free(word);
	}
	if (!to || fclose(to))
		plan->no_memory = true;
	return take(plan, line);
}

/* Add a step. What follows one that cannot be done now waits for it, if it depends on it. */
static void add(struct plan *plan, struct step step, const char *const *words)
{
	step.number = plan->count + 1;
	for (size_t i = 0; words && words[i] && i + 1 < STEP_WORDS; i++)
		step.words[i] = keep(plan, words[i]);
	step.command = command_of(plan, &step);
	/* It was written before: only the program is left. */
	if (step.kind == STEP_EDIT && step.before && step.after &&
	    strcmp(step.before, step.after) == 0)
		step.kind = STEP_RUN;
	if (step.kind == STEP_EDIT && step.after) {
		char *difference = edit_difference(step.before ? step.before : "", step.after);

		step.difference = take(plan, difference);
	}
	plan->no_memory |=
		!array_add(&plan->steps, &plan->count, &plan->capacity, &step, sizeof(step));
}

static void add_by_hand(struct plan *plan, enum step_acts acts, const char *what,
			const char *const *words)
{
	add(plan,
	    (struct step){
		    .kind = STEP_BY_HAND, .state = STEP_IS_BY_HAND, .acts = acts, .what = what },
	    words);
}

static enum step_state state_of_unmount(const struct plan *plan)
{
	return plan->unmount ? STEP_TO_DO : STEP_NEEDS_UNMOUNT;
}

/* --- who is interrupted --- */

struct users {
	struct plan *plan;
	const char *text;
	size_t count;
};

static void take_user(pid_t pid, const char *command, void *arg)
{
	struct users *users = arg;

	if (users->count++ < USERS_SHOWN)
		users->text = print(users->plan, "%s%s%s (%d)", users->text ? users->text : "",
				    users->text ? ", " : "", command ? command : "?", (int)pid);
}

/* @return  who keeps it from being unmounted, as a text */
static const char *find_users(struct plan *plan)
{
	struct users users = { .plan = plan };
	int rc = fsq_outlook_users(plan->outlook, take_user, &users);

	plan->busy = users.count > 0;
	if (rc)
		return print(plan, "who has it open cannot be seen: %s", errno_words(-rc));
	if (users.count > USERS_SHOWN)
		return print(plan, "%s and %zu more", users.text, users.count - USERS_SHOWN);
	if (users.count)
		return users.text;
	if (fsq_mount_any_below(plan->outlook->mount.directory) == 1) {
		plan->busy = true;
		return "what is mounted below it";
	}
	return "nobody: nothing is open on it";
}

static void add_unmount(struct plan *plan, const char *what)
{
	const struct fsq_outlook *outlook = plan->outlook;

	for (size_t i = 0; i < outlook->place_count; i++)
		add(plan,
		    (struct step){ .kind = STEP_UNMOUNT,
				   .place = i + 1,
				   .state = state_of_unmount(plan),
				   .what = print(plan, "unmount it at %s, too",
						 outlook->places[i].directory) },
		    WORDS("umount", outlook->places[i].directory));
	add(plan,
	    (struct step){ .kind = STEP_UNMOUNT,
			   .state = state_of_unmount(plan),
			   .what = what,
			   .interrupts = find_users(plan) },
	    WORDS("umount", outlook->mount.directory));
}

static void add_mount(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *directory = outlook->mount.directory;
	const struct step step = { .kind = STEP_MOUNT,
				   .state = state_of_unmount(plan),
				   .what = "mount it, with project quota" };
	char *options;

	if (outlook->next.unit && !outlook->next.line && is_there("/run/systemd/system")) {
		add(plan, step, WORDS("systemctl", "start", outlook->next.unit));
	} else if (outlook->next.line) {
		add(plan, step, WORDS("mount", directory));
	} else {
		options = fsq_options_with_quota(&outlook->mount);
		add(plan, step,
		    WORDS("mount", "-t", outlook->type, "-o", take(plan, options), plan->device,
			  directory));
	}
	for (size_t i = 0; i < outlook->place_count; i++) {
		const struct fsq_outlook_place *place = &outlook->places[i];

		add(plan,
		    (struct step){ .kind = STEP_MOUNT,
				   .place = i + 1,
				   .state = step.state,
				   .what = print(plan, "mount it at %s, too", place->directory) },
		    WORDS("mount", "-o", place->read_only ? "bind,ro" : "bind",
			  print(plan, "%s%s", directory,
				strcmp(place->root, "/") == 0 ? "" : place->root),
			  place->directory));
	}
}

/* @return   what the kernel says of a loop device; NULL: it is none. Source: sysfs-block-loop */
static const char *loop_attribute(struct plan *plan, const char *name)
{
	const dev_t dev = plan->outlook->dev;
	char file[80], *text;
	size_t length;

	snprintf(file, sizeof(file), "/sys/dev/block/%u:%u/loop/%s", major(dev), minor(dev), name);
	if (fsq_read_file(file, &text, &length))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return take(plan, text);
}

static void find_device(struct plan *plan)
{
	const char *offset = loop_attribute(plan, "offset");
	const char *freed = loop_attribute(plan, "autoclear");
	const char *file = loop_attribute(plan, "backing_file");

	const bool is_whole = !offset || strcmp(offset, "0") == 0;

	if (file && is_there(file))
		plan->image = file;
	plan->image_options = is_whole ? "loop," : print(plan, "loop,offset=%s,", offset);
	plan->device = plan->image && is_whole && freed && strcmp(freed, "1") == 0
			       ? plan->image
			       : plan->outlook->device;
}

/* --- features of ext4 --- */

/* The longer list has users or groups, too. */
static void take_types(struct plan *plan, const char *types)
{
	if (types && (!plan->types || strlen(types) > strlen(plan->types)))
		plan->types = types;
}

/*
 * The quotas that it is to have: those of users and groups, too, which it has now, is to have next, or had before its
 * features were switched on at the boot.
 */
static void find_types(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *text = outlook->is_root ? read_text(plan, AT_BOOT_FILE) : NULL;
	const char *quotas = text && outlook->uuid && strstr(text, outlook->uuid)
				     ? strstr(text, "\nQUOTAS=")
				     : NULL;

	take_types(plan, fsq_options_of_types(outlook->type, outlook->next.options));
	take_types(plan, fsq_options_of_types(outlook->type, outlook->mount.super_options));
	if (quotas)
		take_types(plan,
			   fsq_options_of_types(outlook->type,
						print(plan, "%.*s", (int)strcspn(quotas + 8, "\n"),
						      quotas + 8)));
}

static const char *missing_features(const struct fsq_outlook *outlook)
{
	return outlook->features.quota	   ? "project"
	       : outlook->features.project ? "quota"
					   : "quota,project";
}

/* @return  the words of the program that builds an initramfs with our hook; NULL: there is none */
static const char *const *words_of_builder(void)
{
	static const char *const initramfs[] = { "update-initramfs", "-u", NULL };
	static const char *const dracut[] = { "dracut", "--force", NULL };

	if (is_there(INITRAMFS_HOOK) && has_program(initramfs[0]))
		return initramfs;
	return is_there(DRACUT_MODULE) && has_program(dracut[0]) ? dracut : NULL;
}

/* @return  whether an initramfs was built since its step was written */
static bool is_built(void)
{
	struct stat step, image;
	bool built = false;
	glob_t files;

	if (stat(AT_BOOT_FILE, &step) || glob("/boot/init*", 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc && !built; i++)
		built = stat(files.gl_pathv[i], &image) == 0 &&
			image.st_mtim.tv_sec >= step.st_mtim.tv_sec;
	globfree(&files);
	return built;
}

/* The last boot has tried it in vain. */
static void add_failure_of_boot(struct plan *plan)
{
	const char *result = read_text(plan, AT_BOOT_RESULT);

	if (result && strncmp(result, "failed ", strlen("failed ")) == 0)
		add_by_hand(plan, ACTS_AT_BOOT,
			    print(plan, "the last boot has tried it and %.*s: see " AT_BOOT_RESULT,
				  (int)strcspn(result, "\n"), result),
			    NULL);
}

/* What the initramfs is to do, which fsquota-at-boot(8) reads. */
static void add_at_boot(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const enum step_state state = plan->at_boot ? STEP_TO_DO : STEP_NEEDS_AT_BOOT;
	const char *const *builder = words_of_builder();
	const char *wanted, *there;

	if (!builder || !outlook->uuid) {
		add_by_hand(
			plan, ACTS_AT_BOOT,
			"boot from another medium and run this there, for no tool is known here "
			"that does it at the next boot: initramfs-tools or dracut, with the files "
			"of fsquota for it",
			WORDS("tune2fs", "-O", missing_features(outlook), "-Q", plan->types,
			      outlook->device));
		return;
	}
	wanted = print(plan, "UUID=%s\nFEATURES=%s\nQUOTAS=%s\n", outlook->uuid,
		       missing_features(outlook), plan->types);
	there = read_text(plan, AT_BOOT_FILE);
	if (plan->no_memory)
		return;
	if (there && strcmp(there, wanted) == 0 && is_built()) {
		add_failure_of_boot(plan);
		return;
	}
	add(plan,
	    (struct step){ .kind = STEP_EDIT,
			   .acts = ACTS_AT_BOOT,
			   .state = state,
			   .what = "have the next boot switch the features on, before the root "
				   "filesystem is mounted",
			   .file = AT_BOOT_FILE,
			   .before = there,
			   .after = wanted },
	    builder);
	if (has_program("systemctl"))
		add(plan,
		    (struct step){ .kind = STEP_RUN,
				   .acts = ACTS_AT_BOOT,
				   .state = state,
				   .what = "have what then is left done after the boot" },
		    WORDS("systemctl", "enable", AT_BOOT_UNIT));
}

/* The step of the boot is done, or not wanted any more. */
static void add_end_of_at_boot(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *text = outlook->is_root ? read_text(plan, AT_BOOT_FILE) : NULL;
	const char *const *builder = words_of_builder();

	if (!text)
		return;
	add(plan,
	    (struct step){ .kind = STEP_REMOVE,
			   .what = "take the step of the boot out again",
			   .file = AT_BOOT_FILE },
	    builder);
	if (has_program("systemctl"))
		add(plan,
		    (struct step){ .kind = STEP_RUN, .what = "nothing is left for after the boot" },
		    WORDS("systemctl", "disable", AT_BOOT_UNIT));
}

/* @return  whether it lacks features, so that what follows waits */
static bool add_features(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const bool mounted = outlook->mount.directory != NULL;
	const enum step_state state = mounted ? state_of_unmount(plan) : STEP_TO_DO;

	if (fsq_outlook_has_features(outlook))
		return false;
	if (outlook->is_root) {
		add_at_boot(plan);
		return true;
	}
	if (mounted)
		add_unmount(plan, "unmount it: its features do not change otherwise");
	add(plan,
	    (struct step){ .kind = STEP_RUN,
			   .state = state,
			   .what = "check it, as tune2fs wants it; a large one takes minutes" },
	    WORDS("e2fsck", "-f", "-p", plan->device));
	add(plan,
	    (struct step){
		    .kind = STEP_RUN,
		    .state = state,
		    .what = "switch on the features that project quota needs; limits of users "
			    "and groups are kept" },
	    WORDS("tune2fs", "-O", missing_features(outlook), "-Q", plan->types, plan->device));
	return mounted;
}

/* --- the next mount --- */

static const char *reload_words[] = { "systemctl", "daemon-reload", NULL };

static const char *const *words_of_reload(void)
{
	return is_there("/run/systemd/system") ? reload_words : NULL;
}

static void add_fstab_line(struct plan *plan, enum step_state state)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *before = read_text(plan, FSQ_FSTAB), *device, *options;

	if (outlook->next.other_line) {
		add_by_hand(plan, ACTS_AT_MOUNT,
			    print(plan,
				  "line %llu of fstab mounts another device here: have one mount "
				  "%s, with %s",
				  (unsigned long long)outlook->next.other_line, outlook->device,
				  plan->types),
			    NULL);
		return;
	}
	device = plan->image	 ? plan->image
		 : outlook->uuid ? print(plan, "UUID=%s", outlook->uuid)
				 : outlook->device;
	/* A device that is not there at the boot must not stop it. */
	options = take(plan, fsq_options_with_quota(&outlook->mount));
	options = options ? print(plan, "%s%s,nofail", plan->image ? plan->image_options : "",
				  options)
			  : NULL;
	if (plan->no_memory)
		return;
	add(plan,
	    (struct step){ .kind = STEP_EDIT,
			   .acts = ACTS_AT_MOUNT,
			   .state = state,
			   .what = "nothing mounts it at boot: add a line to fstab",
			   .file = FSQ_FSTAB,
			   .before = before,
			   .after = take(plan, edit_fstab_add(before ? before : "", device,
							      outlook->mount.directory,
							      outlook->type, options)) },
	    words_of_reload());
}

/* Another program makes the file, as on NixOS. */
static bool is_link(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && S_ISLNK(st.st_mode);
}

static void add_fstab_edit(struct plan *plan, enum step_state state)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *before = read_text(plan, outlook->next.file);
	struct step step = { .kind = STEP_EDIT, .acts = ACTS_AT_MOUNT, .state = state };
	char *after = NULL, *options = NULL;
	int is_read = before ? 0 : -ENOENT;

	if (before) {
		after = edit_fstab(before, outlook->next.line, outlook->type, plan->types);
		is_read = after ? 0 : -errno;
	}
	if (after) {
		options = fsq_options_edit(
			outlook->type, outlook->next.options ? outlook->next.options : "defaults",
			plan->types);
		is_read =
			options ? edit_fstab_is_read(after, outlook->next.line, options) : -ENOMEM;
	}
	if (is_read < 0 && is_read != -ENOENT && is_read != -EINVAL)
		note_errno(plan, -is_read, outlook->next.file);
	if (is_read > 0 && !is_link(outlook->next.file)) {
		step.file = keep(plan, outlook->next.file);
		step.before = before;
		step.after = keep(plan, after);
		step.what = outlook->next_refused
				    ? print(plan,
					    "line %llu: take %s out, which the kernel refuses, "
					    "and have it mount with project quota",
					    (unsigned long long)outlook->next.line,
					    outlook->next_refused)
				    : print(plan, "line %llu: have it mount with project quota",
					    (unsigned long long)outlook->next.line);
		add(plan, step, words_of_reload());
	} else {
		add_by_hand(plan, ACTS_AT_MOUNT,
			    print(plan,
				  "line %llu of %s cannot be changed safely: have its options end "
				  "with %s",
				  (unsigned long long)outlook->next.line, outlook->next.file,
				  plan->types),
			    NULL);
	}
	free(after);
	free(options);
}

static void add_drop_in(struct plan *plan, enum step_state state)
{
	const struct fsq_outlook *outlook = plan->outlook;
	char *options = fsq_options_edit(outlook->type, outlook->next.options, plan->types);
	const char *file = print(plan, UNITS "/%s.d/" DROP_IN, outlook->next.unit);

	plan->no_memory |= !options;
	if (file && options)
		add(plan,
		    (struct step){ .kind = STEP_EDIT,
				   .acts = ACTS_AT_MOUNT,
				   .state = state,
				   .what = print(plan,
						 "have the unit that %s makes mount it with "
						 "project quota",
						 outlook->next.file),
				   .file = file,
				   .before = read_text(plan, file),
				   .after = print(plan, "[Mount]\nOptions=%s\n", options) },
		    words_of_reload());
	free(options);
}

static void add_next_mount(struct plan *plan, enum step_state state)
{
	const struct fsq_outlook *outlook = plan->outlook;

	if (outlook->next.file && !outlook->next_refused &&
	    (outlook->next_wants || (outlook->is_root && strcmp(outlook->type, "xfs") == 0)))
		return;
	if (outlook->next.file && outlook->next.line)
		add_fstab_edit(plan, state);
	else if (outlook->next.file)
		add_drop_in(plan, state);
	else if (outlook->is_root || outlook->next_wants)
		return;
	else if (outlook->mount.directory)
		add_fstab_line(plan, state);
	else
		add_by_hand(plan, ACTS_AT_MOUNT,
			    print(plan,
				  "nothing mounts it at boot: mount -o %s %s DIR, and then fsquota "
				  "setup "
				  "--yes DIR writes the line of fstab",
				  plan->types, outlook->device),
			    NULL);
}

/* --- the command line of the kernel --- */

static bool add_kernel_edit(struct plan *plan, const char *file, const char *flags,
			    char *(*edit)(const char *text, const char *flags),
			    const char *const *words)
{
	const char *before = read_text(plan, file), *after;

	if (!before)
		return false;
	after = take(plan, edit(before, flags));
	if (after)
		add(plan,
		    (struct step){ .kind = STEP_EDIT,
				   .acts = ACTS_AT_BOOT,
				   .what = "have the kernel mount the root filesystem with "
					   "project quota",
				   .file = file,
				   .before = before,
				   .after = after },
		    words);
	return true;
}

/* The tool that this system has for it. */
static bool add_boot_tool(struct plan *plan, const char *old, const char *flags)
{
	const struct step step = { .kind = STEP_RUN,
				   .acts = ACTS_AT_BOOT,
				   .what = "have the kernel mount the root filesystem with project "
					   "quota" };

	if (is_there("/run/ostree-booted")) {
		if (has_program("rpm-ostree"))
			add(plan, step,
			    WORDS("rpm-ostree", "kargs",
				  old ? print(plan, "--replace=rootflags=%s=%s", old, flags)
				      : print(plan, "--append=rootflags=%s", flags)));
		else if (has_program("ostree"))
			add(plan, step,
			    WORDS("ostree", "admin", "instutil", "set-kargs", "--merge",
				  print(plan, "--replace=rootflags=%s", flags)));
		else
			return false;
		return true;
	}
	if (has_program("grubby")) {
		add(plan, step,
		    WORDS("grubby", "--update-kernel=ALL",
			  print(plan, "--args=rootflags=%s", flags)));
		return true;
	}
	if (is_there(GRUB) && has_program("update-grub"))
		return add_kernel_edit(plan, GRUB, flags, edit_grub, WORDS("update-grub"));
	if (is_there(GRUB) && has_program("grub2-mkconfig"))
		return add_kernel_edit(plan, GRUB, flags, edit_grub,
				       WORDS("grub2-mkconfig", "-o", "/boot/grub2/grub.cfg"));
	if (is_there(GRUB) && has_program("grub-mkconfig"))
		return add_kernel_edit(plan, GRUB, flags, edit_grub,
				       WORDS("grub-mkconfig", "-o", "/boot/grub/grub.cfg"));
	if (is_there(KERNEL_CMDLINE) && has_program("kernel-install"))
		return add_kernel_edit(plan, KERNEL_CMDLINE, flags, edit_cmdline,
				       WORDS("kernel-install", "add-all"));
	return false;
}

static void add_kernel_arguments(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const bool is_xfs = strcmp(outlook->type, "xfs") == 0;
	const char *old = outlook->next_boot.root_flags, *flags;
	const bool by_fstab = !is_xfs && !outlook->next_boot.read_write && outlook->next.file;

	if (!outlook->is_root || fsq_options_enforce(old) || by_fstab ||
	    (!is_xfs && fsq_options_enforce(outlook->features.mount_options)))
		return;
	flags = take(plan, fsq_options_edit(outlook->type, old, plan->types));
	if (plan->no_memory || add_boot_tool(plan, old, flags))
		return;
	add_by_hand(plan, ACTS_AT_BOOT,
		    print(plan,
			  "add rootflags=%s to the command line of the kernel, where this system "
			  "has it",
			  flags),
		    NULL);
}

/* --- into force --- */

static void add_enforcement(struct plan *plan, bool lacked_features)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const bool is_f2fs = strcmp(outlook->type, "f2fs") == 0; /* takes it at mount only */
	const bool is_ext4 = strcmp(outlook->type, "ext4") == 0;

	if (outlook->enforced || !outlook->mount.directory)
		return;
	if (lacked_features) {
		if (!outlook->is_root)
			add_mount(plan);
		return;
	}
	if (outlook->read_only && !outlook->is_root && (is_ext4 || !outlook->accounting) &&
	    fsq_options_enforce(outlook->mount.super_options)) {
		add(plan,
		    (struct step){ .kind = STEP_RUN,
				   .what = "mount it to write, which switches its quotas on" },
		    WORDS("mount", "-o", "remount,rw", outlook->mount.directory));
	} else if (outlook->accounting && !outlook->read_only && !is_f2fs) {
		add(plan,
		    (struct step){ .kind = STEP_ENABLE,
				   .what = "have limits stop writers, at once" },
		    WORDS("fsquota", "enable", "-p", outlook->mount.directory));
	} else if (!outlook->is_root) {
		add_unmount(plan, "unmount it: its options do not change otherwise");
		add_mount(plan);
	}
}

static void add_reboot(struct plan *plan, bool lacked_features)
{
	const struct fsq_outlook *outlook = plan->outlook;
	bool live = outlook->enforced;

	for (size_t i = 0; i < plan->count; i++)
		live |= plan->steps[i].kind == STEP_ENABLE;
	if (outlook->is_root && (lacked_features || !live))
		add(plan,
		    (struct step){ .kind = STEP_REBOOT,
				   .acts = ACTS_AT_BOOT,
				   .state = STEP_WAITS,
				   .what = "reboot, which interrupts everybody",
				   .interrupts = "everybody" },
		    WORDS("reboot"));
}

/* --- is there a way? --- */

static bool has_way(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *place = outlook->mount.directory ? outlook->mount.directory : outlook->device;
	struct finding_words words;
	struct fsq_finding finding;

	if (fsq_outlook_has_obstacle(outlook, &finding)) {
		if (!finding_words_get(&words, &finding))
			return session_no_memory(plan->session);
		session_error(plan->session, ERROR_OF_FILE | ERROR_AT_PATH, FSQ_E_NOT_SUPPORTED, 0,
			      place, "%s", words.sentence);
		finding_words_clear(&words);
		return false;
	}
	if (fsq_in_user_namespace() || is_there("/run/systemd/container") ||
	    is_there("/run/.containerenv"))
		return session_error(
			plan->session, ERROR_OF_FILE | ERROR_AT_PATH, FSQ_E_PERMISSION, 0, place,
			"this is a container, where quotas cannot be set up to last: run "
			"fsquota setup on its host");
	if (outlook->mount.directory && !outlook->is_root && strcmp(outlook->mount.root, "/") != 0)
		return session_error(plan->session, ERROR_OF_FILE | ERROR_AT_PATH,
				     FSQ_E_NOT_SUPPORTED, 0, place,
				     "only a part of %s is mounted here, its %s: run fsquota setup "
				     "where all of it is mounted",
				     outlook->device, outlook->mount.root);
	if (outlook->features_errnum && !outlook->enforced)
		return session_errno(plan->session, ERROR_OF_FILE | ERROR_AT_PATH,
				     outlook->features_errnum, place,
				     "cannot read the features on %s%s", outlook->device,
				     outlook->features_errnum == EACCES ? ", run it as root" : "");
	return true;
}

bool plan_make(struct plan *plan)
{
	enum step_state next_state = STEP_TO_DO;
	bool lacked_features;

	if (!has_way(plan))
		return false;
	find_device(plan);
	find_types(plan);
	lacked_features = add_features(plan);
	/* What asks for project quota before the features are there makes the next mount fail. */
	if (lacked_features)
		next_state = plan->outlook->is_root ? STEP_WAITS : state_of_unmount(plan);
	add_next_mount(plan, next_state);
	if (!lacked_features || !plan->outlook->is_root)
		add_kernel_arguments(plan);
	add_enforcement(plan, lacked_features);
	if (!lacked_features)
		add_end_of_at_boot(plan);
	add_reboot(plan, lacked_features);
	if (plan->no_memory)
		return session_no_memory(plan->session);
	return !plan->errnum || session_errno(plan->session, ERROR_OF_FILE, plan->errnum,
					      plan->unread, "cannot read %s", plan->unread);
}

void plan_clear(struct plan *plan)
{
	free(plan->steps);
	texts_free(&plan->texts);
}

struct plan_result plan_result(const struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	struct plan_result result = { .now = outlook->enforced,
				      .after_mount = true,
				      .after_boot = true };

	for (size_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];

		result.now |= step->kind == STEP_ENABLE || step->kind == STEP_MOUNT ||
			      (step->kind == STEP_RUN && strcmp(step->words[0], "mount") == 0);
		result.after_boot &= step->kind != STEP_BY_HAND;
	}
	result.after_boot &= outlook->is_root || !outlook->next.file ||
			     !fsq_options_have(outlook->next.options, "noauto");
	result.after_mount = outlook->is_root ? result.now : result.after_boot;
	return result;
}
