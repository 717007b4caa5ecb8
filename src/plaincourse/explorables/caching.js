// The next token with a key/value cache and without: which rows run, which pairs are computed, and what it
// costs.

const LONGEST = 512; // tokens of the prompt; with as many new ones it fills GPT-2's longest text
const [E, F, L, V] = [768, 3072, 12, 50257]; // GPT-2 small: width, hidden width, layers, vocabulary
const PARAMETERS = 124439808;
const BYTES_EACH = 4; // float32
const ROW = L * (4 * E * E + 2 * E * F); // multiply–adds of one row in the maps
const PAIR = 2 * L * E; // of one pair of a new row and a key, in scores and mixing
const LOGITS = E * V; // of the output projection, for one row

const work = ({ rows, keys }) => rows * ROW + rows * keys * PAIR + LOGITS;
const cacheBytes = (positions) => 2 * L * E * positions * BYTES_EACH;
const triangle = (side) => (side * (side + 1)) / 2;

/**
 * How many rows run in the step that gives a new token, and how many keys they read. The first step reads
 * the prompt.
 */
function stepOf(prompt, token, cached) {
  const keys = prompt + token - 1;
  return { keys, rows: cached && token > 1 ? 1 : keys };
}

const stepsOf = (prompt, token, cached) =>
  Array.from({ length: token }, (_, i) => stepOf(prompt, i + 1, cached));
const total = (steps) => steps.reduce((sum, step) => sum + work(step), 0);

/** How many pairs of one head are of each kind, and how many rows' keys and values come from the cache. */
function countPairs({ keys, rows }, token, cached) {
  const above = triangle(keys - 1); // the pairs in the rows above the last
  const first = token === 1;
  return {
    now: first ? triangle(keys) : keys,
    earlier: cached && !first ? above : 0,
    again: cached || first ? 0 : above,
    masked: rows === keys ? above : 0,
    kept: keys - rows,
  };
}

const KINDS = [
  ["now", "pairs computed in this step"],
  ["earlier", "pairs of earlier steps, not computed again"],
  ["again", "pairs computed again for nothing"],
  ["masked", "pairs computed and then masked"],
  ["kept", "rows whose key and value come from the cache"],
];

function render({ model, el }) {
  const root = frame(el, "caching", "The next token with a cache and without");
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const controls = makeControls(model, read());
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const picture = makePicture();
  const costs = [
    makeCost("This step", "multiply–adds"),
    makeCost("All steps so far", "multiply–adds"),
    makeCost("Kept for the next step", "bytes"),
  ];
  root.append(
    ...controls.roots,
    result,
    element(
      "div",
      { class: "pe-halves" },
      picture.root,
      element("div", {}, ...costs.map((cost) => cost.root)),
    ),
    element(
      "p",
      { class: "pe-note" },
      "The picture shows one head in one layer. The numbers beside it are for all of " +
        "GPT-2 small: 12 layers, width 768, float32.",
    ),
  );

  function update() {
    const { prompt, token, cached } = read();
    const step = stepOf(prompt, token, cached);
    controls.update(prompt, token, cached);
    const way = cached ? "with" : "without";
    result.textContent = `Token ${token}, ${way} the cache: ${spelled(step)} multiply–adds.`;
    picture.update(step, countPairs(step, token, cached), token === 1);
    const both = [true, false].map((kept) => stepsOf(prompt, token, kept));
    costs[0].update(
      both.map((steps) => work(steps.at(-1))),
      cached,
      times,
    );
    costs[1].update(both.map(total), cached, times);
    costs[2].update([cacheBytes(step.keys), 0], cached, share);
  }

  return follow(model, STATE, update);
}

const STATE = ["prompt", "token", "cached"];
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
const ratio = (number) => (number === 1 ? "" : `${short(number, number < 10 ? 1 : 0)} times `);
const times = ([kept, again]) => `without: ${ratio(again / kept)}as many`;
const share = ([bytes]) =>
  `${fixed((100 * bytes) / (BYTES_EACH * PARAMETERS), 1)} % of the bytes of the model`;

function spelled({ rows, keys }) {
  const terms = [
    `${plural(rows, "row")} × ${grouped(ROW)}`,
    `${plural(rows * keys, "pair")} × ${grouped(PAIR)}`,
  ];
  return `${terms.join(" + ")} + ${grouped(LOGITS)} for the logits = ${grouped(work({ rows, keys }))}`;
}

/** The sliders, the switch and the buttons; `start` is the state to go back to. */
function makeControls(model, start) {
  const count = (label, spoken, name, max) =>
    slider({
      label,
      spoken,
      min: 1,
      max,
      step: 1,
      onmove: (number) => change(model, { [name]: number }),
    });
  const lengths = count("prompt", "tokens of the prompt", "prompt", LONGEST);
  const tokens = count("new token", "new token", "token", LONGEST + 1);
  const cache = choices({
    legend: "Are keys and values kept?",
    several: true,
    options: [["cached", "use the cache"]],
    onpick: () => change(model, { cached: !model.get("cached") }),
  });
  const next = button("Next token", () => change(model, { token: model.get("token") + 1 }));
  const jumps = [1, 10, 100].map((token) => button(`Token ${token}`, () => change(model, { token })));
  const back = button("Back to the start", () => change(model, start));

  function update(prompt, token, cached) {
    lengths.set(prompt);
    tokens.set(token);
    cache.set(() => cached);
    next.disabled = token > LONGEST;
  }

  const sliders = element("div", { class: "pe-settings" }, lengths.root, tokens.root);
  return {
    roots: [sliders, cache.root, element("div", { class: "pe-buttons" }, next, ...jumps, back)],
    update,
  };
}

/** One quantity, with the cache and without, as numbers and bars; `remark` says how the two compare. */
function makeCost(title, unit) {
  const lines = ["with the cache", "without"].map((name) => ({
    bar: element("i"),
    number: element("span", { "data-cost": true }),
    name: element("span", {}, name),
  }));
  const remark = element("p", { class: "pe-remark" });
  const rows = lines.map(({ bar, number, name }) =>
    element("div", { class: "pe-cost" }, name, number, element("div", { class: "pe-long" }, bar)),
  );
  const root = element(
    "div",
    { class: "pe-card", role: "group", "aria-label": title },
    element("p", { class: "pe-title" }, `${title}, ${unit}`),
    ...rows,
    remark,
  );

  function update(numbers, cached, compare) {
    const largest = Math.max(...numbers);
    lines.forEach(({ bar, number }, i) => {
      show(number, numbers[i], grouped(numbers[i]));
      bar.style.width = `${(100 * numbers[i]) / largest}%`;
      bar.hidden = numbers[i] === 0;
      rows[i].classList.toggle("pe-chosen", cached === (i === 0));
    });
    remark.textContent = compare(numbers);
  }

  return { root, update };
}

const [SIDE, STRIP, GAP, TOP] = [300, 14, 8, 20];
const LEFT = STRIP + GAP;

/** The corners of a run of rows of the triangle of pairs, or of the masked half beside it. */
function stairs(from, to, unit, kind) {
  const [x, y] = [(n) => LEFT + n * unit, (n) => TOP + n * unit];
  const corners = [];
  for (let row = from; row < to; row += 1) corners.push([x(row + 1), y(row)], [x(row + 1), y(row + 1)]);
  const wall = kind === "masked" ? LEFT + SIDE : LEFT;
  return [[wall, y(from)], ...corners, [wall, y(to)]]
    .map((corner) => corner.map((number) => number.toFixed(4)).join())
    .join(" ");
}

/** What makes a shape of each kind: kinds that differ in colour differ in their pattern too. */
function makeKinds() {
  const name = unique();
  const filled = { earlier: [6, "M3 2v2"], again: [6, "M-1 1l2 -2M0 6l6 -6M5 7l2 -2"], kept: [4, "M0 2h4"] };
  const patterns = Object.entries(filled).map(([kind, [size, d]]) =>
    shape(
      "pattern",
      { id: `${name}-${kind}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
      shape("rect", { class: `pe-pairs-${kind}-back`, width: size, height: size }),
      shape("path", { class: `pe-pairs-${kind}-mark`, d }),
    ),
  );
  const draw = (tag, kind, attributes) =>
    shape(tag, {
      class: `pe-pairs-${kind}`,
      fill: kind in filled ? `url(#${name}-${kind})` : null,
      ...attributes,
    });
  return { patterns: shape("defs", {}, ...patterns), draw };
}

/**
 * The rows of the model in a strip, every pair of a query (a line) and a key (a column) beside it, and how
 * many of each kind.
 */
function makePicture() {
  const { patterns, draw } = makeKinds();
  const areas = Object.fromEntries(
    ["earlier", "again", "masked", "now"].map((kind) => [kind, draw("polygon", kind)]),
  );
  const strips = Object.fromEntries(
    ["kept", "again", "now"].map((kind) => [kind, draw("rect", kind, { x: 0, width: STRIP })]),
  );
  const grid = shape("path", { class: "pe-pairs-grid" });
  const svg = shape(
    "svg",
    { viewBox: `-1 0 ${LEFT + SIDE + 2} ${TOP + SIDE + 2}`, "aria-hidden": "true" },
    patterns,
    shape("text", { x: 0, y: 12 }, "rows"),
    shape("text", { x: LEFT + SIDE, y: 12, "text-anchor": "end" }, "one line a query, one column a key"),
    ...Object.values(strips),
    ...Object.values(areas),
    grid,
  );
  const legend = makeLegend(draw);

  function update({ keys }, pairs, first) {
    const unit = SIDE / keys;
    const split = first ? 0 : keys - 1; // the rows above are not new
    const area = (kind, from, to) =>
      fill(areas[kind], { points: pairs[kind] ? stairs(from, to, unit, kind) : "" }, []);
    const strip = (kind, from, to) =>
      fill(strips[kind], { y: TOP + from * unit, height: (to - from) * unit }, []);
    area("earlier", 0, split);
    area("again", 0, split);
    area("masked", 0, keys);
    area("now", split, keys);
    strip("kept", 0, pairs.kept);
    strip("again", 0, pairs.again ? split : 0);
    strip("now", split, keys);
    const lines = Array.from({ length: unit < 8 ? 0 : keys - 1 }, (_, i) => (i + 1) * unit);
    fill(
      grid,
      { d: lines.map((n) => `M0 ${TOP + n}H${LEFT + SIDE}M${LEFT + n} ${TOP}V${TOP + SIDE}`).join("") },
      [],
    );
    legend.update(pairs);
  }

  return { root: element("figure", { class: "pe-plane" }, svg, legend.root), update };
}

/** How many there are of each kind, in words: the picture for those who do not see it. */
function makeLegend(draw) {
  const counts = KINDS.map(([kind]) => element("span", { "data-pairs": kind }));
  const swatch = (kind) =>
    shape(
      "svg",
      { viewBox: "0 0 20 20", "aria-hidden": "true" },
      draw("rect", kind, { x: 1, y: 1, width: 18, height: 18 }),
    );
  const root = element(
    "ul",
    { class: "pe-legend" },
    ...KINDS.map(([kind, words], i) => element("li", {}, swatch(kind), counts[i], " ", words)),
  );
  return {
    root,
    update: (pairs) => KINDS.forEach(([kind], i) => show(counts[i], pairs[kind], grouped(pairs[kind]))),
  };
}

export default { render };
