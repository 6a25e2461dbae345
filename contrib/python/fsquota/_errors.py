# SPDX-License-Identifier: Apache-2.0
"""The exceptions, of an error that the program has told."""
from __future__ import annotations

import errno as errno_names
import os
from typing import Any, Optional


class FsquotaError(OSError):
    """A call failed. Where the docstring of a function says nothing else, nothing has changed.

    It is an OSError: errno, strerror and filename are there, too.

    path     what failed, or "" when it is no file
    errno    of the system call that failed, or 0 if none did
    message  what failed, without the path
    hint     what can be done about it, or None; an option such as --allow-shrink is the argument allow_shrink
    """

    errno: int

    def __init__(self, message: str, path: str = "", errno: int = 0, hint: Optional[str] = None) -> None:
        super().__init__(errno, os.strerror(errno) if errno else message, path or None)
        self.message, self.path, self.hint = message, path, hint

    def __str__(self) -> str:
        words = [self.path, self.message, os.strerror(self.errno) if self.errno else ""]
        return ": ".join(word for word in words if word) + (f" ({self.hint})" if self.hint else "")

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.path, self.errno, self.hint)


class UsageError(FsquotaError, ValueError):
    """The arguments are wrong."""


class NotSupportedError(FsquotaError):
    """Filesystem or kernel cannot do it, or project quota is off."""


class PermissionDenied(FsquotaError, PermissionError):
    """It takes CAP_SYS_ADMIN, or something forbids it."""


class NotFoundError(FsquotaError):
    """There is no such path, project or quota."""


class MissingPathError(NotFoundError, FileNotFoundError):
    """There is no such path."""


class ConflictError(FsquotaError):
    """The ID, name or directory is in use otherwise, or a limit does not fit."""


class PartialError(FsquotaError):
    """Some files of a tree failed."""


_CODES = {
    "usage": UsageError,
    "not-supported": NotSupportedError,
    "not-permitted": PermissionDenied,
    "not-found": NotFoundError,
    "conflict": ConflictError,
    "partial": PartialError,
}


def of_program(error: dict[str, Any]) -> FsquotaError:
    """An object of fsquota-json(5), "Errors and warnings"."""
    kind = _CODES.get(error["code"], FsquotaError)
    number = getattr(errno_names, error["errno"] or "", 0)
    if kind is NotFoundError and number == errno_names.ENOENT:
        kind = MissingPathError
    return kind(error["message"], error["path"] or "", number, error["hint"])
