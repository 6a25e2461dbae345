/* SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"

const char *hint_words(enum fsq_hint hint)
{
	static const char *const words[] = {
		[FSQ_HINT_NONE] = NULL,
		[FSQ_HINT_NAME_MOUNTED] = "name a directory of a mounted filesystem, or its device",
		[FSQ_HINT_MOUNT_WITH_QUOTA] = "it takes XFS, ext4 or f2fs, mounted with prjquota; "
					      "see fsquota doctor",
		[FSQ_HINT_ENFORCE] = "see fsquota doctor",
		[FSQ_HINT_MOUNT_OR_COUNT] = "it takes XFS, ext4 or f2fs, mounted with prjquota, or "
					    "--fallback=walk; see fsquota doctor",
		[FSQ_HINT_ASSIGN_OR_COUNT] = "fsquota assign puts a quota on it, --fallback=walk "
					     "counts",
		[FSQ_HINT_ROOT_ONLY] = "only root may change it",
		[FSQ_HINT_IMMUTABLE] = "is it immutable? see lsattr(1)",
		[FSQ_HINT_READ_ONLY_REGISTRY] = "use --no-register, or --projects-file and "
						"--projid-file, or see fsquota.conf(5)",
		[FSQ_HINT_WAIT_LONGER] = "wait longer with --lock-timeout",
		[FSQ_HINT_LOOK_AT_HOLDER] = "see what that process does, or wait longer with "
					    "--lock-timeout",
		[FSQ_HINT_INSIST_ON_ID] =
			"its owner may have set it; if it belongs to that project "
			"say so with --id",
		[FSQ_HINT_NAME_DIRECTORY] = "name that directory, or insist with --id",
		[FSQ_HINT_PROJECT_ABOVE] = "it belongs to the project of a directory above it",
		[FSQ_HINT_RELEASE_AGAIN] = "the quota stays; release it again",
		[FSQ_HINT_NAME_FILESYSTEM] = "name its filesystem with --at",
		[FSQ_HINT_KEEP_TAGS] = "take it off them with fsquota project -C, or leave it with "
				       "--keep-tags",
		[FSQ_HINT_RELEASE_AT] = "mount it, or name where it was, with --id and --at",
		[FSQ_HINT_ALLOW_SHRINK] = "use --allow-shrink if that is meant",
	};

	return words[hint];
}
