"""Whether the sizes of arrays agree: every axis letter has one size in a call."""

import math


def bind_axes(function, given):
    """Give every axis letter its size, or say which two arguments disagree."""
    sizes, seen, products = {}, (), []
    for argument, value in given:
        shape = (value,) if argument.integer else tuple(value.shape)
        extra = len(shape) - len(argument.axes)
        if extra < 0 or (extra and not argument.leading):
            raise ValueError(f"{function}: {argument.name} must have shape {argument.text}, got {shape}")
        seen = broadcast(function, argument.name, seen, shape[:extra])
        for axis, size in zip(argument.axes, shape[extra:]):
            if "*" in axis:
                products.append((argument.name, axis, size))
                continue
            first, known = sizes.setdefault(axis, (argument.name, size))
            if size != known:
                facts = f"{argument.name} has {axis} = {size}, {first} has {axis} = {known}"
                raise ValueError(f"{function}: {facts}: they must be equal")
    for name, axis, size in products:
        divide(function, name, axis, size, sizes)


def divide(function, name, axis, size, sizes):
    """Check an axis such as ``H*D``, and find the one factor that is not known yet."""
    count, letters = axis.split("*", 1) if axis[0].isdigit() else ("1", axis)
    known = {letter: sizes[letter] for letter in letters.split("*") if letter in sizes}
    unknown = [letter for letter in letters.split("*") if letter not in sizes]
    product = int(count) * math.prod(number for _, number in known.values())
    if not unknown and size != product:
        facts = " and ".join(f"{letter} = {number} in {who}" for letter, (who, number) in known.items())
        raise ValueError(f"{function}: {name} has {axis} = {size}, but {facts}: it must be {product}")
    if len(unknown) == 1:
        if product == 0 or size % product:
            facts = " and ".join(f"{letter} = {number}" for letter, (_, number) in known.items()) or count
            raise ValueError(f"{function}: {name} has {axis} = {size}, which {facts} does not divide")
        sizes[unknown[0]] = (name, size // product)


def broadcast(function, name, seen, shape):
    """Broadcast leading axes, NumPy's rule: equal, or one of them 1, counted from the right."""
    wide = max(len(seen), len(shape))
    pairs = list(zip((1,) * (wide - len(seen)) + seen, (1,) * (wide - len(shape)) + tuple(shape)))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        facts = f"{name} has leading axes {tuple(shape)}, the arguments before it {seen}"
        raise ValueError(f"{function}: {facts}: they do not broadcast")
    return tuple(b if a == 1 else a for a, b in pairs)
