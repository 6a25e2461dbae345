# SPDX-License-Identifier: Apache-2.0
"""What there is: a filesystem with its files and quotas, and the two files of the registry."""
import collections
import os
import re
import shutil
import stat
import time

import kernel

PROJECTS, PROJID, APPLIED = "/etc/projects", "/etc/projid", "/var/lib/fsquota/applied"
PROJECTS_LINE = re.compile(r"([0-9]+):(.*)", re.S)
PROJID_LINE = re.compile(r"([^#:][^:]*):([0-9]+)", re.S)
OFF_LINE = re.compile(r"[0-9]+~/.*|.*~[0-9]+|~fsquota~*|~*", re.S)
NO_LIMITS = (0, 0, 0, 0)
# The second path of a directory: a bind mount.
ALIAS, ALIASED = "/mnt/alias", "v"
OTHER_DISK = "/mnt/x2"


class Node:
    """A file; tag is None where the kernel does not tell it."""
    __slots__ = ("ino", "kind", "tag", "inherit", "blocks")

    def __init__(self, ino, kind, tag, inherit, blocks):
        self.ino, self.kind, self.tag, self.inherit, self.blocks = ino, kind, tag, inherit, blocks

    def copy(self):
        return Node(self.ino, self.kind, self.tag, self.inherit, self.blocks)


class State:
    """One moment: what was seen, or what ought to be."""

    def __init__(self):
        self.tree = {}      # path: Node
        self.limits = {}    # ID: (bsoft, bhard, isoft, ihard), where there are any; blocks of 512 bytes
        self.extra = {}     # ID: blocks and inodes that the kernel counts and the tree does not show
        self.projects = []  # (ID, directory)
        self.projid = []    # (name, ID)
        self.marks = set()  # (ID, directory) that apply has assigned
        self.others = ([], [])  # lines of both that are no entries
        self.by_alias = set()  # directories of lines that lead over the alias
        self.hidden = []    # directories over which something else is mounted

    def copy(self):
        other = State()
        other.tree = {path: node.copy() for path, node in self.tree.items()}
        other.limits = dict(self.limits)
        other.extra = self.extra
        other.projects, other.projid, other.marks = list(self.projects), list(self.projid), set(self.marks)
        other.others, other.hidden, other.by_alias = self.others, self.hidden, self.by_alias
        return other

    def has_quotas_of(self, other):
        """Are IDs, limits and lines the same?"""
        return (self.limits, self.projects, self.projid) == (other.limits, other.projects, other.projid) and \
            all(path in other.tree and node.tag == other.tree[path].tag for path, node in self.tree.items())

    def is_unseen(self):
        """Is there something with an ID that was not seen?"""
        return any(tag < 0 for tag in self.limits)

    # --- files of the tree ---

    def below(self, directory):
        """Paths of all that is in a directory, and not hidden"""
        prefix = directory + "/"
        return [path for path in self.tree if path.startswith(prefix) and not self.is_hidden(path)]

    def is_hidden(self, path):
        return any((path + "/").startswith(place + "/") for place in self.hidden)

    def is_directory(self, path):
        return path in self.tree and self.tree[path].kind == "d"

    def inodes(self, paths, tag):
        """{inode number: Node} of those with an ID"""
        return {self.tree[path].ino: self.tree[path] for path in paths if self.tree[path].tag == tag}

    def counted(self):
        """{ID: [blocks, inodes]} of the tree"""
        found, seen = collections.defaultdict(lambda: [0, 0]), set()
        for node in self.tree.values():
            if node.tag and node.ino not in seen:
                seen.add(node.ino)
                found[node.tag][0] += node.blocks
                found[node.tag][1] += 1
        return found

    def used(self, tag):
        """(blocks, inodes) that the kernel counts"""
        nodes = self.inodes(self.tree, tag).values()
        blocks, inodes = self.extra.get(tag, (0, 0))
        return blocks + sum(node.blocks for node in nodes), inodes + len(nodes)

    def unknown(self):
        """How many files do not tell their ID"""
        return len({node.ino for node in self.tree.values() if node.tag is None})

    def set_tag(self, path, tag, inherit):
        """With all names of the file"""
        node = self.tree[path]
        if node.tag is None:
            return
        for other in (self.tree.values() if node.kind != "d" else [node]):
            if other.ino == node.ino:
                other.tag, other.inherit = tag, inherit and node.kind == "d"

    def set_limits(self, tag, limits):
        if limits and any(limits):
            self.limits[tag] = limits
        else:
            self.limits.pop(tag, None)

    # --- the registry ---

    def id_of(self, directory):
        return next((tag for tag, path in self.projects if path == directory), None)

    def directories_of(self, tag):
        return [path for number, path in self.projects if number == tag]

    def id_of_name(self, name):
        return next((tag for word, tag in self.projid if word == name), None)

    def names_of(self, tag):
        return [name for name, number in self.projid if number == tag]

    def is_shared(self, tag, directory):
        return any(number == tag and path != directory for number, path in self.projects)

    def remove_lines(self, tag, directory):
        """That of a directory, or none; and the names with the last one"""
        if not self.is_shared(tag, directory):
            self.projid = [line for line in self.projid if line[1] != tag]
        if directory:
            self.projects = [line for line in self.projects if line != (tag, directory)]

    def is_taken(self, tag):
        """Is an ID anybody's?"""
        return tag in self.limits or self.used(tag)[1] > 0 or any(number == tag for number, _ in self.projects) \
            or any(number == tag for _, number in self.projid)


def read_lines(file, pattern):
    entries, others = [], []
    try:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="\n") as handle:
            lines = handle.read().split("\n")
    except FileNotFoundError:
        return entries, others
    for line in lines:
        match = pattern.fullmatch(line)
        if match:
            entries.append(match.groups())
        elif not OFF_LINE.fullmatch(line):
            others.append(line)
    return entries, others


KINDS = {stat.S_IFBLK: "b", stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l", stat.S_IFIFO: "p"}


class World:
    """The filesystem that is mounted at a place"""

    def __init__(self, kind):
        self.kind = kind
        self.top = "/mnt/x" if kind == "xfs" else "/mnt/e"
        self.device = os.environ["FSQ_X_DEV" if kind == "xfs" else "FSQ_E_DEV"]
        self.options = "uquota,gquota,pquota" if kind == "xfs" else "usrquota,grpquota,prjquota"
        self.quotas = kernel.Quotas(self.top)
        self.tags = kernel.Tags()
        self.has_mounts = True  # perhaps
        self.alias_root = None  # what the alias leads to: a path from the top

    # --- making it as it was at the beginning ---

    def clean(self):
        self.unmount_inside()
        for entry in os.scandir(self.top):
            if entry.name == "lost+found":
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        for _ in range(500):
            found = self.quotas.all()
            for tag, (limits, _, _) in found.items():
                if any(limits):
                    self.quotas.set(tag, NO_LIMITS)
            if not found:
                return
            self.quotas.settle()
        raise SystemExit(f"model: {self.top} cannot be cleaned: {found}")

    # --- mounts ---

    def inside(self):
        """(mount point, its root, is it of this filesystem?) of what is mounted inside, and of the alias"""
        found, device = [], None
        with open("/proc/self/mountinfo", encoding="utf-8") as table:
            for line in table:
                _, _, number, root, point = line.split()[:5]
                device = number if point == self.top else device
                if point == ALIAS or point.startswith(self.top + "/"):
                    found.append((point, root, number == device))
        return found

    def mount_inside(self, point, root, is_own):
        """root: of a bind mount"""
        self.has_mounts = True
        if is_own:
            kernel.mount(self.top + root, point, "", flags=kernel.MS_BIND)
        else:
            kernel.mount("model", point, "tmpfs")

    def unmount_inside(self):
        for point, _, _ in reversed(self.inside()):
            kernel.umount(point)
        self.has_mounts = False

    def remount(self, meanwhile=lambda: None):
        inside = self.inside()
        self.unmount_inside()
        kernel.umount(self.top)
        meanwhile()
        kernel.mount(self.device, self.top, self.kind, self.options)
        for mount in inside:
            if os.path.isdir(mount[0]):
                self.mount_inside(*mount)

    def canonical(self, path):
        """The path of a line that leads over the alias"""
        if self.alias_root and (path + "/").startswith(ALIAS + "/"):
            return self.top + self.alias_root + path[len(ALIAS):]
        return path

    def said(self, path):
        """The other way round"""
        root = self.top + (self.alias_root or "/.")
        return ALIAS + path[len(root):] if (path + "/").startswith(root + "/") else path

    # --- looking at it ---

    def scan(self, directory, shown, tree):
        for entry in os.scandir(directory):
            if entry.name == "lost+found":
                continue
            seen = entry.stat(follow_symlinks=False)
            kind = KINDS[stat.S_IFMT(seen.st_mode)]
            tag = self.tags.get(entry.path, kind in "df")
            number, inherit = tag or (None, False)
            path = f"{shown}/{entry.name}"
            tree[path] = Node(seen.st_ino, kind, number, inherit and kind == "d", seen.st_blocks)
            if kind == "d":
                self.scan(entry.path, path, tree)

    def scan_all(self, state):
        """What is mounted over something hides it from the commands, and not from the model"""
        inside = self.inside() if self.has_mounts else []
        self.alias_root = next((root for point, root, _ in inside if point == ALIAS), None)
        # One that lies below a later mount hides nothing.
        state.hidden = [point for point, root, is_own in inside
                        if point != ALIAS and not (is_own and root == point[len(self.top):]) and
                        os.lstat(point).st_dev != os.lstat(self.top).st_dev]
        if not inside:
            self.scan(self.top, self.top, state.tree)
            return
        handle = kernel.without_mounts(self.top)
        self.scan(f"/proc/self/fd/{handle}", self.top, state.tree)
        os.close(handle)

    def look(self):
        state = State()
        self.scan_all(state)
        counts = state.counted()
        for tag, (limits, blocks, inodes) in self.quotas.all().items():
            if any(limits):
                # ext4 keeps KiB, and says 512 bytes more or less until it is mounted again.
                state.limits[tag] = (limits[0] + 1 & ~1, limits[1] + 1 & ~1, *limits[2:])
            counted = counts.get(tag, (0, 0))
            state.extra[tag] = (blocks - counted[0], inodes - counted[1])
        for tag, counted in counts.items():
            state.extra.setdefault(tag, (-counted[0], -counted[1]))
        projects, other_projects = read_lines(PROJECTS, PROJECTS_LINE)
        projid, other_projid = read_lines(PROJID, PROJID_LINE)
        state.projects = [(int(tag), self.canonical(path)) for tag, path in projects]
        state.by_alias = {self.canonical(path) for _, path in projects if self.canonical(path) != path}
        state.projid = [(name, int(tag)) for name, tag in projid]
        state.others = (other_projects, other_projid)
        state.marks = {(int(tag), self.canonical(path)) for tag, path in read_lines(APPLIED, PROJECTS_LINE)[0]}
        return state


# --- comparing ---

def kept_lines(before, expected):
    """The lines of before that were not taken out meanwhile: these stand first in what is expected, in the same order"""
    rest, kept = iter(before), []
    for line in expected:
        if line not in rest:
            break
        kept.append(line)
    return kept


def compare_lists(what, expected, seen, before):
    """
    The same lines, and those that stayed in the same order. One that was taken out and added again may have its old place:
    its room is not given back while somebody, such as we, has the file open.
    """
    wrong = []
    for line in (collections.Counter(expected) - collections.Counter(seen)).elements():
        wrong.append(f"{what}: {line} is missing")
    for line in (collections.Counter(seen) - collections.Counter(expected)).elements():
        wrong.append(f"{what}: {line} ought not to be there")
    if not wrong:
        kept = kept_lines(before, expected)
        if [line for line in seen if line in kept] != kept:
            wrong.append(f"{what}: the order has changed: {seen}, and not {expected}")
    return wrong


def compare_limits(expected, seen):
    wrong = []
    for tag in sorted(expected.keys() | seen.keys()):
        if expected.get(tag, NO_LIMITS) != seen.get(tag, NO_LIMITS):
            wrong.append(f"limits of {tag} are {seen.get(tag, NO_LIMITS)}, not {expected.get(tag, NO_LIMITS)}")
    return wrong


def compare_registry(expected, seen, before):
    return compare_lists("projects", expected.projects, seen.projects, before.projects) + \
        compare_lists("projid", expected.projid, seen.projid, before.projid) + \
        compare_lists("projects", expected.others[0], seen.others[0], before.others[0]) + \
        compare_lists("projid", expected.others[1], seen.others[1], before.others[1]) + \
        [f"apply's: {mark} {'is missing' if mark in expected.marks else 'ought not to be there'}"
         # Those of directories that are not registered any more go when apply notes others.
         for mark in sorted(expected.marks ^ seen.marks) if mark in expected.projects or mark in seen.projects]


def compare_trees(expected, seen):
    wrong = []
    for path in sorted(expected.keys() | seen.keys()):
        if path not in seen:
            wrong.append(f"{path} is gone")
        elif path not in expected:
            wrong.append(f"{path} ought not to be there")
        else:
            node, other = expected[path], seen[path]
            if node.tag is not None and (node.tag, node.inherit) != (other.tag, other.inherit):
                wrong.append(f"{path} has ID {other.tag}{' P' if other.inherit else ''}, "
                             f"not {node.tag}{' P' if node.inherit else ''}")
    return wrong


def compare_counts(state, held):
    """
    The kernel counts what there is; held: {ID: how many deleted files are open}, and under None how many
    are held in another way. What is held keeps the directories above it, deleted as they may be.
    """
    wrong, unknown = [], 1 << 32 if held else state.unknown()
    for tag, (blocks, inodes) in state.extra.items():
        least, most = held.get(tag, 0), held.get(tag, 0) + unknown
        if not least <= inodes <= most:
            wrong.append(f"the kernel counts {inodes} inodes of project {tag} more than there are, "
                         f"not {least}" + (f" to {most}" if most < 1 << 32 else " or more" if unknown else ""))
        elif most == 0 and blocks:
            wrong.append(f"the kernel counts {blocks * 512} bytes of project {tag} more than there are")
    return wrong


def settled(world, held, seconds=5):
    """What is seen when XFS has cleaned up behind deleted files, and what is wrong with the counts"""
    end, last, stays = time.monotonic() + seconds, None, 0
    while True:
        state = world.look()
        wrong = compare_counts(state, held)
        # What is held cannot be told from what is about to go but by its staying.
        stays = stays + 1 if state.extra == last else 0
        if (not wrong and (not held or stays == 2 or world.kind == "ext4")) or time.monotonic() > end:
            return state, wrong
        last = state.extra
        world.quotas.settle()


