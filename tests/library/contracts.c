/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contracts DIRECTORY: what fsquota.h says of arguments that the program never passes. The directory is on a
 * filesystem with project quota, and empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quota/fsquota.h"
#include "../unit/tap.h"
#include "quota/kernel/quotactl.h"
#include "quota/limits/limits.h"
#include "quota/mounts/filesystem.h"
#include "quota/usage/project_tree.h"
#include "quota/usage/usage.h"
#include "quota/mounts/filesystem.h"

static const struct fsq_registry registry = { .size = sizeof(registry),
					      .projects_file = "/etc/projects",
					      .projid_file = "/etc/projid",
					      .lock_seconds = 1 };

static bool has(const char *path, uint32_t wanted, bool inherited)
{
	struct fsq_error err;
	uint32_t id;
	bool inherit;

	return fsq_file_get_project(path, &id, &inherit, &err) == 0 && id == wanted &&
	       inherit == inherited;
}

static void test_files(void)
{
	struct fsq_error err;

	close(open("file", O_WRONLY | O_CREAT, 0644));
	mkdir("sub", 0755);
	mkfifo("fifo", 0644);
	ok(fsq_file_set_project("file", 42, true, &err) == 0 && has("file", 42, false),
	   "a file gets an ID, and does not hand it on");
	ok(fsq_file_set_project("sub", 43, true, &err) == 0 && has("sub", 43, true),
	   "a directory does");
	ok(fsq_file_set_project("sub", 0, false, &err) == 0 && has("sub", 0, false),
	   "it is taken off");
	ok(fsq_file_set_project("none", 42, false, &err) == FSQ_E_NOT_FOUND && err.errnum == ENOENT,
	   "what is not there gets none");
	ok(fsq_file_set_project("/proc/self", 42, false, &err) < 0, "what can have none gets none");
	ok(fsq_file_set_project("/proc", 42, false, &err) == FSQ_E_NOT_SUPPORTED,
	   "a directory of a filesystem without IDs gets none");
	ok(fsq_file_set_project("/dev/null", 42, false, &err) == FSQ_E_NOT_SUPPORTED,
	   "a device without IDs gets none");
}

static void test_without_a_project(void)
{
	const struct fsq_release_request release = { .size = sizeof(release) };
	struct fsq_resize_request resize = { .size = sizeof(resize), .bytes = 1 << 20 };
	const struct fsq_assign_request assign = { .size = sizeof(assign) };
	struct fsq_move_request move = { .size = sizeof(move), .to = "/nothing-is-called-so" };
	struct fsq_assignment *assignment;
	struct fsq_filesystem *fs;
	struct fsq_support support;
	struct fsq_released released;
	struct fsq_resized resized;
	struct fsq_error err;
	bool inherit;
	uint32_t id;

	ok(fsq_release(&release, &released, &err) == FSQ_E_USAGE, "release of nothing");
	ok(fsq_resize(&resize, &resized, &err) == FSQ_E_USAGE, "resize of nothing");
	resize.id = 5;
	resize.at = "/nothing-is-called-so";
	ok(fsq_resize(&resize, &resized, &err) == FSQ_E_NOT_FOUND, "resize where nothing is");
	resize.no_hard = true;
	ok(fsq_resize(&resize, &resized, &err) == FSQ_E_USAGE, "resize to a size and to none");
	resize = (struct fsq_resize_request){ .size = sizeof(resize),
					      .id = 5,
					      .percent = UINT32_MAX };
	ok(fsq_resize(&resize, &resized, &err) == FSQ_E_USAGE, "resize to more than 10000 %");
	ok(fsq_move(&move, NULL, &err) == FSQ_E_USAGE, "move of nothing");
	move = (struct fsq_move_request){ .size = sizeof(move), .from = "." };
	ok(fsq_move(&move, NULL, &err) == FSQ_E_USAGE, "move to nothing");
	ok(fsq_assign(&assignment, &assign, &err) == FSQ_E_USAGE, "assign of nothing");
	ok(fsq_supported(NULL, &support, &err) == FSQ_E_USAGE, "whether nothing is supported");
	ok(fsq_filesystem_open(&fs, NULL, NULL, 0, &err) == FSQ_E_USAGE,
	   "the filesystem of nothing");
	ok(fsq_file_get_project(NULL, &id, &inherit, &err), "the project of nothing");
}

static enum fsq_visit take_first(const struct fsq_explained *row, void *arg)
{
	*(uint64_t *)arg += row->inodes;
	return FSQ_VISIT_STOP;
}

/* The ID of a request is another than the directory's. */
static void test_another_id(const char *directory)
{
	struct fsq_assign_request assign = {
		.size = sizeof(assign), .directory = directory, .id = 77, .registry = &registry
	};
	struct fsq_release_request release = { .size = sizeof(release),
					       .directory = directory,
					       .id = 78 };
	struct fsq_resize_request resize = {
		.size = sizeof(resize), .directory = directory, .id = 78, .bytes = 1 << 20
	};
	struct fsq_explain_request explain = { .size = sizeof(explain), .directory = directory };
	struct fsq_assignment *assignment = NULL;
	struct fsq_released released;
	struct fsq_resized resized;
	uint64_t inodes = 0;
	struct stat st;
	struct fsq_error err;

	ok(fsq_assign(&assignment, &assign, &err) == 0 && fsq_assignment_id(assignment) == 77,
	   "assign");
	ok(fsq_explain(&explain, take_first, &inodes, NULL) == 0 && inodes == 1,
	   "explain to somebody who wants the use alone");
	explain.directory = "/proc";
	ok(fsq_explain(&explain, take_first, &inodes, NULL) == FSQ_E_NOT_SUPPORTED,
	   "and who does not ask why not");
	fsq_assignment_free(assignment);
	assign.name = "mine";
	ok(fsq_assign(&assignment, &assign, &err) == FSQ_E_CONFLICT, "it is called something else");
	assign.name = "x\nroot:1";
	ok(fsq_assign(&assignment, &assign, &err) == FSQ_E_USAGE, "two lines are no name");
	assign = (struct fsq_assign_request){
		.size = sizeof(assign), .directory = directory, .keep_limits = true, .hard_bytes = 1
	};
	ok(fsq_assign(&assignment, &assign, &err) == FSQ_E_USAGE, "limits to be kept, and others");
	ok(fsq_release(&release, &released, &err) == FSQ_E_CONFLICT, "release of another project");
	ok(fsq_resize(&resize, NULL, &err) == FSQ_E_CONFLICT, "resize of another project");
	resize.id = 77;
	ok(fsq_resize(&resize, NULL, &err) == 0, "resize, and nobody asks what it did");
	ok(fsq_resize(&resize, &resized, &err) == 0 && resized.id == 77 && !resized.changed &&
		   stat(directory, &st) == 0 && resized.dev == st.st_dev,
	   "the same again changes nothing, and says where");
	rmdir(directory);
	ok(fsq_release(&release, &released, &err) == FSQ_E_CONFLICT,
	   "release of another project, when the directory is gone");
	ok(fsq_release(&release, &released, NULL) == FSQ_E_CONFLICT, "and nobody asks why not");
	release.id = 77;
	ok(fsq_release(&release, &released, &err) == 0 && released.lines == 2,
	   "release of its own");
}

/* All that fsq_assigned_has() compares. */
static void test_assigned(const char *directory)
{
	struct fsq_assign_request assign = { .size = sizeof(assign),
					     .directory = directory,
					     .id = 77,
					     .name = "seven",
					     .hard_bytes = 1 << 20,
					     .hard_inodes = 100 };
	struct fsq_resize_request resize = { .size = sizeof(resize),
					     .directory = directory,
					     .soft_bytes = 1 << 19,
					     .soft_inodes = 50,
					     .hard_inodes = 200 };
	const struct fsq_release_request release = { .size = sizeof(release),
						     .directory = directory };
	struct fsq_assigned *assigned = NULL;
	struct fsq_assign_request other;
	struct fsq_assignment *assignment;
	struct fsq_released released;
	struct fsq_resized resized;
	struct fsq_error err;

	mkdir(directory, 0755);
	ok(fsq_assign(&assignment, &assign, &err) == 0, "assign with a name");
	fsq_assignment_free(assignment);
	ok(fsq_assigned_open(&assigned, &registry, &err) == 0, "what is assigned");
	ok(fsq_assigned_has(assigned, &assign), "it has what it got");
	other = assign;
	other.id = 78;
	ok(!fsq_assigned_has(assigned, &other), "another ID");
	other = assign;
	other.name = "eight";
	ok(!fsq_assigned_has(assigned, &other), "another name");
	other = assign;
	other.hard_bytes = 1 << 21;
	ok(!fsq_assigned_has(assigned, &other), "another limit");
	other = assign;
	other.hard_percent = 10;
	ok(!fsq_assigned_has(assigned, &other), "what is relative is not known");
	other = assign;
	other.soft_percent = 10;
	ok(!fsq_assigned_has(assigned, &other), "nor is a part of it");
	other = assign;
	other.require_enforced = true;
	ok(!fsq_assigned_has(assigned, &other), "nor who is stopped");
	other = assign;
	other.keep_limits = true;
	ok(!fsq_assigned_has(assigned, &other), "limits to keep, and others");
	fsq_file_set_project(directory, 77, false, &err);
	ok(!fsq_assigned_has(assigned, &assign), "it does not hand its ID on any more");
	fsq_assigned_close(assigned);
	ok(fsq_resize(&resize, &resized, &err) == 0 && resized.after.soft[FSQ_BLOCKS] == 1024 &&
		   resized.after.hard[FSQ_BLOCKS] == 2048 && resized.after.soft[FSQ_INODES] == 50 &&
		   resized.after.hard[FSQ_INODES] == 200,
	   "limits in bytes");
	ok(fsq_release(&release, &released, &err) == 0, "release with a name");
}

/* Without lines, and when all was only foreseen. */
static void test_unregistered(const char *directory)
{
	struct fsq_registry none = registry;
	struct fsq_assign_request assign = {
		.size = sizeof(assign), .directory = directory, .dry_run = true, .registry = &none
	};
	struct fsq_release_request release = { .size = sizeof(release), .registry = &none };
	struct fsq_assignment *assignment;
	struct fsq_released released;
	struct fsq_error err;
	char path[4200];

	none.none = true;
	snprintf(path, sizeof(path), "%s/file", directory);
	close(open(path, O_WRONLY | O_CREAT, 0644));
	ok(fsq_assign(&assignment, &assign, &err) == 0 &&
		   fsq_assignment_change(assignment) == FSQ_CREATED,
	   "an ID without a line is foreseen");
	ok(fsq_assignment_rollback(assignment, &err) == 0 && has(path, 0, false) &&
		   has(directory, 0, false),
	   "and rolled back, which does nothing");
	fsq_assignment_free(assignment);
	assign.dry_run = false;
	ok(fsq_assign(&assignment, &assign, &err) == 0 &&
		   fsq_assignment_change(assignment) == FSQ_CREATED &&
		   has(path, fsq_assignment_id(assignment), false),
	   "an ID without a line");
	release.id = fsq_assignment_id(assignment);
	fsq_assignment_free(assignment);
	release.at = ".";
	ok(fsq_release(&release, &released, &err) == FSQ_E_CONFLICT,
	   "a project without a line, whose files are there");
	release.directory = directory;
	ok(fsq_release(&release, &released, &err) == 0 && has(path, 0, false), "its directory");
	unlink(path);
	release.directory = "/nothing-is-called-so";
	ok(fsq_release(&release, &released, &err) == FSQ_E_NOT_FOUND, "nothing below the root");
}

/* --- changes that are foreseen --- */

static void test_plan(void)
{
	struct fsq_limits limits = { .mask = FSQ_HARD(FSQ_INODES),
				     .hard = { [FSQ_INODES] = UINT64_MAX } },
			  would_be;
	const bool project[FSQ_TYPES] = { [FSQ_PROJECT] = true };
	const bool user[FSQ_TYPES] = { [FSQ_USER] = true };
	struct fsq_dquot before, after;
	struct fsq_state from, to;
	struct fsq_filesystem *fs;
	struct fsq_error err;
	bool is_xfs;

	ok(fsq_filesystem_open(&fs, ".", NULL, 0, &err) == 0, "open");
	is_xfs = fsq_filesystem_get_info(fs)->is_xfs;
	ok(fsq_quota_plan_limits(fs, FSQ_PROJECT, 77, &limits, &before, &after) ==
		   (is_xfs ? 0 : -ERANGE),
	   "more inodes than ext4 counts");
	limits = (struct fsq_limits){ .mask = FSQ_SOFT(FSQ_BLOCKS),
				      .soft = { [FSQ_BLOCKS] = FSQ_LIMIT_BLOCKS_MAX + 1 } };
	ok(fsq_quota_plan_limits(fs, FSQ_PROJECT, 77, &limits, &before, &after) == -ERANGE,
	   "more space than there can be");
	limits = (struct fsq_limits){ .mask = FSQ_HARD(FSQ_REALTIME),
				      .hard = { [FSQ_REALTIME] = 2048 } };
	ok(fsq_quota_plan_limits(fs, FSQ_PROJECT, 77, &limits, &before, &after) ==
		   (is_xfs ? 0 : -EINVAL),
	   "only XFS has a realtime device");
	limits.mask = FSQ_SOFT(FSQ_REALTIME);
	ok(fsq_quota_plan_limits(fs, FSQ_PROJECT, 77, &limits, &before, &after) ==
		   (is_xfs ? 0 : -EINVAL),
	   "nor is there a soft limit of it");
	limits = (struct fsq_limits){ .mask = FSQ_SOFT(FSQ_INODES) | FSQ_HARD(FSQ_INODES),
				      .soft = { [FSQ_INODES] = 2 },
				      .hard = { [FSQ_INODES] = 1 } };
	ok(fsq_quota_order_limits(fs, FSQ_PROJECT, 77, &limits, &would_be) == 1,
	   "soft above hard, of inodes");
	ok(fsq_quota_plan_switch(fs, FSQ_REMOVE, project, &from, &to) ==
		   fsq_quota_switch(fs, FSQ_REMOVE, project),
	   "remove, where quota is on");
	ok(fsq_quota_plan_switch(fs, FSQ_OFF, user, &from, &to) ==
		   fsq_quota_switch(fs, FSQ_OFF, user),
	   "off, of a type that is not counted");
	fsq_filesystem_close(fs);
}

/* --- what is left of directories --- */

static enum fsq_visit stop_at_leftover(const struct fsq_leftover *leftover, void *arg)
{
	const struct fsq_leftover **last = arg;
	static struct fsq_leftover found;

	found = *leftover;
	*last = &found;
	return FSQ_VISIT_STOP;
}

static bool is_cancelled(void *arg)
{
	(void)arg;
	return true;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void test_prune(const char *top)
{
	const struct fsq_registry own = { .size = sizeof(own),
					  .projects_file = "lines",
					  .projid_file = "names",
					  .lock_seconds = 1 };
	const struct fsq_call_options options = { .size = sizeof(options),
						  .is_cancelled = is_cancelled };
	const struct fsq_limits limits = { .mask = FSQ_HARD(FSQ_BLOCKS),
					   .hard = { [FSQ_BLOCKS] = 2048 } };
	struct fsq_registry none = own;
	struct fsq_prune_request prune = { .size = sizeof(prune),
					   .paths = &top,
					   .path_count = 1,
					   .range = { 2000000, 2000004 },
					   .dry_run = true,
					   .registry = &own };
	const struct fsq_leftover *last = NULL;
	struct fsq_filesystem *fs;
	struct fsq_error err;
	char text[4200];

	ok(fsq_filesystem_open(&fs, top, NULL, 0, &err) == 0 &&
		   fsq_quota_set_limits(fs, FSQ_PROJECT, 2000001, &limits) == 0 &&
		   fsq_quota_set_limits(fs, FSQ_PROJECT, 2000004, &limits) == 0 &&
		   fsq_quota_set_limits(fs, FSQ_PROJECT, 2000005, &limits) == 0,
	   "limits of IDs that nothing carries");
	snprintf(text, sizeof(text), "2000001:%s/gone\n2000009:%s/sub\n", top, top);
	write_file("lines", text);
	write_file("names", "nobody:2000002\n");
	ok(fsq_prune(&prune, stop_at_leftover, &last, &err) == 0 && last &&
		   last->kind == FSQ_LEFTOVER_DIRECTORY && last->id == 2000001,
	   "it ends at a directory");
	prune.options = &options;
	ok(fsq_prune(&prune, stop_at_leftover, &last, &err) == FSQ_E_FAILED && err.errnum == EINTR,
	   "it is cancelled");
	prune.options = NULL;
	snprintf(text, sizeof(text), "2000001:%s/sub\n", top);
	write_file("lines", text);
	prune.range.first = 2000002;
	last = NULL;
	ok(fsq_prune(&prune, stop_at_leftover, &last, &err) == 0 && last &&
		   last->kind == FSQ_LEFTOVER_LIMITS && last->id == 2000004,
	   "it ends at limits, and those above its range are no matter");
	none.none = true;
	prune.registry = &none;
	prune.path_count = 0;
	last = NULL;
	ok(fsq_prune(&prune, stop_at_leftover, &last, &err) == 0 && last && last->id == 2000004,
	   "it looks for limits alone");
	prune.registry = &own;
	prune.range.last = 2000003;
	last = NULL;
	ok(fsq_prune(&prune, stop_at_leftover, &last, &err) == 0 && last &&
		   last->kind == FSQ_LEFTOVER_NAME && last->id == 2000002,
	   "it ends at a name");
	fsq_filesystem_close(fs);
}

/* --- other requests --- */

static enum fsq_visit count_finding(const struct fsq_finding *finding, void *arg)
{
	(void)finding;
	return ++*(unsigned int *)arg == 1000 ? FSQ_VISIT_STOP : FSQ_VISIT_CONTINUE;
}

static void test_diagnose(void)
{
	const char *const paths[] = { "/nothing-is-called-so", "." };
	struct fsq_registry none = registry;
	const struct fsq_diagnose_request request = {
		.size = sizeof(request), .paths = paths, .path_count = 2, .registry = &none
	};
	unsigned int count = 0;
	struct fsq_error err;

	none.none = true;
	none.projects_file = "/nothing-is-called-so";
	none.projid_file = "file/below";
	ok(fsq_diagnose(&request, count_finding, &count, &err) == 0 && count > 0,
	   "what fails is told to nobody, and the rest is looked at");
	count = 999;
	ok(fsq_diagnose(&request, count_finding, &count, &err) == 0 && count == 1000,
	   "who stops it is told no more");
}

static enum fsq_visit ignore_event(const struct fsq_tree_event *event, void *arg)
{
	(void)event;
	(void)arg;
	return FSQ_VISIT_CONTINUE;
}

/* As many files as make a walk a large one. */
static void test_tree(void)
{
	struct fsq_tree_request tree = { .size = sizeof(tree),
					 .directory = "sub",
					 .id = 79,
					 .action = FSQ_TREE_SET,
					 .max_depth = FSQ_DEPTH_INFINITE,
					 .emit = ignore_event };
	uint64_t entries = 0, changed = 0;
	struct fsq_error err;
	char name[64];

	for (int i = 0; i < 1200; i++) {
		snprintf(name, sizeof(name), "sub/%d", i);
		close(open(name, O_WRONLY | O_CREAT, 0644));
	}
	tree.changed = &changed;
	ok(fsq_project_tree(&tree, &entries, &err) == 0 && changed == 1201, "a large tree");
	tree.action = FSQ_TREE_CLEAR;
	ok(fsq_project_tree(&tree, &entries, &err) == 0 && changed == 1201 &&
		   has("sub/7", 0, false),
	   "another may have its ID, too");
	tree.directory = "none";
	tree.dry_run = true;
	ok(fsq_project_tree(&tree, &entries, &err) == 0 && changed == 0,
	   "a tree that is not there is foreseen");
}

static void test_usage(void)
{
	struct fsq_usage_request request = { .size = sizeof(request), .path = "fifo" };
	struct fsq_usage usage;
	struct fsq_error err;

	ok(fsq_usage_get(&usage, &request, &err) < 0 && err.errnum == 0, "the usage of a FIFO");
	request.path = "file";
	request.walk = true;
	ok(fsq_usage_get(&usage, &request, &err) == 0 && usage.used_inodes == 1,
	   "the usage of a file");
	fsq_usage_clear(&usage);
}

static void test_words(void)
{
	struct fsq_error err = { .kind = FSQ_E_FAILED, .message = "cannot go on" };
	unsigned int number, major, minor, patch;
	char text[32];
	bool has = true;

	for (int hint = FSQ_HINT_NONE + 1; hint <= FSQ_HINT_NO_REGISTER; hint++)
		has &= fsq_hint_text((enum fsq_hint)hint) != NULL;
	ok(has && !fsq_hint_text(FSQ_HINT_NONE) &&
		   !fsq_hint_text((enum fsq_hint)(FSQ_HINT_NO_REGISTER + 1)),
	   "each hint has words");
	fsq_error_text(&err, text, sizeof(text));
	ok(strcmp(text, "cannot go on") == 0, "an error without a path");
	err = (struct fsq_error){ FSQ_E_FAILED, ENOENT, FSQ_HINT_NONE, "/p", "cannot go on" };
	fsq_error_text(&err, text, sizeof(text));
	ok(strcmp(text, "/p: cannot go on: No such file ") == 0, "a text that is cut");
	sscanf(PACKAGE_VERSION, "%u.%u.%u", &major, &minor, &patch);
	ok(strcmp(fsq_version(&number), PACKAGE_VERSION) == 0 &&
		   number == (major << 16 | minor << 8 | patch),
	   "the version");
}

static void test_nothing(void)
{
	uint32_t id;

	fsq_assignment_free(NULL);
	fsq_assigned_close(NULL);
	fsq_filesystem_close(NULL);
	fsq_warnings_close(NULL);
	fsq_cache_free(NULL);
	ok(true, "NULL is ignored");
	ok(!fsq_project_names_name(NULL, 42) && !fsq_project_names_id(NULL, "web", &id),
	   "no names have neither a name nor an ID");
}

int main(int argc, char **argv)
{
	char directory[4096];

	if (argc != 2 || chdir(argv[1]))
		return 2;
	snprintf(directory, sizeof(directory), "%s/dir", argv[1]);
	mkdir(directory, 0755);
	test_files();
	test_without_a_project();
	test_another_id(directory);
	test_assigned(directory);
	test_unregistered(directory);
	test_usage();
	test_plan();
	test_prune(argv[1]);
	test_diagnose();
	test_tree();
	test_words();
	test_nothing();
	return tap_end();
}
