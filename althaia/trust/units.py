"""Names, counts and times as the profile and the estimate print them in 80 columns."""


def short(name: str, width: int) -> str:
    """Return the end of a name: the class is more telling than the package."""
    return name if len(name) <= width else f"…{name[1 - width :]}"


def number(count: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:,}"


def time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"
