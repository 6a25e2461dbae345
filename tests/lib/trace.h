/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of tests that are stopped at system calls, or kept from some. */
#ifndef TRACE_H
#define TRACE_H

#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The C library's <sys/ptrace.h> and the kernel's do not go together. */
extern long ptrace(int request, ...);

/**
 * Say what becomes of some system calls, for the rest of this process and in what it executes.
 *
 * @answer   SECCOMP_RET_TRACE, or SECCOMP_RET_ERRNO | an errno; other calls are made
 * @return   0, or -1 and errno
 */
int filter_calls(const unsigned int *calls, size_t count, unsigned int answer);

/** In a child: stop until trace_begin() was called, and be traced. */
void trace_me(void);

/**
 * Wait for a child that stops for its tracer. It goes on with the next ptrace(2).
 *
 * @options  PTRACE_O_*
 * @return   whether it stopped, and may be traced
 */
bool trace_begin(pid_t pid, long options);

/** What it stopped at: @entry at a filter, too. User-Mode Linux before 6.17 knows only the older way to ask. */
bool trace_ask(pid_t pid, struct ptrace_syscall_info *info);

/** It is stopped before a call: this one is not made, and fails. */
bool trace_fail_call(pid_t pid, int error);

/**
 * Start a program. It stops at each of these calls, as do its threads and children; without calls nowhere.
 *
 * @streams  files: standard input, output and error; the latter two are made anew
 * @return   its process, for trace_run(), or -1
 */
pid_t trace_start(char **command, const char *const streams[3], const unsigned int *calls,
		  size_t count);

/**
 * Let it run until nobody of it is left.
 *
 * @stopped  called before each of the calls
 * @return   its exit status as a shell has it: 128 and the signal that has ended it
 */
int trace_run(pid_t program, void (*stopped)(pid_t pid, void *arg), void *arg);

#endif
