# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The tools of the suites, without the assertions; most want fsquota.bash, which documents both.

: "${FSQUOTA:?is the binary to test}"
FSQ_TOOLS=$BATS_RUN_TMPDIR/bin
# Ordinary users are to find them, too.
chmod a+x "$BATS_RUN_TMPDIR"
if [ ! -d "$FSQ_TOOLS" ]; then
	mkdir "$FSQ_TOOLS"
	ln -s "$FSQUOTA" "$FSQ_TOOLS/fsquota"
	ln -s "$FSQUOTA" "$FSQ_TOOLS/xfs_quota"
fi
FSQ_ORACLE=${FSQ_ORACLE-$(command -v xfs_quota)}
PATH=$FSQ_TOOLS:$PATH
export FSQ_TOOLS FSQ_ORACLE PATH
