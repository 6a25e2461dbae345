# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# /etc/profile.d/fsquota.sh: who logs in reads a sentence if the home directory is nearly full, and else nothing. A dead
# mount is given up after a second.
case $- in
*i*) ! command -v fsquota >/dev/null || fsquota usage --brief ;;
esac
