/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fsq_diagnose() hands around, and its parts: diagnose_filesystem.c, diagnose_records.c,
 * diagnose_registry.c and diagnose_trees.c.
 */
#ifndef FSQ_DIAGNOSIS_H
#define FSQ_DIAGNOSIS_H

#include <sys/stat.h>

#include "quota/mounts/handle.h"
#include "outlook.h"
#include "quota/mounts/mount_table.h"
#include "quota/registry/project_line.h"
#include "shared/texts.h"

struct fsq_diagnosis {
	const struct fsq_diagnose_request *request;
	const struct fsq_registry *registry;
	const char *fstab;
	fsq_finding_visitor visit;
	void *arg;
	bool unreachable; /* no quota call reaches the kernel */
	bool by_fd;	  /* quota calls need no device */
	bool stopped;	  /* the visitor wants no more */
	dev_t *devs;	  /* the file systems that were looked at */
	size_t dev_count, dev_capacity;
	struct fsq_mount_points *mounts; /* all, once they are asked for */
	struct fsq_error *err;
	int rc; /* of the whole */
};

/* A file or directory that is diagnosed. */
struct fsq_subject {
	struct fsq_diagnosis *diagnosis;
	struct fsq_handle handle;
	struct fsq_outlook outlook; /* its next mount only if repairs are asked for */
	bool is_unasked;	    /* quotas are elsewhere: that it has none is no problem */
};

/* The entries of /etc/projects or /etc/projid with their lines. */
struct fsq_registered {
	const char *word; /* the directory or name */
	const char *text; /* the line */
	uint32_t id;
	uint64_t line; /* from 1 on */
	bool twice;    /* the word is there with another ID, too */
	bool shared;   /* the ID is there with another word, too */
};

struct fsq_registered_list {
	const char *file;
	enum fsq_project_file kind;
	char *text;			/* lines point into it */
	struct texts words;		/* that are not at the end of a line */
	struct fsq_registered *entries; /* in the order of the file */
	size_t count, capacity;
};

/* Kubelet gives up after so many IDs in a row that are in use and in no file. */
#define FSQ_KUBELET_SEARCHES 128

/** Hand a finding to the visitor, with its level. */
void fsq_finding_visit(struct fsq_diagnosis *diagnosis, struct fsq_finding finding);

/** The same for one about the subject's file system; path NULL becomes its mount point. */
void fsq_finding_visit_here(struct fsq_subject *subject, struct fsq_finding finding);

/** The same with the mount options for a repair. */
void fsq_diagnosis_visit_with_options(struct fsq_subject *subject, struct fsq_finding finding);

/** @return  whether to mount the file system anew may repair it */
bool fsq_finding_unmounts(enum fsq_finding_id id);

/** @return  all mounts, or NULL: the diagnosis ends */
const struct fsq_mount_points *fsq_diagnosis_mounts(struct fsq_diagnosis *diagnosis);

/** @return  where else its file system is mounted, or NULL */
const char *fsq_diagnosis_other_mount(struct fsq_diagnosis *diagnosis,
				      const struct fsq_mount *mount);

/** Open the directory where a file system is mounted. @return  -1: it cannot be opened, or is covered */
int fsq_diagnosis_open_root(const struct fsq_mount *mount);

/** @return  whether a directory is registered in another one, or is that if @itself; also if that is not known */
bool fsq_diagnose_is_registered(struct fsq_diagnosis *diagnosis, const char *directory,
				bool itself);

/** @return  whether a directory on this filesystem is registered; also if that is not known */
bool fsq_diagnose_has_registered(struct fsq_diagnosis *diagnosis, dev_t dev);

/** There is no memory: the diagnosis ends. */
void fsq_diagnosis_fail(struct fsq_diagnosis *diagnosis, int errnum, const char *path);

/** Report a path that cannot be looked at. */
void fsq_diagnosis_report_error(struct fsq_diagnosis *diagnosis, const struct fsq_error *err);

/** @return  whether to end the diagnosis */
bool fsq_diagnosis_is_over(const struct fsq_diagnosis *diagnosis);

/** Can the file system have project quotas, and does it? Fills accounting and enforced. */
void fsq_diagnose_filesystem(struct fsq_subject *subject);

/**
 * Judge the next mount of a filesystem.
 *
 * @say      called with a finding about it, if there is one
 */
void fsq_diagnose_next_mount(const struct fsq_outlook *outlook,
			     void (*say)(void *arg, struct fsq_finding finding), void *arg);

/** Limits without files, and files without limits. */
void fsq_diagnose_records(struct fsq_subject *subject);

/** The files of the registry; of file systems that were looked at, the directories in them. */
void fsq_diagnose_registry(struct fsq_diagnosis *diagnosis);

/** Look at the directories of the projects file that are on a file system that was looked at; with deep, also at the
 * request's paths. */
void fsq_diagnose_trees(struct fsq_diagnosis *diagnosis, const struct fsq_registered_list *list);

#endif
