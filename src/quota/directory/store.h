/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container stores. Docker and containers/storage (Podman, CRI-O, Buildah) give what they make in some of
 * their directories project IDs of its own: the one after that of the directory, the next one, and so
 * on. They look into no file and take no lock.
 *
 * So a store gets its ID from a band that nobody else uses, with room after it. This is the one place
 * that has the numbers; fsquota-concepts(7) tells them.
 */
#ifndef FSQ_STORE_H
#define FSQ_STORE_H

#include "assign.h"
#include "quota/mounts/handle.h"

/* From 2^31 on systemd takes IDs. */
#define FSQ_STORE_FIRST 1073741824U
#define FSQ_STORE_END 2147483648U

/* A store's ID, and those after it that its engine may take. */
#define FSQ_STORE_ROOM 1000000U

/**
 * Is a directory a store, does it hold one, or lie in one? It is known by what is in it. To hold one it
 * must be at most four directories deep, and among the first few hundred directories.
 *
 * @directory canonical
 * @filled   something is in it
 * @return   0 or -ENOMEM
 */
int fsq_store_of(const struct fsq_handle *directory, bool filled,
		 enum fsq_store_relation *relation);

/**
 * Open a directory if it is a store, and on the mount of @from or around that.
 *
 * @path     canonical
 * @far      for many calls with the same @from, SIZE_MAX at first: how far above it another filesystem begins
 * @return   a descriptor, or -1
 */
int fsq_store_open(const struct fsq_handle *from, const char *path, size_t *far);

/**
 * @path     of the directory whose ID is counted up from; @fd  the same, opened for reading
 * @id       its ID
 */
typedef enum fsq_visit (*fsq_store_visitor)(const char *path, int fd, uint32_t id, void *arg);

/**
 * Visit the stores in a directory, on its mount, as far as fsq_store_of() looks.
 *
 * @fd       the directory
 * @path     its path, to begin the paths of stores with
 * @visit    or NULL
 * @return   1: there is one, 0 or -ENOMEM
 */
int fsq_store_each(int fd, const char *path, fsq_store_visitor visit, void *arg);

#endif
