/* SPDX-License-Identifier: Apache-2.0 */
#include "inode_map.h"

#include <errno.h>
#include <stdlib.h>

/* The slot of an inode, or a free one. */
static size_t slot_of(const struct fsq_inode_map *map, ino_t ino)
{
	size_t at = (size_t)(ino * 0x9e3779b97f4a7c15ULL >> 16) & (map->capacity - 1);

	while (map->notes[at].ino && map->notes[at].ino != ino)
		at = (at + 1) & (map->capacity - 1);
	return at;
}

static int grow_map(struct fsq_inode_map *map)
{
	struct fsq_inode_map larger = { .capacity = map->capacity ? 2 * map->capacity : 256,
					.count = map->count };

	larger.notes = calloc(larger.capacity, sizeof(*larger.notes));
	if (!larger.notes)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->notes[i].ino)
			larger.notes[slot_of(&larger, map->notes[i].ino)] = map->notes[i];
	free(map->notes);
	*map = larger;
	return 0;
}

int fsq_inode_map_add(struct fsq_inode_map *map, const struct fsq_inode_note *note)
{
	size_t at;

	if (2 * map->count >= map->capacity && grow_map(map))
		return -ENOMEM;
	at = slot_of(map, note->ino);
	if (map->notes[at].ino)
		return 0;
	map->notes[at] = *note;
	map->count++;
	return 1;
}

const struct fsq_inode_note *fsq_inode_map_find(const struct fsq_inode_map *map, ino_t ino)
{
	size_t at = map->capacity ? slot_of(map, ino) : 0;

	return map->capacity && map->notes[at].ino ? &map->notes[at] : NULL;
}

void fsq_inode_map_free(struct fsq_inode_map *map)
{
	free(map->notes);
	*map = (struct fsq_inode_map){ 0 };
}
