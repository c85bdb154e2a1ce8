"""What happens in each call: the loops over steps, the frames of a call, the hooks.

May import ``plan``, ``instances``, ``objects``.
"""
