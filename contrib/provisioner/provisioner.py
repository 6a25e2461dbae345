#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""provisioner.py DIRECTORY: fifty volumes of 1 MiB in it; the first one that is full grows; then all are released."""
import os
import sys

import fsquota

volumes = {}
for number in range(1, 51):
    path = f"{sys.argv[1]}/volume{number}"
    volumes[fsquota.assign(path, hard="1M", mkdir=True, owner=1000, group=1000).id] = path
with fsquota.watch(sys.argv[1]) as events:
    print(len(volumes), "volumes", flush=True)
    full = next(volumes[event.id] for event in events if event.event == "hard-reached" and event.id in volumes)
fsquota.resize(full, "+1M")
print(os.path.basename(full), "was full, and has", fsquota.usage(full).limits.hard)
for path in volumes.values():
    fsquota.release(path)
