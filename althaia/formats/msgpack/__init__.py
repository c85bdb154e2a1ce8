"""MessagePack: the same as ``formats.json``, in bytes."""
