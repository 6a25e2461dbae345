/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_table.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mount.h"
#include "quota/base/error.h"
#include "quota/kernel/mount_options.h"
#include "shared/load_library.h"
#include "shared/sort.h"

LIBRARY_NOTE_MOUNT;

/* The functions of libmount that are used, without mnt_. */
/* clang-format off */
#define FUNCTIONS(DO) \
	DO(new_table) DO(unref_table) DO(table_parse_stream) DO(table_set_parser_errcb) \
	DO(table_get_nents) \
	DO(table_next_fs) DO(table_get_root_fs) DO(new_iter) DO(free_iter) \
	DO(fs_get_source) DO(fs_get_target) DO(fs_get_fstype) DO(fs_get_root) DO(fs_get_options) \
	DO(fs_get_id) DO(fs_get_parent_id) DO(fs_get_devno) DO(fstype_is_netfs) \
	DO(optstr_get_option) DO(optstr_next_option) DO(split_optstr) DO(mangle) DO(unmangle)
#define POINTER(name) typeof(mnt_##name) *name;
#define SYMBOL(name) LIBRARY_SYMBOL(mnt_##name, library, name),
/* clang-format on */

static struct library {
	FUNCTIONS(POINTER)
} lib;

int fsq_mount_table_load(struct fsq_error *err)
{
	static const struct library_symbol symbols[] = { FUNCTIONS(SYMBOL) };
	static struct loading loading = { PTHREAD_MUTEX_INITIALIZER, false };
	int errnum = load_library_once(&loading, LIBRARY_MOUNT, symbols,
				       sizeof(symbols) / sizeof(symbols[0]), &lib);

	return errnum ? fsq_fail_library(err, errnum, LIBRARY_MOUNT, "libmount") : 0;
}

/* --- the system's mounts --- */

bool fsq_is_network(const char *type)
{
	static const char *const more[] = { "ceph",   "lustre",	  "coda",	    "gpfs",
					    "beegfs", "orangefs", "fuse.glusterfs", "pvfs2" };

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strcmp(type, more[i]) == 0)
			return true;
	return fsq_mount_table_load(NULL) == 0 && lib.fstype_is_netfs(type);
}

static bool may_hang(const char *type)
{
	return strcmp(type, "autofs") == 0 || strncmp(type, "fuse", 4) == 0 || fsq_is_network(type);
}

static int compare_targets(const void *one, const void *other)
{
	const struct fsq_mount *const *a = one, *const *b = other;

	if ((*a)->parent != (*b)->parent)
		return (*a)->parent < (*b)->parent ? -1 : 1;
	return strcmp((*a)->directory, (*b)->directory);
}

static uint8_t hash_of_target(uint64_t parent, const char *directory, size_t length)
{
	return (uint8_t)(31 * parent + 7 * length + (unsigned char)directory[length - 1]);
}

/* One part of a path, followed. */
struct step {
	const struct fsq_mount *at;
	uint64_t parent;
	size_t length, mounts;
};

/* The directory part of the path that was followed last: lists name many paths in one directory. */
struct followed {
	struct fsq_mount_anchor anchor;
	struct step step;
	char path[PATH_MAX];
};

/*
 * Follow a path from mount to mount, as the kernel does. Nobody sees what is mounted on "/" itself.
 *
 * @hangs    set if it leads over a mount that may hang; or NULL
 * @return   NULL: a part of the path that is empty, . or .. may lead elsewhere
 */
static const struct fsq_mount *follow(const struct fsq_mount_points *points, const char *path,
				      bool *hangs)
{
	struct followed *last = points->followed;
	struct step step = last->step;
	struct fsq_mount wanted = { .directory = last->path }, *key = &wanted;
	size_t size = strlen(path) + 1;

	if (*path != '/' || size > sizeof(last->path))
		return NULL;
	if (hangs || step.length >= size || path[step.length] != '/' ||
	    memcmp(path, last->path, step.length) != 0)
		step = (struct step){ .at = points->root, .parent = points->root_id };
	memcpy(last->path + step.length, path + step.length, size - step.length);
	last->step = step;
	while (path[step.length] && path[1]) {
		const char *name = path + step.length + 1;
		size_t part = (size_t)(strchrnul(name, '/') - name);

		last->step = step;
		if (part == 0 || (part <= 2 && strncmp(name, "..", part) == 0))
			return NULL;
		if (hangs && step.at)
			*hangs |= may_hang(step.at->type);
		step.length += 1 + part;
		/* Mounts on top of each other: there are at most as many as mounts. */
		for (; step.mounts < points->count &&
		       points->some_at[hash_of_target(step.parent, path, step.length)];
		     step.mounts++) {
			const struct fsq_mount **next;

			wanted.parent = step.parent;
			last->path[step.length] = '\0';
			next = bsearch(&key, points->by_target, points->count, sizeof(key),
				       compare_targets);
			last->path[step.length] = path[step.length];
			if (!next)
				break;
			step.at = *next;
			step.parent = step.at->id;
		}
	}
	return step.at;
}

static int fill_mount_points(struct fsq_mount_points *points)
{
	struct libmnt_iter *iter = lib.new_iter(MNT_ITER_FORWARD);
	const size_t count = (size_t)lib.table_get_nents(points->table);
	struct libmnt_fs *fs, *root = NULL;
	bool doubt = false;

	lib.table_get_root_fs(points->table, &root);
	points->mounts = calloc(count + 1, sizeof(*points->mounts));
	points->by_target = calloc(count + 1, sizeof(struct fsq_mount *));
	points->followed = calloc(1, sizeof(*points->followed));
	while (iter && points->mounts && points->by_target && points->followed &&
	       lib.table_next_fs(points->table, iter, &fs) == 0) {
		struct fsq_mount *mount = &points->mounts[points->count];
		const char *source = lib.fs_get_source(fs);

		*mount = (struct fsq_mount){
			.device = (char *)(uintptr_t)(source ? source : ""),
			.directory = (char *)(uintptr_t)lib.fs_get_target(fs),
			.id = (uint64_t)lib.fs_get_id(fs),
			.dev = lib.fs_get_devno(fs),
			.type = (char *)(uintptr_t)lib.fs_get_fstype(fs),
			.root = (char *)(uintptr_t)lib.fs_get_root(fs),
			.parent = (uint64_t)lib.fs_get_parent_id(fs),
			.is_local = true,
		};
		doubt |= may_hang(mount->type);
		if (fs == root) {
			points->root = mount->directory[1] ? NULL : mount;
			points->root_id = mount->directory[1] ? mount->parent : mount->id;
		}
		points->some_at[hash_of_target(mount->parent, mount->directory,
					       strlen(mount->directory))] = true;
		points->by_target[points->count++] = mount;
	}
	lib.free_iter(iter);
	if (points->count < count || !points->followed)
		return -ENOMEM;
	points->followed->step = (struct step){ .at = points->root, .parent = points->root_id };
	points->anchor = &points->followed->anchor;
	array_sort(points->by_target, count, sizeof(struct fsq_mount *), compare_targets);
	for (size_t i = 0; i < count && doubt; i++) {
		struct fsq_mount *mount = &points->mounts[i];
		bool hangs = false;
		const struct fsq_mount *seen = follow(points, mount->directory, &hangs);

		mount->is_local = !hangs && !may_hang(mount->type) &&
				  (!seen || seen == mount || !may_hang(seen->type));
	}
	return 0;
}

/* libmount drops a line that it cannot parse, or for which it has no memory. */
static int end_without_memory(struct libmnt_table *table, const char *file, int line)
{
	(void)table, (void)file, (void)line;
	return errno == ENOMEM ? -ENOMEM : 1;
}

int fsq_mount_points_read(struct fsq_mount_points **out, struct fsq_error *err)
{
	char buffer[16 * 1024]; /* the kernel fills a page at a time */
	struct fsq_mount_points *points;
	FILE *stream;
	int rc = fsq_mount_table_load(err);

	if (rc)
		return rc;
	points = calloc(1, sizeof(*points));
	stream = fopen(FSQ_MOUNTINFO, "re");
	if (!stream || !points || !(points->table = lib.new_table())) {
		rc = stream ? -ENOMEM : -errno;
		goto out;
	}
	setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	errno = 0;
	lib.table_set_parser_errcb(points->table, end_without_memory);
	/* With another name libmount would look for the process that the table belongs to. */
	rc = lib.table_parse_stream(points->table, stream, "/");
	/* Later versions of glibc take a lack of memory for an error of the stream. */
	if (rc || errno == ENOMEM || ferror(stream))
		rc = ferror(stream) && errno != ENOMEM ? -EIO : -ENOMEM;
	else
		rc = fill_mount_points(points);
out:
	if (stream)
		fclose(stream);
	if (rc == 0) {
		*out = points;
		return 0;
	}
	fsq_mount_points_free(points);
	return fsq_fail_errno(err, -rc, FSQ_MOUNTINFO, "cannot read the mount table");
}

void fsq_mount_points_let_go(struct fsq_mount_points *points)
{
	struct fsq_mount_anchor *anchor = points->anchor;

	if (!anchor)
		return;
	if (anchor->mount)
		close(anchor->fd);
	free(anchor->above);
	anchor->mount = NULL;
	anchor->above = NULL;
}

void fsq_mount_points_free(struct fsq_mount_points *points)
{
	if (!points)
		return;
	fsq_mount_points_let_go(points);
	if (points->table)
		lib.unref_table(points->table);
	free(points->mounts);
	free(points->by_target);
	free(points->followed);
	free(points);
}

const struct fsq_mount *fsq_mount_points_get(const struct fsq_mount_points *points,
					     const char *path)
{
	return follow(points, path, NULL);
}

int fsq_mounts_each(const char *table, fsq_mount_visitor visit, void *arg, struct fsq_error *err)
{
	struct fsq_mount_points *points;
	int rc;

	if (table)
		return fsq_mount_each_in_file(table, visit, arg, err);
	rc = fsq_mount_points_read(&points, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < points->count; i++)
		if (points->mounts[i].is_local && visit(&points->mounts[i], arg) == FSQ_VISIT_STOP)
			break;
	fsq_mount_points_free(points);
	return 0;
}

int fsq_mounts_changes(struct fsq_error *err)
{
	int fd = open(FSQ_MOUNTINFO, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fsq_fail_errno(err, errno, FSQ_MOUNTINFO, "cannot watch the mount table");
	return fd;
}

/* --- options --- */

bool fsq_options_have(const char *options, const char *name)
{
	return fsq_mount_table_load(NULL) == 0 &&
	       lib.optstr_get_option(options, name, NULL, NULL) == 0;
}

/* Not by libmount, which takes quotes around a value for its own. The kernel escapes commas, and no quotes. */
char *fsq_options_value(const char *options, const char *name)
{
	const size_t length = strlen(name);
	char *escaped, *plain = NULL;

	if (fsq_mount_table_load(NULL))
		return NULL;
	while (options && (strncmp(options, name, length) != 0 || options[length] != '=')) {
		options = strchr(options, ',');
		if (options)
			options++;
	}
	if (!options)
		return NULL;
	options += length + 1;
	escaped = strndup(options, strcspn(options, ","));
	if (escaped)
		plain = lib.unmangle(escaped);
	free(escaped);
	return plain;
}

/* The options that decide about limits of projects; of several the last one counts. */
static const struct of_projects {
	const char *name;
	bool enforces;
} of_projects[] = {
	{ "prjquota", true },
	{ "pquota", true },
	{ "noquota", false },
	{ "pqnoenforce", false },
};

/* @return  NULL: it is another option */
static const struct of_projects *find_of_projects(const char *option, size_t length)
{
	for (size_t i = 0; i < sizeof(of_projects) / sizeof(of_projects[0]); i++)
		if (strlen(of_projects[i].name) == length &&
		    memcmp(option, of_projects[i].name, length) == 0)
			return &of_projects[i];
	return NULL;
}

bool fsq_options_enforce(const char *options)
{
	bool enforce = false;

	for (size_t length; options && *options; options += length + (options[length] == ',')) {
		const struct of_projects *found;

		length = strcspn(options, ",");
		found = find_of_projects(options, length);
		enforce = found ? found->enforces : enforce;
	}
	return enforce;
}

const char *fsq_options_of_types(const char *type, const char *options)
{
	const bool is_ext4 = type && strcmp(type, "ext4") == 0;
	const bool of_users = is_ext4 && (fsq_options_have(options, "usrquota") ||
					  fsq_options_have(options, "usrjquota") ||
					  fsq_options_have(options, "quota"));
	const bool of_groups = is_ext4 && (fsq_options_have(options, "grpquota") ||
					   fsq_options_have(options, "grpjquota"));

	return of_users && of_groups ? "usrquota,grpquota,prjquota"
	       : of_users	     ? "usrquota,prjquota"
	       : of_groups	     ? "grpquota,prjquota"
				     : "prjquota";
}

/* Leave out defaults that the kernel shows, and options that contradict project quota. */
static bool is_dropped(const char *option, size_t length)
{
	static const char *const dropped[] = {
		"rw", "ro", "relatime", "attr2", "inode64", "logbufs=8", "logbsize=32k",
	};
	/* Quotas of users in files of ext4: see fsq_options_of_types(). */
	static const char *const replaced[] = { "usrjquota=", "grpjquota=", "jqfmt=" };

	for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++)
		if (length >= strlen(replaced[i]) &&
		    memcmp(option, replaced[i], strlen(replaced[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (strlen(dropped[i]) == length && memcmp(option, dropped[i], length) == 0)
			return true;
	return find_of_projects(option, length) != NULL;
}

/* What security modules take before the filesystem sees it. */
static bool is_of_security(const char *name)
{
	static const char *const names[] = { "context", "fscontext", "defcontext", "rootcontext",
					     "seclabel" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "smack", strlen("smack")) == 0;
}

int fsq_options_refused(const char *type, const char *options, char **word)
{
	char *own = NULL, *next, *name, *value;
	size_t name_size, value_size;
	struct fsq_mount_trial trial;
	int rc = 0;

	*word = NULL;
	if (!options)
		return 0;
	fsq_mount_trial_begin(&trial, type);
	if (lib.split_optstr(options, NULL, NULL, &own, 0, 0))
		rc = -ENOMEM;
	next = own;
	while (rc == 0 && !*word &&
	       lib.optstr_next_option(&next, &name, &name_size, &value, &value_size) == 0) {
		char *option = strndup(name, name_size);
		char *set = value ? strndup(value, value_size) : NULL;

		if (!option || (value && !set))
			rc = -ENOMEM;
		else if (!is_of_security(option) && !fsq_mount_trial_takes(&trial, option, set))
			rc = asprintf(word, "%s%s%s", option, set ? "=" : "", set ? set : "") < 0
				     ? -ENOMEM
				     : 0;
		free(option);
		free(set);
	}
	fsq_mount_trial_end(&trial);
	free(own);
	if (rc)
		*word = NULL;
	return rc;
}

static bool is_among(const char *options, const char *option, size_t length)
{
	for (size_t at; *options; options += at + (options[at] == ',')) {
		at = strcspn(options, ",");
		if (at == length && memcmp(options, option, length) == 0)
			return true;
	}
	return false;
}

char *fsq_options_with_quota(const struct fsq_mount *mount)
{
	const char *const lists[] = { mount->options, mount->super_options };
	const char *added = fsq_options_of_types(mount->type, mount->super_options);
	char *options = NULL, *plain, *next, *name, *value;
	size_t size, name_size, value_size;
	FILE *to = open_memstream(&options, &size);

	for (size_t i = 0; to && i < 2; i++) {
		next = (char *)(uintptr_t)lists[i];
		while (lib.optstr_next_option(&next, &name, &name_size, &value, &value_size) == 0) {
			size_t length = value ? (size_t)(value - name) + value_size : name_size;

			if (!is_dropped(name, length) && !is_among(added, name, length))
				fprintf(to, "%.*s,", (int)length, name);
		}
	}
	if (!to || fputs(added, to) < 0 || fclose(to)) {
		free(options);
		return NULL;
	}
	plain = lib.unmangle(options);
	free(options);
	return plain;
}

/* @return  whether an option may stay beside project quota; a negative errno */
static int may_stay(const char *type, const char *option, size_t length)
{
	char *text, *refused;
	int rc;

	if (find_of_projects(option, length))
		return false;
	text = strndup(option, length);
	rc = text ? fsq_options_refused(type, text, &refused) : -ENOMEM;
	free(text);
	if (rc)
		return rc;
	rc = !refused;
	free(refused);
	return rc;
}

char *fsq_options_edit(const char *type, const char *options, const char *types)
{
	char *edited = NULL, *next = (char *)(uintptr_t)options, *name, *value;
	size_t size, name_size, value_size;
	FILE *to = open_memstream(&edited, &size);
	int rc = to ? 0 : -ENOMEM, read = 0;

	while (rc >= 0 && options &&
	       (read = lib.optstr_next_option(&next, &name, &name_size, &value, &value_size)) ==
		       0) {
		const size_t length = value ? (size_t)(value - name) + value_size : name_size;

		rc = may_stay(type, name, length);
		if (rc > 0)
			fprintf(to, "%.*s,", (int)length, name);
	}
	/* What libmount cannot read stays as it is. */
	if (rc >= 0 && read < 0)
		fprintf(to, "%s,", next);
	for (size_t length; rc >= 0 && *types; types += length + (types[length] == ',')) {
		char one[32];

		length = strcspn(types, ",");
		snprintf(one, sizeof(one), "%.*s", (int)length, types);
		/* The one of projects comes last; it was taken out. */
		if (!types[length] || !fsq_options_have(options, one))
			fprintf(to, "%s%s", one, types[length] ? "," : "");
	}
	if (to && (ferror(to) | fclose(to)) == 0 && rc >= 0)
		return edited;
	free(edited);
	return NULL;
}

char *fsq_fstab_field(const char *text)
{
	return lib.mangle(text);
}

char *fsq_options_as_mounted(const struct fsq_mount *mount)
{
	char *both, *plain;

	if (asprintf(&both, "%s%s%s", mount->options, mount->super_options ? "," : "",
		     mount->super_options ? mount->super_options : "") < 0)
		return NULL;
	plain = lib.unmangle(both);
	free(both);
	return plain;
}
