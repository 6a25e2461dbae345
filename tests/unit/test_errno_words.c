/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "shared/errno_words.h"

int main(void)
{
#ifdef HAVE_STRERRORNAME_NP
	int known = 0;

	for (int errnum = 1; errnum < 4096; errnum++) {
		const char *ours = errno_name(errnum);

		if (!ours)
			continue;
		known++;
		if (strcmp(strerrorname_np(errnum), ours) != 0 ||
		    strcmp(strerror(errnum), errno_words(errnum)) != 0)
			ok(false, ours);
	}
	ok(known > 60, "sixty errors and more have a name");
	ok(true, "names and words are those of this C library");
#endif
	ok(strcmp(errno_words(ENOTTY), "Inappropriate ioctl for device") == 0, "words of glibc");
	ok(strcmp(errno_words(-1), "Unknown error -1") == 0 && !errno_name(0) && !errno_name(-1),
	   "what is no errno");
	ok(strcmp(errno_name(EDQUOT), "EDQUOT") == 0, "a name");
	return tap_end();
}
