"""From the pinned upstream release to ``althaia.marshmallow``: one stage a module.

The stages, in order: :mod:`~buildtools.upstream` finds the sources, :mod:`~buildtools.lock`
checks them, :mod:`~buildtools.queue` patches, :mod:`~buildtools.rename` renames,
:mod:`~buildtools.semantics` compares meanings, :mod:`~buildtools.modules` says what is
compiled and how, :mod:`~buildtools.compile` compiles and :mod:`~buildtools.stamp` writes
down what was done. :mod:`~buildtools.pipeline` calls them.
"""
