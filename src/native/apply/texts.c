/* SPDX-License-Identifier: Apache-2.0 */
#include "texts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "quota/base/error.h"
#include "shared/array.h"
#include "shared/read_file.h"

/* How long to wait for who writes a file, and how old a file must be that cannot tell. */
#define WAIT_SECONDS 2
#define TRIES_A_SECOND 50

/*
 * Read a file that nobody writes. The lease is held while it is read: who wants to write waits until then. A filesystem
 * without leases cannot tell, so the file must be older than two seconds.
 *
 * @return   0, -ETXTBSY it is being written, or as of fsq_read_file()
 */
static int read_unless_written(const char *file, char **text, size_t *length)
{
	int fd = fsq_open_file(file, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = 0;
	struct timespec now;
	struct stat st;
	bool leased;

	if (fd < 0)
		return fd;
	leased = fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
	if (!leased && errno == EAGAIN)
		rc = -ETXTBSY;
	else if (!leased && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		 clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec >= st.st_mtime &&
		 now.tv_sec - st.st_mtime < WAIT_SECONDS)
		rc = -ETXTBSY;
	if (rc == 0)
		rc = fsq_read_fd(fd, text, length);
	if (leased)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	return rc;
}

static int read_text(const char *file, bool at_once, char **text, size_t *length)
{
	const struct timespec little = { .tv_nsec = 1000 * 1000 * 1000L / TRIES_A_SECOND };
	int rc = read_unless_written(file, text, length);

	for (int i = 0; rc == -ETXTBSY && !at_once && i < WAIT_SECONDS * TRIES_A_SECOND; i++) {
		nanosleep(&little, NULL);
		rc = read_unless_written(file, text, length);
	}
	return rc;
}

/* Of a file that is being written: its text as it was before. @return  0 or -ENOMEM; it may have had none */
static int copy_last(struct apply_text *new, const struct apply_texts *last)
{
	for (size_t i = 0; last && i < last->count; i++) {
		const struct apply_text *text = &last->list[i];

		if (strcmp(text->file, new->file) != 0)
			continue;
		new->text = malloc(text->length + 1);
		if (!new->text)
			return -ENOMEM;
		memcpy(new->text, text->text, text->length + 1);
		new->length = text->length;
		break;
	}
	return 0;
}

static bool add_text(struct session *session, struct apply_texts *texts, char *file,
		     const struct apply_reading *reading)
{
	struct apply_text new = { .file = file };
	const bool is_input = file && strcmp(file, "-") == 0;
	struct fsq_error err;
	int rc = -ENOMEM;

	if (is_input)
		rc = fsq_read_fd(STDIN_FILENO, &new.text, &new.length);
	else if (file && reading->as_it_is)
		rc = fsq_read_file(file, &new.text, &new.length);
	else if (file)
		rc = read_text(file, reading->at_once, &new.text, &new.length);
	if (rc == -ETXTBSY)
		texts->being_written = true;
	else if (rc == 0)
		reported_remove(reading->reported, file);
	if (rc == -ETXTBSY && reading->at_once) {
		if (reading->tell && reported_add(reading->reported, file))
			session_warn(session, file,
				     "is being written: its lines count when it is closed");
		rc = copy_last(&new, reading->last);
	}
	if (rc == 0 && new.text) {
		if (array_add(&texts->list, &texts->count, &texts->capacity, &new, sizeof(new)))
			return true;
		free(new.text);
		rc = -ENOMEM;
	}
	if (rc == -EACCES && reading->forgiving)
		rc = 0;
	if (rc == -ETXTBSY)
		session_error(session, ERROR_AT_PATH, FSQ_E_FAILED, 0, file,
			      "is being written: nothing is done until it is closed");
	else if (rc && reported_add(reading->reported, file ? file : "")) {
		if (rc == -ENOENT && fsq_fail_errno(&err, ENOENT, file, "cannot read"))
			session_fail_missing(session, &err, file,
					     "FILE is a file or directory with lines, - standard "
					     "input");
		else
			session_errno(session, ERROR_OF_FILE, -rc, file, "cannot read %s",
				      is_input ? "standard input" : file);
	}
	free(file);
	return rc == 0;
}

bool apply_texts_read(struct session *session, struct apply_texts *texts, const char *path,
		      const struct apply_reading *reading)
{
	struct dirent **entries;
	bool good = true;
	struct stat st;
	char *file;
	int count;

	/* Who waits for our lease would end us with it. */
	signal(SIGIO, SIG_IGN);
	if (session->batch && strcmp(path, "-") == 0)
		return session_usage_error(session, "standard input has the requests: name a file");
	if (strcmp(path, "-") == 0)
		session_tell_of_terminal(session, "lines, see fsquota.d(5),");
	if (strcmp(path, "-") == 0 || stat(path, &st) || !S_ISDIR(st.st_mode))
		return add_text(session, texts, strdup(path), reading);
	count = config_list(path, &entries);
	if (count == -EACCES && reading->forgiving)
		return true;
	if (count < 0 && reported_add(reading->reported, path))
		session_errno(session, ERROR_AT_PATH, -count, path, "cannot list");
	if (count < 0)
		return false;
	if (count == 0 && !texts->empty)
		texts->empty = strdup(path);
	for (int i = 0; i < count; i++) {
		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			file = NULL;
		free(entries[i]);
		good &= add_text(session, texts, file, reading);
	}
	free(entries);
	return good;
}

void apply_texts_free(struct apply_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->list[i].file);
		free(texts->list[i].text);
	}
	free(texts->list);
	free(texts->empty);
	*texts = (struct apply_texts){ 0 };
}
