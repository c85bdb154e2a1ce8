"""Change a finished wheel: its tag, or the files at its root."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

PURE_TAG = "py3-none-any"


def change(
    path: Path, added: Mapping[str, bytes], licences: Mapping[str, bytes], *, pure: bool
) -> Path:
    """Rewrite a wheel; returns its new path.

    :param added: files to put in, by their names below ``site-packages``
    :param licences: licence texts, by their names below the folder of licences:
        ``marshmallow/LICENSE``. The metadata name them.
    :param pure: it has no extension module and is to be tagged ``py3-none-any``
    """
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        files = {name: archive.read(name) for name in infos}
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    folder = record.removesuffix("RECORD")
    del files[record]
    files.update(added)
    files.update({f"{folder}licenses/{name}": text for name, text in licences.items()})
    lines = b"".join(b"License-File: %s\n" % name.encode() for name in licences)
    metadata = files[f"{folder}METADATA"]
    files[f"{folder}METADATA"] = metadata.replace(
        b"\nLicense-File: ", b"\n" + lines + b"License-File: ", 1
    )
    if pure:
        text = re.sub(r"^Tag: .*\n", "", files[f"{folder}WHEEL"].decode(), flags=re.MULTILINE)
        text = text.replace("Root-Is-Purelib: false", "Root-Is-Purelib: true").rstrip("\n")
        files[f"{folder}WHEEL"] = f"{text}\nTag: {PURE_TAG}\n".encode()
    files[record] = _record(files, record)
    stamp = next(iter(infos.values())).date_time
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = infos.get(name)
            if info is None:
                info = zipfile.ZipInfo(name, stamp)
                info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    project, version = path.name.split("-")[:2]
    return path.replace(path.with_name(f"{project}-{version}-{PURE_TAG}.whl")) if pure else path


def _record(files: Mapping[str, bytes], record: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for name, data in files.items():
        hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow((name, f"sha256={hashed}", len(data)))
    writer.writerow((record, "", ""))
    return out.getvalue().encode()
