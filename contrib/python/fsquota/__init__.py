# SPDX-License-Identifier: Apache-2.0
"""Project quotas of directories on XFS, ext4 and f2fs.

    import fsquota

    fsquota.assign("/srv/web", hard="10G")
    print(fsquota.usage("/srv/web").used_bytes)
    fsquota.resize("/srv/web", "+5G")
    fsquota.release("/srv/web")

The functions ask the program, and it obeys fsquota.conf(5): budgets, the range of IDs and the journal. A process of
"fsquota batch" stays and answers one request after the other; threads that ask at the same time have one each.

Sizes are bytes, or strings such as "500M" and "1.5G". A call undoes its changes if a signal handler
raises, as that of Ctrl-C does.
"""
from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from ._errors import (
    ConflictError,
    FsquotaError,
    MissingPathError,
    NotFoundError,
    NotSupportedError,
    PartialError,
    PermissionDenied,
    UsageError,
)
from ._program import Event, Limits, Path, Project, Row, Watch, Word, ask, limits_of, path_word, project_of, watch

__version__ = "0.3.0"

__all__ = [
    "ConflictError", "Event", "FsquotaError", "Limits", "MissingPathError", "NotFoundError", "NotSupportedError",
    "PartialError", "PermissionDenied", "Project", "Registry", "Released", "UsageError", "Watch", "__version__",
    "assign", "projects", "release", "resize", "usage", "watch",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])
Size = Union[int, str]
Owner = Union[int, str]


@dataclass(frozen=True)
class Registry:
    """The files in which projects are registered. None: as fsquota.conf(5) says, or those of /etc."""

    projects_file: Optional[Path] = None
    projid_file: Optional[Path] = None
    register: bool = True  # False: assign() and release() only read them
    lock_seconds: Optional[int] = None  # wait for the locks so long at most


@dataclass(frozen=True)
class Released(Row):
    id: Optional[int]
    name: Optional[str]
    changed: Optional[bool]  # or in a dry run, it would be
    before: Optional[Limits]  # that were taken away
    lines: Optional[int]  # that were removed from the files
    changed_files: Optional[int]  # files and directories that had the ID
    left_inodes: Optional[int]  # that still have it: deleted but open, or elsewhere


# --- words ------------------------------------------------------------------------------------------------------


def _option(name: str, value: Any) -> list[Word]:
    return [] if value is None else [f"--{name}={value}"]


def _file(name: str, path: Optional[Path]) -> list[Word]:
    return [] if path is None else [f"--{name}=".encode() + path_word(path)]


def _flags(**given: bool) -> list[Word]:
    return ["--" + name.replace("_", "-") for name, value in given.items() if value]


def _limits(limits: Optional[Limits], **given: Optional[Size]) -> list[Word]:
    """@limits stands for all four: None in it is no limit. Of @given None is not mentioned."""
    if limits is not None:
        if any(value is not None for value in given.values()):
            raise UsageError("limits stands for all of them: give no other limit")
        given = {field.name: getattr(limits, field.name) for field in fields(limits)}
        given = {name: "none" if value is None else value for name, value in given.items()}
    return [word for name, value in given.items() for word in _option(name.replace("_", "-"), value)]


def _owner(owner: Optional[Owner], group: Optional[Owner]) -> list[Word]:
    if group is None:
        return _option("owner", owner)
    if isinstance(owner, str) and ":" in owner:
        raise UsageError("the group is given twice")
    return [f"--owner={'' if owner is None else owner}:{group}"]


def _registry(registry: Optional[Registry], registers: bool = True) -> list[Word]:
    if registry is None:
        return []
    if not isinstance(registry, Registry):
        raise TypeError("registry is a Registry, such as Registry(register=False), not " + repr(registry))
    return [
        *_file("projects-file", registry.projects_file),
        *_file("projid-file", registry.projid_file),
        *_option("lock-timeout", registry.lock_seconds),
        *_flags(no_register=registers and not registry.register),
    ]


def _told(function: Function) -> Function:
    """Say of an argument that the function does not have which it has."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in given.keys() - known.keys():
            meant = "; the hard limit is hard" if "hard" in known else ""
            if "registry" in known:
                meant += "; for locks and files, registry=Registry(lock_seconds=5, register=False)"
            raise TypeError(f"{function.__name__}() has no argument {name!r}: it has {', '.join(known)}{meant}")
        return function(*args, **given)

    return call  # type: ignore[return-value]


# --- the functions ----------------------------------------------------------------------------------------------


@_told
def assign(
    directory: Path,
    hard: Optional[Size] = None,
    *,
    soft: Optional[Size] = None,
    hard_inodes: Optional[Size] = None,
    soft_inodes: Optional[Size] = None,
    limits: Optional[Limits] = None,
    name: Optional[str] = None,
    id: Optional[int] = None,
    id_range: Optional[tuple[int, int]] = None,
    mkdir: bool = False,
    mode: Optional[int] = None,
    owner: Optional[Owner] = None,
    group: Optional[Owner] = None,
    require_enforced: bool = False,
    keep_limits: bool = False,
    around: bool = False,
    force: bool = False,
    dry_run: bool = False,
    registry: Optional[Registry] = None,
) -> Project:
    """Put a quota on a directory: all or nothing. See fsquota-assign(8).

    On a directory that has one, only the limits that are given change; "none" takes a limit away. hard="10%" is
    a part of the filesystem, soft="80%" of the hard limit.

    limits        all four limits, as answers have them: None in it is no limit
    id, id_range  insist on this project ID, or choose one from FIRST to LAST; otherwise fsquota.conf(5) has the range
    name          join this project, or create it
    mkdir         create the directory if needed, with mode, and for owner and group: names or numbers. An owner can be
                  "USER:GROUP", too
    keep_limits   only register the project that the directory carries
    around        leave registered directories in it to their projects
    force         also where the limit does not fit in a budget of fsquota.conf(5)
    """
    return project_of(
        ask(
            "assign",
            *_limits(limits, hard=hard, soft=soft, hard_inodes=hard_inodes, soft_inodes=soft_inodes),
            *_option("name", name),
            *_option("id", id),
            *([] if id_range is None else _option("id-range", "-".join(map(str, id_range)))),
            *([] if mode is None else _option("mode", f"{mode:o}")),
            *_owner(owner, group),
            *_flags(mkdir=mkdir, require_enforced=require_enforced, keep_limits=keep_limits),
            *_flags(around=around, force=force, dry_run=dry_run),
            *_registry(registry),
            "--",
            path_word(directory),
        )[0]
    )


@_told
def release(
    directory: Path,
    *,
    id: Optional[int] = None,
    keep_tags: bool = False,
    dry_run: bool = False,
    registry: Optional[Registry] = None,
) -> Released:
    """Take the quota off a directory: all or nothing. See fsquota-release(8).

    PartialError: files that others move about keep the ID, and the quota stays; release it again.

    id         the ID that the directory carries is its own
    keep_tags  leave the ID on the files: the directory is about to be deleted
    """
    flags = _flags(keep_tags=keep_tags, dry_run=dry_run)
    row = ask("release", *_option("id", id), *flags, *_registry(registry), "--", path_word(directory))[0]
    return Released(
        id=row["id"],
        name=row["name"],
        changed=row.get("changed", row.get("would_change")),
        before=None if row["before"] is None else limits_of(row["before"]),
        lines=row["lines"],
        changed_files=row["changed_files"],
        left_inodes=row["left_inodes"],
    )


@_told
def resize(
    directory: Path,
    hard: Optional[Size] = None,
    *,
    soft: Optional[Size] = None,
    hard_inodes: Optional[Size] = None,
    soft_inodes: Optional[Size] = None,
    limits: Optional[Limits] = None,
    until: Optional[str] = None,
    allow_shrink: bool = False,
    force: bool = False,
    dry_run: bool = False,
    id: Optional[int] = None,
    registry: Optional[Registry] = None,
) -> Project:
    """Change the limits of the project that a directory belongs to. See fsquota-resize(8).

    hard          the new hard limit; "+5G" and "+20%" add to it, "none" takes it away
    limits        all four limits, as answers have them: None in it is no limit
    until         when the limits go back: from now on, "3d", or a time, "monday 8:00"
    allow_shrink  let it become smaller, but never below what is in use
    force         also where the limit does not fit in a budget of fsquota.conf(5)
    """
    words = _limits(limits, hard=hard, soft=soft, hard_inodes=hard_inodes, soft_inodes=soft_inodes)
    if not words:
        raise UsageError('no limit is given: hard="none" takes it away')
    return project_of(
        ask(
            "resize",
            *words,
            *_option("until", until),
            *_flags(allow_shrink=allow_shrink, force=force, dry_run=dry_run),
            *_option("id", id),
            *_registry(registry, registers=False),
            "--",
            path_word(directory),
        )[0]
    )


@_told
def usage(directory: Path, *, walk: bool = False, projects_file: Optional[Path] = None) -> Project:
    """Find out how much is used below a file or directory, in constant time. See fsquota-usage(8).

    walk  where there is no quota, count the files as du(1) does
    """
    options = [*_file("projects-file", projects_file), *(["--fallback=walk"] if walk else [])]
    return project_of(ask("usage", *options, "--", path_word(directory), reads=True)[0])


@_told
def projects(*paths: Path, over: Optional[float] = None) -> list[Project]:
    """The projects whose directories are at or below the paths, or on all filesystems with quota.

    Bytes of a path or name that are not UTF-8 are U+FFFD.

    over  only what uses so many percent of its limit, or more
    """
    return [project_of(row) for row in ask("list", *_option("over", over), "--", *map(path_word, paths), reads=True)]


_PROGRAM_HAS = (
    "apply batch check disable doctor dump enable explain export find id lsattr metrics move oci_hook project prune "
    "quota restore schema setup state supported timer top"
).split()


# Hidden from who checks types: to them every name would be there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        words = f"module {__name__!r} has no attribute {name!r}"
        if name.endswith(("Error", "Exception")):
            words += ": FsquotaError is the base of all errors"
        elif name in ("list", "report", "df"):
            words += ": projects() lists what there is"
        elif name in ("add", "create", "limit", "quota", "set", "set_limit", "set_quota"):
            words += ": assign(directory, hard) gives a directory a limit, resize() another one"
        elif name in ("Client", "Connection", "Fsquota", "connect", "open"):
            words += ": call assign(), usage() and the others, which share one process; fsquota batch --read-only only looks"
        elif name in _PROGRAM_HAS:
            words += f": the program has it, for subprocess.run(): fsquota {name}"
        else:
            words += f": it has {', '.join(__all__)}"
        raise AttributeError(words)
