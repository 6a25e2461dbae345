/* SPDX-License-Identifier: Apache-2.0 */
/* Read small text files: mount tables, /etc/projects, /etc/projid. */
#ifndef FSQ_READ_FILE_H
#define FSQ_READ_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Larger files are refused. This is room for a million lines. */
#define FSQ_FILE_MAX (64 * 1024 * 1024)
/* fsq_read_line() refuses longer lines. Includes the NUL at the end. */
#define FSQ_LINE_MAX (4 * 1024 * 1024)

/**
 * Open a file on which another process may hold a lease (fcntl(2), F_SETLEASE) for a moment. With O_NONBLOCK,
 * open(2) fails until the lease is gone: try again for up to a minute.
 *
 * @flags    of open(2); O_NONBLOCK is added
 * @return   a descriptor or a negative errno
 */
int fsq_open_file(const char *path, int flags);

/**
 * Read a file into memory. A FIFO without a writer is read as an empty file.
 *
 * @file     its name
 * @text     set on success, with a NUL behind its end; free(3) it
 * @length   set to the number of bytes, without that NUL
 * @return   0; -EFBIG: it is larger than FSQ_FILE_MAX, or a device without end; or a negative errno
 *           of open(2) and read(2)
 */
int fsq_read_file(const char *file, char **text, size_t *length);

/** Read an open file into memory, from its current offset to its end. @return  as fsq_read_file() */
int fsq_read_fd(int fd, char **text, size_t *length);

/**
 * Read a line of a file that may be too large for memory, or is still being written.
 *
 * @line     its buffer, NULL at first; set to the line without its newline, which the last one need
 *           not have; free(3) it
 * @size     that of the buffer, 0 at first
 * @return   the length; -ENODATA at the end; -EFBIG the line is too long; -ENOMEM or a negative
 *           errno of read(2)
 */
ssize_t fsq_read_line(FILE *file, char **line, size_t *size);

/**
 * Take the next line of a text in memory.
 *
 * @rest     the text that is left; set to what follows the line
 * @return   the line, ended by a NUL in place of its newline, or NULL at the end
 */
char *fsq_next_line(char **rest, const char *end);

#endif
