/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of quota records at the native door: made, or in a dry run only found out; and shown, as
 * JSON or in a dry run as text. At the xfs_quota door nothing is shown.
 */
#ifndef FSQ_CHANGE_H
#define FSQ_CHANGE_H

#include "session.h"
#include "output/rows.h"
#include "quota/fsquota.h"

/** @return  whether a command shows a row for each change */
bool change_is_shown(const struct session *session);

/** @return  the row's word for a change that is known */
enum row_change change_word(bool changed);

/** @return  limits of space and inodes as rows have them: 0 for none, or what stands for none */
struct applied_limits change_limits_row(const struct fsq_limits *limits);

/** Show in a dry run what becomes of the limits of the project of a directory. */
void change_show_limits(struct session *session, const char *directory, uint32_t id,
			const struct fsq_limits *before, const struct fsq_limits *after);

/**
 * Change records of the filesystem that is worked on, as the function of the library with the same
 * name does, or in a dry run find out what would be.
 *
 * @return   0 or a negative errno, which the caller reports
 */
int change_limits(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_limits *limits);
int change_timers(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		  uint32_t id, const struct fsq_timers *timers);
int change_warnings(struct session *session, struct fsq_filesystem *fs, enum fsq_type type,
		    uint32_t id, const bool set[FSQ_FORMS], uint16_t warnings);

#endif
