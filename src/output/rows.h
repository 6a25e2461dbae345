/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands hand to renderers: plain values with their units. "Units" of a form are 512-byte
 * basic blocks for blocks and realtime, pieces for inodes.
 */
#ifndef FSQ_ROWS_H
#define FSQ_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_type { ROW_USER, ROW_GROUP, ROW_PROJECT };
enum row_form { ROW_BLOCKS, ROW_INODES, ROW_REALTIME, ROW_FORMS };

/* How a table is to be printed. */
struct row_style {
	bool form[ROW_FORMS]; /* which forms */
	bool human;	      /* sizes with a letter */
	bool numeric;	      /* IDs instead of names */
};

#define ROW_NO_GRACE (-1)

/* Has a command changed it? In a dry run: would it? */
enum row_change {
	ROW_ONLY_SHOWN,
	ROW_UNCHANGED,
	ROW_CHANGED,
	ROW_CHANGE_UNKNOWN, /* the kernel does not tell */
};

struct amounts_row {
	uint64_t used_units;
	uint64_t soft_units;   /* 0: no limit */
	uint64_t hard_units;   /* 0: no limit */
	int64_t grace_seconds; /* what is left, or ROW_NO_GRACE while it does not run */
	unsigned int warnings;
};

/* Whose quota: @name is NULL where the ID has none, or names are not wanted. */
struct owner_row {
	enum row_type type;
	uint32_t id;
	const char *name;
};

struct usage_row {
	const char *device;
	const char *directory;
	struct owner_row owner;
	struct amounts_row form[ROW_FORMS];
};

struct state_row {
	enum row_type type;
	const char *device;
	const char *directory;
	bool accounting;
	bool enforced;
	bool has_inode;
	uint64_t inode;
	uint64_t blocks;
	uint32_t extents;
	int64_t grace_seconds[ROW_FORMS]; /* ROW_NO_GRACE: none */
	unsigned int max_warnings[ROW_FORMS];
	bool has_realtime_warnings; /* xfs_quota 6.1 does not show them */
};

struct limits_row {
	const char *device;
	uint32_t id;
	uint64_t soft_units[ROW_FORMS]; /* 0: no limit */
	uint64_t hard_units[ROW_FORMS];
};

/* What somebody owns, and how much of it was not read for 30, 60 and 90 days. */
struct ownership_row {
	const char *device;
	const char *directory;
	struct owner_row owner;
	uint64_t kib;
	uint64_t files;
	uint64_t unread_kib[3];
};

/* Files of a size, or of it and above for the last row; and the sum of all up to here. */
struct file_size_row {
	const char *device;
	const char *directory;
	uint64_t kib;
	uint64_t files;
	uint64_t sum_kib;
};

struct space_row {
	const char *device;
	const char *directory;
	uint64_t total_units;
	uint64_t used_units;
	uint64_t available_units;
};

/* A line of the table of mount points and project directories. */
struct path_row {
	unsigned int index;
	bool current;
	bool foreign;
	const char *directory;
	const char *device;
	bool is_project;
	struct owner_row project;
	bool accounting[3]; /* by row_type */
	bool enforced[3];
};

enum project_action { PROJECT_CHECK, PROJECT_SETUP, PROJECT_CLEAR };

/* One file as lsattr(1) lists it. */
struct attributes_row {
	const char *path;
	uint32_t flags; /* FS_IOC_GETFLAGS */
	uint32_t project;
	bool inherit; /* the directory hands it on */
};

/* What a directory that is gone has left. */
struct leftover_row {
	const char *action; /* "removed", "would-remove" or "kept" */
	const char *kind;   /* "directory", "line", "limits" or "name" */
	const char *reason; /* why it is kept: "unmounted", "used" or "pod"; else NULL */
	uint32_t id;
	const char *name;	/* or NULL */
	const char *directory;	/* or NULL */
	const char *mountpoint; /* or NULL */
	uint64_t inodes;	/* that have the ID, where it is used */
	enum row_change change;
	bool would;
	const char *sentence; /* kind or reason, for people */
};

/* Limits, as apply changes them; 0: none. */
struct applied_limits {
	uint64_t soft_bytes, hard_bytes, soft_inodes, hard_inodes;
};

/* A directory of apply's files. */
struct applied_row {
	const char *path;
	const char *action; /* "created", "changed", "unchanged" or "failed" */
	enum row_change change;
	bool would;  /* in a dry run */
	uint32_t id; /* 0: not known */
	const char *file;
	unsigned int line;
	const struct applied_limits *before, *after; /* or NULL */
};

/* What becomes of a quota record: limits, grace times or warnings, in all forms. */
struct changed_quota_row {
	enum { CHANGED_LIMITS, CHANGED_GRACE, CHANGED_WARNINGS } what;
	struct owner_row owner;
	const char *device;
	const char *directory; /* the mount point, or of resize the directory */
	struct amounts_row before[ROW_FORMS], after[ROW_FORMS];
	enum row_change change;
	bool would; /* in a dry run */
};

/* A type of quota that is switched. */
struct switched_row {
	enum row_type type;
	const char *device;
	const char *directory;
	bool accounting, enforced; /* afterwards */
	bool was_enforced;
	enum row_change change;
	bool would; /* in a dry run */
};

/* A directory tree that gets an ID, or loses it. */
struct changed_tree_row {
	enum project_action action;
	const char *project; /* as it was given */
	const char *path;
	uint64_t entries; /* files and directories in it, and how many of them are changed */
	uint64_t changed;
	uint64_t mounts_skipped;
	bool would; /* in a dry run */
};

/* A quota that is taken off. */
struct released_row {
	const char *path;		     /* or NULL: of a project */
	uint32_t id;			     /* 0: there is none */
	const char *name;		     /* or NULL */
	const struct applied_limits *limits; /* that are taken off, or NULL */
	uint64_t lines;			     /* of both files */
	uint64_t untagged;		     /* files and directories */
	uint64_t left_inodes;		     /* that keep the ID */
	uint64_t mounts_skipped;
	enum row_change change;
	bool would; /* in a dry run */
};

/* A file that carries an ID. */
struct found_row {
	const char *path;
	uint32_t id;
	bool show_id; /* in text */
	bool null;    /* the path alone, ended by NUL */
};

/* Where a quota can be put. */
struct support_row {
	const char *path;
	const char *filesystem; /* or NULL: not to be found out */
	const char *mountpoint;
	bool enforced;
};

/* Something that happened to a quota. */
struct watch_row {
	int64_t milliseconds; /* when, since 1970 */
	const char *event;    /* "soft-reached" or another of watch's words */
	const char *sentence; /* the same for people, with the form */
	bool of_inodes;	      /* and not of space */
	struct owner_row owner;
	const char *const *directories; /* of a project */
	size_t directory_count;
	const char *filesystem;
	const char *mountpoint;
	bool has_writer;
	uint32_t writer;  /* user ID of who caused it */
	bool from_kernel; /* else it was found by polling */
	uint64_t count;	  /* how often since the last one */
	bool has_numbers; /* false: the filesystem could not be asked */
	uint64_t used_bytes, used_inodes;
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	int64_t bytes_grace_seconds, inodes_grace_seconds; /* ROW_NO_GRACE: it does not run */
	double percent; /* of the limit of the form that is in use; -1: no limit */
};

enum finding_level { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };

/* What doctor found. */
struct finding_row {
	enum finding_level level;
	const char *finding;	/* its stable word */
	const char *path;	/* or NULL: the caller */
	const char *filesystem; /* or NULL */
	const char *mountpoint; /* or NULL */
	uint32_t id;		/* of a project, or 0 */
	uint64_t line;		/* of a file, or 0 */
	const char *message;
	const char *repair; /* a command in one line, or NULL */
};

#endif
