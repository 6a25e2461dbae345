#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pre-mount of dracut, which sources it before the root filesystem is mounted.

/usr/sbin/fsquota-at-boot
