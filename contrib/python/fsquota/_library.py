# SPDX-License-Identifier: Apache-2.0
"""libfsquota.so.0 as ctypes has it: the structs, numbers and functions of fsquota.h, by their names there.

tests/library/languages.bats compares the structs and numbers with the header.
"""
from ctypes import CDLL, CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t
from ctypes import c_uint, c_uint32, c_uint64, c_void_p
from typing import Any

FSQ_E_FAILED = -5001
FSQ_E_USAGE = -5002
FSQ_E_NOT_SUPPORTED = -5003
FSQ_E_PERMISSION = -5004
FSQ_E_NOT_FOUND = -5005
FSQ_E_CONFLICT = -5006
FSQ_E_PARTIAL = -5007


FSQ_BLOCKS = 0
FSQ_INODES = 1
FSQ_FORMS = 3
FSQ_ENFORCED = 0
FSQ_UNCHANGED = 0
FSQ_CHANGED = 1
FSQ_CREATED = 2
FSQ_USAGE_QUOTA = 0
FSQ_USAGE_WALK = 1
FSQ_USAGE_STATFS = 2
FSQ_BASIC_BLOCK = 512
FSQ_LOCK_SECONDS = 60
FSQ_NOT_KNOWN = 2**64 - 1

is_cancelled = CFUNCTYPE(c_bool, c_void_p)


class fsq_error(Structure):
    _fields_ = [
        ("kind", c_int),
        ("errnum", c_int),
        ("hint", c_int),
        ("path", c_char * 4096),
        ("message", c_char * 256),
    ]


class fsq_call_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_uint),
        ("is_cancelled", is_cancelled),
        ("progress", c_void_p),
        ("arg", c_void_p),
        ("mount_skipped", c_void_p),
        ("mounts", c_void_p),
    ]


class fsq_id_range(Structure):
    _fields_ = [("first", c_uint32), ("last", c_uint32)]


class fsq_limits(Structure):
    _fields_ = [("mask", c_uint), ("soft", c_uint64 * FSQ_FORMS), ("hard", c_uint64 * FSQ_FORMS)]


class fsq_registry(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("projects_file", c_char_p),
        ("projid_file", c_char_p),
        ("none", c_bool),
        ("lock_seconds", c_uint),
        ("assigned", c_void_p),
    ]


class fsq_assign_request(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("directory", c_char_p),
        ("id", c_uint32),
        ("name", c_char_p),
        ("limits", fsq_limits),
        ("hard_percent", c_uint),
        ("soft_percent", c_uint),
        ("unlimited", c_bool),
        ("require_enforced", c_bool),
        ("dry_run", c_bool),
        ("make", c_bool),
        ("mode", c_uint32),
        ("owner", c_uint32),
        ("group", c_uint32),
        ("range", fsq_id_range),
        ("registry", POINTER(fsq_registry)),
        ("options", POINTER(fsq_call_options)),
        ("budgets", c_void_p),
        ("budget_count", c_size_t),
        ("over_budget", c_bool),
        ("keep_limits", c_bool),
        ("soft_bytes", c_uint64),
        ("hard_bytes", c_uint64),
        ("soft_inodes", c_uint64),
        ("hard_inodes", c_uint64),
        ("around", c_bool),
    ]


class fsq_release_request(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("directory", c_char_p),
        ("at", c_char_p),
        ("id", c_uint32),
        ("keep_tags", c_bool),
        ("dry_run", c_bool),
        ("registry", POINTER(fsq_registry)),
        ("options", POINTER(fsq_call_options)),
    ]


class fsq_released(Structure):
    _fields_ = [
        ("id", c_uint32),
        ("limits_off", c_bool),
        ("limits", fsq_limits),
        ("lines", c_uint64),
        ("untagged", c_uint64),
        ("left_inodes", c_uint64),
    ]


class fsq_resize_request(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("directory", c_char_p),
        ("at", c_char_p),
        ("bytes", c_uint64),
        ("relative", c_bool),
        ("allow_shrink", c_bool),
        ("limits", fsq_limits),
        ("dry_run", c_bool),
        ("id", c_uint32),
        ("registry", POINTER(fsq_registry)),
        ("options", POINTER(fsq_call_options)),
        ("percent", c_uint),
        ("no_hard", c_bool),
        ("budgets", c_void_p),
        ("budget_count", c_size_t),
        ("over_budget", c_bool),
        ("soft_bytes", c_uint64),
        ("soft_inodes", c_uint64),
        ("hard_inodes", c_uint64),
    ]


class fsq_resized(Structure):
    _fields_ = [
        ("id", c_uint32),
        ("dev", c_uint64),
        ("changed", c_bool),
        ("before", fsq_limits),
        ("after", fsq_limits),
        ("used", c_uint64 * FSQ_FORMS),
        ("over", c_void_p),
    ]


class fsq_usage_request(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("projects_file", c_char_p),
        ("walk", c_bool),
        ("options", POINTER(fsq_call_options)),
    ]


class fsq_usage(Structure):
    _fields_ = [
        ("source", c_int),
        ("id", c_uint32),
        ("used_bytes", c_uint64),
        ("used_inodes", c_uint64),
        ("soft_bytes", c_uint64),
        ("hard_bytes", c_uint64),
        ("soft_inodes", c_uint64),
        ("hard_inodes", c_uint64),
        ("accounting", c_bool),
        ("enforced", c_bool),
        ("at_least", c_bool),
        ("device", c_char_p),
        ("mountpoint", c_char_p),
        ("bytes_expires", c_int64),
        ("inodes_expires", c_int64),
        ("in_force", c_int),
        ("carried_id", c_uint32),
    ]


try:
    library = CDLL("libfsquota.so.0")
except OSError as missing:
    raise ImportError(f"libfsquota.so.0 is missing, of the package libfsquota0: {missing}") from missing

_ERROR = POINTER(fsq_error)
_FUNCTIONS: list[tuple[Any, ...]] = [  # name, result, arguments
    ("fsq_hint_text", c_char_p, c_int),
    ("fsq_parse_bytes", c_int, c_char_p, POINTER(c_uint64)),
    ("fsq_parse_positive", c_int, c_char_p, POINTER(c_uint64)),
    ("fsq_parse_id", c_int, c_char_p, POINTER(c_uint32)),
    ("fsq_limit_blocks_up", c_uint64, c_uint64),
    ("fsq_limit_bytes", c_uint64, c_uint64),
    ("fsq_limit_is_none", c_bool, c_uint64),
    ("fsq_assign", c_int, POINTER(c_void_p), POINTER(fsq_assign_request), _ERROR),
    ("fsq_assignment_id", c_uint32, c_void_p),
    ("fsq_assignment_change", c_int, c_void_p),
    ("fsq_assignment_limits", None, c_void_p, POINTER(fsq_limits), POINTER(fsq_limits)),
    ("fsq_assignment_enforcement", c_int, c_void_p),
    ("fsq_assignment_rollback", c_int, c_void_p, _ERROR),
    ("fsq_assignment_free", None, c_void_p),
    ("fsq_release", c_int, POINTER(fsq_release_request), POINTER(fsq_released), _ERROR),
    ("fsq_resize", c_int, POINTER(fsq_resize_request), POINTER(fsq_resized), _ERROR),
    ("fsq_usage_get", c_int, POINTER(fsq_usage), POINTER(fsq_usage_request), _ERROR),
    ("fsq_usage_clear", None, POINTER(fsq_usage)),
]
for _name, _result, *_arguments in _FUNCTIONS:
    _function = getattr(library, _name)
    _function.restype, _function.argtypes = _result, _arguments
