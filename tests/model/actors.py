# SPDX-License-Identifier: Apache-2.0
"""Who does something: fsquota, a tenant, root, kubelet."""
import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile

import kernel
import world

TENANT = 65534


# --- fsquota ---

class Fsquota:
    """Runs the program, and may disturb it (tests/transaction/fail.c)"""

    def __init__(self, binary, helper, directory):
        self.binary = binary
        self.files = [os.path.join(directory, name) for name in ("in", "out", "err")]
        self.give("")
        self.helper = subprocess.Popen([helper], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.call, self.out, self.err, self.said = 0, "", "", []

    def give(self, text):
        with open(self.files[0], "w", encoding="utf-8") as handle:
            handle.write(text)

    def order(self, line):
        self.helper.stdin.write(line.encode() + b"\n")
        self.helper.stdin.flush()

    def answer(self):
        words = self.helper.stdout.readline().decode().split()
        if not words:
            raise SystemExit("model: fail is gone")
        return words

    def begin(self, words, how="none", count=0):
        """Whether it is stopped: it has to be told to go on"""
        assert not any(set(word) & set("\t\n") for word in words)
        words = [word.replace(" ", "\t") for word in (self.binary, *words)]
        self.order(" ".join(["any", str(count), how, "0", *self.files, *words]))
        self.said = self.answer()
        return self.said[0] == "stopped"

    def end(self):
        """Exit status, stdout, stderr, and whether the call came"""
        if self.said[0] == "stopped":
            self.order("go")
            self.said = self.answer()
        self.call = int(self.said[2])
        with open(self.files[1], encoding="utf-8", errors="surrogateescape") as handle:
            out = self.out = handle.read()
        with open(self.files[2], encoding="utf-8", errors="surrogateescape") as handle:
            err = self.err = handle.read()
        return int(self.said[0]), out, err, self.said[1] == "yes"

    def run(self, words, how="none", count=0, when_stopped=None):
        """when_stopped: what happens meanwhile"""
        if self.begin(words, how, count):
            when_stopped()
        return self.end()

    def run_beside(self, words):
        """While another one is stopped: exit status and stderr"""
        done = subprocess.run([self.binary, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stderr.decode(errors="surrogateescape")


# --- who does something to files: each act is a list of a word and its arguments ---

class Hands:
    """Does acts. They may fail, as the kernel likes; what is done is seen afterwards."""
    do_rename, do_delete, do_mkdir, do_fifo = map(staticmethod, (os.rename, os.unlink, os.mkdir, os.mkfifo))

    def __init__(self):
        self.held, self.mounts = [], []

    def do(self, act):
        try:
            getattr(self, "do_" + act[0])(*act[1:])
            return 0
        except OSError as error:
            return error.errno or errno.EIO

    def do_retag(self, path, tag, inherit):
        with kernel.opened(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW) as handle:
            kernel.set_tag(handle, tag, inherit and stat.S_ISDIR(os.fstat(handle).st_mode))

    def do_link(self, path, other):
        os.link(path, other, follow_symlinks=False)

    def do_write(self, path, size):
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with kernel.opened(path, flags) as handle:
            os.write(handle, bytes(size))

    def do_mkdirs(self, path):
        os.makedirs(path, exist_ok=True)

    def do_give(self, path, uid):
        for directory, directories, files in os.walk(path):
            for entry in [directory] + [os.path.join(directory, name) for name in files + directories]:
                os.chown(entry, uid, uid, follow_symlinks=False)

    def do_rmtree(self, path):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path, ignore_errors=True)

    def do_symlink(self, path):
        os.symlink("f0", path)

    def do_hold(self, path):
        """A deleted file that stays open"""
        self.held.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))
        os.unlink(path)

    def do_drop(self):
        for handle in self.held:
            os.close(handle)
        self.held.clear()

    def do_bind(self, path, other):
        """In a user and a mount namespace of his own"""
        pid = os.fork()
        if pid == 0:
            for handle in self.held:
                os.close(handle)
            kernel.LIBC.unshare(0x10000000 | 0x20000)
            if kernel.LIBC.mount(None, b"/", None, 0x4000 | 0x40000, None) == 0 and \
                    kernel.LIBC.mount(os.fsencode(path), os.fsencode(other), None, 0x1000, None) == 0:
                signal.pause()
            os._exit(0)
        self.mounts.append(pid)

    def do_unbind(self):
        for pid in self.mounts:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.mounts.clear()

    def count(self):
        """IDs of deleted files that are open, each file once; None for what mounts hold"""
        found = {-pid: None for pid in self.mounts}
        for handle in self.held:
            seen = os.fstat(handle)
            if seen.st_nlink == 0:
                found[seen.st_ino] = kernel.get_tag(handle)[0] if stat.S_ISREG(seen.st_mode) else 0
        return list(found.values())


class Other:
    """A process of another user, with hands of its own"""

    def __init__(self, uid):
        self.read, write = os.pipe()
        read, self.write = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(read)
            os.close(write)
            self.answers = os.fdopen(self.read, "r")
            return
        os.close(self.read)
        os.close(self.write)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        # Else user namespaces cannot be made: the mappings are of a process that may be looked at.
        kernel.LIBC.prctl(4, 1, 0, 0, 0)
        hands = Hands()
        for line in os.fdopen(read, "r"):
            act = json.loads(line)
            if act[0] == "count":
                answer = hands.count()
            else:
                answer = hands.do(act)
            os.write(write, json.dumps(answer).encode() + b"\n")
        hands.do_unbind()
        os._exit(0)

    def do(self, act):
        os.write(self.write, json.dumps(act).encode() + b"\n")
        return json.loads(self.answers.readline())

    def count(self):
        return self.do(["count"])


# --- a container engine ---

class Engine:
    """
    Gives IDs out as Docker and containers/storage do: from the one after that of its root on, without
    files and locks.
    """

    def __init__(self, quotas, root):
        """Starts. It takes the limit of the first ID away, to find out whether it can; and goes on after the
        highest ID that a layer has."""
        self.quotas, self.root = quotas, root
        self.base = self.tag_of(root)
        quotas.set(self.base + 1, world.NO_LIMITS)
        self.last = max([self.base, *(self.tag_of(entry.path) for entry in os.scandir(root) if entry.is_dir())])

    @staticmethod
    def tag_of(directory):
        with kernel.opened(directory) as handle:
            return kernel.get_tag(handle)[0]

    @staticmethod
    def make(directory):
        """What a first start leaves"""
        os.makedirs(directory + "/overlay2/l", exist_ok=True)
        os.mknod(directory + "/overlay2/backingFsBlockDev", stat.S_IFBLK | 0o600, os.makedev(7, 0))

    def layer(self, limits):
        """The ID of a new one; None: the limit of the store is reached"""
        path = f"{self.root}/layer{self.last + 1}"
        try:
            os.mkdir(path)
        except OSError:
            return None
        self.last += 1
        with kernel.opened(path) as handle:
            kernel.set_tag(handle, self.last, True)
        self.quotas.set(self.last, limits)
        with contextlib.suppress(OSError), open(path + "/link", "w", encoding="ascii") as file:
            file.write("text")
        return self.last


# --- kubelet ---

class Kubelet:
    """Changes the two files as kubelet does: open, lock, no second look, write anew beside, rename."""

    def __init__(self, quotas):
        self.quotas = quotas
        self.files = []

    def open(self):
        for name in (world.PROJECTS, world.PROJID):
            self.files.append(os.open(name, os.O_RDONLY | os.O_CREAT, 0o644))

    def lock(self):
        for handle in self.files:
            fcntl.flock(handle, fcntl.LOCK_EX)

    def close(self):
        for handle in self.files:
            os.close(handle)
        self.files.clear()

    def texts(self):
        return [os.pread(handle, 1 << 24, 0).decode("utf-8", "surrogateescape") for handle in self.files]

    def write(self, texts):
        names = []
        for name, text in zip((world.PROJECTS, world.PROJID), texts):
            handle, temporary = tempfile.mkstemp(dir="/etc", prefix=os.path.basename(name))
            os.write(handle, text.encode("utf-8", "surrogateescape"))
            os.fchmod(handle, 0o644)
            os.close(handle)
            names.append(temporary)
        os.rename(names[1], world.PROJID)
        os.rename(names[0], world.PROJECTS)

    def find_id(self, texts):
        """Not in the files, and of no use"""
        taken = set(re.findall(r"^([0-9]+):", texts[0], re.M)) | set(re.findall(r":([0-9]+)$", texts[1], re.M))
        number = 1048577
        while str(number) in taken or any(self.quotas.get(number)[1:]):
            number += 1
        return number

    def add(self, directory):
        """With the locks. The ID: one that the directory is registered with, or a new one"""
        texts = self.texts()
        found = re.search(rf"^([0-9]+):{re.escape(directory)}$", texts[0], re.M)
        if found:
            return int(found.group(1))
        number = self.find_id(texts)
        for i, line in enumerate((f"{number}:{directory}", f"volume{number}:{number}")):
            if texts[i] and not texts[i].endswith("\n"):
                texts[i] += "\n"
            texts[i] += line + "\n"
        self.write(texts)
        return number

    def remove(self, directory):
        """With the locks. The ID, or None when it is not registered"""
        texts = self.texts()
        found = re.search(rf"^([0-9]+):{re.escape(directory)}\n", texts[0], re.M)
        if not found:
            return None
        number = found.group(1)
        texts[0] = texts[0].replace(found.group(0), "", 1)
        if not re.search(rf"^{number}:", texts[0], re.M):
            texts[1] = re.sub(rf"^[^#:\n][^:\n]*:{number}\n", "", texts[1], flags=re.M)
        self.write(texts)
        return int(number)
