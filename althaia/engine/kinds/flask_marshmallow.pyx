"""flask-marshmallow: links, ``URLFor``, ``AbsoluteURLFor`` and ``Hyperlinks``.

For each object, the fields search each of their values for ``<attribute>`` by a regular expression.
The steps cache the result for each text. ``values`` and the tree of links are read for each object,
because user code may change them. ``url_for`` is called as the fields call it.
"""

URL = frozenset({"59c1111322529628", "ccb602f8212189c7"})
"""``URLFor._serialize`` of 1.0 to 1.3, and of 1.4 and 1.5."""

LINKS = frozenset({"29abfd1878d5c86c"})
"""``Hyperlinks._serialize`` of 0.15 to 1.5."""

LINK_FUNCTIONS = {
    "_tpl": frozenset({"cc4442d5c33c920e", "20caeb1596ae26cf", "ef196b8251339699"}),
    "_get_value": frozenset({"87a5a13f1a8684f7"}),
    "_get_value_for_keys": frozenset({"2245007630311e86"}),
    "_get_value_for_key": frozenset({"0a2bf4e5fa326981"}),
}
"""What they call, in the same releases."""

APPLYING = {
    "_rapply": frozenset({"eb57ecd4047159bc", "3fbe370c65c3ba51", "518b0c0798eaf5a4"}),
    "_url_val": frozenset({"50243e717a30a8b8", "8e58b86f49900850"}),
}

cdef int MOST_TEMPLATES = 1024
# For each text the path of the attribute that it names, as a tuple; None if the text is a value.
cdef dict templates = {}


cdef object attribute_in(str text, dict module):
    """Return the path of the attribute that a text names, or None."""
    cdef object path = templates.get(text, templates)
    if path is templates:
        name = module["_tpl"](text)
        path = tuple(name.split(".")) if name else None
        if len(templates) >= MOST_TEMPLATES:
            templates.clear()
        templates[text] = path
    return path


cdef object url_of(object field, object key, object obj, dict module):
    """Return what ``URLFor._serialize`` returns."""
    cdef object values = field.values
    cdef object path, value
    cdef dict arguments = {}
    if type(values) is not dict:
        return field._serialize(None, key, obj)
    for name, template in (<dict>values).items():
        path = attribute_in(template if type(template) is str else str(template), module)
        if path is None:
            arguments[name] = template
            continue
        value = obj
        for part in <tuple>path:
            value = read_once(value, <str>part, marshmallow.missing)
            if value is None:
                return None
        if value is marshmallow.missing:
            # It raises the error.
            return field._serialize(None, key, obj)
        arguments[name] = value
    return module["url_for"](field.endpoint, **arguments)


@cython.final
@cython.no_gc_clear
cdef class DumpUrl(DumpStep):
    """``module``: the package's namespace."""

    kind = "link"
    quiet = False
    cdef public dict module

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return url_of(self.field, self.attr, obj, self.module)


@cython.final
@cython.no_gc_clear
cdef class DumpLinks(DumpStep):
    """``module``: the package's namespace. ``classes``: those whose links this step writes
    itself."""

    kind = "links"
    quiet = False
    cdef public dict module
    cdef public tuple classes

    cdef object convert(self, object value, object obj, DumpFrame frame):
        return self.applied(self.field.schema, obj)

    cdef object applied(self, object tree, object obj):
        """Return the tree with the links in it."""
        if type(tree) in self.classes:
            return url_of(tree, self.attr, obj, self.module)
        is_dict = isinstance(tree, dict)
        if not (is_dict or isinstance(tree, tuple) or isinstance(tree, list)):
            return self.module["_url_val"](tree, key=self.attr, obj=obj)
        althaia_enter()
        try:
            if is_dict:
                return {key: self.applied(value, obj) for key, value in tree.items()}
            return [self.applied(each, obj) for each in tree]
        finally:
            althaia_leave()


def namespace(analysis, field, digests):
    """Return the package's namespace: the globals of the field's ``_serialize``.

    :raises NotPlannable: a function in it is replaced, or its digest is not known.
    """
    module = static(type(field), "_serialize").__globals__
    for name in digests:
        if not is_known(analysis.watch_entry(module, name), digests[name]):
            raise NotPlannable(f"flask_marshmallow.fields.{name} is another one")
    analysis.field_function("fields", "missing_")
    if analysis.watch_entry(module, "missing") is not analysis.upstream.missing:
        raise NotPlannable("flask_marshmallow.fields.missing is another one")
    return module


def dump_url(analysis, field, options):
    module = namespace(analysis, field, LINK_FUNCTIONS)
    for name in ("values", "endpoint"):
        analysis.field_value(field, name)
    return DumpUrl(field, module=module, **options)


def dump_links(analysis, field, options):
    module = namespace(analysis, field, LINK_FUNCTIONS | APPLYING)
    analysis.field_value(field, "schema")
    classes = [
        analysis.watch_entry(module, name) for name in ("URLFor", "AbsoluteURLFor")
    ]
    for cls in classes:
        if not isinstance(cls, type):
            raise NotPlannable("URLFor is no class")
        analysis.watch_type(cls)
    plain_links = [cls for cls in classes if is_plain_link(analysis, cls)]
    return DumpLinks(field, module=module, classes=tuple(plain_links), **options)


def is_plain_link(analysis, cls):
    """Return whether ``serialize`` of these links only calls the ``_serialize`` that was read."""
    if not analysis.upstream.defines(cls, "serialize", analysis.upstream.Field):
        return False
    return (
        static(cls, "_CHECK_ATTRIBUTE") is False
        and is_known(static(cls, "_serialize"), URL)
        and static(cls, "__getattribute__") is object.__getattribute__
    )


cdef tuple FLASK_MARSHMALLOW = (
    PackageKind("flask_marshmallow.fields.URLFor", URL, dump=dump_url),
    PackageKind("flask_marshmallow.fields.Hyperlinks", LINKS, dump=dump_links),
)
