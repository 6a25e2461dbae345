#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
#
# What OSS-Fuzz runs in its container, in the top directory of the source: it sets CC, CFLAGS,
# LIB_FUZZING_ENGINE and OUT. The container needs the packages of "tools/setup build".
exec tools/fuzz --build "${OUT:?}"
