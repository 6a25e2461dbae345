/* SPDX-License-Identifier: Apache-2.0 */
/* Another program as a process. */
#ifndef FSQ_PROGRAM_H
#define FSQ_PROGRAM_H

#include <sys/types.h>

/**
 * Start a program, without input and with no signal blocked.
 *
 * @words        its file, or a name that is looked for in PATH, and its arguments, ended by NULL
 * @output       a file descriptor: where its output and its errors go
 * @environment  as environ(7)
 * @process      set on success, for waitpid(2)
 * @return       0 or an errno
 * Source: posix_spawn(3)
 */
int program_start(const char *const *words, int output, char *const *environment, pid_t *process);

#endif
