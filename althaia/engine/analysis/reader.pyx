# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What dump and load analysis share: reading fields safely, and noting what was read.

Everything an analysis rests on goes through an :class:`Analysis`, which hands it to the
guard. What cannot be read without running user code (a descriptor, a ``__getattribute__``)
is :class:`NotPlannable`: the field's own method runs instead.

Where a dictionary is gone through here, its keys are, not its ``items()``: CPython 3.11 crashes
where the iterator over those finds no memory for its first pair.
"""

from collections import OrderedDict
from contextlib import contextmanager
from types import GetSetDescriptorType

cimport cython

from althaia import seam
from althaia.engine.plan.guard import ABSENT, snapshot, type_tag
from althaia.engine.plan.guard import state_of as copied_state
from althaia.engine.plan.instance_dict import may_be_put
from althaia.engine.plan.not_plannable import NotPlannable
from althaia.engine.upstream import qualified

from althaia.engine.plan.guard cimport Guard
from althaia.engine.upstream cimport Helper, Upstream, static

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
        void* tp_descr_get
        void* tp_descr_set
    unsigned long Py_TPFLAGS_HEAPTYPE
    unsigned long Py_TPFLAGS_IMMUTABLETYPE

cdef object ABSENT_ = ABSENT
cdef object object_getattribute = object.__getattribute__
cdef object object_setattr = object.__setattr__

NOT_PLAIN = "the dictionary of an instance cannot be replaced"
"""Why a schema has no place for plans."""

# Fields stand inside each other a few deep; what goes on for longer may well never end.
cdef int DEEPEST = 50


def attributes_of(schema):
    """A schema's own attributes; nothing where only code of somebody else's would tell."""
    return object_getattribute(schema, "__dict__") if may_be_put(schema) else {}


@cython.final
cdef class Analysis:
    """One schema under analysis.

    :param schema: the schema instance.
    :param members: its mapping of field names to fields that the plan is for.
    :param sibling: the guard of another plan that may watch the same fields.
    """

    def __init__(self, Upstream upstream, schema, members, Guard sibling=None):
        self.upstream = upstream
        self.schema = schema
        self.members = members
        # Copied before anything is read, like all that is watched: a thread that changes
        # something meanwhile must find a guard that does not hold.
        self._members = (
            snapshot(members) if type(members) is dict or type(members) is OrderedDict else None
        )
        self.state = attributes_of(schema)
        self.slots = 0
        self._sibling = sibling
        self._outer = []
        self._types = {}
        self._fields = {}
        self._unwatched = {}
        self._lists = []
        self._entries = {}
        self._schema_names = {}
        self._helpers = 0
        self._readable = set()
        self._looked_at = set()
        self.watch_type(type(schema))

    def items(self):
        """Names and fields of the mapping, as they were when the analysis began."""
        flat = self._members or ()
        return list(zip(flat[::2], flat[1::2], strict=True))

    def leave_out_members(self):
        """Do not watch a mapping that is no plain one: asking it might run user code."""
        if self._members is None:
            self.members, self._members = {}, ()

    # -- What is watched

    cpdef watch_type(self, cls):
        """Watch a class, before anything is asked of it."""
        if id(cls) not in self._types:
            self._types[id(cls)] = (cls, type_tag(cls))

    cpdef watch_field(self, field):
        """Watch a field or validator, before anything is asked of it.

        :raises NotPlannable: it has no instance dictionary.
        """
        if id(field) in self._fields:
            return
        self.watch_type(type(field))
        try:
            self._fields[id(field)] = (field, type(field), copied_state(field))
        except TypeError as error:
            raise NotPlannable(str(error)) from None

    cpdef dict state_of(self, field):
        """The instance dictionary of a field as it was when it was first watched."""
        cdef tuple entry = <tuple>self._fields.get(id(field))
        if entry is None:
            self.watch_field(field)
            entry = <tuple>self._fields[id(field)]
        return <dict>entry[2]

    def leave_out(self, field, *names):
        """Do not watch these attributes of a watched field: each call reads them anew."""
        self._unwatched[id(field)] = names

    def is_first_look(self, cls, at):
        """Whether a class has not yet been looked at in this way. A change after the first look
        is seen by the guard: the class, or a class of which it is a base, is watched since then."""
        key = (id(cls), at)
        is_first = key not in self._looked_at
        self._looked_at.add(key)
        return is_first

    def watch_list(self, items):
        """Watch a list; its items."""
        watched = tuple(items)
        self._lists.append((items, watched))
        return watched

    def watch_entry(self, mapping, key):
        """The value under a key (``ABSENT`` of the guards where there is none), watched."""
        value = mapping.get(key, ABSENT)
        self._entries[id(mapping), key] = (mapping, key, value)
        return value

    def new_slot(self):
        self.slots += 1
        return self.slots - 1

    def with_own_slot(self, dict options):
        """Return the options of a step that runs code which may look at the step's field."""
        return options if "own_slot" in options else options | {"own_slot": self.new_slot()}

    def guard(self):
        """The guard of all that was watched."""
        return Guard(
            tuple([(name, self._schema_names[name]) for name in self._schema_names]),
            self.members,
            self._members,
            tuple(self._types.values()),
            tuple([
                (field, cls, snapshot(state, self._unwatched.get(id(field), ())))
                for field, cls, state in self._fields.values()
            ]),
            tuple(self._lists),
            tuple(self._entries.values()),
            self.upstream.helper_entries(self._helpers),
            self._sibling,
        )

    def holds_own_code(self, field):
        """Whether a field inside this one runs code that may look at its schema: a nested one, or
        one of the user's own kind."""
        waiting, seen = [field], set()
        while waiting:
            each = waiting.pop()
            if id(each) in seen or not isinstance(each, self.upstream.Field):
                continue
            seen.add(id(each))
            state = self.state_of(each)
            if each is not field and (type(each) not in seam.pristine or "_schema" in state):
                return True
            waiting += [state.get(name) for name in ("inner", "key_field", "value_field")]
            tuple_fields = state.get("tuple_fields")
            if tuple_fields is not None and type(tuple_fields) is not list:
                return True
            waiting += tuple_fields or ()
        return False

    @contextmanager
    def inside(self, field):
        """While a field inside another is analysed.

        :raises NotPlannable: where it may be inside itself.
        """
        if len(self._outer) == DEEPEST or any([outer is field for outer in self._outer]):
            raise NotPlannable("fields stand inside each other without an end")
        self._outer.append(field)
        try:
            yield
        finally:
            self._outer.pop()

    # -- The schema

    def schema_value(self, name):
        """An attribute of the schema, read without running code.

        :raises NotPlannable: where a descriptor computes it.
        """
        raw = static(type(self.schema), name)
        if self.is_data_descriptor(raw):
            raise NotPlannable(f"{name} is a descriptor of {self._owner(type(self.schema), name)}")
        value = self.state.get(name, ABSENT)
        self._schema_names[name] = value
        if value is not ABSENT:
            return value
        if raw is ABSENT_ or has_getter(raw):
            raise NotPlannable(f"{name} is not a plain value")
        return raw

    cpdef bint is_data_descriptor(self, raw) except -1:
        """Whether a class attribute answers for the instances instead of their dictionaries."""
        cdef object kind
        cdef PyTypeObject* slots
        if raw is ABSENT_:
            return False
        kind = type(raw)
        slots = <PyTypeObject*>kind
        # One that a statement made, and that can be changed.
        if slots.tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE) == Py_TPFLAGS_HEAPTYPE:
            self.watch_type(kind)
        return slots.tp_descr_set is not NULL

    cpdef bint schema_method_is_upstreams(self, name) except -1:
        """Whether the schema has upstream's own method, neither overridden nor shadowed."""
        cdef object shadow = self.state.get(name, ABSENT_)
        self._schema_names[name] = shadow
        if shadow is not ABSENT_:
            return False
        return self.upstream.defines(type(self.schema), name, self.upstream.Schema)

    def why_schema_method(self, name):
        """Where the schema gets a method from that is not upstream's."""
        if self._schema_names.get(name, ABSENT) is not ABSENT:
            return f"{name} is set on the schema instance"
        return self.upstream.why_not(type(self.schema), name, self.upstream.Schema)

    # -- Upstream

    def known(self, *names):
        """Make sure that functions of upstream's mean what the plan takes them to mean.

        :param names: as in the semantic lock: ``fields.Integer._validated``.
        :raises NotPlannable: this release has another one.
        """
        for name in names:
            if not self.upstream.is_known(name):
                raise NotPlannable(f"this release's {name} is another one")

    # -- Fields

    cpdef field_value(self, field, name):
        """An attribute of a watched field, read without running code.

        :raises NotPlannable: where a descriptor computes it, or where there is none.
        """
        cdef object raw = static(type(field), name)
        cdef object value
        if raw is not ABSENT_ and self.is_data_descriptor(raw):
            raise NotPlannable(f"{name} is a descriptor of {self._owner(type(field), name)}")
        value = self.state_of(field).get(name, ABSENT_)
        if value is not ABSENT_:
            return value
        if raw is ABSENT_ or has_getter(raw):
            raise NotPlannable(f"{name} is not a plain value")
        return raw

    def field_flag(self, field, name):
        """A field's attribute that is True or False.

        :raises NotPlannable: where it is anything else.
        """
        value = self.field_value(field, name)
        if type(value) is not bool:
            raise NotPlannable(f"{name} is neither True nor False")
        return value

    cpdef field_method(self, field, name, owner):
        """Make sure that a field's method is the one upstream defined on ``owner``.

        :raises NotPlannable: where it is not, saying where it comes from.
        """
        if name in self.state_of(field):
            raise NotPlannable(f"{name} is set on the field instance")
        cls = type(field)
        if not self.upstream.defines(cls, name, owner):
            raise NotPlannable(self.upstream.why_not(cls, name, owner))

    def class_method(self, cls, name):
        """Make sure that one of upstream's classes still has the method it was defined with.

        :raises NotPlannable: where it has not, or where the class is not upstream's.
        """
        if cls.__dict__.get(name) is not seam.pristine.get(cls, {}).get(name, ABSENT):
            raise NotPlannable(f"{name} of {cls.__module__}.{cls.__qualname__} is not upstream's")
        self.known(qualified(cls, name))

    def field_function(self, module, *names):
        """Watch names of an upstream module that the plan replaces by its own code.

        :raises NotPlannable: where one is not upstream's.
        """
        for name in names:
            self._watch_helper(module, name)

    cdef int _watch_helper(self, str module, str name) except -1:
        cdef Helper helper = self.upstream.helper(module, name)
        if self._helpers & helper.bit:
            return 0
        # What it is watched for is what upstream defined: all plans share that.
        if helper.namespace.get(name, ABSENT_) is not helper.defined:
            raise NotPlannable(f"marshmallow.{module}.{name} is replaced")
        self.known(*helper.origins)
        self._helpers |= helper.bit
        return 0

    def fields_helper(self, *names):
        """Watch functions that upstream's fields find in ``marshmallow.utils``.

        :raises NotPlannable: where one, or the module, is not upstream's.
        """
        self._watch_helper("fields", "utils")
        for name in names:
            self._watch_helper("utils", name)

    def as_defined(self, module, name):
        """Watch a name of an upstream module that has to stay what upstream defined it as.

        :raises NotPlannable: where it is replaced.
        """
        found = self.watch_entry(self.upstream.live[module], name)
        if found is not seam.defined[module].get(name, ABSENT):
            raise NotPlannable(f"marshmallow.{module}.{name} is replaced")

    cpdef check_readable(self, field):
        """Make sure that a field's attributes are where Python keeps them.

        :raises NotPlannable: where its class answers for them itself.
        """
        cls = type(field)
        if id(cls) in self._readable:
            return
        if static(cls, "__getattribute__") is not object_getattribute:
            raise NotPlannable(
                f"__getattribute__ is overridden by {self._owner(cls, '__getattribute__')}"
            )
        if static(cls, "__getattr__") is not ABSENT:
            raise NotPlannable(f"__getattr__ is defined by {self._owner(cls, '__getattr__')}")
        if type(static(cls, "__dict__")) is not GetSetDescriptorType:
            raise NotPlannable(f"__dict__ is overridden by {self._owner(cls, '__dict__')}")
        self._readable.add(id(cls))

    def check_writable(self, field):
        """Make sure that a field's attributes are set without user code.

        :raises NotPlannable: where its class is told of it.
        """
        cls = type(field)
        if static(cls, "__setattr__") is not object_setattr:
            raise NotPlannable(f"__setattr__ is overridden by {self._owner(cls, '__setattr__')}")

    def _owner(self, cls, name):
        return self.upstream.owner(cls, name)


cdef bint has_getter(object raw) noexcept:
    """Whether an attribute of a class is asked for what its instances get."""
    cdef object kind = type(raw)
    return (<PyTypeObject*>kind).tp_descr_get is not NULL


def why_unwatchable(guard):
    """Why nothing may rest on a guard that watches a class without a version; "" where it may."""
    cls = guard.unwatchable()
    if cls is None:
        return ""
    return (
        f"{cls.__module__}.{cls.__qualname__}, or a base of it, was changed so often that CPython "
        "gives it no version any more"
    )


def check_truth(field):
    """Make sure that an inner field is true, as upstream's tests expect, without asking it.

    :raises NotPlannable: where its class answers for itself.
    """
    for name in ("__bool__", "__len__"):
        if static(type(field), name) is not ABSENT:
            raise NotPlannable(f"an inner field defines {name}")
