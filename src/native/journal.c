/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

/* The fields of an entry on their way into memory. */
struct sink {
	FILE *to;
	bool for_journal;
};

/*
 * For the journal a line for each field; a value with a newline has its length in front, as 64 bits with the least
 * first. For syslog(3) all in one line, with blanks and control characters escaped.
 * Source: systemd.journal-fields(7); systemd.io/JOURNAL_NATIVE_PROTOCOL
 */
static void add(const struct sink *sink, const char *key, const char *value)
{
	uint64_t length = value ? strlen(value) : 0;

	if (!value)
		return;
	if (!sink->for_journal) {
		fprintf(sink->to, " %s=", key);
		for (; *value; value++)
			fprintf(sink->to,
				(unsigned char)*value <= ' ' || *value == '\\' || *value == 127
					? "\\%03o"
					: "%c",
				(unsigned char)*value);
		return;
	}
	fputs(key, sink->to);
	putc(strchr(value, '\n') ? '\n' : '=', sink->to);
	for (int shift = 0; strchr(value, '\n') && shift < 64; shift += 8)
		putc((int)(length >> shift & 0xff), sink->to);
	fwrite(value, 1, length, sink->to);
	putc('\n', sink->to);
}

static void add_number(const struct sink *sink, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add(sink, key, text);
}

static void add_limits(const struct sink *sink, const struct fsq_limits *limits, const char *behind)
{
	static const char *const keys[] = { "SOFT_BYTES", "HARD_BYTES", "SOFT_INODES",
					    "HARD_INODES" };

	for (int i = 0; limits && i < 4; i++) {
		int form = i / 2;
		uint64_t value = i % 2 ? limits->hard[form] : limits->soft[form];
		char key[40];

		if (!(limits->mask & (i % 2 ? FSQ_HARD(form) : FSQ_SOFT(form))))
			continue;
		if (form == FSQ_BLOCKS)
			value = fsq_limit_is_none(value) ? 0 : value * FSQ_BASIC_BLOCK;
		snprintf(key, sizeof(key), "FSQUOTA_%s%s", keys[i], behind);
		add_number(sink, key, value);
	}
}

static void add_all(const struct sink *sink, const char *command, const struct journal_entry *entry)
{
	static const char *const types[] = {
		[FSQ_USER] = "user", [FSQ_GROUP] = "group", [FSQ_PROJECT] = "project"
	};

	add(sink, "FSQUOTA_COMMAND", command);
	add(sink, "FSQUOTA_RESULT", entry->err ? "failed" : "done");
	if (entry->err) {
		add_number(sink, "FSQUOTA_STATUS", (uint64_t)session_exit_code(entry->err->kind));
		add(sink, "FSQUOTA_ERROR", entry->err->message);
	}
	add(sink, "FSQUOTA_TYPE", types[entry->type]);
	if (entry->id)
		add_number(sink, "FSQUOTA_ID", entry->id);
	add(sink, "FSQUOTA_NAME", entry->name);
	add(sink, "FSQUOTA_DIRECTORY", entry->directory);
	add(sink, "FSQUOTA_FROM", entry->from);
	add(sink, "FSQUOTA_FILESYSTEM", entry->filesystem);
	add_limits(sink, entry->before, "_BEFORE");
	add_limits(sink, entry->after, "");
}

/* The socket stays open: a change more is a system call more. */
static void send_to_journal(const char *text, size_t length)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = "/run/systemd/journal/socket" };
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		sendto(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT,
		       (const struct sockaddr *)&address, sizeof(address));
}

void journal_write(const struct session *session, const struct journal_entry *entry)
{
	struct sink sink = { .for_journal = session->log == LOG_TO_JOURNAL };
	const char *space = strchr(session->program, ' '), *command = space ? space + 1 : "";
	char message[512], *text = NULL;
	size_t length = 0;

	if (session->dry_run || session->log == LOG_TO_NOTHING)
		return;
	sink.to = open_memstream(&text, &length);
	if (!sink.to)
		return;
	snprintf(message, sizeof(message), "%s%s%.300s: %s", command,
		 entry->directory || entry->filesystem ? " " : "",
		 entry->directory    ? entry->directory
		 : entry->filesystem ? entry->filesystem
				     : "",
		 entry->err ? entry->err->message : "done");
	if (sink.for_journal) {
		add(&sink, "MESSAGE", message);
		add(&sink, "PRIORITY", entry->err ? "4" : "5");
		add(&sink, "SYSLOG_IDENTIFIER", "fsquota");
	}
	add_all(&sink, command, entry);
	if (fclose(sink.to) == 0 && sink.for_journal)
		send_to_journal(text, length);
	else if (text)
		syslog(LOG_AUTHPRIV | (entry->err ? LOG_WARNING : LOG_NOTICE), "fsquota%s", text);
	free(text);
}
