"""Which marshmallow a process gets: settings, what is installed, the redirect, the status.

May import ``seam``. ``startup`` runs at interpreter start, so nothing here imports much.
"""
