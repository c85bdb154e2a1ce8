"""Programs that run beside the real marshmallow, in processes of their own."""


def outcome(call, *args, **options):
    """What a call returns, or all that its error says."""
    try:
        return repr(call(*args, **options))
    except Exception as error:
        shown = getattr(error, "messages", error.args), getattr(error, "valid_data", None)
        return f"{type(error).__name__} {shown!r}"


def compare(theirs, mine):
    """:raises AssertionError: one of the answers is another one."""
    for number, (expected, actual) in enumerate(zip(theirs, mine, strict=True)):
        assert expected == actual, f"{number}:\n real {expected}\n ours {actual}"
