/* SPDX-License-Identifier: Apache-2.0 */
/* What check has found, as a mail. */
#ifndef FSQ_MAIL_H
#define FSQ_MAIL_H

#include "native/cli/session.h"

/**
 * Send a mail to the address of fsquota.conf(5).
 *
 * @what     the end of the subject, behind the name of the host; never a name that a tenant gives
 * @body     lines of text
 * @return   false: an error was reported
 * Source: sendmail(8), RFC 5322, RFC 3834
 */
bool mail_send(struct session *session, const char *what, const struct text *body);

#endif
