# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of the module with Python alone, as PEP 517 and PEP 660 say. pyproject.toml names it.

Nothing is compiled: a wheel is a zip file of the sources, with three files that describe them.
"""
import base64
import hashlib
import io
import os
import pathlib
import re
import tarfile
import time
import zipfile

TOP = pathlib.Path(__file__).resolve().parent
MODULE = sorted([*TOP.glob("fsquota/*.py"), TOP / "fsquota/py.typed"])
VERSION = re.search(r'^__version__ = "(.*)"$', (TOP / "fsquota/__init__.py").read_text(), re.M)[1]
NAME = f"fsquota-{VERSION}"
# A zip file has no earlier time.
SECONDS = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)


def _setting(key):
    return re.search(rf'^{key} = (?:{{ text = )?"(.*?)"', (TOP / "pyproject.toml").read_text(), re.M)[1]


def _metadata():
    return f"""Metadata-Version: 2.1
Name: fsquota
Version: {VERSION}
Summary: {_setting("description")}
License: {_setting("license")}
Requires-Python: {_setting("requires-python")}
Description-Content-Type: text/markdown

{(TOP / "README.md").read_text()}"""


def _write_wheel(directory, files):
    """@files  name in the wheel -> bytes"""
    info = f"{NAME}.dist-info"
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: fsquota\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED) as to:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(SECONDS)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            to.writestr(entry, text)
    _leave_nothing()
    return wheel


def _leave_nothing():
    """Python has compiled this file into the folder of the source."""
    if globals().get("__cached__"):
        compiled = pathlib.Path(__cached__)
        try:
            compiled.unlink()
            compiled.parent.rmdir()
        except OSError:
            pass


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {str(path.relative_to(TOP)): path.read_bytes() for path in MODULE})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"fsquota.pth": f"{TOP}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    files = {str(path.relative_to(TOP)): path.read_bytes() for path in MODULE}
    for name in ("README.md", "backend.py", "pyproject.toml"):
        files[name] = (TOP / name).read_bytes()
    files["PKG-INFO"] = _metadata().encode()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{NAME}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as to:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mtime, entry.mode = len(text), SECONDS, 0o644
            to.addfile(entry, io.BytesIO(text))
    _leave_nothing()
    return f"{NAME}.tar.gz"
