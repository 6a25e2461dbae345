/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "shared/errno_words.h"

int main(void)
{
#ifdef HAVE_STRERRORNAME_NP
	for (int errnum = 1; errnum < 4096; errnum++) {
		const char *name = strerrorname_np(errnum), *ours = errno_name(errnum);

		if ((name || ours) && !(name && ours && strcmp(name, ours) == 0))
			ok(false, name ? name : ours);
		if (strcmp(strerror(errnum), errno_words(errnum)) != 0)
			ok(false, strerror(errnum));
	}
	ok(true, "names and words are those of this C library");
#endif
	ok(strcmp(errno_words(ENOTTY), "Inappropriate ioctl for device") == 0, "words of glibc");
	ok(strcmp(errno_words(-1), "Unknown error -1") == 0 && !errno_name(0) && !errno_name(-1),
	   "what is no errno");
	ok(strcmp(errno_name(EDQUOT), "EDQUOT") == 0, "a name");
	return tap_end();
}
