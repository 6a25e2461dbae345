#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
#   held.py mount|namespace COUNT DIRECTORY LAYERS
#
# Hold a deleted file on each of COUNT overlays, whose upper directories are below LAYERS: in one mount namespace
# (mount), or each in one of its own, with a process (namespace). Then make DIRECTORY/ready, and stay.
import ctypes
import os
import signal
import sys

CLONE_NEWNS, MS_PRIVATE, PR_SET_PDEATHSIG = 0x20000, 0x44000, 1
libc = ctypes.CDLL(None, use_errno=True)


def check(status):
    if status:
        raise OSError(ctypes.get_errno(), "cannot mount")


def leave_namespace():
    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(b"none", b"/", None, MS_PRIVATE, None))


def hold(number):
    layers, merged = f"{sys.argv[4]}/{number}", f"{sys.argv[3]}/{number}"
    for name in (merged, f"{layers}/lower", f"{layers}/upper", f"{layers}/work"):
        os.makedirs(name)
    options = f"lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work"
    check(libc.mount(b"none", merged.encode(), b"overlay", 0, options.encode()))
    os.open(f"{merged}/file", os.O_CREAT | os.O_RDWR)
    os.unlink(f"{merged}/file")


def hold_in_process(number):
    reader, writer = os.pipe()
    if os.fork() == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        leave_namespace()
        hold(number)
        os.write(writer, b"x")
        signal.pause()
    os.close(writer)
    if not os.read(reader, 1):
        sys.exit(f"file {number} cannot be held")
    os.close(reader)


leave_namespace()
for i in range(int(sys.argv[2])):
    (hold if sys.argv[1] == "mount" else hold_in_process)(i)
os.close(os.open(f"{sys.argv[3]}/ready", os.O_CREAT | os.O_WRONLY))
signal.pause()
