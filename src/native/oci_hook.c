/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hook of container runtimes: the writable layer of a container has the limits of its annotations while it
 * runs.
 */
#include <errno.h>
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

/* Of a layer no other ID has to follow, as it would for a store: those of kubelet, and no band. */
#define ID_RANGE "1048577-4294967294"

enum { HARD, SOFT, INODES, LIMITS };

static const char *const keys[LIMITS] = { "hard", "soft", "inodes" };
static const char *const options[LIMITS] = { "--hard", "--soft", "--hard-inodes" };

/* A container, as its state and its configuration describe it. The texts point into both. */
struct container {
	const char *id, *status, *bundle;
	const char *root;
	const char *limits[LIMITS];
	const char *unknown; /* an annotation of ours that there is not */
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
			container->limits[i] = value->text;
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

/* Run a command of ours. What it prints is not for the container's output, which this may be. */
static bool run(struct session *session, const char *const *words)
{
	struct writer *quiet = malloc(sizeof(*quiet));
	struct text text = { 0 };
	struct session inner;
	char *copy[16];
	size_t count = 0;

	if (!quiet)
		return session_no_memory(session);
	do
		copy[count] = (char *)words[count];
	while (words[count++]);
	writer_start_text(quiet, &text);
	inner = session_new(quiet);
	inner.commands = session->commands;
	inner.run = session->run;
	inner.run(&inner, copy);
	session_end(&inner);
	session->status = inner.status;
	free(text.bytes);
	free(quiet);
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

static void limit(struct session *session, const struct container *container, const char *name)
{
	const char *words[16] = { "assign", "--name", name };
	char *layer = find_layer(session, container);
	size_t count = 3;

	if (!layer)
		return;
	if (!session->range_configured) {
		words[count++] = "--id-range";
		words[count++] = ID_RANGE;
	}
	for (int i = 0; i < LIMITS; i++)
		if (container->limits[i]) {
			words[count++] = options[i];
			words[count++] = container->limits[i];
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

/* And what containers have left whose runtime was killed, if their layers are gone. */
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

static void act(struct session *session, struct container *container, char **config)
{
	const bool stops = strcmp(container->status, "stopped") == 0;
	char *file = NULL, *name = NULL;
	bool good;

	if (asprintf(&file, "%s/config.json", container->bundle) < 0 ||
	    asprintf(&name, "oci-%s", container->id) < 0)
		good = session_no_memory(session);
	else if (stops)
		good = true;
	else
		good = read_container(session, file, config, container);
	if (good && container->unknown)
		good = session_error(session, 0, FSQ_E_USAGE, 0, NULL,
				     "there is no annotation %s: hard, soft and inodes are known",
				     container->unknown);
	if (good && stops)
		release(session, name);
	else if (good &&
		 (container->limits[HARD] || container->limits[SOFT] || container->limits[INODES]))
		limit(session, container, name);
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
		act(session, &container, &config);
out:
	free(state);
	free(config);
}

const struct command oci_hook_command = {
	.name = "oci-hook",
	.summary = "limit a container's writable layer, called by its runtime",
	.synopsis = "",
	.help = "Called by a runtime for containers, as createRuntime and as poststop: read the\n"
		"state of a container from standard input, and give its writable layer the limits\n"
		"of its annotations " PREFIX "hard, " PREFIX "soft and\n" PREFIX
		"inodes; at the end take them off again.",
	.options = (option_tables){ help_option, NULL },
	.flags = COMMAND_CONFIG,
	.run = command_oci_hook,
};
