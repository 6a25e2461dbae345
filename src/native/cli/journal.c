/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include "quota/base/units.h"
#include "shared/utf8.h"

/* The fields of an entry. */
struct sink {
	struct writer *to;
	bool for_journal;
};

/*
 * For the journal a line for each field; a value with a newline has its length in front, as 64 bits with the least
 * first. For syslog(3) all in one line, with blanks and control characters escaped.
 * Source: systemd.journal-fields(7); systemd.io/JOURNAL_NATIVE_PROTOCOL
 */
static void add_journal_field(const struct sink *sink, const char *key, const char *value)
{
	const bool is_binary = value && strchr(value, '\n');
	size_t length = value ? strlen(value) : 0;

	if (!value)
		return;
	write_format(sink->to, "%s%s%c", sink->for_journal ? "" : " ", key,
		     sink->for_journal && is_binary ? '\n' : '=');
	for (int shift = 0; sink->for_journal && is_binary && shift < 64; shift += 8)
		write_char(sink->to, (char)((uint64_t)length >> shift & 0xff));
	while (*value) {
		size_t plain = *value == ' ' || *value == '\\' ? 0 : fsq_utf8_printable(value);

		if (sink->for_journal || plain)
			write_bytes(sink->to, value, plain ? plain : 1);
		else
			write_format(sink->to, "\\%03o", (unsigned char)*value);
		value += plain ? plain : 1;
	}
	if (sink->for_journal)
		write_char(sink->to, '\n');
}

static void add_number(const struct sink *sink, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add_journal_field(sink, key, text);
}

static void add_limits(const struct sink *sink, const struct fsq_limits *limits, const char *behind)
{
	static const char *const keys[] = { "SOFT_BYTES", "HARD_BYTES", "SOFT_INODES",
					    "HARD_INODES" };

	for (int i = 0; limits && i < 4; i++) {
		int form = i / 2;
		uint64_t value = fsq_limit_or_0(i % 2 ? limits->hard[form] : limits->soft[form]);
		char key[40];

		if (!(limits->mask & (i % 2 ? FSQ_HARD(form) : FSQ_SOFT(form))))
			continue;
		if (form == FSQ_BLOCKS)
			value *= FSQ_BASIC_BLOCK;
		snprintf(key, sizeof(key), "FSQUOTA_%s%s", keys[i], behind);
		add_number(sink, key, value);
	}
}

/* Keep the socket open: each further change costs one system call. */
static void send_to_journal(const char *text, size_t length)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = "/run/systemd/journal/socket" };
	static int fd = -1;
	const int size = 8 * 1024 * 1024;

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A longer entry than the socket takes: one operand of batch may have a megabyte. */
	if (fd >= 0 &&
	    sendto(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&address,
		   sizeof(address)) < 0 &&
	    errno == EMSGSIZE &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) == 0)
		sendto(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT,
		       (const struct sockaddr *)&address, sizeof(address));
}

void journal_write(struct session *session, const struct journal_entry *entry)
{
	const char *space = strchr(session->program, ' '), *command = space ? space + 1 : "";
	static struct writer writer;
	struct sink sink = { &writer, session->log == LOG_TO_JOURNAL };
	struct text text = { 0 };
	char message[512];

	session->changed |= !entry->err;
	if (session->dry_run || session->log == LOG_TO_NOTHING)
		return;
	writer_start_text(&writer, &text);
	snprintf(message, sizeof(message), "%s%s%.300s: %s", command,
		 entry->directory || entry->filesystem ? " " : "",
		 entry->directory    ? entry->directory
		 : entry->filesystem ? entry->filesystem
				     : "",
		 entry->err ? entry->err->message : "done");
	if (sink.for_journal) {
		add_journal_field(&sink, "MESSAGE", message);
		add_journal_field(&sink, "PRIORITY", entry->err ? "4" : "5");
		add_journal_field(&sink, "SYSLOG_IDENTIFIER", "fsquota");
	}
	add_journal_field(&sink, "FSQUOTA_COMMAND", command);
	add_journal_field(&sink, "FSQUOTA_RESULT", entry->err ? "failed" : "done");
	if (entry->err) {
		add_number(&sink, "FSQUOTA_STATUS", (uint64_t)session_exit_code(entry->err->kind));
		add_journal_field(&sink, "FSQUOTA_ERROR", entry->err->message);
	}
	add_journal_field(&sink, "FSQUOTA_TYPE", account_types[entry->type]);
	if (entry->id)
		add_number(&sink, "FSQUOTA_ID", entry->id);
	add_journal_field(&sink, "FSQUOTA_NAME", entry->name);
	add_journal_field(&sink, "FSQUOTA_DIRECTORY", entry->directory);
	add_journal_field(&sink, "FSQUOTA_FROM", entry->from);
	add_journal_field(&sink, "FSQUOTA_FILESYSTEM", entry->filesystem);
	add_limits(&sink, entry->before, "_BEFORE");
	add_limits(&sink, entry->after, "");
	/* Send nothing if the text is incomplete: it would say something else. */
	if (writer_flush(&writer) == 0 && sink.for_journal)
		send_to_journal(text.bytes, text.used);
	else if (!writer.errnum)
		syslog(LOG_AUTHPRIV | (entry->err ? LOG_WARNING : LOG_NOTICE), "fsquota%s",
		       text.bytes);
	free(text.bytes);
}
