// One weight goes downhill: the loss of every weight with the walk on it, and the loss of every step.

const X = 2; // the one number that the model sees
const CAME = 0.75; // three of the four sentences go on with eats
const MOST = 20; // steps
const STATE = ["start", "rate", "steps"];

/** The surprises of eats and of quietly under the logits [X · w, 0], without a sum that could overflow. */
const surprises = (w) => [Math.log1p(Math.exp(-X * w)), Math.log1p(Math.exp(X * w))];
const probability = (w) => 1 / (1 + Math.exp(-X * w));
const lossOf = (w) => CAME * surprises(w)[0] + (1 - CAME) * surprises(w)[1];
const slopeOf = (w) => X * (probability(w) - CAME);
const LOWEST = lossOf(Math.log(CAME / (1 - CAME)) / X); // where the probability is the share

/** The weight at the start, after each step, and after one step more. */
function walk({ start, rate, steps }) {
  const path = [start];
  while (path.length < steps + 2) path.push(path.at(-1) - rate * slopeOf(path.at(-1)));
  return path;
}

/** How the loss of the last step compares with the one before, in words. */
function verdict(loss, before) {
  if (before === undefined) return `is ${fixed(loss, 3)}`;
  const change = loss - before;
  if (Math.abs(change) < 0.0005) return `is still ${fixed(loss, 3)}`;
  return `${change < 0 ? "fell" : "rose"} by ${fixed(Math.abs(change), 3)}, to ${fixed(loss, 3)}`;
}

function render({ model, el }) {
  const root = frame(el, "descent", "Gradient descent on one weight");
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const initial = read();
  const set = (name) => (value) => change(model, { [name]: value });
  const rate = slider({
    label: "rate η",
    spoken: "learning rate",
    min: 0.1,
    max: 5,
    step: 0.1,
    onmove: set("rate"),
  });
  const start = slider({ label: "start w", min: -2, max: 2, step: 0.25, onmove: set("start") });
  const steps = (label, count) =>
    button(label, () => set("steps")(Math.max(0, Math.min(MOST, model.get("steps") + count))));
  const [one, ten, back] = [steps("One step", 1), steps("Ten steps", 10), steps("One step back", -1)];
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const valley = makePlot("Loss of every weight w", [-2.5, 6], [-2, 0, 2, 4, 6], "weight w");
  const curve = Array.from({ length: 163 }, (_, i) => i / 20 - 2.1).map((w) => [w, lossOf(w)]);
  valley.below.append(shape("polyline", { class: "pe-curve pe-valley", points: valley.line(curve) }));
  const tangent = valley.below.appendChild(shape("line", { class: "pe-tangent" }));
  const history = makePlot("Loss after every step", [0, MOST + 1], [0, 5, 10, 15, 20], "step");
  const facts = makeFacts();
  const legend = element("legend", {}, "Learning rate and first weight");
  root.append(
    element("fieldset", { class: "pe-group" }, legend, rate.root, start.root),
    element(
      "div",
      { class: "pe-buttons" },
      one,
      ten,
      back,
      button("Back to the start", () => change(model, initial)),
    ),
    result,
    element("div", { class: "pe-planes" }, valley.root, history.root),
    facts.root,
    element(
      "p",
      { class: "pe-note" },
      "Large dot: now, with the slope as a dashed line. Ring: the next step. Dotted: the lowest loss, ",
      `${fixed(LOWEST, 3)}.`,
    ),
  );

  function update() {
    const state = read();
    const path = walk(state);
    const losses = path.map(lossOf);
    const [w, loss] = [path.at(-2), losses.at(-2)];
    rate.set(state.rate);
    start.set(state.start);
    one.disabled = ten.disabled = state.steps === MOST;
    back.disabled = state.steps === 0;
    valley.update(
      path.map((place, i) => [place, losses[i]]),
      path,
    );
    history.update(
      losses.map((height, i) => [i, height]),
      losses,
    );
    fill(tangent, touching(valley, w), []);
    facts.update(w, state.rate, path.at(-1));
    show(
      result,
      loss,
      `${state.steps ? `Step ${state.steps}` : "No step yet"}: the loss ${verdict(loss, losses.at(-3))}`,
    );
  }

  return follow(model, STATE, update);
}

/** The ends of a short line through the point of w, as steep as the loss is there. */
function touching(plot, w) {
  const [[x, y], [right, down]] = [plot.at([w, lossOf(w)]), plot.at([w + 1, lossOf(w) + slopeOf(w)])];
  const half = 36 / Math.hypot(right - x, down - y);
  const [across, along] = [half * (right - x), half * (down - y)];
  return { x1: x - across, y1: y - along, x2: x + across, y2: y + along };
}

const HIGHEST = 3.2; // no walk gets higher, or farther than from −2.5 to 6
const BOTTOM = 196;

/**
 * A plot of losses: `below` is for what lies under the walk, `update` draws the walk, its last point as a
 * ring.
 */
function makePlot(title, [from, to], ticks, name) {
  const at = ([x, loss]) => [24 + (270 * (x - from)) / (to - from), BOTTOM - (186 * loss) / HIGHEST];
  const line = (points) =>
    points
      .map((point) =>
        at(point)
          .map((number) => number.toFixed(2))
          .join(","),
      )
      .join(" ");
  const svg = shape("svg", { viewBox: "0 0 300 230", "aria-hidden": "true" });
  const height = (loss) => at([from, loss])[1];
  const level = (kind, loss) =>
    svg.append(shape("line", { class: kind, x1: 24, x2: 294, y1: height(loss), y2: height(loss) }));
  const label = (x, y, text, anchor = "middle") =>
    svg.append(shape("text", { x, y, "text-anchor": anchor }, text));
  for (const loss of [0, 1, 2, 3]) {
    level(loss ? "pe-grid" : "pe-axis", loss);
    label(18, height(loss) + 4, String(loss), "end");
  }
  for (const tick of ticks) label(at([tick, 0])[0], BOTTOM + 15, short(tick));
  label(159, BOTTOM + 30, name);
  level("pe-lowest-loss", LOWEST);
  const below = svg.appendChild(shape("g"));
  const trail = svg.appendChild(shape("polyline", { class: "pe-trail" }));
  const places = svg.appendChild(shape("g"));

  function update(points, values) {
    fill(trail, { points: line(points) }, []);
    places.replaceChildren(
      ...points.map(at).map(([cx, cy], i) => {
        const kind = ["pe-ring", "pe-dot pe-here"][points.length - 1 - i] ?? "pe-been";
        return shape("circle", {
          class: kind,
          cx,
          cy,
          r: { "pe-ring": 5, "pe-been": 2.5 }[kind] ?? 6.5,
          "data-value": values[i],
        });
      }),
    );
  }

  return {
    root: element("figure", { class: "pe-plane" }, element("figcaption", {}, title), svg),
    below,
    at,
    line,
    update,
  };
}

/** The arithmetic of where the weight is and of the next step, line by line. */
function makeFacts() {
  const names = ["p of eats", "loss", "slope", "new w"];
  const lines = names.map((name) => ({
    name,
    terms: element("span"),
    number: element("b", { "data-fact": name }),
  }));
  const row = ({ name, terms, number }) => [
    element("dt", {}, name),
    element("dd", {}, terms, " =\u00a0", number),
  ];
  // The class is on the box: the theme indents a list that has one.
  const root = element("div", { class: "pe-working" }, element("dl", {}, ...lines.flatMap(row)));

  function update(w, rate, after) {
    const p = probability(w);
    const [eats, quietly] = surprises(w);
    const texts = [
      [p, `softmax of [${short(X * w)}, 0]`],
      [lossOf(w), `${CAME} × ${fixed(eats, 3)} + ${1 - CAME} × ${fixed(quietly, 3)}`],
      [slopeOf(w), `${X} × (${fixed(p, 3)} − ${CAME})`],
      [after, `${short(w)} − ${short(rate)} × ${bracketed(slopeOf(w))}`],
    ];
    texts.forEach(([number, text], i) => {
      lines[i].terms.textContent = text;
      show(lines[i].number, number, fixed(number, 3));
    });
  }

  return { root, update };
}

export default { render };
