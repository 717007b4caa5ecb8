"""A Sphinx extension for the API page: lists the fields of parameters with their shapes."""

from typing import get_args, get_origin, get_type_hints

from plainformer.shapes import Array


def is_parameters(thing):
    """Whether a thing is a NamedTuple class: a group of parameters."""
    return isinstance(thing, type) and hasattr(thing, "_fields")


def field_shapes(parameters):
    """Yield (field, text) for each field of a NamedTuple: the shape of an array, else the type."""
    for name, hint in get_type_hints(parameters, include_extras=True).items():
        kind, note = (hint.__origin__, hint.__metadata__[0]) if hasattr(hint, "__metadata__") else (hint, "")
        if kind is Array and note:
            yield name, note
        elif isinstance(note, str) and note.startswith("("):  # the shape of the weight of a linear map
            yield name, f"{written(kind)} {note}"
        else:
            yield name, written(kind)


def written(hint):
    """A type in words: int, LayerNorm, a tuple of Block."""
    if hint is Array:
        return "an array"
    if get_origin(hint) is not tuple:
        return hint.__name__
    return f"a tuple of {written(get_args(hint)[0])}"


def list_fields(app, what, name, thing, options, lines):
    """Append the shapes or types of the fields to the docstring of a group of parameters."""
    if is_parameters(thing):
        lines += ["", *(f"* ``{field}`` ``{shape}``" for field, shape in field_shapes(thing))]


def skip_member(app, what, name, thing, skip, options):
    """Leave out the fields of parameters, which are listed with their shapes; keep the methods of a class."""
    return True if what == "class" and not callable(thing) else None


def setup(app):
    """Connect the above to autodoc."""
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
