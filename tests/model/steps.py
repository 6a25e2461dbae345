# SPDX-License-Identifier: Apache-2.0
"""Steps: made at random, done, and compared with the rules."""
import contextlib
import json
import os
import posixpath
import re
import shutil
import signal
import subprocess
import time

import actors
import kernel
import world
from rules import (CONFLICT, END_STORE_ID, FAILED, FIRST_STORE_ID, NOT_FOUND, OK, PARTIAL, UNSEEN, USAGE, Model,
                   Wrong, is_match, is_pattern)

ROOTS = ["d0", "d1", "d2"]
TENANTS = ["t0", "t1"]
PODS = ["pods/p0/volumes/v", "pods/p1/volumes/v"]
NESTED = ["d0/n", "d1/n", "t0/n", "t0/k"]
MADE = ["m0", "m1"]
BOUND = [world.ALIASED, world.ALIASED + "/a"]  # those that have a second path
STORE = "store"
WATCHED = "h"
FSQUOTA_D = "/etc/fsquota.d"
FEW_EVENTS, MANY_EVENTS = 2, 16384
NAMES = ["web", "shared"]
ERRNOS = ["EIO", "ENOSPC", "EPERM", "EINTR"]
POWER = ("power", "sync")
POLL = ("7", "271") if os.uname().machine == "x86_64" else ("73",)
COMPLETED = ("assign", "release", "resize", "prune", "apply", "project", "limit", "restore", "release_project",
             "resize_project", "move")
# What a filesystem of kubelet's has as no limit, in the words of its calls.
NO_LIMIT = {"xfs": "9223372036854775807", "ext4": "288230376151711743"}


class Steps:
    """Does steps, and says what is wrong with them"""

    def __init__(self, place, programs, root, tenant):
        self.world, self.root, self.tenant = place, root, tenant
        self.program, self.second = programs
        self.top, self.kind = place.top, place.kind
        self.state, self.engine, self.files, self.trace = None, None, {}, []
        self.status = OK  # of the last command
        self.past = None  # states since all was on the disk; None: some are not known
        self.scratch = self.program.files[0]

    # --- words of steps ---

    def path(self, name):
        return f"{self.top}/{name}" if name else self.top

    def told(self, step, name):
        """The path that a command gets; of what is gone the registered one, for it has no other identity"""
        path = self.path(name)
        by_alias = step.get("by") == "alias" if path in self.state.tree else path in self.state.by_alias
        # By its second path a directory shows what a mount hides at the first.
        by_alias &= not any(place.startswith(path + "/") for place in self.state.hidden)
        return self.world.said(path) if by_alias else path

    def number(self, ref):
        """An ID: a number, or that of a directory"""
        if isinstance(ref, int) or ref is None:
            return ref
        path = self.path(ref["of"])
        listed = self.state.id_of(path)
        if listed is not None:
            return listed
        node = self.state.tree.get(path)
        return node.tag if node and node.tag else 77

    def spelled(self, act):
        """An act on files, with paths and IDs for what stands for them"""
        return [self.path(word[1:]) if str(word)[:1] == "/" else
                self.number(word) if isinstance(word, dict) else word for word in act]

    def held(self):
        found = {}
        for tag in self.root.count() + self.tenant.count():
            found[tag] = found.get(tag, 0) + 1
        return found

    # --- the beginning ---

    def let_go(self):
        """What would keep the filesystem from being unmounted"""
        for actor in (self.tenant, self.root):
            actor.do(["drop"])
            actor.do(["unbind"])

    def begin(self):
        self.let_go()
        self.engine = None
        self.world.clean()
        for name, text in ((world.PROJECTS, "# directories\n7:/somewhere/else\n"),
                           (world.PROJID, "# names\nelsewhere:7\n")):
            with open(name, "w", encoding="utf-8") as handle:
                handle.write(text)
        for name in ROOTS + TENANTS + NESTED[:1]:
            self.populate(name)
        os.makedirs(self.path(BOUND[1]))
        os.makedirs(self.path(WATCHED))
        os.chown(self.path(WATCHED), actors.TENANT, actors.TENANT)
        self.files, self.budget = {}, None
        self.do_budget({})
        shutil.rmtree(FSQUOTA_D, ignore_errors=True)
        os.mkdir(FSQUOTA_D)
        # Without any file nothing would be released.
        with open(FSQUOTA_D + "/empty.conf", "w", encoding="utf-8") as handle:
            handle.write("# no line\n")
        os.makedirs(os.path.dirname(world.APPLIED), exist_ok=True)
        open(world.APPLIED, "w", encoding="ascii").close()
        kernel.sync(self.top)
        self.state, wrong = world.settled(self.world, {})
        self.past = [self.state]
        return wrong

    def populate(self, name):
        """As far as a limit lets it"""
        path = self.path(name)
        for act in (["mkdirs", path + "/s0/s1"], ["write", path + "/f0", 5000], ["write", path + "/s0/f1", 100]):
            self.root.do(act)
        if name.split("/")[0] in TENANTS:
            self.root.do(["give", path, actors.TENANT])

    # --- a command, its words and its rule ---

    def limit_words(self, limits):
        names = {"hard": "--hard", "soft": "--soft", "hard_inodes": "--hard-inodes", "soft_inodes": "--soft-inodes"}
        return [word for key, value in limits.items() for word in (names[key], str(value))]

    def flags(self, step, *keys):
        """Options without a value"""
        return ["--" + key.replace("_", "-") for key in keys if step.get(key)]

    def command(self, step):
        """Words, and the function that does the same to a state"""
        return getattr(self, "command_" + step["do"])(step)

    def command_assign(self, step):
        paths = [self.path(name) for name in step["dirs"]]
        options = {key: step[key] for key in ("limits", "unlimited", "name", "mkdir") if key in step}
        options["register"] = not step.get("unregistered")
        if "id" in step:
            options["id"] = self.number(step["id"])
        words = ["assign", *(self.told(step, name) for name in step["dirs"]), *self.limit_words(step.get("limits", {}))]
        words += self.flags(step, "unlimited", "mkdir")
        words += ["--name", step["name"]] if "name" in step else []
        words += ["--id", str(options["id"])] if "id" in step else []
        words += ["--no-register"] if step.get("unregistered") else []

        def rule(model, state):
            if (len(paths) > 1 and "id" in step) or model.is_contradictory(step.get("limits", {})):
                return USAGE
            # It looks at all of them before it does anything.
            if len(paths) > 1 and not step.get("mkdir") and any(path not in state.tree for path in paths):
                return NOT_FOUND
            for path in paths:
                status = model.assign(state, path, options)
                if status:
                    return status
            return OK
        return words, rule

    def command_release(self, step):
        paths = [self.path(name) for name in step["dirs"]]
        options = {key: step[key] for key in ("keep_tags", "if_exists") if key in step}
        words = ["release", *(self.told(step, name) for name in step["dirs"])]
        if "id" in step:
            options["id"] = self.number(step["id"])
            words += ["--id", str(options["id"])]
        words += self.flags(step, "keep_tags", "if_exists")

        def rule(model, state):
            result = USAGE if len(paths) > 1 and "id" in step else OK
            for path in paths if result == OK else []:
                status = model.release(state, path, options)
                result = result or status
            return result
        return words, rule

    def command_release_project(self, step):
        options = {key: step[key] for key in ("keep_tags", "if_exists") if key in step}
        words = ["release"] + ([] if step.get("anywhere") else ["--at", self.top])
        words += ["--name", step["name"]] if "name" in step else ["--id", str(self.number(step["id"]))]
        words += self.flags(step, "keep_tags", "if_exists")
        number = None if "name" in step else self.number(step["id"])

        def rule(model, state):
            tag = state.id_of_name(step["name"]) if "name" in step else number
            return model.release_project(state, tag, options)
        return words, rule

    def command_resize(self, step):
        told, path = self.told(step, step["dir"]), self.path(step["dir"])
        return ["resize", told] + self.resize_words(step), \
            lambda model, state: model.resize(state, path, {**step, "by_alias": told != path})

    def resize_words(self, step):
        words = [("+" if step.get("relative") else "") + str(step["size"])] if "size" in step else []
        words += self.limit_words({key: step[key] for key in ("soft", "hard_inodes") if key in step})
        return words + self.flags(step, "allow_shrink")

    def command_resize_project(self, step):
        words = ["resize", "--name", step["name"], "--at", self.top] + self.resize_words(step)

        def rule(model, state):
            tag = state.id_of_name(step["name"])
            return NOT_FOUND if tag is None else model.resize_project(state, tag, step)
        return words, rule

    def command_prune(self, step):
        def rule(model, state):
            model.prune(state)
            if step.get("all"):
                model.prune_names(state)
            return OK
        return ["prune"] + ([] if step.get("all") else [self.top]), rule

    def command_limit(self, step):
        number = self.number(step["id"])
        asked = [f"{key}={value}" for key, value in step["limits"].items()]
        return ["limit", "-p", *asked, str(number), self.top], \
            lambda model, state: model.limit(state, number, step["limits"])

    def command_restore(self, step):
        numbers = [(self.number(ref), limits) for ref, limits in step["rows"]]
        lines = [f"fs = {self.world.device}"]
        lines += [" ".join(str(value) for value in [number, *limits]) for number, limits in numbers]
        self.program.give("\n".join(lines) + "\n")

        def rule(model, state):
            for number, (bsoft, bhard, isoft, ihard) in numbers:
                blocks = model.rounded(bsoft * 512), model.rounded(bhard * 512)
                state.set_limits(number, (*blocks, isoft, ihard))
            return OK
        return ["restore", "-p", self.top], rule

    def command_project(self, step):
        number = self.number(step["id"])
        clear, depth, path = step.get("clear"), step.get("depth"), self.path(step["dir"])
        words = ["project", "-C" if clear else "-s", "-p", self.told(step, step["dir"]), str(number), self.top]
        if depth is not None:
            words[2:2] = ["-d", str(depth)]
        return words, lambda model, state: model.project_listed(state, path, number, clear, depth)

    def command_move(self, step):
        told, old, new = self.told(step, step["old"]), self.path(step["old"]), self.path(step["new"])
        options = {"rename": step.get("rename"), "by_alias": told != old, "mounts": self.mounts()}
        return ["move", *self.flags(step, "rename"), told, new], \
            lambda model, state: model.move(state, old, new, options)

    def mounts(self):
        return [point for point, _, _ in self.world.inside()] if self.world.has_mounts else []

    def command_apply(self, step):
        """Each line is one of assign's steps: of a file of its own, or of files, of which some change now"""
        self.files.update(step.get("files", {}))
        files = {FSQUOTA_D + "/" + name: lines for name, lines in self.files.items()} if "files" in step else \
            {self.scratch + ".conf": step["lines"]}
        parts = [{**line, "file": name} for name, lines in sorted(files.items()) for line in lines]
        lines = [(self.path(line["dirs"][0]), {key: line[key] for key in ("limits", "unlimited", "name", "mkdir", "file")
                                               if key in line}) for line in parts]
        for name, said in files.items():
            if "files" not in step or os.path.basename(name) in step["files"]:
                self.write_lines(name, said, step.get("way"))
        mounts = self.mounts()
        return ["apply", *self.flags(step, "prune")] + ([] if "files" in step else list(files)), \
            lambda model, state: model.apply(state, lines, step.get("prune"), mounts)

    def write_lines(self, name, lines, way):
        """In place, or renamed; before that the file is wrong or gone for a moment"""
        if way == "wrong":
            with open(name, "a", encoding="utf-8") as handle:
                handle.write("relative hard=1M\n")
        with contextlib.suppress(FileNotFoundError):
            if way == "gone":
                os.unlink(name)
        new = name + ".new" if way == "renamed" else name
        with open(new, "w", encoding="utf-8") as handle:
            handle.writelines(self.line_of_file(line) for line in lines)
        os.rename(new, name)

    def line_of_file(self, line):
        words = [self.path(line["dirs"][0])]
        words += [f"{key.replace('_', '-')}={value}" for key, value in line.get("limits", {}).items()]
        words += ["name=" + line["name"]] if "name" in line else []
        return " ".join(words + [word for word in ("mkdir", "unlimited") if line.get(word)]) + "\n"

    def command_batch(self, step):
        """Its rule gives the exit statuses of all requests"""
        requests = [self.command(request) for request in step["requests"]]
        self.program.give("".join(json.dumps(words) + "\n" for words, _ in requests))
        return ["batch"], lambda model, state: [self.settled(rule, model, state) for _, rule in requests]

    # --- doing a command ---

    def directories(self, step):
        """Those that may get an ID"""
        names = step.get("dirs", []) + [step[key] for key in ("dir", "old", "new") if key in step]
        paths = [self.path(name) for name in names]
        for part in step.get("lines", []) + step.get("requests", []):
            paths += self.directories(part)
        if "files" in step:
            paths += [path for _, path in self.state.marks]
            for line in [line for lines in self.files.values() for line in lines]:
                word = self.path(line["dirs"][0])
                paths += [path for path in self.state.tree if is_match(word, path)] if is_pattern(word) else [word]
        return paths

    def chosen(self, step, after):
        """{directory: IDs}: of a batch as it says, else as they are afterwards"""
        if step["do"] == "batch":
            found = {}
            for line in self.program.out.splitlines():
                for row in json.loads(line).get("assign", []):
                    found.setdefault(self.world.canonical(row["path"]), []).append(row["id"])
            return found
        found = {}
        # One that carries the ID of others gets its own last, when its name has been written already.
        names = {path: part["name"] for part in [step] + step.get("lines", []) if part["do"] == "assign" and "name" in part
                 for path in self.directories(part)}
        for path in self.directories(step):
            tag = after.id_of(path) or (path in names and after.id_of_name(names[path]))
            tag = tag or (after.tree[path].tag if path in after.tree else 0)
            if tag:
                found[path] = [tag]
        return found

    def model(self, chosen, is_partial, was_cut=False):
        model = Model(self.kind, self.top, chosen, is_partial, self.full(), was_cut)
        if self.budget and (not os.path.isdir(self.budget[0]) or
                            os.stat(self.budget[0]).st_dev == os.stat(self.top).st_dev):
            model.budget = os.path.realpath(self.budget[0]), self.budget[1]
        return model

    def predict(self, rule, step, before, after, is_partial=False):
        """Exit status and state that the rules have"""
        state = before.copy()
        model = self.model(self.chosen(step, after), is_partial, "how" in step)
        self.trace = model.trace
        return self.settled(rule, model, state), state

    @staticmethod
    def settled(rule, model, state):
        """Wrong usage of a part, where another part has changed something, is a partial success"""
        before = state.copy()
        status = rule(model, state)
        return PARTIAL if status == USAGE and not before.has_quotas_of(state) else status

    def look(self):
        return world.settled(self.world, self.held())

    def judge(self, before, expected, after, several=False):
        """several: commands, which may have removed a line and added it again"""
        return world.compare_limits(expected.limits, after.limits) + \
            world.compare_registry(expected, after, world.State() if several else before) + \
            world.compare_trees(expected.tree, after.tree)

    def do_command(self, step):
        how = step.get("how", "none")
        words, rule = self.command(step)
        if how == "stop":
            return self.do_stopped(step, words, rule)
        if how == "none":
            return self.do_undisturbed(step, words, rule)
        if how in POWER:
            return self.do_without_power(step)
        return self.do_disturbed(step, words, rule)

    def statuses(self, status, out, step):
        if step["do"] != "batch" or status:
            return status
        return [json.loads(line)["exit"] for line in out.splitlines()]

    def do_undisturbed(self, step, words, rule):
        before = self.state
        status, out, err, _ = self.program.run(words)
        self.state, wrong = self.look()
        self.status = status = self.statuses(status, out, step)
        try:
            expected_status, expected = self.predict(rule, step, before, self.state)
        except Wrong as error:
            return wrong + [str(error), f"exit status {status}: {err.strip()}"]
        if status != expected_status:
            wrong.append(f"exit status {status}, not {expected_status}: {err.strip()}")
        wrong += self.judge(before, expected, self.state, step["do"] == "batch")
        if step["do"] == "assign" and status == OK:
            ids = [str(self.state.tree[path].tag) for path in self.directories(step) if path in self.state.tree]
            if out.split() != ids:
                wrong.append(f"it prints {out.split()}, not {ids}")
        if step["do"] == "assign" and status and len(step["dirs"]) == 1 and \
                len([line for line in err.splitlines() if "not entered" not in line]) != 1:
            wrong.append(f"it says {err!r}")
        return wrong

    def full(self):
        """Directories that could not be made, for the limit of the one above is reached"""
        said = re.findall(r"(/[^:\n]*): cannot be made: (?:No space left|Disk quota)", self.program.err)
        for line in self.program.out.splitlines():
            if '"cannot be made"' in line and ("ENOSPC" in line or "EDQUOT" in line):
                said.append(json.loads(line)["error"]["path"])
        return [self.world.canonical(path) for path in said]

    def do_disturbed(self, step, words, rule):
        """Killed at a system call, or that fails"""
        before, how = self.state, step["how"]
        status, out, err, came = self.program.run(
            words, "signal=KILL" if how == "kill" else f"error={how}", step["at"])
        step["came"] = came
        mid, wrong = self.look()
        wanted, expected = self.predict(rule, step, before, mid, True)
        if not came or status == OK:
            self.state = mid
            try:
                wanted, expected = self.predict(rule, step, before, mid)
            except Wrong as error:
                return wrong + [str(error), f"exit status {status}: {err.strip()}"]
            if "cannot be noted" in err:
                expected.marks = mid.marks
            if how == "EPERM" and self.program.call in (kernel.SYS_FILE_GETATTR, kernel.SYS_FILE_SETATTR):
                self.leave_special(before, expected, mid)
            if how == "kill" and came:
                wrong.append("it is not killed")
            if status != wanted:
                wrong.append(f"exit status {status}, not {wanted}: {err.strip()}")
            return wrong + self.judge(before, expected, mid)
        if wanted != OK:
            # It would have failed, and undone what it did: killed, or failing again, it may not.
            self.state = mid
            return wrong + self.do_undisturbed(step, self.command(step)[0], rule)
        if how != "kill" and step["do"] in ("assign", "release", "resize", "limit", "move") and status != PARTIAL and \
                len(step.get("dirs", [])) <= 1:
            wrong += self.judge(before, before, mid)
        else:
            wrong += self.between(step, before, expected, mid)
        if wrong or step.get("relative"):
            # What adds to a limit is not done again: nobody can say whether it was done.
            self.state = mid
            return wrong and [f"{how} at call {self.program.call}: exit status {status}: {err.strip()}"] + wrong
        return self.complete(step, words, rule, before, mid, wanted)

    def leave_special(self, before, expected, after):
        """With a filter that forbids these calls, links and special files keep their ID"""
        for path, node in expected.tree.items():
            if node.kind not in "df" and path in after.tree and path in before.tree and \
                    after.tree[path].tag == before.tree[path].tag:
                node.tag = after.tree[path].tag

    def do_without_power(self, step):
        """power: it fails at a call, and the command ends there; sync: all is written at that call, and the power
        fails when the command has ended. What was there before is on the disk."""
        self.let_go()
        kernel.sync(self.top)
        before, wrong = self.look()
        self.state = before
        words, rule = self.command(step)
        how = f"{step['how']}={self.top}"
        status, _, err, step["came"] = self.program.run(words, how, step["at"])
        if step["how"] == "power" and not step["came"]:
            kernel.power_fails(self.top)
        self.world.remount()
        mid = self.look()[0]
        wrong += world.compare_counts(mid, {})
        # A name was in the file before the files had the ID: prune removes it.
        for line in set(mid.projid) - set(before.projid):
            if not mid.directories_of(line[1]) and line[1] not in mid.limits and not mid.used(line[1])[1]:
                self.edit(world.PROJID, "%s:%d" % line)
        self.state = mid = self.look()[0]
        wanted, expected = self.predict(rule, step, before, mid, True)
        if status == OK and not expected.is_unseen():
            wrong += self.judge_power(self.written(step, before, expected) or
                                      [before, *self.stages(step, before, mid), expected], mid)
        if wanted != OK:
            return wrong + self.do_undisturbed(step, self.command(step)[0], rule)
        wrong += self.between(step, before, expected, mid)
        if wrong or step.get("relative"):
            said = f"{step['how']} at call {self.program.call}: exit status {status}: {err.strip()}"
            return wrong and [said] + wrong
        return self.complete(step, words, rule, before, mid, wanted)

    def written(self, step, before, after):
        """States that are on the disk when a command has ended well; none: it need not write"""
        if step["do"] not in ("assign", "release") or len(step["dirs"]) != 1 or step.get("keep_tags"):
            return []
        directory = self.path(step["dirs"][0])
        tag = before.id_of(directory) or after.id_of(directory)
        if before.id_of(directory) == after.id_of(directory) or not before.below(directory):
            return []
        # The limits and the directory itself come after that in a release, and the line last.
        early = after.copy()
        if step["do"] == "release":
            early.tree[directory] = before.tree[directory]
            early.set_limits(tag, before.limits.get(tag))
        return [early, after]

    def judge_power(self, past, now):
        """Whatever there is was so in one of these states"""
        wrong, tags = [], {}
        for state in past:
            for node in state.tree.values():
                tags.setdefault(node.ino, set()).add(node.tag)
        for path, node in now.tree.items():
            if node.tag not in tags.get(node.ino, {node.tag}):
                wrong.append(f"without power {path} has ID {node.tag}, not one of {sorted(tags[node.ino])}")
        for tag in set().union(now.limits, *(state.limits for state in past)):
            ways = [state.limits.get(tag, world.NO_LIMITS) for state in past]
            if now.limits.get(tag, world.NO_LIMITS) not in ways:
                wrong.append(f"without power the limits of {tag} are {now.limits.get(tag)}, not one of {ways}")
        return wrong

    def stages(self, step, before, mid):
        """The states between the lines of apply"""
        self.predict(self.command(step)[1], step, before, mid, True)
        return self.trace

    def between(self, step, before, expected, mid):
        """Whatever there is was so before, or is so afterwards, or as one of these directories above it"""
        wrong, directories = [], self.directories(step)
        stages = [before, expected] + self.stages(step, before, mid)
        for tag in before.limits.keys() | expected.limits.keys() | mid.limits.keys():
            ways = [state.limits.get(tag, world.NO_LIMITS) for state in stages]
            # Of several that join a project, each may have set its limits or not.
            if any(limit not in both for limit, *both in zip(mid.limits.get(tag, world.NO_LIMITS), *ways)):
                wrong.append(f"limits of {tag} are {mid.limits.get(tag)}, not one of {ways}")
        for what in ("projects", "projid"):
            old, new, now = (getattr(state, what) for state in (before, expected, mid))
            # An ID, and the name of it, that is released may be the next one's.
            wrong += [f"{what}: {line} is missing" for line in old if line not in now and
                      all(line in getattr(state, what) for state in stages)]
            wrong += [f"{what}: {line} is new" for line in now if line not in new and line not in old]
        for path, node in mid.tree.items():
            ways = [(state.tree[path].tag, state.tree[path].inherit) for state in stages if path in state.tree]
            ways += [(expected.tree[directory].tag, node.kind == "d") for directory in directories
                     if path.startswith(directory + "/") and directory in expected.tree]
            ways += [(tag, not inherit) for tag, inherit in ways if node.kind == "d"]
            if node.tag is not None and path in before.tree and (node.tag, node.inherit) not in ways:
                wrong.append(f"{path} has ID {node.tag}, not one of {ways}")
        return wrong

    def complete(self, step, words, rule, before, mid, wanted):
        """The same again: then all is as if nothing had happened"""
        self.state = mid
        again = {key: value for key, value in step.items() if key not in ("how", "at", "acts")}
        if step["do"] == "move" and self.path(step["old"]) not in mid.tree:
            again.pop("rename", None)  # it was renamed, and registered or not
        if step["do"] in ("restore", "batch", "apply", "move"):
            words, _ = self.command(again)
        status, _, err, _ = self.program.run(words)
        self.state, wrong = self.look()
        if step["do"] == "apply" and status == CONFLICT and "belongs to project" in err and self.is_nested(step):
            # A line failed, and a directory inside its own did not.
            return wrong
        if step["do"] == "prune":
            # Lines whose limits were taken off already are in doubt, and stay.
            before = mid
        try:
            expected_status, expected = self.predict(rule, step, before, self.state)
        except Wrong as error:
            return wrong + [f"completed: {error}"]
        same = (status, expected_status) in ((OK, OK), (NOT_FOUND, OK)) or status == expected_status
        # What was killed before it was noted is not apply's; nor is what was assigned by hand before that was noted.
        expected.marks -= {mark for mark in expected.marks - self.state.marks - mid.marks if mark in mid.projects}
        if step["do"] != "apply":
            expected.marks |= mid.marks & self.state.marks
        if status == NOT_FOUND and step["do"] not in ("release", "release_project", "move"):
            same = expected_status == NOT_FOUND
        # With its tags kept, a directory that is released carries what is not its own.
        if step.get("keep_tags") and status == CONFLICT and not self.judge(before, expected, mid):
            same = True
        if step.get("how") in POWER and step["do"].startswith("release") and status == CONFLICT and \
                re.search("elsewhere|belongs to|outside of", err):
            # The directory has its ID again, without a line, and so have others.
            expected, same = mid, True
        if step.get("how") in POWER and step["do"] == "release_project":
            # The line went, and the directory carries again what it did: it is released by its path.
            for path, node in mid.tree.items():
                if before.id_of(path) and not mid.id_of(path) and node.tag == before.tree[path].tag:
                    expected.tree[path] = self.state.tree.get(path, node)
        if step["do"] == "release_project" and status == CONFLICT and self.is_left_to_others(step, mid):
            expected, same = mid, True
        if step.get("how") in POWER and (step["do"].startswith("release") or step.get("prune")):
            # The line went, and that the limits were taken off is not on the disk: nothing leads to them.
            for tag in mid.limits.keys() - {tag for tag, _ in mid.projects}:
                if self.state.limits.get(tag) in (None, before.limits.get(tag)):
                    expected.set_limits(tag, self.state.limits.get(tag))
            # Nor does anything lead apply to what carries its ID again.
            expected.tree.update({path: node for path, node in self.state.tree.items() if step.get("prune") and
                                  path in before.tree and node.tag == before.tree[path].tag})
        if not same:
            wrong.append(f"completed: exit status {status}, not {expected_status}: {err.strip()}")
        # The first time it may have removed a line, and the second time it added that again.
        wrong += ["completed: " + one for one in self.judge(before, expected, self.state, step["do"] == "apply")]
        if wrong and step.get("how") in POWER and step["do"] == "release":
            # The line went, and the directory carries again what it did: that is released then.
            expected_status, expected = self.predict(rule, step, mid, self.state)
            return wrong if status != expected_status else self.judge(mid, expected, self.state)
        return wrong

    def is_nested(self, step):
        directories = self.directories(step)
        return any(one.startswith(other + "/") for one in directories for other in directories)

    def is_left_to_others(self, step, state):
        """Nothing but a name is left of a project, and files elsewhere that carry its ID: they are told"""
        tag = state.id_of_name(step["name"]) if "name" in step else self.number(step["id"])
        return tag not in state.limits and not state.directories_of(tag) and state.used(tag)[1]

    # --- stopped at a system call, while others do something ---

    def do_stopped(self, step, words, rule):
        before, touched = self.state, set()
        actor = self.tenant if step.get("who") != "root" else self.root

        def others():
            for act in step["acts"]:
                act = self.spelled(act)
                for path in act[1:]:
                    touched.update(self.inode(path))
                actor.do(act)
                for path in act[1:]:
                    touched.update(self.inode(path))
        status, _, err, came = self.program.run(words, "stop", step["at"], others)
        step["came"] = came
        after, wrong = self.look()
        self.state = after
        wanted, expected = self.predict(rule, step, before, after, True)
        if not came:
            return wrong + ([f"exit status {status}, not {wanted}: {err.strip()}"] if status != wanted else []) + \
                self.judge(before, expected, after)
        return wrong + [f"{one} (exit status {status}, stopped at call {self.program.call}: {err.strip()})" for one in
                        self.judge_stopped(step, status, wanted, before, expected, after, touched)]

    def inode(self, path):
        if not isinstance(path, str) or not path.startswith("/"):
            return []
        try:
            return [os.lstat(path).st_ino]
        except OSError:
            return []

    def judge_stopped(self, step, status, wanted, before, expected, after, touched):
        wrong = []
        directories = [] if step["do"] == "move" else self.directories(step)  # it gives no IDs
        retagged = [directory for directory in directories for act in step["acts"]
                    if act[0] == "retag" and (directory + "/").startswith(self.path(act[1][1:]) + "/")]
        # Whose a directory is that no line names depends on what it carries at that moment.
        # And an ID is not proven while a deleted file has it.
        is_disputed = any(before.id_of(directory) is None for directory in retagged) or (
            any(act[0] == "hold" for act in step["acts"]) and
            any(before.id_of(directory) is None and before.tree[directory].tag
                for directory in directories if directory in before.tree))
        if status == OK and is_disputed:
            theirs = {tag for tag, path in before.projects if path not in directories}
            wrong += [] if "name" in step or "id" in step else world.compare_limits(
                *({tag: state.limits.get(tag, world.NO_LIMITS) for tag in theirs} for state in (before, after)))
        elif status == wanted and status == OK and not expected.is_unseen():
            # What is hidden below another mount keeps the ID, and with it a project that has other directories.
            is_hidden = any(act[0] == "bind" for act in step["acts"]) and step["do"] == "release" and \
                any(before.is_shared(before.id_of(directory), directory) for directory in directories)
            wrong += [] if is_hidden else world.compare_limits(expected.limits, after.limits)
            # A directory that has a line and carries its ID is complete, and gets no name.
            wrong += [one for one in world.compare_registry(expected, after, before)
                      if not retagged or not re.match(r"projid: \('volume\d+', \d+\) (is missing|ought not)", one)]
        elif status != OK:
            if status not in (FAILED, USAGE, CONFLICT, PARTIAL, NOT_FOUND, wanted):
                wrong.append("this exit status says nothing of what happened")
            wrong += world.compare_limits(before.limits, after.limits) + \
                world.compare_registry(before, after, before)
        inside = {node.ino for path, node in list(before.tree.items()) + list(after.tree.items())
                  if any((path + "/").startswith(directory + "/") for directory in directories)}
        old = {node.ino: node for node in before.tree.values()}
        for path, node in after.tree.items():
            was = old.get(node.ino)
            if was and node.ino not in inside | touched and (was.tag, was.inherit) != (node.tag, node.inherit):
                wrong.append(f"{path} has ID {node.tag}, not {was.tag}")
        if status == OK and not is_disputed:
            for directory in directories:
                wrong += self.judge_tagged(step, directory, before, after, touched)
        return wrong

    def judge_tagged(self, step, directory, before, after, touched):
        """All that is in it has the ID, or nothing has; but for what others have made so at that moment"""
        retagged = touched if any(act[0] == "retag" for act in step["acts"]) else ()
        paths = [path for path in [directory] + after.below(directory)
                 if path in after.tree and after.tree[path].ino not in retagged and after.tree[path].tag is not None]
        if step["do"] == "assign" and after.tree.get(directory):
            tag = after.id_of(directory) or after.tree[directory].tag
            others = {path for _, path in after.projects if path != directory}
            if before.id_of(directory):
                return []  # all was done before
            return [f"{path} has ID {after.tree[path].tag}, not {tag}" for path in paths
                    if after.tree[path].tag != tag and not any((path + "/").startswith(o + "/") for o in others)]
        if step["do"] == "release" and not step.get("keep_tags"):
            tag = before.id_of(directory) or (before.tree[directory].tag if directory in before.tree else 0)
            above = before.tree.get(posixpath.dirname(directory))
            if not tag or (above and above.tag == tag):
                return []
            return [f"{path} still has ID {tag}" for path in paths if after.tree[path].tag == tag]
        return []

    # --- stopped at a system call, while another command runs from its beginning to its end ---

    def do_crossed(self, step):
        before, second = self.state, {}
        words, rule = self.command(step["first"])
        other_words, other_rule = self.command(step["second"])

        def run_second():
            # It does not wait: who has the lock is stopped.
            locks = [] if step["second"]["do"] == "limit" else ["--lock-timeout", "0"]
            second["status"], second["err"] = self.program.run_beside(other_words + locks)
        status, _, err, step["came"] = self.program.run(words, "stop", step["at"], run_second)
        call = self.program.call
        if not step["came"]:
            run_second()
        self.program.err += second["err"]
        self.state, wrong = self.look()
        one, other = (rule, status), (other_rule, second["status"])
        if second["status"] == FAILED and "is locked" in second["err"]:
            orders = [[one]]
        else:
            orders = [[one, other], [other, one]] if step["came"] else [[one, other]]
        if step["came"] and set(self.directories(step["first"])) & set(self.directories(step["second"])):
            # The second one saw what the first was about, which then failed, and undid it, or was undone itself.
            orders += [[one]] if status or second["status"] else []
            orders += [[other], [], [self.begun(step["first"]), other]] if status else []
        if step["came"] and step["first"]["do"] == "assign" and step["second"]["do"] == "resize":
            # What is not tagged yet is not used yet.
            _, early_rule = self.command({**step["second"], "is_early": True})
            orders += [[one, (early_rule, second["status"])]]
        if step["came"] and "move" in (step["first"]["do"], step["second"]["do"]):
            # The directory was at its new path, and its line had the old one, or the other way round.
            orders += [[done] for done, failed in ((one, second["status"]), (other, status)) if failed]
        if step["came"] and status and step["first"].get("mkdir") and step["second"]["do"] == "prune":
            # It saw the directory that was made for a moment.
            orders += [[one]]
        differences = [self.differences(order, step, before) for order in orders]
        if all(differences):
            wrong.append(f"stopped at call {call}: {status}, {err.strip()!r}; {second['status']}, {second['err'].strip()!r}")
            wrong += [f"order {number}: {text}" for number, texts in enumerate(differences, 1) for text in texts]
        return wrong

    def begun(self, step):
        """The rule of an assignment that has given its directory an ID"""
        def rule(_, state):
            for path in self.directories(step):
                if path in state.tree and step["do"] == "assign":
                    tag = self.number(step.get("id")) or state.id_of_name(step.get("name"))
                    state.set_tag(path, tag or UNSEEN, True)
            return OK
        return rule, OK

    def differences(self, order, step, before):
        """Of what is seen from one command after the other"""
        state = before.copy()
        chosen = {**self.chosen(step["first"], self.state), **self.chosen(step["second"], self.state)}
        model = self.model(chosen, True)
        both_release = step["came"] and step["first"]["do"] == step["second"]["do"] == "release"
        # What the files use is not the project's any more.
        resizes_less = step["came"] and (step["first"]["do"], step["second"]["do"]) == ("release", "resize")
        for number, (rule, status) in enumerate(order, 1):
            wanted = rule(model, state)
            # Two that release one directory at the same moment have both released it.
            if wanted != status and not (both_release and (wanted, status) == (NOT_FOUND, OK)) and \
                    not (resizes_less and (wanted, status) == (CONFLICT, OK)):
                return [f"exit status {status} of command {number}, not {wanted}"]
        # A directory without an ID that handed on none may have been given one in between.
        return [one for one in self.judge(before, state, self.state, True) if not one.endswith("has ID 0, not 0 P")]

    # --- two stopped at a system call each ---

    def do_woven(self, step):
        """
        The first command is stopped, then the second one; the third runs from its beginning to its end, then the
        first one goes on to its end, and then the second one. Files are made and deleted each time one is stopped
        or has ended.
        """
        before = self.state
        commands = [self.command(command) for command in step["commands"]]
        words = [one[0] + ([] if one[0][0] == "limit" else ["--lock-timeout", "0"]) for one in commands]
        acts, ends = iter(step["acts"] + [[]] * 4), {}

        def others():
            for act in next(acts):
                self.root.do(self.spelled(act))
        self.program.begin(words[0], "stop", step["at"][0])
        others()
        self.second.begin(words[1], "stop", step["at"][1])
        others()
        if len(words) > 2:
            ends[2] = self.program.run_beside(words[2])
            others()
        ends[0] = self.program.end()[::2]
        others()
        ends[1] = self.second.end()[::2]
        self.state, wrong = self.look()
        # Who does not get the lock again cannot undo what it did to the files; and what it undoes in a directory,
        # another one that has the lock does not see.
        is_locked = any("is locked" in end[1] for end in ends.values())
        paths = [path for command in step["commands"] for path in self.directories(command)]
        if not is_locked or len(set(paths)) == len(paths):
            wrong += self.judge_woven(step, before, self.state, is_locked)
        if wrong:
            wrong.append(f"stopped at calls {self.program.call} and {self.second.call}: " + "; ".join(
                f"{' '.join(words[i])}: {ends[i][0]} {ends[i][1].strip()!r}" for i in sorted(ends)))
        return wrong

    def judge_woven(self, step, before, after, is_locked):
        """No file, limit and name has an ID without a line, but for what had it before; and what is in a directory
        has its ID"""
        wrong, directories = [], {path for command in step["commands"] for path in self.directories(command)}
        listed = {tag for tag, _ in after.projects} | {tag for tag, _ in before.projects if before.used(tag)[1] == 0}

        old = {node.ino: node.tag for node in before.tree.values()}
        inside = {path for directory in directories for path in [directory] + after.below(directory)}
        for path, node in after.tree.items():
            is_new = node.tag != old.get(node.ino)
            places = before.directories_of(node.tag)
            # What carried the ID of a directory that it was not in is not released with that.
            was_released = is_new or any((path + "/").startswith(place + "/") for place in places)
            if node.tag and not after.directories_of(node.tag) and (
                    path in inside and places and was_released or is_new and node.tag not in old.values()):
                wrong.append(f"{path} has ID {node.tag}, which has no line, and had {old.get(node.ino)}")
        if not is_locked:
            # Who resizes what is being assigned has set the limits himself.
            wrong += [f"limits of {tag} are {limits}, and it has no line" for tag, limits in after.limits.items()
                      if tag not in listed and tag not in before.limits and
                      not any(command["do"] == "resize" for command in step["commands"])]
            wrong += [f"projid: {line} ought not to be there" for line in after.projid
                      if line[1] not in listed and line not in before.projid]
        touched = directories | {path[:len(self.top) + 3] for path in directories} | \
            {posixpath.dirname(path) for path in directories}
        incomplete = {path for _, path in before.projects if not self.is_complete(before, path)}
        for tag, directory in after.projects:
            if directory not in after.tree or after.is_hidden(directory) or directory in incomplete:
                continue
            # What is made while a directory is given back to the project above has that one's ID, or none. And what
            # carried another ID than its line said is not the project's. A release that does not get the lock again
            # gives nothing back to a directory in which another command is at work.
            # What shared its project and is released from it has none.
            spared = incomplete | {path for number, path in before.projects if number == tag and after.id_of(path) is None}
            wrong += [f"{path} has ID {after.tree[path].tag}, not {tag}" for path in self.astray(after, directory)
                      if (after.tree[path].tag or (path in before.tree and not is_locked)) and
                      not any((path + "/").startswith(place + "/") for place in spared)]
            if tag not in after.limits and (before.id_of(directory) is None or tag in before.limits):
                wrong.append(f"limits of {tag} are missing")
        others = {tag for tag, directory in before.projects if directory not in touched} - \
            {tag for tag, directory in before.projects + after.projects if directory in touched}
        # An assign takes over a directory that was renamed, and prune the project that nothing uses any more.
        is_pruned = any(command["do"] == "prune" for command in step["commands"])
        for tag in others:
            uses = (after if is_pruned else before).used(tag)[1]
            if before.limits.get(tag) != after.limits.get(tag) and (uses or tag in after.limits):
                wrong.append(f"limits of {tag} are {after.limits.get(tag)}, not {before.limits.get(tag)}")
        return wrong

    def astray(self, state, directory):
        """What is in a directory, not in one of another line, and has not its ID"""
        tag = state.id_of(directory)
        inside = [path for _, path in state.projects if path.startswith(directory + "/")]
        return [path for path in [directory] + state.below(directory)
                if not any((path + "/").startswith(other + "/") for other in inside) and
                state.tree[path].tag not in (None, tag)]

    def is_complete(self, state, directory):
        return directory in state.tree and state.tree[directory].inherit and not self.astray(state, directory)

    # --- apply --watch ---

    def do_watch(self, step):
        """
        It stays, while directories come and go and lines change; killed: -9 before that one of the acts, and it is started
        again; lost: it stands still in between, and there is room for a few events only, of files that do not concern it
        """
        before, (words, rule) = self.state, self.command({**step, "do": "apply"})
        kernel.set_inotify_events(FEW_EVENTS if step.get("lost") else MANY_EVENTS)
        stayer = self.stays(words)

        def begun(seen):
            # It looks twice, for the first look adds its watches: what one line changes another one may have waited for.
            _, expected = self.predict(rule, step, before, seen)
            return self.judge(before, self.predict(rule, step, expected, seen)[1], seen)
        wrong = self.until(stayer, begun)
        before = self.state
        # What appears last is seen with all before it: that something goes need not be told.
        acts = [["write", f"/{WATCHED}/file{number}", 1] for number in range(FEW_EVENTS + 1)] if step.get("lost") else []
        acts += step["acts"] + [["rmtree", f"/{WATCHED}/z"], ["mkdir", f"/{WATCHED}/z"]]
        if step.get("lost") and not wrong:
            stayer.send_signal(signal.SIGSTOP)
        for number, act in enumerate(acts if not wrong else []):
            if number == step.get("killed"):
                stayer.kill()
                stayer = self.stays(words) if stayer.wait() else None
            if act[0] == "lines":
                words, rule = self.command({"do": "apply", "prune": step.get("prune"), "files": self.lines_below(act[1]),
                                            "way": act[2]})
            else:
                self.tenant.do(self.spelled(act))
        stayer.send_signal(signal.SIGCONT)

        def differences(seen):
            _, expected = self.predict(rule, step, seen, seen, True)
            expected.marks = seen.marks  # of what was renamed they are there until it looks again
            return self.judge(seen, expected, seen) + self.judge_watched(step, before, seen)
        wrong = wrong or self.until(stayer, differences)
        stayer.terminate()
        if stayer.wait() != -signal.SIGTERM:
            wrong.append(f"apply --watch ended with {stayer.returncode}")
        self.state, counts = self.look()
        return wrong + counts + ([] if wrong else differences(self.state))

    @staticmethod
    def lines_below(size):
        return {"h.conf": [{"do": "assign", "dirs": [WATCHED + "/*"], "limits": {"hard": size}}]}

    def stays(self, words):
        after = ["--prune-after=1"] if "--prune" in words else []
        with open(self.scratch + ".stays", "w", encoding="utf-8") as messages:
            return subprocess.Popen([self.program.binary, *words, "--watch", "--quiet", *after], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=messages)

    def until(self, stayer, differences, seconds=60):
        """What is still wrong after that time"""
        end, wrong = time.monotonic() + seconds, ["nothing was seen"]
        while wrong and stayer.poll() is None and time.monotonic() < end:
            # What it makes and removes may go while it is looked at.
            with contextlib.suppress(Wrong, FileNotFoundError, ProcessLookupError):
                seen = self.world.look()
                # In the middle of a change all may look right, and a signal would undo it.
                wrong = differences(seen) or ([] if self.is_waiting(stayer) else ["it does something"])
                self.state = self.state if wrong else seen
            time.sleep(0.005)
        with open(self.scratch + ".stays", encoding="utf-8") as messages:
            return wrong and wrong + ["apply --watch says " + repr(messages.read())]

    @staticmethod
    def is_waiting(stayer):
        """In poll(2) or ppoll(2)? Linux 6.1 tells only whether it sleeps"""
        def read(name):
            with open(f"/proc/{stayer.pid}/{name}", encoding="ascii") as handle:
                return handle.read()
        if os.path.exists("/proc/self/syscall"):
            return read("syscall").split(" ")[0] in POLL
        before = read("status")
        time.sleep(0.1)
        return "(sleeping)" in before and before == read("status")

    def judge_watched(self, step, before, after):
        """Nothing but what is below the pattern has changed, and there each has an ID of its own, that apply gave"""
        def is_inside(path):
            return path.startswith(self.path(WATCHED) + "/")
        inside, known = [line for line in after.projects if is_inside(line[1])], {tag for tag, _ in before.projects}
        # What carries an ID that no line names may take it up, with its limits.
        inner = {tag for tag, path in before.projects if is_inside(path)}
        inner |= {node.tag for path, node in before.tree.items() if is_inside(path)} - known
        theirs = before.limits.keys() - inner
        wrong = [f"{path} has ID {tag}, as another one" for tag, path in inside
                 if sum(line[0] == tag for line in after.projects) > 1]
        wrong += world.compare_limits(*({tag: state.limits.get(tag) for tag in theirs} for state in (before, after)))
        wrong += world.compare_lists("projects", *([line for line in state.projects if not is_inside(line[1])]
                                                   for state in (before, after, before)))
        # What is killed leaves its ID on the directory; and the next one does not take it off when it fails.
        left = self.directories({"files": {}}) if "killed" in step else []
        wrong += world.compare_trees(*({path: node for path, node in state.tree.items() if not is_inside(path) and
                                        not any((path + "/").startswith(one + "/") for one in left)}
                                       for state in (before, after)))
        # Without the file of lines there is nothing that wants those inside.
        released = inner if step["prune"] and any("gone" in act for act in step["acts"]) else set()
        wrong += [f"projid: {line} is missing" for line in before.projid if line not in after.projid and line[1] not in released]
        if "killed" not in step:
            wrong += [f"apply's: {line} is missing" for line in inside if line[0] not in known and line not in after.marks]
            wrong += [f"limits of {tag} are {after.limits[tag]}, and it has no line" for tag in after.limits
                      if tag not in before.limits and not after.directories_of(tag)]
            wrong += [f"projid: {line} ought not to be there" for line in after.projid
                      if line not in before.projid and not after.directories_of(line[1])]
        return wrong

    # --- what others do alone ---

    def do_acts(self, step):
        before = self.state
        actor = self.root if step.get("who") == "root" else self.tenant
        for act in step["acts"]:
            actor.do(self.spelled(act))
        self.state, wrong = self.look()
        return wrong + world.compare_limits(before.limits, self.state.limits) + \
            world.compare_registry(before, self.state, before)

    def do_budget(self, step):
        """What /etc/fsquota.conf says from now on"""
        self.budget = (self.path(step["dir"]), step["size"]) if "size" in step else None
        with open("/etc/fsquota.conf", "w", encoding="ascii") as handle:
            if self.budget:
                handle.write("budget = {} {}\n".format(*self.budget))
        return []

    def do_populate(self, step):
        self.populate(step["dir"])
        self.state, wrong = self.look()
        return wrong

    def do_remount(self, _):
        before = self.state
        self.let_go()
        self.world.remount()
        self.state, wrong = self.look()
        self.engine, self.past = None, [self.state]
        return wrong + self.judge(before, before, self.state)

    def do_power(self, _):
        """Between two commands"""
        before, past = self.state, self.past
        self.let_go()
        kernel.power_fails(self.top)
        self.world.remount()
        self.state, wrong = self.look()
        self.engine, self.past = None, [self.state]
        wrong += world.compare_registry(before, self.state, before)
        return wrong + (self.judge_power(past, self.state) if past else [])

    # --- mounts ---

    def do_mount(self, step):
        """The alias; a directory onto itself; or another filesystem over one"""
        before, lines = self.state, self.lines()
        what, places = step["what"], [point for point, _, _ in self.world.inside()]
        point = world.ALIAS if what == "alias" else self.path(step["dir"])
        if not os.path.isdir(point if what != "alias" else self.path(world.ALIASED)) or point in places:
            return []
        os.makedirs(world.ALIAS, exist_ok=True)
        self.world.mount_inside(point, "/" + (world.ALIASED if what == "alias" else step["dir"]), what != "tmpfs")
        self.state, wrong = self.look()
        paths = [path for _, path in self.state.projects]
        if len(set(paths)) < len(paths):  # two lines for one directory are nobody's
            kernel.umount(point)
            self.state, wrong = self.look()
        return wrong + self.judge_mounted(before, lines)

    def do_unmount(self, _):
        before, lines = self.state, self.lines()
        self.let_go()
        self.world.unmount_inside()
        self.state, wrong = self.look()
        return wrong + self.judge_mounted(before, lines)

    def keep_alias(self):
        """By another path than the registered one a directory is known by its ID: who has lost it gets it back"""
        lost = [(tag, path) for tag, path in self.state.projects if self.world.said(path) != path and
                path in self.state.tree and self.state.tree[path].tag != tag]
        for tag, path in lost:
            self.root.do(["retag", path, tag, True])
        if lost:
            self.state, self.past = self.look()[0], None

    def lines(self):
        return [open(name, "rb").read() for name in (world.PROJECTS, world.PROJID)]

    def judge_mounted(self, before, lines):
        return (["a file has changed"] if lines != self.lines() else []) + \
            world.compare_limits(before.limits, self.state.limits) + world.compare_trees(before.tree, self.state.tree)

    def do_swap(self, step):
        """
        The filesystem is mounted elsewhere, or nowhere, and another one or none in its place, while commands
        run that look for what is gone. crossed: both have changed places; away: it has the place of the other
        one, which is nowhere; over: the other one has its place; empty: nobody has.
        """
        way, other = step["way"], world.OTHER_DISK
        self.let_go()
        before, wrong = self.look()
        self.state, self.engine = before, None
        device = os.environ["FSQ_X2_DEV"]
        self.program.run(["assign", "--mkdir", other + "/two", "--id", "900001", "--hard", "1M"])

        def meanwhile():
            kernel.umount(other)
            mounted = []
            if way in ("crossed", "over", "empty"):
                mounted.append(self.top if way != "empty" else other)
                kernel.mount(device, mounted[-1], "xfs", "pquota")
            if way in ("crossed", "away"):
                mounted.append(other)
                kernel.mount(self.world.device, other, self.kind, self.world.options)
            try:
                for command in step["commands"]:
                    wrong.extend(self.do_while_swapped(command, way))
            finally:
                for place in mounted:
                    kernel.umount(place)
                kernel.mount(device, other, "xfs", "pquota")
        self.world.remount(meanwhile)
        status, _, err, _ = self.program.run(["release", other + "/two"])
        if status != OK:
            wrong.append(f"the other disk: exit status {status}: {err.strip()}")
        os.rmdir(other + "/two")
        self.state, counts = self.look()
        self.past = [self.state]
        expected = before.copy()
        for state in (expected, self.state):  # a name without a line is of no filesystem
            state.projid = [line for line in state.projid if state.directories_of(line[1]) or
                            (way in ("crossed", "away") and (line[1] in before.limits or before.used(line[1])[1]))]
        wrong += counts + self.judge(before, expected, self.state)
        self.state = self.look()[0]
        return wrong

    def do_while_swapped(self, step, way):
        words = self.command(step)[0]
        if step["do"] == "release":
            # Where something has the place of a filesystem that is nowhere, who names a directory knows that.
            path = self.path(step["dirs"][0])
            tag = self.state.id_of(path)
            if way == "over" or tag is None or (tag not in self.state.limits and not self.state.used(tag)[1]):
                return []
        status, _, err, _ = self.program.run(words)
        if step["do"] == "release" and status == OK and not step.get("if_exists"):
            return [f"{way}: {' '.join(words)} ends well"]
        return [] if status in (OK, NOT_FOUND, 3, CONFLICT) else [f"{way}: {' '.join(words)}: {status}: {err.strip()}"]

    # --- a container store ---

    def do_store(self, step):
        """make: its first start; start: the next one; layer; remove: one of them"""
        before, store, op = self.state, self.path(STORE), step["op"]
        expected, root = before.copy(), store + "/overlay2"
        base, new = before.id_of(store), None
        if op == "make" and store not in before.tree:
            self.engine = actors.Engine.make(store)
        elif root not in before.tree or before.is_hidden(root) or base is None or before.tree[root].tag != base or \
                not FIRST_STORE_ID <= base < END_STORE_ID:
            self.engine = None  # it would take IDs of which nobody has promised anything
        elif op == "start" or self.engine is None:
            expected.limits.pop(base + 1, None)
            self.engine = actors.Engine(self.world.quotas, root)
        elif op == "layer":
            limits = Model(self.kind, self.top).stored(step["size"])
            new = self.engine.layer(limits)
            expected.limits.update({new: limits} if new else {})
        elif op == "remove":
            layers = [path for path in before.tree if posixpath.dirname(path) == root and "/layer" in path]
            self.root.do(["rmtree", layers[step["which"] % len(layers)]] if layers else ["drop"])
        self.state, wrong = self.look()
        if new and (before.directories_of(new) or before.names_of(new) or before.used(new)[1]):
            wrong.append(f"the store takes ID {new}, which is somebody's")
        expected.tree = {path: node for path, node in expected.tree.items() if path in self.state.tree}
        seen = self.state.copy()
        seen.tree = {path: node for path, node in seen.tree.items() if path in expected.tree}
        return wrong + self.judge(before, expected, seen)

    # --- kubelet ---

    def kubelet_calls(self, tag, limit, path):
        table = self.scratch + ".mounts"
        with open("/proc/self/mounts", encoding="utf-8") as handle:
            lines = [line for line in handle if line.split()[1] == self.top]
        with open(table, "w", encoding="utf-8") as handle:
            handle.writelines(lines)
        wrong = []
        for command in (f"limit -p bhard={limit} bsoft={limit} {tag}", f"project -s -p {path} {tag}"):
            status, _, err, _ = self.program.run(["-t", table, "-P/dev/null", "-D/dev/null", "-x", "-f", self.top,
                                                  "-c", command])
            if status:
                wrong.append(f"kubelet: {command}: {status}: {err}")
        return wrong

    def do_kubelet(self, step):
        """beside: commands that run when kubelet has opened the files and not locked them yet"""
        before, path, wrong = self.state, self.path(step["dir"]), []
        actor = actors.Kubelet(self.world.quotas)
        if step["op"] == "add":
            os.makedirs(path, exist_ok=True)
        self.state = expected = self.world.look()
        actor.open()
        for beside in step.get("beside", []):
            words, rule = self.command(beside)
            status, _, err, _ = self.program.run(words)
            after = self.world.look()
            try:
                wanted, expected = self.predict(rule, beside, expected, after)
            except Wrong as error:
                wrong.append(str(error))
                break
            if status != wanted:
                wrong.append(f"exit status {status}, not {wanted}: {err.strip()}")
            self.state = after
        actor.lock()
        tag = actor.add(path) if step["op"] == "add" else actor.remove(path)
        actor.close()
        if tag is not None:
            wrong += self.kubelet_calls(tag, NO_LIMIT[self.kind] if step["op"] == "add" else 0, path)
        if step["op"] == "remove":
            self.root.do(["rmtree", path])
        self.state, counts = self.look()
        wrong += counts
        expected = expected.copy()
        wrong += self.expect_kubelet(step, expected, tag, path)
        return wrong + self.judge(before, expected, self.state, True)

    def expect_kubelet(self, step, state, tag, path):
        listed, wrong = state.id_of(path), []
        model = Model(self.kind, self.top)
        if step["op"] == "add":
            if listed is None:
                if any(number == tag for number, _ in state.projects) or state.used(tag)[1] or \
                        any(number == tag for _, number in state.projid):
                    wrong.append(f"kubelet chose {tag}, which is somebody's")
                state.projects.append((tag, path))
                state.projid.append((f"volume{tag}", tag))
            elif listed != tag:
                wrong.append(f"kubelet found {tag} for {path}, not {listed}")
            _, _, isoft, ihard = state.limits.get(tag, world.NO_LIMITS)
            state.limits[tag] = (model.no_limit(), model.no_limit(), isoft, ihard)
            model.project(state, path, tag)
            return wrong
        if tag != listed:
            wrong.append(f"kubelet found {tag} for {path}, not {listed}")
        if tag is not None:
            _, _, isoft, ihard = state.limits.get(tag, world.NO_LIMITS)
            state.set_limits(tag, (0, 0, isoft, ihard))
            model.project(state, path, tag)
            state.remove_lines(tag, path)
        # What something is mounted on stays, and what it hides.
        stays = [point for point, _, _ in self.world.inside()]
        for name in [path] + state.below(path):
            if not any((point + "/").startswith(name + "/") for point in stays):
                state.tree.pop(name, None)
        return wrong

    # --- other writers of the files ---

    def do_hand(self, step):
        """append: a line is added at the end of a file; edit: it is written anew, under the locks"""
        before = self.state
        number = self.number(step.get("id"))
        path = self.path(step["dir"]) if "dir" in step else step["name"]
        # The line of a directory may have its second path.
        said = self.world.said(path) if step["op"] == "edit" and path in before.by_alias else path
        line = f"{number}:{said}" if step["file"] == "projects" else f"{path}:{number}"
        expected = before.copy()
        name = world.PROJECTS if step["file"] == "projects" else world.PROJID
        entries = expected.projects if step["file"] == "projects" else expected.projid
        entry = (number, path) if step["file"] == "projects" else (path, number)
        if step["op"] == "append":
            if any(entry[step["file"] == "projects"] == other[step["file"] == "projects"] for other in entries):
                return []  # two lines for one word are nobody's
            with open(name, "rb+") as handle:
                text = handle.read()
                handle.write((b"\n" if text and not text.endswith(b"\n") else b"") + line.encode() + b"\n")
            entries.append(entry)
        else:
            self.edit(name, line)
            while entry in entries:
                entries.remove(entry)
        self.state, wrong = self.look()
        return wrong + self.judge(before, expected, self.state)

    def edit(self, name, line):
        actor = actors.Kubelet(self.world.quotas)
        actor.open()
        actor.lock()
        texts = actor.texts()
        index = 0 if name == world.PROJECTS else 1
        texts[index] = "".join(old for old in texts[index].splitlines(True) if old.rstrip("\n") != line)
        actor.write(texts)
        actor.close()

    # --- to see that all this can fail ---

    def do_sabotage(self, step):
        """What nobody does"""
        before = self.state
        if step["what"] == "limit":
            self.world.quotas.set(1048600, (0, 8192, 0, 0))
        elif step["what"] == "tag":
            os.makedirs(self.path("s"), exist_ok=True)
            self.root.do(["retag", self.path("s"), 1048600, True])
        else:
            with open(world.PROJECTS, "a", encoding="utf-8") as handle:
                handle.write("1048600:/nobody\n")
        self.state, wrong = self.look()
        return wrong + self.judge(before, before, self.state)

    # --- any ---

    def do(self, step):
        """What is wrong with it"""
        self.keep_alias()
        before, past = self.state, self.past
        special = getattr(self, "do_" + step["do"], None)
        wrong = special(step) if special else self.do_command(step)
        if self.past is past:
            self.past = self.recalled(step, before)
        return wrong

    def recalled(self, step, before):
        """States since all was on the disk; None: what was in between is not known"""
        simple = "how" not in step and step["do"] in (
            "assign", "release", "resize", "limit", "hand", "populate", "mount", "unmount")
        if not simple and not (step["do"] == "acts" and len(step["acts"]) == 1):
            return None
        written = self.written(step, before, self.state) if self.ended_well(step) else []
        if self.past is None or not self.ended_well(step):
            return written or None
        return written or self.past + [self.state]

    def ended_well(self, step):
        return step["do"] not in COMPLETED or self.status == OK


# --- random steps ---

class Maker:
    """Makes steps that often make sense"""

    def __init__(self, rng, steps, only=None):
        self.rng, self.steps = rng, steps
        weights = {"assign": 22, "release": 14, "resize": 7, "release_project": 4, "resize_project": 2, "prune": 5,
                   "apply": 5, "batch": 4, "project": 5, "limit": 5, "restore": 2, "kubelet": 7, "hand": 4,
                   "acts": 16, "crossed": 8, "populate": 4, "remove": 4, "rename": 4, "remount": 1, "power": 2,
                   "mount": 3, "unmount": 1, "swap": 3, "store": 8, "woven": 8, "move": 7, "files": 7, "watch": 1, "budget": 3}
        weights = {name: weight for name, weight in weights.items() if name in (only or weights)}
        self.names, self.weights = list(weights), list(weights.values())

    def make(self):
        name = self.rng.choices(self.names, self.weights)[0]
        step = getattr(self, "make_" + name, lambda: {"do": name})()
        if step["do"] in COMPLETED and self.rng.random() < 0.35:
            self.disturb(step)
        return step

    def maybe(self, step, key, chance):
        if self.rng.random() < chance:
            step[key] = True

    def directory(self):
        return self.rng.choice(self.rng.choice([ROOTS, ROOTS, TENANTS, TENANTS, NESTED, MADE, PODS, BOUND, [STORE]]))

    def movable(self):
        return self.rng.choice(self.rng.choice([ROOTS, TENANTS, NESTED, MADE, PODS, BOUND[1:]]))

    def by(self, step):
        """By the second path, where there is one"""
        names = step.get("dirs", [step.get("dir")])
        if all(name in BOUND for name in names) and self.rng.random() < 0.5:
            step["by"] = "alias"
        return step

    def id(self):
        if self.rng.random() < 0.2:
            return self.rng.choice([7, 42, 77, 1048577, 1048580, 4294967294])
        return {"of": self.directory()}

    def size(self):
        return self.rng.choice([4096, 65536, 1 << 20, 5 << 20, 8 << 20, 100000, 12345])

    def limits(self):
        chances = {"hard": 0.7, "soft": 0.3, "hard_inodes": 0.2, "soft_inodes": 0.1}
        return {key: self.rng.choice([3, 20, 100]) if "inodes" in key else self.size()
                for key, chance in chances.items() if self.rng.random() < chance}

    def disturb(self, step):
        way = self.rng.random()
        # A second row of an ID, or a second line of a name, would be a third state that its limits may be in.
        for key, which in (("rows", lambda row: self.steps.number(row[0])),
                           ("lines", lambda line: line.get("name") or line["dirs"][0])):
            if key in step:
                step[key] = list({which(one): one for one in step[key]}.values())
        if len(step.get("dirs", [])) > 1 and way >= 0.5:
            step["dirs"] = step["dirs"][:1]
        if way < 0.45 and step["do"] in ("assign", "release", "move"):
            names = step.get("dirs") or [step["old"], step["new"]]
            step.update(how="stop", acts=self.acts(names), who="tenant" if names[0][0] == "t" else "root")
            step.get("dirs", [])[1:] = []
        elif way < 0.65:
            step["how"] = "kill"
        elif way < 0.75:
            step["how"] = self.rng.choice(POWER)
        else:
            step["how"] = self.rng.choice(ERRNOS)
        step["at"] = self.rng.randrange(1, self.rng.choice([30, 60, 120, 200]))

    def make_assign(self):
        rng, step = self.rng, {"do": "assign", "dirs": [self.directory()]}
        if rng.random() < 0.15:
            step["dirs"] += [self.directory()]
        limits = self.limits()
        if limits:
            step["limits"] = limits
        elif rng.random() < 0.5:
            step["unlimited"] = True
        if rng.random() < 0.15:
            step["name"] = rng.choice(NAMES)
        if rng.random() < 0.1 and len(step["dirs"]) == 1:
            step["id"] = self.id()
        if step["dirs"][0] in MADE or rng.random() < 0.1:
            step["mkdir"] = True
        return self.by(step)

    def make_release(self):
        rng, step = self.rng, {"do": "release", "dirs": [self.directory()]}
        if rng.random() < 0.15:
            step["dirs"] += [self.directory()]
        self.maybe(step, "keep_tags", 0.15)
        self.maybe(step, "if_exists", 0.15)
        if rng.random() < 0.15:
            step["id"] = self.id()
        return self.by(step)

    def make_release_project(self):
        step = {"do": "release_project"}
        step.update({"name": self.rng.choice(NAMES)} if self.rng.random() < 0.5 else {"id": self.id()})
        self.maybe(step, "keep_tags", 0.3)
        self.maybe(step, "if_exists", 0.2)
        return step

    def resizing(self, step):
        step["size"] = self.size()
        self.maybe(step, "relative", 0.4)
        self.maybe(step, "allow_shrink", 0.5)
        return step

    def make_resize(self):
        return self.by(self.resizing({"do": "resize", "dir": self.directory()}))

    def make_resize_project(self):
        return self.resizing({"do": "resize_project", "name": self.rng.choice(NAMES)})

    def make_prune(self):
        return {"do": "prune", "all": self.rng.random() < 0.5}

    def make_limit(self):
        limits = {}
        for key in self.rng.sample(["bhard", "bsoft", "ihard", "isoft"], self.rng.randrange(1, 3)):
            limits[key] = self.rng.choice([0, 4096, 1 << 20, 8 << 20]) if key[0] == "b" else \
                self.rng.choice([0, 5, 100])
        return {"do": "limit", "id": self.id(), "limits": limits}

    def make_restore(self):
        rows = [[self.id(), self.rng.choice([[0, 0, 0, 0], [0, 4096, 0, 0], [1024, 8192, 5, 50], [0, 0, 0, 9]])]
                for _ in range(self.rng.randrange(1, 3))]
        return {"do": "restore", "rows": rows}

    def make_project(self):
        step = {"do": "project", "dir": self.directory(), "id": self.id()}
        self.maybe(step, "clear", 0.4)
        if self.rng.random() < 0.3:
            step["depth"] = self.rng.randrange(3)
        return step

    def make_apply(self):
        names, lines = [], []
        for _ in range(self.rng.randrange(1, 4)):
            line = {key: value for key, value in self.make_assign().items()
                    if key in ("do", "dirs", "limits", "name", "mkdir")}
            line["dirs"] = line["dirs"][:1]
            # A second path is none that apply has noted.
            if line["dirs"][0] not in names + BOUND:
                names += line["dirs"]
                lines.append(line)
        return {"do": "apply", "lines": lines}

    def make_files(self):
        """Some of the files have other lines now"""
        files = {}
        for name in self.rng.sample(["a.conf", "b.conf", "h.conf"], self.rng.randrange(3)):
            files[name] = [{key: value for key, value in line.items() if key != "name"}
                           for line in self.make_apply()["lines"]][:self.rng.randrange(4)]
            if self.rng.random() < 0.4:
                pattern = {"a.conf": ["d?", "[dm]?", "?0"], "b.conf": ["t*", "m?", "[dt]?/[nk]"], "h.conf": ["h/*"]}[name]
                files[name].append({"do": "assign", "dirs": [self.rng.choice(pattern)], "limits": {"hard": self.size()}})
        return {"do": "apply", "files": files, "prune": self.rng.random() < 0.6}

    def make_watch(self):
        rng, places = self.rng, [f"/{WATCHED}/{name}" for name in "abc"]
        acts = [rng.choice([["mkdir", place], ["mkdir", place], ["rename", *rng.sample(places, 2)], ["rmtree", place],
                            ["mkdirs", place + "/s0"], ["write", place + "/f0", 100], ["symlink", place], ["delete", place],
                            ["lines", self.size(), rng.choice(["in place", "renamed", "wrong", "gone"])]])
                for place in rng.choices(places, k=rng.randrange(1, 20))]
        step = {"do": "watch", "acts": acts, "prune": rng.random() < 0.5, "files": self.steps.lines_below(self.size())}
        self.maybe(step, "lost", 0.2)
        if rng.random() < 0.4:
            step["killed"] = rng.randrange(len(acts))
        return step

    def make_move(self):
        """Often of what was renamed, or of what is registered"""
        state, top = self.steps.state, self.steps.top + "/"
        lines = [(tag, path[len(top):]) for tag, path in state.projects if path.startswith(top)]
        gone = [(name, path[len(top):]) for tag, name in lines if top + name not in state.tree
                for path, node in state.tree.items() if node.tag == tag and node.kind == "d" and
                state.id_of(path) is None and "/s" not in path[len(top):]]  # where nothing is mounted
        step = {"do": "move", "old": self.movable(), "new": self.movable()}
        if gone and self.rng.random() < 0.8:
            step["old"], step["new"] = self.rng.choice(gone)
        else:
            self.maybe(step, "rename", 0.7)
            if lines and self.rng.random() < 0.6:
                step["old"] = self.rng.choice(lines)[1]
        return step

    def make_batch(self):
        makers = [self.make_assign, self.make_assign, self.make_release, self.make_resize, self.make_limit]
        return {"do": "batch", "requests": [self.rng.choice(makers)() for _ in range(self.rng.randrange(1, 5))]}

    def make_kubelet(self):
        step = {"do": "kubelet", "op": self.rng.choice(["add", "add", "remove"]), "dir": self.rng.choice(PODS)}
        if self.rng.random() < 0.6:
            makers = [self.make_assign, self.make_release, self.make_prune]
            beside = [self.rng.choice(makers)() for _ in range(self.rng.randrange(1, 4))]
            step["beside"] = [one for one in beside if not any(name.startswith("pods") for name in one.get("dirs", []))]
        return step

    def make_crossed(self):
        makers = [self.make_assign, self.make_assign, self.make_release, self.make_release, self.make_resize,
                  self.make_prune, self.make_move, self.make_limit]
        first, second = (self.rng.choice(makers[:7])(), self.rng.choice(makers)())
        # Each of several directories may come before or after the other command.
        for step in (first, second):
            step.get("dirs", [])[1:] = []
        if self.rng.random() < 0.4 and "dirs" in first and "dirs" in second:
            second["dirs"] = first["dirs"]
            # A directory that is there in between may get its quota from the other one.
            first.pop("mkdir", None)
        return {"do": "crossed", "first": first, "second": second, "at": self.rng.randrange(1, 120)}

    def make_hand(self):
        rng = self.rng
        step = {"do": "hand", "op": rng.choice(["append", "edit"]), "file": rng.choice(["projects", "projid"]),
                "id": self.id()}
        if step["file"] == "projects" and rng.random() < 0.7:
            step["dir"] = self.directory()
        else:
            step["name"] = "/other/place" if step["file"] == "projects" else rng.choice(NAMES + ["theirs"])
        return step

    # --- what others do to files ---

    def any_path(self, directory):
        """One that is there, or may be: with a slash, below the mount point"""
        if self.rng.random() < 0.6:
            there = self.steps.state.below(self.steps.path(directory))
            if there:
                return self.rng.choice(there)[len(self.steps.top):]
        path = "/" + directory
        for _ in range(self.rng.randrange(3)):
            path += self.rng.choice(["/s0", "/s1", "/n"])
        return path + "/" + self.rng.choice(["f0", "f1", "f2", "s0", "s1", "s2"])

    def act(self, directories):
        rng = self.rng
        one, other = (self.any_path(rng.choice(directories)) for _ in range(2))
        # To retag, to move and to write are what matters most.
        return rng.choice([
            lambda: ["retag", rng.choice([one, "/" + rng.choice(directories)]),
                     rng.choice([self.id(), self.id(), 0]), rng.random() < 0.5],
            lambda: ["rename", one, other], lambda: ["rename", one, other],
            lambda: ["link", one, other], lambda: ["write", one, rng.choice([100, 5000, 60000])],
            lambda: ["delete", one], lambda: ["mkdir", one], lambda: ["symlink", one], lambda: ["fifo", one],
            lambda: ["hold", one], lambda: ["drop"], lambda: ["bind", one, other], lambda: ["unbind"],
            lambda: ["rmtree", one],
        ])()

    def acts(self, directories):
        return [self.act(directories) for _ in range(self.rng.randrange(1, 4))]

    def make_acts(self):
        who, directories = ("tenant", TENANTS) if self.rng.random() < 0.75 else ("root", ROOTS)
        return {"do": "acts", "who": who, "acts": self.acts(directories)}

    def make_budget(self):
        if self.rng.random() < 0.3:
            return {"do": "budget"}
        return {"do": "budget", "dir": self.rng.choice(["d0", "d1", "t0", "pods"]),
                "size": self.rng.choice([65536, 1 << 20, 6 << 20, 20 << 20])}

    def make_populate(self):
        return {"do": "populate", "dir": self.directory()}

    def make_remove(self):
        name = self.rng.choice([self.movable(), self.movable(), STORE])
        return {"do": "acts", "who": "root", "acts": [["rmtree", "/" + name]]}

    def make_rename(self):
        one, other = self.movable(), self.movable()
        return {"do": "acts", "who": "tenant" if one[:3] == other[:3] == "t0/" else "root", "acts": [["rename", "/" + one, "/" + other]]}

    def make_mount(self):
        what = self.rng.choice(["alias", "alias", "self", "tmpfs"])
        places = ["d0", "d1/s0", "d2/s0", "t0/s0", "d0/s0"] if what == "self" else ["d0/s0", "d1/s0/s1", "t1/s0"]
        return {"do": "mount", "what": what, "dir": self.rng.choice(places)}

    def make_swap(self):
        rng, commands = self.rng, []
        for _ in range(rng.randrange(1, 4)):
            commands.append(rng.choice([
                lambda: {"do": "prune", "all": rng.random() < 0.7}, self.make_release_project,
                lambda: {"do": "release", "dirs": [self.directory()], "if_exists": rng.random() < 0.3}])())
        # What is given a filesystem is not looked for.
        return {"do": "swap", "way": rng.choice(["crossed", "away", "over", "empty"]),
                "commands": [{**command, "anywhere": True} for command in commands]}

    def make_store(self):
        if self.steps.path(STORE) not in self.steps.state.tree:
            return {"do": "store", "op": "make"}
        if self.steps.state.id_of(self.steps.path(STORE)) is None and self.rng.random() < 0.5:
            return {"do": "assign", "dirs": [STORE]}
        return {"do": "store", "op": self.rng.choice(["start", "layer", "layer", "layer", "remove"]),
                "size": self.size(), "which": self.rng.randrange(8)}

    def make_woven(self):
        rng = self.rng
        parent = rng.choice(["d0", "d1"])
        places = [parent, parent, parent + "/n", parent + "/n", parent + "/n/k"]
        makers = [self.make_assign, self.make_assign, self.make_release, self.make_release, self.make_resize,
                  self.make_prune, self.make_move]
        commands = []
        for _ in range(rng.choice([2, 2, 3])):
            command = rng.choice(makers)()
            for key in ("id", "name", "keep_tags", "by", "mkdir"):
                command.pop(key, None)
            if "dirs" in command:
                command["dirs"] = [rng.choice(places)]
            elif "dir" in command:
                command["dir"] = rng.choice(places)
            elif "old" in command:
                command["old"], command["new"] = rng.sample([parent + "/n", parent + "/m", parent + "/n/k", "m0"], 2)
            if command["do"] == "assign" and rng.random() < 0.3:
                command = {"do": "apply", "lines": [command]}
            commands.append(command)
        if sum(command["do"] == "apply" for command in commands) > 1:  # one file
            commands = [command["lines"][0] if command["do"] == "apply" else command for command in commands]
        acts = [[rng.choice([["write", "/" + path + "/" + rng.choice(["g0", "g1", "s0/g0", "s0/s1/g0"]), 100],
                             ["mkdir", "/" + path + "/" + rng.choice(["s0", "n", "k", "s0/s1"])],
                             ["delete", "/" + path + "/" + rng.choice(["g0", "g1", "f0", "s0/g0"])]])
                 for path in rng.sample(places, rng.randrange(3))] for _ in range(len(commands) + 1)]
        return {"do": "woven", "commands": commands, "at": [rng.randrange(1, 160), rng.randrange(1, 160)], "acts": acts}
