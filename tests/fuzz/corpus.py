#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# What the fuzzers start from. The inputs that are kept are in corpus/TARGET.txt, one a line: printable
# characters as they are, others as in a string of Python.
#
#   corpus.py unpack TARGET DIR       write them as files, and the invocations as well
#   corpus.py invocations TARGET DIR   write as files what the tests of fsquota and xfs_quota invoke
#   corpus.py pack TARGET DIR         keep the inputs of a directory, the short ones first
#   corpus.py dictionary TARGET       the words that the target knows, for libFuzzer
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"


def escape(data):
    return data.decode("latin-1").encode("unicode_escape").decode("ascii")


def unescape(line):
    return line.encode("ascii").decode("unicode_escape").encode("latin-1")


def kept(target):
    file = HERE / "corpus" / f"{target}.txt"
    return [unescape(line) for line in file.read_text("ascii").splitlines()]


def strings_of_c():
    """What the lists of the other mode give to -c."""
    for file in sorted((HERE.parent / "xfs_quota").glob("*.list")):
        for line in file.read_text("utf-8", "surrogateescape").splitlines():
            for match in re.finditer(r"-c (?:'([^']*)'|\"([^\"]*)\"|(\S+))", line):
                yield next(group for group in match.groups() if group is not None)


def native_lines():
    """The examples of the pages."""
    for file in sorted((HERE.parent.parent / "man").glob("*.[1-9]")):
        for line in file.read_text("utf-8", "surrogateescape").splitlines():
            if line.startswith(("$ fsquota ", "# fsquota ")):
                yield line[len("$ fsquota "):]


def seeds(target):
    lines = {"line": strings_of_c, "words": native_lines, "request": native_lines}.get(target)
    return [line.encode("utf-8", "surrogateescape") for line in lines()] if lines else []


def write(inputs, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (directory / hashlib.sha1(data).hexdigest()).write_bytes(data)


def unpack(target, directory):
    write(kept(target) + seeds(target), directory)


def invocations(target, directory):
    write(seeds(target), directory)


def pack(target, directory):
    inputs = {file.read_bytes() for file in directory.iterdir()} - set(seeds(target))
    lines = sorted((escape(data) for data in inputs), key=lambda line: (len(line), line))
    (HERE / "corpus" / f"{target}.txt").write_text("".join(line + "\n" for line in lines), "ascii")


def quoted(pattern, *files):
    """String literals of the source."""
    for name in files:
        yield from re.findall(pattern, (SOURCE / name).read_text())


def words_of_commands():
    for file in sorted((SOURCE / "native").rglob("*.c")):
        text = file.read_text()
        yield from re.findall(r'\.name = "([a-z-]+)"', text)
        for letter, name in re.findall(r"\{ (?:'(.)'|0|NULL), \"([a-z-]+)\"", text):
            yield "--" + name
            if letter:
                yield "-" + letter
        for letter in re.findall(r"\{ '(.)', NULL", text):
            yield "-" + letter


def words_of_xfs_quota():
    for file in sorted((SOURCE / "xfs_quota").glob("*.c")):
        text = file.read_text()
        yield from re.findall(r'\.(?:name|alias) = "([a-z?]+)"', text)
        for letters in re.findall(r'"([a-zA-Z:]+)"\)\) != -1|\.letters = "([^"]*)"|_LETTERS "([^"]*)"', text):
            yield from ("-" + letter for letter in "".join(letters) if letter != ":")


WORDS = {
    "words": lambda: [*words_of_commands(), "bhard=", "bsoft=", "ihard=", "isoft=", "rtbhard=", "1M", "50%", "+1G"],
    "line": lambda: [*words_of_xfs_quota(), "bhard=", "bsoft=", "ihard=", "isoft=", "rtbhard=", "-ugp", "1m", "7days"],
    "request": lambda: ['["', '","', '"]', "\\u00e9", "\\ud83d\\ude00", "\\\"", "'", "\\", "\"", "usage", "--json"],
    "apply": lambda: [*quoted(r'"([a-z-]+)"', "native/cli/request.c", "native/apply/file.c"), "=", "%", "1:2", "\\040",
                      "\\011", "#", "10G", "7d"],
    "config": lambda: [*quoted(r'\{ "([a-z-]+)",', "native/cli/config.c"), "=", "yes", "no", "#", "1-4294967294", "/",
                       "\\x0c"],
    "mounts": lambda: ["\\040", "\\011", "\\012", "\\134", " - ", "xfs", "ext4", "prjquota", "rw", "nosuid", "0:1", "#",
                       "bind", "autofs"],
    "registry": lambda: [":/", "~", "#", "\\r\\n", "4294967295", "4294967294", "18446744073709551616", "\\x00"],
    "numbers": lambda: ["k", "m", "g", "t", "p", "e", "KiB", "0x", "%", "+", "-", "minutes", "hours", "days", "weeks",
                        "9223372036854775807", "18446744073709551615", "0.5", "4294967294"],
    "dump": lambda: ["fs = /dev/", "-1", "4294967295", "18446744073709551615", "9999999999999999999", "\\t", "\\x0b"],
    "netlink": lambda: [],
    "watch": lambda: [],
    "top": lambda: [],
}


def dictionary(target):
    for word in sorted(set(WORDS[target]())):
        print('"' + re.sub(r'\\(?!x[0-9a-f]{2})', r"\\\\", word).replace('"', '\\"') + '"')


def main():
    action, target, *directory = sys.argv[1:]
    if action == "dictionary":
        dictionary(target)
    else:
        {"pack": pack, "unpack": unpack, "invocations": invocations}[action](target, pathlib.Path(*directory))


if __name__ == "__main__":
    main()
