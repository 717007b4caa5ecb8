// Activation curves, and four gates: g = SiLU(a) multiplies u.

const sigmoid = (z) => 1 / (1 + Math.exp(-z));
const silu = (z) => z * sigmoid(z);

// The error function as a series of terms of one sign, so that nothing cancels.
function erf(x) {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const CURVES = {
  relu: { label: "ReLU", at: (z) => Math.max(z, 0), colour: "var(--plain-stream)", dash: "none" },
  silu: { label: "SiLU", at: silu, colour: "var(--plain-accent)", dash: "none" },
  gelu: {
    label: "GELU exact",
    at: (z) => 0.5 * z * (1 + erf(z / Math.SQRT2)),
    colour: "var(--plain-mark)",
    dash: "none",
  },
  gelu_tanh: {
    label: "GELU tanh",
    at: (z) => 0.5 * z * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3))),
    colour: "var(--plain-other)",
    dash: "7 5",
  },
  sigmoid: { label: "sigmoid", at: sigmoid, colour: "var(--plain-done)", dash: "2 4" },
};

/** Where a rising function is zero, by halving. */
function root(f, low, high) {
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}

const LOWEST_AT = root((z) => 1 + z * (1 - sigmoid(z)), -2, -1); // where the slope of SiLU is 0
const LOWEST = silu(LOWEST_AT);
const opening = (gate) => root((a) => silu(a) - gate, LOWEST_AT, 3); // the a whose SiLU is this gate

const DOCUMENT = { gate: [0.1, 1.5, 0, 2].map(opening), up: [2, -1, 3, 0.5] };
const FOUR = [0, 1, 2, 3];

function render({ model, el }) {
  const frameNode = frame(el, "gate", "Activation curves and gates");
  const curves = makeCurves(model);
  const gates = makeGates(model);
  frameNode.append(curves.root, gates.root);
  const stops = [follow(model, ["curves", "z"], curves.update), follow(model, ["gate", "up"], gates.update)];
  return () => stops.forEach((stop) => stop());
}

// The plot: 32 units to one, z from -5 to 5, values from -1 to 5.
const UNIT = 32;
const across = (z) => 190 + UNIT * z;
const down = (y) => 172 - UNIT * y;

function makeCurves(model) {
  const plot = shape("svg", { viewBox: "0 0 380 232", class: "pe-plot", "aria-hidden": "true" });
  for (let n = -5; n <= 5; n += 1) {
    plot.append(
      shape("line", { class: n ? "pe-grid" : "pe-axis", x1: across(n), x2: across(n), y1: 12, y2: 204 }),
    );
    plot.append(shape("text", { x: across(n), y: 226, "text-anchor": "middle" }, short(n)));
  }
  for (let n = -1; n <= 5; n += 1) {
    plot.append(
      shape("line", {
        class: n ? "pe-grid" : "pe-axis",
        x1: across(-5),
        x2: across(5),
        y1: down(n),
        y2: down(n),
      }),
    );
    if (n) plot.append(shape("text", { x: across(0) - 4, y: down(n) + 4, "text-anchor": "end" }, short(n)));
  }
  // In two lines, so that it ends before the vertical axis and its numbers; the guide passes behind it.
  const note = (drop, text) =>
    shape(
      "text",
      { class: "pe-floor-label", x: across(-1.3), y: down(LOWEST) + drop, "text-anchor": "end" },
      text,
    );
  const floor = shape(
    "g",
    {},
    shape("line", { class: "pe-floor", x1: across(-5), x2: across(5), y1: down(LOWEST), y2: down(LOWEST) }),
    shape("circle", { class: "pe-lowest", cx: across(LOWEST_AT), cy: down(LOWEST), r: 4 }),
    note(14, `lowest: ${fixed(LOWEST, 5)}`),
    note(27, `at ${fixed(LOWEST_AT, 5)}`),
  );
  const guide = shape("line", { class: "pe-guide", y1: 12, y2: 204 });
  plot.append(guide, floor);

  const names = Object.keys(CURVES);
  const paths = names.map((name) => {
    const steps = Array.from({ length: 201 }, (_, i) => -5 + i / 20);
    const points = steps.map((z) => `${across(z).toFixed(2)},${down(CURVES[name].at(z)).toFixed(2)}`);
    const style = `stroke:${CURVES[name].colour};stroke-dasharray:${CURVES[name].dash}`;
    return plot.appendChild(shape("polyline", { class: "pe-curve", points: points.join(" "), style }));
  });
  const dots = names.map((name) =>
    plot.appendChild(shape("circle", { class: "pe-dot", r: 6, style: `fill:${CURVES[name].colour}` })),
  );

  // Drag on the plot, or use the slider.
  const toZ = (event) => {
    const box = plot.getBoundingClientRect();
    const z = (((event.clientX - box.left) / box.width) * 380 - 190) / UNIT;
    change(model, { z: Math.round(20 * Math.min(Math.max(z, -5), 5)) / 20 });
  };
  // A finger that moves up or down scrolls the page: only one that moves sideways, or taps, moves the point.
  let pressed = null;
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    pressed = event;
    if (event.pointerType === "mouse") toZ(event);
  });
  plot.addEventListener("pointermove", (event) => {
    const sideways = Math.abs(event.clientX - pressed?.clientX) > Math.abs(event.clientY - pressed?.clientY);
    if (event.buttons && (event.pointerType === "mouse" || sideways)) toZ(event);
  });
  plot.addEventListener("click", toZ);

  const picked = choices({
    legend: "Curves",
    several: true,
    options: names.map((name) => [name, CURVES[name].label]),
    onpick: (name) => {
      const now = model.get("curves");
      change(model, { curves: names.filter((other) => (other === name) !== now.includes(other)) });
    },
  });
  picked.labels.forEach((label, i) => {
    const style = `stroke:${CURVES[names[i]].colour};stroke-dasharray:${CURVES[names[i]].dash}`;
    label.lastChild.prepend(
      shape(
        "svg",
        { viewBox: "0 0 26 8", width: 26, height: 8, "aria-hidden": "true" },
        shape("line", { class: "pe-curve", x1: 0, x2: 26, y1: 4, y2: 4, style }),
      ),
    );
  });
  const input = slider({
    label: "z",
    min: -5,
    max: 5,
    step: 0.05,
    text: (z) => fixed(z, 2),
    onmove: (z) => change(model, { z }),
  });
  const values = names.map((name) => element("output", { "data-curve": name }));
  const lines = names.map((name, i) => element("div", {}, element("span", {}, ""), values[i]));
  const difference = element("output", { "data-curve": "difference" });
  const differenceLine = element("div", {}, element("span", {}, "GELU tanh − GELU exact = "), difference);

  function update() {
    const z = model.get("z");
    const chosen = model.get("curves");
    picked.set((name) => chosen.includes(name));
    input.set(z);
    fill(guide, { x1: across(z), x2: across(z) }, []);
    names.forEach((name, i) => {
      const hidden = chosen.includes(name) ? "inline" : "none";
      const value = CURVES[name].at(z);
      fill(paths[i], { display: hidden }, []);
      fill(dots[i], { display: hidden, cx: across(z), cy: down(value) }, []);
      lines[i].hidden = hidden === "none";
      lines[i].firstChild.textContent = `${CURVES[name].label}(${fixed(z, 2)}) = `;
      show(values[i], value, fixed(value, 5));
    });
    fill(floor, { display: chosen.includes("silu") ? "inline" : "none" }, []);
    differenceLine.hidden = !(chosen.includes("gelu") && chosen.includes("gelu_tanh"));
    const gap = CURVES.gelu_tanh.at(z) - CURVES.gelu.at(z);
    show(difference, gap, fixed(gap, 5));
  }

  const section = element(
    "div",
    { class: "pe-part" },
    element("p", { class: "pe-title" }, "One number through a curve"),
    picked.root,
    plot,
    input.root,
    element("div", { class: "pe-values" }, ...lines, differenceLine),
  );
  return { root: section, update };
}

const GAUGE = (g) => 10 + (130 * (g + 0.5)) / 3.5; // from -0.5 to 3

function whatItDoes(g) {
  if (g < -0.005) return "flips the sign";
  if (g <= 0.005) return "shut";
  if (g < 0.995) return "lets part through";
  return g <= 1.005 ? "leaves as is" : "makes larger";
}

function makeGates(model) {
  const set = (name, i) => (value) =>
    change(model, { [name]: model.get(name).map((old, k) => (k === i ? value : old)) });
  const cards = FOUR.map((i) => makeCard(i, set("gate", i), set("up", i)));
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const products = FOUR.map(() => element("span"));
  result.append("g · u = [", ...products.flatMap((node, i) => (i ? [", ", node] : [node])), "]");
  const presets = element(
    "div",
    { class: "pe-buttons" },
    button("The document's values", () => change(model, DOCUMENT)),
    button("Lowest gates", () => change(model, { gate: FOUR.map(() => LOWEST_AT) })),
    button("All gates at 1", () => change(model, { gate: FOUR.map(() => opening(1)) })),
  );
  const bounds = element(
    "p",
    { class: "pe-note" },
    "A gate has no upper bound. Its lower bound is ",
    element("output", { "data-bound": "value", "data-value": LOWEST }, fixed(LOWEST, 5)),
    ", reached at a = ",
    element("output", { "data-bound": "place", "data-value": LOWEST_AT }, fixed(LOWEST_AT, 5)),
    " (the bar on each gauge).",
  );

  function update() {
    const up = model.get("up");
    const gates = model.get("gate");
    const after = gates.map(silu);
    const out = FOUR.map((i) => after[i] * up[i]);
    const reach = 1.1 * Math.max(3, ...up.map(Math.abs), ...out.map(Math.abs));
    FOUR.forEach((i) => {
      cards[i].update(gates[i], after[i], up[i], out[i], reach);
      show(products[i], out[i], short(out[i], 2));
    });
  }

  const section = element(
    "div",
    { class: "pe-part" },
    element("p", { class: "pe-title" }, "Four gates: g = SiLU(a) multiplies u"),
    presets,
    element("div", { class: "pe-cards" }, ...cards.map((card) => card.root)),
    result,
    bounds,
  );
  return { root: section, update };
}

function makeCard(i, setGate, setUp) {
  const a = slider({
    label: "a",
    spoken: `a[${i}], before SiLU`,
    min: -5,
    max: 3,
    step: 0.05,
    text: (v) => fixed(v, 2),
    onmove: setGate,
  });
  const u = slider({
    label: "u",
    spoken: `u[${i}]`,
    min: -3,
    max: 3,
    step: 0.05,
    text: (v) => fixed(v, 2),
    onmove: setUp,
  });
  const bar = (x, kind) => shape("rect", { x, width: 34, rx: 2, class: kind });
  const before = bar(8, "pe-before");
  const after = bar(108, "pe-after");
  const label = (x, y) => shape("text", { x, y, "text-anchor": "middle" });
  const upText = label(25, 13);
  const outText = label(125, 13);
  const times = label(75, 66);
  const bars = shape(
    "svg",
    { viewBox: "0 0 150 154", "aria-hidden": "true" },
    shape("line", { class: "pe-axis", x1: 6, x2: 144, y1: 80, y2: 80 }),
    before,
    after,
    upText,
    outText,
    times,
    shape("path", { class: "pe-arrow", d: "M60 72 H88 M83 68 L88 72 L83 76" }),
    shape("text", { x: 25, y: 148, "text-anchor": "middle" }, "u"),
    shape("text", { x: 125, y: 148, "text-anchor": "middle" }, "g · u"),
  );
  const pointer = shape("circle", { class: "pe-dot pe-pointer", cy: 9, r: 6 });
  const mark = (g, text) => [
    shape("line", { class: "pe-axis", x1: GAUGE(g), x2: GAUGE(g), y1: 3, y2: 15 }),
    shape("text", { x: GAUGE(g), y: 29, "text-anchor": "middle" }, text),
  ];
  const gauge = shape(
    "svg",
    { viewBox: "0 0 150 32", "aria-hidden": "true" },
    shape("line", { class: "pe-track", x1: GAUGE(LOWEST), x2: GAUGE(3), y1: 9, y2: 9 }),
    ...mark(0, "0"),
    ...mark(1, "1"),
    ...mark(2, "2"),
    shape("line", { class: "pe-wall", x1: GAUGE(LOWEST), x2: GAUGE(LOWEST), y1: 1, y2: 17 }),
    pointer,
  );
  const gate = element("output", { "data-gate": i });
  const product = element("output", { "data-product": i, hidden: true });
  const words = element("span", { class: "pe-words" });

  function place(rect, value, reach) {
    const height = (60 * Math.abs(value)) / reach;
    fill(rect, { y: value > 0 ? 80 - height : 80, height: Math.max(height, 1) }, []);
    rect.classList.toggle("pe-negative", value < 0);
  }

  function update(pre, g, up, out, reach) {
    a.set(pre);
    u.set(up);
    show(gate, g, fixed(g, 3));
    show(product, out);
    words.textContent = whatItDoes(g);
    place(before, up, reach);
    place(after, out, reach);
    upText.textContent = short(up, 2);
    outText.textContent = short(out, 2);
    times.textContent = `× ${short(g, 2)}`;
    fill(pointer, { cx: Math.min(GAUGE(g), 144) }, []);
  }

  const card = element(
    "div",
    { class: "pe-card", role: "group", "aria-label": `Component ${i}` },
    bars,
    element("p", { class: "pe-gate-line" }, "g = ", gate, words),
    gauge,
    a.root,
    u.root,
    product,
  );
  return { root: card, update };
}

export default { render };
