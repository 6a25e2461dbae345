/* SPDX-License-Identifier: Apache-2.0 */
/* A session for fuzzers: what it prints is kept in memory, and thrown away. */
#ifndef FSQ_FUZZ_SESSION_H
#define FSQ_FUZZ_SESSION_H

#include "fuzz.h"

#include "native/cli/session.h"
#include "native/cli/command.h"

static struct text fuzz_output, fuzz_error, fuzz_messages;

static inline struct session fuzz_session(void)
{
	static struct writer output, error, messages;
	struct session session = native_session(&output);

	fuzz_output.used = fuzz_error.used = fuzz_messages.used = 0;
	writer_start_text(&output, &fuzz_output);
	writer_start_text(&messages, &fuzz_messages);
	writer_start_text(&error, &fuzz_error);
	session.error = &error;
	session.messages = &messages;
	return session;
}

#endif
