/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSQ_SHARED_TEXT_HASH_H
#define FSQ_SHARED_TEXT_HASH_H

#include <stdint.h>

#define TEXT_HASH_START 0xcbf29ce484222325U

/** @return  the 64-bit FNV-1a hash of a text; @hash is TEXT_HASH_START, or that of the text before it */
static inline uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
	return hash;
}

#endif
