#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""client.py DIRECTORY...: how many bytes each uses, by one fsquota batch."""
import json
import subprocess
import sys

batch = subprocess.Popen(["fsquota", "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(*words):
    batch.stdin.write(json.dumps(words) + "\n")
    batch.stdin.flush()
    return json.loads(batch.stdout.readline())


for directory in sys.argv[1:]:
    answer = ask("usage", "--", directory)
    print(answer["error"]["message"] if "error" in answer else answer["usage"][0]["used_bytes"])
batch.stdin.close()
batch.wait()
