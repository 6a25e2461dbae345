/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that take a filesystem to quotas that last. plan.c makes them, carry.c carries them out, setup.c shows them. */
#ifndef FSQ_SETUP_H
#define FSQ_SETUP_H

#include "native/cli/session.h"
#include "quota/diagnose/outlook.h"
#include "shared/texts.h"

enum step_kind {
	STEP_UNMOUNT,
	STEP_RUN,    /* a program */
	STEP_EDIT,   /* a file; and then the program, if there is one */
	STEP_REMOVE, /* a file; and then the program */
	STEP_ENABLE,
	STEP_MOUNT,
	STEP_REBOOT,
	STEP_BY_HAND,
};

/* When a step has an effect. */
enum step_acts { ACTS_NOW, ACTS_AT_MOUNT, ACTS_AT_BOOT };

enum step_state {
	STEP_TO_DO,
	STEP_DONE,
	STEP_NEEDS_UNMOUNT, /* the option --unmount */
	STEP_NEEDS_AT_BOOT, /* the option --at-boot */
	STEP_WAITS,	    /* for a step before it */
	STEP_IS_BY_HAND,
};

#define STEP_WORDS 12

struct step {
	uint64_t number; /* from 1 on */
	enum step_kind kind;
	enum step_acts acts;
	enum step_state state;
	size_t place;			   /* of a mount: 0 is where it is whole */
	const char *what;		   /* a sentence without a dot */
	const char *words[STEP_WORDS];	   /* of the program, ended by NULL */
	const char *command;		   /* the same for a shell, or NULL */
	const char *file, *before, *after; /* of STEP_EDIT; @before NULL: it is new */
	const char *difference;		   /* or NULL */
	const char *interrupts;		   /* whom, or NULL */
};

struct plan {
	struct session *session;
	const struct fsq_outlook *outlook;
	bool unmount, at_boot; /* may be done */
	const char *types;     /* of quotas that it is to have, such as "usrquota,prjquota" */
	bool busy;	       /* somebody has it open, or something is mounted on it */
	struct step *steps;
	size_t count, capacity;
	bool no_memory;
	int errnum; /* of @unread, which cannot be read; or 0 */
	const char *unread;
	/* The file of a loop device, which is not there at a boot, or NULL; and what fstab has for that */
	const char *image, *image_options;
	/* What programs get while it is not mounted: the image, if umount(8) frees its loop device, and that has all of it */
	const char *device;
	struct texts texts;
};

#define AT_BOOT_FILE "/etc/fsquota-at-boot.conf"
#define AT_BOOT_RESULT "/run/initramfs/fsquota-at-boot"

/**
 * Make the steps that are left.
 *
 * @plan     with session, outlook and what may be done; clear it with plan_clear()
 * @return   whether there is a way; else an error was reported
 */
bool plan_make(struct plan *plan);

void plan_clear(struct plan *plan);

/** Will limits be enforced when all steps are done? */
struct plan_result {
	bool now, after_mount, after_boot;
};
struct plan_result plan_result(const struct plan *plan);

/**
 * Carry out the steps that can be done now, in their order.
 *
 * @return   whether all went well; else an error was reported
 */
bool plan_carry_out(struct plan *plan);

#endif
