# SPDX-License-Identifier: Apache-2.0
"""What the library has no function for: list and watch of the program fsquota, with --jsonl."""
from __future__ import annotations

import io
import json
import logging
import os
import select
import socket
import subprocess
import threading
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, Iterable, Iterator, Optional, Type, TypeVar, Union, cast

from ._errors import FsquotaError, of_program

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

PROGRAM = "fsquota"
_log = logging.getLogger("fsquota")


@dataclass(frozen=True)
class Project:
    """A row of fsquota list, see fsquota-json(5). A limit that is None is no limit."""

    id: int
    name: Optional[str]
    path: Optional[str]
    directories: list[str]
    used_bytes: Optional[int]
    soft_bytes: Optional[int]
    hard_bytes: Optional[int]
    used_inodes: Optional[int]
    soft_inodes: Optional[int]
    hard_inodes: Optional[int]
    percent: Optional[float]
    filesystem: Optional[str]
    mountpoint: Optional[str]
    accounting: bool
    enforced: bool


@dataclass(frozen=True)
class Event:
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
    used_bytes: Optional[int]
    soft_bytes: Optional[int]
    hard_bytes: Optional[int]
    used_inodes: Optional[int]
    soft_inodes: Optional[int]
    hard_inodes: Optional[int]
    percent: Optional[float]
    full_in_seconds: Optional[int]


_Row = TypeVar("_Row", Project, Event)


def _row(kind: Type[_Row], line: bytes) -> _Row:
    # New versions may add keys.
    row = json.loads(line)
    return kind(**{field.name: row[field.name] for field in fields(kind)})


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
            for told in message.values():
                _log.warning("%s%s", told["path"] + ": " if told["path"] else "", told["message"])


def _start(words: list[Union[str, bytes]], paths: tuple[Path, ...], **more: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PROGRAM, *words, "--jsonl", "--", *map(os.fsencode, paths)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def projects(*paths: Path, over: Optional[float] = None) -> list[Project]:
    """The projects whose directories are at or below the paths, or on all filesystems with quota.

    This runs the program, `fsquota list --jsonl`: the library has no function for it. Bytes of a path or name that are
    not UTF-8 are U+FFFD.

    over  only what uses so many percent of its limit, or more
    """
    process = _start(["list", *([] if over is None else ["--over", str(over)])], paths)
    out, err = process.communicate()
    messages = _Messages()
    messages.read(err.splitlines())
    if messages.error is not None:
        raise messages.error
    if process.returncode:
        raise FsquotaError(f"fsquota list ended with {process.returncode}")
    return [_row(Project, line) for line in out.splitlines()]


class Watch(Iterator[Event]):
    """The events that fsquota watch prints. close(), the end of "with", or of the object ends its process."""

    def __init__(self, words: list[Union[str, bytes]], paths: tuple[Path, ...]) -> None:
        self._messages = _Messages()
        # It watches when it says so, as a service does.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ready:
            ready.bind("")
            address = "@" + ready.getsockname()[1:].decode()
            self._process = _start(["watch", *words], paths, env={**os.environ, "NOTIFY_SOCKET": address})
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
        return _row(Event, line)

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
