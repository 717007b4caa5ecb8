// A query and a key of four numbers, turned pair by pair: their dot product follows the distance alone.

const FARTHEST = 40;
const PAIRS = {
  neighbours: [
    [0, 1],
    [2, 3],
  ],
  halves: [
    [0, 2],
    [1, 3],
  ],
};
const STATE = ["query", "key", "query_position", "key_position", "base", "pairing"];
const turn = ([a, b], angle) => [
  a * Math.cos(angle) - b * Math.sin(angle),
  a * Math.sin(angle) + b * Math.cos(angle),
];

/** The numbers of both pairs of a row at a position: as they are, how far they turn, and turned. */
function pairsOf(row, position, { base, pairing }) {
  return PAIRS[pairing].map(([i, j], n) => {
    const speed = base ** (-n / 2);
    return {
      places: [i, j],
      speed,
      before: [row[i], row[j]],
      after: turn([row[i], row[j]], position * speed),
    };
  });
}

/** What each pair adds to the dot product of the query and the key at two positions. */
function termsAt(state, queryPosition, keyPosition) {
  const keys = pairsOf(state.key, keyPosition, state);
  return pairsOf(state.query, queryPosition, state).map(
    ({ after: [a, b] }, n) => a * keys[n].after[0] + b * keys[n].after[1],
  );
}

const dotAt = (state, distance) => termsAt(state, distance, 0).reduce((sum, term) => sum + term, 0);

function render({ model, el }) {
  const root = frame(el, "rope", "A query and a key, turned by their positions");
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const start = read();
  const position = (label, spoken, name) =>
    slider({
      label,
      spoken,
      min: 0,
      max: FARTHEST,
      step: 1,
      onmove: (value) => change(model, { [name]: value }),
    });
  const query = position("q at", "position of the query", "query_position");
  const key = position("k at", "position of the key", "key_position");
  const both = (label, step) =>
    button(label, () => {
      const { query_position: t, key_position: s } = read();
      change(model, { query_position: t + step, key_position: s + step });
    });
  const [on, back] = [both("Both one place on", 1), both("Both one place back", -1)];
  const switches = choices({
    legend: "How they turn",
    several: true,
    options: [
      ["base", "base 10,000 in place of 100"],
      ["pairing", "halves in place of neighbours"],
    ],
    onpick: (name) => {
      const now = read();
      change(
        model,
        name === "base"
          ? { base: now.base === 100 ? 10000 : 100 }
          : { pairing: now.pairing === "halves" ? "neighbours" : "halves" },
      );
    },
  });
  const planes = [0, 1].map(() => makePlane());
  const curve = makeCurve();
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const parts = [0, 1].map(() => element("span", { "data-term": true }));
  const total = element("span", { "data-total": true });
  const distance = element("span", { "data-distance": true });
  result.append("q\u00a0·\u00a0k = ", parts[0], " + ", parts[1], " = ", total, " at distance ", distance);
  root.append(
    element("fieldset", { class: "pe-group" }, element("legend", {}, "Positions"), query.root, key.root),
    element(
      "div",
      { class: "pe-buttons" },
      on,
      back,
      button("Back to the start", () => change(model, start)),
    ),
    switches.root,
    element("div", { class: "pe-planes" }, ...planes.map((plane) => plane.root)),
    result,
    curve.root,
    element(
      "p",
      { class: "pe-note" },
      "Solid arrows: turned. Dashed: as they are at position 0. Thick: q. Thin: k.",
    ),
  );

  function update() {
    const state = read();
    const [t, s] = [state.query_position, state.key_position];
    query.set(t);
    key.set(s);
    on.disabled = Math.max(t, s) === FARTHEST;
    back.disabled = Math.min(t, s) === 0;
    switches.set((name) => (name === "base" ? state.base === 10000 : state.pairing === "halves"));
    const [queries, keys] = [pairsOf(state.query, t, state), pairsOf(state.key, s, state)];
    planes.forEach((plane, n) => plane.update(n, queries[n], keys[n]));
    const terms = termsAt(state, t, s);
    terms.forEach((term, n) => show(parts[n], term, n ? bracketedTo(term) : fixed(term, 2)));
    show(total, terms[0] + terms[1], fixed(terms[0] + terms[1], 2));
    show(distance, t - s, short(t - s));
    curve.update(state, t - s);
  }

  return follow(model, STATE, update);
}

const bracketedTo = (number) => (number < 0 ? `(${fixed(number, 2)})` : fixed(number, 2));

const SIDE = 200;
const UNIT = 26; // 3.6 to each side of the middle
const at = ([x, y]) => [SIDE / 2 + UNIT * x, SIDE / 2 - UNIT * y];

/** One pair of the query and of the key as arrows, before and after turning. */
function makePlane() {
  const caption = element("figcaption");
  const svg = shape("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" });
  for (let n = -3; n <= 3; n += 1) {
    const [x, y] = at([n, n]);
    svg.append(shape("line", { class: n ? "pe-grid" : "pe-axis", x1: x, x2: x, y1: 0, y2: SIDE }));
    svg.append(shape("line", { class: n ? "pe-grid" : "pe-axis", x1: 0, x2: SIDE, y1: y, y2: y }));
  }
  const arrow = (kind) => svg.appendChild(shape("line", { class: kind, x1: SIDE / 2, y1: SIDE / 2 }));
  const make = (name, letter) => ({
    ghost: arrow(`pe-ghost pe-${name}-arrow`),
    arrow: arrow(`pe-${name}-arrow`),
    point: svg.appendChild(shape("circle", { class: `pe-${name}-point`, r: 5 })),
    name: svg.appendChild(shape("text", { class: `pe-${name}-name`, "text-anchor": "middle" }, letter)),
    values: [0, 1].map(() => element("span")),
  });
  const [key, query] = [make("key", "k"), make("query", "q")];
  const line = (letter, { values }) => element("div", {}, `${letter} = [`, values[0], ", ", values[1], "]");
  const values = element("div", { class: "pe-pair" }, line("q", query), line("k", key));

  function draw(drawn, name, { places, before, after }) {
    const [x, y] = at(after);
    fill(drawn.ghost, { x2: at(before)[0], y2: at(before)[1] }, []);
    fill(drawn.arrow, { x2: x, y2: y }, []);
    fill(drawn.point, { cx: x, cy: y }, []);
    const length = Math.hypot(...after) || 1; // the letter stands beyond the arrow's tip
    fill(drawn.name, { x: x + (13 * after[0]) / length, y: y - (13 * after[1]) / length + 4 }, []);
    drawn.values.forEach((value, axis) => {
      value.setAttribute(`data-${name}`, places[axis]);
      show(value, after[axis], fixed(after[axis], 2));
    });
  }

  function update(n, queryPair, keyPair) {
    const {
      places: [i, j],
      speed,
    } = queryPair;
    caption.textContent = `Numbers ${i} and ${j}, by ${short(speed)} a position`;
    draw(query, "query", queryPair);
    draw(key, "key", keyPair);
  }

  return { root: element("figure", { class: "pe-plane" }, caption, svg, values), update };
}

const across = (distance) => 190 + 4.4 * distance;

/** The dot product against the distance, and where the two stand now. */
function makeCurve() {
  const svg = shape(
    "svg",
    { viewBox: "0 0 380 190", class: "pe-by-distance", "aria-hidden": "true" },
    shape("line", { class: "pe-axis", x1: across(-FARTHEST), x2: across(FARTHEST), y1: 85, y2: 85 }),
    shape("line", { class: "pe-axis", x1: across(0), x2: across(0), y1: 10, y2: 160 }),
  );
  for (const distance of [-40, -20, 0, 20, 40])
    svg.append(shape("text", { x: across(distance), y: 173, "text-anchor": "middle" }, short(distance)));
  const guide = svg.appendChild(shape("line", { class: "pe-guide", y1: 10, y2: 160 }));
  const line = svg.appendChild(shape("polyline", { class: "pe-curve pe-dots" }));
  const dot = svg.appendChild(shape("circle", { class: "pe-dot pe-here", r: 6 }));
  svg.append(
    shape(
      "text",
      { x: across(0), y: 187, "text-anchor": "middle" },
      "distance: position of q − position of k",
    ),
  );
  const root = element(
    "figure",
    { class: "pe-plane" },
    element("figcaption", {}, "q · k at every distance"),
    svg,
  );

  function update(state, here) {
    const steps = Array.from({ length: 4 * FARTHEST + 1 }, (_, i) => i / 2 - FARTHEST);
    const reach = Math.max(...steps.map((distance) => Math.abs(dotAt(state, distance))), 1e-9);
    const down = (number) => 85 - (70 * number) / reach;
    fill(
      line,
      {
        points: steps
          .map((distance) => `${across(distance).toFixed(1)},${down(dotAt(state, distance)).toFixed(2)}`)
          .join(" "),
      },
      [],
    );
    fill(guide, { x1: across(here), x2: across(here) }, []);
    fill(dot, { cx: across(here), cy: down(dotAt(state, here)) }, []);
  }

  return { root, update };
}

export default { render };
