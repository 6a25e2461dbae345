/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/projects and /etc/projid: every reader sees the same entries, and what is added and taken away
 * again leaves them as they were.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "quota/fsquota.h"
#include "quota/registry/entries.h"
#include "quota/registry/project_line.h"
#include "quota/registry/project_list.h"

struct entries {
	char *text;
	size_t size;
	FILE *to;
};

static enum fsq_visit add(uint32_t id, const char *word, void *arg)
{
	struct entries *entries = arg;

	fprintf(entries->to, "%u:%s\n", id, word);
	return FSQ_VISIT_CONTINUE;
}

/* As readers without a lock see them. */
static struct entries read_entries(enum fsq_project_file kind, const char *file)
{
	struct fsq_project_names *names;
	struct entries entries = { 0 };
	struct fsq_error err;

	entries.to = open_memstream(&entries.text, &entries.size);
	MUST(entries.to);
	if (kind == FSQ_PROJECTS) {
		MUST(fsq_projects_each(file, add, &entries, &err) == 0);
	} else {
		MUST(fsq_project_names_read(&names, file, &err) == 0);
		fsq_project_names_each(names, add, &entries);
		fsq_project_names_free(names);
	}
	fclose(entries.to);
	return entries;
}

static void check_same(enum fsq_project_file kind, const char *file, const struct entries *before)
{
	struct entries now = read_entries(kind, file);

	MUST(strcmp(now.text, before->text) == 0);
	free(now.text);
}

/* One is there once more, and then it is not. */
static void check_edit(enum fsq_project_file kind, const char *file)
{
	static const char *const words[] = { "/fuzz/directory", "fuzzname" };
	const struct fsq_lock_wait wait = { 0 };
	struct fsq_project_list list = { .kind = kind, .file.path = file };
	const struct fsq_project_list none = { 0 };
	struct fsq_id_set ids = { 0 };
	struct entries before = read_entries(kind, file);
	const char *word = words[kind];

	if (fsq_project_list_open(&list, true, &wait, NULL, NULL) == 0) {
		if (!fsq_project_list_find(&list, word) &&
		    fsq_project_list_add(&list, 4000000000, word) == 0) {
			MUST(fsq_project_list_find(&list, word));
			fsq_project_list_rollback_added(&list);
			MUST(!fsq_project_list_find(&list, word));
			check_same(kind, file, &before);
			MUST(fsq_project_list_add(&list, 4000000000, word) == 0);
			MUST(fsq_project_list_retire(&list, 4000000000, word) == 0);
			check_same(kind, file, &before);
		}
		fsq_project_list_settle(&list, &none, &ids);
		check_same(kind, file, &before);
		fsq_project_list_free(&list);
	}
	free(ids.ids);
	free(before.text);
}

/* What is taken apart in a hurry is what it is. */
static void check_plain(enum fsq_project_file kind, const char *text, const char *end)
{
	struct fsq_project_line plain, line;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = fsq_project_line_parse_plain(kind, text, end, &plain);

		if (length) {
			MUST(text + length - 1 == newline);
			fsq_project_line_parse(kind, text, length - 1, &line);
			MUST(line.kind == FSQ_LINE_ENTRY && line.takes_id && line.taken == line.id);
			MUST(plain.kind == line.kind && plain.id == line.id && line.id != 0);
			MUST(plain.word == line.word && plain.length == line.length);
		}
		text = newline ? newline + 1 : end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char file[64];
	int fd;

	if (!file[0])
		snprintf(file, sizeof(file), "/dev/shm/fsquota-fuzz.%d", (int)getpid());
	for (enum fsq_project_file kind = FSQ_PROJECTS; kind <= FSQ_PROJID; kind++) {
		fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
		close(fd);
		check_edit(kind, file);
		check_plain(kind, (const char *)data, (const char *)data + size);
	}
	unlink(file);
	return 0;
}
