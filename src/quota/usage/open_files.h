/* SPDX-License-Identifier: Apache-2.0 */
/* Files that processes hold: open, mapped, or as their directory. */
#ifndef FSQ_OPEN_FILES_H
#define FSQ_OPEN_FILES_H

#include "quota/fsquota.h"

struct fsq_open_file {
	pid_t pid;
	const char *path; /* where it was, as the process sees it */
	ino_t ino;	 /* as the kernel says without asking the file's filesystem; 0: not known */
	uint64_t mount;	 /* the ID of its mount, likewise; 0: not known */
	bool is_certain; /* it is on the filesystem; else on an overlay or on an unknown mount */
	bool is_leased;	 /* to open it could break a lease */
	int dirfd;	 /* of /proc/PID ... */
	const char *name; /* ... and below it, what leads to the file */
};

typedef enum fsq_visit (*fsq_open_file_visitor)(const struct fsq_open_file *file, void *arg);

/**
 * Visit each file that a process holds and that may be on a filesystem, all or only the deleted ones; one that it holds several times comes
 * as often. The processes come in no order. What ends meanwhile, or may not be looked at, is passed over. No
 * filesystem is asked, so that none can block: a FUSE server may belong to anybody, and may be below an overlay.
 *
 * @device   of the filesystem
 * @return   0 or a negative errno
 * Source: proc_pid_fd(5), proc_pid_fdinfo(5), proc_pid_maps(5), proc_pid_map_files(5), proc_pid_mountinfo(5)
 */
int fsq_open_files_each(dev_t device, bool all, fsq_open_file_visitor visit, void *arg);

/**
 * Take a file as the process has it open, which breaks no lease, unlike open(2).
 *
 * @return   a descriptor or a negative errno: -ENOENT the process has it open no more, or not as a descriptor; -EPERM
 *           without CAP_SYS_PTRACE, of a process of others; -ENOSYS before Linux 5.6
 * Source: pidfd_getfd(2)
 */
int fsq_open_file_take(const struct fsq_open_file *file);

/**
 * Read the name of a process' command.
 *
 * @command  set: for free(3), or NULL
 * @return   0 or a negative errno
 * Source: proc_pid_comm(5)
 */
int fsq_process_command(pid_t pid, char **command);

#endif
