# SPDX-License-Identifier: Apache-2.0
"""Steps: made at random, done, and compared with the rules."""
import json
import os
import posixpath
import re

import actors
import world
from rules import CONFLICT, FAILED, NOT_FOUND, OK, PARTIAL, UNSEEN, USAGE, Model, Wrong

ROOTS = ["d0", "d1", "d2"]
TENANTS = ["t0", "t1"]
PODS = ["pods/p0/volumes/v", "pods/p1/volumes/v"]
NESTED = ["d0/n", "d1/n", "t0/n"]
MADE = ["m0", "m1"]
NAMES = ["web", "shared"]
ERRNOS = {"EIO": 5, "ENOSPC": 28, "EPERM": 1, "EINTR": 4}
COMPLETED = ("assign", "release", "resize", "prune", "apply", "project", "limit", "restore", "release_project",
             "resize_project")
# What a filesystem of kubelet's has as no limit, in the words of its calls.
NO_LIMIT = {"xfs": "9223372036854775807", "ext4": "288230376151711743"}


class Steps:
    """Does steps, and says what is wrong with them"""

    def __init__(self, place, program, root, tenant, abilities):
        self.world, self.program, self.root, self.tenant = place, program, root, tenant
        self.abilities = abilities
        self.top, self.kind = place.top, place.kind
        self.state = None
        self.scratch = program.files[0]

    # --- words of steps ---

    def path(self, name):
        return f"{self.top}/{name}" if name else self.top

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

    def held(self):
        found = {}
        for tag in self.root.count() + self.tenant.count():
            found[tag] = found.get(tag, 0) + 1
        return found

    # --- the beginning ---

    def begin(self):
        self.tenant.do(["drop"])
        self.tenant.do(["unbind"])
        self.root.do(["drop"])
        self.world.clean()
        for name, text in ((world.PROJECTS, "# directories\n7:/somewhere/else\n"),
                           (world.PROJID, "# names\nelsewhere:7\n")):
            with open(name, "w", encoding="utf-8") as handle:
                handle.write(text)
        for name in ROOTS + TENANTS + NESTED[:1]:
            self.populate(name)
        self.state, wrong = world.settled(self.world, {})
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

    def command(self, step):
        """Words, and the function that does the same to a state"""
        return getattr(self, "command_" + step["do"])(step)

    def command_assign(self, step):
        paths = [self.path(name) for name in step["dirs"]]
        options = {key: step[key] for key in ("limits", "unlimited", "name", "mkdir") if key in step}
        options["register"] = not step.get("unregistered")
        if "id" in step:
            options["id"] = self.number(step["id"])
        words = ["assign", *paths, *self.limit_words(step.get("limits", {}))]
        words += ["--unlimited"] if step.get("unlimited") else []
        words += ["--name", step["name"]] if "name" in step else []
        words += ["--id", str(options["id"])] if "id" in step else []
        words += ["--mkdir"] if step.get("mkdir") else []
        words += ["--no-register"] if step.get("unregistered") else []

        def rule(model, state):
            if len(paths) > 1 and "id" in step:
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
        words = ["release", *paths]
        if "id" in step:
            options["id"] = self.number(step["id"])
            words += ["--id", str(options["id"])]
        words += ["--keep-tags"] if step.get("keep_tags") else []
        words += ["--if-exists"] if step.get("if_exists") else []

        def rule(model, state):
            result = USAGE if len(paths) > 1 and "id" in step else OK
            for path in paths if result == OK else []:
                status = model.release(state, path, options)
                result = result or status
            return result
        return words, rule

    def command_release_project(self, step):
        options = {key: step[key] for key in ("keep_tags", "if_exists") if key in step}
        words = ["release", "--at", self.top]
        words += ["--name", step["name"]] if "name" in step else ["--id", str(self.number(step["id"]))]
        words += ["--keep-tags"] if step.get("keep_tags") else []
        words += ["--if-exists"] if step.get("if_exists") else []
        number = None if "name" in step else self.number(step["id"])

        def rule(model, state):
            tag = state.id_of_name(step["name"]) if "name" in step else number
            return model.release_project(state, tag, options)
        return words, rule

    def command_resize(self, step):
        words = ["resize", self.path(step["dir"])] + self.resize_words(step)
        return words, lambda model, state: model.resize(state, self.path(step["dir"]), step)

    def resize_words(self, step):
        words = [("+" if step.get("relative") else "") + str(step["size"])] if "size" in step else []
        words += self.limit_words({key: step[key] for key in ("soft", "hard_inodes") if key in step})
        return words + (["--allow-shrink"] if step.get("allow_shrink") else [])

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
                model.set_limits(state, number, (model.rounded(bsoft * 512), model.rounded(bhard * 512),
                                                 isoft, ihard))
            return OK
        return ["restore", "-p", self.top], rule

    def command_project(self, step):
        number = self.number(step["id"])
        clear, depth, path = step.get("clear"), step.get("depth"), self.path(step["dir"])
        words = ["project", "-C" if clear else "-s", "-p", path, str(number), self.top]
        if depth is not None:
            words[2:2] = ["-d", str(depth)]
        return words, lambda model, state: model.project_listed(state, path, number, clear, depth)

    def command_apply(self, step):
        """Each line is one of assign's steps"""
        lines, rules = [], []
        for line in step["lines"]:
            limits = {key.replace("_", "-"): value for key, value in line.get("limits", {}).items()}
            words = [self.path(line["dirs"][0])] + [f"{key}={value}" for key, value in limits.items()]
            words += ["name=" + line["name"]] if "name" in line else []
            words += ["mkdir"] if line.get("mkdir") else []
            lines.append(" ".join(words))
            rules.append(self.command_assign(line)[1])
        with open(self.scratch + ".conf", "w", encoding="utf-8") as handle:
            handle.write("\n".join(lines) + "\n")

        def rule(model, state):
            result = OK
            for one in rules:
                status = one(model, state)
                result = result or status
            return result
        return ["apply", self.scratch + ".conf"], rule

    def command_batch(self, step):
        """Its rule gives the exit statuses of all requests"""
        requests = [self.command(request) for request in step["requests"]]
        self.program.give("".join(json.dumps(words) + "\n" for words, _ in requests))
        return ["batch"], lambda model, state: [rule(model, state) for _, rule in requests]

    # --- doing a command ---

    def directories(self, step):
        """Those that may get an ID"""
        names = step.get("dirs", []) + ([step["dir"]] if "dir" in step else [])
        for part in step.get("lines", []) + step.get("requests", []):
            names += [posixpath.relpath(path, self.top) for path in self.directories(part)]
        return [self.path(name) for name in names]

    def chosen(self, step, after):
        """{directory: IDs}: of a batch as it says, else as they are afterwards"""
        if step["do"] == "batch":
            found = {}
            for line in self.program.out.splitlines():
                for row in json.loads(line).get("assign", []):
                    found.setdefault(row["path"], []).append(row["id"])
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

    def predict(self, rule, step, before, after, is_partial=False):
        """Exit status and state that the rules have"""
        state = before.copy()
        model = Model(self.kind, self.top, self.chosen(step, after), is_partial, self.full())
        return rule(model, state), state

    def look(self):
        after, wrong = world.settled(self.world, self.held())
        return after, wrong

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
        return self.do_disturbed(step, words, rule)

    def statuses(self, status, out, step):
        if step["do"] != "batch" or status:
            return status
        return [json.loads(line)["exit"] for line in out.splitlines()]

    def do_undisturbed(self, step, words, rule):
        before = self.state
        status, out, err, _ = self.program.run(words)
        self.state, wrong = self.look()
        status = self.statuses(status, out, step)
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
        if step["do"] == "assign" and status and len(step["dirs"]) == 1 and len(err.splitlines()) != 1:
            wrong.append(f"it says {err!r}")
        return wrong

    def full(self):
        """Directories that could not be made, for the limit of the one above is reached"""
        said = re.findall(r"(/[^:\n]*): cannot be made: (?:No space left|Disk quota)", self.program.err)
        for line in self.program.out.splitlines():
            if '"cannot be made"' in line and ("ENOSPC" in line or "EDQUOT" in line):
                said.append(json.loads(line)["error"]["path"])
        return said

    def do_disturbed(self, step, words, rule):
        """Killed at a system call, or that fails"""
        before, how = self.state, step["how"]
        status, out, err, came = self.program.run(words, "kill" if how == "kill" else str(ERRNOS[how]), step["at"])
        step["came"] = came
        mid, wrong = self.look()
        wanted, expected = self.predict(rule, step, before, mid, True)
        if not came or status == OK:
            self.state = mid
            try:
                wanted, expected = self.predict(rule, step, before, mid)
            except Wrong as error:
                return wrong + [str(error), f"exit status {status}: {err.strip()}"]
            if how == "kill" and came:
                wrong.append("it is not killed")
            if status != wanted:
                wrong.append(f"exit status {status}, not {wanted}: {err.strip()}")
            return wrong + self.judge(before, expected, mid)
        if wanted != OK:
            # It would have failed, and undone what it did: killed, or failing again, it may not.
            self.state = mid
            return wrong + self.do_undisturbed(step, self.command(step)[0], rule)
        if how != "kill" and step["do"] in ("assign", "release", "resize", "limit") and status != PARTIAL and \
                len(self.directories(step)) <= 1:
            wrong += self.judge(before, before, mid)
        else:
            wrong += self.between(before, expected, mid, self.directories(step))
        if wrong or step.get("relative"):
            # What adds to a limit is not done again: nobody can say whether it was done.
            self.state = mid
            return wrong and [f"{how} at call {self.program.call}: exit status {status}: {err.strip()}"] + wrong
        return self.complete(step, words, rule, before, mid, wanted)

    def between(self, before, expected, mid, directories):
        """Whatever there is was so before, or is so afterwards, or as one of these directories above it"""
        wrong = []
        for tag in before.limits.keys() | expected.limits.keys() | mid.limits.keys():
            ways = [state.limits.get(tag, world.NO_LIMITS) for state in (before, expected)]
            # Of several that join a project, each may have set its limits or not.
            if any(limit not in both for limit, *both in zip(mid.limits.get(tag, world.NO_LIMITS), *ways)):
                wrong.append(f"limits of {tag} are {mid.limits.get(tag)}, not one of {ways}")
        for what in ("projects", "projid"):
            old, new, now = (getattr(state, what) for state in (before, expected, mid))
            wrong += [f"{what}: {line} is missing" for line in old if line in new and line not in now]
            wrong += [f"{what}: {line} is new" for line in now if line not in new and line not in old]
        for path, node in mid.tree.items():
            ways = [(state.tree[path].tag, state.tree[path].inherit) for state in (before, expected)
                    if path in state.tree]
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
        if step["do"] in ("restore", "batch", "apply"):
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
        if status == NOT_FOUND and step["do"] not in ("release", "release_project"):
            same = expected_status == NOT_FOUND
        # With its tags kept, a directory that is released carries what is not its own.
        if step.get("keep_tags") and status == CONFLICT and not self.judge(before, expected, mid):
            same = True
        if step["do"] == "release_project" and status == CONFLICT and self.is_left_to_others(step, mid):
            expected, same = mid, True
        if not same:
            wrong.append(f"completed: exit status {status}, not {expected_status}: {err.strip()}")
        wrong += ["completed: " + one for one in self.judge(before, expected, self.state)]
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
                act = [self.number(word) if isinstance(word, dict) else
                       self.path(word[1:]) if isinstance(word, str) and word[:1] == "/" else word for word in act]
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
        directories = self.directories(step)
        retagged = [directory for directory in directories for act in step["acts"]
                    if act[0] == "retag" and (directory + "/").startswith(self.path(act[1][1:]) + "/")]
        # Whose a directory is that no line names depends on what it carries at that moment.
        is_disputed = any(before.id_of(directory) is None for directory in retagged)
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
        if second["status"] == FAILED and "held by process" in second["err"]:
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
        model = Model(self.kind, self.top, chosen, True, self.full())
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

    # --- what others do alone ---

    def do_acts(self, step):
        before = self.state
        actor = self.root if step.get("who") == "root" else self.tenant
        for act in step["acts"]:
            actor.do([self.number(word) if isinstance(word, dict) else
                      self.path(word[1:]) if isinstance(word, str) and word[:1] == "/" else word for word in act])
        self.state, wrong = self.look()
        return wrong + world.compare_limits(before.limits, self.state.limits) + \
            world.compare_registry(before, self.state, before)

    def do_populate(self, step):
        self.populate(step["dir"])
        self.state, wrong = self.look()
        return wrong

    def do_remount(self, _):
        before = self.state
        self.tenant.do(["drop"])
        self.root.do(["drop"])
        self.world.remount()
        self.state, wrong = self.look()
        return wrong + self.judge(before, before, self.state)

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
        actor = self.new_kubelet()
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

    def new_kubelet(self):
        return actors.Kubelet(self.world.quotas)

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
            model.set_limits(state, tag, (0, 0, isoft, ihard))
            model.project(state, path, tag)
            state.remove_lines(tag, path)
        for name in [path] + state.below(path):
            state.tree.pop(name, None)
        return wrong

    # --- other writers of the files ---

    def do_hand(self, step):
        """append: a line is added at the end of a file; edit: it is written anew, under the locks"""
        before = self.state
        number = self.number(step.get("id"))
        line = (f"{number}:{self.path(step['dir'])}" if "dir" in step else f"{number}:{step['name']}"
                if step["file"] == "projects" else f"{step['name']}:{number}")
        expected = before.copy()
        name = world.PROJECTS if step["file"] == "projects" else world.PROJID
        entries = expected.projects if step["file"] == "projects" else expected.projid
        entry = (number, line.split(":", 1)[1]) if step["file"] == "projects" else (step["name"], number)
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
        actor = self.new_kubelet()
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
        special = getattr(self, "do_" + step["do"], None)
        return special(step) if special else self.do_command(step)


# --- random steps ---

class Maker:
    """Makes steps that often make sense"""

    def __init__(self, rng, steps, only=None):
        self.rng, self.steps = rng, steps
        weights = {"assign": 22, "release": 14, "resize": 7, "release_project": 4, "resize_project": 2, "prune": 5,
                   "apply": 5, "batch": 4, "project": 5, "limit": 5, "restore": 2, "kubelet": 7, "hand": 4,
                   "acts": 16, "crossed": 8, "populate": 4, "remove": 4, "move": 2, "remount": 1}
        weights = {name: weight for name, weight in weights.items()
                   if name in (only or weights) and steps.abilities.get(name, True)}
        self.names, self.weights = list(weights), list(weights.values())

    def make(self):
        name = self.rng.choices(self.names, self.weights)[0]
        step = getattr(self, "make_" + name)()
        if name in COMPLETED and self.rng.random() < 0.35:
            self.disturb(step)
        return step

    def directory(self):
        return self.rng.choice(self.rng.choice([ROOTS, ROOTS, TENANTS, TENANTS, NESTED, MADE, PODS]))

    def id(self):
        if self.rng.random() < 0.2:
            return self.rng.choice([7, 42, 77, 1048577, 1048580, 4294967294])
        return {"of": self.directory()}

    def size(self):
        return self.rng.choice([4096, 65536, 1 << 20, 5 << 20, 8 << 20, 100000, 12345])

    def limits(self):
        limits = {}
        if self.rng.random() < 0.7:
            limits["hard"] = self.size()
        if self.rng.random() < 0.3:
            limits["soft"] = self.size()
        if self.rng.random() < 0.2:
            limits["hard_inodes"] = self.rng.choice([3, 20, 100])
        if self.rng.random() < 0.1:
            limits["soft_inodes"] = self.rng.choice([3, 20, 100])
        return limits

    def disturb(self, step):
        way = self.rng.random()
        # A second row of an ID, or a second line of a name, would be a third state that its limits may be in.
        for key, which in (("rows", lambda row: self.steps.number(row[0])),
                           ("lines", lambda line: line.get("name") or line["dirs"][0])):
            if key in step:
                step[key] = list({which(one): one for one in step[key]}.values())
        if len(step.get("dirs", [])) > 1 and way >= 0.5:
            step["dirs"] = step["dirs"][:1]
        if way < 0.45 and step["do"] in ("assign", "release"):
            step.update(how="stop", acts=self.acts(step["dirs"]), who="tenant" if step["dirs"][0][0] == "t" else "root")
            step["dirs"] = step["dirs"][:1]
        elif way < 0.7:
            step["how"] = "kill"
        else:
            step["how"] = self.rng.choice(list(ERRNOS))
        step["at"] = self.rng.randrange(1, self.rng.choice([30, 60, 120, 200]))

    def make_assign(self):
        rng, step = self.rng, {"do": "assign", "dirs": [self.directory()]}
        if self.steps.abilities.get("several", True) and rng.random() < 0.15:
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
        if self.steps.abilities.get("mkdir", True) and (step["dirs"][0] in MADE or rng.random() < 0.1):
            step["mkdir"] = True
        return step

    def make_release(self):
        rng, step = self.rng, {"do": "release", "dirs": [self.directory()]}
        if self.steps.abilities.get("several", True) and rng.random() < 0.15:
            step["dirs"] += [self.directory()]
        if rng.random() < 0.15:
            step["keep_tags"] = True
        if self.steps.abilities.get("several", True) and rng.random() < 0.15:
            step["if_exists"] = True
        if self.steps.abilities.get("several", True) and rng.random() < 0.15:
            step["id"] = self.id()
        return step

    def make_release_project(self):
        step = {"do": "release_project"}
        step.update({"name": self.rng.choice(NAMES)} if self.rng.random() < 0.5 else {"id": self.id()})
        if self.rng.random() < 0.3:
            step["keep_tags"] = True
        if self.rng.random() < 0.2:
            step["if_exists"] = True
        return step

    def resizing(self, step):
        rng = self.rng
        step["size"] = self.size()
        if rng.random() < 0.4:
            step["relative"] = True
        if rng.random() < 0.5:
            step["allow_shrink"] = True
        return step

    def make_resize(self):
        return self.resizing({"do": "resize", "dir": self.directory()})

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
        if self.rng.random() < 0.4:
            step["clear"] = True
        if self.rng.random() < 0.3:
            step["depth"] = self.rng.randrange(3)
        return step

    def make_apply(self):
        names, lines = [], []
        for _ in range(self.rng.randrange(1, 4)):
            line = {key: value for key, value in self.make_assign().items()
                    if key in ("do", "dirs", "limits", "name", "mkdir")}
            line["dirs"] = line["dirs"][:1]
            if line["dirs"][0] not in names:
                names += line["dirs"]
                lines.append(line)
        return {"do": "apply", "lines": lines}

    def make_batch(self):
        makers = [self.make_assign, self.make_assign, self.make_release, self.make_resize, self.make_limit]
        return {"do": "batch", "requests": [self.rng.choice(makers)() for _ in range(self.rng.randrange(1, 5))]}

    def make_kubelet(self):
        step = {"do": "kubelet", "op": self.rng.choice(["add", "add", "remove"]), "dir": self.rng.choice(PODS)}
        if self.rng.random() < 0.6:
            makers = [self.make_assign, self.make_release] + \
                ([self.make_prune] if self.steps.abilities.get("prune", True) else [])
            beside = [self.rng.choice(makers)() for _ in range(self.rng.randrange(1, 4))]
            step["beside"] = [one for one in beside if not any(name.startswith("pods") for name in one.get("dirs", []))]
        return step

    def make_crossed(self):
        makers = [self.make_assign, self.make_assign, self.make_release, self.make_release, self.make_resize,
                  self.make_prune, self.make_limit]
        first, second = (self.rng.choice(makers[:6])(), self.rng.choice(makers)())
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
        if self.rng.random() < 0.75:
            return {"do": "acts", "who": "tenant", "acts": self.acts(TENANTS)}
        return {"do": "acts", "who": "root", "acts": self.acts(ROOTS)}

    def make_populate(self):
        return {"do": "populate", "dir": self.directory()}

    def make_remove(self):
        return {"do": "acts", "who": "root", "acts": [["rmtree", "/" + self.directory()]]}

    def make_move(self):
        return {"do": "acts", "who": "root", "acts": [["rename", "/" + self.directory(), "/" + self.directory()]]}

    def make_remount(self):
        return {"do": "remount"}
