"""Comparing what a cell computed with what the ledger expects, and writing both the same way."""

from decimal import Decimal

from plaincourse.numerals import fixed, signed

from .ledger import number

EXACT = Decimal("1e-6")  # room for float32; what is printed exactly must be met exactly


def leaves(value):
    """The single values inside a number, array, tensor, list or tuple, in order, and the shape they were
    in.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return [value], ()
    parts = [leaves(item) for item in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise ValueError("its rows have different lengths")
    return [item for flat, _ in parts for item in flat], (len(parts), *(shapes.pop() if shapes else ()))


def matched(value, part, exact):
    """Compare a computed value with a part; returns it flat, ready to be written, or raises AssertionError.

    exact: numbers must be equal (to 1e-6), not only within half a unit of their last printed digit.
    """
    expected, wanted = leaves(part.expected)
    try:
        flat, shape = leaves(_shapes_as_text(value, expected))
    except ValueError as error:
        raise AssertionError(f"the computed value cannot be compared: {error}") from None
    if len(flat) != len(expected):
        raise AssertionError(f"expected {len(expected)} values, the cell computed {len(flat)}")
    lengths = [length for length in shape if length != 1]
    if (len(wanted) == 2 and shape != wanted) or (len(wanted) == 1 and len(lengths) > 1):
        raise AssertionError(f"expected values of shape {wanted}, the cell computed shape {shape}")
    for position, (got, want) in enumerate(zip(flat, expected, strict=True), 1):
        if not _equal(got, want, exact):
            where = f"position {position}: " if len(expected) > 1 else ""
            raise AssertionError(f"{where}expected {written(want, want)}, the cell computed {_shown(got)}")
    return flat


def written(value, like):
    """A value as the card shows it, with the digits, the thousands commas and the % of the printed string
    `like`.
    """
    if isinstance(like, bool):
        return "yes" if value else "no"
    decimal = number(like)
    if decimal is None:
        return str(value)
    digits = max(0, -decimal.as_tuple().exponent)
    exact = number(value) if isinstance(value, str) else Decimal(float(value))
    if "e" in like.lower():
        digits = len(decimal.as_tuple().digits) - 1
        text = signed(like if isinstance(value, str) else f"{float(value):.{digits}e}")
    else:
        text = fixed(exact, digits, "," if "," in like else "")
    return text + (" %" if like.endswith("%") else "")


def _shapes_as_text(value, expected):
    """Where the ledger expects shapes, "(6, 768)", a tuple of whole numbers stands for one."""
    if not all(isinstance(item, str) and item.startswith("(") for item in expected):
        return value
    if isinstance(value, tuple) and all(isinstance(length, int) for length in value):
        return [str(tuple(value))]
    if isinstance(value, list | tuple):
        return [_shapes_as_text(item, expected)[0] if isinstance(item, tuple) else item for item in value]
    return value


def _equal(got, want, exact):
    if isinstance(want, bool) or isinstance(got, bool):
        return got is want
    decimal = number(want)
    if decimal is None:
        return isinstance(got, str) and got == want
    if isinstance(got, str):
        return False
    try:
        difference = abs(Decimal(float(got)) - decimal)
    except (TypeError, ValueError, OverflowError):
        return False
    unit = Decimal(1).scaleb(decimal.as_tuple().exponent)
    allowed = min(unit / 2, EXACT * max(1, abs(decimal))) if exact else unit / 2 + unit * Decimal("1e-9")
    return difference.is_finite() and difference <= allowed


def _shown(value):
    if isinstance(value, int) and abs(value) >= 10**308:  # Python refuses to write the longest ones
        return "a whole number of more than 308 digits"
    return f"{value:.10g}" if isinstance(value, float) else repr(value)
