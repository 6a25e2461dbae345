/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/fsquota.conf: what a node wants otherwise, "KEY = VALUE" a line, # for comments. */
#ifndef FSQ_CONFIG_H
#define FSQ_CONFIG_H

#include "session.h"
#include "shared/file_stamp.h"

#define FSQ_CONFIG_FILE "/etc/fsquota.conf"

/* The file as it was read last, for the requests of batch. */
struct config_file {
	bool read;
	bool checked; /* it is as on disk, as far as is known */
	struct fsq_file_stamp stamp;
	int rc; /* of reading it */
	char *text;
	size_t length;
};

void config_file_clear(struct config_file *file);

/**
 * Read it, before the options of the command line, which come before it: id-range, projects-file,
 * projid-file, register and lock-timeout, see fsquota.conf(5).
 *
 * @return   false when the file is wrong; an error was reported
 */
bool config_read(struct session *session);

/**
 * Parse the seconds of lock-timeout and --lock-timeout.
 *
 * @return   whether they are some
 */
bool config_parse_seconds(const char *text, unsigned int *seconds);

#endif
