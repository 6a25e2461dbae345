/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "names.h"
#include "options.h"
#include "output/renderer.h"
#include "paths.h"
#include "quota/filesystem.h"
#include "quota/inode_project.h"
#include "quota/privilege.h"
#include "quota/tree_walk.h"

/* A directory of the command line. */
struct operand {
	const char *directory;
	bool foreign;
};

struct job {
	struct session *session;
	enum project_action action;
	int depth;
	struct operand *operands; /* -p, in their order */
	size_t operand_count;
	/* the project being worked on: */
	const char *word;
	uint32_t id;
	unsigned int directories;
};

static void skip_special(struct session *session, const char *path)
{
	session_complain(session, 0, FSQ_OK, "skipping special file %s", path);
}

static void check_entry(struct job *job, const struct fsq_walk_entry *entry,
			const struct fsq_inode_project *project)
{
	if (project->id != job->id)
		job->session->render->project_wrong_id(job->session->out, entry->path, project->id,
						       job->id);
	if (entry->kind == FSQ_WALK_DIRECTORY && !project->inherit)
		job->session->render->project_no_inheritance(job->session->out, entry->path);
}

static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* In a user namespace the kernel calls it invalid. */
static void cannot(struct job *job, const char *what, int errnum, const char *path)
{
	if (errnum == EINVAL && fsq_in_user_namespace())
		session_complain_as(job->session, 1, FSQ_E_PERMISSION,
				    job->session->native ? EPERM : errnum,
				    "cannot %s project on %s", what, path);
	else
		session_complain(job->session, 1, errnum, "cannot %s project on %s", what, path);
}

static int visit_file(struct job *job, const struct fsq_walk_entry *entry)
{
	struct fsq_inode_project project;
	int rc = fsq_inode_project_get(entry->fd, &project);

	if (rc == -ENOTTY && !(job->session->native && is_plain(entry->fd))) {
		/* Something else was put in its place before it was opened. */
		skip_special(job->session, entry->path);
		return 0;
	}
	if (rc) {
		session_complain(job->session, 1, -rc, "cannot get flags on %s", entry->path);
		/* No other file here will have a project ID either. */
		return rc == -ENOTTY ? rc : 0;
	}
	switch (job->action) {
	case PROJECT_CHECK:
		check_entry(job, entry, &project);
		break;
	case PROJECT_SETUP:
		rc = fsq_inode_project_set(entry->fd, &project, job->id,
					   entry->kind == FSQ_WALK_DIRECTORY);
		if (rc)
			cannot(job, "set", -rc, entry->path);
		break;
	case PROJECT_CLEAR:
		rc = fsq_inode_project_set(entry->fd, &project, 0, false);
		if (rc)
			cannot(job, "clear", -rc, entry->path);
		break;
	}
	return 0;
}

static int visit(const struct fsq_walk_entry *entry, void *arg)
{
	struct job *job = arg;

	switch (entry->kind) {
	case FSQ_WALK_FILE:
	case FSQ_WALK_DIRECTORY:
		return visit_file(job, entry);
	case FSQ_WALK_SPECIAL:
		skip_special(job->session, entry->path);
		break;
	case FSQ_WALK_LEAVE:
		break;
	case FSQ_WALK_NO_STAT:
		session_complain(job->session, 1, FSQ_E_PARTIAL, "cannot stat file %s",
				 entry->path);
		break;
	case FSQ_WALK_NO_OPEN:
		session_complain(job->session, 1, entry->errnum, "cannot open %s", entry->path);
		break;
	}
	return 0;
}

static void walk(struct job *job, const char *directory)
{
	struct fsq_error err;

	job->session->render->project_begin(job->session->out, job->action, job->word, directory);
	session_flush_terminal(job->session);
	/* Else the visitor ended it, and has told why. */
	if (fsq_tree_walk(directory, job->depth, visit, job, &err) == FSQ_E_FAILED)
		session_complain(job->session, 1, err.errnum, "cannot walk %s", err.path);
	job->directories++;
}

/* The directories of the projects file and of the command line: XFS first, then foreign. */
static void do_project(struct job *job)
{
	struct session *session = job->session;

	job->directories = 0;
	for (int foreign = 0; foreign <= 1; foreign++) {
		for (size_t i = 0; i < session->path_count; i++) {
			const struct path_entry *path = &session->paths[i];

			if (path->is_project && path->foreign == foreign &&
			    path->project == job->id)
				walk(job, path->directory);
		}
		for (size_t i = 0; i < job->operand_count; i++)
			if (job->operands[i].foreign == foreign)
				walk(job, job->operands[i].directory);
	}
	session->render->project_end(session->out, job->directories, session->projects_file,
				     job->word, job->depth);
}

/* A directory must lie on a filesystem of the table. */
static bool add_operand(struct job *job, const char *directory)
{
	int mount = paths_find(job->session, directory);

	if (mount < 0) {
		session_complain(job->session, 0, ENOENT, "cannot setup path for project dir %s",
				 directory);
		return false;
	}
	job->operands[job->operand_count++] =
		(struct operand){ directory, job->session->paths[mount].foreign };
	return true;
}

static void do_words(struct job *job, int argc, char **argv)
{
	struct session *session = job->session;

	if (job->operand_count > 0 && argc > 1) {
		session_complain(
			session, 1, FSQ_E_USAGE,
			"only one projid/name can be specified when using -p <path>, %d found.",
			argc);
		return;
	}
	if (job->operand_count == 0 && access(session->projects_file, F_OK)) {
		session_complain_bare(session, 1, FSQ_E_NOT_FOUND,
				      "projects file \"%s\" doesn't exist", session->projects_file);
		return;
	}
	paths_load_projects(session);
	for (int i = 0; i < argc; i++) {
		job->word = argv[i];
		if (names_to_id(session, FSQ_PROJECT, argv[i], &job->id))
			do_project(job);
		else
			session_complain_bare(
				session, 1, FSQ_E_NOT_FOUND,
				"%s - no such project in %s or invalid project number", argv[i],
				session->projects_file);
	}
}

COMMAND_FUNCTION(project)
{
	struct job job = {
		.session = session,
		.action = PROJECT_CHECK,
		.depth = FSQ_WALK_INFINITE,
		.operands = calloc((size_t)argc, sizeof(*job.operands)),
	};
	uint32_t depth;
	int option;

	if (!job.operands) {
		session_complain(session, 1, ENOMEM, "cannot go on");
		return COMMAND_NEXT;
	}
	options_begin();
	while ((option = getopt(argc, argv, command->options)) != -1) {
		switch (option) {
		case 'c':
			job.action = PROJECT_CHECK;
			break;
		case 's':
			job.action = PROJECT_SETUP;
			break;
		case 'C':
			job.action = PROJECT_CLEAR;
			break;
		case 'd':
			if (!options_number(session, optarg, &depth))
				goto out;
			job.depth = (int)depth < 0 ? FSQ_WALK_INFINITE : (int)depth;
			break;
		case 'p':
			if (!add_operand(&job, optarg))
				goto out;
			break;
		default:
			command_usage(session, command);
			goto out;
		}
	}
	/* The directories of all filesystems are worked on at once. */
	if (argc == optind)
		command_usage(session, command);
	else if (session->pass == 0)
		do_words(&job, argc - optind, argv + optind);
out:
	free(job.operands);
	return COMMAND_NEXT;
}
