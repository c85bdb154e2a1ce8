"""Fields that contain fields: ``List``, ``Tuple``, ``Dict``.

Each step first tests whether it can iterate over the value itself. Any other value is passed to the
field's own method.
"""

# ---- Dump --------------------------------------------------------------------------


@cython.no_gc_clear
cdef class DumpList(DumpStep):
    label = "list"
    cdef public DumpStep item

    cdef convert(self, value, obj, DumpFrame frame):
        cdef list items
        cdef bint done = False
        if value is None:
            return None
        items = []
        try:
            for each in value:
                althaia_tick()
                items.append(self.item.convert(each, obj, frame))
            done = True
        finally:
            if not done:
                add_to_trail("[{}]", len(items))
        althaia_completed(frame.growth, items)
        return items

    cdef bint write(self, value, obj, DumpFrame frame, Sink sink) except -1:
        cdef Py_ssize_t index = 0
        cdef bint done = False
        if value is None:
            sink.put_none()
            return True
        sink.put_byte(c"[")
        try:
            for each in value:
                althaia_tick()
                sink.begin_item(index)
                if not self.item.write(each, obj, frame, sink):
                    sink.put_value(upstream.missing)
                index += 1
            done = True
        finally:
            if not done:
                add_to_trail("[{}]", index)
        sink.put_byte(c"]")
        return True

    def inner(self):
        return {"items": self.item}


@cython.no_gc_clear
cdef class DumpTuple(DumpStep):
    label = "tuple"
    cdef public tuple items

    cdef fitting(self, value):
        """Return the value's items as a tuple if there is one for each step, and reading them runs
        no code of the user's; else None."""
        if type(value) is list:
            value = tuple(<list>value)
        elif type(value) is not tuple and not (
            isinstance(value, tuple) and static(type(value), "__iter__") is tuple.__iter__
        ):
            return None
        return value if PyTuple_GET_SIZE(value) == len(self.items) else None

    cdef convert(self, value, obj, DumpFrame frame):
        cdef Py_ssize_t i
        cdef list converted
        if value is None:
            return None
        fitting = self.fitting(value)
        if fitting is None:
            return self.by_field(value, obj, frame)
        converted = []
        for i in range(len(self.items)):
            each = (<DumpStep>PyTuple_GET_ITEM(self.items, i)).convert(
                <object>PyTuple_GET_ITEM(fitting, i), obj, frame
            )
            converted.append(each)
        return tuple(converted)

    def inner(self):
        return {str(index): step for index, step in enumerate(self.items)}


@cython.no_gc_clear
cdef class DumpDict(DumpStep):
    """``keys`` or ``values`` is None if they are not converted."""

    label = "dict"
    cdef public DumpStep keys, values

    cdef convert(self, value, obj, DumpFrame frame):
        cdef dict keys = {}, result = {}
        cdef bint done = False
        if value is None:
            return None
        if self.keys is None and self.values is None:
            return dict(value)
        if type(value) is OrderedDict or type(value) is defaultdict:
            # In its own order, which a C loop over it would not see.
            value = dict(value)
        elif type(value) is not dict:
            return self.by_field(value, obj, frame)
        # Upstream converts all keys before the first value.
        if self.keys is not None:
            for key in <dict>value:
                althaia_tick()
                keys[key] = self.keys.convert(key, None, frame)
        key = None
        try:
            for key, each in (<dict>value).items():
                althaia_tick()
                if self.values is not None:
                    each = self.values.convert(each, None, frame)
                result[key if self.keys is None else keys[key]] = each
            done = True
        finally:
            if not done:
                add_to_trail("[{!r}]", key)
        althaia_completed(frame.growth, result)
        return result

    def inner(self):
        return labelled(keys=self.keys, values=self.values)


def labelled(**steps):
    """Return the steps that are there, by label."""
    return {label: step for label, step in steps.items() if step is not None}


# ---- Load --------------------------------------------------------------------------


cdef inline dict with_item(
    dict errors, loaded, Py_ssize_t index, list items, LoadFrame frame
):
    """Append what a step has returned for an item. Return the messages by index: those of a failed
    item, of which only the valid data are appended, too."""
    if loaded is not FAILED:
        items.append(loaded)
        return errors
    if frame.valid_data is not None:
        items.append(frame.valid_data)
    if errors is None:
        errors = {}
    errors[index] = frame.messages
    return errors


@cython.no_gc_clear
cdef class LoadList(LoadStep):
    label = "list"
    cdef public LoadStep item

    cdef convert(self, value, data, LoadFrame frame):
        cdef list items
        cdef dict errors = None
        cdef Py_ssize_t index = 0
        cdef bint done = False
        if type(value) is not list and type(value) is not tuple:
            return self.refuse_json("invalid", NO_WORDS, value, data, frame)
        items = []
        try:
            for each in value:
                althaia_tick()
                loaded = load_value(self.item, each, None, frame)
                errors = with_item(errors, loaded, index, items, frame)
                index += 1
            done = True
        finally:
            if not done:
                add_to_trail("[{}]", index)
        althaia_completed(frame.growth, items)
        return items if errors is None else fail(frame, errors, items)

    cdef walk(self, Tape tape, Py_ssize_t at, LoadFrame frame):
        cdef list items = []
        cdef dict errors = None
        cdef Py_ssize_t index = 0, end = tape.slots[at].content.next
        if tape.slots[at].type != ARRAY:
            return self.convert(tape.share(at), None, frame)
        at += 1
        try:
            while at < end:
                althaia_tick()
                loaded = self.item.read(tape, at, frame)
                errors = with_item(errors, loaded, index, items, frame)
                index += 1
                at = after(tape, at)
        finally:
            if at < end:
                add_to_trail("[{}]", index)
        althaia_completed(frame.growth, items)
        return items if errors is None else fail(frame, errors, items)

    def inner(self):
        return {"items": self.item}


@cython.no_gc_clear
cdef class LoadTuple(LoadStep):
    label = "tuple"
    cdef public tuple items
    cdef public Check length

    cdef convert(self, value, data, LoadFrame frame):
        cdef list items = []
        cdef dict errors = None
        cdef Py_ssize_t index = 0, size = len(self.items)
        if type(value) is not list and type(value) is not tuple:
            return self.refuse_json("invalid", NO_WORDS, value, data, frame)
        if len(value) != size:
            return fail(frame, self.length.failure(value), None)
        for each in value:
            if index == size:
                # User code has added to the list meanwhile.
                break
            loaded = load_value(<LoadStep>PyTuple_GET_ITEM(self.items, index), each, None, frame)
            errors = with_item(errors, loaded, index, items, frame)
            index += 1
        return tuple(items) if errors is None else fail(frame, errors, items)

    def inner(self):
        return {str(index): step for index, step in enumerate(self.items)}


@cython.no_gc_clear
cdef class LoadDict(LoadStep):
    label = "dict"
    cdef public LoadStep keys, values

    cdef convert(self, value, data, LoadFrame frame):
        cdef dict keys = {}, result = {}
        errors = None
        cdef bint done = False
        if type(value) is not dict:
            return self.refuse_json("invalid", NO_WORDS, value, data, frame)
        if self.keys is None and self.values is None:
            return dict(value)
        if self.keys is not None:
            for key in <dict>value:
                althaia_tick()
                loaded = load_value(self.keys, key, None, frame)
                if loaded is FAILED:
                    if errors is None:
                        errors = defaultdict(dict)
                    errors[key]["key"] = frame.messages
                else:
                    keys[key] = loaded
        key = None
        try:
            for key, each in (<dict>value).items():
                althaia_tick()
                if self.values is not None:
                    each = load_value(self.values, each, None, frame)
                if each is FAILED:
                    if errors is None:
                        errors = defaultdict(dict)
                    errors[key]["value"] = frame.messages
                    if frame.valid_data is None:
                        continue
                    each = frame.valid_data
                if self.keys is None:
                    result[key] = each
                elif key in keys:
                    result[keys[key]] = each
            done = True
        finally:
            if not done:
                add_to_trail("[{!r}]", key)
        althaia_completed(frame.growth, result)
        return result if errors is None else fail(frame, errors, result)

    def inner(self):
        return labelled(keys=self.keys, values=self.values)


# ---- Analysis ----------------------------------------------------------------------


def dump_list(analysis, field, options):
    item = inner_dump_step(analysis, analysis.field_value(field, "inner"), options["attr"])
    return DumpList(field, item=item, **options)


def load_list(analysis, field, options):
    analysis.fields_helper("is_collection", "is_iterable_but_not_string")
    item = inner_load_step(analysis, analysis.field_value(field, "inner"))
    return LoadList(field, item=item, **options)


def tuple_fields(analysis, field):
    """Return the fields inside a Tuple, and let the guard watch them."""
    return analysis.watch_list(analysis.typed_value(field, "tuple_fields", list))


def dump_tuple(analysis, field, options):
    inner = tuple_fields(analysis, field)
    items = tuple([inner_dump_step(analysis, each, options["attr"]) for each in inner])
    return DumpTuple(field, items=items, **options)


def load_tuple(analysis, field, options):
    inner = tuple_fields(analysis, field)
    # Releases without the first function call the second.
    analysis.fields_helper("is_sequence_but_not_string", "is_collection")
    validator = analysis.field_value(field, "validate_length")
    analysis.watch_field(validator)
    length = check_for(analysis, validator)
    if not isinstance(length, LengthCheck):
        raise NotPlannable("validate_length is not upstream's")
    if analysis.field_value(validator, "equal") != len(inner):
        raise NotPlannable("validate_length asks for another length")
    items = tuple([inner_load_step(analysis, each) for each in inner])
    return LoadTuple(field, items=items, length=length, guarded=True, **options)


def key_and_value_steps(analysis, field, inner):
    """Return what ``inner`` makes of the key field and the value field of a Dict, None for one that
    it does not have."""
    if analysis.field_value(field, "mapping_type") is not dict:
        raise NotPlannable("mapping_type is not dict")
    fields = [analysis.field_value(field, name) for name in ("key_field", "value_field")]
    return [None if each is None else inner(analysis, each) for each in fields]


def dump_dict(analysis, field, options):
    keys, values = key_and_value_steps(analysis, field, partial(inner_dump_step, attr=None))
    return DumpDict(field, keys=keys, values=values, **options)


def load_dict(analysis, field, options):
    analysis.field_function("fields", "_Mapping")
    keys, values = key_and_value_steps(analysis, field, inner_load_step)
    return LoadDict(field, keys=keys, values=values, guarded=keys is not None, **options)


KINDS += [
    Kind("List", dump=dump_list, load=load_list),
    Kind("Tuple", dump=dump_tuple, load=load_tuple),
    Kind("Mapping", dump=dump_dict, load=load_dict),
]
