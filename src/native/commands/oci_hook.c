/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hook of container runtimes: the writable layer of a container has the limits of its annotations while it
 * runs.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/options.h"
#include "quota/fsquota.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/overlay.h"
#include "shared/json_read.h"
#include "shared/read_file.h"
#include "shared/text_hash.h"

#define PREFIX "io.fsquota/"

/* Kubelet's range: a layer, unlike a store, needs no room after its ID. */
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
	const char *id, *status, *bundle; /* only the state has them */
	const char *root;		  /* only the configuration has it */
	struct hook_options asked;
	const char *unknown; /* an unknown annotation with our prefix */
	const char *no_text; /* an annotation whose value is no string */
};

static void take_annotation(const struct json_value *value, struct container *container)
{
	const char *name = value->depth >= 2 ? value->keys[1] : NULL;
	int i = 0;

	if (!name || !value->keys[0] || strcmp(value->keys[0], "annotations") != 0 ||
	    strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	while (i < LIMITS && strcmp(name + strlen(PREFIX), keys[i]) != 0)
		i++;
	if (i == LIMITS)
		container->unknown = name;
	else if (value->depth > 2 || !value->is_string)
		container->no_text = name;
	else
		container->asked.limits[i] = value->text;
}

static bool take_of_state(const struct json_value *value, void *arg)
{
	struct container *container = arg;
	const char *key = value->depth == 1 && value->is_string ? value->keys[0] : NULL;

	take_annotation(value, container);
	if (key && strcmp(key, "id") == 0)
		container->id = value->text;
	else if (key && strcmp(key, "status") == 0)
		container->status = value->text;
	else if (key && strcmp(key, "bundle") == 0)
		container->bundle = value->text;
	return true;
}

static bool take_of_config(const struct json_value *value, void *arg)
{
	struct container *container = arg;

	take_annotation(value, container);
	if (value->depth == 2 && value->is_string && value->keys[0] && value->keys[1] &&
	    strcmp(value->keys[0], "root") == 0 && strcmp(value->keys[1], "path") == 0)
		container->root = value->text;
	return true;
}

/* Others may write in the directories above the bundle. */
static int read_config(const char *file, char **text, size_t *length)
{
	int fd = fsq_lookup(NULL, file, FSQ_LOOKUP_READ, NULL), rc = fd;

	if (fd >= 0) {
		rc = fsq_read_fd(fd, text, length);
		close(fd);
	}
	return rc;
}

/* @file     NULL: standard input; @text is freed by the caller, when the container is done with */
static bool read_container(struct session *session, const char *file, char **text,
			   struct container *container)
{
	const char *what = file ? file : "the container's state on standard input";
	size_t length;
	int rc;

	if (!file)
		session_tell_of_terminal(session, what);
	rc = file ? read_config(file, text, &length) : fsq_read_fd(STDIN_FILENO, text, &length);
	if (rc)
		return session_errno(session, 0, -rc, file, "cannot read %s", what);
	if (strlen(*text) == length &&
	    json_read(*text, file ? take_of_config : take_of_state, container))
		return true;
	return session_error(session, 0, FSQ_E_USAGE, 0, file, "%s is no JSON", what);
}

/* Run a command of fsquota. Discard its output: standard output may be the container's. */
static bool run_command_words(struct session *session, const char *const *words)
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

/* The directories of a container's layer: both, or one that has both; and the name of their project. For free(3). */
struct layer {
	char *directory, *work, *name;
};

/*
 * Two engines can use the same container ID, but each container has a bundle of its own.
 *
 * @return   what the names of its projects begin with, for free(3); or NULL without memory
 */
static char *name_start(const struct container *container)
{
	char *start;
	int length = asprintf(&start, "oci-%s-%08" PRIx32 "-", container->id,
			      (uint32_t)text_hash(TEXT_HASH_START, container->bundle));

	return length < 0 ? NULL : start;
}

static bool find_layer(struct session *session, const struct container *container,
		       const char *start, struct layer *layer)
{
	struct fsq_error err;
	char *root = NULL;
	struct stat st;
	int rc;

	if (!container->root)
		return session_error(session, 0, FSQ_E_USAGE, 0, NULL,
				     "the bundle's config.json has no root");
	if (container->root[0] == '/')
		root = strdup(container->root);
	else if (asprintf(&root, "%s/%s", container->bundle, container->root) < 0)
		root = NULL;
	if (!root)
		return session_no_memory(session);
	rc = fsq_overlay_directories(root, &layer->directory, &layer->work, &err);
	free(root);
	if (rc)
		return session_fail(session, &err);
	if (fsq_lookup_stat(NULL, layer->directory, 0, &st, &err))
		return session_fail(session, &err);
	if (asprintf(&layer->name, "%s%" PRIu64, start, (uint64_t)st.st_ino) >= 0)
		return true;
	layer->name = NULL;
	return session_no_memory(session);
}

/*
 * Annotations may come from the image: they must not replace a limit that the engine or the store has set.
 *
 * @directory of the layer, or NULL
 * @return  whether they may set one; else an error was reported
 */
static bool may_limit(struct session *session, const char *directory, const char *name)
{
	struct fsq_usage usage;
	struct fsq_error err;
	uint32_t own;
	bool good;
	int rc = directory ? session_usage(session, directory, &usage, &err) : FSQ_E_NOT_FOUND;

	/* Go on: on a filesystem without quota, assign says why. */
	if (rc)
		return rc == FSQ_E_NOT_FOUND || rc == FSQ_E_NOT_SUPPORTED ||
		       session_fail(session, &err);
	good = usage.source != FSQ_USAGE_QUOTA ||
	       !(usage.hard_bytes || usage.soft_bytes || usage.hard_inodes || usage.soft_inodes) ||
	       (fsq_project_names_id(session_names(session), name, &own) && usage.id == own);
	fsq_usage_clear(&usage);
	return good || session_error(session, 0, FSQ_E_CONFLICT, 0, directory,
				     "has a limit already: annotations do not replace it, options "
				     "of the hook do");
}

/* Both directories, or none: what assign has done for the first is undone if it fails for the second. */
static void assign_layer(struct session *session, const struct hook_options *wanted,
			 const struct layer *layer)
{
	const char *words[16] = { "assign", "--name", layer->name };
	size_t count = 3;
	int status;

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
	words[count++] = layer->directory;
	words[count] = layer->work;
	if (run_command_words(session, words) || !layer->work)
		return;
	status = session->status;
	run_command_words(
		session, (const char *[]){ "release", "--if-exists", "--name", layer->name, NULL });
	session->status = status;
}

static void limit(struct session *session, const struct container *container,
		  const struct hook_options *wanted, const char *start)
{
	struct layer layer = { 0 };

	if (find_layer(session, container, start, &layer) &&
	    (wanted != &container->asked || (may_limit(session, layer.directory, layer.name) &&
					     may_limit(session, layer.work, layer.name))))
		assign_layer(session, wanted, &layer);
	free(layer.directory);
	free(layer.work);
	free(layer.name);
}

/* The first directory of a project. */
struct registered {
	uint32_t id;
	size_t count;
	char *first;
};

static enum fsq_visit count_directory(uint32_t id, const char *directory, void *arg)
{
	struct registered *registered = arg;

	if (id == registered->id && registered->count++ == 0)
		registered->first = strdup(directory);
	return FSQ_VISIT_CONTINUE;
}

struct ending {
	struct session *session;
	const char *start; /* of the names of the container's projects */
};

static enum fsq_visit release_container_project(uint32_t id, const char *name, void *arg)
{
	const struct ending *ending = arg;
	struct session *session = ending->session;
	struct registered registered = { .id = id };
	const size_t length = strlen(ending->start);
	char *slash;

	if (strncmp(name, ending->start, length) != 0 || !name[length] ||
	    name[length + strspn(name + length, "0123456789")])
		return FSQ_VISIT_CONTINUE;
	fsq_projects_each(session->projects_file, count_directory, &registered, NULL);
	slash = registered.first ? strrchr(registered.first, '/') : NULL;
	/* The directory of an engine lies beside others: prune what containers have left whose runtime was killed. */
	if (run_command_words(session,
			      (const char *[]){ "release", "--if-exists", "--name", name, NULL }) &&
	    registered.count == 1 && slash && slash > registered.first) {
		*slash = '\0';
		run_command_words(session,
				  (const char *[]){ "prune", "--", registered.first, NULL });
	}
	free(registered.first);
	return FSQ_VISIT_CONTINUE;
}

static bool wants_limits(const struct hook_options *wanted)
{
	return wanted->limits[HARD] || wanted->limits[SOFT] || wanted->limits[INODES];
}

/* @given  limits of the administrator, which override annotations */
static void act(struct session *session, struct container *container,
		const struct hook_options *given, char **config)
{
	const bool stops = strcmp(container->status, "stopped") == 0;
	const struct hook_options *wanted = wants_limits(given) ? given : &container->asked;
	char *file = NULL, *start = name_start(container);
	const char *wrong = NULL;
	bool good;

	if (!start || asprintf(&file, "%s/config.json", container->bundle) < 0) {
		file = NULL;
		good = session_no_memory(session);
	} else {
		good = stops || read_container(session, file, config, container);
	}
	if (good && !stops && wanted != given)
		wrong = container->unknown ? container->unknown : container->no_text;
	if (wrong)
		good = session_error(session, 0, FSQ_E_USAGE, 0, NULL,
				     container->unknown
					     ? "there is no annotation %s: hard, soft and inodes "
					       "are known"
					     : "the annotation %s is no string: write it in "
					       "quotes, such as \"10G\"",
				     wrong);
	if (good && stops)
		fsq_project_names_each(session_names(session), release_container_project,
				       &(struct ending){ session, start });
	else if (good && wants_limits(wanted))
		limit(session, container, wanted, start);
	free(file);
	free(start);
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
	.group = GROUP_PROGRAMS,
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
