// One row of attention: a token's query meets four keys, softmax makes weights of the scores, and the
// values are mixed.

const TOKENS = [0, 1, 2, 3];
const add = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const pair = (numbers) => `[${numbers.map((number) => short(number, 2)).join(", ")}]`;

/** Scores, scores divided and masked, weights, and the values mixed by them, for the token that asks. */
function attend({ query, key, value, asking, scaled, causal }) {
  const seen = TOKENS.map((j) => !causal || j <= asking);
  const scores = key.map((row) => dot(query[asking], row));
  const ready = scores.map((score, j) => (seen[j] ? score / (scaled ? Math.SQRT2 : 1) : -Infinity));
  const powers = ready.map((score) => Math.exp(score - Math.max(...ready)));
  const weights = powers.map((power) => power / add(powers));
  const mix = [0, 1].map((axis) => add(value.map((row, j) => weights[j] * row[axis])));
  return { seen, scores, ready, weights, mix };
}

/** The corners of the smallest convex polygon around some points, in order (Andrew's monotone chain). */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const chain = (list) =>
    list.reduce((corners, point) => {
      while (corners.length > 1 && turn(corners.at(-2), corners.at(-1), point) <= 0) corners.pop();
      return [...corners, point];
    }, []);
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function render({ model, el }) {
  const root = frame(el, "attention", "One row of attention");
  const words = model.get("words");
  const names = words.map(([, gloss]) => gloss);
  const both = ([word, gloss]) =>
    element("span", { class: "pe-both" }, gloss, element("small", { lang: "ko" }, word));
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const start = read();

  const asks = choices({
    legend: "Which token asks?",
    options: TOKENS.map((i) => [i, ""]),
    onpick: (asking) => change(model, { asking }),
  });
  asks.labels.forEach((label, i) => label.lastChild.append(both(words[i])));
  const switches = choices({
    legend: "Between the scores and the weights",
    several: true,
    options: [
      ["scaled", "divide by √2"],
      ["causal", "causal mask"],
    ],
    onpick: (name) => change(model, { [name]: !model.get(name) }),
  });
  const setQuery = (renew) =>
    change(model, {
      query: model.get("query").map((old, i) => (i === model.get("asking") ? renew(old) : old)),
    });
  const sliders = [0, 1].map((axis) =>
    slider({
      label: `q[${axis}]`,
      min: -3,
      max: 3,
      step: 0.1,
      text: (number) => fixed(number, 1),
      onmove: (number) => setQuery((old) => old.map((other, k) => (k === axis ? number : other))),
    }),
  );
  const legend = element("legend");
  const controls = element("fieldset", { class: "pe-query" }, legend, ...sliders.map((one) => one.root));

  const rows = words.map((word) => makeRow(both(word)));
  const divided = element("th", { scope: "col" });
  const head = (...text) => element("th", { scope: "col" }, ...text);
  const foot = (text) => element("th", { scope: "row", colspan: 4 }, text);
  const sum = element("td", { class: "pe-sum" });
  const mixed = vector("pe-mix", { colspan: 2 });
  const table = element(
    "table",
    { class: "pe-reading" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        head("token"),
        head("key k"),
        head("score q\u00a0·\u00a0k"),
        divided,
        head("weight"),
        head("value v"),
      ),
    ),
    element("tbody", {}, ...rows.map((row) => row.root)),
    element(
      "tfoot",
      {},
      element("tr", {}, foot("sum of the weights"), sum),
      element("tr", {}, foot("values mixed by the weights"), mixed.cell),
    ),
  );
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const directions = makeDirections(names, model.get("key"));
  const mixture = makeMixture(names, model.get("value"));
  const buttons = element(
    "div",
    { class: "pe-buttons" },
    button("Query of zeros", () => setQuery(() => [0, 0])),
    button("Back to the start", () => change(model, start)),
  );
  root.append(
    asks.root,
    controls,
    switches.root,
    buttons,
    table,
    result,
    element("div", { class: "pe-planes" }, directions.root, mixture.root),
  );

  function update() {
    const state = read();
    const now = attend(state);
    const asker = state.query[state.asking];
    asks.set((i) => i === state.asking);
    switches.set((name) => state[name]);
    legend.textContent = `Query q of ${names[state.asking]}`;
    sliders.forEach((one, axis) => one.set(asker[axis]));
    divided.textContent = state.scaled ? "÷ √2" : "not divided";
    rows.forEach((row, j) => row.update(state.key[j], now, j, state.value[j]));
    show(sum, add(now.weights), fixed(add(now.weights), 2));
    mixed.show(now.mix);
    const terms = TOKENS.filter((j) => now.seen[j]).map(
      (j) => `${fixed(now.weights[j], 2)} × ${pair(state.value[j])}`,
    );
    result.textContent = `New row for ${names[state.asking]} = ${terms.join(" + ")} = ${pair(now.mix)}`;
    directions.update(asker, now.seen);
    mixture.update(now);
  }

  return follow(model, STATE, update);
}

const STATE = ["query", "key", "value", "asking", "scaled", "causal"];

/** A table cell with two numbers in square brackets. */
function vector(kind, attributes = {}) {
  const parts = [element("span"), element("span")];
  const cell = element("td", { class: kind, ...attributes }, "[", parts[0], ", ", parts[1], "]");
  return {
    cell,
    show: (numbers) => parts.forEach((part, axis) => show(part, numbers[axis], short(numbers[axis], 2))),
  };
}

function makeRow(name) {
  const [key, value] = [vector("pe-key"), vector("pe-value")];
  const [score, ready] = [element("td", { class: "pe-score" }), element("td", { class: "pe-ready" })];
  const bar = element("i");
  const weight = element("span");
  const root = element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    key.cell,
    score,
    ready,
    element("td", { class: "pe-weight" }, element("div", {}, bar), weight),
    value.cell,
  );

  function update(keyNumbers, now, j, valueNumbers) {
    key.show(keyNumbers);
    value.show(valueNumbers);
    show(score, now.scores[j], short(now.scores[j], 2));
    show(ready, now.ready[j], now.seen[j] ? fixed(now.ready[j], 2) : "−∞");
    show(weight, now.weights[j], now.seen[j] ? fixed(now.weights[j], 2) : "0");
    bar.style.width = `${100 * now.weights[j]}%`;
    root.classList.toggle("pe-hidden", !now.seen[j]);
  }

  return { root, update };
}

const SIDE = 240;

/**
 * A square picture of vectors of two numbers as points, so far to each side of `centre` in their own units.
 */
function makePlane(title, centre, reach) {
  const [left, right, bottom, top] = [
    centre[0] - reach,
    centre[0] + reach,
    centre[1] - reach,
    centre[1] + reach,
  ];
  const unit = SIDE / (2 * reach);
  const at = ([x, y]) => [unit * (x - left), unit * (top - y)];
  const svg = shape("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" });
  const line = (from, to, kind) => shape("line", { class: kind, ...ends(at(from), at(to)) });
  for (let x = Math.ceil(left); x <= right; x += 1)
    svg.append(line([x, bottom], [x, top], x ? "pe-grid" : "pe-axis"));
  for (let y = Math.ceil(bottom); y <= top; y += 1)
    svg.append(line([left, y], [right, y], y ? "pe-grid" : "pe-axis"));
  return { root: element("figure", { class: "pe-plane" }, element("figcaption", {}, title), svg), svg, at };
}

const ends = ([x1, y1], [x2, y2]) => ({ x1, y1, x2, y2 });

/** A name beside a point, on the side away from `centre`. */
function tag(name, [x, y], centre) {
  const across = x - centre[0];
  const anchor = Math.abs(across) < 15 ? "middle" : across > 0 ? "start" : "end";
  const shift = anchor === "middle" ? 0 : Math.sign(across) * 9;
  const drop = anchor === "middle" ? (y > centre[1] ? 20 : -11) : 4;
  return shape("text", { x: x + shift, y: y + drop, "text-anchor": anchor }, name);
}

function makeDirections(names, keys) {
  const plane = makePlane("Keys, and the query q", [0, 0], 3.6);
  const middle = plane.at([0, 0]);
  const arrows = keys.map((key, j) =>
    plane.svg.appendChild(
      shape(
        "g",
        {},
        shape("line", { class: "pe-key-arrow", ...ends(middle, plane.at(key)) }),
        shape("circle", { class: "pe-key-point", cx: plane.at(key)[0], cy: plane.at(key)[1], r: 4 }),
        tag(names[j], plane.at(key), middle),
      ),
    ),
  );
  const shaft = plane.svg.appendChild(shape("line", { class: "pe-query-arrow", ...ends(middle, middle) }));
  const point = plane.svg.appendChild(shape("circle", { class: "pe-query-point", r: 6 }));
  const name = plane.svg.appendChild(shape("text", { class: "pe-query-name", "text-anchor": "middle" }, "q"));

  function update(query, seen) {
    const [x, y] = plane.at(query);
    fill(shaft, { x2: x, y2: y }, []);
    fill(point, { cx: x, cy: y }, []);
    fill(name, { x: x + (query[0] < 0 ? -13 : 13), y: y + (query[1] < 0 ? 12 : -4) }, []);
    arrows.forEach((arrow, j) => arrow.classList.toggle("pe-hidden", !seen[j]));
  }

  return { root: plane.root, update };
}

function makeMixture(names, values) {
  const sides = [0, 1].map((axis) => values.map((value) => value[axis]));
  const centre = sides.map((side) => (Math.min(...side) + Math.max(...side)) / 2);
  const half = Math.max(...sides.map((side) => (Math.max(...side) - Math.min(...side)) / 2));
  const plane = makePlane("Values, and their mix ◆", centre, half + 0.7);
  const middle = [0, 1].map((axis) => add(values.map((value) => plane.at(value)[axis])) / values.length);
  const area = plane.svg.appendChild(shape("polygon", { class: "pe-hull" }));
  const pulls = values.map((value) =>
    plane.svg.appendChild(shape("line", { class: "pe-pull", ...ends(middle, plane.at(value)) })),
  );
  const points = values.map((value, j) =>
    plane.svg.appendChild(
      shape(
        "g",
        {},
        shape("circle", { class: "pe-value-point", cx: plane.at(value)[0], cy: plane.at(value)[1], r: 5 }),
        tag(names[j], plane.at(value), middle),
      ),
    ),
  );
  const mark = plane.svg.appendChild(shape("path", { class: "pe-mix-point", d: "M0 -8 L8 0 L0 8 L-8 0 Z" }));

  function update({ seen, weights, mix }) {
    const [x1, y1] = plane.at(mix);
    fill(
      area,
      {
        points: hull(values.filter((_, j) => seen[j]))
          .map((point) => plane.at(point).join(","))
          .join(" "),
      },
      [],
    );
    fill(mark, { transform: `translate(${x1} ${y1})` }, []);
    pulls.forEach((pull, j) => fill(pull, { x1, y1, "stroke-width": 12 * weights[j] }, []));
    points.forEach((point, j) => point.classList.toggle("pe-hidden", !seen[j]));
  }

  return { root: plane.root, update };
}

export default { render };
