/* SPDX-License-Identifier: Apache-2.0 */
/* The small text files people hand us: mount tables, /etc/projects, /etc/projid. */
#ifndef FSQ_WHOLE_FILE_H
#define FSQ_WHOLE_FILE_H

#include <stddef.h>

/* No such file is larger: it would hold a million lines. */
#define FSQ_FILE_MAX (64 * 1024 * 1024)

/**
 * Read a file into memory. A FIFO that nobody writes to is empty, rather than waited for.
 *
 * @file     its name
 * @text     set on success, with a NUL behind its end; free(3) it
 * @length   set to the number of bytes, without that NUL
 * @return   0; -EFBIG it is larger than FSQ_FILE_MAX; -EINVAL a device without
 *           end; or a negative errno of open(2)
 *           and read(2)
 */
int fsq_read_whole(const char *file, char **text, size_t *length);

/**
 * Take the next line of a text in memory.
 *
 * @rest     where to look; set behind the line
 * @return   the line, ended by a NUL in place of its newline, or NULL at the end
 */
char *fsq_next_line(char **rest, const char *end);

#endif
