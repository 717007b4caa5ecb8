// Four numbers, moved together by a scale and a shift, and what LayerNorm and RMSNorm make of them.

const PLACES = [0, 1, 2, 3];
const EPS = 1e-5;
const BOUND = 2; // four numbers normalized never leave −2 to 2
// The places of the slider of the scale: 1, 2 and 5 of each power of ten.
const SCALES = [-3, -2, -1, 0, 1]
  .flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)))
  .concat(100);

const mean = (row) => row.reduce((sum, number) => sum + number, 0) / row.length;
const variance = (row) => mean(row.map((number) => (number - mean(row)) ** 2));
const meanSquare = (row) => mean(row.map((number) => number ** 2));
const layerNorm = (row) => row.map((number) => (number - mean(row)) / Math.sqrt(variance(row) + EPS));
const rmsNorm = (row) => row.map((number) => number / Math.sqrt(meanSquare(row) + EPS));
const distance = (a, b) => Math.max(...a.map((number, i) => Math.abs(number - b[i])));

/** A number with three digits that count or more, and without exponents. */
function written(number) {
  if (Math.abs(number) < 1e-9) return "0"; // what is left of rounding
  const digits = Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(number))), 0), 9);
  const text = fixed(number, digits);
  return digits ? text.replace(/\.?0+$/, "") : text.replace(/\B(?=(\d{3})+$)/g, ",");
}

function render({ model, el }) {
  const root = frame(el, "normalization", "LayerNorm and RMSNorm of four numbers");
  const setX = (i) => (value) =>
    change(model, { x: model.get("x").map((old, k) => (k === i ? value : old)) });
  const sliders = PLACES.map((i) =>
    slider({ label: `x[${i}]`, min: -10, max: 10, step: 0.5, onmove: setX(i) }),
  );
  const stops = () => [...new Set([...SCALES, model.get("scale")])].sort((a, b) => a - b);
  const scale = slider({
    label: "scale ×",
    min: 0,
    max: 1,
    step: 1,
    onmove: (i) => change(model, { scale: stops()[i] }),
  });
  const shift = slider({
    label: "shift +",
    min: -10,
    max: 10,
    step: 0.5,
    onmove: (value) => change(model, { shift: value }),
  });
  const group = (legend, ...controls) =>
    element("fieldset", { class: "pe-group" }, element("legend", {}, legend), ...controls);
  const start = Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const preset = (label, x) => button(label, () => change(model, { x, scale: 1, shift: 0 }));
  const buttons = element(
    "div",
    { class: "pe-buttons" },
    preset("Row [1, 0, 0, 0]", [1, 0, 0, 0]),
    preset("Flat row [7, 7, 7, 7]", [7, 7, 7, 7]),
    button("Back to the start", () => change(model, start)),
  );

  const row = makePanel("row", "Row");
  const layer = makePanel("layer", "LayerNorm");
  const rms = makePanel("rms", "RMSNorm");
  root.append(
    element(
      "div",
      { class: "pe-groups" },
      group("Four numbers", ...sliders.map((one) => one.root)),
      group("All four together", scale.root, shift.root),
    ),
    buttons,
    element("div", { class: "pe-panels" }, row.root, layer.root, rms.root),
    element(
      "p",
      { class: "pe-note" },
      "Dashed: x alone, with scale 1 and shift 0. The norms have gain 1, bias 0 and eps 0.00001.",
    ),
  );

  function update() {
    const [x, factor, added] = STATE.map((name) => model.get(name));
    const now = x.map((number) => factor * number + added);
    sliders.forEach((one, i) => one.set(x[i]));
    scale.input.max = stops().length - 1;
    scale.set(stops().indexOf(factor));
    scale.input.setAttribute("aria-valuetext", written(factor));
    show(scale.root.lastChild, factor, written(factor));
    shift.set(added);

    row.draw(now, x, Math.max(...[...now, ...x].map(Math.abs), 1e-9));
    layer.draw(layerNorm(now), layerNorm(x), BOUND);
    rms.draw(rmsNorm(now), rmsNorm(x), BOUND);
    row.facts(
      [
        ["mean", mean(now)],
        ["variance", variance(now)],
        ["root mean square", Math.sqrt(meanSquare(now))],
      ],
      `${written(factor)} · x + ${amount(added)}`,
    );
    layer.facts(
      [
        ["mean", mean(layerNorm(now))],
        ["variance", variance(layerNorm(now))],
      ],
      `(row − ${amount(mean(now))}) / √(${written(variance(now))} + eps)`,
    );
    rms.facts(
      [
        ["mean", mean(rmsNorm(now))],
        ["root mean square", Math.sqrt(meanSquare(rmsNorm(now)))],
      ],
      `row / √(${written(meanSquare(now))} + eps)`,
    );
    layer.compare(distance(layerNorm(now), layerNorm(x)));
    rms.compare(distance(rmsNorm(now), rmsNorm(x)));
  }

  return follow(model, STATE, update);
}

const STATE = ["x", "scale", "shift"];
const amount = (number) => (number < 0 ? `(${written(number)})` : written(number));

/** Four bars with their numbers, facts about them, and what scale and shift have changed. */
function makePanel(name, title) {
  const bars = PLACES.map((i) => ({
    outline: shape("rect", { class: "pe-outline", x: 12 + 52 * i, width: 36 }),
    bar: shape("rect", { class: "pe-after", x: 14 + 52 * i, width: 32 }),
    text: shape("text", { x: 30 + 52 * i, "text-anchor": "middle" }),
    value: element("output", { [`data-${name}`]: i, hidden: true }),
  }));
  const svg = shape(
    "svg",
    { viewBox: "0 0 216 190", "aria-hidden": "true" },
    ...bars.flatMap(({ bar, outline, text }) => [bar, outline, text]),
    shape("line", { class: "pe-axis", x1: 4, x2: 212, y1: 95, y2: 95 }),
  );
  const formula = element("p", { class: "pe-formula" });
  const list = element("dl");
  const verdict = element("p", { class: "pe-verdict", "aria-live": "polite" });
  const root = element(
    "div",
    { class: "pe-card", role: "group", "aria-label": title },
    element("p", { class: "pe-title" }, title),
    svg,
    formula,
    list,
    verdict,
    ...bars.map(({ value }) => value),
  );

  function place(rect, number, reach) {
    const height = (72 * Math.min(Math.abs(number), reach)) / reach;
    fill(rect, { y: number > 0 ? 95 - height : 95, height: Math.max(height, 1) }, []);
  }

  function draw(numbers, before, reach) {
    bars.forEach(({ bar, outline, text, value }, i) => {
      place(bar, numbers[i], reach);
      place(outline, before[i], reach);
      bar.classList.toggle("pe-negative", numbers[i] < 0);
      show(value, numbers[i]);
      const [height, dashed] = [numbers[i], before[i]].map(
        (number) => (72 * Math.min(Math.abs(number), reach)) / reach,
      );
      // The number stands at the end of its bar, or beyond the outline if that ends where the number would
      // stand.
      const crossed = numbers[i] < 0 === before[i] < 0 && dashed > height && dashed < height + 22;
      const end = crossed ? dashed : height;
      fill(text, { y: numbers[i] < 0 ? 95 + end + 17 : 95 - end - 6 }, []);
      text.textContent = name === "row" ? written(numbers[i]) : short(numbers[i], 2);
    });
  }

  function facts(pairs, text) {
    formula.textContent = text;
    list.replaceChildren(
      ...pairs.map(([label, number]) =>
        element(
          "div",
          {},
          element("dt", {}, label),
          element(
            "dd",
            { [`data-fact-${name}`]: label, "data-value": number },
            name === "row" ? written(number) : short(number, 2),
          ),
        ),
      ),
    );
  }

  function compare(gap) {
    const changed = gap >= 0.005;
    show(verdict, gap, changed ? `changed by up to ${fixed(gap, 2)}` : "same as for x alone");
    verdict.classList.toggle("pe-changed", changed);
  }

  return { root, draw, facts, compare };
}

export default { render };
