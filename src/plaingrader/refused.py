"""Whether an answer uses, by any name, a function that it is to write.

This is a reminder to honest students, made by looking at the source once. Whoever wants to get round it
can: by a copied line, by `getattr`. No grader can tell a copied function from one that was written.

Imports inside the answer, imports elsewhere whose names it uses, and what it calls of the student's other
functions all count. A comparison with the library in another line does not.
"""

import ast
from collections import defaultdict
from functools import lru_cache

LONGEST = 20_000  # characters of one cell
MOST = 100_000  # of all of a student's cells
DEEPEST = 20  # names in a dotted path


def refused_use(answer, sources, refuse):
    """The first refused dotted name that the function or variable ``answer`` uses, or None. sources: of all
    of the student's cells.
    """
    sources = list(sources)
    if sum(map(len, sources)) > MOST:
        return None
    statements = [node for source in sources for node in parsed(source).body]
    aliases = {}
    for node in statements:
        aliases |= imports(node)
    makers = defaultdict(list)
    for node in statements:
        for name in bound(node):
            makers[name].append(node)
    everything = {module for node in statements for module in starred(node)}
    for node in reached(answer, makers):
        own = defined(node) - set(imports(node)) | set(makers)
        paths = [*used(node, aliases | imports(node), own), *(f"{module}.*" for module in starred(node))]
        paths += [f"{module}.{name}" for module in everything for name in names_in(node) - own - set(aliases)]
        paths += imports(node).values()
        found = next((name for path in paths for name in refuse if is_same(path, name)), None)
        if found:
            return found
    return None


def is_same(path, name):
    """Whether a path leads to the refused name: other packages offer one function under several paths."""
    package, function = name.partition(".")[0], name.rpartition(".")[2]
    if package == "plainformer":
        return path in (name, name.rpartition(".")[0] + ".*")
    return path.partition(".")[0] == package and path.rpartition(".")[2] == function


def reached(answer, makers):
    """The statements that define the answer, those that define what these use, and so on."""
    waiting, names, found = [answer], {answer}, []
    while waiting:
        for node in makers[waiting.pop()]:
            found.append(node)
            more = (names_in(node) - local(node)) & set(makers) - names
            names |= more
            waiting += more
    return found


@lru_cache(maxsize=1000)
def parsed(source):
    """The syntax tree; empty for what is no Python, such as a cell with a syntax error, and for what is
    longer than anybody writes, which would take its time. Lines of IPython's own are left out.
    """
    if len(source) > LONGEST:
        return ast.Module([], [])
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
                found[item.asname or item.name.split(".")[0]] = (
                    item.name if item.asname else item.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                found[item.asname or item.name] = f"{node.module}.{item.name}"
    return found


def starred(tree):
    """The modules of which everything is imported."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {node.module for node in nodes if any(item.name == "*" for item in node.names)}


def bound(statement):
    """The names that a statement of a cell defines, imports left out."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return defined(statement)


def top_level(tree):
    """The names that a cell defines."""
    return set().union(*map(bound, tree.body))


def local(statement):
    """The names that are a function's own."""
    return (
        defined(statement) - bound(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
        else set()
    )


def defined(tree):
    """Every name that is given a value or is an argument in a piece of code."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return names | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def names_in(tree):
    """Every name that is read in a piece of code."""
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def used(tree, aliases, own):
    """The dotted paths of all names and attributes that begin with an import."""
    for node in ast.walk(tree):
        path = dotted(node)
        if path and path[0] in aliases and path[0] not in own:
            yield ".".join([aliases[path[0]], *path[1:]])


def dotted(node):
    """The parts of a.b.c, or None for another expression."""
    parts = []
    while isinstance(node, ast.Attribute) and len(parts) < DEEPEST:
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None
