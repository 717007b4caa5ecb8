// Where the parameters of a GPT-2 are, counted from its settings.

const SIZES = {
  small: { width: 768, layers: 12, heads: 12 },
  medium: { width: 1024, layers: 24, heads: 16 },
  large: { width: 1280, layers: 36, heads: 20 },
  XL: { width: 1600, layers: 48, heads: 25 },
};
const SHARED = { vocabulary: 50257, context: 1024, multiple: 4 }; // the same in all four
const SMALL = { ...SHARED, ...SIZES.small }; // what everything is compared with
const [NARROWEST, WIDEST] = [64, 4096];
const MOST_HEADS = 64;

const whole = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const divisors = (width) => whole(1, MOST_HEADS).filter((heads) => width % heads === 0);
/** The most heads that cut the width into equal pieces and are not more than those wanted. */
const fitting = (width, wanted) => divisors(width).findLast((heads) => heads <= wanted);

// Each setting: its label and the places of its slider.
const SETTINGS = {
  width: [
    "width E",
    () => [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 25, 32, 40, 50, 64].map((pieces) => 64 * pieces),
  ],
  layers: ["layers L", () => whole(1, 48)],
  vocabulary: ["vocabulary V", () => [256, 1000, 2000, 5000, 10000, 20000, 50257, 100000, 200000]],
  context: ["context", () => whole(6, 13).map((power) => 2 ** power)],
  multiple: ["F ÷ E", () => whole(1, 8)],
  heads: ["heads H", ({ width }) => divisors(width)],
};
const STATE = Object.keys(SETTINGS);

// Each part: its name, its formula, and what it counts. Every table has both its sides here, every bias and
// gain one.
const PARTS = [
  ["token embedding", "V · E", ({ vocabulary: V, width: E }) => V * E],
  ["position embedding", "context · E", ({ context, width: E }) => context * E],
  ["attention", "L(4E² + 4E)", ({ layers: L, width: E }) => L * (4 * E * E + 4 * E)],
  [
    "MLP",
    "L(2EF + F + E)",
    ({ layers: L, width: E, multiple }) => L * (2 * E * multiple * E + multiple * E + E),
  ],
  ["norms", "2E(2L + 1)", ({ layers: L, width: E }) => (2 * L + 1) * 2 * E],
];
const count = (state) => PARTS.map(([, , formula]) => formula(state));
const sum = (counts) => counts.reduce((total, number) => total + number, 0);
const written = (number) => number.toLocaleString("en-US");
/** A ratio with three digits that count, two if it is small, and never with an exponent. */
function ratio(number) {
  if (number < 0.0001) return number.toFixed(6);
  if (number < 0.1) return number.toPrecision(2);
  return number < 999.5 ? number.toPrecision(3) : written(Math.round(number));
}

const stateOf = (model) => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
const sameAs = (one, other) => STATE.every((name) => one[name] === other[name]);
const sizeOf = (state) => Object.keys(SIZES).find((size) => sameAs(state, { ...SHARED, ...SIZES[size] }));

function render({ model, el }) {
  const root = frame(el, "parameters", "The parameters of a GPT-2, counted from its settings");
  const controls = makeControls(model);
  const { table, draw } = makeTable();
  const inside = element("p", { class: "pe-note" });
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  root.append(
    ...controls.roots,
    inside,
    result,
    table,
    element(
      "p",
      { class: "pe-note" },
      "The line across a bar marks the share in GPT-2 small. ",
      "The output head is the token embedding, turned: it is counted once.",
    ),
  );

  function update() {
    const now = stateOf(model);
    controls.update(now);
    inside.textContent =
      `Inside the MLP a row has F = ${written(now.multiple * now.width)} numbers. ` +
      `A head works on ${written(now.width / now.heads)} of the ${written(now.width)}.`;
    show(result, sum(count(now)), explain(now));
    draw(count(now));
  }

  return follow(model, STATE, update);
}

/** The published sizes, a slider for each setting, and two buttons for the width. */
function makeControls(model) {
  let wanted = model.get("heads"); // the heads that were asked for, also where the width does not allow them
  function set(name, value) {
    if (name === "heads") wanted = value;
    change(model, name === "width" ? { width: value, heads: fitting(value, wanted) } : { [name]: value });
  }

  const places = (name) =>
    [...new Set([...SETTINGS[name][1](stateOf(model)), model.get(name)])].sort((a, b) => a - b);
  const sliders = STATE.map((name) =>
    slider({
      label: SETTINGS[name][0],
      min: 0,
      max: 1,
      step: 1,
      text: (place) => written(places(name)[place]),
      onmove: (place) => set(name, places(name)[place]),
    }),
  );
  const sizes = choices({
    legend: "The published sizes of GPT-2",
    options: Object.keys(SIZES).map((size) => [size, size]),
    onpick: (size) => {
      wanted = SIZES[size].heads;
      change(model, { ...SHARED, ...SIZES[size] });
    },
  });
  const double = button("Double the width", () => set("width", 2 * model.get("width")));
  const halve = button("Halve the width", () => set("width", model.get("width") / 2));

  function update(now) {
    STATE.forEach((name, i) => {
      const list = places(name);
      sliders[i].input.max = list.length - 1;
      sliders[i].set(list.indexOf(now[name]));
      // The readout holds the setting, not its place.
      show(sliders[i].root.lastChild, now[name], written(now[name]));
    });
    sizes.set((size) => size === sizeOf(now));
    double.disabled = 2 * now.width > WIDEST;
    halve.disabled = now.width % 2 === 1 || now.width / 2 < NARROWEST;
  }

  const settings = element("div", { class: "pe-settings" }, ...sliders.map((one) => one.root));
  return { roots: [sizes.root, settings, element("div", { class: "pe-buttons" }, double, halve)], update };
}

/** The total, and how the model differs from GPT-2 small. */
function explain(now) {
  const [total, before] = [now, SMALL].map((one) => sum(count(one)));
  const size = sizeOf(now);
  const changes = STATE.filter((name) => now[name] !== SMALL[name]).map(
    (name) => `${SETTINGS[name][0]} ${written(now[name])} in place of ${written(SMALL[name])}`,
  );
  const named = changes.length > 2 ? "A GPT-2 of your own" : `GPT-2 small with ${changes.join(" and ")}`;
  const compared = total === before ? "exactly as many as" : `${ratio(total / before)} times as many as`;
  const counted = `${size ? `GPT-2 ${size}` : named}: ${written(total)} parameters`;
  return changes.length ? `${counted}, ${compared} GPT-2 small.` : `${counted}.`;
}

/** A row for each part and one for all together; `draw` fills in the counts. */
function makeTable() {
  const rows = [...PARTS, ["together", "", null]].map(([name, formula]) => {
    const row = {
      bar: element("i"),
      mark: element("b"),
      share: element("span", { "data-share": name }),
      count: element("td", { "data-count": name }),
      times: element("td", { "data-times": name }),
    };
    const bar = element("div", { "aria-hidden": "true" }, row.bar, row.mark);
    row.root = element(
      "tr",
      {},
      element("th", { scope: "row" }, name, element("small", {}, formula)),
      element("td", { class: "pe-weight" }, bar, row.share),
      row.count,
      row.times,
    );
    return row;
  });
  const heading = (text) => element("th", { scope: "col" }, text);
  const table = element(
    "table",
    { class: "pe-reading pe-parts" },
    element(
      "thead",
      {},
      element("tr", {}, ...["part", "share", "parameters", "times GPT\u20112 small"].map(heading)),
    ),
    element("tbody", {}, ...rows.slice(0, -1).map((row) => row.root)),
    element("tfoot", {}, rows.at(-1).root),
  );

  function draw(counts) {
    const [now, before] = [counts, count(SMALL)].map((one) => [...one, sum(one)]);
    rows.forEach((row, i) => {
      const share = now[i] / now.at(-1);
      row.bar.style.width = `${100 * share}%`;
      row.mark.style.left = `${(100 * before[i]) / before.at(-1)}%`;
      show(row.share, share, `${fixed(100 * share, 2)} %`);
      show(row.count, now[i], written(now[i]));
      show(row.times, now[i] / before[i], ratio(now[i] / before[i]));
    });
  }

  return { table, draw };
}

export default { render };
