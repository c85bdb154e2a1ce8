"""Change a finished wheel: its tag, or the files at its root."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

PURE_TAG = "py3-none-any"


def make_pure(path: Path) -> Path:
    """Retag a wheel that holds no extension module as ``py3-none-any``; returns its new path."""

    def retag(files: dict[str, bytes]) -> None:
        name = next(n for n in files if n.endswith(".dist-info/WHEEL"))
        text = files[name].decode()
        text = re.sub(r"^Tag: .*\n", "", text, flags=re.MULTILINE).rstrip("\n")
        text = text.replace("Root-Is-Purelib: false", "Root-Is-Purelib: true")
        files[name] = f"{text}\nTag: {PURE_TAG}\n".encode()

    project, version = path.name.split("-")[:2]
    _rewrite(path, retag)
    return path.replace(path.with_name(f"{project}-{version}-{PURE_TAG}.whl"))


def add_files(path: Path, added: Mapping[str, bytes]) -> None:
    """Put files into a wheel, by their names below ``site-packages``."""
    if added:
        _rewrite(path, lambda files: files.update(added))


def add_licences(path: Path, licences: Mapping[str, bytes]) -> None:
    """Put licence texts where an installer and a reader of the metadata look for them.

    :param licences: by their names below the folder of licences, ``marshmallow/LICENSE``
    """

    def add(files: dict[str, bytes]) -> None:
        metadata = next(name for name in files if name.endswith(".dist-info/METADATA"))
        folder = metadata.removesuffix("METADATA") + "licenses/"
        files.update({folder + name: text for name, text in licences.items()})
        first = re.search(rb"^License-File: ", files[metadata], re.MULTILINE)
        assert first is not None
        lines = b"".join(b"License-File: %s\n" % name.encode() for name in licences)
        text = files[metadata]
        files[metadata] = text[: first.start()] + lines + text[first.start() :]

    _rewrite(path, add)


def _rewrite(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        files = {name: archive.read(name) for name in infos}
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    del files[record]
    change(files)
    files[record] = _record(files, record)
    stamp = next(iter(infos.values())).date_time
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = infos.get(name)
            if info is None:
                info = zipfile.ZipInfo(name, stamp)
                info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)


def _record(files: Mapping[str, bytes], record: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for name, data in files.items():
        hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow((name, f"sha256={hashed}", len(data)))
    writer.writerow((record, "", ""))
    return out.getvalue().encode()
