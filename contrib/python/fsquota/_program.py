# SPDX-License-Identifier: Apache-2.0
"""The program fsquota: batch, which answers requests, and watch; and what they answer."""
from __future__ import annotations

import atexit
import contextlib
import io
import json
import logging
import os
import re
import select
import socket
import subprocess
import threading
from dataclasses import dataclass, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Type, Union, cast

from ._errors import FsquotaError, UsageError, of_program

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Word = Union[str, bytes]

PROGRAM = "fsquota"
_log = logging.getLogger("fsquota")


def path_word(path: Path) -> bytes:
    """The process keeps the working directory in which it was started."""
    word = os.fsencode(path)
    return os.path.join(os.getcwdb(), word) if word else word


# --- batch --------------------------------------------------------------------------------------------------------


def _caller() -> tuple[int, int, int]:
    return os.getpid(), os.geteuid(), os.getegid()


def _run(words: list[Word], **more: Any) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, **more)
    except OSError as error:
        # Not a FileNotFoundError: that is one of a directory.
        raise FsquotaError(f"cannot run {PROGRAM}", errno=error.errno or 0) from error


class _Batch:
    """A process that answers one request at a time."""

    def __init__(self) -> None:
        self.caller = _caller()
        # A terminal's Ctrl-C is for the caller.
        self.process = _run(["batch"], stdin=subprocess.PIPE, start_new_session=True)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout

    def ask(self, line: bytes) -> bytes:
        self.requests.write(line)
        self.requests.flush()
        answer = self.answers.readline()
        if not answer.endswith(b"\n"):
            raise EOFError
        return answer

    def is_usable(self) -> bool:
        """Not after a fork, nor with the privileges of before; and it has not ended."""
        return self.caller == _caller() and self.process.poll() is None

    def close(self) -> None:
        for pipe in (self.requests, self.answers):
            with contextlib.suppress(OSError):
                pipe.close()
        self.process.wait()

    def cancel(self) -> None:
        """End the process, which undoes the change that it is at, and wait for that."""
        self.process.terminate()
        with contextlib.suppress(OSError):
            self.requests.close()
        self.answers.read()
        self.close()


_idle: list[_Batch] = []


def _close_idle() -> None:
    with contextlib.suppress(IndexError):
        while True:
            _idle.pop().close()


atexit.register(_close_idle)
# The process of the parent would wait for the child to end, too.
os.register_at_fork(after_in_child=_close_idle)


def _start() -> _Batch:
    with contextlib.suppress(IndexError):
        while True:
            batch = _idle.pop()
            if batch.is_usable():
                return batch
            batch.close()
    return _Batch()


def _encode(words: Iterable[Word]) -> bytes:
    """As JSON, but with the bytes of a path as they are: json.dumps() takes only UTF-8."""
    quoted = []
    for word in map(os.fsencode, words):
        if b"\0" in word:
            raise UsageError("there is a NUL in a word", os.fsdecode(word))
        quoted.append(b'"%s"' % re.sub(rb'[\x00-\x1f"\\]', lambda found: b"\\u%04x" % found[0][0], word))
    return b"[%s]\n" % b",".join(quoted)


def ask(*words: Word, reads: bool = False) -> Any:
    """The rows of the answer.

    An exception, such as that of Ctrl-C, undoes a change that is not done.

    reads  it changes nothing, and can be asked again if the process dies
    """
    line = _encode(words)
    for last in (False, True):
        batch = _start()
        try:
            answer = json.loads(batch.ask(line))
        except (BrokenPipeError, EOFError) as error:
            batch.cancel()
            # A broken pipe has taken nothing, or not all.
            if not last and (reads or isinstance(error, BrokenPipeError)):
                continue
            raise FsquotaError(
                f"{PROGRAM} batch ended before it answered" + ("" if reads else ": it is not known whether it was done")
            ) from error
        except BaseException:
            batch.cancel()
            raise
        _idle.append(batch)
        for message in answer.get("messages", ()):
            _tell(message)
        if "error" in answer:
            raise of_program(answer["error"])
        return answer[os.fsdecode(words[0])]
    raise AssertionError


def _tell(message: dict[str, Any]) -> None:
    for told in message.values():
        _log.warning("%s%s", told["path"] + ": " if told["path"] else "", told["message"])


# --- rows ---------------------------------------------------------------------------------------------------------


class Row:
    # Hidden from who checks types: to them every name would be there.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            row = type(self)
            names = [field.name for field in fields(row)]
            words = f"{row.__name__!r} object has no attribute {name!r}: it has {', '.join(names)}"
            raise AttributeError(words + ("; its limits are limits.hard and so on" if "limits" in names else ""))


@dataclass(frozen=True)
class Limits(Row):
    """Of a project: space in bytes, and how many files and directories. None: no limit.

    The fields have the names of the arguments of assign() and resize(), which also take a whole Limits.
    """

    hard: Optional[int] = None
    soft: Optional[int] = None
    hard_inodes: Optional[int] = None
    soft_inodes: Optional[int] = None


def limits_of(row: dict[str, Any]) -> Limits:
    return Limits(row["hard_bytes"], row["soft_bytes"], row["hard_inodes"], row["soft_inodes"])


@dataclass(frozen=True)
class Project(Row):
    """A project, as assign(), resize(), usage() and projects() answer; fsquota-json(5) describes the keys."""

    id: int  # 0: no project
    name: Optional[str]
    path: Optional[str]
    directories: list[str]
    limits: Limits
    used_bytes: Optional[int]
    used_inodes: Optional[int]
    available_bytes: Optional[int]  # None: not known
    percent: Optional[float]
    bytes_grace_seconds: Optional[int]  # what is left above a soft limit; None: it is not running
    inodes_grace_seconds: Optional[int]
    source: Optional[str]  # "quota", "walk" or "statfs"
    used_at_least: bool  # the use can be higher
    limit_bytes: Optional[int]  # of source "statfs": soft or hard
    limit_inodes: Optional[int]
    filesystem: Optional[str]  # the device
    mountpoint: Optional[str]
    accounting: bool
    enforced: bool  # False: the limits stop nobody
    in_force: Optional[str]  # "yes", "not-enforced", "not-inherited", "other-id" or "gone"; None: not known
    until: Optional[str]  # when the limits go back that resize() has set for a while, as fsquota-json(5) has times
    changed: Optional[bool]  # by assign() or resize(), or in a dry run it would be


def project_of(row: dict[str, Any]) -> Project:
    # New versions may add keys; some rows leave some out.
    known: dict[str, Any] = {field.name: row.get(field.name) for field in fields(Project)}
    known["limits"] = limits_of(row)
    known["directories"] = row.get("directories", [])
    known["used_at_least"] = bool(row.get("used_at_least"))
    known["changed"] = row.get("changed", row.get("would_change"))
    return Project(**known)


@dataclass(frozen=True)
class Event(Row):
    """An event of fsquota watch, see fsquota-watch(8)."""

    time: str
    event: str  # "hard-reached", "below-hard" ...
    limit: str  # "space" or "inodes"
    id: int
    name: Optional[str]
    directories: list[str]
    filesystem: Optional[str]
    mountpoint: Optional[str]
    source: str  # "kernel" or "poll"
    uid: Optional[int]
    count: int
    limits: Limits
    used_bytes: Optional[int]
    used_inodes: Optional[int]
    percent: Optional[float]
    full_in_seconds: Optional[int]


def _event_of(line: bytes) -> Event:
    row = json.loads(line)
    row["limits"] = limits_of(row)
    return Event(**{field.name: row[field.name] for field in fields(Event)})


# --- watch --------------------------------------------------------------------------------------------------------


class _Messages:
    """Standard error of the program: the first error is kept, the others and warnings go to the logger "fsquota"."""

    def __init__(self) -> None:
        self.error: Optional[FsquotaError] = None

    def read(self, stream: Iterable[bytes]) -> None:
        for line in stream:
            try:
                message = json.loads(line)
            except ValueError:
                message = {"warning": {"message": line.decode(errors="replace").rstrip(), "path": None}}
            if "error" in message and self.error is None:
                self.error = of_program(message["error"])
                continue
            _tell(message)


class Watch(Iterator[Event]):
    """The events that fsquota watch prints. close(), the end of "with", or of the object ends its process."""

    def __init__(self, words: list[Union[str, bytes]], paths: tuple[Path, ...]) -> None:
        self._messages = _Messages()
        # It watches when it says so, as a service does.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ready:
            ready.bind("")
            address = "@" + ready.getsockname()[1:].decode()
            self._process = _run(
                ["watch", *words, "--jsonl", "--", *map(os.fsencode, paths)],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "NOTIFY_SOCKET": address},
            )
            assert self._process.stdout is not None and self._process.stderr is not None
            self._events = cast(io.BufferedReader, self._process.stdout)
            self._reader = threading.Thread(
                target=self._messages.read, args=(self._process.stderr,), daemon=True
            )
            self._reader.start()
            try:
                # Its output is readable, too, when it has ended.
                if ready not in select.select([ready, self._events], [], [])[0] and not self._events.peek(1):
                    self._end()
            except BaseException:
                self.close()
                raise

    def __next__(self) -> Event:
        if self._events.closed:
            raise StopIteration
        line = self._events.readline()
        if not line:
            self._end()
            raise StopIteration
        return _event_of(line)

    def _end(self) -> None:
        status = self._process.wait()
        self.close()
        if status:
            raise self._messages.error or FsquotaError(f"fsquota watch ended with {status}")

    def close(self) -> None:
        """End the process. There is no event after that."""
        self._process.terminate()
        if not self._events.closed:
            # It prints what it has gathered.
            self._events.read()
            self._events.close()
        self._process.wait()
        self._reader.join()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], where: Optional[TracebackType]
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_reader"):
            self.close()


def watch(
    *paths: Path,
    over: Optional[float] = None,
    full_within: Optional[str] = None,
    interval: Optional[int] = None,
    initial: bool = False,
    count: Optional[int] = None,
) -> Watch:
    """Iterate over what reaches a limit on the filesystems of the paths, or on all, and what is below again.

    This runs the program, `fsquota watch --jsonl`: the library has no function for it. When watch() returns, it
    watches: no later event is lost. Close the iterator, or use it in "with", and the process ends.

    over         tell, too, when so many percent of a limit are used
    full_within  tell, too, who will be full in this time, such as "4h"
    interval     seconds between polls
    initial      begin with what is at a limit already
    count        end after so many events
    """
    words: list[Union[str, bytes]] = ["--initial"] if initial else []
    for option, value in (("--over", over), ("--full-within", full_within), ("--interval", interval), ("--count", count)):
        if value is not None:
            words.append(f"{option}={value}")
    return Watch(words, paths)
