/* SPDX-License-Identifier: Apache-2.0 */
/* A filesystem as it is, and as it will be after its next mount and after the next boot. Nothing is changed. */
#ifndef FSQ_OUTLOOK_H
#define FSQ_OUTLOOK_H

#include <sys/types.h>

#include "quota/kernel/superblock.h"
#include "quota/mounts/mount.h"
#include "quota/mounts/next_mount.h"
#include "shared/texts.h"

/* Another place where it is mounted. */
struct fsq_outlook_place {
	const char *directory;
	const char *root; /* what of the filesystem is there, / for all */
	bool read_only;
};

/* How the kernel mounts the root filesystem, before fstab is read. */
struct fsq_boot_flags {
	const char *root_flags; /* the value of the last rootflags=, or NULL */
	bool read_write;	/* at once, not by a remount with the options of fstab */
};

struct fsq_outlook {
	char *device; /* its node */
	dev_t dev;
	char *type;
	char *uuid;			  /* NULL: not known */
	bool is_root;			  /* the kernel mounts it, before fstab is read */
	struct fsq_mount mount;		  /* where; its directory is NULL: it is not mounted */
	struct fsq_outlook_place *places; /* the others */
	size_t place_count, place_capacity;
	bool read_only; /* the filesystem, not only the mount */

	bool accounting, enforced; /* of projects, now */
	bool features_read;
	int features_errnum; /* why they are not known, or 0 */
	struct fsq_features features;

	struct fsq_next_mount next;
	bool next_wants;    /* the superblock and @next ask for project quota */
	char *next_refused; /* the option of it that the kernel refuses, or NULL */

	struct fsq_boot_flags booted, next_boot;

	/* Private: */
	struct texts texts;
	bool no_memory;
};

/**
 * Look at a filesystem.
 *
 * @outlook  filled on success; clear it with fsq_outlook_clear()
 * @path     a file or directory on it; a directory where @fstab mounts it; its device, or a tag of that
 * @fstab    as /etc/fstab
 * @return   0; FSQ_E_NOT_FOUND; FSQ_E_NOT_SUPPORTED there is no filesystem; FSQ_E_CONFLICT; FSQ_E_PERMISSION;
 *           FSQ_E_FAILED
 * Source: fstab(5), systemd.mount(5), bootparam(7), tune2fs(8), proc_pid_mountinfo(5)
 */
int fsq_outlook_get(struct fsq_outlook *outlook, const char *path, const char *fstab,
		    struct fsq_error *err);

void fsq_outlook_clear(struct fsq_outlook *outlook);

/**
 * Find what no step can change: the type, or what mkfs decides.
 *
 * @finding  filled: why it can have no project quotas
 * @return   whether there is such an obstacle
 */
bool fsq_outlook_has_obstacle(const struct fsq_outlook *outlook, struct fsq_finding *finding);

/** @return  whether its features allow project quota; false also where they are not known */
bool fsq_outlook_has_features(const struct fsq_outlook *outlook);

/** @return  what there is to say of a type that has no project quotas */
enum fsq_finding_id fsq_outlook_other_type(const char *type);

/**
 * @options  that it is mounted with, or will be; or NULL
 * @return   whether an ext4 has all features; else what is missing is in @finding
 */
bool fsq_outlook_ext4(const struct fsq_features *features, const char *options,
		      struct fsq_finding *finding);

/* The parts of fsq_outlook_get(), for a diagnosis that has opened it already: */

/** Take the line of its mount, which becomes the outlook's. @return  0 or -ENOMEM */
int fsq_outlook_take_mount(struct fsq_outlook *outlook, struct fsq_mount *line);

/** Read its features, if that was not done. @return  0 or a negative errno: they are not known */
int fsq_outlook_read_features(struct fsq_outlook *outlook);

/**
 * Find its next mount, after the features were read.
 *
 * @device   open for reading, or -1
 * @return   0; FSQ_E_FAILED no memory
 */
int fsq_outlook_find_next(struct fsq_outlook *outlook, const char *fstab, int device,
			  struct fsq_error *err);

/** Read how this and the next boot mount the root filesystem. @return  0 or -ENOMEM */
int fsq_outlook_find_boot(struct fsq_outlook *outlook);

/** @return  whether its next mount enforces limits of projects; the root filesystem is only mounted by a boot */
bool fsq_outlook_after_mount(const struct fsq_outlook *outlook);

/** @return  whether limits of projects are enforced after the next boot */
bool fsq_outlook_after_boot(const struct fsq_outlook *outlook);

/**
 * Visit each process that keeps it from being unmounted, once.
 *
 * @visit    gets the name of its command, or NULL
 * @return   0 or a negative errno
 * Source: fsq_open_files_each()
 */
int fsq_outlook_users(const struct fsq_outlook *outlook,
		      void (*visit)(pid_t pid, const char *command, void *arg), void *arg);

#endif
