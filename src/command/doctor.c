/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "command.h"
#include "finding_words.h"
#include "options.h"
#include "progress.h"
#include "quota/fsquota.h"

struct doctor_options {
	bool quiet, deep;
};

struct doctor {
	struct session *session;
	bool quiet;   /* only what is no "ok" */
	bool problem; /* there is one */
	struct progress *progress;
};

static enum fsq_visit print_finding(const struct fsq_finding *finding, void *arg)
{
	static const enum finding_level levels[] = {
		[FSQ_FINDING_OK] = FINDING_OK,
		[FSQ_FINDING_NOTE] = FINDING_NOTE,
		[FSQ_FINDING_PROBLEM] = FINDING_PROBLEM,
	};
	struct doctor *doctor = arg;
	struct session *session = doctor->session;
	struct finding_row row = {
		.level = levels[finding->level],
		.path = finding->path,
		.filesystem = finding->filesystem,
		.mountpoint = finding->mountpoint,
		.id = finding->project,
		.line = finding->line,
	};
	struct finding_words words;

	progress_clear(doctor->progress);
	doctor->problem |= finding->level == FSQ_FINDING_PROBLEM;
	if (doctor->quiet && finding->level == FSQ_FINDING_OK)
		return FSQ_VISIT_CONTINUE;
	if (!finding_words_get(&words, finding)) {
		session_errno(session, 0, ENOMEM, finding->path, "cannot print all");
		return FSQ_VISIT_STOP;
	}
	row.finding = words.word;
	row.message = words.sentence;
	row.repair = words.repair;
	session->render->finding_row(session->out, &row);
	finding_words_clear(&words);
	return FSQ_VISIT_CONTINUE;
}

static void tell_failure(const struct fsq_error *err, void *arg)
{
	struct doctor *doctor = arg;

	progress_clear(doctor->progress);
	session_fail(doctor->session, err);
}

static void command_doctor(struct session *session, const struct invocation *invocation)
{
	const struct doctor_options *options = invocation->options;
	const struct fsq_registry registry = session_registry(session);
	struct doctor doctor = { .session = session, .quiet = options->quiet };
	struct progress progress;
	const struct fsq_diagnose_request request = {
		.size = sizeof(request),
		.paths = (const char *const *)invocation->operands,
		.path_count = (size_t)invocation->operand_count,
		.deep = options->deep,
		.registry = &registry,
		.options = &progress.options,
		.failed = tell_failure,
	};
	struct fsq_error err;

	progress_begin(&progress, session);
	progress.options.mount_skipped = NULL;
	doctor.progress = &progress;
	render_begin(session->render, session->out, "doctor");
	if (fsq_diagnose(&request, print_finding, &doctor, &err))
		session_fail(session, &err);
	progress_clear(&progress);
	render_end(session->render, session->out);
	/* Findings that did not arrive come before what they say. */
	session_flush(session);
	if (doctor.problem && session->status == 0)
		session->status = session_exit_code(FSQ_E_NOT_SUPPORTED);
}

#define FIELD(member) offsetof(struct doctor_options, member)

static const struct command_option own_options[] = {
	{ 'q', "quiet", "only what is not ok", .field = FIELD(quiet) },
	{ 0, "deep", "also count what is in the registered directories", .field = FIELD(deep) },
	{ 0 },
};

const struct command doctor_command = {
	.name = "doctor",
	.summary = "find out why quotas work or do not work here",
	.synopsis = "[OPTION]... [PATH]...",
	.help = "Look at the filesystem of each PATH, or at all that can have project quotas, and\n"
		"at what is registered. Each finding is a line: ok, note or problem, what it\n"
		"means, and the command that repairs it, which is never run. The exit status\n"
		"is 3 if there is a problem.",
	.options = (option_tables){ own_options, progress_option, registry_options, json_option,
				    help_option, NULL },
	.operands = { { VALUE_PATH, "PATH", true } },
	.options_size = sizeof(struct doctor_options),
	.flags = COMMAND_CONFIG,
	.run = command_doctor,
};
