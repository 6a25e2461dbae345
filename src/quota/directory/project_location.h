/* SPDX-License-Identifier: Apache-2.0 */
/* All local file systems; where on them a directory is, or was, and so the project that it is registered for. */
#ifndef FSQ_PROJECT_LOCATION_H
#define FSQ_PROJECT_LOCATION_H

#include "quota/kernel/quotactl.h"
#include "quota/mounts/filesystem.h"
#include "quota/mounts/mount_table.h"
#include "quota/registry/entries.h"

/* A mount. */
struct fsq_volume {
	struct fsq_filesystem *fs;
	bool has_quota; /* of projects */
	size_t first;	/* in the list, of the mounts of its file system */
};

struct fsq_volumes {
	struct fsq_volume *list;
	size_t count, capacity;
	struct fsq_mount_points *points;
	char **mount_points; /* of fstab(5) */
	size_t mount_point_count, mount_point_capacity;
	int errnum; /* of FSQ_UNSEEN */
	int rc;	    /* of listing them */
};

/**
 * Open all mounts that fsq_mounts_each() visits. One that cannot be opened is left out.
 *
 * @volumes  close it with fsq_volumes_close(), also after a failure
 * @return   0; as fsq_mounts_each(), of fstab(5), too
 */
int fsq_volumes_open(struct fsq_volumes *volumes, struct fsq_error *err);

void fsq_volumes_close(struct fsq_volumes *volumes);

enum fsq_presence {
	FSQ_ELSEWHERE, /* on no local file system, or its path leads over a symlink */
	FSQ_PRESENT,   /* a directory or something else */
	FSQ_GONE,      /* there is nothing at its path now */
	FSQ_UNSEEN,    /* an error hides whether it is there */
};

/**
 * Find out where a directory is, or would be. Network and FUSE mounts are not touched.
 *
 * @directory absolute
 * @volume   set to the mount, unless it is elsewhere
 * @volumes  its errnum is set for FSQ_UNSEEN
 * Source: openat2(2), RESOLVE_NO_XDEV, RESOLVE_NO_SYMLINKS
 */
enum fsq_presence fsq_volumes_find(struct fsq_volumes *volumes, const char *directory,
				   const struct fsq_volume **volume);

/** Read use and limits; without a record there are none. @return  0 or a failure */
int fsq_volume_read_quota(const struct fsq_volume *volume, uint32_t id, struct fsq_dquot *dquot,
			  struct fsq_error *err);

/** @return  whether fstab(5) has a mount point at or above the directory where nothing is mounted */
bool fsq_volumes_await(const struct fsq_volumes *volumes, const struct fsq_volume *volume,
		       const char *directory);

/**
 * Find out whether the path of a line may lead to another file system now than when the line was
 * written: because a file system is not mounted, or another one is mounted there.
 *
 * @lines    all lines, with their index
 * @presence of fsq_volumes_find(), with its @volume
 * @known    whether the ID has limits or use on it
 * @doubt    set: FSQ_NOT_KEPT there is none
 * @return   0 or a failure
 */
int fsq_volumes_doubt(struct fsq_volumes *volumes, const struct fsq_entries *lines,
		      const struct fsq_volume *volume, enum fsq_presence presence,
		      const struct fsq_entry *line, bool known, enum fsq_leftover_kept *doubt,
		      struct fsq_error *err);

struct fsq_project_location {
	uint32_t id;
	const char *only; /* of its directories only this one, or NULL */
	struct fsq_volumes volumes;
	struct fsq_entries lines; /* of all projects */
	bool *certain;		  /* of each line: it is of the file system where its path leads */
};

/**
 * Read what is mounted and what is registered.
 *
 * @location    with @id and @only; close it with fsq_project_location_close(), also after a failure
 * @return   0; as fsq_volumes_open() and fsq_entries_of_projects()
 */
int fsq_project_location_open(struct fsq_project_location *location, const char *projects_file,
			      struct fsq_error *err);

void fsq_project_location_close(struct fsq_project_location *location);

/**
 * @return   what there is of a line, if it is certain to be of the project and of @fs, which was found or
 *           named; else FSQ_ELSEWHERE; FSQ_UNSEEN is an error of the caller,
 *           fsq_project_location_fail_unseen()
 */
enum fsq_presence fsq_project_location_of(struct fsq_project_location *location,
					  const struct fsq_entry *line,
					  const struct fsq_filesystem *fs);

/** Say that an error hides whether the directory of a line exists. @return  FSQ_E_FAILED */
int fsq_project_location_fail_unseen(const struct fsq_project_location *location,
				     const struct fsq_entry *line, struct fsq_error *err);

/**
 * The same for a caller who names the file system: then directories on it are gone that are not there.
 *
 * @return   0 or a failure
 */
int fsq_project_location_name(struct fsq_project_location *location, struct fsq_error *err);

/**
 * Find the one file system of all its directories, but for those of which it is in doubt.
 *
 * @fs       set; it belongs to @location
 * @return   0; FSQ_E_CONFLICT they are on several; FSQ_E_NOT_FOUND there is none
 */
int fsq_project_location_find(struct fsq_project_location *location, struct fsq_filesystem **fs,
			      struct fsq_error *err);

/**
 * A registered directory that carries another ID than that of its line: was its release killed, or may it
 * be the place of a file system that is not mounted?
 *
 * @return   0 it is the directory of the line; FSQ_E_NOT_FOUND that is in doubt; or a failure
 */
int fsq_project_location_check(const struct fsq_registry *registry, const char *directory,
			       uint32_t id, struct fsq_error *err);

#endif
