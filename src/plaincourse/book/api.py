"""A Sphinx extension for the API page: lists the fields of parameters with their shapes."""

from typing import get_type_hints


def is_parameters(thing):
    """Whether a thing is a NamedTuple class: a group of parameters."""
    return isinstance(thing, type) and hasattr(thing, "_fields")


def field_shapes(parameters):
    """Yield (field, shape) for each field of a NamedTuple whose annotations carry shapes."""
    for name, hint in get_type_hints(parameters, include_extras=True).items():
        yield name, hint.__metadata__[0]


def list_fields(app, what, name, thing, options, lines):
    """Append the shapes of the fields to the docstring of a group of parameters."""
    if is_parameters(thing):
        lines += ["", *(f"* ``{field}`` ``{shape}``" for field, shape in field_shapes(thing))]


def skip_member(app, what, name, thing, skip, options):
    """Leave out the members of parameters: they are listed with their shapes."""
    return True if what == "class" else None


def setup(app):
    """Connect the above to autodoc."""
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
