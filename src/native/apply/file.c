/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/budgets.h"
#include "native/cli/options.h"
#include "native/cli/request.h"
#include "quota/base/path.h"
#include "quota/limits/limits.h"
#include "quota/mounts/lookup.h"
#include "quota/mounts/mount_table.h"
#include "shared/array.h"
#include "shared/read_file.h"
#include "shared/sort.h"

#define BLANKS " \t\r"

/* The line being read. */
struct line {
	struct session *session;
	struct apply_list *list;
	struct word_origin origin;
	const struct apply_entry *pattern; /* that is expanded */
	bool good;
};

/* Report what is wrong with a line. @return  false */
#define refuse(line, ...) assign_refuse((line)->session, &(line)->origin, __VA_ARGS__)

/* @return  a copy that is freed with the list; NULL without memory, which was reported */
static char *keep_text(struct session *session, struct texts *texts, const char *text)
{
	char *kept = text ? texts_keep(texts, text) : NULL;

	if (!kept)
		session_no_memory(session);
	return kept;
}

static bool add_entry(struct apply_entries *entries, const struct apply_entry *entry)
{
	return array_add(&entries->list, &entries->count, &entries->capacity, entry,
			 sizeof(*entry));
}

/* --- words --- */

/*
 * Take the character behind a backslash, or the byte that three digits there are.
 *
 * @from     where that is; set to the last letter of it
 */
static char take_escaped(char **from)
{
	const char *at = *from;

	if (at[0] < '0' || at[0] > '3' || strspn(at, "01234567") < 3)
		return *at;
	*from += 2;
	return (char)((at[0] - '0') << 6 | (at[1] - '0') << 3 | (at[2] - '0'));
}

/* What is in a word without quotes. */
struct signs {
	bool pattern; /* a *, ? or [ */
	bool shell;   /* a { or $, which only a shell replaces */
};

/*
 * Take the next word: up to a blank; in double quotes, or from $' to ', blanks belong to it, and behind a backslash
 * any character. Quotes and backslashes are removed.
 *
 * @rest     where to look; set behind the word
 * @pattern  for the word as fnmatch(3) wants it, as long as the line and once more; or NULL
 * @signs    set
 * @return   the word, NULL at the end; with @rest NULL a quote is not closed, or has a byte that no word can have
 */
static char *next_word(char **rest, char *pattern, struct signs *signs)
{
	char *from = *rest + strspn(*rest, BLANKS), *word = from, *to = from;
	const bool octal = strncmp(from, "$'", 2) == 0;
	char quote = octal ? '\'' : '\0'; /* that ends the quoted part */
	bool bad = false;

	*signs = (struct signs){ 0 };
	if (!*from)
		return NULL;
	for (from += octal ? 2 : 0; *from && (quote || !strchr(BLANKS, *from)); from++) {
		bool plain = !quote;
		char byte = *from;

		if (byte == quote || (!quote && byte == '"')) {
			quote = quote ? '\0' : '"';
			continue;
		}
		if (byte == '\\' && from[1]) {
			from++;
			byte = take_escaped(&from);
			plain = false;
		}
		bad |= byte == '\0' || byte == '\n';
		signs->pattern |= plain && strchr("*?[", byte);
		signs->shell |= plain && strchr("{$", byte);
		if (pattern && !plain && byte && strchr("*?[\\", byte))
			*pattern++ = '\\';
		if (pattern)
			*pattern++ = byte;
		*to++ = byte;
	}
	if (pattern)
		*pattern = '\0';
	*rest = quote || bad ? NULL : from + (*from != '\0');
	*to = '\0';
	return word;
}

static bool is_budget(const char *word)
{
	return strcmp(word, "budget") == 0 || strcmp(word, "overcommit") == 0;
}

static bool take_budget_word(struct line *line, const char *path, const char *word,
			     const char *value)
{
	int rc = budgets_add(line->session, word, path, value);

	if (rc == -ENOMEM)
		return session_no_memory(line->session);
	return rc == 0 || refuse(line, "%s=%.100s is no %s", word, value ? value : "",
				 word[0] == 'b' ? "budget, such as budget=1T"
						: "overcommit, such as overcommit=120%");
}

static bool is_grace(const char *word)
{
	return strcmp(word, "grace") == 0 || strcmp(word, "grace-inodes") == 0;
}

/* The kernel keeps 32 bits. */
static bool take_grace_word(struct line *line, const char *word, const char *value,
			    struct fsq_timers *grace)
{
	const enum fsq_form form = strcmp(word, "grace") == 0 ? FSQ_BLOCKS : FSQ_INODES;
	uint64_t seconds;

	if (!value || !options_parse_duration(value, &seconds) || seconds > UINT32_MAX)
		return refuse(line, "%s=%.100s is no time, such as %s=7d", word, value ? value : "",
			      word);
	grace->seconds[form] = (int64_t)seconds;
	return grace->set[form] = true;
}

/* A line is the whole truth: what it does not say is none, or stays with the word keep. */
static bool complete(struct line *line, struct fsq_assign_request *request, bool keep)
{
	const unsigned int asked = request->limits.mask;

	if (keep && request->unlimited)
		return refuse(line, "keep does not go with unlimited");
	if (keep || request->unlimited)
		return true;
	if (request->soft_percent && !request->hard_percent &&
	    (!(asked & FSQ_HARD(FSQ_BLOCKS)) || !request->limits.hard[FSQ_BLOCKS]))
		return refuse(line, "soft=%u%% is a part of the hard limit, and there is none",
			      request->soft_percent);
	for (int form = FSQ_BLOCKS; form <= FSQ_INODES; form++) {
		if (form != FSQ_BLOCKS || !request->soft_percent)
			request->limits.mask |= FSQ_SOFT(form);
		if (form != FSQ_BLOCKS || !request->hard_percent)
			request->limits.mask |= FSQ_HARD(form);
	}
	return true;
}

/* Is it "hard = 10G", "hard =10G" or "hard= 10G"? */
static bool has_blanks_around(const char *word, const char *value, const char *rest)
{
	const char next = rest[strspn(rest, BLANKS)];

	return *word && (value ? !*value && next && next != '#' : next == '=');
}

/*
 * The words behind the path.
 *
 * @entry    gets them
 * @assigns  set: there is one about the directory itself, or none at all
 */
static bool take_words(struct line *line, const char *path, char *rest, struct apply_entry *entry,
		       bool *assigns)
{
	struct fsq_assign_request *request = &entry->request;
	struct fsq_timers *grace = &entry->grace;
	struct signs unused;
	bool other = false, keep = false;
	const char *seen[16]; /* more than there are keys */
	size_t count = 0;
	char *word;

	/* A comment may follow. */
	while (rest[strspn(rest, BLANKS)] != '#' && (word = next_word(&rest, NULL, &unused))) {
		char *value = strchr(word, '=');

		if (!rest)
			return refuse(line, "a quote is not closed");
		if (value)
			*value++ = '\0';
		if (has_blanks_around(word, value, rest))
			return refuse(line, "no blanks around \"=\": write %.100s=VALUE", word);
		if (line->list->reads == APPLY_BUDGETS && !is_budget(word))
			continue;
		for (size_t i = 0; i < count; i++) {
			if (strcmp(seen[i], word) == 0)
				return refuse(line, "%.100s is given twice", word);
		}
		if (count < sizeof(seen) / sizeof(*seen))
			seen[count++] = word;
		other |= !is_budget(word) && !is_grace(word);
		if (is_budget(word)) {
			if (line->list->reads != APPLY_AS_WRITTEN &&
			    !take_budget_word(line, path, word, value))
				return false;
			continue;
		}
		if (is_grace(word)) {
			if (!take_grace_word(line, word, value, grace))
				return false;
			continue;
		}
		/* Whose it is may take long to look up. */
		if (line->list->reads == APPLY_AS_WRITTEN && strcmp(word, "owner") == 0)
			continue;
		if (strcmp(word, "keep") == 0 && !value) {
			keep = true;
			continue;
		}
		if (strcmp(word, "registered") == 0 && !value) {
			entry->registered = true;
			continue;
		}
		if (!assign_request_set(line->session, &line->origin, request, word, value))
			return false;
	}
	if (grace->set[FSQ_BLOCKS] && !grace->set[FSQ_INODES]) {
		grace->seconds[FSQ_INODES] = grace->seconds[FSQ_BLOCKS];
		grace->set[FSQ_INODES] = true;
	}
	if (entry->registered && request->make)
		return refuse(line, "registered does not go with mkdir");
	*assigns = line->list->reads != APPLY_BUDGETS && (other || count == 0);
	return !*assigns || (assign_request_check(line->session, &line->origin, request) &&
			     complete(line, request, keep));
}

/* --- lines --- */

/*
 * A directory could not be looked at: a failure of that one, while all others get theirs. --prune releases nothing that
 * a pattern matches, found or not.
 *
 * @path     it, or the pattern
 */
static void fail_to_look(struct line *line, const char *path, int errnum)
{
	if (errnum == ENOMEM)
		line->good = session_no_memory(line->session);
	else if (reported_add(line->list->reported, path))
		session_errno(line->session, 0, errnum, path,
			      "%s, line %u: cannot find all directories of %s", line->origin.file,
			      line->origin.line, path);
}

/* A directory that the pattern matches. @return  whether the pattern was expanded so far */
static enum fsq_visit take_match(const struct fsq_match *match, void *arg)
{
	struct line *line = arg;
	const char *path = match->path, *name = match->name;
	const int errnum = match->errnum;
	struct apply_entry entry = *line->pattern;

	if (line->list->looked_in && errnum != EXDEV && (errnum || !name))
		line->list->looked_in(path, match->parent, errnum, line->list->looker);
	if (errnum && errnum != EXDEV) {
		fail_to_look(line, path, errnum);
	} else if (name && (errnum || strchr(path, '\n'))) {
		if (reported_add(line->list->reported, path))
			session_warn(line->session, path,
				     errnum ? "is passed over: a pattern does not match what is "
					      "mounted below it"
					    : "is passed over: there is a newline in its name");
	} else if (name) {
		entry.request.directory = keep_text(line->session, &line->list->matches, path);
		entry.dev = match->dev;
		entry.ino = match->ino;
		line->good =
			entry.request.directory && (add_entry(&line->list->directories, &entry) ||
						    session_no_memory(line->session));
	}
	return line->good ? FSQ_VISIT_CONTINUE : FSQ_VISIT_STOP;
}

/* Add the directories that a pattern matches. @only  as of fsq_lookup_each() */
static void expand_pattern(struct line *line, const struct apply_entry *pattern, const char *only)
{
	const struct fsq_mount_points *points = session_mounts(line->session);
	struct fsq_error err;
	int rc = 0;

	line->good &= points != NULL;
	line->pattern = pattern;
	if (points)
		rc = fsq_lookup_each(points, pattern->pattern, only, take_match, line, &err);
	if (rc && line->list->looked_in)
		line->list->looked_in(pattern->pattern, -1, -rc, line->list->looker);
	if (rc)
		fail_to_look(line, pattern->pattern, -rc);
	else
		reported_remove(line->list->reported, pattern->pattern);
}

static void take_pattern(struct line *line, const char *written, struct apply_entry *entry)
{
	const struct fsq_mount_points *points = session_mounts(line->session);
	struct apply_list *list = line->list;
	/* As paths of what it matches are spelled. */
	char *spelled = points ? fsq_lookup_pattern(points, written) : strdup(written);

	entry->request.directory = NULL;
	entry->pattern = keep_text(line->session, &list->texts, spelled);
	free(spelled);
	line->good = entry->pattern &&
		     (add_entry(&list->patterns, entry) || session_no_memory(line->session));
	if (line->good && list->reads == APPLY_ALL)
		expand_pattern(line, entry, NULL);
}

static bool is_clean(char *path)
{
	size_t length = strlen(path);
	const char *last;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	last = strrchr(path, '/');
	return path[0] == '/' && !strstr(path, "//") && !strstr(path, "/./") &&
	       !strstr(path, "/../") && strcmp(last, "/.") != 0 && strcmp(last, "/..") != 0;
}

static void take_entry_line(struct line *line, char *text)
{
	struct apply_entry entry = { .request = { .size = sizeof(entry.request),
						  .range = line->session->range },
				     .file = line->origin.file,
				     .line = line->origin.line };
	const struct fsq_assign_request *request = &entry.request;
	const bool is_plain = text[strspn(text, BLANKS)] == '/';
	char *rest = text, *path, *end, *pattern, *limit;
	uint64_t bytes;
	size_t budgets = line->session->budget_count;
	struct signs signs;
	bool assigns = false;

	if (line->list->reads == APPLY_BUDGETS && !strstr(text, "budget") &&
	    !strstr(text, "overcommit"))
		return;
	pattern = malloc(2 * strlen(text) + 1);
	if (!pattern) {
		session_errno(line->session, 0, ENOMEM, line->origin.file, "cannot go on");
		line->good = false;
		return;
	}
	path = next_word(&rest, pattern, &signs);
	if (!path || path[0] == '#')
		goto out;
	end = path + strlen(path);
	limit = strrchr(path, '=');
	if (is_plain && rest && !rest[strspn(rest, BLANKS)] && limit &&
	    fsq_parse_bytes(limit + 1, &bytes) == 0)
		line->good = refuse(line, "a path and its limit are two words: %.*s hard=%.100s",
				    (int)(limit - path), path, limit + 1);
	else if (!rest)
		line->good = refuse(line, "a quote is not closed, or has \\000 or \\012 in it");
	else if (config_is_key(path))
		line->good = refuse(line, "this is a setting: it belongs in " FSQ_CONFIG_FILE);
	else if (!is_clean(path))
		line->good = refuse(
			line,
			path[0] == '/'
				? "there are no empty parts, . and .. in a path: %.100s"
				: "a line is a path and its limits, such as /srv/web "
				  "hard=10G, not \"%.100s\"; fsquota export prints such lines "
				  "(of dump: fsquota restore)",
			path);
	/* Of a name in quotes there is more than what is left of it. */
	else if (end[-1] == ':' && rest <= end + 1)
		line->good = refuse(line,
				    "a path has no colon behind it, as in /srv/web hard=10G; a "
				    "name that ends in "
				    "one takes quotes: "
				    "\"%.100s\"",
				    path);
	else if (signs.shell || (signs.pattern && strstr(pattern, "**")))
		line->good = refuse(line,
				    "only *, ? and [...] make a pattern, and each stands for "
				    "one part of the path; {, $ and ** of a name take quotes: "
				    "\"%.100s\"",
				    path);
	else
		line->good = take_words(line, path, rest, &entry, &assigns);
	if (line->good && signs.pattern && line->session->budget_count > budgets)
		line->good = refuse(line, "a pattern does not go with budget and overcommit");
	if (line->good && signs.pattern && entry.grace.set[FSQ_INODES])
		line->good = refuse(line, "a pattern does not go with grace and grace-inodes: put "
					  "them on the line of the mount point");
	entry.request.directory = path;
	if (line->good && entry.grace.set[FSQ_INODES])
		line->good =
			add_entry(&line->list->graces, &entry) || session_no_memory(line->session);
	if (!assigns)
		goto out;
	if (line->good && signs.pattern &&
	    (request->make || request->id || request->name || entry.registered))
		line->good = refuse(
			line,
			"mkdir, id, name and registered are for one directory, not for a pattern");
	if (line->good && signs.pattern)
		take_pattern(line, pattern, &entry);
	else if (line->good)
		line->good = add_entry(&line->list->directories, &entry) ||
			     session_no_memory(line->session);
out:
	free(pattern);
}

/* --- files --- */

bool apply_list_parse(struct session *session, struct apply_list *list,
		      const struct apply_text *text)
{
	const bool is_input = strcmp(text->file, "-") == 0;
	char *file = keep_text(session, &list->texts, is_input ? "standard input" : text->file);
	char *rest = keep_text(session, &list->texts, text->text), *end, *next;
	struct line line = { .session = session, .list = list };
	bool good = true;

	if (!file || !rest)
		return false;
	line.origin.file = file;
	line.origin.reported = list->wrong;
	if (strlen(text->text) < text->length) {
		if (reported_add(list->wrong, file))
			session_usage_error(session, "%s: there is a NUL byte in it", file);
		return false;
	}
	end = rest + text->length;
	while ((next = fsq_next_line(&rest, end))) {
		line.origin.line++;
		line.good = true;
		if (rest == end && text->text[text->length - 1] != '\n' && list->reads != APPLY_ALL)
			break;
		/* Whoever writes it may have written a part of it only: hard=1 instead of hard=10G. */
		if (rest == end && text->text[text->length - 1] != '\n')
			line.good = refuse(
				&line,
				"there is no newline at its end, so it may be a part of a line");
		else
			take_entry_line(&line, next);
		good &= line.good;
	}
	return good;
}

/* --- conflicts --- */

static int compare_paths_of_entries(const void *one, const void *other)
{
	const struct apply_entry *a = *(struct apply_entry *const *)one;
	const struct apply_entry *b = *(struct apply_entry *const *)other;

	/* A written path before those of patterns; each in the order of the files. */
	return strcmp(a->request.directory, b->request.directory) ?:
		       !!a->pattern - !!b->pattern ?: (a > b) - (a < b);
}

static bool is_same_path(const struct apply_entry *one, const struct apply_entry *other)
{
	return strcmp(one->request.directory, other->request.directory) == 0;
}

static int compare_entries_by_identity(const void *one, const void *other)
{
	const struct apply_entry *a = *(struct apply_entry *const *)one;
	const struct apply_entry *b = *(struct apply_entry *const *)other;

	return compare_numbers(a->dev, b->dev) ?: compare_numbers(a->ino, b->ino) ?:
		       !!a->pattern - !!b->pattern ?: (a > b) - (a < b);
}

static bool is_same_directory(const struct apply_entry *one, const struct apply_entry *other)
{
	return one->ino && one->ino == other->ino && one->dev == other->dev;
}

/*
 * Two lines of one file have met in a directory. Whoever makes directories has a hand in that, so it is a failure of that
 * one; until the file is right it gets what the later line says.
 */
static void fail_twice(struct session *session, const struct apply_list *list,
		       const struct apply_entry *one, const struct apply_entry *other)
{
	const bool is_same = is_same_path(one, other);
	char why[3 * PATH_MAX];

	snprintf(why, sizeof(why), "%s, line %u: %s is in line %u, too%s%s: line %u applies",
		 other->file, other->line, other->request.directory, one->line,
		 is_same ? "" : ", as ", is_same ? "" : one->request.directory, other->line);
	if (reported_add(list->reported, why))
		session_error(session, 0, FSQ_E_CONFLICT, 0, other->request.directory, "%s", why);
}

/* Of @entries of the list; those that are overridden have no directory afterwards. */
static bool
settle_conflicts(struct session *session, const struct apply_list *list,
		 struct apply_entries *entries, int (*order)(const void *, const void *),
		 bool (*is_same)(const struct apply_entry *, const struct apply_entry *))
{
	struct apply_entry **sorted = reallocarray(NULL, entries->count + 1, sizeof(*sorted));
	size_t count = 0;
	bool good = true;

	if (!sorted)
		return session_no_memory(session);
	for (; count < entries->count; count++)
		sorted[count] = &entries->list[count];
	array_sort(sorted, count, sizeof(*sorted), order);
	for (size_t i = 1, last = 0; i < count; last = i++) {
		struct apply_entry *one = sorted[last], *other = sorted[i];
		const struct word_origin origin = { other->file, other->line, list->wrong };

		if (!is_same(one, other))
			continue;
		/* It was renamed while its names were read. */
		if (one->pattern && one->pattern == other->pattern)
			continue;
		if (!one->pattern != !other->pattern) {
			/* What is written counts, wherever it is. */
			other->request.directory = NULL;
			sorted[i] = one;
		} else if (strcmp(one->file, other->file) != 0) {
			other->instead_of = one->file;
			other->instead_of_line = one->line;
			one->request.directory = NULL;
		} else if (!other->pattern && is_same_path(one, other)) {
			good = assign_refuse(session, &origin, "%s is in %s, line %u, too",
					     other->request.directory, one->file, one->line);
		} else {
			fail_twice(session, list, one, other);
			one->request.directory = NULL;
		}
	}
	free(sorted);
	return good;
}

static int compare_names_of_entries(const void *one, const void *other)
{
	const struct apply_entry *a = *(struct apply_entry *const *)one;
	const struct apply_entry *b = *(struct apply_entry *const *)other;

	return strcmp(a->request.name, b->request.name) ?: (a > b) - (a < b);
}

static bool has_same_limits(const struct fsq_assign_request *one,
			    const struct fsq_assign_request *other)
{
	return one->unlimited == other->unlimited && one->hard_percent == other->hard_percent &&
	       one->soft_percent == other->soft_percent &&
	       fsq_limits_are_same(&one->limits, &other->limits) &&
	       one->limits.mask == other->limits.mask;
}

/* Two lines of one project would set its limits in turn. */
static bool check_projects(struct session *session, struct apply_list *list)
{
	const struct apply_entries *entries = &list->directories;
	struct apply_entry **named = reallocarray(NULL, entries->count + 1, sizeof(*named));
	size_t count = 0;
	bool good = true;

	if (!named)
		return session_no_memory(session);
	for (size_t i = 0; i < entries->count; i++)
		if (entries->list[i].request.name)
			named[count++] = &entries->list[i];
	array_sort(named, count, sizeof(*named), compare_names_of_entries);
	for (size_t i = 1; i < count; i++) {
		const struct apply_entry *one = named[i - 1], *other = named[i];
		const struct word_origin origin = { other->file, other->line, list->wrong };

		if (strcmp(one->request.name, other->request.name) == 0 &&
		    !has_same_limits(&one->request, &other->request))
			good = assign_refuse(
				session, &origin,
				"name=%.100s is in %s, line %u, too, with other limits: "
				"the directories of a project share them",
				other->request.name, one->file, one->line);
	}
	free(named);
	return good;
}

static void drop_overridden(struct apply_entries *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < entries->count; i++)
		if (entries->list[i].request.directory)
			entries->list[kept++] = entries->list[i];
	entries->count = kept;
}

bool apply_list_settle(struct session *session, struct apply_list *list)
{
	bool good = settle_conflicts(session, list, &list->directories, compare_paths_of_entries,
				     is_same_path);

	good &= settle_conflicts(session, list, &list->graces, compare_paths_of_entries,
				 is_same_path);
	drop_overridden(&list->directories);
	drop_overridden(&list->graces);
	return check_projects(session, list) && good;
}

bool apply_list_identify(struct session *session, struct apply_list *list)
{
	const struct fsq_mount_points *points = session_mounts(session);

	if (list->identified || !points)
		return points != NULL;
	list->identified = true;
	for (size_t i = 0; i < list->directories.count; i++) {
		struct apply_entry *entry = &list->directories.list[i];
		struct stat st;

		if (entry->ino ||
		    fsq_lookup_stat(points, entry->request.directory, O_NOFOLLOW, &st, NULL))
			continue;
		entry->dev = st.st_dev;
		entry->ino = st.st_ino;
	}
	return settle_conflicts(session, list, &list->directories, compare_entries_by_identity,
				is_same_directory);
}

static int compare_entries_by_filesystem(const void *one, const void *other)
{
	const struct apply_entry *a = *(struct apply_entry *const *)one;
	const struct apply_entry *b = *(struct apply_entry *const *)other;

	return compare_numbers(a->dev, b->dev) ?: (a > b) - (a < b);
}

static bool is_same_filesystem(const struct apply_entry *one, const struct apply_entry *other)
{
	return one->dev && one->dev == other->dev;
}

bool apply_list_identify_graces(struct session *session, struct apply_list *list)
{
	const struct fsq_mount_points *points = session_mounts(session);
	bool good;

	for (size_t i = 0; i < list->graces.count && points; i++) {
		struct apply_entry *entry = &list->graces.list[i];
		char *real = fsq_lookup_spelling(points, entry->request.directory);
		const struct fsq_mount *mount = real ? fsq_mount_points_get(points, real) : NULL;

		/* What is no mount point fails alone. */
		entry->dev = mount && strcmp(mount->directory, real) == 0 ? mount->dev : 0;
		free(real);
	}
	good = points && settle_conflicts(session, list, &list->graces,
					  compare_entries_by_filesystem, is_same_filesystem);
	drop_overridden(&list->graces);
	return good;
}

/* --- a part of the directories --- */

bool apply_list_locate(struct session *session, struct apply_list *list)
{
	const struct fsq_mount_points *points = session_mounts(session);

	for (size_t i = 0; i < list->directories.count && points && !list->located; i++) {
		struct apply_entry *entry = &list->directories.list[i];
		const char *known;
		dev_t dev;

		if (entry->pattern || !entry->request.directory || entry->real)
			continue;
		/* One whose way cannot be looked at fails anyway. */
		known = fsq_lookup_known(points, entry->request.directory, &dev);
		entry->real = known ? strdup(known) : NULL;
		if (!entry->real)
			return false;
	}
	list->located = points != NULL;
	return list->located;
}

bool apply_list_rest(struct session *session, struct apply_list *list)
{
	struct apply_entries *entries = &list->directories;
	struct apply_entry *smaller;
	size_t kept = 0;

	for (size_t i = 0; i < entries->count; i++) {
		if (!entries->list[i].pattern && entries->list[i].request.directory)
			entries->list[kept++] = entries->list[i];
		else
			free(entries->list[i].real);
	}
	entries->count = kept;
	smaller = reallocarray(entries->list, kept + 1, sizeof(*smaller));
	if (smaller) {
		entries->list = smaller;
		entries->capacity = kept + 1;
	}
	texts_free(&list->matches);
	list->matches = (struct texts){ 0 };
	return apply_list_locate(session, list);
}

/* Add what is written of a directory, and not what was found of it. */
static bool add_anew(struct apply_list *some, const struct apply_entry *entry)
{
	struct apply_entry copy = *entry;

	copy.real = NULL;
	copy.ino = 0;
	return add_entry(&some->directories, &copy);
}

bool apply_list_registered(struct session *session, const struct apply_list *list,
			   struct apply_list *some)
{
	bool good = true;

	for (size_t i = 0; i < list->directories.count && good; i++) {
		const struct apply_entry *entry = &list->directories.list[i];

		if (entry->registered && entry->request.directory)
			good = add_anew(some, entry);
	}
	return good || session_no_memory(session);
}

/* May a pattern match a path, or something below it? */
static bool may_reach(const char *pattern, const char *path)
{
	char parts[2 * PATH_MAX];
	const char *end = pattern;

	/* As many parts of the pattern as the path has. */
	for (const char *part = path; *part; part++)
		if (*part == '/')
			end = *end ? strchrnul(end + 1, '/') : end + 1;
	if (end > strchr(pattern, '\0') || (size_t)(end - pattern) >= sizeof(parts))
		return false;
	*(char *)mempcpy(parts, pattern, (size_t)(end - pattern)) = '\0';
	return fnmatch(parts, path, FNM_PATHNAME | FNM_PERIOD) == 0;
}

/*
 * May a line name one of the directories by another path? Both are without symlinks, so only by another mount of the
 * same filesystem.
 */
static bool is_named_elsewhere(struct session *session, const struct apply_list *list,
			       const struct apply_list *some)
{
	const struct fsq_mount_points *points = session_mounts(session);

	for (size_t i = 0; points && i < some->directories.count; i++) {
		const struct apply_entry *entry = &some->directories.list[i];
		const char *path = entry->request.directory;
		const struct fsq_mount *mount = fsq_mount_points_get(points, path);

		for (size_t k = 0; entry->pattern && k < list->directories.count; k++) {
			const char *real = list->directories.list[k].real;
			const struct fsq_mount *other;

			if (!real || strcmp(strrchr(real, '/'), strrchr(path, '/')) != 0)
				continue;
			other = fsq_mount_points_get(points, real);
			if (mount && other && mount != other && mount->dev == other->dev)
				return true;
		}
	}
	return !points;
}

bool apply_list_reach(struct session *session, const struct apply_list *list, const char *path,
		      struct apply_list *some)
{
	struct line line = { .session = session, .list = some, .good = true };

	for (size_t i = 0; i < list->directories.count && line.good; i++) {
		const struct apply_entry *entry = &list->directories.list[i];

		if (entry->real && fsq_path_below(path, entry->real, strlen(entry->real)))
			line.good = add_anew(some, entry);
	}
	for (size_t i = 0; i < list->patterns.count && line.good; i++) {
		const struct apply_entry *pattern = &list->patterns.list[i];

		line.origin = (struct word_origin){ pattern->file, pattern->line, some->wrong };
		if (may_reach(pattern->pattern, path))
			expand_pattern(&line, pattern, path);
	}
	return line.good && apply_list_settle(session, some) &&
	       !is_named_elsewhere(session, list, some);
}

/* --- budgets alone --- */

bool apply_read_budgets(struct session *session)
{
	/* A caller who may not read the files does not set limits either. */
	const struct apply_reading reading = { .forgiving = true, .as_it_is = true };
	struct apply_list list = { .reads = APPLY_BUDGETS };
	struct apply_texts texts = { 0 };
	bool good;

	session->no_lines = access(APPLY_DIRECTORY, F_OK) != 0;
	good = session->no_lines || apply_texts_read(session, &texts, APPLY_DIRECTORY, &reading);

	for (size_t i = 0; i < texts.count; i++)
		good &= apply_list_parse(session, &list, &texts.list[i]);
	apply_list_free(&list);
	apply_texts_free(&texts);
	return good;
}

/* --- the line of one directory --- */

static bool has_limits(const struct fsq_assign_request *request)
{
	return request->limits.mask || request->hard_percent || request->soft_percent ||
	       request->unlimited;
}

/*
 * Find the line that says what a directory has.
 *
 * @list     as it is written
 * @path     of the directory, without symlinks
 * @entry    filled where there is one
 * @return   whether there is
 */
static bool find_line(struct session *session, const struct apply_list *list, const char *path,
		      struct apply_entry *entry)
{
	const struct fsq_mount_points *points = session_mounts(session);
	bool found = false;

	/* The last one that names it, or else the last one that matches it. */
	for (size_t i = list->directories.count; points && !found && i--;) {
		const char *written = list->directories.list[i].request.directory;
		char *real = strcmp(strrchr(written, '/'), strrchr(path, '/')) == 0
				     ? fsq_lookup_spelling(points, written)
				     : NULL;

		found = real && strcmp(real, path) == 0;
		free(real);
		if (found)
			*entry = list->directories.list[i];
	}
	for (size_t i = list->patterns.count; !found && i--;) {
		*entry = list->patterns.list[i];
		found = fnmatch(entry->pattern, path, FNM_PATHNAME | FNM_PERIOD) == 0;
	}
	return found;
}

/*
 * Say that a line governs what has changed.
 *
 * @left    the pattern whose directory was moved away last: where it moved within that, nothing
 *          is to be said
 */
static void tell_of_line(struct session *session, const struct apply_list *list,
			 const struct changed *changed, const char **left)
{
	struct apply_entry entry = { 0 };
	char *real = fsq_lookup_gone(NULL, changed->path);
	bool found;

	session->silent = true;
	found = real && real[0] == '/' && find_line(session, list, real, &entry);
	session->silent = false;
	free(real);
	if (!found)
		return;
	if (changed->kind == MOVED_AWAY && entry.pattern)
		*left = entry.pattern;
	else if (changed->kind == RELEASED ||
		 (changed->kind == LIMITS_SET && has_limits(&entry.request) &&
		  !(*left && *left == entry.pattern)))
		session_warn(session, changed->path,
			     "is in %s, line %u: the next apply sets what that says", entry.file,
			     entry.line);
	else if (changed->kind == MOVED_AWAY)
		session_warn(session, changed->path,
			     "is in %s, line %u: change the path there, too", entry.file,
			     entry.line);
}

void apply_tell_of_lines(struct session *session)
{
	const struct apply_reading reading = { .forgiving = true, .as_it_is = true };
	struct apply_list list = { .reads = APPLY_AS_WRITTEN };
	struct apply_texts texts = { 0 };
	const char *left = NULL;

	/* The changes are made, so a failure is none of theirs. */
	session->silent = true;
	if (session->noted_count && !session->no_lines)
		apply_texts_read(session, &texts, APPLY_DIRECTORY, &reading);
	for (size_t i = 0; i < texts.count; i++)
		apply_list_parse(session, &list, &texts.list[i]);
	session->silent = false;
	for (size_t i = 0; i < session->noted_count; i++) {
		if (texts.count)
			tell_of_line(session, &list, &session->noted[i], &left);
		free(session->noted[i].path);
	}
	session->noted_count = 0;
	apply_list_free(&list);
	apply_texts_free(&texts);
}

void apply_list_free(struct apply_list *list)
{
	for (size_t i = 0; i < list->directories.count; i++)
		free(list->directories.list[i].real);
	free(list->directories.list);
	free(list->graces.list);
	free(list->patterns.list);
	texts_free(&list->texts);
	texts_free(&list->matches);
}
