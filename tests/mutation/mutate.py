#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Break the code in many places, one at a time, and see a test fail.
#
#   mutate.py [--seed N] [--count N] [--from N] [--only REGEX] [--seconds N] [--list] [--no-control]
#
# --seed   which places (default 1)
# --count  how many of them (default 100)
# --from   begin with the Nth of them
# --only   in files that match
# --seconds  how long the tests of one may take (default 1800); what is not killed by then survives
# --list   only say where
# --no-control  do not look first that these tests pass on the code as it is
#
# Works in build-mutation, a copy of the tree; needs what "make check" needs. Of each mutant it runs the
# tests that concern its file, in the order of suites.list, up to the first that fails. Prints what each
# was killed by, and at the end killed/tried; exit status 1 if fewer than 95 of 100 are. A mutant of
# equal.list does what the code does, for the reason given there; it is not tried.
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
COPY = TOP / "build-mutation"
FOLDERS = ["limits", "directory", "usage", "diagnose", "walk", "registry"]

# What is looked for in a line, and what it becomes.
SWAPS = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", " + 0"), (r" - 1\b", " - 0"), (r"\bif \(!", "if ("),
    (r"\bif \((?!!)", "if (!"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\breturn rc;", "return 0;"),
    (r" \| ", " & "), (r"\bcontinue;", "break;"), (r" \? 0 : ", " ? 1 : "),
]
CALL = re.compile(r"^\t+(?!return|free|if|for|while)[a-z_]+\(.*\);$")
NEGATED = re.compile(r"\bif \((?!!)(.*)\)( \{)?$")


def mutations(path):
    """(line number, the line, what it becomes)"""
    in_comment = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        in_comment = in_comment or line.lstrip().startswith("/*")
        code = not in_comment and line.startswith("\t")
        in_comment = in_comment and "*/" not in line
        if not code or "fsq_fail(" in line or '"' in line:
            continue
        for pattern, becomes in SWAPS:
            if becomes == "if (!":
                match = NEGATED.search(line)
                if match:
                    yield number, line, line[:match.start()] + f"if (!({match[1]})){match[2] or ''}"
                continue
            for match in re.finditer(pattern, line):
                yield number, line, line[:match.start()] + becomes + line[match.end():]
        if CALL.match(line):
            yield number, line, "\t;"


def choose(seed, count, only):
    """So many of all, of each file by its size."""
    every = [(path, *mutation) for folder in FOLDERS
             for path in sorted((TOP / "src/quota" / folder).glob("*.c")) if re.search(only, str(path))
             for mutation in mutations(path)]
    return random.Random(seed).sample(every, min(count, len(every)))


def suites():
    for line in (HERE / "suites.list").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, *files = line.split()
            yield re.compile(pattern), files


def equals():
    """(file, the line, what it becomes), of which the reason says why that is the same"""
    return {tuple(line.split("\t")[:3]) for line in (HERE / "equal.list").read_text().splitlines()
            if line and not line.startswith("#")}


def tests_of(path):
    files = []
    for pattern, more in suites():
        if pattern.search(path.name):
            files += [file for file in more if file not in files]
    return files


def make(*targets):
    return subprocess.run(["make", "-s", "-j2", *targets], cwd=COPY / "build", capture_output=True, text=True,
                          timeout=600, check=False).returncode == 0


def prepare():
    shutil.rmtree(COPY, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, files):
        name = name.decode()
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, COPY / name, follow_symlinks=False)
    (COPY / "build").mkdir()
    subprocess.run(["autoreconf", "-fi"], cwd=COPY, capture_output=True, check=True)
    subprocess.run(["../configure", "-q", "--disable-shared", "CFLAGS=-O1 -g"], cwd=COPY / "build", check=True)
    if not make("src/fsquota", "check-programs"):
        sys.exit("mutate.py: it does not build as it is")


def first_failure(files, seconds):
    """@return  the test that fails, None if none does"""
    for unit in [file for file in files if file.startswith("unit/")]:
        try:
            done = subprocess.run([COPY / "build/tests" / unit], capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return unit + " (stands still)"
        if done.returncode:
            return unit
    guest = [str(COPY / "tests" / file) for file in files if not file.startswith("unit/")]
    if not guest:
        return None
    env = {"srcdir": str(COPY), "builddir": str(COPY / "build"), "FSQUOTA": str(COPY / "build/src/fsquota"),
           "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb"}
    try:
        done = subprocess.run([COPY / "tests/guest/run", "--new", "--timeout", str(seconds), "--", HERE / "first_failure",
                               *guest], cwd=COPY / "build", env=env, capture_output=True, text=True, timeout=seconds + 100,
                              check=False)
    except subprocess.TimeoutExpired:
        return "(stands still)"
    # When the time is up, none has failed.
    if done.returncode in (0, 124):
        return None
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else f"(status {done.returncode})"


def control(paths):
    """What fails on the code as it is would kill every mutant."""
    files = dict.fromkeys(file for path in paths for file in tests_of(path))
    fails = first_failure(files, 5400)
    if fails:
        sys.exit(f"mutate.py: the code as it is: {fails}")


def try_one(path, number, before, after, seconds):
    """@return  what killed it; None: it survives; "": it does not build"""
    name = path.relative_to(TOP)
    copy = COPY / name
    text = path.read_text()
    lines = text.split("\n")
    assert lines[number - 1] == before
    lines[number - 1] = after
    copy.write_text("\n".join(lines))
    try:
        if not make("src/fsquota", "check-programs"):
            return ""
        return first_failure(tests_of(path), seconds)
    finally:
        copy.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-control", action="store_true")
    given = parser.parse_args()
    chosen = choose(given.seed, given.count, given.only)[given.first - 1:]
    if not given.list:
        prepare()
        if not given.no_control:
            control(place[0] for place in chosen)
    killed = tried = 0
    equal = equals()
    for path, number, before, after in chosen:
        where = f"{path.relative_to(TOP)}:{number}: {before.strip()}  ->  {after.strip()}"
        if given.list:
            print(where)
            continue
        if (path.name, before.strip(), after.strip()) in equal:
            print(f"equal      {where}", flush=True)
            continue
        begun = time.monotonic()
        by = try_one(path, number, before, after, given.seconds)
        if by == "":
            print(f"no C       {where}", flush=True)
            continue
        tried += 1
        killed += by is not None
        print(f"{'SURVIVES' if by is None else 'killed'} {time.monotonic() - begun:4.0f} s  {where}"
              + (f"\n           by {by}" if by else ""), flush=True)
    if not given.list:
        print(f"mutants: {killed} of {tried} killed, seed {given.seed}")
        sys.exit(killed * 100 < tried * 95)


if __name__ == "__main__":
    main()
