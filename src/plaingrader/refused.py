"""Whether an answer uses, by any name, a function that it is to write."""

import ast


def refused_use(answer, cells, refuse):
    """The first refused dotted name that an answer uses, or None. cells: the sources of all of the student's cells.

    What the answer calls from other cells counts as its own. An import counts only where its name is used, or in the answer itself.
    """
    trees = [parsed(source) for source in cells]
    tree, aliases = parsed(answer), {}
    for other in [*trees, tree]:
        aliases |= imports(other)
    everything = set().union(*map(starred, [*trees, tree]))
    paths = list(imports(tree).values())
    for part in reached(tree, trees):
        own = defined(part) - set(imports(part))
        paths += used(part, aliases, own)
        paths += [f"{module}.{name}" for module in everything for name in names_in(part) - own - set(aliases)]
    return next((name for path in paths for name in refuse if path in (name, name.rpartition(".")[0] + ".*")), None)


def reached(tree, trees):
    """The answer's tree, and the trees of cells that define what it uses, and what those use."""
    found, names = [tree], names_in(tree)
    while True:
        more = [other for other in trees if not any(other is one for one in found) and top_level(other) & names]
        if not more:
            return found
        found += more
        names = set().union(*map(names_in, more))


def names_in(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def top_level(tree):
    """The functions, classes and variables that a cell defines, without what is inside its functions."""
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


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


def starred(tree):
    """The modules of which everything is imported."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {node.module for node in nodes if any(item.name == "*" for item in node.names)}


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
