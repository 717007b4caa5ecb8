// z = x @ W, one component at a time: the row x meets one column of W.

const ROWS = [0, 1, 2, 3];
const COLUMNS = [0, 1, 2, 3, 4, 5, 6, 7];
const BEAT = 550; // milliseconds between two terms

const dot = (x, weight, column) => ROWS.map((i) => x[i] * weight[i][column]);
const signed = (number) => (number < 0 ? short(number) : `+${short(number)}`);
const running = (products) =>
  products.map((_, i) => products.slice(0, i + 1).reduce((sum, term) => sum + term, 0));

function render({ model, el }) {
  const root = frame(el, "matmul", "Matrix multiply, one output component at a time");
  let terms = ROWS.length; // how many products have been added up so far
  let current = null; // the term that was just added
  let timer = null;

  const setX = (i) => (value) =>
    change(model, { x: model.get("x").map((old, k) => (k === i ? value : old)) });
  const sliders = ROWS.map((i) => slider({ label: `x[${i}]`, min: -3, max: 3, step: 0.5, onmove: setX(i) }));
  const controls = element(
    "fieldset",
    { class: "pe-x-sliders" },
    element("legend", {}, "Move x"),
    ...sliders.map((s) => s.root),
  );

  const cells = ROWS.map(() => COLUMNS.map((j) => element("td", { onclick: () => pick(j) })));
  const weights = element(
    "table",
    { class: "pe-matrix" },
    element("caption", {}, "W, shape (4, 8)"),
    element("tbody", {}, ...cells.map((row) => element("tr", {}, ...row))),
  );

  const xCells = ROWS.map(() => element("td"));
  const row = element(
    "table",
    { class: "pe-matrix pe-row" },
    element("caption", {}, "x, shape (4,)"),
    element("tbody", {}, element("tr", {}, ...xCells)),
  );

  const outputs = choices({
    legend: "z = x @ W, shape (8,): pick one",
    options: COLUMNS.map((j) => [j, ""]),
    onpick: pick,
  });
  outputs.root.classList.add("pe-outputs");
  outputs.labels.forEach((label, j) => label.firstChild.setAttribute("aria-label", `z[${j}]`));

  // The lane: the picked column laid under the row, the products, each product as a step, and the sum after
  // that step.
  const lane = {};
  const columnName = element("th", { scope: "row" });
  const line = (name, header) => {
    lane[name] = [...ROWS, "end"].map(() => element("td"));
    return element("tr", { class: `pe-${name}` }, header, ...lane[name]);
  };
  const head = (text) => element("th", { scope: "row" }, text);
  const table = element(
    "table",
    { class: "pe-lane" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        ...ROWS.map((i) => element("th", { scope: "col" }, `i = ${i}`)),
        element("th", { scope: "col" }, "sum"),
      ),
    ),
    element(
      "tbody",
      {},
      line("rowx", head("x[i]")),
      line("column", columnName),
      line("product", head("= product")),
      line("steps", head("step")),
      line("sums", head("sum so far")),
    ),
  );
  const bars = lane.steps.map((cell) =>
    cell.appendChild(
      element("div", { class: "pe-step" }, element("i", { class: "pe-bar" }), element("span")),
    ),
  );

  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const back = button("Take one term away", () => step(terms - 1));
  const forth = button("Add one term", () => step(terms + 1));
  const again = button("Add up again", play);
  root.append(
    element("div", { class: "pe-scheme" }, controls, weights, row, outputs.root),
    table,
    element("div", { class: "pe-buttons" }, again, back, forth),
    result,
  );

  function step(count, added = count - 1) {
    clearTimeout(timer);
    terms = count;
    current = added;
    update();
  }

  function play() {
    step(0);
    const next = () => {
      if (terms === ROWS.length) return step(terms, null);
      step(terms + 1);
      timer = setTimeout(next, BEAT);
    };
    timer = setTimeout(next, BEAT);
  }

  function pick(column) {
    change(model, { column });
    if (still()) step(ROWS.length, null);
    else play();
  }

  function update() {
    const x = model.get("x");
    const weight = model.get("weight");
    const column = model.get("column");
    const products = dot(x, weight, column);
    const sums = running(products);
    const z = COLUMNS.map((j) => running(dot(x, weight, j)).at(-1));
    const largest = Math.max(...weight.flat().map(Math.abs), 1);

    sliders.forEach((s, i) => s.set(x[i]));
    xCells.forEach((cell, i) => {
      show(cell, x[i]);
      paint(cell, x[i], 3);
    });
    cells.forEach((cellRow, i) =>
      cellRow.forEach((cell, j) => {
        show(cell, weight[i][j]);
        paint(cell, weight[i][j], largest);
        cell.classList.toggle("pe-picked", j === column);
        cell.classList.toggle("pe-meeting", j === column && i === current);
      }),
    );
    xCells.forEach((cell, i) => cell.classList.toggle("pe-meeting", i === current));
    outputs.set((j) => j === column);
    outputs.labels.forEach((label, j) => {
      show(label.lastChild, z[j]);
      paint(label, z[j], 4);
    });

    columnName.textContent = `× W[i, ${column}]`;
    ROWS.forEach((i) => {
      show(lane.rowx[i], x[i]);
      show(lane.column[i], weight[i][column]);
      show(lane.product[i], products[i]);
      show(lane.sums[i], sums[i]);
      for (const name of Object.keys(lane)) lane[name][i].classList.toggle("pe-waiting", i >= terms);
    });
    const sum = terms === 0 ? 0 : sums[terms - 1];
    show(lane.product.at(-1), sum);
    show(lane.sums.at(-1), sum);
    drawSteps(products, sums, sum);
    back.disabled = terms === 0;
    forth.disabled = terms === ROWS.length;
    root.dataset.terms = terms;
    if (terms === ROWS.length) {
      const words = ROWS.map(
        (i) => `${i ? bracketed(x[i]) : short(x[i])} × ${bracketed(weight[i][column])}`,
      ).join(" + ");
      show(result, z[column], `z[${column}] = ${words} = ${short(z[column])}`);
    }
  }

  // Each bar runs from the sum before its term to the sum after it, with the step written on it; the last
  // one is the sum itself.
  function drawSteps(products, sums, sum) {
    const reach = 1.3 * Math.max(2.5, ...sums.map(Math.abs));
    const height = (value) => 50 - (50 * value) / reach; // per cent from the top
    bars.forEach((step, i) => {
      const [from, to] = i < ROWS.length ? [i ? sums[i - 1] : 0, sums[i]] : [0, sum];
      const bar = step.firstChild;
      bar.style.top = `${Math.min(height(from), height(to))}%`;
      bar.style.height = `${Math.abs(height(from) - height(to))}%`;
      bar.classList.toggle("pe-negative", to < from);
      const label = step.lastChild;
      label.style.top = `${height(Math.max(from, to))}%`;
      if (i < ROWS.length) show(label, products[i], signed(products[i]));
    });
  }

  const stop = follow(model, ["x", "weight", "column"], update);
  return () => {
    clearTimeout(timer);
    stop();
  };
}

export default { render };
