/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnosis.h"
#include "quota/base/path.h"
#include "quota/registry/project_files.h"

/* @return   the directory above, on the same file system, that hands the ID on; or -1 */
static int open_above(int fd, uint32_t id)
{
	int above = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	struct fsq_inode_project project;
	struct stat here, there;

	if (above < 0)
		return -1;
	if (fstat(fd, &here) == 0 && fstat(above, &there) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino != there.st_ino && fsq_inode_project_get(above, &project) == 0 &&
	    project.id == id && project.inherit)
		return above;
	close(above);
	return -1;
}

/* @return   the path of the highest directory that hands the ID on to this one, or NULL */
static char *find_source(int fd, uint32_t id)
{
	int highest = open_above(fd, id);
	char *path;

	if (highest < 0)
		return NULL;
	for (;;) {
		int next = open_above(highest, id);

		if (next < 0)
			break;
		close(highest);
		highest = next;
	}
	path = fsq_fd_path(highest);
	close(highest);
	return path;
}

void fsq_diagnose_directory(struct fsq_subject *subject)
{
	const char *file = subject->diagnosis->registry->projects_file;
	struct fsq_place *place = &subject->place;
	uint32_t registered = 0;
	struct stat st;
	char *source;

	if (fstat(place->target.fd, &st) || !S_ISDIR(st.st_mode) ||
	    fsq_inode_project_get(place->target.fd, &place->project) || place->project.id == 0)
		return;
	if (fsq_projects_id_of(file, place->path, &registered, NULL) || registered)
		return;
	source = find_source(place->target.fd, place->project.id);
	if (source)
		fsq_finding_visit_here(subject, (struct fsq_finding){
							.id = FSQ_FINDING_PROJECT_ABOVE,
							.path = place->path,
							.name = source,
							.project = place->project.id,
						});
	free(source);
}
