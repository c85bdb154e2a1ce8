"""What answers the questions of a rollout: are the answers the same, where does the time go?

Nothing here is loaded, and nothing runs, until somebody asks for it.
"""
