# SPDX-License-Identifier: Apache-2.0
"""The exceptions, of an error of the library or of the program."""
from __future__ import annotations

import errno as errno_names
import os
from typing import Any, Optional

from . import _library as lib


class FsquotaError(Exception):
    """A call failed. Where the docstring of a function says nothing else, nothing has changed.

    path     what failed, or "" when it is no file
    errno    of the system call that failed, or 0
    message  what failed, without the path
    hint     what can be done about it, or None
    """

    errno: int

    def __init__(self, message: str, path: str = "", errno: int = 0, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.message, self.path, self.errno, self.hint = message, path, errno, hint

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


class ConflictError(FsquotaError):
    """The ID, name or directory is in use otherwise, or a limit does not fit."""


class PartialError(FsquotaError):
    """Some files of a tree failed."""


_KINDS = {
    lib.FSQ_E_USAGE: UsageError,
    lib.FSQ_E_NOT_SUPPORTED: NotSupportedError,
    lib.FSQ_E_PERMISSION: PermissionDenied,
    lib.FSQ_E_NOT_FOUND: NotFoundError,
    lib.FSQ_E_CONFLICT: ConflictError,
    lib.FSQ_E_PARTIAL: PartialError,
}

_CODES = {
    "usage": UsageError,
    "not-supported": NotSupportedError,
    "not-permitted": PermissionDenied,
    "not-found": NotFoundError,
    "conflict": ConflictError,
    "partial": PartialError,
}


def of_library(error: lib.fsq_error) -> FsquotaError:
    kind = _KINDS.get(error.kind, FsquotaError)
    message = error.message.decode(errors="replace")
    text = lib.library.fsq_hint_text(error.hint)
    return kind(message, os.fsdecode(error.path), error.errnum, text.decode() if text else None)


def of_program(error: dict[str, Any]) -> FsquotaError:
    """An object of fsquota-json(5), "Errors and warnings"."""
    kind = _CODES.get(error["code"], FsquotaError)
    number = getattr(errno_names, error["errno"] or "", 0)
    return kind(error["message"], error["path"] or "", number, error["hint"])
