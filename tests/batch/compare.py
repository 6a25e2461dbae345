#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Random requests to one batch process.
#
#   compare.py SEED COUNT           each is compared with a process of its own at the same moment; some wait in line
#                                   together, with lines between them that are no requests
#   compare.py --alone SEED COUNT   memory and descriptors are at the end as after the first thousand
#
# There are two worlds that are alike: an XFS with directories and a registry for the batch, and
# another one for the processes. Whatever is asked, and whatever others change in between, happens in
# both; what is answered must be the same, but for the names of the worlds.
import json
import os
import random
import subprocess
import sys

FSQUOTA = os.environ["FSQUOTA"]
BATCH, PROCESS = "/mnt/x", "/mnt/x2"
DEVICES = {BATCH: os.environ["FSQ_X_DEV"], PROCESS: os.environ["FSQ_X2_DEV"]}
NAMES = ["web", "my logs", "a'b", 'c"d', "e\\f", "g\nh", "caf\u00e9", "$HOME", "deep/er", "-o", "*", "#", "mnt"]
WORDS = ["", "0", "1", "42", "1048577", "4294967295", "-1", "1M", "10G", "90%", "web", "volume1048577",
         "--json", "--bogus", "-p", "-u", "--id", "--at", "--name", "bhard=2m", "/run/mnt", "/nowhere", "\u00ff"]

# Quotes and brackets that do not end, what is no string, words that would have to be quoted, a NUL.
NO_REQUESTS = [b'["usage"', b'["usage", "/mnt/x', b"[1]", b'[["usage"]]', b"{}", b"[]", b"usage 'a b'", b'usage "/mnt/x"',
               b"usage /mnt/x\\ y", b'["usage", "\\ud800"]', b'["usage"] x', b"[" * 5000, b"us\0age", b'["usage", null]']


def others(world):
    """The files of a world's registry, as options."""
    return ["--projects-file", f"/run{world}.projects", "--projid-file", f"/run{world}.projid"]


def translate(value):
    """A request or an answer of the batch's world in the words of the other."""
    if isinstance(value, list):
        return [translate(item) for item in value]
    if isinstance(value, dict):
        # What the filesystem leaves differs: they are not as large as each other.
        return {key: None if key == "available_bytes" and item and item > 100 << 20 else translate(item)
                for key, item in value.items()}
    if isinstance(value, str):
        value = value.replace(DEVICES[BATCH], "\0d").replace(BATCH + "/", "\0x/")
        if value.endswith(BATCH):
            value = value[:-len(BATCH)] + "\0x"
        value = value.replace("/run/mnt/x.", "/run/mnt/x2.")
        return value.replace("\0d", DEVICES[PROCESS]).replace("\0x", PROCESS)
    return value


def directory(rng):
    return f"{BATCH}/{rng.choice(NAMES)}"


def request(rng):
    """A request of random words, most of which make sense."""
    files = others(BATCH)
    kind = rng.randrange(100)
    if kind < 30:
        return ["usage", *files, "--"] + [directory(rng) for _ in range(rng.randrange(1, 4))]
    if kind < 38:
        return ["quota", "-p", *files, rng.choice(["42", "1048577", "web", "1048580"]), BATCH]
    if kind < 44:
        return ["list", *files, *rng.choice([[], ["--over", "50"], ["--sort", "-used"]]), BATCH]
    if kind < 48:
        return ["id", "--", directory(rng)]
    if kind < 52:
        return ["report", "-p", *files, BATCH]
    if kind < 56:
        return ["check", *files, BATCH]
    if kind < 60:
        return ["supported", "--", directory(rng)]
    if kind < 64:
        return ["usage", *files, rng.choice(["--name", "--id"]), rng.choice(["web", "42", "1048577"]), "--at", BATCH]
    if kind < 72:
        return ["assign", *files, "--hard", rng.choice(["1M", "10M", "x"]), "--", directory(rng)]
    if kind < 78:
        return ["release", *files, "--", directory(rng)]
    if kind < 82:
        over = rng.choice([[], [], ["--over", "50"]])
        directories = [directory(rng) for _ in range(rng.randrange(1, 3))]
        return ["resize", *files, *over, "--", *directories, rng.choice(["2M", "+1M", "20M"])]
    if kind < 85:
        return ["limit", "-p", *files, rng.choice(["bhard=1m", "bsoft=9m", "ihard=x"]), "42", BATCH]
    if kind < 88:
        return ["lsattr", "-p", "-d", "--", directory(rng)]
    command = rng.choice(["usage", "quota", "list", "limit", "assign", "find", "doctor", "help", "--version", "nonsense", ""])
    return [command] + [rng.choice(WORDS) for _ in range(rng.randrange(4))]


def line_of(words, rng):
    plain = all(word and all(c.isalnum() or c in "/-_=." for c in word) for word in words)
    if plain and rng.randrange(2):
        return " ".join(words)
    return json.dumps(words, ensure_ascii=rng.randrange(2) == 0)


def damage(line, rng):
    """A line that nobody would write."""
    raw = bytearray(line.encode())
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(raw) + 1)
        raw[at:at + rng.randrange(3)] = bytes(rng.choices(range(256), k=rng.randrange(4)))
    return bytes(raw).replace(b"\n", b" ")


def disturb(rng):
    """Somebody else changes something, in both worlds."""
    kind, name, number = rng.randrange(6), rng.choice(NAMES), rng.randrange(40, 50)
    for world in BATCH, PROCESS:
        path = f"{world}/{name}"
        projects, projid = others(world)[1], others(world)[3]
        if kind == 0:
            with open(projects, "a", encoding="utf-8") as file:
                file.write(f"{number}:{world}/extra{number}\n")
        elif kind == 1:
            with open(projid, "w", encoding="utf-8") as file:
                file.write(f"web:{number}\n")
        elif kind == 2 and os.path.isdir(path):
            # Each its own: release waits for files that others have with the same ID.
            subprocess.run(["chattr", "+P", "-p", str(60 + NAMES.index(name)), "--", path],
                           check=False, capture_output=True)
        elif kind == 3:
            for file in projects, projid:
                with open(file, "w", encoding="utf-8"):
                    pass
        elif kind == 4:
            os.makedirs(f"{world}/mnt", exist_ok=True)
            command = ["mount", "-t", "tmpfs", "t", f"{world}/mnt"]
            if os.path.ismount(f"{world}/mnt"):
                command = ["umount", f"{world}/mnt"]
            subprocess.run(command, check=True)
        elif kind == 5 and os.path.isdir(path):
            write_file(f"{path}/file", number)


def write_file(path, pages):
    """As much as the limit lets, on disk."""
    try:
        with open(path, "wb") as file:
            file.write(b"x" * 4096 * pages)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.unlink(path)


def make_worlds():
    for world in BATCH, PROCESS:
        for name in NAMES:
            os.makedirs(f"{world}/{name}", exist_ok=True)
        os.makedirs(os.path.dirname(others(world)[1]), exist_ok=True)
        for file in others(world)[1::2]:
            with open(file, "w", encoding="utf-8"):
                pass


def answer_of_process(words):
    """What batch ought to have answered."""
    done = subprocess.run([FSQUOTA, "--json", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    answer = {"exit": done.returncode}
    messages = [json.loads(line) for line in done.stderr.decode(errors="replace").splitlines()]
    for message in messages:
        if "error" in message:
            answer["error"] = message["error"]
            messages.remove(message)
            break
    if messages:
        answer["messages"] = messages
    text = done.stdout.decode(errors="replace")
    if text.startswith("{"):
        answer.update(json.loads(text))
    elif text:
        answer["output"] = text
    return answer


class Batch:
    def __init__(self, **environment):
        self.process = subprocess.Popen([FSQUOTA, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=os.environ | environment)
        self.number = 0

    def ask_all(self, lines):
        """Many at once."""
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()
        answers = []
        for _ in lines:
            self.number += 1
            answer = json.loads(self.process.stdout.readline().decode(errors="replace"))
            assert answer.pop("request") == self.number and 0 <= answer["exit"] <= 10, answer
            answers.append(answer)
        return answers

    def end(self):
        self.process.stdin.close()
        status = self.process.wait()
        assert status == 0, f"batch ended with {status}"

    def size(self):
        """Memory in KiB, and descriptors."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            data = [line.split()[1] for line in file if line.startswith("VmData")]
        return int(data[0]), len(os.listdir(f"/proc/{self.process.pid}/fd"))


def line_up(rng):
    """Requests that are asked together, as lines and words; words are None where no process could be asked so."""
    lined_up = []
    for _ in range(rng.choice([1, 1, 1, 1, 2, 5, 20])):
        words = request(rng)
        # These have no JSON: it would be one word too many.
        if words[0] in ("help", "--version") or (not words[0] and "help" in words):
            continue
        # What names no world is asked about all, at one moment.
        if not any(BATCH in word for word in words):
            return lined_up or [(line_of(words, rng).encode(), words)]
        lined_up.append((line_of(words, rng).encode(), words))
        if rng.randrange(8) == 0:
            lined_up.append((rng.choice(NO_REQUESTS), None))
    return lined_up


def compare(rng, seed, count):
    batch = Batch()
    compared = 0
    while compared < count:
        if rng.randrange(8) == 0:
            disturb(rng)
        lined_up = line_up(rng)
        for (line, words), ours in zip(lined_up, batch.ask_all([line for line, _ in lined_up])):
            if words is None:
                theirs = {"exit": 2, "error": {**ours.get("error", {}), "code": "usage"}}
            elif any(BATCH in word for word in words):
                ours, theirs = translate(ours), translate(answer_of_process(translate(words)))
            else:
                theirs = answer_of_process(words)
            compared += 1
            if ours != theirs:
                print(f"seed {seed}, request {compared}: {line}\nbatch:   {ours}\nprocess: {theirs}")
                return 1
    batch.end()
    print(f"compared {compared} requests")
    return 0


def alone(rng, count):
    # The heap takes and gives back single pages, not 132 KiB and more at once.
    batch = Batch(MALLOC_TOP_PAD_="0", MALLOC_TRIM_THRESHOLD_="0")
    sizes = []
    for number in range(0, count, 100):
        disturb(rng)
        lines = []
        for _ in range(100):
            words = request(rng)
            while words[0] in ("assign", "release", "list", "check", "report") and rng.randrange(8):
                words = request(rng)
            line = line_of(words, rng)
            # Only what changes nothing: who knows what it says then?
            lines.append(damage(line, rng) if words[0] in ("usage", "id", "quota") and rng.randrange(4) == 0
                         else line.encode())
        batch.ask_all(lines)
        if number % 1000 == 0:
            sizes.append(batch.size())
    open_files = [os.readlink(f"/proc/{batch.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{batch.process.pid}/fd")]
    # What is free between blocks comes and goes: the least of two quarters.
    quarter = len(sizes) // 4
    early, late = min(sizes[2 * quarter:3 * quarter]), min(sizes[3 * quarter:])
    print(f"KiB of data and descriptors: {early}, at the end {late}: {sorted(open_files)}")
    batch.end()
    # If each request left 16 bytes there would be 400.
    return late[0] > early[0] + 64 or late[1] != early[1]


def main():
    seed, count = (int(word) for word in sys.argv[-2:])
    rng = random.Random(seed)
    make_worlds()
    return alone(rng, count) if sys.argv[1] == "--alone" else compare(rng, seed, count)


sys.exit(main())
