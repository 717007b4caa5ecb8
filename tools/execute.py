"""Run notebooks from top to bottom and store what they show, in place.

    python tools/execute.py                            every chapter
    python tools/execute.py chapters/03_matmul.ipynb   the ones named

What is stored is normalized: a second run without a change gives no difference. A notebook with a cell that
raises, or that writes to stderr, is left as it was; the cell is named and the exit status is 1.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TIMEOUT = 300  # seconds a cell may take
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # it points at a kernel that is gone
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class NotebookError(Exception):
    """A notebook that could not be run cleanly; its text names the cell and what went wrong."""


def normalize(notebook):
    """Take out of an executed notebook, in place, what changes from run to run or belongs to the machine."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.update(kernelspec=KERNELSPEC, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def refuse_stderr(notebook):
    """Raise NotebookError if a cell wrote to stderr: a warning is a fault of the chapter."""
    for number, cell in enumerate(notebook.cells, start=1):
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                raise NotebookError(f"cell {number} ({cell.id}) wrote to stderr:\n{output.text}")


def execute(path):
    """Run the notebook at `path` in a new kernel and write it back. Raises NotebookError and writes nothing
    if it fails.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name=KERNELSPEC["name"],
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    started = []
    client.on_cell_start = lambda cell, cell_index: started.append(cell_index)
    try:
        client.execute()
    except CellExecutionError as error:
        number, cell = started[-1] + 1, notebook.cells[started[-1]]
        raise NotebookError(
            f"cell {number} ({cell.id}) raised {error.ename}: {error.evalue}\n{cell.source}"
        ) from None
    except Exception as error:  # a kernel that died, a cell that took too long
        number = started[-1] + 1 if started else 0
        raise NotebookError(f"cell {number}: {type(error).__name__}: {error}") from error
    refuse_stderr(notebook)
    normalize(notebook)
    before = path.read_text(encoding="utf-8")
    after = nbformat.writes(notebook) + "\n"
    if after != before:
        fresh = path.with_suffix(".part")  # a notebook is never half-written
        fresh.write_text(after, encoding="utf-8", newline="\n")
        fresh.replace(path)
    return after != before


def main(names):
    paths = [Path(name) for name in names] or sorted(
        path for folder in ("chapters", "chapters/appendix") for path in Path(folder).glob("*.ipynb")
    )
    missing = [path for path in paths if not path.is_file()]
    if missing:
        sys.exit(f"No such notebook: {', '.join(map(str, missing))}")
    failed = False
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for path, future in [(path, pool.submit(execute, path)) for path in paths]:
            try:
                print(f"{path}: {'changed' if future.result() else 'unchanged'}", flush=True)
            except NotebookError as error:
                failed = True
                print(f"{path}: FAILED, left as it was: {error}", file=sys.stderr, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
