"""A table of meanings in which somebody has not read some functions yet."""

import re


def forget(table, *names):
    """Take what is recorded of other releases' functions out of a table.

    :param names: as in the table: ``fields.TimeDelta._serialize``
    """
    for name in names:
        text = table.read_text("utf-8")
        kept = re.sub(rf'\[\w+\."{re.escape(name)}"\]\n(?:[^\[\n].*\n)*\n?', "", text)
        assert kept != text
        table.write_text(kept, "utf-8")
