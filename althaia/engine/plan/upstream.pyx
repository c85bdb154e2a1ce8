"""Upstream's classes and functions as they were defined, to tell them from users' replacements.

A method is upstream's if it is the same object that the class was defined with. Names are not
compared. :data:`althaia.seam.pristine` records the objects while marshmallow is imported, before
user code can replace one.
"""

# The default of a look-up for a method of upstream's. No class has it as an attribute.
cdef object NOT_UPSTREAMS = object()


cpdef static(cls, name):
    """Return the attribute as the class's bases define it, descriptors unbound, or ``ABSENT``.

    >>> static(bool, "real") is int.__dict__["real"]
    True
    """
    return althaia_type_lookup_or(cls, name, ABSENT)


cdef tuple INNER = ("inner", "key_field", "value_field")


cdef list fields_inside(dict state):
    """Return the fields directly inside the field that has these attributes.

    Return None if ``tuple_fields``, which upstream makes a list, is something else.
    """
    cdef list found = [state[name] for name in INNER if state.get(name) is not None]
    others = state.get("tuple_fields")
    if others is None:
        return found
    return found + <list>others if type(others) is list else None


@cython.final
cdef class Group:
    """Names in one of upstream's modules whose functions plans replace by their own code."""


def definers(cls, name):
    """Return the classes of the MRO that define the attribute, nearest first."""
    return [base for base in cls.__mro__ if name in base.__dict__]


FEATURES_BY_VARIANT = {
    ("schema.Schema._deserialize", "partial by data_key"): ("partial_by_data_key",),
    ("error_store.ErrorStore.store_error", "not copied"): ("copies_messages",),
    ("fields.Field.deserialize", "no processors"): ("has_processors",),
    ("fields.Tuple._deserialize", "paired loosely"): (),
    ("fields.Nested.schema", "many of an instance stays"): ("nested_many_overrides",),
    ("fields.Nested.schema", "context goes on"): ("nested_has_context", "nested_many_overrides"),
    ("fields.Pluck._field_data_key", "empty is none"): ("empty_key_is_a_key",),
    ("validate.URL.RegexMemoizer._regex_generator", "no fragment after a host"): (
        "fragment_follows_host",
    ),
    ("fields.Function._serialize", "by signature"): ("functions_take_context",),
    ("fields.Function._deserialize", "by signature"): ("functions_take_context",),
    ("fields.TimeDelta._serialize", "by serialization_type"): ("has_serialization_type",),
    ("fields.TimeDelta._deserialize", "by serialization_type"): ("has_serialization_type",),
    ("fields.TimeDelta._serialize", "in whole numbers"): ("timedeltas_are_whole",),
    ("fields.TimeDelta._serialize", "truncated"): ("timedeltas_are_whole", "truncates_timedeltas"),
    ("fields.TimeDelta._deserialize", "in whole numbers"): ("timedeltas_are_whole",),
    ("schema.Schema._deserialize", "partial is always given"): (
        "partial_by_data_key", "gives_partial",
    ),
    ("schema.Schema._do_load", "unknown is checked"): ("checks_unknown",),
    # What is none of the three is left to upstream's code, which takes it if it is true.
    ("schema.Schema._do_load", "unknown if it is true"): ("checks_unknown",),
    ("schema.Schema.__init__", "context and ordered"): ("has_context",),
    ("schema.Schema.__init__", "context without a warning"): ("has_context", "context_is_silent"),
    ("schema.Schema.__init__", "many is no option"): (
        "has_context", "context_is_silent", "many_by_option",
    ),
    ("schema.Schema.__init__", "partial is False"): (
        "has_context", "context_is_silent", "many_by_option", "partial_is_false",
    ),
    ("schema.Schema._init_fields", "infers fields"): ("infers_fields",),
    ("schema.Schema._invoke_processors", "originals by zip"): ("pads_originals",),
    ("schema.Schema._invoke_processors", "hooks by pair"): ("pads_originals", "hooks_by_pair"),
    ("schema.Schema._invoke_load_processors", "not given unknown"): ("hooks_get_unknown",),
    ("schema.Schema._invoke_schema_validators", "pass_many"): ("hooks_pass_many",),
    ("schema.Schema.dict_class", "by ordered"): ("is_ordered_by_option",),
    ("schema.Schema.set_class", "by ordered"): (),
    ("validate.URL.__init__", "always absolute"): ("urls_have_absolute",),
    ("validate.And.__call__", "False is an error"): ("false_is_an_error",),
}
"""For each function and variant in the semantic lock: the features that are then inverted, compared
with the release that the plans were written against. Any other variant counts as unread."""

WRITTEN_AGAINST = frozenset({
    "copies_messages", "has_processors", "nested_many_overrides", "empty_key_is_a_key",
    "fragment_follows_host", "hooks_get_unknown", "pads_originals", "many_by_option",
    "urls_have_absolute",
})
"""The features of that release. It lacks the others."""


@cython.final
cdef class Upstream:
    """One loaded copy of marshmallow.

    Each difference between releases is an attribute of this object. No step knows a version.

    :param unknown: qualified names (``fields.Integer._serialize``) of functions whose
        meaning nobody knows.
    :param variants: functions that are known to do something else, with the variant's name.
    :ivar partial_by_data_key: whether names in ``partial`` name a nested field by its key in the
        input, not by its attribute.
    :ivar copies_messages: whether an ``ErrorStore`` copies containers of messages.
    :ivar has_processors: whether fields have ``pre_load`` and ``post_load``.
    :ivar nested_many_overrides: whether ``Nested(many=…)`` is set on a copied instance; otherwise
        the copy has the instance's ``many``.
    :ivar empty_key_is_a_key: whether ``Pluck`` uses an empty ``data_key``.
    :ivar fragment_follows_host: whether ``#`` may follow the host of a URL directly.
    :ivar hooks_get_unknown: whether the hooks of a load get ``unknown``.
    :ivar checks_unknown: whether ``load(unknown=…)`` rejects other values than the three.
    :ivar false_is_an_error: whether a validator function that returns False has failed.
    :ivar nested_has_context: whether nested schemas get their parent's ``context``.
    :ivar has_context: whether instances have ``context`` and ``ordered``, and check ``unknown``.
    :ivar infers_fields: whether a name without a field gets one that converts by the value's type.
    :ivar functions_take_context: whether a function of a ``Function`` field with a second parameter
        gets ``context``.
    :ivar has_serialization_type: whether ``TimeDelta`` has the option ``serialization_type``.
    :ivar timedeltas_are_whole: whether ``TimeDelta`` dumps and loads whole numbers only.
    :ivar truncates_timedeltas: whether it dumps a quotient of floats without its fraction.
    :ivar gives_partial: whether fields get ``partial`` also where it is None.
    :ivar partial_is_false: whether an instance's ``partial`` is False where none is given.
    :ivar many_by_option: whether ``many`` may stand in ``Meta``.
    :ivar context_is_silent: whether a ``context`` is not warned of.
    :ivar pads_originals: whether hooks get None for objects beyond the last original.
    :ivar hooks_by_pair: whether ``_hooks`` has names by tag and ``pass_many``, and each function
        its options.
    :ivar urls_have_absolute: whether ``URL`` has the option ``absolute``.
    :ivar is_ordered_by_option: whether ``dict_class`` depends on ``Schema.ordered``.
    :ivar collection_keyword: the keyword of ``_invoke_schema_validators`` that says which hooks
    run.
    """

    def __init__(self, frozenset unknown=frozenset(), dict variants=None):
        # Taken from what the seam recorded: a test may have replaced a live name by now.
        cdef dict defined = seam.defined
        variants = variants or {}
        self.live = seam.modules
        self.schema = defined["schema"]
        self.fields = defined["fields"]
        self.validate = defined["validate"]
        self.missing = self.schema["missing"]
        self.Schema = self.schema["Schema"]
        self.Field = self.fields["Field"]
        self.SchemaMeta = self.schema["SchemaMeta"]
        self.OrderedSet = self.schema["OrderedSet"]
        self.HookTable = seam.HookTable
        althaia_read_as_dict(self.HookTable)
        self.schema_attributes = seam.pristine[self.Schema]
        self.ValidationError = self.schema["ValidationError"]
        self.ErrorStore = defined["error_store"]["ErrorStore"]
        self.copy_containers = defined["error_store"].get("copy_containers")
        self.is_collection = defined["utils"]["is_collection"]
        # Releases without it take any collection.
        self.is_sequence_but_not_string = defined["utils"].get(
            "is_sequence_but_not_string", self.is_collection
        )
        self.set_value = defined["utils"]["set_value"]
        self.unknown = unknown.union(
            [each[0] for each in variants.items() if each not in FEATURES_BY_VARIANT]
        )
        self.find_features(set(variants.items()))
        self.makers_by_function = {}
        self.makers_by_name = ({}, {})
        self.entries = {}
        self.reviewed_methods = {}
        self.groups = {}
        self.passed = {}
        self.makers_by_type = {}

    cdef int find_features(self, set variants):
        """Set the features of the release from its variants."""
        cdef set reversed_ = set()
        for variant in variants:
            reversed_.update(FEATURES_BY_VARIANT.get(variant, ()))
        for name in set().union(*FEATURES_BY_VARIANT.values()):
            setattr(self, name, (name in reversed_) != (name in WRITTEN_AGAINST))
        self.collection_keyword = "pass_many" if self.hooks_pass_many else "pass_collection"

    def raw(self, cls, name):
        """Return the attribute that upstream defined on this class itself; KeyError if none."""
        return seam.pristine[cls][name]

    def has(self, cls, name, owner):
        """Return whether instances of ``cls`` get the method that upstream defined on ``owner``."""
        # Not every release defines it there.
        return static(cls, name) is seam.pristine[owner].get(name, NOT_UPSTREAMS)

    cpdef bint defines(self, cls, name, owner):
        """Return whether :meth:`has` is true and the method has been read in this release."""
        cdef tuple method = (owner, name)
        read = self.reviewed_methods.get(method)
        if read is None:
            read = self.reviewed_methods[method] = qualified(owner, name) not in self.unknown
        # Looked up each time: a test may have replaced it at the first look.
        return read and static(cls, name) is seam.pristine[owner].get(name, NOT_UPSTREAMS)

    def why_not(self, cls, name, owner):
        """Return why :meth:`defines` is false."""
        if self.has(cls, name, owner):
            return f"this release's {qualified(owner, name)} is another one"
        return f"{name} is overridden by {self.owner(cls, name)}"

    def is_known(self, *names):
        """Return whether the named functions do what they did when the plans were written.

        :param names: as in the semantic lock: ``fields.Integer._validated``.
        """
        return self.unknown.isdisjoint(names)

    def origins(self, module, name):
        """Return the names in the semantic lock of what a module's name was defined as, whichever
        module it was imported from."""
        found = seam.defined[module].get(name)
        if isinstance(found, type):
            return (f"{module}.{name}", qualified(found))
        home = getattr(found, "__module__", None)
        return (f"{module}.{name}", f"{short(home)}.{name}" if home else f"{module}.{name}")

    cdef Group group(self, tuple key):
        """Return several names in one of upstream's modules.

        :param key: the module, and a tuple of the names.
        :raises NotPlannable: the source of one was not reviewed in this release.
        """
        cdef Group found = <Group>self.groups.get(key)
        if found is None:
            module, names = key
            for origin in [origin for name in names for origin in self.origins(module, name)]:
                if origin in self.unknown:
                    raise NotPlannable(f"this release's {origin} is another one")
            found = Group.__new__(Group)
            found.namespace = self.live[module]
            defined = seam.defined[module]
            found.entries = tuple(
                [(found.namespace, name, defined.get(name, ABSENT)) for name in names]
            )
            found = <Group>self.groups.setdefault(key, found)
        return found

    cdef bint has_passed(self, cls, int check):
        """Return whether the present version of a class has passed a check of the analysis."""
        cdef unsigned int tag = althaia_type_tag(cls)
        checks = self.passed.get(tag) if tag != 0 else None
        return checks is not None and <int>checks & check

    cdef int note_passed(self, cls, int check):
        """Record that a class has passed a check, which rests on nothing but what it and its bases
        define. CPython uses no type version twice."""
        cdef unsigned int tag = althaia_type_tag(cls)
        if tag == 0 or not ALTHAIA_HAS_GIL:
            # Without the GIL another thread may have changed the class since the check began.
            return 0
        if len(self.passed) >= MOST_CLASSES:
            self.passed.clear()
        self.passed[tag] = <int>self.passed.get(tag, 0) | check

    cdef tuple entries_of(self, frozenset groups):
        """Return the guard entries of a set of groups. Plans with equal sets share them."""
        cdef tuple found = <tuple>self.entries.get(groups)
        cdef dict entries = {}
        cdef Group group
        if found is None:
            for group in groups:
                for entry in group.entries:
                    entries[id(entry[0]), entry[1]] = entry
            found = <tuple>self.entries.setdefault(groups, by_mapping(tuple(entries.values())))
        return found

    def owner(self, cls, name):
        """Return where a class gets an attribute from, for people: ``app.schemas.Slug``. For a
        function that was put into one of upstream's classes, return the function's own name."""
        for base in cls.__mro__:
            if name in base.__dict__:
                value = base.__dict__[name]
                if base not in seam.pristine or seam.pristine[base].get(name) is value:
                    return seam.full_name(base)
                if type(value) is not FunctionType:
                    value = type(value)
                return seam.full_name(value)
        return "nowhere"


def short(module):
    """Return the name of a module of marshmallow in the semantic lock."""
    return module.rpartition("marshmallow.")[2]


def qualified(cls, name=None):
    """Return the name of a class, or of its attribute, in the semantic lock."""
    path = f"{short(cls.__module__)}.{cls.__qualname__}"
    if name is None:
        return path
    private = f"_{cls.__name__}__"
    return f"{path}.__{name.removeprefix(private)}" if private in name else f"{path}.{name}"


def load_upstream():
    """Return an :class:`Upstream` for the loaded marshmallow.

    :raises KeyError: marshmallow's modules have not been imported through the seam.
    """
    return Upstream(seam.unknown, seam.variants)


def connect_upstream(Upstream loaded):
    """Let all plans use this marshmallow."""
    global upstream
    upstream = loaded
