// One word asks another: its way through an RNN, through stacked convolutions and through attention.

const LENGTH = 16;
const CHAIN = 4; // table products of attention that wait for one another
const COLUMN = 22; // from word to word in a picture
const BEAT = 450; // milliseconds between two steps
const FORMS = ["RNN", "CNN", "attention"];
const STATE = ["asking", "asked", "width", "layers"];

const range = (first, last) => Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => first + i);
const plural = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** How often each form must be applied until the word that asks knows of the one that is asked. */
function paths({ asking, asked, width }) {
  const distance = asking - asked;
  const back = (count) => (distance < 0 ? Infinity : count);
  return [back(distance + 1), back(Math.ceil(distance / (width - 1))), distance === 0 ? 0 : 1];
}

/**
 * The first and the last word that the one that asks knows of, when so many layers are still to come above.
 */
function horizon(form, { asking, width }, layers) {
  if (form === "attention") return layers ? [1, LENGTH] : [asking, asking];
  return [form === "RNN" ? 1 : Math.max(asking - layers * (width - 1), 1), asking];
}

/** The places on the way, as [word, level]: the start, and one more for each application. */
function route(form, { asking, asked, width, layers }) {
  const start = [asked, 0];
  if (form === "attention") return asked === asking ? [start] : [start, [asking, 1]];
  if (asked > asking) return [start];
  if (form === "RNN") return [start, ...range(asked, asking).map((word) => [word, 1])];
  const needed = Math.ceil((asking - asked) / (width - 1));
  return range(0, Math.min(needed, layers)).map((level) => [
    Math.min(asked + level * (width - 1), asking),
    level,
  ]);
}

/** Whether the word that asks knows of the asked one in the end: the CNN only if its layers suffice. */
const reaches = (form, state) =>
  paths(state)[FORMS.indexOf(form)] <= (form === "CNN" ? state.layers : LENGTH);

function render({ model, el }) {
  const root = frame(el, "reach", "How one word reaches another");
  const words = model.get("words");
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const start = read();
  let taken = null; // how many steps of the way are drawn; null: all
  let timer = null;

  const control = (name, label, spoken, min, max, text) =>
    slider({ label, spoken, min, max, step: 1, text, onmove: (value) => change(model, { [name]: value }) });
  const named = (place) => `${place} ${words[place - 1]}`;
  const sliders = [
    control("asking", "asks", "word that asks", 1, LENGTH, named),
    control("asked", "is asked", "word that is asked", 1, LENGTH, named),
    control("width", "width k", "width of the CNN's filter", 2, 8),
    control("layers", "layers", "layers of the CNN", 1, 8),
  ];
  const group = (legend, controls) =>
    element("fieldset", {}, element("legend", {}, legend), ...controls.map((one) => one.root));
  const text = words.map((word, i) => element("span", {}, element("small", {}, String(i + 1)), word));

  const panels = FORMS.map(makePanel);
  const table = makeTable();
  const result = element("p", { class: "pe-result", "aria-live": "polite" });
  const progress = element("p", { class: "pe-note", "aria-live": "polite", "data-progress": true });
  const back = button("One step back", () => step(shown() - 1));
  const forth = button("One step on", () => step(shown() + 1));
  root.append(
    element("p", { class: "pe-text" }, ...text),
    element(
      "div",
      { class: "pe-groups" },
      group("Two words", sliders.slice(0, 2)),
      group("Filter and layers of the CNN", sliders.slice(2)),
    ),
    result,
    element(
      "p",
      { class: "pe-note" },
      "◆ is asked, ◯ asks. Full dots: ◯ knows of them. Thick line: the way of ◆.",
    ),
    ...panels.map((panel) => panel.root),
    element(
      "div",
      { class: "pe-buttons" },
      button("Send it again", play),
      back,
      forth,
      button("Back to the start", () => change(model, start)),
    ),
    progress,
    table.root,
  );

  const most = () => Math.max(...FORMS.map((form) => route(form, read()).length)) - 1;
  const shown = () => taken ?? most();

  function step(count) {
    clearTimeout(timer);
    taken = count < most() ? count : null;
    update();
  }

  function play() {
    const next = () => {
      step(shown() + 1);
      if (taken !== null) timer = setTimeout(next, BEAT);
    };
    step(0);
    timer = setTimeout(next, BEAT);
  }

  function update() {
    const state = read();
    [state.asking, state.asked, state.width, state.layers].forEach((value, i) => sliders[i].set(value));
    text.forEach((node, i) => {
      node.classList.toggle("pe-asking", i + 1 === state.asking);
      node.classList.toggle("pe-asked", i + 1 === state.asked);
    });
    panels.forEach((panel) => panel.draw(state, shown()));
    table.update(state);
    const places = FORMS.map((form) => `${form} ${whereabouts(form, state, shown())}`);
    show(progress, shown(), `After ${plural(shown(), "step")}: ${places.join(", ")}.`);
    result.textContent = answer(state, words);
    back.disabled = shown() === 0;
    forth.disabled = taken === null;
  }

  const stop = follow(model, STATE, () => step(Infinity)); // a new question shows its whole way
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Where the asked word has come to after so many steps. */
function whereabouts(form, state, count) {
  const way = route(form, state);
  const [place] = way[Math.min(count, way.length - 1)];
  const ended = count >= way.length - 1;
  if (ended && reaches(form, state)) return "has arrived";
  if (ended) return state.asked > state.asking ? "only looks back" : `ends at word ${place}`;
  return `is at word ${place}`;
}

/** The question and what it takes, as a sentence. */
function answer(state, words) {
  const [rnn, cnn, attention] = paths(state);
  const asks = `“${words[state.asking - 1]}” asks “${words[state.asked - 1]}”`;
  if (attention === 0)
    return `${asks}, itself: it is there from the start. Only the RNN takes a step, to read it.`;
  if (rnn === Infinity)
    return `${asks}: RNN and CNN only look back and never reach it. Attention takes 1 step.`;
  const enough = `takes ${cnn} of its ${plural(state.layers, "layer")}`;
  const layers = cnn > state.layers ? `would need ${plural(cnn, "layer")} and has ${state.layers}` : enough;
  return `${asks}: the RNN takes ${plural(rnn, "step")}, the CNN ${layers}, attention takes 1 step.`;
}

/**
 * A table with a row for each form: whether the word is reached, on what path, and the chain of products to
 * wait for.
 */
function makeTable() {
  const head = (scope, ...content) => element("th", { scope }, ...content);
  const cells = (form) =>
    ["reached", "path", "chain"].map((name) => element("td", { [`data-${name}`]: form }));
  const rows = FORMS.map((form) => [head("row", form), ...cells(form)]);
  const root = element(
    "table",
    { class: "pe-ways" },
    element(
      "thead",
      {},
      element("tr", {}, ...["form", "reaches it", "path", "chain"].map((title) => head("col", title))),
    ),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row))),
  );

  function update(state) {
    const chains = [state.asking, state.layers, CHAIN];
    rows.forEach(([, reached, path, chain], i) => {
      const [yes, length] = [reaches(FORMS[i], state), paths(state)[i]];
      show(reached, Number(yes), yes ? "yes" : "no");
      show(path, length, length === Infinity ? "never" : String(length));
      show(chain, chains[i]);
    });
  }

  return { root, update };
}

/**
 * The picture of one form: the words below, a level of dots for each layer above them, and the way of the
 * asked word.
 */
function makePanel(form) {
  const svg = shape("svg", { "aria-hidden": "true" });
  const caption = element("figcaption", { "data-known": form });

  function draw(state, count) {
    const top = form === "CNN" ? state.layers : 1;
    const rise = top === 1 ? 40 : 26;
    const at = ([word, level]) => [COLUMN * (word - 0.5), 12 + rise * (top - level)];
    fill(svg, { viewBox: `0 0 ${COLUMN * LENGTH} ${rise * top + 36}` }, []);
    svg.replaceChildren(
      ...wires(form, state).map((wire) => line("pe-wire", wire.map(at))),
      ...drawWay(form, state, count, at),
      ...range(0, top).flatMap((level) =>
        drawLevel(horizon(form, state, top - level), (word) => at([word, level])),
      ),
      ...drawStops(form, state, count, at),
      mark("pe-asked-mark", "M0 -8 L8 0 L0 8 L-8 0 Z", at([state.asked, 0])),
      mark("pe-asking-mark", "M-8 0 A8 8 0 1 1 8 0 A8 8 0 1 1 -8 0", at([state.asking, top])),
      ...range(1, LENGTH).map((word) =>
        shape(
          "text",
          {
            x: at([word, 0])[0],
            y: rise * top + 33,
            "text-anchor": "middle",
            class: word === state.asking || word === state.asked ? "pe-end" : null,
          },
          String(word),
        ),
      ),
    );
    const [first, last] = horizon(form, state, top);
    const made = form === "CNN" ? `, ${plural(top, "layer")} of width ${state.width}` : "";
    show(
      caption,
      last - first + 1,
      `${form}${made}: knows of ${first === last ? `word ${first}` : `words ${first} to ${last}`}`,
    );
  }

  return { root: element("figure", { class: "pe-lattice" }, caption, svg), draw };
}

const line = (kind, points) =>
  shape("polyline", { class: kind, points: points.map((point) => point.join(",")).join(" ") });
const mark = (kind, d, place) => shape("path", { class: kind, d, transform: `translate(${place})` });
const dot = (kind, [cx, cy]) => shape("circle", { class: kind, cx, cy, r: 4 });

/** A level of dots, full where the word that asks knows of them. */
function drawLevel([first, last], at) {
  return range(1, LENGTH).map((word) =>
    dot(first <= word && word <= last ? "pe-known" : "pe-unknown", at(word)),
  );
}

/** The way as a line, as far as it is taken; dashed, the layers that are left once it is there. */
function drawWay(form, state, count, at) {
  const way = route(form, state);
  const taken = line("pe-way", way.slice(0, count + 1).map(at));
  if (form !== "CNN" || !reaches(form, state) || count < way.length - 1) return [taken];
  return [line("pe-way pe-rest", [way.at(-1), [state.asking, state.layers]].map(at)), taken];
}

/** A dot for each step that is taken, and a cross where a way ends too early. */
function drawStops(form, state, count, at) {
  const way = route(form, state);
  const stuck = way.length > 1 && count >= way.length - 1 && !reaches(form, state);
  const stops = way.slice(1, count + 1).map((place) => dot("pe-stop", at(place)));
  return stuck ? [...stops, mark("pe-stuck", "M-6 -6 L6 6 M-6 6 L6 -6", at(way.at(-1)))] : stops;
}

/**
 * The connections that are drawn thin: all of the RNN's, and what the word that asks looks at in the CNN
 * and in attention.
 */
function wires(form, { asking, width, layers }) {
  if (form === "RNN")
    return [
      ...range(1, LENGTH).map((word) => [
        [word, 0],
        [word, 1],
      ]),
      [
        [1, 1],
        [LENGTH, 1],
      ],
    ];
  if (form === "attention")
    return range(1, LENGTH).map((word) => [
      [word, 0],
      [asking, 1],
    ]);
  return range(1, layers).flatMap((level) => {
    const [first] = horizon("CNN", { asking, width }, layers - level);
    const window = (word) => range(Math.max(word - width + 1, 1), word);
    return range(first, asking).flatMap((word) =>
      window(word).map((from) => [
        [from, level - 1],
        [word, level],
      ]),
    );
  });
}

export default { render };
