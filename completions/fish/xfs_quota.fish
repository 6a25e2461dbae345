# SPDX-License-Identifier: Apache-2.0
source (status dirname)/fsquota.fish
