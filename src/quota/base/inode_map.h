/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about inodes of one file system, by their number. */
#ifndef FSQ_INODE_MAP_H
#define FSQ_INODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fsq_inode_note {
	ino_t ino; /* 0: a free slot */
	uint32_t id;
	bool inherit;
};

struct fsq_inode_map {
	struct fsq_inode_note *notes;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/**
 * Note something of an inode, unless there is something already.
 *
 * @return   1 noted, 0 known already, or -ENOMEM
 */
int fsq_inode_map_add(struct fsq_inode_map *map, const struct fsq_inode_note *note);

/** @return  what is noted of an inode, or NULL; until the next is added */
const struct fsq_inode_note *fsq_inode_map_find(const struct fsq_inode_map *map, ino_t ino);

void fsq_inode_map_free(struct fsq_inode_map *map);

#endif
