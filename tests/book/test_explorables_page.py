"""The explorables on a built page, opened from its folder, without a kernel: their numbers are
plainformer's.
"""

import functools
import http.server
import subprocess
import sys
import threading
from pathlib import Path

import axe_playwright_python
import nbformat
import numpy as np
import pytest
from explorable_kinds import KINDS
from filelock import FileLock
from project import THOROUGH
from visits import PATIENCE

from plaincourse import explorables
from plaincourse.counting import cache_bytes, work
from plaincourse.explorables.gate import CURVES, LOWEST_AT
from plaincourse.explorables.parameters import SIZES
from plainformer.activations import silu
from plainformer.attention import attention, attention_weights, causal_mask
from plainformer.linear import linear
from plainformer.normalization import layer_norm, rms_norm
from plainformer.positions import rope

BEATS = {"inside": 450, "matmul": 550, "reach": 450}  # milliseconds between two steps
COLOURS = ["color-contrast"]  # all that another theme changes
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
CONFIG = """\
title: Test
only_build_toc_files: true
execute: {execute_notebooks: "off"}
sphinx:
  extra_extensions: [plaincourse.book.theme, plaincourse.book.explorables]
  config:
    nb_mime_priority_overrides: [["html", "text/html", 0]]
    nb_ipywidgets_js: {}
"""
TOC = "{format: jb-book, root: index, chapters: [{file: live}, {file: odd}]}"
PLACEHOLDERS = {kind.__name__.lower(): kind().placeholder() for kind in KINDS}
HOSTILE = "<img src=x onerror=alert(1)>'\"&amp;"


def stored(explorable):
    """The outputs that a notebook keeps of an explorable."""
    data, _ = explorable._repr_mimebundle_()
    del data["application/vnd.jupyter.widget-view+json"]
    return data


def write_page(path, outputs):
    """Write an executed notebook with one cell for each output."""
    cells = [nbformat.v4.new_markdown_cell("# Explorables\n\nA page.")]
    for count, data in enumerate(outputs, start=1):
        output = nbformat.v4.new_output("execute_result", data, execution_count=count)
        cells.append(
            nbformat.v4.new_code_cell(
                "explorable", id=f"cell-{count}", execution_count=count, outputs=[output]
            )
        )
    metadata = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)


def build(folder):
    """Build a small book in `folder`: a page without explorables, one with all, and one with hostile and
    broken ones.
    """
    broken = stored(explorables.Matmul())
    broken["text/html"] = broken["text/html"].replace('"x": [1.0', '"y": [1.0')
    write_page(folder / "index.ipynb", [])
    write_page(folder / "live.ipynb", [stored(kind()) for kind in KINDS])
    write_page(
        folder / "odd.ipynb",
        [stored(explorables.Sampling(words=[HOSTILE] * 12)), stored(explorables.Sampling(seed=7)), broken],
    )
    (folder / "_config.yml").write_text(CONFIG, encoding="utf-8")
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        "from jupyter_book.cli.main import main; main()",
        "build",
        "-W",
        "-n",
        "-q",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def small_book(shared):
    """The folder of the small book's HTML, built once."""
    folder = shared / "explorables"
    with FileLock(shared / "explorables.lock"):
        if not folder.exists():
            folder.mkdir()
            build(folder)
    return folder / "_build" / "html"


@pytest.fixture
def open_page(browser, small_book):
    """Open a page of the small book in a new window: open_page("live.html", width=390, theme="dark")."""
    contexts = []

    def open_page(name, width=1280, theme="light", motion="reduce", root=None):
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion=motion)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        contexts.append(context)
        page = watched(context.new_page())
        page.goto(f"{root or small_book.as_uri()}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def watched(page):
    """The page, which keeps what it complains about and asks for."""
    page.complaints, page.addresses = [], []
    page.on(
        "console",
        lambda message: (
            page.complaints.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.addresses.append(request.url))
    return page


@pytest.fixture(scope="module")
def window(browser, small_book):
    """The page of all explorables, opened once. Its clock stands still: a test says how much time passes."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = watched(context.new_page())
    page.goto(f"{small_book.as_uri()}/live.html")
    page.clock.install(time=0)
    page.clock.pause_at(60)
    yield page
    context.close()


# The placeholder as the notebook has it, in the place of the explorable; the loader brings it to life again.
MOUNT_ANEW = """([name, placeholder]) => {
    const fresh = document.createRange().createContextualFragment(placeholder).firstElementChild;
    document.querySelector(`.plain-explorable[data-module="${name}"]`).replaceWith(fresh);
    const loader = document.createElement('script');
    loader.src = document.querySelector('script[src*="/loader.js"]').src;
    document.head.append(loader);
    scrollTo(0, 0);
}"""


@pytest.fixture
def fresh(window):
    """An explorable of the open page, live and as it is at first: fresh("gate", width=390)."""

    def fresh(name, width=1280, motion="reduce"):
        window.set_viewport_size({"width": width, "height": 900})
        window.emulate_media(reduced_motion=motion)
        window.complaints.clear()
        window.evaluate(MOUNT_ANEW, [name, PLACEHOLDERS[name]])
        return find(window, name)

    return fresh


def find(page, module):
    """The live explorable of that module."""
    root = page.locator(f'.plain-explorable[data-module="{module}"][data-live]').first
    root.wait_for()
    return root


def numbers(root, *selectors):
    """The full-precision numbers of all nodes that match, as an array; a list of arrays for several
    selectors.
    """
    found = root.evaluate(
        """(root, selectors) => selectors.map(
            one => [...root.querySelectorAll(one)].map(node => Number(node.dataset.value)))""",
        selectors,
    )
    return np.array(found[0]) if len(selectors) == 1 else [np.array(one) for one in found]


def shown(root):
    """Everything that an explorable says: its numbers, its words and which boxes are ticked."""
    return root.evaluate("""node => JSON.stringify([
            node.innerText,
            [...node.querySelectorAll('[data-value]')].map(one => one.dataset.value),
            [...node.querySelectorAll('input')].map(one => [one.value, one.checked]),
        ])""")


def check_matmul(root):
    x, weight, row, z, lane_x, lane_column, products, steps, sums, result = numbers(
        root,
        ".pe-x-sliders .pe-readout",
        ".pe-matrix:not(.pe-row) td",
        ".pe-row td",
        ".pe-outputs [data-value]",
        ".pe-rowx [data-value]",
        ".pe-column [data-value]",
        ".pe-product [data-value]",
        ".pe-steps [data-value]",
        ".pe-sums [data-value]",
        ".pe-result",
    )
    column, terms, picked = root.evaluate(
        """root => [root.querySelector('.pe-outputs input:checked').value,
            root.querySelector('[data-terms]').dataset.terms,
            root.querySelectorAll('td.pe-picked').length].map(Number)"""
    )
    weight = weight.reshape(4, 8)
    expected = x * weight[:, column]
    np.testing.assert_array_equal(weight, explorables.WEIGHT)
    np.testing.assert_array_equal([row, lane_x, lane_column], [x, x, weight[:, column]])
    np.testing.assert_allclose(z, linear(x, weight), atol=1e-12)
    np.testing.assert_allclose(products, [*expected, expected[:terms].sum()], atol=1e-12)
    np.testing.assert_array_equal(steps, products[:-1])
    np.testing.assert_allclose(sums, [*np.cumsum(expected), expected[:terms].sum()], atol=1e-12)
    np.testing.assert_allclose(result, z[[column]], atol=1e-12)
    assert picked == 4


def check_gate(root):
    [z, *settings], values, gates, products, result = numbers(
        root, ".pe-readout", "[data-curve]", "[data-gate]", "[data-product]", ".pe-result [data-value]"
    )
    ticked, visible = root.evaluate(
        """root => [[...root.querySelectorAll('input[type=checkbox]')].map(one => one.checked),
            [...root.querySelectorAll('[data-curve]')].map(one => one.checkVisibility())]"""
    )
    expected = {name: function(np.array(z)) for name, function in CURVES.items()}
    np.testing.assert_allclose(
        values, [*expected.values(), expected["gelu_tanh"] - expected["gelu"]], rtol=1e-10, atol=1e-15
    )
    assert visible == [*ticked, ticked[2] and ticked[3]]
    a, u = np.array(settings).reshape(4, 2).T
    np.testing.assert_allclose(gates, silu(a), atol=1e-14)
    np.testing.assert_allclose([products, result], [silu(a) * u] * 2, atol=1e-13)


def sampling_settings(root):
    """The settings on show, in the form that the Python class takes."""
    raw = root.locator(".pe-readout").evaluate_all(
        "nodes => nodes.map(node => JSON.parse(node.dataset.value))"
    )
    temperature, top_k, top_p = raw
    seed = int(root.get_by_label("seed", exact=True).input_value())
    return {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}


def check_sampling(root):
    settings = sampling_settings(root)
    expected = explorables.Sampling(**settings).shares()
    shares, counts, gap = numbers(root, ".pe-share[data-value]", ".pe-count", "[data-gap]")
    disabled, status = root.evaluate(
        """root => [[...root.querySelectorAll('[data-draw]')].map(one => one.disabled),
            root.querySelector('.pe-status').textContent]"""
    )
    assert disabled == [expected is None] * 3
    if expected is None:
        assert len(shares) == 0
        assert "would reach into everything else" in status
        return
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    np.testing.assert_array_equal(counts, drawn(expected, settings["seed"], int(counts.sum())))
    if counts.sum():
        np.testing.assert_allclose(gap, [np.abs(expected - counts / counts.sum()).max()], atol=1e-12)


def drawn(shares, seed, n):
    """The counts of n draws, with the same generator (mulberry32) written a second time, in Python."""
    counts, state, edges = np.zeros(len(shares), int), seed, np.cumsum(shares)
    for _ in range(n):
        state = (state + 0x6D2B79F5) % 2**32
        mixed = (state ^ (state >> 15)) * (state | 1) % 2**32
        mixed ^= (mixed + (mixed ^ (mixed >> 7)) * (mixed | 61)) % 2**32
        counts[np.searchsorted(edges, (mixed ^ (mixed >> 14)) / 2**32, side="right")] += 1
    return counts


def attention_settings(root):
    """Who asks, counted from 0, whether the scores are divided, and whether the mask is on."""
    asking, *switches = root.evaluate(
        """root => [Number(root.querySelector('input[type=radio]:checked').value),
            ...[...root.querySelectorAll('input[type=checkbox]')].map(one => one.checked)]"""
    )
    return asking, *switches


def check_attention(root):
    query, keys, values, scores, ready, weights, total, mix = numbers(
        root, ".pe-readout", ".pe-key [data-value]", ".pe-value [data-value]", ".pe-score", ".pe-ready",
        ".pe-weight [data-value]", ".pe-sum", ".pe-mix [data-value]",
    )  # fmt: skip
    asking, scaled, causal = attention_settings(root)
    query, keys, values = query[None], keys.reshape(4, 2), values.reshape(4, 2)
    mask = causal_mask(4)[[asking]] if causal else np.ones((1, 4), bool)
    longer = query if scaled else query * np.sqrt(2)  # the library always divides
    np.testing.assert_array_equal([keys, values], [explorables.attention.KEY, explorables.attention.VALUE])
    np.testing.assert_allclose(scores, (query @ keys.T)[0], atol=1e-14)
    np.testing.assert_allclose(ready, np.where(mask, longer @ keys.T / np.sqrt(2), -np.inf)[0], atol=1e-14)
    np.testing.assert_allclose(weights, attention_weights(longer, keys, mask)[0], atol=1e-14)
    np.testing.assert_allclose(mix, attention(longer, keys, values, mask)[0], atol=1e-14)
    np.testing.assert_allclose(total, [1], atol=1e-14)
    bars = root.locator(".pe-weight i").evaluate_all(
        "bars => bars.map(bar => parseFloat(bar.style.width) / 100)"
    )
    np.testing.assert_allclose(bars, weights, atol=1e-4)


def inside_settings(root):
    """The settings on show, in the form that the Python class takes."""
    word, head = root.evaluate(
        "root => [...root.querySelectorAll('input[type=radio]:checked')].map(one => Number(one.value))"
    )
    return {"word": word, "head": head, "after": int(root.get_by_label("blocks that have run").input_value())}


def check_inside(root):
    settings = inside_settings(root)
    expected = explorables.Inside(**settings)
    weights, shares, place = numbers(root, "[data-weight]", "tr:not(.pe-empty) [data-share]", "[data-place]")
    np.testing.assert_allclose(weights / 100, expected.weights())
    np.testing.assert_array_equal(shares, [share for _, share in expected.says()] + [expected.others()])
    np.testing.assert_array_equal(place, expected.places()[[settings["after"]]])
    names, widths, strips, ends = root.evaluate("""root => {
            const rows = [...root.querySelectorAll('tbody tr:not(.pe-empty)')];
            const sizes = (selector, side) =>
                [...root.querySelectorAll(selector)].map(bar => parseFloat(bar.style[side]));
            const points = [...root.querySelector('.pe-climb').points].map(one => [one.x, one.y]);
            const here = ['cx', 'cy'].map(name => Number(root.querySelector('.pe-here').getAttribute(name)));
            return [rows.map(row => row.firstChild.textContent),
                sizes('tr:not(.pe-empty) .pe-weight i', 'width'),
                sizes('.pe-strip i', 'height'), [...points, here]];
        }""")
    assert names == expected.recording["prompt"] + [word for word, _ in expected.says()] + ["all others"]
    np.testing.assert_allclose(widths, [*weights, *shares])
    every = [explorables.Inside(**settings | {"head": head}).weights() for head in range(9)]
    np.testing.assert_allclose(np.reshape(strips, (9, 5)), 100 * np.array(every))
    across, down = np.array(ends).T
    np.testing.assert_allclose(across[:-1], np.linspace(across[0], across[30], 31), atol=1e-3)
    assert across[31] == pytest.approx(across[settings["after"]]) and down[31] == pytest.approx(
        down[settings["after"]]
    )
    decades = np.log10(expected.places())
    np.testing.assert_allclose(
        (down[:-1] - down[30]) / (down.max() - down[30]), decades / decades.max(), atol=1e-4
    )


def check_normalization(root):
    [*x, scale, shift], row, layer, rms, gaps = numbers(
        root, ".pe-readout", "[data-row]", "[data-layer]", "[data-rms]", ".pe-verdict[data-value]"
    )
    x, one, zero = np.array(x), np.ones(4), np.zeros(4)
    np.testing.assert_allclose(row, scale * x + shift, atol=1e-12)
    np.testing.assert_allclose(layer, layer_norm(row, one, zero), atol=1e-10)
    np.testing.assert_allclose(rms, rms_norm(row, one), atol=1e-10)
    np.testing.assert_allclose(
        numbers(root, "[data-fact-row]"), [row.mean(), row.var(), np.sqrt((row**2).mean())], atol=1e-12
    )
    np.testing.assert_allclose(numbers(root, "[data-fact-layer]"), [layer.mean(), layer.var()], atol=1e-12)
    np.testing.assert_allclose(
        numbers(root, "[data-fact-rms]"), [rms.mean(), np.sqrt((rms**2).mean())], atol=1e-12
    )
    alone = [layer_norm(x, one, zero), rms_norm(x, one)]
    np.testing.assert_allclose(
        gaps, [np.abs(layer - alone[0]).max(), np.abs(rms - alone[1]).max()], atol=1e-10
    )


def parameter_settings(root):
    """The settings on show, in the form that the Python class takes; it refuses heads that do not fit the
    width.
    """
    names = ["width", "layers", "vocabulary", "context", "multiple", "heads"]
    return dict(zip(names, numbers(root, ".pe-readout").astype(int).tolist()))


def check_parameters(root):
    settings = parameter_settings(root)
    counts, small = (np.array([*explorables.Parameters(**one).counts().values()]) for one in (settings, {}))
    now, before = (np.append(one, one.sum()) for one in (counts, small))
    shown_counts, shares, times, result = numbers(
        root, "[data-count]", "[data-share]", "[data-times]", ".pe-result"
    )
    np.testing.assert_array_equal(shown_counts, now)
    np.testing.assert_array_equal(result, now[-1:])
    np.testing.assert_allclose(shares, now / now[-1], atol=1e-15)
    np.testing.assert_allclose(times, now / before, rtol=1e-14)
    bars, marks, texts, ticked, note = root.evaluate(
        """root => [[...root.querySelectorAll('.pe-weight i')].map(bar => parseFloat(bar.style.width) / 100),
            [...root.querySelectorAll('.pe-weight b')].map(mark => parseFloat(mark.style.left) / 100),
            [...root.querySelectorAll('[data-count]')].map(cell => cell.textContent),
            [...root.querySelectorAll('input[type=radio]:checked')].map(one => one.value),
            root.querySelector('.pe-note').textContent]"""
    )
    np.testing.assert_allclose([bars, marks], [now / now[-1], before / before[-1]], atol=1e-5)
    assert texts == [f"{count:,}" for count in now]
    assert ticked == [
        name for name, size in SIZES.items() if settings == explorables.Parameters(**size).state()
    ]
    width = settings["width"]
    assert note == (f"Inside the MLP a row has F = {settings['multiple'] * width:,} numbers. "
                    f"A head works on {width // settings['heads']:,} of the {width:,}.")  # fmt: skip


def check_reach(root):
    (asking, asked, width, layers), known, reached, paths, chains, [taken] = numbers(
        root,
        ".pe-readout",
        "[data-known]",
        "[data-reached]",
        "[data-path]",
        "[data-chain]",
        "[data-progress]",
    )
    explorable = explorables.Reach(asking=int(asking), asked=int(asked), width=int(width), layers=int(layers))
    expected = explorable.known()
    np.testing.assert_array_equal(known, expected.sum(axis=1))
    np.testing.assert_array_equal(reached, expected[:, int(asked) - 1])
    np.testing.assert_array_equal(paths, explorable.paths())
    np.testing.assert_array_equal(chains, explorable.chains())
    # The pictures: the full dots among the words, and how many steps of each way are drawn.
    dots = root.locator(".pe-lattice svg").evaluate_all("""pictures => pictures.map(svg => {
            const dots = [...svg.querySelectorAll('.pe-known, .pe-unknown')];
            const lowest = Math.max(...dots.map(dot => Number(dot.getAttribute('cy'))));
            const last = dots.filter(dot => Number(dot.getAttribute('cy')) === lowest);
            return last.map(dot => dot.matches('.pe-known'));
        })""")
    np.testing.assert_array_equal(dots, expected)
    steps = root.locator(".pe-lattice svg").evaluate_all(
        "pictures => pictures.map(svg => svg.querySelectorAll('.pe-stop').length)"
    )
    most = [0 if path == np.inf else path for path in paths]
    most[1] = min(most[1], layers)
    np.testing.assert_array_equal(steps, np.minimum(most, taken))


def in_order(root, name):
    """The four numbers of the turned query or key, in the order of the row and not of the pairs."""
    found = root.locator(f"[data-{name}]").evaluate_all(
        "(nodes, name) => nodes.map(one => [one.getAttribute(name), one.dataset.value].map(Number))",
        f"data-{name}",
    )
    return np.array([value for _, value in sorted(found)])


def check_rope(root):
    (t, s), terms, total, distance = numbers(
        root, ".pe-readout", "[data-term]", "[data-total]", "[data-distance]"
    )
    far, halves = root.locator("input[type=checkbox]").evaluate_all("boxes => boxes.map(one => one.checked)")
    options = {"base": 10_000 if far else 100, "pairing": "halves" if halves else "neighbours"}
    start = explorables.Rope()
    query = rope(np.array([start.query]), [int(t)], **options)[0]
    key = rope(np.array([start.key]), [int(s)], **options)[0]
    np.testing.assert_allclose(in_order(root, "query"), query, atol=1e-12)
    np.testing.assert_allclose(in_order(root, "key"), key, atol=1e-12)
    pairs = [[0, 2], [1, 3]] if halves else [[0, 1], [2, 3]]
    np.testing.assert_allclose(terms, [query[pair] @ key[pair] for pair in pairs], atol=1e-12)
    np.testing.assert_allclose([*total, *distance], [query @ key, t - s], atol=1e-12)
    np.testing.assert_allclose(on_the_curve(root), [0, 0], atol=0.01)


def on_the_curve(root):
    """How far the point of the present distance is from the curve, across and down, in the picture's
    units.
    """
    return root.evaluate("""root => {
            const here = root.querySelector('.pe-here');
            const [x, y] = ['cx', 'cy'].map(name => Number(here.getAttribute(name)));
            const points = [...root.querySelector('.pe-dots').points].map(one => [one.x - x, one.y - y]);
            return points.sort((a, b) => Math.abs(a[0]) - Math.abs(b[0]))[0].map(Math.abs);
        }""")


def check_caching(root):
    (prompt, token), costs, (now, earlier, again, masked, kept) = numbers(
        root, ".pe-readout", "[data-cost]", "[data-pairs]"
    )
    cached = root.locator("input[type=checkbox]").is_checked()
    lengths = np.arange(prompt, prompt + token, dtype=int)
    steps = np.array([work(np.where(lengths == prompt, lengths, 1), lengths), work(lengths, lengths)])
    held = cache_bytes(L=12, G=12, S=lengths[-1], D=64)
    np.testing.assert_array_equal(costs, [*steps[:, -1], *steps.sum(axis=1), held, 0])
    said = root.locator(".pe-result").inner_text()
    assert said.startswith(f"Token {token:.0f}, {'with' if cached else 'without'} the cache: ")
    assert said.endswith(f" = {steps[0 if cached else 1, -1]:,} multiply–adds.")

    # Which rows run in the step, which have run before, and what the mask of the rows that run hides.
    keys, first = int(lengths[-1]), token == 1
    new = 1 if cached and not first else keys
    done = 0 if first else keys - 1
    seen, all_pairs = causal_mask(new, keys).sum(), causal_mask(keys, keys).sum()
    expected = [seen, 0, 0] if first else [keys, all_pairs - seen, 0] if cached else [keys, 0, seen - keys]
    np.testing.assert_array_equal(
        [now, earlier, again, masked, kept], [*expected, new * keys - seen, keys - new]
    )
    pairs, rows = drawn_pairs(root, keys)
    np.testing.assert_allclose(pairs, [now, earlier, again, masked], rtol=1e-3)
    np.testing.assert_allclose(rows, [keys - done, done if cached else 0, 0 if cached else done], atol=1e-6)


def drawn_pairs(root, keys):
    """How many pairs the areas of the picture cover (now, earlier, again, masked), and how many rows the
    strips (now, kept, again).
    """
    areas, heights = root.evaluate("""root => {
            const area = kind => {
                const points = [...root.querySelector(`polygon.pe-pairs-${kind}`).points];
                const turn = (a, b) => a.x * b.y - b.x * a.y;
                const turns = points.map((a, i) => turn(a, points[(i + 1) % points.length]));
                return Math.abs(turns.reduce((sum, one) => sum + one, 0) / 2);
            };
            const strip = kind => root.querySelector(`.pe-plane > svg > rect.pe-pairs-${kind}`);
            const height = kind => Number(strip(kind).getAttribute('height'));
            return [['now', 'earlier', 'again', 'masked'].map(area), ['now', 'kept', 'again'].map(height)];
        }""")
    return np.array(areas) * (keys / 300) ** 2, np.array(heights) * keys / 300


def check_descent(root):
    rate, start = numbers(root, ".pe-readout")
    path, losses = numbers(root, "figure:first-of-type circle", "figure:last-of-type circle")
    facts = numbers(root, "[data-fact]")
    explorable = explorables.Descent(start=start, rate=rate, steps=len(path) - 2)
    slopes = np.array([explorable.slope(w) for w in path])
    assert path[0] == start
    # Step by step: with a large learning rate, a difference in the last digit grows from step to step.
    np.testing.assert_allclose(path[1:], path[:-1] - rate * slopes[:-1], atol=1e-14)
    np.testing.assert_allclose(losses, [explorable.loss(w) for w in path], atol=1e-14)
    np.testing.assert_allclose(
        facts, [explorable.probability(path[-2]), losses[-2], slopes[-2], path[-1]], atol=1e-14
    )
    np.testing.assert_array_equal(numbers(root, ".pe-result"), losses[[-2]])
    if rate <= 2:
        np.testing.assert_allclose(path, explorable.path(), atol=1e-12)
    spots = root.evaluate(
        "root => [...root.querySelectorAll('circle')].map(one => ['cx', 'cy'].map(name =>"
        " Number(one.getAttribute(name))))"
    )
    places = [*zip(path, losses), *enumerate(losses)]
    left, width = np.repeat([[-2.5, 0], [8.5, 21]], len(path), axis=1)
    expected = [
        (24 + 270 * (x - from_) / wide, 196 - 186 * loss / 3.2)
        for (x, loss), from_, wide in zip(places, left, width)
    ]
    np.testing.assert_allclose(spots, expected, atol=1e-9)


CHECKS = {
    "matmul": check_matmul,
    "gate": check_gate,
    "attention": check_attention,
    "inside": check_inside,
    "normalization": check_normalization,
    "parameters": check_parameters,
    "reach": check_reach,
    "rope": check_rope,
    "sampling": check_sampling,
    "caching": check_caching,
    "descent": check_descent,
}


# What to do first where a control would otherwise lead to the state that is already there.
PREPARE = {
    "Add up again": lambda root: root.get_by_role("button", name="Take one term away").click(),
    "Add one term": lambda root: root.get_by_role("button", name="Take one term away").click(),
    "The document's values": lambda root: root.get_by_label("u[0]", exact=True).fill("1.5"),
    "Back to the start": lambda root: root.get_by_role("slider").first.fill("2"),
    "small": lambda root: root.get_by_role("slider").first.fill("2"),
    "Double the width": lambda root: root.get_by_label("medium").check(force=True),
}


def by_mouse(page, control):
    """Move a control with the mouse, to where it was not."""
    control.scroll_into_view_if_needed()
    box, kind = control.bounding_box(), control.get_attribute("type")
    across = 0.5
    if kind == "range":
        across = control.evaluate(
            "node => (node.value - node.min) / (node.max - node.min) > 0.5 ? 0.25 : 0.75"
        )
    page.mouse.click(box["x"] + across * box["width"], box["y"] + box["height"] / 2)
    if kind == "number":
        page.keyboard.type("9")
        page.keyboard.press("Tab")


def by_keyboard(page, control):
    """Move a control with the keyboard alone."""
    control.focus()
    kind = control.get_attribute("type")
    keys = {"radio": ["ArrowRight"], "number": ["ArrowUp", "Enter"]}.get(kind, ["Space"])
    if kind == "range":
        keys = [
            control.evaluate(
                "node => (node.value - node.min) / (node.max - node.min) > 0.5 ? 'ArrowLeft' : 'ArrowRight'"
            )
        ]
    for key in keys:
        page.keyboard.press(key)


def one_of_each_kind(controls):
    return {control.get_attribute("type"): control for control in reversed(controls)}.values()


@pytest.mark.parametrize("move", [by_mouse, by_keyboard])
@pytest.mark.parametrize(
    "module, count",
    [
        ("matmul", 15),
        ("gate", 17),
        ("attention", 10),
        ("normalization", 9),
        ("parameters", 12),
        ("reach", 8),
        ("rope", 7),
        ("sampling", 8),
        ("caching", 8),
        ("descent", 6),
        ("inside", 19),
    ],
)
def test_every_control_moves_and_the_numbers_stay_the_library_s(fresh, module, count, move):
    root, check = fresh(module), CHECKS[module]
    check(root)
    controls = root.locator("input, button").all()
    assert len(controls) == count
    for control in controls if move is by_keyboard or THOROUGH else one_of_each_kind(controls):
        name = control.get_attribute("aria-label") or control.evaluate(
            "node => node.closest('label, button').textContent"
        )
        assert any(character.isalpha() for character in name), f"a control is called {name!r}"
        PREPARE.get(name, lambda root: None)(root)
        before = shown(root)
        move(root.page, control)
        assert shown(root) != before, f"{name} does nothing"
        if name in ("Add up again", "Send it again"):
            check(root)
            root.page.clock.run_for(20 * BEATS[module])  # to its end
        check(root)
    assert root.page.complaints == []


def test_matmul_starts_from_the_document_s_numbers(fresh):
    root = fresh("matmul")
    np.testing.assert_array_equal(numbers(root, ".pe-outputs [data-value]"), [-2, 1, 0.5, -1, 3, 0, -0.5, 2])
    np.testing.assert_array_equal(numbers(root, ".pe-product [data-value]"), [2, -2, 0.5, 0, 0.5])
    assert root.locator(".pe-steps span").all_inner_texts() == ["+2", "−2", "+0.5", "+0", ""]
    assert root.locator(".pe-sums td").all_inner_texts() == ["2", "0", "0.5", "0.5", "0.5"]
    assert root.locator(".pe-result").inner_text() == "z[2] = 1 × 2 + 2 × (−1) + (−1) × (−0.5) + 0 × 1 = 0.5"


def test_matmul_a_click_on_a_weight_picks_its_column(fresh):
    root = fresh("matmul")
    root.locator(".pe-matrix:not(.pe-row) tr").nth(3).locator("td").nth(6).click()
    assert root.get_by_label("z[6]").is_checked()
    check_matmul(root)


def test_matmul_adds_the_products_one_by_one_unless_less_motion_is_asked_for(fresh):
    for motion, expected in (("no-preference", [0, 1, 2, 3, 4, 4]), ("reduce", [4] * 6)):
        root = fresh("matmul", motion=motion)
        root.get_by_label("z[4]").check(force=True)
        seen = []
        for _ in expected:
            seen.append(int(root.locator("[data-terms]").get_attribute("data-terms")))
            root.page.clock.run_for(BEATS["matmul"])
        assert seen == expected


def test_gate_the_buttons_set_what_they_say(fresh):
    root = fresh("gate")
    for name, gates in [
        ("Lowest gates", [-0.27846] * 4),
        ("All gates at 1", [1] * 4),
        ("The document's values", [0.1, 1.5, 0, 2]),
    ]:
        root.get_by_role("button", name=name).click()
        np.testing.assert_allclose(numbers(root, "[data-gate]"), gates, atol=1e-5)
        check_gate(root)
    np.testing.assert_allclose(numbers(root, "[data-product]"), [0.2, -1.5, 0, 1], atol=1e-12)
    assert root.locator(".pe-result").inner_text() == "g · u = [0.2, −1.5, 0, 1]"


def test_gate_the_bounds_are_silu_s(fresh):
    root = fresh("gate")
    np.testing.assert_allclose(
        numbers(root, "[data-bound]"), [silu(np.array(LOWEST_AT)), LOWEST_AT], atol=1e-7
    )
    assert [round(number, 5) for number in numbers(root, "[data-bound]")] == [-0.27846, -1.27846]


@pytest.mark.parametrize("width", [390, 1280])
def test_gate_the_lowest_point_is_named_clear_of_the_axes_and_their_numbers(fresh, width):
    root = fresh("gate", width=width)
    labels, crossed = root.evaluate("""root => {
            const all = selector => [...root.querySelectorAll(`.pe-plot ${selector}`)];
            const boxes = selector => all(selector).map(node => node.getBoundingClientRect());
            const labels = boxes('.pe-floor-label');
            const beside = (a, b) => a.right <= b.left || b.right <= a.left;
            const meet = (a, b) => !beside(a, b) && a.top < b.bottom && b.top < a.bottom;
            const others = boxes('.pe-axis, text:not(.pe-floor-label), .pe-guide');
            return [labels.length, others.filter(one => labels.some(label => meet(label, one))).length];
        }""")
    assert (labels, crossed) == (2, 0)


def test_gate_starts_with_the_three_curves_that_the_chapter_compares(fresh):
    root = fresh("gate")
    assert [root.get_by_label(name, exact=True).is_checked() for name in ("ReLU", "SiLU", "GELU exact")] == [
        True
    ] * 3
    assert root.locator("input[type=checkbox]:checked").count() == 3


def test_gate_the_plot_itself_can_be_dragged(fresh):
    root = fresh("gate")
    page = root.page
    plot = root.locator(".pe-plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 64 * box["width"] / 380, box["y"] + 40)
    page.mouse.up()
    assert numbers(root, ".pe-readout")[0] == pytest.approx(-2, abs=0.051)
    check_gate(root)


def test_attention_starts_from_the_document_s_weights(fresh):
    root = fresh("attention")
    assert root.locator(".pe-weight").all_inner_texts() == ["0.36", "0.44", "0.12", "0.08"]
    assert root.locator(".pe-sum, .pe-mix").all_inner_texts() == ["1.00", "[0.76, 1.08]"]
    asked = root.locator('[lang="ko"]').all_inner_texts()
    assert asked == ["고양이", "생선을", "조용히", "먹었다"] * 2


@pytest.mark.parametrize("asking", range(4))
def test_attention_the_mask_hides_what_comes_after_the_token_that_asks(fresh, asking):
    root = fresh("attention")
    root.get_by_label("causal mask").check(force=True)
    root.get_by_role("radio").nth(asking).check(force=True)
    assert attention_settings(root) == (asking, True, True)
    np.testing.assert_array_equal(
        numbers(root, ".pe-weight [data-value]") > 0, [True] * (asking + 1) + [False] * (3 - asking)
    )
    assert root.locator(".pe-ready").all_inner_texts()[asking + 1 :] == ["−∞"] * (3 - asking)
    check_attention(root)


def test_attention_equal_scores_give_equal_weights(fresh):
    root = fresh("attention")
    root.get_by_role("button", name="Query of zeros").click()
    np.testing.assert_array_equal(numbers(root, ".pe-weight [data-value]"), [0.25] * 4)
    check_attention(root)


def test_attention_each_token_keeps_a_query_of_its_own(fresh):
    root = fresh("attention")
    root.get_by_label("q[0]").fill("-2")
    root.get_by_role("radio").nth(0).check(force=True)
    np.testing.assert_array_equal(numbers(root, ".pe-readout"), explorables.attention.QUERY[0])
    root.get_by_role("radio").nth(3).check(force=True)
    np.testing.assert_array_equal(numbers(root, ".pe-readout"), [-2, 1.3])
    root.get_by_role("button", name="Back to the start").click()
    np.testing.assert_array_equal(numbers(root, ".pe-readout"), [0.4, 1.3])


def test_attention_the_mix_lies_inside_the_values(fresh):
    """In the picture the mark stands where the weights put it, inside the polygon around the values that may
    be seen.
    """
    root = fresh("attention")
    for asking in range(4):
        root.get_by_role("radio").nth(asking).check(force=True)
        for _ in range(2):
            inside = root.evaluate("""root => {
                    const area = root.querySelector('.pe-hull');
                    const moved = root.querySelector('.pe-mix-point').getAttribute('transform');
                    const [x, y] = moved.match(/-?[0-9.]+/g).map(Number);
                    const corners = [...area.points].map(point => [point.x, point.y]);
                    const side = ([ax, ay], [bx, by]) => (bx - ax) * (y - ay) - (by - ay) * (x - ax);
                    const sides = corners.map((corner, i) => side(corner, corners[(i + 1) % corners.length]));
                    return sides.every(one => one > -1e-3) || sides.every(one => one < 1e-3);
                }""")
            assert inside
            root.get_by_label("causal mask").click(force=True)


def test_inside_starts_with_what_the_model_says(fresh):
    root = fresh("inside")
    assert inside_settings(root) == {"word": 4, "after": 30, "head": 3}
    says, reads = (
        "After 30 blocks, the row of “to” says “ make”, 12 %.",
        "In block 29, head 3, it reads “to” most: 0.41.",
    )
    assert root.locator(".pe-result").inner_text() == f"{says} {reads}"
    assert root.get_by_role("button", name="One block up").is_disabled()
    assert root.locator("svg text").all_text_contents()[:5] == ["1", "10", "100", "1,000", "10,000"]


def test_inside_two_heads_read_the_verb_and_the_next_word_appears(fresh):
    root = fresh("inside")
    root.get_by_label("users").check(force=True)
    root.get_by_label("blocks that have run").fill("25")
    assert (
        root.locator(".pe-result")
        .inner_text()
        .startswith("After 25 blocks, the row of “users” says “,”, 71 %.")
    )
    root.get_by_role("button", name="One block up").click()
    says, reads = (
        "After 26 blocks, the row of “users” says “ to”, 100 %.",
        "In block 25, head 3, it reads “empowers” most: 0.93.",
    )
    assert root.locator(".pe-result").inner_text() == f"{says} {reads}"
    assert root.locator("[data-weight]").all_inner_texts() == ["0.04", "0.01", "0.93", "0.01", "masked"]
    check_inside(root)


def test_inside_before_any_block_nothing_is_read(fresh):
    root = fresh("inside")
    root.get_by_label("blocks that have run").press("Home")
    assert root.locator(".pe-result").inner_text() == "Before any block, the row of “to” says “ to”, 100 %."
    assert root.get_by_role("button", name="One block down").is_disabled()
    assert all(
        head.is_disabled() for head in root.get_by_role("group", name="Head").get_by_role("radio").all()
    )
    assert root.locator("[data-weight]").all_inner_texts() == [""] * 5
    check_inside(root)


def test_inside_walks_up_block_by_block_and_can_be_stopped(fresh):
    root = fresh("inside", motion="no-preference")
    root.get_by_role("button", name="Walk up from 0").click()
    seen, live = [], []
    for _ in range(4):
        seen.append(inside_settings(root)["after"])
        live.append(root.locator(".pe-result").get_attribute("aria-live"))
        root.page.clock.run_for(BEATS["inside"])
    assert (seen, live) == ([0, 1, 2, 3], ["off"] * 4)
    root.get_by_role("button", name="Stop").click()
    root.page.clock.run_for(4 * BEATS["inside"])
    assert inside_settings(root)["after"] == 4
    check_inside(root)
    root.get_by_role("button", name="Walk up from 0").click()
    root.page.clock.run_for(32 * BEATS["inside"])
    assert inside_settings(root)["after"] == 30
    assert root.locator(".pe-result").get_attribute("aria-live") == "polite"
    assert root.get_by_role("button", name="Walk up from 0").is_visible()


def test_inside_does_not_walk_by_itself_where_less_motion_is_asked_for(fresh):
    root = fresh("inside")
    root.get_by_role("button", name="Walk up from 0").click()
    root.page.clock.run_for(4 * BEATS["inside"])
    assert inside_settings(root)["after"] == 0


def test_reach_a_word_travels_step_by_step(fresh):
    root = fresh("reach")
    progress, back = root.locator("[data-progress]"), root.get_by_role("button", name="One step back")
    assert (
        progress.inner_text()
        == "After 14 steps: RNN has arrived, CNN ends at word 10, attention has arrived."
    )
    for _ in range(12):
        back.click()
        check_reach(root)
    assert (
        progress.inner_text() == "After 2 steps: RNN is at word 3, CNN is at word 6, attention has arrived."
    )
    back.click()
    back.click()
    assert back.is_disabled()
    check_reach(root)
    root.get_by_role("button", name="Send it again").click()
    root.page.clock.run_for(3 * BEATS["reach"])
    back.click()  # who steps alone is not overtaken
    root.page.clock.run_for(20 * BEATS["reach"])
    assert progress.get_attribute("data-value") == "2"
    root.get_by_label("layers of the CNN").fill("7")  # a new question shows the whole way
    assert progress.inner_text() == "After 14 steps: RNN has arrived, CNN has arrived, attention has arrived."
    check_reach(root)


@pytest.mark.parametrize("width", [390, 1280])
def test_reach_draws_each_way_from_the_asked_word_to_the_one_that_asks(fresh, width):
    root = fresh("reach", width=width)
    root.get_by_label("layers of the CNN").fill("8")
    ends = root.locator(".pe-lattice svg").evaluate_all("""pictures => pictures.map(svg => {
            const middle = node => {
                const box = node.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
            };
            const [from, to] = ['asked', 'asking'].map(one => middle(svg.querySelector(`.pe-${one}-mark`)));
            const stops = [...svg.querySelectorAll('.pe-stop')].map(middle);
            return [from[0] < stops[0][0] + 1, Math.abs(stops.at(-1)[0] - to[0]) < 1, to[1] < from[1] - 10];
        })""")
    assert ends == [[True] * 3] * 3


@pytest.mark.parametrize("asking, asked", [(1, 1), (16, 16), (16, 1), (1, 16), (8, 1)])
def test_reach_at_the_edges(fresh, asking, asked):
    root = fresh("reach")
    for name, value in [("word that asks", asking), ("word that is asked", asked)]:
        root.get_by_label(name, exact=True).fill(str(value))
    for width, layers in [(2, 1), (2, 8), (8, 1), (8, 8), (3, 8)]:
        root.get_by_label("width of the CNN's filter").fill(str(width))
        root.get_by_label("layers of the CNN").fill(str(layers))
        check_reach(root)
    explorable = explorables.Reach(asking=asking, asked=asked, width=3, layers=8)
    says = root.locator(".pe-result").inner_text()
    assert says == explorable.sentence().replace(f" (word {asking})", "").replace(f" (word {asked})", "")


def test_rope_moving_both_leaves_the_dot_product_alone(fresh):
    root = fresh("rope")
    before = numbers(root, "[data-total]")
    for name, times in [("Both one place on", 5), ("Both one place back", 7)]:
        for _ in range(times):
            query = in_order(root, "query")
            root.get_by_role("button", name=name).click()
            assert np.abs(in_order(root, "query") - query).max() > 0.1
            np.testing.assert_allclose(numbers(root, "[data-total]"), before, atol=1e-12)
    np.testing.assert_array_equal(numbers(root, ".pe-readout"), [6, 0])
    assert root.get_by_role("button", name="Both one place back").is_disabled()
    root.get_by_label("position of the query").fill("40")
    assert root.get_by_role("button", name="Both one place on").is_disabled()
    check_rope(root)


def test_rope_at_position_0_nothing_turns(fresh):
    root = fresh("rope")
    root.get_by_label("position of the query").fill("0")
    for label in ("halves in place of neighbours", "base 10,000 in place of 100"):
        np.testing.assert_allclose(in_order(root, "query"), explorables.Rope().query, atol=1e-12)
        root.get_by_label(label).check(force=True)
        check_rope(root)


def test_normalization_layer_norm_forgets_shift_and_scale_rms_norm_only_scale(fresh):
    root = fresh("normalization")
    verdicts = root.locator(".pe-verdict[data-value]")
    assert verdicts.all_inner_texts() == ["same as for x alone"] * 2
    root.get_by_label("scale").press("End")
    assert numbers(root, ".pe-readout")[4] == 100
    assert verdicts.all_inner_texts() == ["same as for x alone"] * 2
    root.get_by_role("button", name="Back to the start").click()
    root.get_by_label("shift").fill("5")
    assert verdicts.all_inner_texts() == ["same as for x alone", "changed by up to 1.11"]
    check_normalization(root)


@pytest.mark.parametrize("place", ["6", "8", "9", "10"])  # of the slider: scales 0.1, 0.5, 1 and 2
def test_normalization_no_number_stands_on_the_end_of_an_outline(fresh, place):
    root = fresh("normalization")
    root.get_by_label("scale").fill(place)
    ends = root.evaluate("""root => [...root.querySelectorAll('.pe-panels svg')].flatMap(svg => {
            const boxes = selector =>
                [...svg.querySelectorAll(selector)].map(node => node.getBoundingClientRect());
            const texts = boxes('text'), outlines = boxes('.pe-outline');
            const on = (y, box) => box.top < y && y < box.bottom;
            return texts.map((text, i) => on(outlines[i].top, text) || on(outlines[i].bottom, text));
        })""")
    assert len(ends) == 12 and not any(ends)


def test_normalization_eps_counts_for_small_numbers(fresh):
    root = fresh("normalization")
    root.get_by_label("scale").press("Home")
    assert numbers(root, ".pe-readout")[4] == 0.001
    assert all(
        text.startswith("changed") for text in root.locator(".pe-verdict[data-value]").all_inner_texts()
    )
    check_normalization(root)


def test_normalization_a_flat_row_becomes_zeros_or_ones(fresh):
    root = fresh("normalization")
    root.get_by_role("button", name="Flat row").click()
    np.testing.assert_array_equal(numbers(root, "[data-row]"), [7] * 4)
    np.testing.assert_array_equal(numbers(root, "[data-layer]"), [0] * 4)
    np.testing.assert_allclose(numbers(root, "[data-rms]"), [1] * 4, atol=1e-6)
    root.get_by_role("button", name="Row").first.click()
    np.testing.assert_allclose(numbers(root, "[data-layer]"), [1.732, -0.577, -0.577, -0.577], atol=1e-3)
    check_normalization(root)


@pytest.mark.parametrize("size", SIZES)
def test_parameters_the_sizes_are_the_published_ones(fresh, size):
    root = fresh("parameters")
    root.get_by_label("vocabulary V").fill("0")
    root.get_by_label(size).check(force=True)
    assert parameter_settings(root) == explorables.Parameters(**SIZES[size]).state()
    assert root.locator(".pe-result").inner_text().startswith(f"GPT-2 {size}: ")
    check_parameters(root)


def test_parameters_twice_the_width_is_four_times_the_blocks_and_twice_the_embedding(fresh):
    root = fresh("parameters")
    root.get_by_role("button", name="Double the width").click()
    assert root.locator("[data-times]").all_inner_texts() == ["2.00", "2.00", "4.00", "4.00", "2.00", "3.37"]
    assert (
        root.locator(".pe-result").inner_text()
        == "GPT-2 small with width E 1,536 in place of 768: 418,748,928 parameters, 3.37 times as many as"
        " GPT-2 small."
    )
    root.get_by_role("button", name="Halve the width").click()
    assert root.locator(".pe-result").inner_text() == "GPT-2 small: 124,439,808 parameters."


def test_parameters_heads_change_nothing_and_always_fit_the_width(fresh):
    root = fresh("parameters")
    heads = root.get_by_label("heads H")
    places = int(heads.get_attribute("max")) + 1
    seen = []
    for place in range(places):
        heads.fill(str(place))
        seen.append(parameter_settings(root)["heads"])
        assert set(root.locator("[data-times]").all_inner_texts()) == {"1.00"}
        check_parameters(root)
    assert seen == [heads for heads in range(1, 65) if 768 % heads == 0]
    assert (
        "heads H 64 in place of 12: 124,439,808 parameters, exactly as many as"
        in root.locator(".pe-result").inner_text()
    )


def test_parameters_a_width_that_the_heads_do_not_divide_gets_fewer_until_it_fits_again(fresh):
    root = fresh("parameters")
    width, found = root.get_by_label("width E"), {}
    for place in range(int(width.get_attribute("max")) + 1):
        width.fill(str(place))
        settings = parameter_settings(root)
        found[settings["width"]] = settings["heads"]
        check_parameters(root)
    assert all(width % heads == 0 for width, heads in found.items())
    assert [found[width] for width in (64, 640, 768, 1536, 1600)] == [8, 10, 12, 12, 10]
    assert root.get_by_role("button", name="Double the width").is_disabled()


def test_parameters_the_smallest_and_the_largest_stay_inside_their_columns(fresh):
    root = fresh("parameters", width=390)
    for key in ("Home", "End"):
        for one in root.get_by_role("slider").all():
            one.press(key)
        check_parameters(root)
        outside = root.evaluate(
            """root => [...root.querySelectorAll('.pe-parts td, .pe-settings .pe-readout')].filter(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                const [box, content] = [cell, range].map(one => one.getBoundingClientRect());
                return content.left < box.left - 0.5 || content.right > box.right + 0.5;
            }).map(cell => cell.textContent)"""
        )
        assert outside == []


def test_sampling_shows_the_document_s_percentages(fresh):
    root = fresh("sampling")
    assert root.locator(".pe-share").all_inner_texts()[:6] == [
        "54.67 %",
        "20.87 %",
        "12.09 %",
        "6.26 %",
        "6.11 %",
        "cut: top-k",
    ]


def test_sampling_without_top_k_stops_only_where_the_rest_is_known(fresh):
    root = fresh("sampling")
    root.get_by_label("temperature").fill("5")
    assert sampling_settings(root)["temperature"] == 0.5
    root.get_by_label("top-k").press("End")
    assert sampling_settings(root) == {"temperature": 0.8, "top_k": None, "top_p": None, "seed": 1}
    seen = []
    for place in range(4):
        root.get_by_label("temperature").fill(str(place))
        seen.append(sampling_settings(root)["temperature"])
        check_sampling(root)
    assert seen == [0, 0.8, 1, 2]


@pytest.mark.parametrize("temperature, known", [(0, 20), (1, 13), (2, 9), (3, 1)])
def test_sampling_shows_no_made_up_nucleus(fresh, temperature, known):
    """Of the twenty values of top-p, at each exact temperature, only some are answered by the twelve
    words.
    """
    root = fresh("sampling")
    root.get_by_label("top-k").press("End")
    root.get_by_label("temperature").fill(str(temperature))
    answered = 0
    for step in range(1, 21):
        root.get_by_label("top-p").fill(f"{step / 20:.2f}")
        check_sampling(root)
        answered += root.locator(".pe-share[data-value]").count() > 0
    assert answered == known + (temperature > 0)  # top-p off is always answered


def test_sampling_counts_approach_the_probabilities(fresh):
    root = fresh("sampling")
    gaps = []
    for name in ("Draw 100", "Draw 10,000"):
        root.get_by_role("button", name=name).click()
        gaps.append(numbers(root, "[data-gap]")[0])
    assert gaps[1] < 0.015 < gaps[0]
    assert numbers(root, ".pe-count").sum() == 10_100
    check_sampling(root)


def test_sampling_the_same_seed_draws_the_same_words(open_page):
    page = open_page("odd.html")
    root = page.locator('[data-module="sampling"][data-live]').nth(1)
    assert sampling_settings(root)["seed"] == 7
    root.get_by_role("button", name="Draw 100").click()
    first = numbers(root, ".pe-count")
    root.get_by_role("button", name="Start over").click()
    assert numbers(root, ".pe-count").sum() == 0
    root.get_by_role("button", name="Draw 100").click()
    np.testing.assert_array_equal(numbers(root, ".pe-count"), first)
    check_sampling(root)


@pytest.mark.parametrize("n, ratio", [(1, ""), (10, "11 times "), (100, "73 times ")])
def test_caching_the_longer_the_text_the_more_the_cache_saves(fresh, n, ratio):
    root = fresh("caching")
    root.get_by_role("button", name=f"Token {n}", exact=True).click()
    assert root.locator(".pe-remark").first.inner_text() == f"without: {ratio}as many"
    check_caching(root)
    root.get_by_label("use the cache").uncheck(force=True)
    check_caching(root)


def test_caching_the_chapter_s_last_position(fresh):
    root = fresh("caching")
    root.get_by_label("tokens of the prompt").press("End")
    root.get_by_label("new token").press("End")
    assert root.get_by_role("button", name="Next token").is_disabled()
    assert root.locator(".pe-remark").all_inner_texts()[::2] == [
        "without: 747 times as many",
        "15.2 % of the bytes of the model",
    ]
    for _ in range(2):
        check_caching(root)
        root.get_by_label("use the cache").click(force=True)


def test_caching_a_prompt_of_one_token(fresh):
    root = fresh("caching")
    root.get_by_label("tokens of the prompt").press("Home")
    for n in range(1, 4):
        root.get_by_label("new token").fill(str(n))
        for _ in range(2):
            check_caching(root)
            root.get_by_label("use the cache").click(force=True)


def test_descent_the_arithmetic_is_written_out(fresh):
    root = fresh("descent")
    root.get_by_role("button", name="One step", exact=True).click()
    w, p, loss, slope, after = "−0.369", "0.323", "0.944", "−0.853", "0.057"
    assert [text.replace("\u00a0", " ") for text in root.locator("dd").all_inner_texts()] == [
        f"softmax of [−0.738, 0] = {p}",
        f"0.75 × 1.129 + 0.25 × 0.391 = {loss}",
        f"2 × ({p} − 0.75) = {slope}",
        f"{w} − 0.5 × ({slope}) = {after}",
    ]
    assert root.locator(".pe-result").inner_text() == f"Step 1: the loss fell by 0.683, to {loss}"


@pytest.mark.parametrize(
    "rate, says", [(0.1, "fell by"), (1, "is still 0.562"), (3, "rose by"), (5, "rose by")]
)
def test_descent_says_how_the_last_step_went(fresh, rate, says):
    root = fresh("descent")
    for name in ("Ten steps", "Ten steps"):
        root.get_by_role("button", name=name).click()
    root.get_by_label("learning rate").fill(str(rate))
    assert root.locator(".pe-result").inner_text().startswith(f"Step 20: the loss {says}")
    assert root.get_by_role("button", name="One step", exact=True).is_disabled()
    check_descent(root)


@pytest.mark.parametrize("start", [-2, 0, 2])
@pytest.mark.parametrize("rate", [0.1, 2, 5])
def test_descent_stays_in_its_picture(fresh, start, rate):
    root = fresh("descent")
    root.get_by_label("start w").fill(str(start))
    root.get_by_label("learning rate").fill(str(rate))
    for name in ("Ten steps", "Ten steps"):
        root.get_by_role("button", name=name).click()
    assert root.locator("circle").count() == 2 * 22
    inside = root.evaluate("""root => [...root.querySelectorAll('svg')].every(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('circle, text')].map(one => one.getBoundingClientRect()).every(
                one => one.left >= frame.left && one.right <= frame.right
                    && one.top >= frame.top && one.bottom <= frame.bottom);
        })""")
    assert inside
    check_descent(root)


def test_two_explorables_of_one_kind_do_not_share_anything(open_page):
    both = open_page("odd.html").locator('[data-module="sampling"][data-live]')
    both.nth(0).get_by_label("temperature").fill("20")
    assert sampling_settings(both.nth(0))["temperature"] == 2
    assert sampling_settings(both.nth(1))["temperature"] == 0.8


def test_a_page_asks_for_nothing_outside_its_folder(open_page, small_book):
    page = open_page("live.html")
    for module in CHECKS:
        find(page, module)
    inside = (f"{small_book.as_uri()}/", "blob:null/", "blob:file:", "data:")
    assert [address for address in page.addresses if not address.startswith(inside)] == []
    assert [address for address in page.addresses if "/_explorables/" in address]
    assert page.complaints == []


def test_scripts_are_linked_once_and_only_where_they_are_needed(small_book):
    assert "_explorables" not in (small_book / "index.html").read_text(encoding="utf-8")
    live = (small_book / "live.html").read_text(encoding="utf-8")
    for name in ("explorable.css", "loader.js", *(f"{module}.js" for module in CHECKS)):
        assert live.count(f"_explorables/{name}?v=") == 1
    odd = (small_book / "odd.html").read_text(encoding="utf-8")
    assert "_explorables/gate.js" not in odd


def test_a_broken_explorable_keeps_its_picture_and_troubles_nothing_else(open_page):
    page = open_page("odd.html")
    page.locator('[data-module="sampling"][data-live]').nth(1).wait_for()
    broken = page.locator('[data-module="matmul"]')
    assert broken.locator('svg[role="img"]').is_visible()
    assert broken.get_attribute("data-live") is None
    assert [text[:43] for text in page.complaints] == ["This explorable stays a still picture: Type"]


def test_hostile_words_stay_text(open_page):
    page = open_page("odd.html")
    root = find(page, "sampling")
    assert root.locator("tbody th").first.inner_text() == HOSTILE
    assert root.locator("img").count() == 0


def test_without_scripts_the_still_pictures_are_there(browser, small_book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small_book.as_uri()}/live.html")
    labels = page.locator(".plain-explorable").get_by_role("img")
    assert labels.count() == len(KINDS) and all(label.is_visible() for label in labels.all())
    context.close()


def test_it_works_from_a_server_too(open_page, small_book):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            if self.path == "/favicon.ico":  # every browser asks for one; the small book has none
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=small_book)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page("live.html", root=f"http://127.0.0.1:{server.server_port}")
        for module, check in CHECKS.items():
            check(find(page, module))
        assert page.complaints == []
        server.shutdown()


@pytest.mark.parametrize(
    "width, theme, rules",
    [(390, "light", None), (1280, "dark", COLOURS)]
    + ([(1280, "light", None), (390, "dark", None)] if THOROUGH else []),
)
def test_it_fits_the_screen_and_axe_finds_nothing(open_page, width, theme, rules):
    page = open_page("live.html", width=width, theme=theme)
    for module in CHECKS:
        find(page, module)
    find(page, "gate").get_by_role("button", name="Lowest gates").click()
    find(page, "sampling").get_by_role("button", name="Draw 10,000").click()
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.locator(".pe").evaluate_all(
        "all => all.filter(node => node.scrollWidth > node.clientWidth).map(node => node.className)"
    )
    assert outside == []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("rules => axe.run('.bd-article', rules ? {runOnly: rules} : {})", rules)
    assert len(found["passes"]) > (0 if rules else 10), "axe has looked at nothing"
    assert [
        f"{rule['id']}: {node['html'][:150]}" for rule in found["violations"] for node in rule["nodes"]
    ] == []


# How large each control is, and whether a finger at its middle meets it, or the label that belongs to it.
TOUCHED = """root => [...root.querySelectorAll('input, button')].map(control => {
    control.scrollIntoView({block: 'center'});
    const box = control.getBoundingClientRect();
    const met = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const own = met === control || control.contains(met) || met?.closest('label')?.control === control;
    return [control.outerHTML, Math.min(box.width, box.height), own];
})"""


@pytest.mark.parametrize("module", CHECKS)
def test_every_control_is_large_enough_to_touch_and_nothing_lies_on_it(fresh, module):
    found = fresh(module, width=390).evaluate(TOUCHED)
    assert len(found) > 5
    assert [control for control in found if control[1] < 24 or not control[2]] == []
