"""A Sphinx extension that sets formulas when the book is built: TeX becomes MathML, which browsers draw.

No script has to run, so a page stands still from the first moment. A formula that cannot be set is a warning
with its page and its TeX, which makes a strict build fail. Each formula carries its TeX as an annotation,
which is what a reader copies. The pages that hold a formula get the style sheet, the script and the font: a
part of STIX Two Math, made by tools/math_font.py.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

HERE = Path(__file__).parent
STYLE, SCRIPT, FONT = HERE / "formulas.css", HERE / "formulas.js", HERE / "fonts" / "stix-two-math.woff2"
CONVERTER = LatexToMathML(annotation=True, fancy_error=False)
# A new line may ask for more room: \\[6pt]. math-core would print the brackets; rows have room enough.
NEW_LINE = re.compile(r"\\\\(?:\*|\[\s*-?[\d.]+\s*[a-z]{2}\s*\])+")
CIRCLED = re.compile("<mo>([⊕⊖⊗⊘⊙])</mo>")  # Firefox draws these as large as a sum in a displayed formula
INNERMOST = re.compile(r"\\begin\{(\w+\*?)\}(?:(?!\\begin\{).)*?\\end\{\1\}", re.DOTALL)
# TeX sets a thin space before \left, which writers take back. math-core sets none.
TAKEN_BACK = re.compile(r"\\!\s*(?=\\left\b)")
# Sphinx numbers equations, where math-core would count from 1 in each formula: these become inner ones.
INNER = {"align": "aligned", "gather": "gathered", "split": "aligned", "equation": "gathered"}
ENVIRONMENT = re.compile(rf"\\(begin|end)\{{({'|'.join(INNER)})\*?\}}")


def set_formula(tex, display):
    """The MathML of a formula; LatexError if it cannot be set."""
    tex = TAKEN_BACK.sub("", NEW_LINE.sub(r"\\\\", tex.strip()))
    tex = ENVIRONMENT.sub(lambda found: f"\\{found[1]}{{{INNER[found[2]]}}}", tex)
    mathml = CONVERTER.convert_with_local_state(tex, displaystyle=display)
    return CIRCLED.sub(r'<mo largeop="false">\1</mo>', mathml)


def has_lines(tex):
    """Whether a formula is broken into lines outside of any environment."""
    while (rest := INNERMOST.sub("", tex)) != tex:
        tex = rest
    return r"\\" in tex


def one_block(tex):
    """A displayed formula as one environment, by Sphinx's rules: an empty line ends a line of the formula,
    and lines are aligned at their &.
    """
    parts = [part.strip() for part in re.split(r"\n\s*\n", tex) if part.strip()]
    whole = r" \\ ".join(parts)
    return rf"\begin{{aligned}} {whole} \end{{aligned}}" if has_lines(whole) else whole


def converted(tex, display, node):
    """The MathML of a node's formula. If it cannot be set, warn, and show the TeX."""
    try:
        return set_formula(tex, display)
    except LatexError as error:
        logging.getLogger(__name__).warning("the formula %r cannot be set: %s", tex, error, location=node)
        return f"<code>{escape(tex)}</code>"


def visit_inline(translator, node):
    """Write a formula inside a sentence."""
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    translator.body.append(converted(node.astext(), False, node) + "</span>")
    raise nodes.SkipNode


def visit_block(translator, node):
    """Write a displayed formula, with its number if it has a label."""
    translator.body.append(translator.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    tex = node.astext() if node["nowrap"] else one_block(node.astext())
    translator.body.append(converted(tex, True, node) + "</div>\n")
    raise nodes.SkipNode


def ship_files(app, config):
    """Copy the style sheet, the script, the font and its licence to the book's _static folder."""
    config.html_static_path += [str(STYLE), str(SCRIPT), str(FONT.parent)]


def link_files(app, pagename, templatename, context, doctree):
    """Link the style sheet and the script from pages that hold a formula, and ask for the font early."""
    if "<math" in context.get("body", ""):
        app.add_css_file(STYLE.name)
        app.add_js_file(SCRIPT.name, loading_method="defer")
        address = context["pathto"](f"_static/{FONT.name}", 1)
        context["metatags"] += (
            f'<link rel="preload" href="{address}" as="font" type="font/woff2" crossorigin>\n'
        )


def setup(app):
    """Make this the book's renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("config-inited", ship_files)
    app.connect("html-page-context", link_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
