"""The compiled modules ask once in each thread where its stack is, and share the answer."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import pytest

import althaia
from althaia import marshmallow

pytestmark = pytest.mark.skipif(
    not althaia.info().compiled, reason="interpreted functions do not look at the stack"
)


def shared_bounds() -> Any:
    """What the modules share in this thread; None if none has asked."""
    # It returns a borrowed reference, which py_object as a result would release.
    of_thread = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_GetDict", ctypes.pythonapi))
    return ctypes.cast(of_thread(), ctypes.py_object).value.get("althaia.stack")


def test_the_first_module_asks_for_all() -> None:
    class Album(marshmallow.Schema):
        title = marshmallow.fields.Str()
        tracks = marshmallow.fields.List(marshmallow.fields.Int())

    seen = []

    def work() -> None:
        album = {"title": "x", "tracks": [1]}
        seen.append(shared_bounds())
        Album().dump(album)
        seen.append(shared_bounds())
        assert Album().loads(Album().dumps(album)) == album
        assert Album().dump([album] * 30, many=True) == [album] * 30
        seen.append(shared_bounds())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before, first, last = seen
    low, high = struct.unpack("2N", first)
    assert before is None
    assert low < high
    assert last is first
