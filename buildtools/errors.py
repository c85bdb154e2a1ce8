"""The one error every stage of the build raises."""

from __future__ import annotations

from buildtools.shipped import patching

BuildError = patching.QueueError
