/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/mounts/lookup.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"

/* Both files, and how many findings there are. */
struct registry {
	struct fsq_diagnosis *diagnosis;
	struct fsq_registered_list projects, projid;
	size_t faults;
};

static void say_of_file(struct registry *registry, const struct fsq_registered_list *list,
			struct fsq_finding finding)
{
	finding.path = list->file;
	registry->faults++;
	fsq_finding_visit(registry->diagnosis, finding);
}

/* Is a line neither an entry, for whichever program, nor a comment? */
static bool is_read_by_nobody(const struct fsq_registered_list *list, const char *text,
			      const struct fsq_project_line *line)
{
	const char *first = text + strspn(text, " \t\r");

	if (line->kind == FSQ_LINE_ENTRY)
		return list->kind == FSQ_PROJECTS && text[line->word] != '/';
	return line->kind == FSQ_LINE_OTHER && !line->takes_id && *first && *first != '#';
}

static int parse_registered_file(struct registry *registry, struct fsq_registered_list *list,
				 size_t size)
{
	char *next = list->text, *text;
	struct fsq_project_line line;
	uint64_t number = 0;
	bool is_of_zero;

	while ((text = fsq_project_line_next(list->kind, &next, list->text + size, &line))) {
		struct fsq_registered *entries;
		char *word = text + line.word, *end = word + line.length;

		number++;
		/* Other programs read another ID from the line, or one where we read none. */
		is_of_zero = fsq_project_line_is_of_zero(list->kind, &line);
		if (is_read_by_nobody(list, text, &line)) {
			say_of_file(registry, list,
				    (struct fsq_finding){ .id = FSQ_FINDING_LINE_NOT_READ,
							  .name = list->kind == FSQ_PROJECTS
									  ? "ID:/DIRECTORY"
									  : "NAME:ID",
							  .line = number,
							  .text = text });
			continue;
		}
		if (line.takes_id &&
		    (line.kind != FSQ_LINE_ENTRY || line.taken != line.id || is_of_zero))
			say_of_file(registry, list,
				    (struct fsq_finding){ .id = FSQ_FINDING_LINE_AMBIGUOUS,
							  .line = number,
							  .text = text,
							  .project = line.taken });
		if (line.kind != FSQ_LINE_ENTRY || is_of_zero)
			continue;
		entries = array_grow(list->entries, list->count, &list->capacity, sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		list->entries = entries;
		if (*end) {
			char byte = *end;

			/* The line stays as it is. */
			*end = '\0';
			word = texts_keep(&list->words, word);
			*end = byte;
		}
		if (!word)
			return -ENOMEM;
		entries[list->count++] = (struct fsq_registered){
			.word = word, .text = text, .id = line.id, .line = number
		};
	}
	return 0;
}

/* Is the file system of a file read-only? Whether the caller may write shows when something is written. */
static void check_writable(struct registry *registry, const struct fsq_registered_list *list)
{
	char *file = strdup(list->file);
	int fd = file ? open(dirname(file), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct fsq_mount mount;
	struct stat st;

	free(file);
	if (lstat(list->file, &st) == 0 && S_ISLNK(st.st_mode))
		say_of_file(registry, list,
			    (struct fsq_finding){ .id = FSQ_FINDING_REGISTRY_SYMLINK });
	if (fd < 0)
		return;
	if (fsq_mount_line_of_fd(fd, &mount) == 0) {
		bool all = fsq_options_have(mount.super_options, "ro");

		if (all || fsq_options_have(mount.options, "ro"))
			say_of_file(registry, list,
				    (struct fsq_finding){ .id = FSQ_FINDING_REGISTRY_READ_ONLY,
							  .name = mount.directory,
							  .of_mount_only = !all });
		fsq_mount_clear(&mount);
	}
	close(fd);
}

static void read_list(struct registry *registry, struct fsq_registered_list *list)
{
	size_t size;
	int rc = fsq_read_file(list->file, &list->text, &size);

	if (rc == 0)
		rc = parse_registered_file(registry, list, size);
	else if (rc == -ENOENT || rc == -ENOTDIR)
		rc = 0;
	if (rc == -ENOMEM)
		fsq_diagnosis_fail(registry->diagnosis, ENOMEM, list->file);
	else if (rc)
		say_of_file(registry, list,
			    (struct fsq_finding){ .id = FSQ_FINDING_REGISTRY_UNREADABLE,
						  .errnum = -rc });
	if (!registry->diagnosis->registry->none)
		check_writable(registry, list);
}

static int by_line(const struct fsq_registered *a, const struct fsq_registered *b)
{
	return (a->line > b->line) - (a->line < b->line);
}

static int by_word(const void *one, const void *other)
{
	struct fsq_registered *const *a = one, *const *b = other;
	int order = strcmp((*a)->word, (*b)->word);

	return order ? order : by_line(*a, *b);
}

static int by_id(const void *one, const void *other)
{
	struct fsq_registered *const *a = one, *const *b = other;

	if ((*a)->id != (*b)->id)
		return (*a)->id < (*b)->id ? -1 : 1;
	return by_line(*a, *b);
}

/* Two lines of the same word, in the order of the file. */
static void check_words_of_list(struct registry *registry, const struct fsq_registered_list *list,
				struct fsq_registered *first, struct fsq_registered *second)
{
	bool same = first->id == second->id;

	if (strcmp(first->word, second->word) != 0)
		return;
	first->twice |= !same;
	second->twice |= !same;
	say_of_file(registry, list,
		    (struct fsq_finding){
			    .id = same			       ? FSQ_FINDING_LINE_TWICE
				  : list->kind == FSQ_PROJECTS ? FSQ_FINDING_DIRECTORY_TWICE
							       : FSQ_FINDING_NAME_TWICE,
			    .name = second->word,
			    .other_name = first->text,
			    .project = first->id,
			    .other = second->id,
			    .line = second->line,
			    .text = second->text,
		    });
}

/* Are two directories on two filesystems, by their names? The ID of one has nothing to do with that of the other. */
static bool are_apart(struct registry *registry, const char *one, const char *other)
{
	const struct fsq_mount_points *points = fsq_diagnosis_mounts(registry->diagnosis);
	dev_t dev = 0, other_dev = 0;

	if (points) {
		fsq_lookup_known(points, one, &dev);
		fsq_lookup_known(points, other, &other_dev);
	}
	return dev && other_dev && dev != other_dev;
}

static void check_ids(struct registry *registry, const struct fsq_registered_list *list,
		      struct fsq_registered *first, struct fsq_registered *second)
{
	if (first->id != second->id || strcmp(first->word, second->word) == 0)
		return;
	first->shared = second->shared = true;
	say_of_file(registry, list,
		    (struct fsq_finding){
			    .id = list->kind == FSQ_PROJECTS ? FSQ_FINDING_ID_SHARED
							     : FSQ_FINDING_ID_WITH_TWO_NAMES,
			    .name = first->word,
			    .other_name = second->word,
			    .project = second->id,
			    .line = second->line,
			    .text = second->text,
			    .in_doubt = list->kind == FSQ_PROJECTS &&
					are_apart(registry, first->word, second->word),
		    });
}

static void check_list(struct registry *registry, struct fsq_registered_list *list)
{
	struct fsq_registered **sorted;

	registry->faults = 0;
	read_list(registry, list);
	sorted = reallocarray(NULL, list->count + 1, sizeof(*sorted));
	if (!sorted) {
		fsq_diagnosis_fail(registry->diagnosis, ENOMEM, list->file);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->entries[i];
	array_sort(sorted, list->count, sizeof(*sorted), by_word);
	for (size_t i = 1; i < list->count; i++)
		check_words_of_list(registry, list, sorted[i - 1], sorted[i]);
	array_sort(sorted, list->count, sizeof(*sorted), by_id);
	for (size_t i = 1; i < list->count; i++)
		check_ids(registry, list, sorted[i - 1], sorted[i]);
	free(sorted);
	if (registry->faults == 0)
		fsq_finding_visit(registry->diagnosis,
				  (struct fsq_finding){ .id = FSQ_FINDING_REGISTRY,
							.path = list->file,
							.count = list->count });
}

void fsq_diagnose_registry(struct fsq_diagnosis *diagnosis)
{
	struct registry registry = {
		.diagnosis = diagnosis,
		.projects = { .file = diagnosis->registry->projects_file, .kind = FSQ_PROJECTS },
		.projid = { .file = diagnosis->registry->projid_file, .kind = FSQ_PROJID },
	};

	check_list(&registry, &registry.projects);
	check_list(&registry, &registry.projid);
	if (!fsq_diagnosis_is_over(diagnosis))
		fsq_diagnose_trees(diagnosis, &registry.projects);
	texts_free(&registry.projects.words);
	texts_free(&registry.projid.words);
	free(registry.projects.text);
	free(registry.projects.entries);
	free(registry.projid.text);
	free(registry.projid.entries);
}
