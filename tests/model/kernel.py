# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of project quotas, asked without fsquota's library or program."""
import contextlib
import ctypes
import errno
import fcntl
import os
import struct
import time

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_QUOTACTL_FD = 443
SYS_FILE_GETATTR = 468
SYS_FILE_SETATTR = 469
PRJQUOTA = 2
LAST_ID = 4294967294
Q_XGETQUOTA, Q_XSETQLIM, Q_XGETNEXTQUOTA = (0x5803, 0x5804, 0x5809)
# The one member of FS_IOC_FSGETXATTR that is asked for here is at these places.
FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR = 0x801C581F, 0x401C5820
XFLAG_PROJINHERIT = 0x200
FSXATTR = struct.Struct("=IIIII8x")
FILE_ATTR = struct.Struct("=QIIII")
# struct fs_disk_quota up to the use
DISK_QUOTA = struct.Struct("=bbHIQQQQQQ")
DISK_QUOTA_SIZE = 112
# d_fieldmask: soft and hard limits of inodes and blocks
LIMITS_MASK = 0xF
AT_SYMLINK_NOFOLLOW = 0x100
SYS_OPEN_TREE, OPEN_TREE_CLONE, O_CLOEXEC = 428, 1, 0o2000000
MS_BIND, MNT_DETACH = 0x1000, 2
# XFS_IOC_GOINGDOWN and EXT4_IOC_SHUTDOWN, without what is only in memory
SHUTDOWN, WITHOUT_MEMORY = 0x8004587D, struct.pack("I", 2)


def fail(what):
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


@contextlib.contextmanager
def opened(path, flags=os.O_RDONLY, mode=0o644):
    """The descriptor of a file, as long as it is needed"""
    handle = os.open(path, flags, mode)
    try:
        yield handle
    finally:
        os.close(handle)


class Quotas:
    """Of the projects of one filesystem. Blocks are of 512 bytes."""

    def __init__(self, mountpoint):
        self.mountpoint = mountpoint
        self.buffer = ctypes.create_string_buffer(DISK_QUOTA_SIZE)

    def call(self, command, number):
        with opened(self.mountpoint) as handle:
            return LIBC.syscall(SYS_QUOTACTL_FD, handle, ctypes.c_uint(command << 8 | PRJQUOTA),
                                ctypes.c_uint(number), self.buffer)

    def unpack(self):
        _, _, _, number, bhard, bsoft, ihard, isoft, blocks, inodes = DISK_QUOTA.unpack_from(self.buffer)
        return number, ((bsoft, bhard, isoft, ihard), blocks, inodes)

    def get(self, number):
        """(limits, blocks, inodes)"""
        if self.call(Q_XGETQUOTA, number):
            if ctypes.get_errno() == errno.ENOENT:
                return ((0, 0, 0, 0), 0, 0)
            fail("Q_XGETQUOTA")
        return self.unpack()[1]

    def set(self, number, limits):
        bsoft, bhard, isoft, ihard = limits
        DISK_QUOTA.pack_into(self.buffer, 0, 1, 2, LIMITS_MASK, number, bhard, bsoft, ihard, isoft, 0, 0)
        if self.call(Q_XSETQLIM, number):
            fail("Q_XSETQLIM")

    def all(self):
        """{ID: (limits, blocks, inodes)} of all that have either; ID 0 is nobody's"""
        found, number = {}, 1
        with opened(self.mountpoint) as handle:
            ctypes.set_errno(errno.ENOENT)
            while number <= LAST_ID and \
                    LIBC.syscall(SYS_QUOTACTL_FD, handle, ctypes.c_uint(Q_XGETNEXTQUOTA << 8 | PRJQUOTA),
                                 ctypes.c_uint(number), self.buffer) == 0:
                number, values = self.unpack()
                if any(values[0]) or values[1] or values[2]:
                    found[number] = values
                number += 1
        if ctypes.get_errno() != errno.ENOENT:
            fail("Q_XGETNEXTQUOTA")
        return found

    def settle(self):
        """XFS begins to clean up behind deleted files when it is asked for ID 0."""
        self.call(Q_XGETQUOTA, 0)
        time.sleep(0.004)


def get_tag(handle):
    """(ID, does a directory hand it on?)"""
    flags, _, _, number, _ = FSXATTR.unpack(fcntl.ioctl(handle, FS_IOC_FSGETXATTR, bytes(FSXATTR.size)))
    return number, bool(flags & XFLAG_PROJINHERIT)


def set_tag(handle, number, inherit):
    flags, extsize, nextents, _, cowextsize = FSXATTR.unpack(
        fcntl.ioctl(handle, FS_IOC_FSGETXATTR, bytes(FSXATTR.size)))
    flags = flags & ~XFLAG_PROJINHERIT | (XFLAG_PROJINHERIT if inherit else 0)
    fcntl.ioctl(handle, FS_IOC_FSSETXATTR, FSXATTR.pack(flags, extsize, nextents, number, cowextsize))


class Tags:
    """Of files that need not be opened, where the kernel can (Linux 6.17)."""

    def __init__(self):
        self.buffer = ctypes.create_string_buffer(FILE_ATTR.size)
        self.by_name = LIBC.syscall(SYS_FILE_GETATTR, -100, b"/", self.buffer,
                                    ctypes.c_size_t(FILE_ATTR.size), 0) == 0 or \
            ctypes.get_errno() != errno.ENOSYS

    def get(self, path, is_openable):
        """(ID, inheritance), or None where it is not to be known"""
        if self.by_name:
            if LIBC.syscall(SYS_FILE_GETATTR, -100, path.encode("utf-8", "surrogateescape"), self.buffer,
                            ctypes.c_size_t(FILE_ATTR.size), AT_SYMLINK_NOFOLLOW) == 0:
                flags, _, _, number, _ = FILE_ATTR.unpack_from(self.buffer)
                return number, bool(flags & XFLAG_PROJINHERIT)
            if ctypes.get_errno() in (errno.EOPNOTSUPP, errno.ENOTTY):
                return None
            fail(path)
        if not is_openable:
            return None
        with opened(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW) as handle:
            return get_tag(handle)


def mount(device, place, kind, options="", flags=0):
    if LIBC.mount(os.fsencode(device), os.fsencode(place), kind.encode(), flags, options.encode()):
        fail(f"mount {place}")


def umount(place):
    if LIBC.umount2(os.fsencode(place), 0):
        fail(f"umount {place}")


def without_mounts(place):
    """A descriptor of the directory, in a clone of its mount where nothing is mounted"""
    handle = LIBC.syscall(SYS_OPEN_TREE, -100, os.fsencode(place), OPEN_TREE_CLONE | O_CLOEXEC)
    if handle < 0:
        fail("open_tree")
    return handle


def sync(place):
    with opened(place) as handle:
        if LIBC.syncfs(handle):
            fail(f"syncfs {place}")


def power_fails(place):
    """What is only in memory is lost"""
    with opened(place) as handle:
        fcntl.ioctl(handle, SHUTDOWN, WITHOUT_MEMORY)


def set_inotify_events(count):
    """So many wait for who asks for events from now on; what is more is lost"""
    with open("/proc/sys/fs/inotify/max_queued_events", "w", encoding="ascii") as handle:
        handle.write(str(count))
