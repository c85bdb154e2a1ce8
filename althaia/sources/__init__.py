"""What a load can read besides Python objects: JSON and MessagePack, parsed into slots."""
