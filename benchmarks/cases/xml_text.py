"""A render module that writes XML with the standard library, as an application would write one.

Numbers and truth values are read back as text; a schema's fields make of it what it was.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree


def dumps(value: Any) -> str:
    """A dumped value as XML.

    >>> dumps({"id": 5, "tags": ["a"]})
    '<value><id>5</id><tags kind="list"><item>a</item></tags></value>'
    """
    root = ElementTree.Element("value")
    _fill(root, value)
    return ElementTree.tostring(root, encoding="unicode")


def loads(text: str) -> Any:
    """The value of a text that :func:`dumps` gave, with text for all that is no container."""
    return _value(ElementTree.fromstring(text))


def _fill(element: ElementTree.Element, value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _fill(ElementTree.SubElement(element, key), item)
    elif isinstance(value, list):
        element.set("kind", "list")
        for item in value:
            _fill(ElementTree.SubElement(element, "item"), item)
    elif value is None:
        element.set("kind", "none")
    elif isinstance(value, bool):
        element.text = "true" if value else "false"
    else:
        element.text = str(value)


def _value(element: ElementTree.Element) -> Any:
    kind = element.get("kind")
    if kind == "none":
        return None
    if kind == "list":
        return [_value(child) for child in element]
    if len(element):
        return {child.tag: _value(child) for child in element}
    return element.text or ""
