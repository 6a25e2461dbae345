#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# What the tests ran, from the counts that a program built with --coverage has left.
#
#   report.py BUILD             percent of lines and branches of each folder, and the lines that no test
#                               ran and for which reasons.list has no reason; there are such: exit 1
#   report.py --all BUILD       those with a reason, too
#   report.py --floor BUILD     and exit with 1 where a folder has fallen below floor.list
#
# A line of reasons.list is a regular expression for the source line, a tab, and why it is not run; one
# of floor.list is a folder and the percents of lines and branches that it had, rounded down.
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"


class File:
    def __init__(self):
        self.lines = collections.Counter()
        self.branches = {}


def counted(build):
    """Lines and branches of each file of src, summed over its objects; also of what never ran."""
    files = collections.defaultdict(File)
    for data in sorted(build.glob("src/**/*.gcno")):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(data)],
                             cwd=build, capture_output=True, check=True).stdout
        if out[:2] == b"\x1f\x8b":
            out = gzip.decompress(out)
        for document in out.splitlines():
            for entry in json.loads(document)["files"]:
                path = (build / entry["file"]).resolve()
                if path.is_relative_to(SOURCE):
                    add(files[path.relative_to(SOURCE)], entry["lines"])
    return files


def add(file, lines):
    for line in lines:
        number = line["line_number"]
        file.lines[number] += line["count"]
        for index, branch in enumerate(line["branches"]):
            if not branch["throw"]:
                key = number, index
                file.branches[key] = file.branches.get(key, 0) + branch["count"]


def reasons():
    rules = []
    for line in (HERE / "reasons.list").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, why = line.split("\t", 1)
            rules.append((re.compile(pattern), why.strip()))
    return rules


def folder_of(path):
    return str(path.parent)


def percent(counts):
    counts = list(counts)
    return 100 * sum(count > 0 for count in counts) / len(counts) if counts else 100.0


def print_table(files):
    table = {}
    print(f"{'folder':24} {'lines':>8} {'branches':>9}")
    for folder in [*sorted({folder_of(path) for path in files}), "all"]:
        some = [file for path, file in files.items() if folder in (folder_of(path), "all")]
        lines = percent(count for file in some for count in file.lines.values())
        branches = percent(count for file in some for count in file.branches.values())
        table[folder] = lines, branches
        print(f"{folder:24} {lines:7.1f}% {branches:8.1f}%")
    return table


def print_missed(files, show_all):
    """@return  the number of lines without a reason"""
    rules, missed, explained = reasons(), 0, collections.Counter()
    for path in sorted(files):
        if folder_of(path).split("/")[0] not in ("quota", "command"):
            continue
        source = (SOURCE / path).read_text().splitlines()
        for number, count in sorted(files[path].lines.items()):
            if count > 0:
                continue
            text = "\n".join(source[max(0, number - 3):number])
            why = next((why for pattern, why in rules if pattern.search(text)), None)
            explained[why] += 1
            missed += why is None
            if why is None or show_all:
                print(f"{path}:{number}: {source[number - 1].strip()}" + (f"  [{why}]" if why else ""))
    for why, count in explained.most_common():
        if why:
            print(f"{count} lines: {why}")
    return missed


def has_fallen(table):
    fallen = False
    for line in (HERE / "floor.list").read_text().splitlines():
        if line.startswith("#"):
            continue
        folder, lines, branches = line.split()
        for what, now, floor in zip(("lines", "branches"), table[folder], (lines, branches)):
            if now < int(floor):
                print(f"{folder}: {now:.1f}% of {what}, and there were {floor}%")
                fallen = True
    return fallen


def main():
    options, build = set(sys.argv[1:-1]), pathlib.Path(sys.argv[-1]).resolve()
    files = counted(build)
    missed = print_missed(files, "--all" in options)
    table = print_table(files)
    print(f"{missed} lines of src/quota and src/command are not run, for no reason that is known")
    sys.exit(1 if (has_fallen(table) if "--floor" in options else missed) else 0)


if __name__ == "__main__":
    main()
