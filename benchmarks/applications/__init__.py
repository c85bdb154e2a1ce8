"""Schemas of real applications, patched and not: ``python -m benchmarks.applications``.

Each application comes from the package index, into an environment of its own, with the release of
marshmallow that it asks for. Data is made from the fields of its schemas and kept; two processes,
one with althaia and one without, answer the same calls, and nothing is timed whose answers differ.
"""
