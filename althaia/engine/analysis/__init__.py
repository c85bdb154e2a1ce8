"""Reads a schema's class and fields without running user code, and builds the guard of what it
read. Runs once per schema or class.

May import ``plan`` and ``engine.upstream``.
"""
