#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests ran, from the counts that programs built with --coverage have left.
#
#   report.py BUILD             the lines of all of src but shared that no test ran, then percent of lines and
#                               branches of each folder
#   report.py --branches BUILD  and the lines of limits, directory, usage, diagnose and walk in src/quota of whose
#                               branches one was never taken
#   report.py --minimum BUILD   exit status 1 where a folder has fallen below minimum.list
#   report.py --keep BUILD      and write result.txt
#   report.py --kept            what result.txt says, beside minimum.list; nothing is measured
#
# A branch is an outcome of a condition, as "gcov -b" counts it without optimization: "a && b" has four, a switch
# one for each label. What gcov marks as thrown, by a call that may not return, is none.
#
# All of it takes an hour, and CI has no such time: it prints the result that is kept, with the folders that were
# changed since, or have other files than they had, and fails where that is below the minimum.
#
# A line of minimum.list is a folder and the percents of lines and of branches that it must have, "-" for any.
import collections
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"
RESULT = HERE / "result.txt"
ALL_LINES = "quota", "native", "table", "xfs_quota"
ALL_BRANCHES = "quota/limits", "quota/directory", "quota/usage", "quota/diagnose", "quota/walk"


class File:
    """How often each line was run, and each branch taken."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def add(self, lines):
        for line in lines:
            number = line["line_number"]
            self.lines[number] += line["count"]
            for index, branch in enumerate(line["branches"]):
                if not branch["throw"]:
                    self.branches[number, index] += branch["count"]

    def share(self):
        return Share(*(part for counts in (self.lines, self.branches)
                       for part in (sum(count > 0 for count in counts.values()), len(counts))))


class Share(collections.namedtuple("Share", "lines all_lines branches all_branches")):
    def __add__(self, other):
        return Share(*(a + b for a, b in zip(self, other)))

    def percents(self):
        return tuple(100 * some / count if count else 100.0
                     for some, count in ((self.lines, self.all_lines), (self.branches, self.all_branches)))


def counted(build):
    """Each file of src, summed over its objects; also what never ran."""
    files = collections.defaultdict(File)
    for notes in sorted(build.glob("**/*.gcno")):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)],
                             cwd=build, capture_output=True, check=True).stdout
        if out[:2] == b"\x1f\x8b":
            out = gzip.decompress(out)
        for document in out.splitlines():
            for entry in json.loads(document)["files"]:
                path = (build / entry["file"]).resolve()
                if path.is_relative_to(SOURCE):
                    files[path.relative_to(SOURCE)].add(entry["lines"])
    return dict(sorted(files.items()))


def is_in(path, folders):
    return any(path.is_relative_to(folder) for folder in folders)


def rows_of(name):
    """The lines of a list beside this file that are no comments."""
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def print_missed(files):
    missed = 0
    for path, file in files.items():
        if not is_in(path, ALL_LINES):
            continue
        source = (SOURCE / path).read_text().splitlines()
        for number, count in sorted(file.lines.items()):
            if count == 0:
                print(f"{path}:{number}: {source[number - 1].strip()}")
                missed += 1
    print(f"{missed} lines of all of src but shared are not run")


def print_branches(files):
    for path, file in files.items():
        if is_in(path, ALL_BRANCHES):
            source = (SOURCE / path).read_text().splitlines()
            missed = collections.Counter(number for (number, _), count in file.branches.items() if count == 0)
            for number, count in sorted(missed.items()):
                print(f"{path}:{number}: {count} not taken: {source[number - 1].strip()}")


def folders(shares):
    """The percents of each folder with those below it."""
    table = collections.defaultdict(lambda: Share(0, 0, 0, 0))
    for path, share in shares.items():
        for folder in path.parents:
            table[str(folder)] += share
    return {folder: share.percents() for folder, share in sorted(table.items())}


def print_table(table):
    print(f"{'folder of src':24} {'lines':>7} {'branches':>9}")
    for folder, (lines, branches) in table.items():
        print(f"{folder:24} {lines:6.1f}% {branches:8.1f}%")


def has_fallen(table):
    fallen = False
    for row in rows_of("minimum.list"):
        folder, *minima = row.split()
        for what, now, minimum in zip(("lines", "branches"), table[folder], minima):
            if minimum != "-" and now < float(minimum):
                print(f"{folder}: {now:.2f}% of {what}, and there were {minimum}%")
                fallen = True
    return fallen


# --- what is kept ---------------------------------------------------------------------------------


def sources(folder):
    """The files of a folder itself, with code or not."""
    return sorted(path for path in (SOURCE / folder).glob("*.[ch]"))


def digests(folder):
    """@return  those of the names of its sources, and of their text"""
    names = [path.name for path in sources(folder) if path.suffix == ".c"]
    texts = [path.read_bytes() for path in sources(folder)]
    return tuple(hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]
                 for parts in ([name.encode() for name in names], texts))


def all_folders():
    return {path.parent.relative_to(SOURCE) for path in SOURCE.glob("**/*.c")}


def keep(shares):
    own = collections.defaultdict(lambda: Share(0, 0, 0, 0))
    for path, share in shares.items():
        own[path.parent] += share
    with open(RESULT, "w") as out:
        print("# Written by tools/record: a folder, the lines of its own files that were run, all of them, branches, and\n"
              "# digests of the names and the text of its sources.", file=out)
        for folder in sorted(all_folders() | set(own)):
            print(folder, *own[folder], *digests(folder), file=out)


def print_kept():
    """@return  whether something is wrong"""
    shares, changed, other = {}, [], []
    for row in rows_of(RESULT.name):
        folder, *numbers, names, text = row.split()
        # As of a file in it.
        shares[pathlib.PurePath(folder) / "all"] = Share(*map(int, numbers))
        now_names, now_text = digests(folder)
        other += [folder] if names != now_names and is_in(pathlib.PurePath(folder), ALL_LINES) else []
        changed += [folder] if text != now_text else []
    other += [str(folder) for folder in all_folders() - {path.parent for path in shares} if is_in(folder, ALL_LINES)]
    table = folders(shares)
    print_table(table)
    print(f"measured of {len(shares)} folders; changed since: {' '.join(changed) or 'none'}")
    for folder in sorted(other):
        print(f"{folder} has other files than when it was measured: tools/record coverage measures anew")
    return has_fallen(table)


def main():
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    if "--kept" in options:
        sys.exit(print_kept())
    files = counted(pathlib.Path(sys.argv[-1]).resolve())
    if "--branches" in options:
        print_branches(files)
    print_missed(files)
    shares = {path: file.share() for path, file in files.items()}
    table = folders(shares)
    print_table(table)
    if "--keep" in options:
        keep(shares)
    sys.exit("--minimum" in options and has_fallen(table))


if __name__ == "__main__":
    main()
