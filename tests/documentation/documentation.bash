# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the suites of this folder have in common.

bats_require_minimum_version 1.5.0
: "${srcdir:?}" "${FSQUOTA:?}"

bats_load_library bats-support
bats_load_library bats-assert

load ../lib/pages
