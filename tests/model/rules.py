# SPDX-License-Identifier: Apache-2.0
"""What the commands do to a state, as their pages say. Each function changes the state that it gets,
and returns the exit status; a status that is not 0 has changed nothing."""
import fnmatch
import posixpath

OK, FAILED, USAGE, NOT_FOUND, CONFLICT, PARTIAL = 0, 1, 2, 5, 6, 7
FIRST_ID, FIRST_UNSEEN_ID, LAST_ID, LAST_PROVEN_ID = 1048577, 2097153, 4294967294, 2147483647
# Those that stores get, with room after each
FIRST_STORE_ID, END_STORE_ID, STORE_ROOM = 1 << 30, 1 << 31, 1000000
UNSEEN = -2
UNLIMITED = 1 << 49  # 512 byte blocks: 2^58 bytes


class Wrong(Exception):
    """What was seen cannot be."""


class Model:
    """chosen: {directory: IDs} that commands were seen to choose"""

    def __init__(self, kind, top, chosen=None, is_partial=False, full=(), was_cut=False):
        """is_partial: what was not done may have no ID yet; full: directories that could not be made;
        was_cut: a store may have got an ordinary ID before it was seen to be one"""
        self.kind, self.top, self.chosen, self.is_partial = kind, top, chosen or {}, is_partial
        self.full, self.was_cut = full, is_partial or was_cut
        self.budget = None  # (directory, bytes)
        self.trace = []  # what apply does one after the other

    # --- parts ---

    def rounded(self, size):
        unit = 4096 if self.kind == "xfs" else 1024
        return (size + unit - 1) // unit * unit // 512

    def above(self, state, directory):
        """(ID, inheritance) of the directory above"""
        node = state.tree.get(posixpath.dirname(directory))
        return (node.tag, node.inherit) if node else (0, False)

    def owner(self, state, directory, claimed=None):
        """(ID or 0, is it listed?, is it disputed?); ID None: exit status 6"""
        listed = state.id_of(directory)
        carried = state.tree[directory].tag
        if listed is not None:
            return listed, True, False
        if carried == 0 or carried == self.above(state, directory)[0]:
            return 0, False, False
        if claimed is not None and claimed == carried:
            return carried, False, False
        if not state.directories_of(carried) and carried <= LAST_PROVEN_ID:
            inside = state.inodes([directory] + state.below(directory), carried)
            if len(inside) == state.used(carried)[1]:
                return carried, False, False
        if claimed is not None:
            return 0, False, True
        return None, False, False

    def find(self, state, directory):
        """Exit status"""
        if state.is_directory(directory) or directory == self.top:
            return OK
        if directory in state.tree:
            return USAGE
        return NOT_FOUND

    def wanted(self, before, asked, unlimited):
        """asked: {hard, soft, hard_inodes, soft_inodes} in bytes and numbers; None: soft above hard"""
        bsoft, bhard, isoft, ihard = (0, 0, 0, 0) if unlimited else before
        if "hard" in asked:
            bhard = self.rounded(asked["hard"])
        if "soft" in asked:
            bsoft = self.rounded(asked["soft"])
        ihard, isoft = asked.get("hard_inodes", ihard), asked.get("soft_inodes", isoft)
        # Kubelet's largest number is no limit.
        if bsoft > bhard and bsoft >= UNLIMITED:
            bsoft = 0
        if not any((bsoft, bhard, isoft, ihard)):
            bhard = self.no_limit()
        if (bhard and bsoft > bhard) or (ihard and isoft > ihard):
            return None
        return (bsoft, bhard, isoft, ihard)

    def is_contradictory(self, asked):
        """Whether limits that are given together contradict each other, whatever the directory has"""
        return (asked.get("hard") and self.rounded_up(asked.get("soft", 0)) > self.rounded_up(asked["hard"])) or \
            (asked.get("hard_inodes") and asked.get("soft_inodes", 0) > asked["hard_inodes"])

    @staticmethod
    def rounded_up(size):
        """In basic blocks"""
        return (size + 511) // 512

    def no_limit(self):
        """2^63-1 and 2^58-1 bytes, as the filesystems round them"""
        return (1 << 63) // 512 if self.kind == "xfs" else UNLIMITED

    def fits(self, state, tag, hard, directory=None):
        """Does a hard limit fit in the budget? directory: that joins the project"""
        if not self.budget:
            return True
        top, size = self.budget
        # One that is not there has promised nothing.
        if not state.is_directory(top):
            return True

        def promised(blocks):
            return blocks if blocks < UNLIMITED else 0

        def is_in(path):
            return path == top or path.startswith(top + "/")
        counted = {number for number, path in state.projects if is_in(path) and path not in state.by_alias}
        before = promised(state.limits.get(tag, (0, 0))[1]) if tag in counted else 0
        after = promised(hard) if tag in counted or (directory and is_in(directory)) else 0
        total = sum(promised(state.limits[number][1]) for number in counted if number in state.limits)
        return after <= before or total + after - before <= size // 512

    def choose(self, state, directory, insisted, register):
        """A new ID, which was seen"""
        if insisted:
            return None if state.is_taken(insisted) else insisted
        chosen = self.chosen.get(directory, [None])[0]
        first, end = FIRST_ID if register else FIRST_UNSEEN_ID, LAST_ID + 1
        if self.is_store(state, directory) and not self.was_cut:
            first, end = FIRST_STORE_ID, END_STORE_ID
        if chosen is None or state.is_taken(chosen) or not first <= chosen < end:
            return UNSEEN
        # Of the stores it sees the one that has the last ID of the files before the chosen one.
        listed = [tag for tag, _ in state.projects] + [tag for _, tag in state.projid]
        last = max((tag for tag in listed if tag < chosen), default=0)
        if chosen - last < STORE_ROOM and any(self.is_store(state, path) for path in state.directories_of(last)[:1]):
            return UNSEEN
        return chosen

    def is_store(self, state, directory):
        return directory + "/overlay2/l" in state.tree

    def stored(self, size):
        """Limits that a container engine sets"""
        return (self.rounded(size), self.rounded(size), 0, 0)

    def make(self, state, directory):
        parent = posixpath.dirname(directory)
        if parent != self.top and not state.is_directory(parent):
            return USAGE if parent in state.tree else NOT_FOUND
        if directory in self.full and self.above(state, directory)[0] in state.limits:
            return FAILED
        tag, inherit = self.above(state, directory)
        template = next(iter(state.tree.values()), None)
        # An inode of its own.
        node = type(template)(-1 - len(state.tree), "d", tag if inherit else 0, inherit, 0) if template else None
        if node is None:
            return None
        state.tree[directory] = node
        return OK

    # --- commands ---

    def assign(self, state, directory, options):
        """options: asked limits, unlimited, id, name, mkdir, register"""
        asked = options.get("limits", {})
        if self.is_contradictory(asked):
            return USAGE
        after = state.copy()
        status = self.find(after, directory)
        if status == NOT_FOUND and options.get("mkdir"):
            status = self.make(after, directory)
        if status:
            return status
        status = self.assign_found(after, directory, options, asked)
        if status == OK:
            if state.id_of(directory) is None or directory not in state.tree:
                (after.marks.add if options.get("marks") else after.marks.discard)((after.id_of(directory), directory))
            state.__dict__.update(after.__dict__)
        return status

    def assign_found(self, state, directory, options, asked):
        node, name, insisted = state.tree[directory], options.get("name"), options.get("id")
        named = state.id_of_name(name) if name else None
        claimed = insisted if insisted else named if name else None
        if name and claimed is None:
            claimed = -1
        tag, listed, _ = self.owner(state, directory, claimed)
        if tag is None:
            return CONFLICT
        is_complete = False
        if tag:
            if insisted and insisted != tag:
                return CONFLICT
            if name and named is not None and named != tag:
                return CONFLICT
            if name and named is None and state.names_of(tag):
                return CONFLICT
            is_complete = listed and node.tag == tag and node.inherit
        elif named is not None:
            if insisted and insisted != named:
                return CONFLICT
            tag = named
        else:
            tag = self.choose(state, directory, insisted, options.get("register", True))
            if tag is None:
                return CONFLICT
        known = state.limits.get(tag, (0, 0, 0, 0))
        limits = self.wanted(known, asked, options.get("unlimited"))
        hard = self.rounded(asked["hard"]) if "hard" in asked else 0 if options.get("unlimited") else known[1]
        if not self.fits(state, tag, hard, directory):
            return CONFLICT
        if limits is None:
            return CONFLICT
        if not is_complete and not self.claim_tree(state, directory, tag, listed):
            return CONFLICT
        if tag == UNSEEN and not self.is_partial:
            raise Wrong(f"{directory}: ID {self.chosen.get(directory)} was chosen, which is not free")
        state.limits[tag] = limits
        if options.get("register", True):
            self.register(state, directory, tag, name, listed, is_complete)
        # The next assign of a batch was told the next one, also where this directory had its ID before.
        known = self.chosen.get(directory, [])
        if len(known) > 1 and known[0] == tag:
            known.pop(0)
        return OK

    def claim_tree(self, state, directory, tag, listed):
        """Give a directory and all in it the ID; False: something in it has another one"""
        node = state.tree[directory]
        reclaim = listed and node.tag not in (0, tag)
        others = [path for path in state.below(directory)
                  if state.is_directory(path) and state.id_of(path) is not None]
        if not listed and any(state.id_of(path) != tag for path in others):
            return False
        before = node.tag if node.tag != tag else self.above(state, directory)[0]
        paths, pruned = [], []
        for path in sorted(state.below(directory)):
            if any(path.startswith(other + "/") for other in pruned):
                continue
            if listed and path in others:
                pruned.append(path)
                continue
            if not reclaim and state.tree[path].tag not in (None, 0, before, tag):
                return False
            paths.append(path)
        for path in [directory] + paths:
            state.set_tag(path, tag, True)
        return True

    def register(self, state, directory, tag, name, listed, is_complete):
        if not state.names_of(tag) and (name or not is_complete):
            word = name or f"volume{tag}"
            if name or state.id_of_name(word) is None:
                state.projid.append((word, tag))
        if not listed:
            state.projects.append((tag, directory))

    def release(self, state, directory, options):
        """options: keep_tags, id, if_exists, register"""
        status = self.find(state, directory)
        if status == NOT_FOUND and state.id_of(directory) is not None:
            status = self.release_gone(state, directory, options)
        elif status == OK:
            status = self.release_found(state, directory, options)
        return OK if status == NOT_FOUND and options.get("if_exists") else status

    def release_found(self, state, directory, options):
        insisted = options.get("id")
        tag, listed, disputed = self.owner(state, directory, insisted)
        if tag is None or disputed or (tag and insisted and tag != insisted):
            return CONFLICT
        if not tag:
            return NOT_FOUND
        if not options.get("keep_tags"):
            self.clear_tree(state, directory, tag)
        own = 1 if state.tree[directory].tag == tag else 0
        if not (state.is_shared(tag, directory) and state.used(tag)[1] > own):
            state.limits.pop(tag, None)
        if options.get("register", True):
            state.remove_lines(tag, directory if listed else None)
        return OK

    def clear_tree(self, state, directory, tag):
        after, inherit = self.above(state, directory)
        if not inherit or after == tag:
            after, inherit = 0, False
        elif state.id_of(posixpath.dirname(directory)) is not None:
            after = state.id_of(posixpath.dirname(directory))
        own = {number for number, path in state.projects if path.startswith(directory + "/")}
        strays = {number for number, path in state.projects
                  if path != directory and not path.startswith(directory + "/")} - own - {tag}
        for path in state.below(directory):
            if state.tree[path].tag == tag or state.tree[path].tag in strays:
                state.set_tag(path, after, inherit)
        state.set_tag(directory, after, inherit)

    def release_gone(self, state, directory, options):
        tag = state.id_of(directory)
        if options.get("id") and options["id"] != tag:
            return CONFLICT
        if not state.is_shared(tag, directory):
            if state.used(tag)[1] and not options.get("keep_tags"):
                return CONFLICT
            state.limits.pop(tag, None)
        if options.get("register", True):
            state.remove_lines(tag, directory)
        return OK

    def release_project(self, state, tag, options):
        """All directories of a project on this filesystem, and what is left of it; by its ID"""
        if tag is None:
            return OK if options.get("if_exists") else NOT_FOUND
        here = [path for path in state.directories_of(tag) if path.startswith(self.top + "/")]
        gone = [path for path in here if not state.is_directory(path)]
        elsewhere = len(here) < len(state.directories_of(tag))
        for path in here:
            if path not in gone:
                self.release_found(state, path, {"keep_tags": options.get("keep_tags")})
        # Files of the project elsewhere keep it, as long as something says whose they are.
        if state.used(tag)[1] and not options.get("keep_tags") and \
                (state.directories_of(tag) or len(gone) == len(here)):
            return CONFLICT
        if not here and tag not in state.limits and (elsewhere or not state.names_of(tag)):
            return OK if options.get("if_exists") else NOT_FOUND
        for path in gone:
            state.remove_lines(tag, path)
        state.remove_lines(tag, None)
        state.limits.pop(tag, None)
        return OK

    def resize(self, state, directory, options):
        """options: size, relative, soft, hard_inodes, allow_shrink; is_early: before the files are counted"""
        if self.asks_soft_above(options):
            return USAGE
        status = self.find(state, directory)
        if status:
            return status
        carried = state.tree[directory].tag
        tag, _, _ = self.owner(state, directory)
        if tag is None:
            return CONFLICT
        if not tag:
            tag = self.nearest_above(state, directory, options.get("by_alias", False))
            if tag != carried or not tag:
                return CONFLICT if carried else NOT_FOUND
        return self.resize_project(state, tag, options)

    def nearest_above(self, state, directory, by_alias):
        """By the paths above the one that it is told by"""
        while directory != self.top:
            directory = posixpath.dirname(directory)
            if state.id_of(directory) is not None and (directory in state.by_alias) == by_alias:
                return state.id_of(directory)
        return 0

    def asks_soft_above(self, options):
        return not options.get("relative") and options.get("size") and self.is_contradictory(
            {"hard": options["size"], "soft": options.get("soft", 0)})

    def resize_project(self, state, tag, options):
        if self.asks_soft_above(options):
            return USAGE
        if self.kind == "xfs" and tag not in state.limits and state.used(tag) == (0, 0):
            return NOT_FOUND
        bsoft, bhard, isoft, ihard = state.limits.get(tag, (0, 0, 0, 0))
        used_blocks, used_inodes = (0, 0) if options.get("is_early") else state.used(tag)
        hard = bhard if bhard < UNLIMITED else 0
        if options.get("size"):
            blocks = self.rounded(options["size"])
            if options.get("relative"):
                if not hard:
                    return CONFLICT
                blocks = self.rounded(hard * 512 + (options["size"] + 1023) // 1024 * 1024)
            if blocks < used_blocks or (blocks < hard and not options.get("allow_shrink")):
                return CONFLICT
            if bsoft and (bsoft == bhard or options.get("relative")):
                bsoft += blocks - bhard
            bsoft, bhard = min(bsoft, blocks), blocks
        if "hard_inodes" in options:
            asked = options["hard_inodes"]
            if asked < used_inodes or (asked < ihard and not options.get("allow_shrink")):
                return CONFLICT
            ihard, isoft = asked, asked if isoft == ihard and isoft else min(isoft, asked)
        if "soft" in options:
            bsoft = self.rounded(options["soft"])
        if not self.fits(state, tag, bhard):
            return CONFLICT
        if (bhard and bsoft > bhard) or (ihard and isoft > ihard):
            return CONFLICT
        state.limits[tag] = (bsoft, bhard, isoft, ihard)
        return OK

    def limit(self, state, tag, asked):
        """asked: {bhard, bsoft, ihard, isoft} in bytes and numbers"""
        limits = dict(zip(("bsoft", "bhard", "isoft", "ihard"), state.limits.get(tag, (0, 0, 0, 0))))
        for name, value in asked.items():
            limits[name] = self.rounded(value) if name[0] == "b" else value
        for hard, soft in (("bhard", "bsoft"), ("ihard", "isoft")):
            if (hard in asked or soft in asked) and limits[hard] and limits[soft] > limits[hard]:
                return USAGE if hard in asked and soft in asked else CONFLICT
        state.set_limits(tag, tuple(limits.values()))
        return OK

    def project(self, state, directory, tag, depth=None):
        """project -s; with ID 0 project -C"""
        if not self.leads(state, directory):
            return NOT_FOUND
        for path in [directory] + state.below(directory):
            if depth is None or path.count("/") - directory.count("/") <= depth:
                state.set_tag(path, tag, tag != 0)
        return OK

    def project_listed(self, state, directory, tag, clear, depth):
        """The same for the directories that are listed, and one more"""
        if not self.leads(state, directory):
            return NOT_FOUND
        for path in state.directories_of(tag) + [directory]:
            self.project(state, path, 0 if clear else tag, depth)
        return OK

    def prune(self, state):
        """Lines of directories that are gone: their IDs have limits here, and nothing uses them"""
        for tag, path in list(state.projects):
            if not (path + "/").startswith(self.top + "/"):
                continue
            if path in state.tree or tag not in state.limits or state.used(tag)[1] or \
                    self.is_of_living_pod(state, path):
                continue
            if not state.is_shared(tag, path):
                state.limits.pop(tag, None)
            state.remove_lines(tag, path)

    def prune_names(self, state):
        for _, tag in list(state.projid):
            if tag >= FIRST_ID and not state.directories_of(tag) and tag not in state.limits and \
                    not state.used(tag)[1]:
                state.remove_lines(tag, None)

    def is_of_living_pod(self, state, path):
        pod, volumes, _ = path.partition("/volumes/")
        return "/pods/" in path and volumes and state.is_directory(pod)

    # --- move ---

    def move(self, state, old, new, options):
        """options: rename, by_alias: the old path is such a one; mounts: mount points"""
        here, there = (old, new) if options.get("rename") else (new, old)
        status = self.find(state, here)
        if status:
            return status
        lines = [(tag, path) for tag, path in state.projects if (path + "/").startswith(old + "/") and
                 (path in state.by_alias) == options.get("by_alias", False)]
        if not lines:
            return NOT_FOUND
        if old == new:
            return USAGE
        if self.leads(state, there) and not (old in state.tree and state.tree[old].ino == state.tree[new].ino):
            return CONFLICT
        status = OK if not options.get("rename") else self.cannot_rename(state, old, new, options["mounts"])
        if status:
            return status
        for tag, path in lines:
            place, now = here + path[len(old):], new + path[len(old):]
            if state.is_directory(place) and not self.is_beyond(place, here, options) and state.tree[place].tag != tag:
                return CONFLICT
            if state.id_of(now) not in (None, tag):
                return CONFLICT
        if options.get("rename") and new in state.tree:  # a link to nothing
            return FAILED
        for path in [path for path in state.tree if (path + "/").startswith(old + "/")] if options.get("rename") else []:
            state.tree[new + path[len(old):]] = state.tree.pop(path)
        for tag, path in lines:
            now = new + path[len(old):]
            if state.id_of(now) is None:
                state.projects.append((tag, now))
            state.projects.remove((tag, path))
        return OK

    def leads(self, state, path):
        """Is something there? The links are to a file beside them."""
        is_link = path in state.tree and state.tree[path].kind == "l"
        return (posixpath.dirname(path) + "/f0" if is_link else path) in state.tree

    def is_beyond(self, path, directory, options):
        return any(point.startswith(directory + "/") and (path + "/").startswith(point + "/") for point in options["mounts"])

    def cannot_rename(self, state, old, new, mounts):
        def mount(path):
            return max((point for point in mounts if (path + "/").startswith(point + "/")), key=len, default=None)
        above = posixpath.dirname(new)
        if (new + "/").startswith(old + "/"):
            return USAGE
        if above != self.top and not state.is_directory(above):
            return NOT_FOUND
        tag, inherit = self.above(state, new)
        return CONFLICT if mount(old) != mount(above) or inherit and tag != state.tree[old].tag else OK

    # --- apply ---

    def apply(self, state, lines, prune=False, mounts=()):
        """lines: (path or pattern, options), in the order of the files; of failures the first one counts"""
        entries, result = self.expand(state, lines, mounts)
        if entries is None or any(self.is_contradictory(options.get("limits", {})) for _, options in lines):
            return USAGE
        for tag, path in sorted(state.marks, key=lambda mark: mark[::-1]) if prune else []:
            if (tag, path) not in state.projects:
                state.marks.discard((tag, path))
            elif self.leads(state, path) and path not in [entry[0] for entry in entries] and \
                    not any(is_match(word, path) for word, _ in lines):
                status = self.release(state, path, {})
                result = result or status
                if status == OK:
                    state.marks.discard((tag, path))
                self.trace.append(state.copy())
        for path, pattern, options in entries:
            # What a line does not say is none.
            if not options.get("unlimited"):
                none = dict.fromkeys(("hard", "soft", "hard_inodes", "soft_inodes"), 0)
                options = {**options, "limits": {**none, **options.get("limits", {})}}
            status = self.assign(state, path, {**options, "marks": True})
            if status == CONFLICT and pattern and self.follow(state, path, pattern, mounts):
                self.trace.append(state.copy())
                status = self.assign(state, path, {**options, "marks": True})
            result = result or status
            self.trace.append(state.copy())
        return result

    def expand(self, state, lines, mounts):
        """(directory, pattern or None, options) of each, and the status; None: two lines of a file name one. The later wins"""
        entries, written = [], [path for path, _ in lines if not is_pattern(path)]
        for path, options in lines:
            found = sorted(one for one in state.tree if is_match(path, one) and self.is_beneath(state, path, one, mounts)) \
                if is_pattern(path) else [path]
            entries += [(one, path if is_pattern(path) else None, options) for one in found
                        if not is_pattern(path) or one not in written]
        named = [(entry[0], entry[1] is None, entry[2].get("file")) for entry in entries]
        twice = [one for number, one in enumerate(named) if one in named[:number]]
        last = {entry[0]: number for number, entry in enumerate(entries)}
        return None if any(one[1] for one in twice) else \
            [entry for number, entry in enumerate(entries) if last[entry[0]] == number], CONFLICT if twice else OK

    def is_beneath(self, state, pattern, path, mounts):
        """Below what is written there are directories only, and no mounts"""
        parts = [posixpath.dirname(path), path] if is_pattern(posixpath.dirname(pattern)) else [path]
        return all(state.is_directory(part) and part not in mounts for part in parts)

    def follow(self, state, path, pattern, mounts):
        """Was a directory renamed? What apply gave it stays what apply gave."""
        tag = state.tree[path].tag
        gone = [line for line in state.projects if line[0] == tag and is_match(pattern, line[1]) and
                not self.leads(state, line[1])]
        if len(gone) != 1 or self.move(state, gone[0][1], path, {"mounts": mounts}) != OK:
            return False
        if gone[0] in state.marks:
            state.marks.add((tag, path))
        return True


def is_pattern(path):
    return any(letter in path for letter in "*?[")


def is_match(pattern, path):
    """Part by part; none of the names begins with a dot"""
    parts = pattern.split("/"), path.split("/")
    return len(parts[0]) == len(parts[1]) and not posixpath.basename(path).startswith(".") and \
        all(fnmatch.fnmatchcase(name, part) for part, name in zip(*parts))
