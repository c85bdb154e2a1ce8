"""The main thread's stack ends where its limit says, whatever else lies on it."""

import os
import subprocess
import sys

import pytest

import althaia

resource = pytest.importorskip("resource")

pytestmark = [
    pytest.mark.skipif(
        not althaia.info().compiled, reason="interpreted functions do not look at the stack"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as on Linux"),
]

PROGRAM = """
import sys
import threading

import althaia
from althaia import marshmallow

class Node(marshmallow.Schema):
    value = marshmallow.fields.Raw()

def deepest():
    deep = []
    for _ in range(60_000):
        deep = [deep]
    try:
        Node().dumps({"value": deep})
    except RecursionError as error:
        print(error)

def shallow():
    print(Node().dumps({"value": [[1]] * 3}))

sys.setrecursionlimit(100_000)
for _ in range(50):
    Node().dumps({"value": 1})
deepest()
shallow()
thread = threading.Thread(target=shallow)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("environment", [0, 100_000], ids=["small", "large environment"])
def test_a_small_stack_is_not_overrun(environment):
    limit = 1 << 20
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "ALTHAIA_PADDING": "x" * environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, hard)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said, *written = done.stdout.splitlines()
    assert "maximum recursion depth exceeded" in said
    assert written == ['{"value": [[1], [1], [1]]}'] * 2
