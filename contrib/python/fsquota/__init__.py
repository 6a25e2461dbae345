# SPDX-License-Identifier: Apache-2.0
"""Project quotas of directories on XFS, ext4 and f2fs.

    import fsquota

    fsquota.assign("/srv/web", hard="10G")
    print(fsquota.usage("/srv/web").used_bytes)
    fsquota.resize("/srv/web", "+5G")
    fsquota.release("/srv/web")

assign(), release(), resize() and usage() call libfsquota.so.0; they read no fsquota.conf(5), so its budgets and
ranges of IDs do not count, and they write nothing to the journal. projects() and watch() run the program fsquota.

Sizes are bytes, or strings such as "500M" and "1.5G". While a call waits or walks, handlers of signals run; one that
raises, as that of Ctrl-C does, ends the call, which then undoes its changes.
"""
from __future__ import annotations

import os
import threading
from ctypes import byref, c_uint32, c_uint64, c_void_p, pointer, sizeof
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from . import _library as lib
from ._errors import (
    ConflictError,
    FsquotaError,
    NotFoundError,
    NotSupportedError,
    PartialError,
    PermissionDenied,
    UsageError,
    of_library,
)
from ._program import Event, Project, Watch, projects, watch

__all__ = [
    "Assignment", "ConflictError", "Event", "FsquotaError", "Limits", "NotFoundError", "NotSupportedError",
    "PartialError", "PermissionDenied", "Project", "Registry", "Released", "Resized", "Usage", "UsageError", "Watch",
    "assign", "projects", "release", "resize", "usage", "watch",
]  # fmt: skip

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Size = Union[int, str]


@dataclass(frozen=True)
class Registry:
    """The files in which projects are registered, instead of those of /etc."""

    projects_file: Path = "/etc/projects"
    projid_file: Path = "/etc/projid"
    register: bool = True  # False: only read them
    lock_seconds: int = lib.FSQ_LOCK_SECONDS  # wait for each lock so long at most


@dataclass(frozen=True)
class Limits:
    """None: no limit."""

    soft_bytes: Optional[int]
    hard_bytes: Optional[int]
    soft_inodes: Optional[int]
    hard_inodes: Optional[int]


@dataclass(frozen=True)
class Assignment:
    id: int
    change: str  # "created", "changed" or "unchanged"
    before: Limits
    after: Limits
    enforced: bool  # False: the limits stop nobody, or only root can write there and root passes them


@dataclass(frozen=True)
class Released:
    id: int
    limits: Optional[Limits]  # that were taken away
    lines: int  # that were removed from the files
    untagged: int  # files and directories that had the ID
    left_inodes: int  # that still have it: deleted but open, or elsewhere


@dataclass(frozen=True)
class Resized:
    id: int
    changed: bool
    before: Limits
    after: Limits
    used_bytes: int
    used_inodes: int


@dataclass(frozen=True)
class Usage:
    source: str  # "quota", "walk" or "statfs"
    id: int  # 0: no project
    used_bytes: Optional[int]  # None: not known
    used_inodes: Optional[int]
    limits: Limits
    accounting: bool
    enforced: bool
    at_least: bool  # as statfs(2) shows it: use and limits can be higher
    filesystem: str  # the device
    mountpoint: str
    bytes_expires: Optional[int]  # when the grace time ends, in seconds since 1970; None: it is not running
    inodes_expires: Optional[int]
    in_force: Optional[str]  # "yes", "not-enforced", "not-inherited" or "other-id"; None: not known
    carried_id: int  # the directory's own, which other-id says is another one


# --- from Python to C -------------------------------------------------------------------------------------------


def _text(value: Path) -> bytes:
    text = os.fsencode(value)
    if b"\0" in text:
        raise UsageError("there is a NUL in the name", os.fsdecode(text))
    return text


def _number(parse: Any, value: Size, what: str, number: Any = None) -> Any:
    """The library's parsers check what Python would cut to 64 or 32 bits without a word."""
    text = str(value).encode(errors="replace")
    number = c_uint64() if number is None else number
    if b"\0" in text or parse(text, byref(number)):
        raise UsageError(f'"{value}" is no {what}')
    return number.value


def _bytes(value: Size) -> int:
    return int(_number(lib.library.fsq_parse_bytes, value, "size, such as 500M or 10G"))


def _percent(value: Optional[Size], most: int = 100) -> int:
    """0: it is none."""
    if not isinstance(value, str) or not value.endswith("%"):
        return 0
    number = int(_number(lib.library.fsq_parse_positive, value[:-1], "percentage"))
    if number > most:
        raise UsageError(f'"{value}" is more than {most}%')
    return number


def _project_id(value: int) -> int:
    return int(_number(lib.library.fsq_parse_id, value, "project ID", c_uint32()))


def _set_limit(limits: lib.fsq_limits, form: int, hard: bool, value: Optional[Size]) -> None:
    if value is None:
        return
    if value == "none":
        number = 0
    elif form == lib.FSQ_INODES:
        number = int(_number(lib.library.fsq_parse_positive, value, "number of inodes"))
    else:
        number = int(lib.library.fsq_limit_blocks_up(_bytes(value)))
    (limits.hard if hard else limits.soft)[form] = number
    limits.mask |= (2 if hard else 1) << (2 * form)


def _registry(registry: Optional[Registry]) -> Any:
    if registry is None:
        return None
    return pointer(
        lib.fsq_registry(
            size=sizeof(lib.fsq_registry),
            projects_file=_text(registry.projects_file),
            projid_file=_text(registry.projid_file),
            none=not registry.register,
            lock_seconds=max(0, min(registry.lock_seconds, 2**31 - 1)),
        )
    )


def _call(function: Callable[..., int], *arguments: Any) -> None:
    error = lib.fsq_error()
    if function(*arguments, byref(error)):
        raise of_library(error)


def _call_and_wait(function: Callable[..., int], request: Any, *arguments: Any) -> None:
    """A call that can take long. Python runs handlers of signals in the main thread only, which must not be in C."""
    if threading.current_thread() is not threading.main_thread():
        return _call(function, *arguments)
    ended, cancelled = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            _call(function, *arguments)
        except BaseException as error:
            failures.append(error)
        finally:
            ended.set()

    is_cancelled = lib.is_cancelled(lambda _: cancelled.is_set())
    options = lib.fsq_call_options(size=sizeof(lib.fsq_call_options), is_cancelled=is_cancelled)
    request.options = pointer(options)
    worker = threading.Thread(target=work, daemon=True)
    try:
        worker.start()
        ended.wait()
    except BaseException:
        cancelled.set()
        if worker.ident is not None:
            ended.wait()
        raise
    if failures:
        raise failures[0]


# --- from C to Python -------------------------------------------------------------------------------------------


def _space(blocks: int) -> Optional[int]:
    return None if lib.library.fsq_limit_is_none(blocks) else int(lib.library.fsq_limit_bytes(blocks))


def _limits(limits: lib.fsq_limits) -> Limits:
    return Limits(
        _space(limits.soft[lib.FSQ_BLOCKS]),
        _space(limits.hard[lib.FSQ_BLOCKS]),
        limits.soft[lib.FSQ_INODES] or None,
        limits.hard[lib.FSQ_INODES] or None,
    )


def _known(number: int) -> Optional[int]:
    return None if number == lib.FSQ_NOT_KNOWN else number


# --- the functions ----------------------------------------------------------------------------------------------


def assign(
    directory: Path,
    *,
    hard: Optional[Size] = None,
    soft: Optional[Size] = None,
    hard_inodes: Optional[Size] = None,
    soft_inodes: Optional[Size] = None,
    name: Optional[str] = None,
    id: Optional[int] = None,
    id_range: tuple[int, int] = (0, 0),
    mkdir: bool = False,
    mode: int = 0o755,
    owner: int = 0,
    group: int = 0,
    require_enforced: bool = False,
    keep_limits: bool = False,
    around: bool = False,
    dry_run: bool = False,
    registry: Optional[Registry] = None,
) -> Assignment:
    """Put a quota on a directory: all or nothing. See fsquota-assign(8).

    On a directory that has one, only the limits that are given change; "none" takes a limit away. hard="10%" is
    a part of the filesystem, soft="80%" of the hard limit.

    id, id_range  insist on this project ID, or choose one from FIRST to LAST
    name          join this project, or create it
    mkdir         create the directory if needed, with mode, owner and group
    keep_limits   only register the project that the directory carries
    around        leave registered directories in it to their projects
    """
    request = lib.fsq_assign_request(
        size=sizeof(lib.fsq_assign_request),
        directory=_text(directory),
        id=0 if id is None else _project_id(id),
        name=None if name is None else _text(name),
        require_enforced=require_enforced,
        keep_limits=keep_limits,
        around=around,
        dry_run=dry_run,
        make=mkdir,
        registry=_registry(registry),
    )
    if id == 0:
        raise UsageError('"0" is no project ID')
    request.range = lib.fsq_id_range(*map(_project_id, id_range))
    if mkdir:
        request.mode, request.owner, request.group = mode, _project_id(owner), _project_id(group)
    request.hard_percent, request.soft_percent = _percent(hard), _percent(soft)
    _set_limit(request.limits, lib.FSQ_BLOCKS, True, None if request.hard_percent else hard)
    _set_limit(request.limits, lib.FSQ_BLOCKS, False, None if request.soft_percent else soft)
    _set_limit(request.limits, lib.FSQ_INODES, True, hard_inodes)
    _set_limit(request.limits, lib.FSQ_INODES, False, soft_inodes)
    assignment, before, after = c_void_p(), lib.fsq_limits(), lib.fsq_limits()
    try:
        _call_and_wait(lib.library.fsq_assign, request, byref(assignment), byref(request))
        lib.library.fsq_assignment_limits(assignment, byref(before), byref(after))
        return Assignment(
            id=lib.library.fsq_assignment_id(assignment),
            change=("unchanged", "changed", "created")[lib.library.fsq_assignment_change(assignment)],
            before=_limits(before),
            after=_limits(after),
            enforced=lib.library.fsq_assignment_enforcement(assignment) == lib.FSQ_ENFORCED,
        )
    except BaseException:
        if assignment:
            lib.library.fsq_assignment_rollback(assignment, None)
        raise
    finally:
        lib.library.fsq_assignment_free(assignment)


def release(
    directory: Path,
    *,
    id: int = 0,
    keep_tags: bool = False,
    dry_run: bool = False,
    registry: Optional[Registry] = None,
) -> Released:
    """Take the quota off a directory: all or nothing. See fsquota-release(8).

    PartialError: files that others move about keep the ID, and the quota stays; release it again.

    id         the ID that the directory carries is its own
    keep_tags  leave the ID on the files: the directory is about to be deleted
    """
    released = lib.fsq_released()
    request = lib.fsq_release_request(
        size=sizeof(lib.fsq_release_request),
        directory=_text(directory),
        id=_project_id(id),
        keep_tags=keep_tags,
        dry_run=dry_run,
        registry=_registry(registry),
    )
    _call_and_wait(lib.library.fsq_release, request, byref(request), byref(released))
    return Released(
        id=released.id,
        limits=_limits(released.limits) if released.limits_off else None,
        lines=released.lines,
        untagged=released.untagged,
        left_inodes=released.left_inodes,
    )


def resize(
    directory: Path,
    size: Optional[Size] = None,
    *,
    soft: Optional[Size] = None,
    hard_inodes: Optional[Size] = None,
    soft_inodes: Optional[Size] = None,
    allow_shrink: bool = False,
    dry_run: bool = False,
    id: int = 0,
    registry: Optional[Registry] = None,
) -> Resized:
    """Change the limits of the project that a directory belongs to. See fsquota-resize(8).

    size          the new hard limit; "+5G" and "+20%" add to it, "none" takes it away
    allow_shrink  let it become smaller, but never below what is in use
    """
    resized = lib.fsq_resized()
    request = lib.fsq_resize_request(
        size=sizeof(lib.fsq_resize_request),
        directory=_text(directory),
        allow_shrink=allow_shrink,
        dry_run=dry_run,
        id=_project_id(id),
        no_hard=size == "none",
        registry=_registry(registry),
    )
    if isinstance(size, str) and size.startswith("+") and size.endswith("%"):
        request.percent = _percent(size[1:], 10000)
    elif size is not None and size != "none":
        request.relative = isinstance(size, str) and size.startswith("+")
        request.bytes = _bytes(size[1:] if isinstance(size, str) and request.relative else size)
    _set_limit(request.limits, lib.FSQ_BLOCKS, False, soft)
    _set_limit(request.limits, lib.FSQ_INODES, True, hard_inodes)
    _set_limit(request.limits, lib.FSQ_INODES, False, soft_inodes)
    _call_and_wait(lib.library.fsq_resize, request, byref(request), byref(resized))
    return Resized(
        id=resized.id,
        changed=resized.changed,
        before=_limits(resized.before),
        after=_limits(resized.after),
        used_bytes=resized.used[lib.FSQ_BLOCKS] * lib.FSQ_BASIC_BLOCK,
        used_inodes=resized.used[lib.FSQ_INODES],
    )


def usage(directory: Path, *, walk: bool = False, projects_file: Path = "/etc/projects") -> Usage:
    """Find out how much is used below a file or directory, in constant time. See fsquota-usage(8).

    walk  where there is no quota, count the files as du(1) does
    """
    found = lib.fsq_usage()
    request = lib.fsq_usage_request(
        size=sizeof(lib.fsq_usage_request), path=_text(directory), projects_file=_text(projects_file), walk=walk
    )
    try:
        if walk:
            _call_and_wait(lib.library.fsq_usage_get, request, byref(found), byref(request))
        else:
            _call(lib.library.fsq_usage_get, byref(found), byref(request))
        return Usage(
            source=("quota", "walk", "statfs")[found.source],
            id=found.id,
            used_bytes=_known(found.used_bytes),
            used_inodes=_known(found.used_inodes),
            limits=Limits(
                found.soft_bytes or None, found.hard_bytes or None, found.soft_inodes or None, found.hard_inodes or None
            ),
            accounting=found.accounting,
            enforced=found.enforced,
            at_least=found.at_least,
            filesystem=os.fsdecode(found.device or b""),
            mountpoint=os.fsdecode(found.mountpoint or b""),
            bytes_expires=found.bytes_expires or None,
            inodes_expires=found.inodes_expires or None,
            in_force=(None, "yes", "not-enforced", "not-inherited", "other-id")[found.in_force],
            carried_id=found.carried_id,
        )
    finally:
        lib.library.fsq_usage_clear(byref(found))
