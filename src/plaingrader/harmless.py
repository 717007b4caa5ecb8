"""What a student wrote, made harmless for whoever opens it: in the formgrader, in the feedback, anywhere.

nbgrader's pages take Markdown and outputs as they are, and Markdown may hold any HTML. So what is shown is
rendered here and cleaned by nh3 (https://nh3.readthedocs.io/), which knows how browsers read HTML:
formatting, formulas and pictures of pixels stay, and nothing that runs, loads, or lies over the page.
"""

import re
from html import escape

import nbformat
import nh3
from latex2mathml.converter import convert
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from .reading import plain

FORMATTED, LONGEST, MOST, FORMULA = 10_000, 50_000, 500_000, 500  # characters that are formatted, and shown
SIMPLE = re.compile(r"</?(b|br|dd|del|div|dl|dt|em|i|kbd|li|ol|p|s|strong|sub|sup|u|ul)\s*/?>", re.I)
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
DONE = "<div><div>"  # what `one_line` made, which is cleaned again and not shown as typed
LINK = re.compile(r"(https?://|mailto:|#)", re.I)
MATHML = """math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup
    msup mtable mtd mtext mtr munder munderover"""
HTML = """a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s span
    strong sub summary sup table tbody td th thead tr u ul"""
TAGS = set(f"{MATHML} {HTML}".split())
KEPT = ("nbgrader", "rubric")  # of a cell's metadata; students' notebooks have neither of their own
SCHEMES = {"http", "https", "mailto", "data"}  # of which `kept` lets data pass for pictures alone
ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "math": {"display"},
    "mo": {"stretchy"},
    "mspace": {"width"},
}


def html(markdown, attachments=None):
    """Markdown as HTML that can do nothing. Long texts and long formulas come as they were typed."""
    if len(markdown) > FORMATTED:
        return f"<pre>{escape(cut(markdown))}</pre>"
    return clean(MarkdownWithMath(renderer=Renderer(attachments)).render(markdown))


def clean(text):
    """HTML without anything that runs or loads."""
    return nh3.clean(text, tags=TAGS, attributes=ATTRIBUTES, attribute_filter=kept, url_schemes=SCHEMES)


def kept(tag, attribute, value):
    """An attribute's value, or None: of addresses, links to the web and pictures that are all there."""
    wanted = {"href": LINK.match, "src": PICTURE.fullmatch}.get(attribute)
    return value if wanted is None or wanted(value.strip()) else None


def cut(text):
    """The text, or as much of it as a page can show."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n(There is more than can be shown.)"


class Renderer(IPythonRenderer):
    """nbconvert's, with formulas as MathML, which browsers draw by themselves."""

    def __init__(self, attachments=None):
        super().__init__(escape=False, exclude_anchor_links=True)
        self.files = attachments if isinstance(attachments, dict) else {}

    def inline_html(self, html):
        return typed(html)

    def block_html(self, html):
        return html if html.startswith(DONE) else f"<p>{typed(html)}</p>\n"

    def block_code(self, code, info=None):
        return HTMLRenderer.block_code(self, code)

    def image(self, text, url, title=None):
        url = attached(self.files.get(url.removeprefix("attachment:"))) or url
        fits = PICTURE.fullmatch(url)
        return super().image(text, url) if fits else escape(f"[picture: {text or url[:80]}]")

    def _embed_image_or_attachment(self, src):
        return src

    def inline_math(self, body):
        return formula(body, "inline") or super().inline_math(body)

    def block_math(self, body):
        return formula(body, "block") or super().block_math(body)

    def latex_environment(self, name, body):
        typed = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return formula(typed, "block") or super().latex_environment(name, body)


def typed(html):
    """HTML that a student typed: simple tags work, of all others one sees how they were typed."""
    return re.sub(r"<[^>]*>?", lambda tag: tag[0] if SIMPLE.fullmatch(tag[0]) else escape(tag[0]), html)


def attached(file):
    """The address of an attachment that is a picture of pixels, or None."""
    if not isinstance(file, dict):
        return None
    kinds = [kind for kind in ("image/png", "image/jpeg", "image/gif") if isinstance(file.get(kind), str)]
    return f"data:{kinds[0]};base64,{file[kinds[0]]}" if kinds else None


def formula(body, display):
    """LaTeX as MathML; None for what cannot be read."""
    if len(body) > FORMULA:
        return None
    try:
        return convert(body.strip(), display=display)
    except Exception:  # it has an error of its own for every mistake in a formula, and others for odd ones
        return None


def notebook(nb):
    """A copy of a graded notebook for nbgrader's pages: made anew, each part of a known kind."""
    left, cells = MOST, []
    for cell in nb.cells:
        shown = harmless_cell(cell) if left > 0 else new_markdown_cell("(There is more than can be shown.)")
        left -= len(shown.source)
        marking = cell.metadata.get("nbgrader")
        if marking or left > 0:
            shown.metadata = NotebookNode({key: cell.metadata[key] for key in KEPT if key in cell.metadata})
            cells.append(shown)
    language = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=language)


def write(source, target, earlier=None, rubrics=None):
    """The copy of a graded notebook's file. By an answer's id, earlier: what had a mark before, which
    stands above the new text; rubrics: what earns points, below it.
    """
    nb = notebook(nbformat.read(source, as_version=4))
    cells = []
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in (earlier or {}):
            before = earlier[name]
            head = f"<p><b>Handed in before, and marked {before['mark']}:</b></p>"
            text = f"{head}<pre>{escape(cut(before['text']))}</pre>"
            cells.append(new_markdown_cell(one_line(text)))
        cells.append(cell)
        if name in (rubrics or {}):
            rubric = new_markdown_cell(
                one_line(html(f"**Rubric:** {rubrics[name]}")), metadata={"rubric": name}
            )
            cells.append(rubric)
    nb.cells = cells
    nbformat.write(nb, target)


class Harmless(Preprocessor):
    """For nbconvert: the same at the moment in which a page is made, whoever made the notebook."""

    enabled = True

    def preprocess(self, nb, resources):
        return notebook(nb), resources


def harmless_cell(cell):
    """A cell of the same kind; a raw one becomes a text that is shown as it was typed."""
    if cell.cell_type == "code":
        shown = new_code_cell(cut(cell.source), outputs=cell.outputs, execution_count=cell.execution_count)
        checked(shown, cell)
        return shown
    if cell.cell_type == "raw":
        return new_markdown_cell(one_line(f"<pre>{escape(cut(cell.source))}</pre>"))
    return new_markdown_cell(one_line(html(cell.source, cell.get("attachments"))))


def one_line(safe):
    """HTML as Markdown that comes out as this HTML: one block, with nothing that Markdown or a formula begins
    with.
    """
    for sign in ("\\", "$", "`", "\n", "\r"):
        safe = safe.replace(sign, f"&#{ord(sign)};")
    return f"{DONE}{safe}</div></div>"


def checked(cell, original=None):
    """Give a code cell outputs and a count of known kinds, whatever a student's kernel said."""
    outputs = [harmless_output(output, original or cell) for output in cell.get("outputs", [])]
    cell.outputs = [NotebookNode(plain(output)) for output in outputs]
    count = cell.get("execution_count")
    cell.execution_count = count if isinstance(count, int) and 0 <= count < 10**6 else None


def harmless_output(output, cell):
    """An output of texts and of pictures of pixels; of HTML only the grader's own verdict."""
    kind = output.output_type
    if kind == "stream":
        return new_output(kind, name="stderr" if output.name == "stderr" else "stdout", text=str(output.text))
    if kind == "error":
        lines = [str(line) for line in output.traceback]
        return new_output(kind, ename=str(output.ename), evalue=str(output.evalue), traceback=lines)
    data = {"text/plain": str(output.data.get("text/plain", ""))}
    picture = attached({"image/png": output.data.get("image/png")})
    if picture and PICTURE.fullmatch(picture):
        data["image/png"] = output.data["image/png"]
    verdict = "plaincourse" in output.get("metadata", {}) and bool(
        cell.metadata.get("nbgrader", {}).get("grade")
    )
    if verdict:
        data["text/html"] = clean(str(output.data.get("text/html", "")))
    return new_output("display_data", data, metadata={"plaincourse": {}} if verdict else {})
