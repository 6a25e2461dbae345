/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hook of container runtimes: the writable layer of a container has the limits of its annotations while it
 * runs.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "quota/fsquota.h"
#include "shared/json_read.h"
#include "shared/read_file.h"

#define PREFIX "io.fsquota/"

/* A layer needs no room behind its ID, as a store does: use kubelet's range. */
#define ID_RANGE "1048577-4294967294"

enum { HARD, SOFT, INODES, LIMITS };

static const char *const keys[LIMITS] = { "hard", "soft", "inodes" };
static const char *const options[LIMITS] = { "--hard", "--soft", "--hard-inodes" };

/* Each a size or a number as assign takes it, or NULL. */
struct hook_options {
	const char *limits[LIMITS];
};

/* A container, as its state and its configuration describe it. The texts point into both. */
struct container {
	const char *id, *status, *bundle;
	const char *root;
	struct hook_options asked;
	const char *unknown; /* an unknown annotation with our prefix */
};

static bool take_value(const struct json_value *value, void *arg)
{
	struct container *container = arg;
	const char *key = value->depth ? value->keys[0] : NULL;
	const char *ours;

	if (!key || !value->is_string)
		return true;
	if (value->depth == 1 && strcmp(key, "id") == 0)
		container->id = value->text;
	else if (value->depth == 1 && strcmp(key, "status") == 0)
		container->status = value->text;
	else if (value->depth == 1 && strcmp(key, "bundle") == 0)
		container->bundle = value->text;
	if (value->depth != 2 || !value->keys[1])
		return true;
	if (strcmp(key, "root") == 0 && strcmp(value->keys[1], "path") == 0)
		container->root = value->text;
	if (strcmp(key, "annotations") != 0 || strncmp(value->keys[1], PREFIX, strlen(PREFIX)) != 0)
		return true;
	ours = value->keys[1] + strlen(PREFIX);
	for (int i = 0; i < LIMITS; i++)
		if (strcmp(ours, keys[i]) == 0) {
			container->asked.limits[i] = value->text;
			return true;
		}
	container->unknown = value->keys[1];
	return true;
}

/* @file     NULL: standard input; @text is freed by the caller, when the container is done with */
static bool read_container(struct session *session, const char *file, char **text,
			   struct container *container)
{
	const char *what = file ? file : "the container's state on standard input";
	size_t length;
	int rc = file ? fsq_read_file(file, text, &length)
		      : fsq_read_fd(STDIN_FILENO, text, &length);

	if (rc)
		return session_errno(session, 0, -rc, file, "cannot read %s", what);
	if (strlen(*text) == length && json_read(*text, take_value, container))
		return true;
	return session_error(session, 0, FSQ_E_USAGE, 0, file, "%s is no JSON", what);
}

/* Run a command of fsquota. Discard its output: standard output may be the container's. */
static bool run(struct session *session, const char *const *words)
{
	static struct writer quiet;
	struct text text = { 0 };
	struct session inner;
	char *copy[16];
	size_t count = 0;

	do
		copy[count] = (char *)words[count];
	while (words[count++]);
	writer_start_text(&quiet, &text);
	inner = session_new(&quiet);
	inner.commands = session->commands;
	inner.run = session->run;
	inner.run(&inner, copy);
	session_end(&inner);
	session->status = inner.status;
	free(text.bytes);
	return session->status == 0;
}

/* The directory that the layer is in, for free(3). @return  NULL: an error was reported */
static char *find_layer(struct session *session, const struct container *container)
{
	char *root = NULL, *layer = NULL;
	struct fsq_error err;
	int rc;

	if (!container->root) {
		session_error(session, 0, FSQ_E_USAGE, 0, NULL,
			      "the bundle's config.json has no root");
		return NULL;
	}
	if (container->root[0] == '/')
		root = strdup(container->root);
	else if (asprintf(&root, "%s/%s", container->bundle, container->root) < 0)
		root = NULL;
	if (!root) {
		session_no_memory(session);
		return NULL;
	}
	rc = fsq_overlay_directory(root, &layer, &err);
	if (rc)
		session_fail(session, &err);
	free(root);
	return layer;
}

/*
 * Annotations may come from the image: they must not replace a limit that the engine or the store has set.
 *
 * @return  whether they may set one; else an error was reported
 */
static bool may_limit(struct session *session, const char *layer, const char *name)
{
	struct fsq_usage usage;
	struct fsq_error err;
	uint32_t own;
	bool good;
	int rc = session_usage(session, layer, &usage, &err);

	/* On a filesystem without quota, assign reports the better error. */
	if (rc)
		return rc == FSQ_E_NOT_FOUND || rc == FSQ_E_NOT_SUPPORTED ||
		       session_fail(session, &err);
	good = usage.source != FSQ_USAGE_QUOTA ||
	       !(usage.hard_bytes || usage.soft_bytes || usage.hard_inodes || usage.soft_inodes) ||
	       (fsq_project_names_id(session_names(session), name, &own) && usage.id == own);
	fsq_usage_clear(&usage);
	return good || session_error(session, 0, FSQ_E_CONFLICT, 0, layer,
				     "has a limit already: annotations do not replace it, options "
				     "of the hook do");
}

static void limit(struct session *session, const struct container *container,
		  const struct hook_options *wanted, const char *name)
{
	const char *words[16] = { "assign", "--name", name };
	char *layer = find_layer(session, container);
	size_t count = 3;

	if (!layer || (wanted == &container->asked && !may_limit(session, layer, name))) {
		free(layer);
		return;
	}
	if (!session->range_configured) {
		words[count++] = "--id-range";
		words[count++] = ID_RANGE;
	}
	for (int i = 0; i < LIMITS; i++)
		if (wanted->limits[i]) {
			words[count++] = options[i];
			words[count++] = wanted->limits[i];
		}
	words[count++] = "--";
	words[count] = layer;
	run(session, words);
	free(layer);
}

struct named {
	uint32_t id;
	char *directory;
};

static enum fsq_visit find_directory(uint32_t id, const char *directory, void *arg)
{
	struct named *named = arg;

	if (id != named->id)
		return FSQ_VISIT_CONTINUE;
	named->directory = strdup(directory);
	return FSQ_VISIT_STOP;
}

/* Prune what containers have left whose runtime was killed. */
static void release(struct session *session, const char *name)
{
	struct named named = { 0 };
	char *slash;

	if (!fsq_project_names_id(session_names(session), name, &named.id))
		return;
	if (fsq_projects_each(session->projects_file, find_directory, &named, NULL) == 0 &&
	    named.directory) {
		slash = strrchr(named.directory, '/');
		if (run(session, (const char *[]){ "release", "--if-exists", "--", named.directory,
						   NULL }) &&
		    slash && slash > named.directory) {
			*slash = '\0';
			run(session, (const char *[]){ "prune", "--", named.directory, NULL });
		}
	}
	free(named.directory);
}

static bool has_limits(const struct hook_options *wanted)
{
	return wanted->limits[HARD] || wanted->limits[SOFT] || wanted->limits[INODES];
}

/* @given  limits of the administrator, which override annotations */
static void act(struct session *session, struct container *container,
		const struct hook_options *given, char **config)
{
	const bool stops = strcmp(container->status, "stopped") == 0;
	const struct hook_options *wanted = has_limits(given) ? given : &container->asked;
	char *file = NULL, *name = NULL;
	bool good;

	if (asprintf(&file, "%s/config.json", container->bundle) < 0 ||
	    asprintf(&name, "oci-%s", container->id) < 0)
		good = session_no_memory(session);
	else if (stops)
		good = true;
	else
		good = read_container(session, file, config, container);
	if (good && container->unknown && wanted != given)
		good = session_error(session, 0, FSQ_E_USAGE, 0, NULL,
				     "there is no annotation %s: hard, soft and inodes are known",
				     container->unknown);
	if (good && stops)
		release(session, name);
	else if (good && has_limits(wanted))
		limit(session, container, wanted, name);
	free(file);
	free(name);
}

static void command_oci_hook(struct session *session, const struct invocation *invocation)
{
	struct container container = { 0 };
	char *state = NULL, *config = NULL;

	if (invocation->operand_count) {
		command_show_usage(session, invocation->command);
		return;
	}
	if (session->batch) {
		session_usage_error(session, "oci-hook is no request: it reads standard input");
		return;
	}
	if (!read_container(session, NULL, &state, &container))
		goto out;
	if (!container.id || !container.status || !container.bundle)
		session_error(session, 0, FSQ_E_USAGE, 0, NULL,
			      "the container's state on standard input lacks id, status or bundle");
	else
		act(session, &container, invocation->options, &config);
out:
	free(state);
	free(config);
}

#define FIELD(member) offsetof(struct hook_options, member)

static const struct command_option own_options[] = {
	{ 0, "hard", "at most so much, whatever the annotations say", .kind = VALUE_SIZE,
	  .argument = "SIZE", .field = FIELD(limits[HARD]) },
	{ 0, "soft", "the soft limit", .kind = VALUE_SIZE, .argument = "SIZE",
	  .field = FIELD(limits[SOFT]) },
	{ 0, "hard-inodes", "at most so many files and directories", .kind = VALUE_NUMBER,
	  .argument = "N", .field = FIELD(limits[INODES]) },
	{ 0 },
};

const struct command oci_hook_command = {
	.name = "oci-hook",
	.summary = "limit a container's writable layer, for its runtime",
	.synopsis = "[--hard SIZE] [--soft SIZE] [--hard-inodes N]",
	.help = "Called by a runtime for containers, as createRuntime and as poststop: read the\n"
		"state of a container from standard input, and give its writable layer the limits\n"
		"of its annotations " PREFIX "hard, " PREFIX "soft and\n" PREFIX
		"inodes; at the end take them off again.",
	.example = "oci-hook <state.json\n"
		   "oci-hook --help",
	.options = (option_tables){ own_options, help_option, NULL },
	.options_size = sizeof(struct hook_options),
	.flags = COMMAND_CONFIG,
	.run = command_oci_hook,
};
