/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libfsquota: project quotas of XFS, ext4 and f2fs.
 *
 * ERRORS. fsq_parse_ functions return 0 or a negative errno. All others that can fail return 0 or a negative FSQ_E_
 * kind, and fill the struct fsq_error that their last parameter points to; it may be NULL. Kinds are smaller than any negative errno. A function that
 * calls a visitor returns 0 when the visitor ended the visit. A function that fails has freed and
 * closed what it made; do not use its result.
 *
 * NULL. An argument and a field may be NULL where it says so here, and: every struct fsq_error, every @arg,
 * and what a function closes or frees. All others must not be NULL. A function that lacks one of these, gets a
 * size that is not that of the struct, or a value that its enum does not have, changes nothing: it returns
 * FSQ_E_USAGE, one of those with an errno -EINVAL, and one that cannot fail 0, false, -1 or NULL.
 *
 * THREADS. Every function is MT-Safe (see attributes(7)): the library has no global state. One that takes a
 * handle is MT-Safe race:handle: a handle (fsq_assignment, fsq_assigned, fsq_project_names, fsq_warnings) belongs to
 * one thread at a time. So do budgets of
 * requests, which a dry run writes. A walk of a large tree starts threads of its own; they are gone when the
 * function returns.
 *
 * SIGNALS. The library neither blocks signals nor looks at them. A function that can take long asks
 * fsq_call_options.is_cancelled whether to stop. A process that may be killed by a signal in the
 * middle of fsq_assign() or fsq_release() should block the signal and let is_cancelled tell of it.
 *
 * GROWTH. Until 1.0 the ABI may change with each version: the SONAME says so. Requests and options begin with their
 * size, which the caller sets, and can grow; what is not set must be zero.
 *
 * UNITS. What is called bytes is in bytes. Other limits of space, those of fsq_limits, are in basic blocks of 512 bytes,
 * as the kernel has them: fsq_limit_blocks_up() and fsq_limit_bytes() convert them. Inodes are numbers; times are seconds.
 */
#ifndef FSQUOTA_H
#define FSQUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* --- Version --- */

/* Of this header. The number has the same three numbers, in eight bits each. */
#define FSQ_VERSION "0.3.0"
#define FSQ_VERSION_NUMBER 0x000300

/** @return  FSQ_VERSION of the library that runs, and its number in *@number, which may be NULL */
const char *fsq_version(unsigned int *number);

/* --- Errors --- */

enum fsq_error_kind {
	FSQ_OK = 0,
	FSQ_E_FAILED = -5001,	     /* anything else: I/O, no memory, cancelled (EINTR) */
	FSQ_E_USAGE = -5002,	     /* the caller asked for something that makes no sense */
	FSQ_E_NOT_SUPPORTED = -5003, /* by file system or kernel, or the quota type is off */
	FSQ_E_PERMISSION = -5004,    /* capability, user namespace, seccomp filter */
	FSQ_E_NOT_FOUND = -5005,     /* no such path, project or quota */
	FSQ_E_CONFLICT = -5006,	     /* the ID is in use, or assigned otherwise */
	FSQ_E_PARTIAL = -5007,	     /* some files of a tree failed */
};

/* What can be done about an error: fsq_hint_text() has the words. */
enum fsq_hint {
	FSQ_HINT_NONE,
	FSQ_HINT_NAME_MOUNTED,
	FSQ_HINT_MOUNT_WITH_QUOTA,
	FSQ_HINT_MOUNT_OR_COUNT,
	FSQ_HINT_ASSIGN_OR_COUNT,
	FSQ_HINT_ROOT_ONLY,
	FSQ_HINT_IMMUTABLE,
	FSQ_HINT_READ_ONLY_REGISTRY,
	FSQ_HINT_WAIT_LONGER,
	FSQ_HINT_LOOK_AT_HOLDER,
	FSQ_HINT_INSIST_ON_ID,
	FSQ_HINT_NAME_DIRECTORY,
	FSQ_HINT_PROJECT_ABOVE,
	FSQ_HINT_RELEASE_AGAIN,
	FSQ_HINT_ALLOW_SHRINK,
	FSQ_HINT_NAME_FILESYSTEM,
	FSQ_HINT_ENFORCE,
	FSQ_HINT_KEEP_TAGS,
	FSQ_HINT_RELEASE_AT,
	FSQ_HINT_FORCE,
	FSQ_HINT_AROUND,
	FSQ_HINT_ASSIGN,
	FSQ_HINT_ORDER_LIMITS,
	FSQ_HINT_MAKE_PARENT,
	FSQ_HINT_LOOK_AT_ID,
	FSQ_HINT_COPY,
	FSQ_HINT_COPIED,
	FSQ_HINT_ASSIGN_LESS,
	FSQ_HINT_MADE_AGAIN,
	FSQ_HINT_NO_REGISTER,
};

/* Longer paths are cut in errors. */
#define FSQ_PATH_MAX 4096

struct fsq_error {
	enum fsq_error_kind kind;
	int errnum; /* errno of the call that failed, 0 when there was none */
	enum fsq_hint hint;
	char path[FSQ_PATH_MAX]; /* the object that failed, cut when longer; may be empty */
	char message[256];	 /* what failed, without the path and without strerror(3) */
};

/**
 * Put an error into words: its path, its message and strerror(3), as far as there are, with ": " between them.
 *
 * @text     set, cut to @size bytes with the NUL
 */
void fsq_error_text(const struct fsq_error *err, char *text, size_t size);

/**
 * What can be done about an error. A field of the request is called by its name.
 *
 * @return   a part of a sentence, or NULL for FSQ_HINT_NONE and hints of a later version
 */
const char *fsq_hint_text(enum fsq_hint hint);

/* What a visitor returns. */
enum fsq_visit {
	FSQ_VISIT_CONTINUE,
	FSQ_VISIT_STOP,	 /* end the visit */
	FSQ_VISIT_PRUNE, /* in a tree: do not enter this directory */
};

/* How a call that can take long is watched and ended. */
struct fsq_call_options {
	size_t size;
	unsigned int threads; /* of a walk, at most; 0: as many as help */
	/* Asked now and then, by any thread. When it returns true the call undoes what it can, and
	 * fails with FSQ_E_FAILED and EINTR. May be NULL. */
	bool (*is_cancelled)(void *arg);
	/* Called now and then by any thread, by one at a time, and when a walk ends with a NULL
	 * @path. May be NULL. */
	void (*progress)(uint64_t entries, const char *path, void *arg);
	void *arg; /* for all three */
	/* Called for each mount in a tree that is not entered, once, by one thread at a time. A mount of a
	 * directory onto itself is entered. May be NULL. */
	void (*mount_skipped)(const char *path, void *arg);
	/* For fsquota itself, or NULL: the mounts to keep to, for a path that a file names. What is mounted
	 * elsewhere, and may hang, is not looked at. */
	const struct fsq_mount_points *mounts;
};

/* --- Sizes and IDs --- */

/* The values are the kernel's own: USRQUOTA, GRPQUOTA, PRJQUOTA. */
enum fsq_type { FSQ_USER, FSQ_GROUP, FSQ_PROJECT, FSQ_TYPES };

/* What a quota counts. */
enum fsq_form { FSQ_BLOCKS, FSQ_INODES, FSQ_REALTIME, FSQ_FORMS };

/* The highest ID: 4294967295 means "none" in every interface of the kernel. */
#define FSQ_ID_MAX 4294967294U

/* Bytes in a basic block. */
#define FSQ_BASIC_BLOCK 512U

/* Project IDs to choose from, both included. */
struct fsq_id_range {
	uint32_t first; /* not 0 */
	uint32_t last;
};

/**
 * Parse a size as people and orchestrators write it: decimal digits, and K, M, G, T, P or E in
 * either case for powers of 1024, optionally followed by i or iB. With a letter the number can have
 * a point and up to three digits that count, as 1.5G. 0 would mean no limit, and so
 * would 2^58 and more: neither is a size.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_bytes(const char *text, uint64_t *bytes);

/**
 * Parse a number from 1 to 2^63-1 in decimal digits.
 *
 * @return   as fsq_parse_size()
 */
int fsq_parse_positive(const char *text, uint64_t *number);

/**
 * Parse a numeric user, group or project ID: decimal digits after an optional +.
 *
 * @return   0; -EINVAL no number; -ERANGE negative, or above FSQ_ID_MAX
 */
int fsq_parse_id(const char *text, uint32_t *id);

/** Convert a limit to basic blocks, rounded up. */
uint64_t fsq_limit_blocks_up(uint64_t bytes);

/**
 * Convert a limit in basic blocks, as the kernel gives it, to the bytes that were set. XFS rounds
 * the two values that mean "no limit" up; they are recognized all the same.
 *
 * @return   UINT64_MAX for anything above them
 */
uint64_t fsq_limit_bytes(uint64_t blocks);

/**
 * @limit    in basic blocks or inodes, as the kernel gives it
 * @return   whether it stops nobody: 0, or from the smaller value on that KEP-1029 uses for
 *           accounting without a limit, 2^58-1 bytes; nowhere is room for as many inodes
 * Source: KEP-1029, "Selecting a Project ID"
 */
bool fsq_limit_is_none(uint64_t limit);

/* --- Limits --- */

/* Limits to set: only those whose bit is in @mask. */
struct fsq_limits {
	unsigned int mask; /* FSQ_SOFT(form) | FSQ_HARD(form) | ... */
	uint64_t soft[FSQ_FORMS];
	uint64_t hard[FSQ_FORMS];
};
#define FSQ_SOFT(form) (1U << (2 * (unsigned int)(form)))
#define FSQ_HARD(form) (2U << (2 * (unsigned int)(form)))

/* --- Directories with a quota --- */

/* The files in which projects are registered. A NULL registry is that of /etc. */
struct fsq_registry {
	size_t size;
	const char *projects_file; /* as /etc/projects */
	const char *projid_file;   /* as /etc/projid */
	bool none;		   /* only read them: their IDs are not given to others */
	unsigned int lock_seconds; /* wait for each lock so long at most; 0: do not wait */
	/* What fsq_assigned_open() has read of the same files, or NULL. Many calls of one thread keep it, and do not read
	 * them again as long as nobody else changes them. */
	struct fsq_assigned *assigned;
};

#define FSQ_PROJECTS_FILE "/etc/projects"
#define FSQ_PROJID_FILE "/etc/projid"
#define FSQ_LOCK_SECONDS 60

/* Who is stopped at a limit? */
enum fsq_enforcement {
	FSQ_ENFORCED,
	/* Only root can write in the directory, and on ext4 and f2fs root passes every limit
	 * (CAP_SYS_RESOURCE). XFS stops root, too. */
	FSQ_ENFORCED_BUT_FOR_ROOT,
	FSQ_NOT_ENFORCED, /* accounting only: pqnoenforce, or ext4 mounted without prjquota */
};

/*
 * What hard limits of space may add up to: those of the projects that have a directory at or below a
 * directory, on its filesystem; or those of all projects of a filesystem.
 */
struct fsq_budget {
	const char *directory; /* or a directory on the filesystem; NULL: each filesystem */
	uint64_t bytes;	       /* of the directory */
	unsigned int percent;  /* or so much of the filesystem's size; else 0 */
	int64_t planned;       /* bytes that dry runs would have added; 0 at first */
};

struct fsq_assign_request {
	size_t size;
	const char
		*directory; /* not a symlink; the directories above it may be, where only root and
				* the caller can change them */
	uint32_t id;	    /* this project ID and no other; 0: the directory's, or an unused one */
	const char *name;   /* join this project, or create it; NULL: volume<ID> */
	struct fsq_limits limits; /* of blocks and inodes; what is not in the mask stays */
	/* Percent, instead of a limit of space; 0: none. The hard one is of the size of the file
	 * system, the soft one of the hard limit. */
	unsigned int hard_percent, soft_percent;
	bool unlimited;	       /* accounting only: KEP-1029's largest value */
	bool require_enforced; /* fail where the limits would stop nobody */
	bool dry_run;	       /* change nothing, only find out what would change */
	/* Make the directory if it is not there, with this mode and owner; rolled back as all. */
	bool make;
	mode_t mode; /* 0: 0755 */
	uid_t owner;
	gid_t group;
	/* To choose from. All 0: from 1048577 on, as kubelet; from 2097153 on, out of kubelet's
	 * way, when the registry is not that of /etc; for a container store from 2^30 on. */
	struct fsq_id_range range;
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* or NULL */
	struct fsq_budget *budgets; /* that the limit has to fit in; a dry run counts with it */
	size_t budget_count;
	bool over_budget; /* it need not fit */
	/* Only register the project that @directory carries: it is an error that it has none of its own,
	 * or that limits or @make are asked for. */
	bool keep_limits;
	/* As @limits, in bytes; 0: what @limits says */
	uint64_t soft_bytes, hard_bytes, soft_inodes, hard_inodes;
	/* Directories in it that are registered stay with their projects, and the rest gets this one. Without it they
	 * are a conflict. */
	bool around;
};

/* An assignment that has been made, and can still be rolled back. */
struct fsq_assignment;

/**
 * Put a quota on a directory: all or nothing. On a directory that has one only the limits asked for
 * are changed, and IDs that its owner has changed are set again. A new project without a limit is
 * unlimited.
 *
 * The strings and structs of @request must stay until fsq_assignment_free().
 *
 * @assignment set on success; free it with fsq_assignment_free()
 * @return   0; on failure nothing has changed:
 *           FSQ_E_USAGE           no directory, a name that is none, a soft limit above the hard one,
 *                                 both given, or keep_limits with others
 *           FSQ_E_NOT_SUPPORTED   no project quota here; the limits are not enforced
 *           FSQ_E_PERMISSION      no CAP_SYS_ADMIN in the initial user namespace; a file of /etc
 *           FSQ_E_NOT_FOUND       no such directory; with keep_limits it has no ID
 *           FSQ_E_CONFLICT        it or something in it has another ID or name; without around a
 *                                 directory in it is registered; no unused ID; the limit does not fit
 *                                 in a budget, or to the limits that it keeps
 *           FSQ_E_FAILED          I/O, memory, no space; EINTR cancelled
 * Source: KEP-1029, "Operation Flow -- Applying a Quota"
 */
int fsq_assign(struct fsq_assignment **assignment, const struct fsq_assign_request *request,
	       struct fsq_error *err);

/** @return  its project ID */
uint32_t fsq_assignment_id(const struct fsq_assignment *assignment);

enum fsq_change {
	FSQ_UNCHANGED, /* all was so already */
	FSQ_CHANGED,   /* other limits, or IDs that its owner had changed */
	FSQ_CREATED,   /* it had no quota of its own */
};

/** @return  what it has changed, or would in a dry run */
enum fsq_change fsq_assignment_change(const struct fsq_assignment *assignment);

/** Get the limits before and after it. */
void fsq_assignment_limits(const struct fsq_assignment *assignment, struct fsq_limits *before,
			   struct fsq_limits *after);

/** @return  who is stopped at its limits; FSQ_ENFORCED when no limit was asked for */
enum fsq_enforcement fsq_assignment_enforcement(const struct fsq_assignment *assignment);

/**
 * Undo an assignment that nobody could be told of.
 *
 * @return   0, or why not all of it was undone: somebody holds the locks of the files
 */
int fsq_assignment_rollback(struct fsq_assignment *assignment, struct fsq_error *err);

/** Free an assignment; the quota stays. NULL is ignored. */
void fsq_assignment_free(struct fsq_assignment *assignment);

/* The registry, read once: to look whether many directories have what they should have, and to give it to them. */
struct fsq_assigned;

/**
 * @assigned set on success; close it with fsq_assigned_close()
 * @registry or NULL
 * @return   0; FSQ_E_FAILED or FSQ_E_PERMISSION a file cannot be read
 */
int fsq_assigned_open(struct fsq_assigned **assigned, const struct fsq_registry *registry,
		      struct fsq_error *err);

/**
 * Tell whether fsq_assign() would change nothing, in four system calls. Files in the directory are
 * not looked at.
 *
 * @request  with a path that is absolute and clean, as it would be registered
 * @return   false also where that is not sure, such as with a percentage
 * Source: openat2(2), ioctl_xfs_fsgetxattr(2), quotactl(2)
 */
bool fsq_assigned_has(struct fsq_assigned *assigned, const struct fsq_assign_request *request);

/** NULL is ignored. */
void fsq_assigned_close(struct fsq_assigned *assigned);

struct fsq_release_request {
	size_t size;
	const char *directory; /* or NULL: the project @id, on the file system of @at */
	const char *at;	       /* any path on it; NULL: that of all its registered directories */
	uint32_t id;	       /* the ID that the directory carries is its own; 0: find out */
	bool keep_tags;	       /* leave the ID on the files: the directory is about to be deleted */
	bool dry_run;	       /* change nothing, only find out what would change */
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* or NULL */
};

struct fsq_released {
	uint32_t id; /* 0: not found out */
	/* What was taken away, or would be in a dry run: */
	bool limits_off;
	struct fsq_limits limits; /* these, if so */
	uint64_t lines;		  /* of the files */
	uint64_t untagged;	  /* files and directories that had the ID */
	/* Inodes that still have the ID: deleted but open, elsewhere, or of a kind that the
	 * kernel does not change. Nobody gets the ID before they are gone. */
	uint64_t left_inodes;
};

/**
 * Take the quota off a directory, no matter who put it there: all or nothing. What is in it then
 * belongs to no project, or to that of the directory above. The last directory of a project takes
 * the limits and names of the project with it.
 *
 * Without a directory: take the quota off all directories of a project that are registered on a
 * file system, one after the other, and then its limits there, and the lines of the directories
 * that are gone. A registered directory that is gone is released, too.
 *
 * @released filled, on failure with what is done all the same; or NULL
 * @return   0; FSQ_E_PARTIAL files that others move about keep the ID, and the quota stays until
 *           the next release; on any other failure nothing has changed: FSQ_E_NOT_FOUND it has no
 *           quota of its own; FSQ_E_CONFLICT it has another ID, or without a directory: files have
 *           the ID that are in none of its directories; as fsq_assign()
 * Source: KEP-1029, "Operation Flow -- Removing a Quota"
 */
int fsq_release(const struct fsq_release_request *request, struct fsq_released *released,
		struct fsq_error *err);

/* What is left of a directory. */
enum fsq_leftover_kind {
	FSQ_LEFTOVER_DIRECTORY, /* it is registered, and gone */
	FSQ_LEFTOVER_LINE,	/* it is registered, and has neither the ID nor limits */
	FSQ_LEFTOVER_LIMITS,	/* limits of an ID that is not registered, and that no file has */
	FSQ_LEFTOVER_NAME,	/* a name of an ID that nothing else has */
};

struct fsq_move_request {
	size_t size;
	const char *from; /* the path that it was registered by */
	const char *to;
	bool rename;  /* rename it, too; else that was done */
	bool dry_run; /* change nothing, only find out whether it could be done */
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* or NULL */
};

struct fsq_moved {
	uint32_t id;	/* 0: only directories in it are registered */
	uint64_t lines; /* of the projects file: its own, and those of directories in it */
};

/**
 * Have a quota follow a directory that was renamed: the registration of the directory, and of those in it.
 * Limits and name belong to the ID, which the directory keeps.
 *
 * @moved    filled on success, or NULL
 * @return   0; on failure nothing has changed: FSQ_E_NOT_FOUND nothing is registered at @from, or there
 *           is no directory; FSQ_E_CONFLICT something else is at @from, @to has another ID, or @to is
 *           registered or (with @rename) there already; as fsq_assign()
 * Source: projects(5); rename(2), RENAME_NOREPLACE
 */
int fsq_move(const struct fsq_move_request *request, struct fsq_moved *moved,
	     struct fsq_error *err);

/* Why something is not removed. */
enum fsq_leftover_kept {
	FSQ_NOT_KEPT,
	FSQ_KEPT_UNMOUNTED, /* its file system may not be mounted */
	FSQ_KEPT_USED,	    /* files have the ID: deleted but open, or moved elsewhere */
	FSQ_KEPT_POD,	    /* kubelet takes the pod up at its next start: its directory exists */
	FSQ_KEPT_UNPROVEN, /* its file system may not be mounted: the one that is has no limits of the ID */
	FSQ_KEPT_ELSEWHERE,    /* another file system has the ID, perhaps of the directory */
	FSQ_KEPT_UNREADABLE,   /* an error hides whether it is gone */
	FSQ_KEPT_UNREGISTERED, /* limits that no line names: somebody may have set them in advance */
	FSQ_KEPT_AWAITED,      /* fstab(5) has a mount point for it where nothing is mounted */
};

struct fsq_leftover {
	enum fsq_leftover_kind kind;
	enum fsq_leftover_kept kept;
	uint32_t id;
	const char *name;	/* of FSQ_LEFTOVER_NAME, or NULL */
	const char *directory;	/* of a line, or NULL */
	const char *mountpoint; /* where it was, or NULL */
	uint64_t inodes;	/* that have the ID, of FSQ_KEPT_USED */
	int errnum;		/* of FSQ_KEPT_UNREADABLE */
};

typedef enum fsq_visit (*fsq_leftover_visitor)(const struct fsq_leftover *leftover, void *arg);

struct fsq_prune_request {
	size_t size;
	const char *const *paths;  /* file systems, by any path on them */
	size_t path_count;	   /* 0: all that are mounted; only then names are removed */
	struct fsq_id_range range; /* for names and limits; as in fsq_assign_request */
	bool all; /* also of other IDs, and what would be kept, but FSQ_KEPT_UNREADABLE and FSQ_KEPT_AWAITED */
	bool dry_run;				/* only visit */
	bool unregistered;			/* also limits in the range that no line names */
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* or NULL */
	bool pods; /* only lines of volumes of pods, with their names and limits */
};

/**
 * Remove what directories that are gone have left: their lines, names and limits. Each is visited
 * after it was removed, or with the reason why it is kept. The locks of the files are held for a part of
 * the removals at a time; when @visit stops it, those of the same part were removed, too.
 *
 * @return   0, also when @visit stopped it; FSQ_E_NOT_FOUND no such path; FSQ_E_NOT_SUPPORTED no
 *           project quota there; FSQ_E_PERMISSION; FSQ_E_FAILED, EINTR cancelled. What was visited
 *           before a failure is done.
 * Source: projects(5), projid(5); quotactl(2), Q_XGETNEXTQUOTA
 */
int fsq_prune(const struct fsq_prune_request *request, fsq_leftover_visitor visit, void *arg,
	      struct fsq_error *err);

struct fsq_resize_request {
	size_t size;
	const char *directory; /* or NULL: the project @id, wherever its directories are */
	const char *at;	       /* then: a path on its file system, or NULL: by its directories */
	uint64_t bytes;	       /* the new hard limit of space; 0, without what follows: it stays */
	bool relative;	       /* add @bytes to the hard limit instead, and to the soft one */
	bool allow_shrink;     /* but never below what is in use */
	/* Other limits to set: the soft one of space, and those of inodes. */
	struct fsq_limits limits;
	bool dry_run;
	uint32_t id;				/* as in fsq_release_request */
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* or NULL */
	unsigned int percent; /* add so many percent of the hard limit to it, and to the soft one */
	bool no_hard;	      /* take the hard limit of space away */
	/* As in fsq_assign_request: */
	struct fsq_budget *budgets;
	size_t budget_count;
	bool over_budget;
	/* As @limits, in bytes; 0: what @limits says */
	uint64_t soft_bytes, soft_inodes, hard_inodes;
};

struct fsq_resized {
	uint32_t id;
	dev_t dev;    /* of the file system */
	bool changed; /* or would be in a dry run */
	bool above;   /* the project is that of a registered directory above */
	struct fsq_limits before, after;
	uint64_t used[FSQ_FORMS];      /* basic blocks, and inodes */
	int64_t expires[FSQ_FORMS];    /* the end of grace times that go on, since 1970; or 0 */
	const struct fsq_budget *over; /* with over_budget: one that is exceeded, or NULL */
};

/**
 * Change limits of the project of a directory: its own, or that of a registered directory above it.
 * A soft limit of space that was equal to the hard one stays equal, one that would be above it is
 * lowered to it, and with a relative size it moves along; unless it is set, too.
 *
 * @resized  filled on success, or NULL; soft limits may be below what is in use
 * @return   0; FSQ_E_NOT_FOUND no such directory, or it belongs to no project; FSQ_E_CONFLICT a hard
 *           limit would be below use, or smaller, or does not fit in a budget, or to the limits that
 *           stay, or there is no limit to grow; FSQ_E_USAGE too large, or a soft limit above the hard
 *           one, both given; FSQ_E_FAILED somebody holds a lock for too long; as fsq_assign()
 * Source: KEP-284, growing persistent volumes
 */
int fsq_resize(const struct fsq_resize_request *request, struct fsq_resized *resized,
	       struct fsq_error *err);

/* --- What is used --- */

enum fsq_usage_source {
	FSQ_USAGE_QUOTA, /* the quota of its project */
	FSQ_USAGE_WALK,	 /* counted as du(1) does, without deleted files that are open */
	/* Its whole file system, which is in memory; or, with at_least, what statfs(2) shows of its
	 * project to a caller who may not ask for the quota. */
	FSQ_USAGE_STATFS,
};

#define FSQ_NOT_KNOWN UINT64_MAX

/* Whether the limits of a project hold in a directory of it. */
enum fsq_in_force {
	FSQ_IN_FORCE_UNKNOWN, /* it is gone, or the caller cannot see it */
	FSQ_IN_FORCE_YES,
	FSQ_IN_FORCE_NOT_ENFORCED,  /* its file system counts, and limits stop nobody */
	FSQ_IN_FORCE_NOT_INHERITED, /* it does not hand its ID on to what is made in it */
	FSQ_IN_FORCE_OTHER_ID, /* it carries another ID than the one that it is registered with */
};

struct fsq_usage {
	enum fsq_usage_source source;
	uint32_t id;			  /* 0: no project */
	uint64_t used_bytes, used_inodes; /* with FSQ_USAGE_STATFS: one can be FSQ_NOT_KNOWN */
	/* 0: no limit */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_inodes, hard_inodes;
	bool accounting,
		enforced; /* of projects, on its file system; where another one answers: it shows a limit */
	/* The hard limits are the lowest that there can be: statfs(2) shows the soft limit, if there
	 * is one. Soft limits are not known. A use as large as its hard limit can be larger. Where
	 * another file system answers, without @enforced they may be its size. */
	bool at_least;
	char *device; /* the source in the mount table */
	char *mountpoint;
	/* When the grace time ends, in seconds since 1970; 0: it is not running. */
	int64_t bytes_expires, inodes_expires;
	enum fsq_in_force in_force; /* only with FSQ_USAGE_QUOTA */
	uint32_t carried_id;	    /* the ID that it carries, which may be another one */
};

struct fsq_usage_request {
	size_t size;
	const char *path; /* a file or directory, not a symlink */
	/* As /etc/projects. The project of a directory that is in it is the one in the file,
	 * whatever its owner has made it carry. NULL: the one that it carries. */
	const char *projects_file;
	bool walk; /* count where there is no quota, or the caller may not ask for it */
	const struct fsq_call_options *options; /* of counting, or NULL */
};

/**
 * Find out how much is used below a path.
 *
 * @usage    filled on success; clear it with fsq_usage_clear()
 * @return   0; FSQ_E_NOT_FOUND no such path, or no project; FSQ_E_NOT_SUPPORTED no project quota
 *           here; FSQ_E_USAGE a symlink; FSQ_E_PERMISSION without CAP_SYS_ADMIN, where
 *           statfs(2) shows nothing; FSQ_E_FAILED
 * Source: KEP-1029, "Operation Flow -- Retrieving Storage Consumption"; statfs(2)
 */
int fsq_usage_get(struct fsq_usage *usage, const struct fsq_usage_request *request,
		  struct fsq_error *err);

/** Free what a usage points to. */
void fsq_usage_clear(struct fsq_usage *usage);

enum fsq_space_part {
	FSQ_SPACE_USED, /* what the kernel counts: the sum of the next six, without FSQ_SPACE_UNCOUNTED */
	FSQ_SPACE_TREE,	  /* in the directory */
	FSQ_SPACE_HIDDEN, /* in the directory, below a mount */
	FSQ_SPACE_OPEN, /* a deleted file that a process has open, or if there is none, the kernel */
	FSQ_SPACE_ELSEWHERE,   /* in another directory that is registered, or outside of all */
	FSQ_SPACE_UNEXPLAINED, /* nothing was found that has it */
	FSQ_SPACE_UNCOUNTED,   /* it was found, and the kernel does not count it */
	FSQ_SPACE_FOREIGN,     /* in the directory, but with another project ID: not in the sum */
	/* Of what is in the sum: */
	FSQ_SPACE_LINKED,	/* files with further names that were not found */
	FSQ_SPACE_PREALLOCATED, /* blocks beyond the end of files */
	FSQ_SPACE_DIRECTORY,	/* one of the largest, with all that is in it */
	FSQ_SPACE_FILE,		/* one of the largest */
	FSQ_SPACE_UNASKED,	/* inodes: how many deleted files processes have open that may be of
				 * the project; only filesystems of others could say. bytes: 0. Shown
				 * if something is unexplained, or a deleted file has no process */
	FSQ_SPACE_SPECIAL, /* symlinks and special files in the directory that do not carry the ID, since the kernel
			    * cannot set it: they count for no project. Not in the sum */
	FSQ_SPACE_SHARED, /* of files in the directory: extents that other files have, too; perhaps files of it */
};

struct fsq_explained {
	enum fsq_space_part part;
	uint64_t bytes, inodes;
	const char *path;    /* or NULL: not known */
	pid_t pid;	     /* the first process that has it open, or 0 */
	const char *command; /* of that process, or NULL */
	uint64_t processes;  /* that have it open */
};

typedef enum fsq_visit (*fsq_explained_visitor)(const struct fsq_explained *explained, void *arg);

struct fsq_explain_request {
	size_t size;
	const char *directory; /* not a symlink */
	const char *
		projects_file; /* as fsq_usage_request, and for other directories of the ID; or NULL */
	unsigned int top;      /* how many of the largest directories and files */
	bool everywhere; /* look for the ID in the whole file system; XFS tells without, but no paths */
	const struct fsq_call_options *options; /* or NULL */
	bool only_open;				/* deleted files that are open, and nothing else */
	bool shared; /* also FSQ_SPACE_SHARED, which opens each file in the directory */
};

/**
 * Account for the space of a directory's project: visit each part, in the order of enum fsq_space_part. Where a
 * filesystem is mounted, and that directory has no project: for what is in no project; then only files and
 * directories in the root directory are among the largest.
 * Deleted files that are open are found in /proc, so in other PID namespaces they are not.
 *
 * @return   0, also when @visit stopped it; as fsq_usage_get(); FSQ_E_USAGE not a directory;
 *           FSQ_E_PARTIAL behind the visits: some of it could not be read; FSQ_E_FAILED, with EINTR
 *           cancelled
 * Source: ioctl_xfs_bulkstat(2), proc_pid_fd(5), proc_pid_map_files(5), open_tree(2)
 */
int fsq_explain(const struct fsq_explain_request *request, fsq_explained_visitor visit, void *arg,
		struct fsq_error *err);

/* --- /etc/projects and /etc/projid --- */

/** @word  the directory of a projects file, or the name of a projid file */
typedef enum fsq_visit (*fsq_project_visitor)(uint32_t id, const char *word, void *arg);

/**
 * Visit every line ID:DIRECTORY of a projects file, in its order. Lines that make no sense are
 * passed over.
 *
 * @return   0; FSQ_E_NOT_FOUND there is none; FSQ_E_PERMISSION or FSQ_E_FAILED it cannot be read
 * Source: projects(5)
 */
int fsq_projects_each(const char *file, fsq_project_visitor visit, void *arg,
		      struct fsq_error *err);

/* The names of a projid file. NULL has none. */
struct fsq_project_names;

/**
 * Read a projid file. A file that does not exist has no names.
 *
 * @names    set, on failure to an empty set; free it with fsq_project_names_free()
 * @return   0 or FSQ_E_FAILED
 * Source: projid(5)
 */
int fsq_project_names_read(struct fsq_project_names **names, const char *file,
			   struct fsq_error *err);

void fsq_project_names_free(struct fsq_project_names *names);

/** @return  the first name of an ID, valid as long as @names, or NULL. NULL has no names. */
const char *fsq_project_names_name(struct fsq_project_names *names, uint32_t id);

/** @return  whether there is a project @name; its first ID goes to @id. NULL has no names. */
bool fsq_project_names_id(const struct fsq_project_names *names, const char *name, uint32_t *id);

/** Visit every entry of a projid file in its order. */
void fsq_project_names_each(struct fsq_project_names *names, fsq_project_visitor visit, void *arg);

/**
 * @return   whether a project may be named so from now on: a word of 1 to 255 bytes that is no number,
 *           without control characters, blanks, colons, quotes, $ and backslashes, and without # first. Names that
 *           a projid file has already may be otherwise
 */
bool fsq_project_name_is_valid(const char *name);

/* --- What the kernel tells when it happens --- */

enum fsq_warning_kind {
	FSQ_WARNING_SOFT_REACHED, /* XFS: by every write above it; ext4 and f2fs: once */
	FSQ_WARNING_GRACE_OVER,	  /* and a write was refused */
	FSQ_WARNING_HARD_REACHED, /* and a write was refused */
	FSQ_WARNING_BELOW_SOFT,	  /* not from XFS; below the hard limit, too */
	FSQ_WARNING_BELOW_HARD,	  /* not from XFS */
};

struct fsq_warning {
	dev_t dev; /* st_dev of the file system */
	enum fsq_type type;
	uint32_t id;
	enum fsq_form form; /* FSQ_BLOCKS or FSQ_INODES */
	enum fsq_warning_kind kind;
	bool has_writer;
	uid_t writer; /* who caused it */
};

typedef enum fsq_visit (*fsq_warning_visitor)(const struct fsq_warning *warning, void *arg);

/* The warnings of the kernel, about all file systems and types. */
struct fsq_warnings;

/**
 * Begin to receive warnings. They are sent in the initial network namespace alone.
 *
 * @warnings set on success; close it with fsq_warnings_close()
 * @return   0; FSQ_E_NOT_SUPPORTED the kernel sends none here; FSQ_E_PERMISSION; FSQ_E_FAILED
 * Source: kernel documentation, "Quota subsystem", "Quota netlink interface"; netlink(7)
 */
int fsq_warnings_open(struct fsq_warnings **warnings, struct fsq_error *err);

/** @return  a descriptor for poll(2), readable when there are warnings, or some were lost */
int fsq_warnings_fd(const struct fsq_warnings *warnings);

/**
 * Visit the warnings that are there, without waiting for others. A bounded number is read at once;
 * the descriptor stays readable when there are more.
 *
 * @lost     set: some came faster than they were read, so use must be asked for
 * @return   0, also when there was none; FSQ_E_FAILED
 */
int fsq_warnings_read(struct fsq_warnings *warnings, fsq_warning_visitor visit, void *arg,
		      bool *lost, struct fsq_error *err);

/** NULL is ignored. */
void fsq_warnings_close(struct fsq_warnings *warnings);

/* --- Why does it not work here? --- */

enum fsq_finding_level {
	FSQ_FINDING_OK,
	FSQ_FINDING_NOTE,    /* nothing is in the way, but something is other than one may think */
	FSQ_FINDING_PROBLEM, /* no quota can be put here, or it does not do what it should */
};

/* What was found. Each has its level, and uses some fields of struct fsq_finding. */
enum fsq_finding_id {
	/* about the caller; no path */
	FSQ_FINDING_PRIVILEGED,		  /* ok */
	FSQ_FINDING_NO_CAPABILITY,	  /* no CAP_SYS_ADMIN */
	FSQ_FINDING_USER_NAMESPACE,	  /* not in the initial one */
	FSQ_FINDING_SECCOMP,		  /* a filter forbids quotactl(2); errnum */
	FSQ_FINDING_KERNEL_WITHOUT_QUOTA, /* built without it */
	/* about a file system; path is its mount point */
	FSQ_FINDING_QUOTA_ON,	      /* ok: counted and enforced */
	FSQ_FINDING_NOT_ENFORCED,     /* counted only; options */
	FSQ_FINDING_QUOTA_OFF,	      /* not even counted; options */
	FSQ_FINDING_OTHER_FILESYSTEM, /* of a type without project quotas */
	FSQ_FINDING_BTRFS,	      /* the same, and what it has instead */
	FSQ_FINDING_TMPFS,
	FSQ_FINDING_NETWORK,
	FSQ_FINDING_OVERLAY,	      /* its upperdir cannot be seen from here; name */
	FSQ_FINDING_EXT4_FEATURES,    /* lacks project or quota; name: which */
	FSQ_FINDING_EXT4_INODE_SIZE,  /* inodes without place for an ID; count: bytes */
	FSQ_FINDING_F2FS_FEATURES,    /* the feature project_quota is missing */
	FSQ_FINDING_FEATURES_UNKNOWN, /* its device cannot be read; errnum */
	FSQ_FINDING_NO_DEVICE_NODE,   /* and the kernel wants one; count:other_count: its number */
	FSQ_FINDING_XFS_VERSION_4,    /* without crc */
	FSQ_FINDING_READ_ONLY,	      /* nothing can be changed */
	FSQ_FINDING_FSTAB,	      /* not on after the next mount; line, options: to add */
	FSQ_FINDING_FSTAB_NOT_IN_FORCE, /* fstab says so, but it was mounted without; line */
	FSQ_FINDING_ROOT_FLAGS,		/* the root file system takes it from rootflags= */
	FSQ_FINDING_ROOT_PASSES,	/* CAP_SYS_RESOURCE passes the limits */
	FSQ_FINDING_BIND_MOUNT,		/* name: what of the file system it shows */
	/* about an overlay whose upperdir is in a file system with quota; path is its mount point */
	FSQ_FINDING_OVERLAY_LIMITED, /* ok; name: the directory that has the quota, project */
	/* name: the directory to assign; with other_name, both to one project. count: the inode of upperdir */
	FSQ_FINDING_OVERLAY_UNLIMITED,
	FSQ_FINDING_OVERLAY_SPLIT, /* upperdir and workdir have other IDs; project, other */
	/* about a directory; path is it */
	FSQ_FINDING_PROJECT_ABOVE, /* it has its project from the directory name */
	/* about a directory in the line of the file name, with project */
	FSQ_FINDING_TAG_CHANGED,       /* it carries other */
	FSQ_FINDING_TAG_NOT_INHERITED, /* it does not hand its project on */
	/* count: something else is at its path; other_name: it comes back when this is mounted */
	FSQ_FINDING_DIRECTORY_GONE,
	FSQ_FINDING_DIRECTORY_NOT_SUPPORTED, /* files have no project IDs there */
	FSQ_FINDING_TREE_HAS_OTHERS,	     /* count of what is in it are not tagged like it */
	FSQ_FINDING_COUNT_DIFFERS, /* the records say count bytes and inodes, the tree has other_ ones; options */
	/* about quota records; path is the mount point */
	FSQ_FINDING_TAG_WITHOUT_LIMIT, /* count inodes have the ID of project, without limits */
	FSQ_FINDING_LIMIT_WITHOUT_TAG, /* limits of project, which nothing carries */
	/* about the files of the registry; path is the file */
	FSQ_FINDING_REGISTRY,		 /* ok; count: entries */
	FSQ_FINDING_REGISTRY_READ_ONLY,	 /* name: its mount point */
	FSQ_FINDING_REGISTRY_UNREADABLE, /* errnum */
	FSQ_FINDING_DIRECTORY_TWICE,	 /* name has project and other; line */
	FSQ_FINDING_ID_SHARED,		 /* name and other_name have project; line */
	FSQ_FINDING_LINE_TWICE,		 /* the same entry twice; line */
	FSQ_FINDING_NAME_TWICE,		 /* name is project and other; line */
	FSQ_FINDING_ID_WITH_TWO_NAMES,	 /* project is name and other_name; line */
	FSQ_FINDING_LINE_AMBIGUOUS,	 /* others may read project in it; line */
	/* about a container store, whose engine takes the IDs after project; path is its root */
	FSQ_FINDING_STORE,	    /* ok; count IDs in its room are in no file: its containers' */
	FSQ_FINDING_STORE_FOLLOWED, /* count IDs in its room have lines: other, of the directory name */
	/* about IDs that files carry and neither file of the registry has; path is the mount point */
	FSQ_FINDING_IDS_WITHOUT_LINE, /* count from project to other */
	FSQ_FINDING_KUBELET_STARVED, /* count, up to other, before the first free one of kubelet's */
	FSQ_FINDING_DIRECTORY_UNREADABLE, /* of the registry; errnum hides whether it is there; line */
	/* about a device or an image; path is it */
	FSQ_FINDING_DEVICE, /* ok: what is on it; type, version, uuid, label; mountpoint or NULL */
	FSQ_FINDING_NO_FILESYSTEM, /* nothing that is known */
	/* about limits that are promised; path has the budget; the caller finds it with fsq_budget_get() */
	FSQ_FINDING_BUDGET_EXCEEDED, /* they add up to count bytes, of other_count */

	FSQ_FINDING_REGISTRY_SYMLINK, /* the file, which is read but not written so */
	FSQ_FINDING_LINE_NOT_READ,    /* of the registry; name: what a line looks like; line */
	FSQ_FINDING_TAG_WITHOUT_LINE, /* count inodes have the ID of project, and limits, but no line */
	FSQ_FINDING_RECORDS_UNREADABLE, /* errnum; EUCLEAN: damaged; options */
	FSQ_FINDING_FILESYSTEM_FULL,	/* count bytes and inodes are left */
	/* about the next mount of a file system; path is its mount point, or the device */
	FSQ_FINDING_MOUNT_UNIT, /* as FSQ_FINDING_FSTAB, of a unit: other_name; options: all that it is to have */
	FSQ_FINDING_OPTION_REFUSED, /* the kernel does not take the option other_name of name; line, or 0 */
	/* about a directory that was named; path is it. Only with deep */
	FSQ_FINDING_DIRECTORY_WITHOUT_LINE, /* it carries project, and is not in the file name */
	/* about a directory; path is it. Only with deep */
	FSQ_FINDING_SPECIAL_FILES, /* count symlinks and special files in it do not carry project */
	/* about volumes of pods whose directories are gone; path is the mount point */
	FSQ_FINDING_KUBELET_LEAKED, /* count have lines; other more, and pods do not start */
	/* about a directory that was named; path is it */
	FSQ_FINDING_PROJECT_FULL, /* of project: nothing more can be written */
	/* about limits that were to go back; path is the directory; the caller finds it */
	FSQ_FINDING_LIMITS_OVERDUE,
	/* about a path that was named: the caller, or for root its owner, can write nothing more; project: the ID of the user
	 * or group, which name says; other_name: the option for it */
	FSQ_FINDING_ACCOUNT_FULL,
	/* about a path that was named: what fstab mounts on name, there or above, is not mounted */
	FSQ_FINDING_NOT_MOUNTED,
};

struct fsq_finding {
	enum fsq_finding_id id;
	enum fsq_finding_level level;
	const char *path;	/* or NULL */
	const char *filesystem; /* the source in the mount table, or NULL */
	const char *mountpoint; /* or NULL */
	const char *type;	/* of the file system, or NULL */
	const char *options;	/* to mount it with, so that project quotas are enforced; or NULL */
	const char *name;	/* of a directory or project, or NULL */
	const char *other_name;
	uint32_t project; /* an ID */
	uint32_t other;
	uint64_t line; /* of the file, from 1 on */
	uint64_t count, other_count;
	int errnum;
	bool in_fstab;	    /* fstab(5) has the file system with project quota */
	bool of_mount_only; /* read-only is the mount, not the file system */
	bool in_doubt;	    /* it may be no fault of this directory, and is not to be repaired */
	const char *text;   /* of the line, as it is in the file; or NULL */
	uint64_t inodes, other_inodes; /* as count and other_count */
	const char *
		also_at; /* where else the file system is mounted, for what unmounting repairs; or NULL */
	struct fsq_limits limits; /* of FSQ_FINDING_STORE_FOLLOWED, of the project @other */
	/* of FSQ_FINDING_DEVICE, or NULL: */
	const char *version; /* of the format */
	const char *uuid;
	const char *label;
	bool is_image; /* a file that is no device */
};

typedef enum fsq_visit (*fsq_finding_visitor)(const struct fsq_finding *finding, void *arg);

struct fsq_diagnose_request {
	size_t size;
	/* Files, directories, devices or tags of these, and images. None: every mounted file system that can have project
	 * quotas, or else that of /, and all that is registered. */
	const char *const *paths;
	size_t path_count;
	const char *fstab; /* as /etc/fstab, or NULL for it */
	bool deep; /* count what is in the registered directories, and in those of paths that carry an ID, too */
	const struct fsq_registry *registry;	/* or NULL */
	const struct fsq_call_options *options; /* of counting, or NULL */
	bool filesystems_only; /* what is registered, recorded and tagged is not looked at */
	/* A path that cannot be looked at is told, and the next one is looked at. */
	void (*failed)(const struct fsq_error *err, void *arg);
	/* options, in_fstab and also_at are not asked for: neither fstab nor the mount table is read. */
	bool no_repairs;
};

/**
 * Find out why project quotas work or do not work here. Changes nothing.
 *
 * @visit    is called for each finding
 * @arg      for @visit and the request's failed
 * @return   0, also when a path failed; FSQ_E_FAILED no memory, or with EINTR cancelled;
 *           FSQ_E_USAGE
 * Source: proc_pid_mountinfo(5), quotactl(2), capabilities(7), user_namespaces(7), fstab(5)
 */
int fsq_diagnose(const struct fsq_diagnose_request *request, fsq_finding_visitor visit, void *arg,
		 struct fsq_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
