# SPDX-License-Identifier: Apache-2.0
"""What tests/bench/all and tests/bench/curve share: the programs, how they are counted, and what stands in the files.

A side is a program: "fsquota" (the shared one of ours), "static" (the static one) and "xfs_quota". The binaries are
$FSQUOTA, or build/src/fsquota; where tools/static has made it, $FSQUOTA_STATIC or build-static/src/fsquota; and
xfs_quota from PATH.
"""
import atexit
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
X = "/mnt/x"
FIRST = 1048577
WORK = pathlib.Path(tempfile.mkdtemp())
ENVIRONMENT = {"PATH": os.environ["PATH"], "TMPDIR": str(WORK)}
# side: its directory, which has links by both names, for both programs
PROGRAMS = {}
NOTHING = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

atexit.register(shutil.rmtree, WORK)


# --- the sides --------------------------------------------------------------------------------------

def find_programs():
    """Fill PROGRAMS with the sides that are there."""
    programs = {"fsquota": os.environ.get("FSQUOTA", TOP / "build/src/fsquota"),
                "static": os.environ.get("FSQUOTA_STATIC", TOP / "build-static/src/fsquota"),
                "xfs_quota": os.environ.get("FSQ_ORACLE") or shutil.which("xfs_quota")}
    for name, path in programs.items():
        if path and pathlib.Path(path).exists():
            (WORK / name).mkdir()
            for link in ("fsquota", "xfs_quota"):
                (WORK / name / link).symlink_to(pathlib.Path(path).resolve())
            PROGRAMS[name] = WORK / name


def native(*words):
    """{side: command}: the same words for both builds of ours."""
    return {side: [str(path / "fsquota"), *words] for side, path in PROGRAMS.items() if side != "xfs_quota"}


def run(command, **options):
    """Run a command, whose output nobody reads, and return what subprocess.run() does."""
    return subprocess.run(command, **NOTHING, env=ENVIRONMENT, check=False, **options)


# --- counting ---------------------------------------------------------------------------------------

def total_of(report):
    """The number of calls in a report of strace -c; 0 if it has none."""
    for line in report.read_text().splitlines():
        if line.endswith(" total"):
            return int(line.split()[0])
    return 0


def counted(*words):
    """
    strace with these words, its report goes to WORK/calls. For a look at the clock only User-Mode Linux is called:
    others have it in the vdso(7).
    """
    return ["strace", "-f", "-c", "-U", "calls,name", "-e", "trace=!clock_gettime", "-o", str(WORK / "calls"), *words]


def calls_of(command):
    """System calls of a command and of its children."""
    run(counted(*command))
    return total_of(WORK / "calls")


def instructions_of(command):
    """
    Instructions of a command and of its children, None if valgrind cannot run it. It does not know openat2(2) and
    some newer calls: what they replace is counted.
    """
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes",
                           *command], capture_output=True, text=True, check=False, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL)
    counts = re.findall(r"Collected : (\d+)", done.stderr)
    return sum(map(int, counts)) or None


def kib_of(process, what):
    """KiB of a running process; @what: VmRSS, what it has, or VmHWM, the most that it had."""
    return int(re.search(rf"{what}:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())[1])


def beside(command, work):
    """Microseconds of CPU and KiB of a command that does not end, from its start until @work is done."""
    child = subprocess.Popen(command, **NOTHING, env=ENVIRONMENT)
    work()
    # The rusage of a child has also what Python had before exec.
    kib = kib_of(child.pid, "VmHWM")
    child.terminate()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime) * 1e6, kib


def calls_beside(command, work):
    """System calls of a command that does not end, from its start until @work is done."""
    # The tracer is a grandchild: the signal is for the command.
    report = WORK / "calls"
    report.unlink(missing_ok=True)
    strace, *words = counted(*command)
    beside([strace, "-D", *words], work)
    while " total" not in (report.read_text() if report.exists() else ""):
        time.sleep(0.01)
    return total_of(report)


# By itself free(3) of glibc keeps up to twice the largest block that was ever freed, and what lies below a small block that
# stays: a look at all directories at the wrong moment looked like a leak. So large blocks go back at once.
HEAP = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4096:glibc.malloc.trim_threshold=4096:glibc.malloc.top_pad=0"}


@contextlib.contextmanager
def staying(command):
    """The process number of a command that does not end, when it has said that it is ready (sd_notify(3))."""
    path = WORK / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(str(path))
        child = subprocess.Popen(command, **NOTHING, env=ENVIRONMENT | HEAP | {"NOTIFY_SOCKET": str(path)})
        try:
            ready.settimeout(1)
            until(lambda: b"READY=1" in received(ready), child)
            yield child.pid
        finally:
            child.terminate()
            child.wait()
            path.unlink()


def received(ready):
    try:
        return ready.recv(4096)
    except TimeoutError:
        return b""


def until(happened, child=None):
    """Wait until @happened() is true, as long as the process is there."""
    while not happened():
        if child and child.poll() is not None:
            sys.exit(f"{' '.join(child.args)}: ended with {child.returncode}")
        time.sleep(0.01)


def is_at_rest(process):
    """Has a process slept for a fifth of a second, without waking up?"""
    def looks():
        text = pathlib.Path(f"/proc/{process}/status").read_text()
        return re.findall(r"ctxt_switches:\s+(\d+)", text), re.search(r"State:\s+(\w)", text)[1]

    before = looks()
    time.sleep(0.2)
    return looks() == before and before[1] == "S"


def calls_while(process, work):
    """System calls of a running process, at rest before and after @work."""
    # A process that watches directories may be told of a new file.
    (WORK / "calls").touch()
    until(lambda: is_at_rest(process))
    with subprocess.Popen(counted("-p", str(process)), **NOTHING | {"stderr": subprocess.PIPE}) as tracer:
        # "Process ... attached"
        tracer.stderr.readline()
        work()
        until(lambda: is_at_rest(process))
        tracer.send_signal(signal.SIGINT)
    return total_of(WORK / "calls")


def memory_of(command):
    """The most KiB of a command."""
    run(["time", "-f", "%M", "-o", str(WORK / "memory"), *command])
    return int((WORK / "memory").read_text().split()[-1])


# --- the world --------------------------------------------------------------------------------------

def ours(*words):
    """Run the shared program; it must succeed."""
    subprocess.run([str(PROGRAMS["fsquota"] / "fsquota"), *words], check=True, stdout=subprocess.DEVNULL)


def set_limits(ids, limit="1m", of="p"):
    """Give each of these projects of X a hard limit, or with "u" each user; "0" takes it off."""
    lines = "".join(f"limit -{of} bhard={limit} {i}\n" for i in ids)
    subprocess.run([str(PROGRAMS["fsquota"] / "xfs_quota"), "-x", X], input=lines, text=True, check=True,
                   stdout=subprocess.DEVNULL)


def write_registry(count):
    """So many lines in /etc/projects and in /etc/projid, of directories below X/many with their IDs as names."""
    with open("/etc/projects", "w") as projects, open("/etc/projid", "w") as projid:
        for i in range(FIRST, FIRST + count):
            projects.write(f"{i}:{X}/many/{i}\n")
            projid.write(f"volume{i}:{i}\n")


def clear_registry():
    for file in ("/etc/projects", "/etc/projid"):
        open(file, "w").close()


# --- the table --------------------------------------------------------------------------------------

def number(value):
    """It in four digits, "-" for None."""
    if value is None:
        return "-"
    for unit in ("", " k", " M"):
        if abs(value) < 10000 or unit == " M":
            return f"{value:.0f}{unit}"
        value /= 1000
    return ""
