# SPDX-License-Identifier: Apache-2.0
"""quotas.py MOUNT: what the module fsquota does on a real kernel, beside the numbers of the real xfs_quota."""
import errno
import fcntl
import logging
import logging.handlers
import os
import pwd
import signal
import subprocess
import sys
import time

import fsquota

mount = sys.argv[1]
volume, other = f"{mount}/volume", f"{mount}/other\udcff"
MIB = 1 << 20
warnings = logging.handlers.BufferingHandler(1000)
logging.getLogger("fsquota").addHandler(warnings)


def kernel_has(id):
    """Use, soft and hard limit of space in KiB, and of inodes."""
    words = [f"report -p -N -n {form} -L {id} -U {id}" for form in ("-b", "-i")]
    out = subprocess.check_output([os.environ["FSQ_ORACLE"], "-xf", "-D/dev/null", "-P/dev/null"]
                                  + [f"-c{word}" for word in words] + [mount], text=True)
    return [int(n) for line in out.splitlines() if line.startswith(f"#{id} ") for n in line.split()[1:4]]


def fails(kind, function, *words, **more):
    try:
        raise AssertionError(f"no failure: {function(*words, **more)}")
    except kind as error:
        return error


def writes(mib):
    """As its owner: root passes limits of ext4."""
    dd = ["dd", "if=/dev/zero", f"of={volume}/file", "bs=1M", f"count={mib}", "conv=fsync"]
    return subprocess.run(dd, user=1000, group=1000, extra_groups=[], capture_output=True, text=True).stderr


dry = fsquota.assign(volume, hard="4M", mkdir=True, dry_run=True)
assert dry.changed and not os.path.exists(volume) and not os.path.exists("/etc/projects")
made = fsquota.assign(volume, hard="4M", hard_inodes=100, name="py", mkdir=True, mode=0o750, owner="nobody", group=1000)
assert made.changed and made.limits == fsquota.Limits(hard=4 * MIB, hard_inodes=100), made
it = os.stat(volume)
assert (it.st_mode & 0o7777, it.st_uid, it.st_gid) == (0o750, pwd.getpwnam("nobody").pw_uid, 1000), it
os.chown(volume, 1000, 1000)
assert fsquota.assign(volume).changed is False
assert open("/etc/projid").read() == f"py:{made.id}\n"

with fsquota.watch(mount) as events:
    process = events._process
    assert os.strerror(errno.ENOSPC) in writes(5) or os.strerror(errno.EDQUOT) in writes(5)
    event = next(event for event in events if event.event == "hard-reached")
assert process.returncode == 0 and list(events) == []
assert (event.id, event.name, event.limits.hard, event.uid, event.source) == (made.id, "py", 4 * MIB, 1000, "kernel"), event

used = fsquota.usage(volume)
assert [used.used_bytes // 1024, 0, used.limits.hard // 1024] == kernel_has(made.id)[:3], used
assert [used.used_inodes, 0, used.limits.hard_inodes] == kernel_has(made.id)[3:] == [2, 0, 100], used
grown = fsquota.resize(volume, "+2M", soft_inodes=50)
assert grown.changed and grown.limits == fsquota.Limits(6 * MIB, None, 100, 50) and kernel_has(made.id)[2] == 6144
assert kernel_has(made.id)[4] == 50 and "copied" in writes(5)
error = fails(fsquota.ConflictError, fsquota.resize, volume, "5632K")
assert error.hint == "use --allow-shrink if that is meant" and error.path == volume, error

fsquota.assign(volume, soft="50%")
assert kernel_has(made.id)[1:3] == [3072, 6144]
assert ["the grace time runs" in warning.getMessage() for warning in warnings.buffer] == [True], warnings.buffer
fsquota.resize(volume, "+50%")
assert kernel_has(made.id)[1:3] == [6144, 9216]
assert fsquota.usage(volume).until is None
back = fsquota.resize(volume, "+1M", until="1d").until
assert back and fsquota.usage(volume).until == back
fsquota.resize(volume, "6M", allow_shrink=True)
assert fsquota.assign(volume, keep_limits=True).changed is False
# What an answer has is what a call takes, and None in it is no limit.
given = fsquota.Limits(hard=7 * MIB, hard_inodes=110)
assert fsquota.resize(volume, limits=given).limits == given == fsquota.usage(volume).limits
assert kernel_has(made.id)[1:3] == [0, 7168] and kernel_has(made.id)[4:] == [0, 110]
assert fsquota.assign(volume, limits=fsquota.Limits(6 * MIB, 5 * MIB)).limits == fsquota.Limits(6 * MIB, 5 * MIB)
assert kernel_has(made.id)[1:3] == [5120, 6144] and kernel_has(made.id)[4:] == [0, 0]
assert [project.limits for project in fsquota.projects(mount)] == [fsquota.usage(volume).limits]

fails(fsquota.ConflictError, fsquota.assign, other, id=made.id, name="another", mkdir=True)
assert not os.path.exists(other) and fails(fsquota.NotFoundError, fsquota.release, other).errno == errno.ENOENT
os.mkdir(other)
assert not isinstance(fails(fsquota.NotFoundError, fsquota.usage, other), FileNotFoundError)
os.rmdir(other)
assert fails(fsquota.NotSupportedError, fsquota.assign, "/proc").path == "/proc"
for wrong in ({"hard": 0}, {"hard": 1 << 64 | 4096}, {"id": 1 << 32 | 5}, {"hard": "1M\0"}, {"name": "a b"}):
    fails(fsquota.UsageError, fsquota.assign, volume, **wrong)
several = fsquota.assign(other, id=77, mkdir=True)
assert sorted(project.id for project in fsquota.projects(mount)) == sorted([77, made.id])
assert fsquota.projects(mount, over=80)[0].directories == [volume]

assert subprocess.run([sys.executable, "-c", "import fsquota, sys; fsquota.release(sys.argv[1])", volume],
                      user=1000, capture_output=True, text=True).stderr.splitlines()[-1].startswith(
                          "fsquota._errors.PermissionDenied: ")
# What the administrator allows holds here, too.
with open("/etc/fsquota.conf", "w") as conf:
    conf.write(f"id-range = 5000-5999\nbudget = {mount} 20M\nprojects-file = /etc/projects.ours\n")
fsquota.assign(f"{mount}/ours", hard="1M", mkdir=True, registry=fsquota.Registry(lock_seconds=5))
assert open("/etc/projects.ours").read().endswith(f":{mount}/ours\n") and fsquota.usage(f"{mount}/ours").id
fsquota.release(f"{mount}/ours")
assert 5000 <= fsquota.assign(f"{mount}/more", hard="2M", mkdir=True).id <= 5999
error = fails(fsquota.ConflictError, fsquota.assign, f"{mount}/most", hard="30M", mkdir=True)
assert "budget" in str(error) and not os.path.exists(f"{mount}/most"), error
fails(fsquota.ConflictError, fsquota.resize, f"{mount}/more", "30M")
assert fsquota.resize(f"{mount}/more", "30M", force=True).limits.hard == 30 * MIB
assert fsquota.assign(f"{mount}/most", id_range=(7000, 7001), mkdir=True).id in (7000, 7001)
for path in (f"{mount}/more", f"{mount}/most"):
    fsquota.release(path)
os.unlink("/etc/fsquota.conf")
signal.signal(signal.SIGALRM, signal.default_int_handler)
with open("/etc/projects") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    began = time.monotonic()
    fails(KeyboardInterrupt, fsquota.release, volume)
    assert time.monotonic() - began < 30
assert kernel_has(made.id)[2] == 6144
gone = fsquota.release(volume)
assert (gone.id, gone.changed_files, gone.before) == (made.id, 2, fsquota.Limits(6 * MIB, 5 * MIB)), gone
assert not any(kernel_has(made.id)) and open("/etc/projid").read() == "volume77:77\n"
fsquota.release(os.fsencode(other))
