/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/signals.h"
#include "native/cli/journal.h"
#include "native/cli/program.h"
#include "native/cli/replacement.h"
#include "quota/base/error.h"
#include "quota/kernel/quotactl.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/mount_table.h"
#include "setup.h"
#include "shared/read_file.h"

/* The copy of a file as it was before. */
#define COPY ".before-fsquota"

/* --- files --- */

static bool write_file(struct session *session, const char *file, const char *text, mode_t mode)
{
	struct replacement replacement;

	if (!replacement_begin(session, &replacement, file))
		return false;
	replacement.mode = mode;
	write_text(session->out, text);
	return replacement_end(session, &replacement, true);
}

/* Make the directory of a drop-in. */
static bool make_directory_of(struct session *session, const char *file)
{
	char *directory = strndup(file, (size_t)(strrchr(file, '/') - file));
	bool made;

	if (!directory)
		return session_no_memory(session);
	made = mkdir(directory, 0755) == 0 || errno == EEXIST;
	if (!made)
		session_errno(session, ERROR_OF_FILE, errno, directory, "cannot make %s",
			      directory);
	free(directory);
	return made;
}

static bool edit(struct session *session, const struct step *step)
{
	char *now = NULL, *copy;
	mode_t mode = 0644;
	struct stat st;
	size_t length;
	bool done = false;

	if (step->before) {
		if (fsq_read_file(step->file, &now, &length) || strcmp(now, step->before) != 0) {
			free(now);
			return session_error(
				session, ERROR_OF_FILE, FSQ_E_CONFLICT, 0, step->file,
				"%s was changed meanwhile: nothing was written; run it "
				"again",
				step->file);
		}
		free(now);
		if (stat(step->file, &st) == 0)
			mode = st.st_mode & 07777;
		if (asprintf(&copy, "%s" COPY, step->file) < 0)
			return session_no_memory(session);
		done = write_file(session, copy, step->before, mode);
		free(copy);
	} else {
		done = make_directory_of(session, step->file);
	}
	return done && write_file(session, step->file, step->after, mode);
}

/* --- quota --- */

static bool enable(struct session *session, const char *directory)
{
	bool types[FSQ_TYPES] = { [FSQ_PROJECT] = true };
	struct fsq_filesystem *fs;
	struct fsq_error err;
	int rc;

	if (fsq_filesystem_open(&fs, directory, NULL, 0, &err))
		return session_fail(session, &err);
	rc = fsq_quota_switch(fs, FSQ_ENABLE, types);
	fsq_filesystem_close(fs);
	return rc == 0 || rc == -EEXIST || rc == -EBUSY ||
	       session_errno(session, 0, -rc, directory, "cannot switch project quota on");
}

/* --- all steps --- */

static bool is_done(const struct plan *plan, enum step_kind kind, size_t place)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == kind && plan->steps[i].place == place)
			return plan->steps[i].state == STEP_DONE;
	return false;
}

/* Something failed: mount what was unmounted, as it was. */
static void mount_back(struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	char *options = fsq_options_as_mounted(&outlook->mount);
	const char *words[] = {
		"mount", "-t", outlook->type, "-o", options, plan->device, outlook->mount.directory,
		NULL
	};

	if (!options) {
		session_no_memory(plan->session);
		return;
	}
	if (is_done(plan, STEP_UNMOUNT, 0) && !is_done(plan, STEP_MOUNT, 0) &&
	    !program_run(plan->session, words, -1, 0))
		session_error(plan->session, ERROR_OF_FILE, FSQ_E_FAILED, 0,
			      outlook->mount.directory, "%s is not mounted now",
			      outlook->mount.directory);
	else
		for (size_t i = 0; i < plan->count; i++)
			if (plan->steps[i].kind == STEP_MOUNT && plan->steps[i].place > 0 &&
			    plan->steps[i].state != STEP_DONE &&
			    is_done(plan, STEP_UNMOUNT, plan->steps[i].place))
				program_run(plan->session, plan->steps[i].words, -1, 0);
	free(options);
}

/* With nofail, mount(8) says nothing where there is no such device. */
static bool is_mounted(const struct plan *plan)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *directory = outlook->mount.directory;
	struct stat st;

	/* An image may have another loop device now. */
	return plan->device == plan->image ||
	       (stat(directory, &st) == 0 && st.st_dev == outlook->dev) ||
	       session_error(plan->session, ERROR_OF_FILE, FSQ_E_FAILED, 0, directory,
			     "mount has not mounted %s at %s", outlook->device, directory);
}

static bool carry_out(struct plan *plan, const struct step *step)
{
	struct session *session = plan->session;
	/* e2fsck(8) has mended something. */
	const int most = step->words[0] && strcmp(step->words[0], "e2fsck") == 0 ? 1 : 0;

	switch (step->kind) {
	case STEP_EDIT:
		if (!edit(session, step))
			return false;
		break;
	case STEP_REMOVE:
		if (unlink(step->file) && errno != ENOENT)
			return session_errno(session, ERROR_OF_FILE, errno, step->file,
					     "cannot remove %s", step->file);
		break;
	case STEP_ENABLE:
		return enable(session, plan->outlook->mount.directory);
	default:
		break;
	}
	if (step->words[0] && !program_run(session, step->words, -1, most))
		return false;
	return step->kind != STEP_MOUNT || step->place > 0 || is_mounted(plan);
}

static bool refuse_busy(const struct plan *plan)
{
	const char *who = NULL;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == STEP_UNMOUNT && plan->steps[i].interrupts)
			who = plan->steps[i].interrupts;
	return session_error(plan->session, ERROR_OF_FILE, FSQ_E_CONFLICT, 0,
			     plan->outlook->mount.directory,
			     "%s is in use, and was not unmounted: %s",
			     plan->outlook->mount.directory, who ? who : "?");
}

/* One entry for all steps. */
static void log_steps(const struct plan *plan, const struct step *failed)
{
	const struct fsq_outlook *outlook = plan->outlook;
	const char *where = outlook->mount.directory ? outlook->mount.directory : outlook->device;
	struct fsq_error err;

	if (failed)
		fsq_fail(&err, FSQ_E_FAILED, 0, where, "failed: %s", failed->what);
	journal_write(plan->session, &(struct journal_entry){ .type = FSQ_PROJECT,
							      .filesystem = where,
							      .err = failed ? &err : NULL });
}

bool plan_carry_out(struct plan *plan)
{
	const struct step *failed = NULL;
	/* umount(8) frees the device of "mount -o loop,offset=", unless somebody has it open. */
	const int kept = plan->device == plan->image
				 ? -1
				 : open(plan->device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool tried = false;
	sigset_t before;

	block_interrupts(&before);
	for (size_t i = 0; i < plan->count; i++) {
		struct step *step = &plan->steps[i];
		bool done;

		if (step->state != STEP_TO_DO)
			continue;
		done = step->kind == STEP_UNMOUNT && plan->busy ? refuse_busy(plan)
								: carry_out(plan, step);
		tried = true;
		if (!done) {
			failed = step;
			break;
		}
		step->state = STEP_DONE;
		plan->session->changed = true;
	}
	if (tried)
		log_steps(plan, failed);
	if (failed)
		mount_back(plan);
	if (kept >= 0)
		close(kept);
	restore_signals(&before);
	return !failed;
}
