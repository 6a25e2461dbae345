/* SPDX-License-Identifier: Apache-2.0 */
/* Another program as a process. */
#ifndef FSQ_PROGRAM_H
#define FSQ_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

struct session;

/**
 * Start a program, with no signal blocked.
 *
 * @words        its file, or a name that is looked for in PATH, and its arguments, ended by NULL
 * @input        a file descriptor: what it reads; -1: nothing
 * @output       a file descriptor: where its output and its errors go
 * @environment  as environ(7)
 * @process      set on success, for waitpid(2)
 * @return       0 or an errno
 * Source: posix_spawn(3)
 */
int program_start(const char *const *words, int input, int output, char *const *environment,
		  pid_t *process);

/** Wait for the end of a program. @return  its exit status, or 128 and the signal that ended it */
int program_wait(pid_t process);

/**
 * Run a program to its end. Its output is not shown; of a failure its last line is.
 *
 * @words    as of program_start()
 * @input    as of program_start()
 * @most     the highest exit status that is no failure
 * @return   false: an error was reported
 */
bool program_run(struct session *session, const char *const *words, int input, int most);

#endif
