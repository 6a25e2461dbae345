/* SPDX-License-Identifier: Apache-2.0 */
#include "mail.h"

#include <errno.h>
#include <paths.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/cli/program.h"

bool mail_send(struct session *session, const char *what, const struct text *body)
{
	/* A line of the body may be a dot, which ends a mail without -i. */
	static const char *const words[] = { _PATH_SENDMAIL, "-t", "-i", NULL };
	static struct writer w;
	char host[256] = "";
	bool good;
	int fd, rc;

	if (!session->mail)
		return session_error(session, 0, FSQ_E_USAGE, 0, NULL,
				     "--mail sends nothing: no address; write mail = ADDRESS into "
				     "/etc/fsquota.conf");
	fd = memfd_create("mail", MFD_CLOEXEC);
	if (fd < 0)
		return session_errno(session, 0, errno, words[0], "cannot write the mail");
	gethostname(host, sizeof(host) - 1);
	writer_start(&w, fd);
	write_format(&w, "To: %s\nSubject: fsquota on ", session->mail);
	write_escaped(&w, host);
	write_format(&w,
		     ": %s\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
		     "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n",
		     what);
	write_bytes(&w, body->bytes, body->used);
	rc = writer_flush(&w);
	if (rc == 0 && lseek(fd, 0, SEEK_SET) < 0)
		rc = -errno;
	good = rc ? session_errno(session, 0, -rc, words[0], "cannot write the mail")
		  : program_run(session, words, fd, 0);
	close(fd);
	return good;
}
