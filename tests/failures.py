"""How failed tests are shown: plain short lines, and in the end groups, the most direct first.

A conformance test that fails says which kinds of fields were in use and in which direction
(``Differ.about``). One mistake in the step of one kind fails every test that has such a field; the
tests that have no other kind of field show it best.
"""

import collections

import pytest

WIDTH = 200
_SHOWN = 3
_KEY = "differs in"


def plain(text, width=WIDTH):
    """Text that every terminal and pipe takes: no lone surrogates, no line longer than ``width``.

    >>> plain("a\\ud800")
    'a\\\\ud800'
    """
    lines = text.encode("utf-8", "backslashreplace").decode("utf-8").split("\n")
    if width is None:
        return "\n".join(lines)
    return "\n".join(f"{line[: width - 3]}..." if len(line) > width else line for line in lines)


def make_plain(value, width):
    """A part of a report with all its texts plain; objects are changed in place."""
    if isinstance(value, str):
        return plain(value, width)
    if isinstance(value, list | tuple):
        return type(value)(make_plain(each, width) for each in value)
    if type(value).__module__.startswith("_pytest."):
        for name, held in vars(value).items():
            object.__setattr__(value, name, make_plain(held, width))
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        width = WIDTH if item.config.get_verbosity() < 2 else None
        report.longrepr = make_plain(report.longrepr, width)
        report.sections = make_plain(report.sections, width)
        about = getattr(call.excinfo.value if call.excinfo else None, "about", None)
        if about:
            report.user_properties.append((_KEY, about))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    yield
    failed = terminalreporter.stats.get("failed", [])
    if failed:
        terminalreporter.section("failures by kind of field and direction, most direct first")
        for line in summary([(report.nodeid, about_of(report)) for report in failed]):
            terminalreporter.write_line(plain(line))


def about_of(report):
    """What the error of a failed test said about the fields, empty where it said nothing."""
    return next((value for name, value in report.user_properties if name == _KEY), {})


def summary(failed):
    """Failed tests in groups. A test of several kinds counts for a kind that fails by itself."""
    groups = collections.defaultdict(list)
    beside = collections.Counter()
    several = []
    for name, about in failed:
        kinds = about.get("kinds", [])
        if len(kinds) == 1:
            groups[1, f"{kinds[0]}, {about['direction']}"].append(name)
        elif kinds:
            several.append((name, kinds, about["direction"]))
        else:
            groups[1000, name.partition("::")[0]].append(name)
    direct = set(groups)
    for name, kinds, direction in several:
        causes = [(1, f"{kind}, {direction}") for kind in kinds]
        causes = [cause for cause in causes if cause in direct]
        beside.update(causes)
        if not causes:
            groups[len(kinds), f"{' + '.join(kinds)}, {direction}"].append(name)
    lines = []
    for group, names in sorted(groups.items(), key=lambda each: (each[0][0], -len(each[1]))):
        more = f", and {beside[group]} with other kinds beside it" if beside[group] else ""
        lines.append(f"{group[1]}: {len(names)}{more}")
        lines.extend(f"    {name}" for name in names[:_SHOWN])
    return lines
