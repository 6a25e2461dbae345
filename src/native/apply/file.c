/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/cli/budgets.h"
#include "native/cli/request.h"
#include "shared/array.h"
#include "shared/errno_words.h"
#include "shared/read_file.h"
#include "shared/sort.h"
#include "shared/statx.h"

#define BLANKS " \t\r"

/* The line being read. */
struct line {
	struct session *session;
	struct apply_list *list;
	struct word_origin origin;
	bool good;
};

/* Add a text to those that are freed with the list. @return  it, or NULL without memory: then it is freed */
static char *keep_text(struct session *session, struct apply_list *list, char *text)
{
	if (text &&
	    array_add(&list->texts, &list->text_count, &list->text_capacity, &text, sizeof(text)))
		return text;
	free(text);
	session_no_memory(session);
	return NULL;
}

/* --- words --- */

/*
 * Take the character behind a backslash.
 *
 * @from     where that is; set to the last letter of it
 * @octal    three digits are a byte
 */
static char take_escaped(char **from, bool octal)
{
	const char *at = *from;

	if (!octal || at[0] < '0' || at[0] > '3' || strspn(at, "01234567") < 3)
		return *at;
	*from += 2;
	return (char)((at[0] - '0') << 6 | (at[1] - '0') << 3 | (at[2] - '0'));
}

/*
 * Take the next word: up to a blank; in double quotes, or from $' to ', blanks belong to it, and behind a backslash
 * any character. Quotes and backslashes are removed.
 *
 * @rest     where to look; set behind the word
 * @pattern  for the word as glob(3) wants it, as long as the line and once more; or NULL
 * @is_pattern set: it has a *, ? or [ that is not quoted
 * @return   the word, NULL at the end; with @rest NULL a quote is not closed, or has a byte that no word can have
 */
static char *next_word(char **rest, char *pattern, bool *is_pattern)
{
	char *from = *rest + strspn(*rest, BLANKS), *word = from, *to = from;
	const bool octal = strncmp(from, "$'", 2) == 0;
	char quote = octal ? '\'' : '\0'; /* that ends the quoted part */
	bool bad = false;

	*is_pattern = false;
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
			byte = take_escaped(&from, quote == '\'');
			plain = false;
		}
		bad |= byte == '\0' || byte == '\n';
		*is_pattern |= plain && strchr("*?[", byte);
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
	return rc == 0 || assign_refuse(line->session, &line->origin, "%s=%.100s is no %s", word,
					value ? value : "",
					word[0] == 'b' ? "budget, such as budget=1T"
						       : "overcommit, such as overcommit=120%");
}

/*
 * The words behind the path.
 *
 * @assigns  set: there is one about the directory itself, or none at all
 */
static bool take_words(struct line *line, const char *path, char *rest,
		       struct fsq_assign_request *request, bool *assigns)
{
	bool unused, other = false;
	const char *seen[16]; /* more than there are keys */
	size_t count = 0;
	char *word;

	while ((word = next_word(&rest, NULL, &unused))) {
		char *value = strchr(word, '=');

		if (!rest)
			return assign_refuse(line->session, &line->origin, "a quote is not closed");
		if (value)
			*value++ = '\0';
		if (line->list->only_budgets && !is_budget(word))
			continue;
		for (size_t i = 0; i < count; i++) {
			if (strcmp(seen[i], word) == 0)
				return assign_refuse(line->session, &line->origin,
						     "%.100s is given twice", word);
		}
		if (count < sizeof(seen) / sizeof(*seen))
			seen[count++] = word;
		other |= !is_budget(word);
		if (is_budget(word)) {
			if (!take_budget_word(line, path, word, value))
				return false;
			continue;
		}
		if (!assign_request_set(line->session, &line->origin, request, word, value))
			return false;
	}
	*assigns = !line->list->only_budgets && (other || count == 0);
	return !*assigns || assign_request_check(line->session, &line->origin, request);
}

/* --- lines --- */

/* @pattern  NULL: the path is written */
static void add_entry(struct line *line, const struct fsq_assign_request *request, const char *path,
		      const char *pattern)
{
	struct apply_list *list = line->list;
	struct apply_entry entry = { .request = *request,
				     .file = line->origin.file,
				     .line = line->origin.line,
				     .pattern = pattern };

	entry.request.directory = path;
	line->good =
		array_add(&list->entries, &list->count, &list->capacity, &entry, sizeof(entry)) ||
		session_no_memory(line->session);
}

/* The length of the beginning of a match, up to the first part that a pattern has matched. */
static size_t fixed_length(const char *pattern, const char *path)
{
	size_t length = 0, parts = 0;

	for (; *pattern && !strchr("*?[", *pattern); pattern++) {
		parts += *pattern == '/';
		pattern += *pattern == '\\';
	}
	/* The pattern is in the last part at the latest. */
	while (parts-- > 1)
		length += 1 + strcspn(path + length + 1, "/");
	return length;
}

/* errno of the first directory that glob(3) could not read, so the matches are incomplete; or 0 */
static int glob_errnum;

static int look_failed(const char *path, int errnum)
{
	(void)path;
	if (!apply_is_gone(errnum) && !glob_errnum)
		glob_errnum = errnum;
	/* Go on with other directories. */
	return 0;
}

#ifdef GLOB_ALTDIRFUNC
/* glob(3) of glibc calls this, so that errors are noted, which it would ignore. */
static void *open_watched_directory(const char *path)
{
	return opendir(path);
}

static struct dirent *read_directory(void *directory)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(directory);
	if (!entry && errno)
		look_failed(NULL, errno);
	return entry;
}

static void close_directory(void *directory)
{
	closedir(directory);
}

static int stat_untouched(const char *path, struct stat *st)
{
	int rc = lstat(path, st);

	if (rc)
		look_failed(path, errno);
	return rc;
}
#else
#define GLOB_ALTDIRFUNC 0
#endif

int apply_glob(const char *pattern, glob_t *found)
{
	int rc;

	*found = (glob_t){ 0 };
#if GLOB_ALTDIRFUNC
	found->gl_opendir = open_watched_directory;
	found->gl_readdir = read_directory;
	found->gl_closedir = close_directory;
	found->gl_stat = found->gl_lstat = stat_untouched;
#endif
	glob_errnum = 0;
	rc = glob(pattern, GLOB_ALTDIRFUNC, look_failed, found);
	return rc == GLOB_NOSPACE ? -ENOMEM : -glob_errnum;
}

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

/* Ignore what is gone. @return  false */
static bool pass_over_path(struct line *line, const char *path, int errnum)
{
	if (!apply_is_gone(errnum))
		fail_to_look(line, path, errnum);
	return false;
}

/*
 * Below the part that the administrator wrote, directories belong to others: a symlink or a mount there would
 * lead the limits elsewhere. fsq_assign() checks this again when it opens the directory.
 */
static bool is_beneath(struct line *line, char *path, size_t fixed)
{
	struct statx above, stx;
	char *slash;

	if (strchr(path + fixed, '\n')) {
		if (reported_add(line->list->reported, path))
			session_warn(line->session, path,
				     "is passed over: there is a newline in its name");
		return false;
	}
	path[fixed] = '\0';
	if (get_statx(AT_FDCWD, *path ? path : "/", 0, STATX_TYPE | FSQ_STATX_MOUNT_IDS, &above))
		return pass_over_path(line, path, errno);
	path[fixed] = '/';
	do {
		slash = strchr(path + fixed + 1, '/');
		if (slash)
			*slash = '\0';
		if (get_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | FSQ_STATX_MOUNT_IDS,
			      &stx))
			return pass_over_path(line, path, errno);
		if (!S_ISDIR(stx.stx_mode))
			return false;
		/* If a filter forbids statx(2), compare devices. */
		if (((stx.stx_mask & above.stx_mask & FSQ_STATX_MOUNT_IDS) &&
		     stx.stx_mnt_id != above.stx_mnt_id) ||
		    stx.stx_dev_major != above.stx_dev_major ||
		    stx.stx_dev_minor != above.stx_dev_minor) {
			if (reported_add(line->list->reported, path))
				session_warn(line->session, path,
					     "is passed over: a pattern does not match what is "
					     "mounted below it");
			return false;
		}
		if (slash) {
			*slash = '/';
			fixed = (size_t)(slash - path);
		}
	} while (slash);
	return true;
}

/* Add the directories that a pattern matches; ignore other files. */
static void expand_pattern(struct line *line, const char *pattern,
			   struct fsq_assign_request *request)
{
	glob_t found;
	int rc = apply_glob(pattern, &found);

	if (rc)
		fail_to_look(line, pattern, -rc);
	else
		reported_remove(line->list->reported, pattern);
	for (size_t i = 0; i < found.gl_pathc && line->good; i++) {
		char *path = found.gl_pathv[i];
		size_t fixed = fixed_length(pattern, path);

		if (!is_beneath(line, path, fixed))
			continue;
		path = keep_text(line->session, line->list, strdup(path));
		request->beneath = path ? keep_text(line->session, line->list,
						    strndup(path, fixed ? fixed : 1))
					: NULL;
		line->good = request->beneath != NULL;
		if (line->good)
			add_entry(line, request, path, pattern);
	}
	globfree(&found);
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
	struct fsq_assign_request request = { .size = sizeof(request),
					      .range = line->session->range };
	char *rest = text, *path, *kept, *pattern;
	size_t budgets = line->session->budget_count;
	bool is_pattern, assigns = false;

	if (line->list->only_budgets && !strstr(text, "budget") && !strstr(text, "overcommit"))
		return;
	pattern = malloc(2 * strlen(text) + 1);
	if (!pattern) {
		session_errno(line->session, 0, ENOMEM, line->origin.file, "cannot go on");
		line->good = false;
		return;
	}
	path = next_word(&rest, pattern, &is_pattern);
	if (!path || path[0] == '#')
		goto out;
	if (!rest)
		line->good = assign_refuse(line->session, &line->origin,
					   "a quote is not closed, or has \\000 or \\012 in it");
	else if (!is_clean(path))
		line->good =
			assign_refuse(line->session, &line->origin,
				      "the path is not absolute, or has an empty part, . or ..");
	else
		line->good = take_words(line, path, rest, &request, &assigns);
	if (line->good && is_pattern && line->session->budget_count > budgets)
		line->good = assign_refuse(line->session, &line->origin,
					   "a pattern does not go with budget and overcommit");
	if (!assigns)
		goto out;
	if (line->good && is_pattern && (request.make || request.id || request.name))
		line->good = assign_refuse(line->session, &line->origin,
					   "a pattern does not go with mkdir, id and name");
	if (line->good && is_pattern) {
		kept = keep_text(line->session, line->list, strdup(pattern));
		line->good = kept && array_add(&line->list->patterns, &line->list->pattern_count,
					       &line->list->pattern_capacity, &kept, sizeof(kept));
	}
	if (line->good && is_pattern)
		expand_pattern(line, kept, &request);
	else if (line->good)
		add_entry(line, &request, path, NULL);
out:
	free(pattern);
}

/* --- files --- */

static bool read_entry_file(struct session *session, struct apply_list *list, const char *file)
{
	struct line line = { .session = session, .list = list };
	char *text, *rest, *next;
	size_t length;
	bool good = true;
	bool is_input = strcmp(file, "-") == 0;
	int rc;

	if (is_input)
		session_tell_of_terminal(session, "lines, see fsquota.d(5),");
	rc = is_input ? fsq_read_fd(STDIN_FILENO, &text, &length)
		      : fsq_read_file(file, &text, &length);
	line.origin.file = file = is_input ? "standard input" : file;
	line.origin.reported = list->wrong;
	/* A caller who may not read the files does not set limits either. */
	if (rc == -EACCES && list->only_budgets)
		return true;
	if (rc && reported_add(list->wrong, file))
		session_errno(session, ERROR_OF_FILE, -rc, file, "cannot read %s", file);
	if (rc)
		return false;
	rest = keep_text(session, list, text);
	if (!rest)
		return false;
	if (strlen(text) < length && reported_add(list->wrong, file))
		session_usage_error(session, "%s: there is a NUL byte in it", file);
	if (strlen(text) < length)
		return false;
	while ((next = fsq_next_line(&rest, text + length))) {
		line.origin.line++;
		line.good = true;
		take_entry_line(&line, next);
		good &= line.good;
	}
	return good;
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".conf") == 0;
}

bool apply_list_read(struct session *session, struct apply_list *list, const char *path)
{
	struct dirent **entries;
	bool good = true;
	struct stat st;
	char *file;
	int count;

	if (strcmp(path, "-") == 0 || stat(path, &st) || !S_ISDIR(st.st_mode))
		return read_entry_file(session, list, path);
	count = scandir(path, &entries, is_conf, alphasort);
	if (count < 0 && errno == EACCES && list->only_budgets)
		return true;
	if (count < 0 && reported_add(list->wrong, path))
		session_errno(session, ERROR_AT_PATH, errno, path, "cannot list");
	if (count < 0)
		return false;
	for (int i = 0; i < count; i++) {
		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			file = NULL;
		free(entries[i]);
		file = keep_text(session, list, file);
		good &= file && read_entry_file(session, list, file);
	}
	free(entries);
	return good;
}

/* --- conflicts --- */

static int compare_paths_of_entries(const void *one, const void *other)
{
	const struct apply_entry *a = *(struct apply_entry *const *)one;
	const struct apply_entry *b = *(struct apply_entry *const *)other;

	/* A written path before those of patterns. */
	return strcmp(a->request.directory, b->request.directory) ?: !!a->pattern - !!b->pattern;
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
		       !!a->pattern - !!b->pattern ?: compare_paths_of_entries(one, other);
}

static bool is_same_directory(const struct apply_entry *one, const struct apply_entry *other)
{
	return one->ino && one->ino == other->ino && one->dev == other->dev;
}

static bool settle_conflicts(struct session *session, struct apply_list *list,
			     int (*order)(const void *, const void *),
			     bool (*is_same)(const struct apply_entry *,
					     const struct apply_entry *))
{
	struct apply_entry **sorted = reallocarray(NULL, list->count + 1, sizeof(*sorted));
	size_t count = 0;
	bool good = true;

	if (!sorted)
		return session_no_memory(session);
	for (size_t i = 0; i < list->count; i++)
		sorted[count++] = &list->entries[i];
	array_sort(sorted, count, sizeof(*sorted), order);
	for (size_t i = 1, first = 0; i < count; i++) {
		const struct apply_entry *one = sorted[first];
		struct apply_entry *other = sorted[i];

		if (!is_same(one, other)) {
			first = i;
		} else if (!one->pattern != !other->pattern) {
			/* Only the first is a written path, so it counts. */
			other->request.directory = NULL;
		} else {
			const struct word_origin origin = { other->file, other->line, list->wrong };

			good = assign_refuse(session, &origin, "%s is in %s, line %u, too%s%s",
					     other->request.directory, one->file, one->line,
					     is_same_path(one, other) ? "" : ", as ",
					     is_same_path(one, other) ? ""
								      : one->request.directory);
		}
	}
	free(sorted);
	return good;
}

bool apply_list_settle(struct session *session, struct apply_list *list)
{
	bool good = settle_conflicts(session, list, compare_paths_of_entries, is_same_path);
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].request.directory)
			list->entries[kept++] = list->entries[i];
	list->count = kept;
	return good;
}

bool apply_list_identify(struct session *session, struct apply_list *list)
{
	if (list->identified)
		return true;
	list->identified = true;
	for (size_t i = 0; i < list->count; i++) {
		struct apply_entry *entry = &list->entries[i];
		struct stat st;

		if (fstatat(AT_FDCWD, entry->request.directory, &st, AT_NO_AUTOMOUNT))
			continue;
		entry->dev = st.st_dev;
		entry->ino = st.st_ino;
	}
	return settle_conflicts(session, list, compare_entries_by_identity, is_same_directory);
}

bool apply_read_budgets(struct session *session)
{
	struct apply_list list = { .only_budgets = true };
	bool good;

	if (access(APPLY_DIRECTORY, F_OK))
		return true;
	good = apply_list_read(session, &list, APPLY_DIRECTORY);
	apply_list_free(&list);
	return good;
}

void apply_list_free(struct apply_list *list)
{
	free(list->patterns);
	for (size_t i = 0; i < list->text_count; i++)
		free(list->texts[i]);
	free(list->texts);
	free(list->entries);
}
