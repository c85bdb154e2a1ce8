"""Tools for a rollout: compare the results with upstream's, and find the field that failed.

Nothing here is loaded before a program uses it.
"""
