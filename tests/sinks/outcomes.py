"""What a call returns or raises, so that two of them can be compared."""


def outcome(call, *args, **options):
    """The value with its exact type; or the error's type, arguments, attributes and context.

    RecursionError counts by its type only: at which depth it comes, and what it says, depends on
    how much stack each implementation takes.
    """
    try:
        value = call(*args, **options)
    except RecursionError:
        return (RecursionError,)
    except BaseException as error:
        context = None if error.__context__ is None else type(error.__context__)
        return type(error), error.args, vars(error), context
    return type(value), value
