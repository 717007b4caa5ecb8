"""Whether an answer uses, by any name, a function that it is to write."""

import ast


def refused_use(answer, cells, refuse):
    """The first refused dotted name that the answer's source uses, or None. cells: the sources of all of the student's cells.

    An import in any cell counts for the answer only if the answer uses what it brought.
    """
    tree, aliases = parsed(answer), {}
    for source in [*cells, answer]:
        aliases |= imports(parsed(source))
    inside = imports(tree)
    own = defined(tree) - set(inside)
    for path in [*inside.values(), *used(tree, aliases, own)]:
        for name in refuse:
            if path == name or path == name.rpartition(".")[0] + ".*":
                return name
    return None


def parsed(source):
    """The syntax tree; empty for what is no Python, such as a cell with a syntax error. Lines of IPython's own are left out."""
    lines = ["" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def imports(tree):
    """What each imported name stands for, dotted."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                found[item.asname or item.name.split(".")[0]] = item.name if item.asname else item.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                found[item.asname or item.name] = f"{node.module}.{item.name}"
    return found


def defined(tree):
    """The names that the source itself defines: they hide what was imported elsewhere."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return names | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def used(tree, aliases, own):
    """The dotted paths of all names and attributes that begin with an import."""
    for node in ast.walk(tree):
        path = dotted(node)
        if path and path[0] in aliases and path[0] not in own:
            yield ".".join([aliases[path[0]], *path[1:]])


def dotted(node):
    """The parts of a.b.c, or None for another expression."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and [*before, node.attr]
    return None
