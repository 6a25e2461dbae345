/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include "shared/writer.h"

/*
 * The fields of an entry. The longest are two paths, so they fit into the buffer of the writer.
 */
struct sink {
	struct writer *to;
	bool for_journal;
};

/*
 * For the journal a line for each field; a value with a newline has its length in front, as 64 bits with the least
 * first. For syslog(3) all in one line, with blanks and control characters escaped.
 * Source: systemd.journal-fields(7); systemd.io/JOURNAL_NATIVE_PROTOCOL
 */
static void add(const struct sink *sink, const char *key, const char *value)
{
	const bool is_binary = value && strchr(value, '\n');
	size_t length = value ? strlen(value) : 0;
	char escaped[8];

	if (!value)
		return;
	write_text(sink->to, sink->for_journal ? "" : " ");
	write_text(sink->to, key);
	write_char(sink->to, sink->for_journal && is_binary ? '\n' : '=');
	for (int shift = 0; sink->for_journal && is_binary && shift < 64; shift += 8)
		write_char(sink->to, (char)((uint64_t)length >> shift & 0xff));
	for (; *value; value++) {
		bool plain = (unsigned char)*value > ' ' && *value != '\\' && *value != 127;

		if (sink->for_journal || plain) {
			write_char(sink->to, *value);
			continue;
		}
		snprintf(escaped, sizeof(escaped), "\\%03o", (unsigned char)*value);
		write_text(sink->to, escaped);
	}
	if (sink->for_journal)
		write_char(sink->to, '\n');
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
	const char *space = strchr(session->program, ' '), *command = space ? space + 1 : "";
	static struct writer writer;
	struct sink sink = { &writer, session->log == LOG_TO_JOURNAL };
	char message[512];

	if (session->dry_run || session->log == LOG_TO_NOTHING)
		return;
	writer_start(&writer, -1);
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
	if (sink.for_journal)
		send_to_journal(writer.buffer, writer.used);
	else
		syslog(LOG_AUTHPRIV | (entry->err ? LOG_WARNING : LOG_NOTICE), "fsquota%.*s",
		       (int)writer.used, writer.buffer);
}
