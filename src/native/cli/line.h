/* SPDX-License-Identifier: Apache-2.0 */
/* Write a line of fsquota.d(5). */
#ifndef FSQ_LINE_H
#define FSQ_LINE_H

#include <stdint.h>

#include "shared/writer.h"

/** Write a path as one word, quoted if it must be. */
void line_write_path(struct writer *w, const char *path);

/** Write " hard=10G soft=8G hard-inodes=1000" in bytes and inodes; of what is 0 nothing, and of nothing " unlimited". */
void line_write_limits(struct writer *w, uint64_t hard_bytes, uint64_t soft_bytes,
		       uint64_t hard_inodes, uint64_t soft_inodes);

#endif
