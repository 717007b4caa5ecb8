// A trained model from inside: what a word reads in each head, and what the stream would say after each
// block.

const STATE = ["recording", "word", "after", "head"];
const LISTED = 6; // words that a reading holds at most
const BEAT = 450; // milliseconds between two blocks

const hundredths = (weight) => fixed(weight / 100, 2);
const percent = (share) => `${share} %`;
const quoted = (name) => `“${name}”`;
const blocks = (count) => (count === 1 ? "1 block" : `${count} blocks`);

function render({ model, el }) {
  const root = frame(el, "inside", "A trained model from inside, block by block");
  const { prompt, weights } = model.get("recording");
  const last = weights.length;
  const start = Object.fromEntries(["word", "after", "head"].map((name) => [name, model.get(name)]));
  let timer = null;

  const words = choices({
    legend: "Which word of the prompt?",
    options: prompt.map((name, i) => [i, name]),
    onpick: (word) => change(model, { word }),
  });
  const level = slider({ label: "blocks that have run", min: 0, max: last, step: 1, onmove: go });
  const walk = button("", () => (timer ? halt() : play()));
  const up = button("One block up", () => go(model.get("after") + 1));
  const down = button("One block down", () => go(model.get("after") - 1));
  const back = button("Back to the start", () => {
    halt();
    change(model, start);
  });
  const result = element("p", { class: "pe-result", "aria-live": "polite" });

  const heads = choices({
    legend: "Head",
    options: weights[0].map((_, h) => [h, h]),
    onpick: (head) => change(model, { head }),
  });
  const strips = heads.labels.map((label, h) => {
    const bars = prompt.map(() => element("i"));
    label.firstChild.setAttribute("aria-label", `head ${h}`);
    label.lastChild.append(element("span", { class: "pe-strip", "aria-hidden": "true" }, ...bars));
    return bars;
  });
  const read = makeList("weight", "word", prompt.length);
  const said = makeList("share", "next word", LISTED + 1);
  const climb = makeClimb(last);
  root.append(
    words.root,
    level.root,
    element("div", { class: "pe-buttons" }, walk, up, down, back),
    result,
    element(
      "div",
      { class: "pe-planes" },
      element("div", {}, read.title, heads.root, read.table),
      element("div", {}, said.title, said.table),
    ),
    climb.root,
    element("p", { class: "pe-note" }, "Recorded from the model, and rounded."),
  );

  function go(after) {
    halt();
    change(model, { after });
  }

  function halt() {
    clearTimeout(timer);
    timer = null;
    result.setAttribute("aria-live", "polite");
    walk.textContent = "Walk up from 0";
  }

  // Block after block, silent for a screen reader until it ends; for those who want less motion, only to
  // the first step.
  function play() {
    go(0);
    if (still()) return;
    const next = () => {
      if (model.get("after") === last) return halt();
      if (model.get("after") === last - 1) result.setAttribute("aria-live", "polite");
      change(model, { after: model.get("after") + 1 });
      timer = setTimeout(next, BEAT);
    };
    timer = setTimeout(next, BEAT);
    result.setAttribute("aria-live", "off");
    walk.textContent = "Stop";
  }

  function update() {
    const [recording, word, after, head] = STATE.map((name) => model.get(name));
    const name = quoted(prompt[word]);
    const row = after ? weights[after - 1][head][word] : [];
    const listed = recording.says[after][word];
    const final = recording.says[last][word][0][0];
    words.set((i) => i === word);
    heads.set((h) => h === head);
    heads.inputs.forEach((input) => (input.disabled = after === 0));
    level.set(after);
    level.input.setAttribute("aria-valuetext", `${blocks(after)} of ${last}`);
    [up.disabled, down.disabled] = [after === last, after === 0];

    strips.forEach((bars, h) =>
      bars.forEach((bar, i) => {
        bar.style.height = `${(after && weights[after - 1][h][word][i]) || 0}%`;
      }),
    );
    const then = after ? `After ${blocks(after)}` : "Before any block";
    read.title.textContent = after
      ? `Block ${after - 1}: what ${name} reads`
      : "No block has run: nothing read";
    read.set(
      prompt.map((other, i) => [
        other,
        row[i] ?? 0,
        i > word ? "masked" : after ? hundredths(row[i]) : "",
        i > word,
      ]),
    );
    said.title.textContent = `${then}, the stream says`;
    const left = recording.others[after][word];
    said.set([
      ...listed.map(([other, share]) => [other, share, percent(share)]),
      ["all others", left, percent(left), true],
    ]);
    climb.update(
      recording.place.map((places) => places[word]),
      after,
      final,
    );
    const most = row.indexOf(Math.max(...row));
    const [best, share] = listed[0];
    const says = `${then}, the row of ${name} says ${best}, ${percent(share)}.`;
    const where = `In block ${after - 1}, head ${head}`;
    const reads = `${where}, it reads ${quoted(prompt[most])} most: ${hundredths(row[most] ?? 0)}.`;
    result.textContent = after ? `${says} ${reads}` : says;
  }

  halt();
  const stop = follow(model, STATE, update);
  return () => {
    halt();
    stop();
  };
}

/**
 * A titled table of names with a bar and a number each. `set` takes [name, per cent, text, muted], row by
 * row.
 */
function makeList(kind, header, count) {
  const rows = Array.from({ length: count }, () => {
    const [name, bar, text] = [
      element("th", { scope: "row" }),
      element("i"),
      element("span", { [`data-${kind}`]: true }),
    ];
    const root = element(
      "tr",
      {},
      name,
      element("td", { class: "pe-weight" }, element("div", {}, bar), text),
    );
    return { name, bar, text, root };
  });
  const head = (text) => element("th", { scope: "col" }, text);
  const table = element(
    "table",
    { class: "pe-listing" },
    element("thead", {}, element("tr", {}, head(header), head(kind))),
    element("tbody", {}, ...rows.map((row) => row.root)),
  );

  function set(values) {
    rows.forEach(({ name, bar, text, root }, i) => {
      const [label, share, shown, muted = false] = values[i] ?? ["", 0, ""];
      root.classList.toggle("pe-empty", i >= values.length); // it keeps its height, so that nothing jumps
      root.classList.toggle("pe-muted", muted);
      name.textContent = label;
      bar.style.width = `${share}%`;
      show(text, share, shown);
    });
  }

  return { title: element("p", { class: "pe-title" }), table, set };
}

/**
 * The place of the final word after each block, on a logarithmic axis with 1 at the top, and where the
 * reader stands.
 */
function makeClimb(last) {
  const [left, right, top, bottom] = [52, 370, 12, 118];
  const x = (after) => left + ((right - left) * after) / last;
  const y = (place) => top + ((bottom - top) * Math.log10(place)) / 5;
  const svg = shape("svg", { viewBox: "0 0 380 154", class: "pe-plot", "aria-hidden": "true" });
  for (const place of [1, 10, 100, 1000, 10000]) {
    svg.append(
      shape("line", { class: "pe-grid", x1: left, x2: right, y1: y(place), y2: y(place) }),
      shape("text", { x: left - 6, y: y(place) + 4, "text-anchor": "end" }, grouped(place)),
    );
  }
  const below = (x, y, text) => svg.append(shape("text", { x, y, "text-anchor": "middle" }, text));
  for (let after = 0; after <= last; after += 5) below(x(after), bottom + 16, after);
  below((left + right) / 2, bottom + 31, "blocks that have run");
  const guide = svg.appendChild(shape("line", { class: "pe-guide", y1: top, y2: bottom }));
  const line = svg.appendChild(shape("polyline", { class: "pe-curve pe-climb" }));
  const here = svg.appendChild(shape("circle", { class: "pe-here", r: 5 }));
  const place = element("strong", { "data-place": true });
  const [word, caption] = [element("strong"), element("figcaption")];
  caption.append("Place of ", word, ", the final word: ", place, " (1 is the likeliest)");

  function update(places, after, final) {
    word.textContent = final;
    show(place, places[after], grouped(places[after]));
    fill(line, { points: places.map((one, i) => `${x(i)},${y(one)}`).join(" ") }, []);
    fill(guide, { x1: x(after), x2: x(after) }, []);
    fill(here, { cx: x(after), cy: y(places[after]) }, []);
  }

  return { root: element("figure", { class: "pe-plane" }, caption, svg), update };
}

export default { render };
