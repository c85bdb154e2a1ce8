"""For PyInstaller, which finds this package by the ``pyinstaller40`` entry point."""

import os


def hook_directories() -> list[str]:
    """The folders that hold our hooks."""
    return [os.path.dirname(__file__)]
