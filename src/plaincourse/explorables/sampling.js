// From twelve logits, and the sum over all the others, to a word.

const percent = (share) => `${fixed(100 * share, 2)} %`;
const STEPS = Array.from({ length: 21 }, (_, i) => i / 10); // the temperatures on offer when top-k is on

/** A small generator of numbers in [0, 1) with a seed (mulberry32): the same seed gives the same draws. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * The distribution over the listed words and, last, everything else: temperature, top-k, top-p, softmax, in
 * this order.
 * `cut` says what dropped a word. `shares` is null where top-p would need single words of "everything else".
 */
function distribution({ logits, log_sum_exp, temperature, top_k, top_p }) {
  const order = logits.map((_, i) => i).sort((i, j) => logits[j] - logits[i] || i - j);
  const cut = [...logits, null].map(() => null);
  const keep = (count, reason) => {
    order.slice(count).forEach((i) => {
      cut[i] ??= reason;
    });
    cut[logits.length] ??= reason;
  };
  const best = logits[order[0]];
  if (temperature === 0) keep(1, "T = 0");
  else if (top_k !== null) keep(top_k, "top-k");
  const weights = logits.map((logit, i) =>
    cut[i] ? 0 : Math.exp(temperature === 0 ? 0 : (logit - best) / temperature),
  );
  const listed = weights.reduce((sum, weight) => sum + weight, 0);
  const total = cut.at(-1)
    ? listed
    : Math.exp(log_sum_exp.find(([t]) => t === temperature)[1] - best / temperature);
  const shares = [...weights.map((weight) => weight / total), cut.at(-1) ? 0 : 1 - listed / total];
  if (top_p === null) return { shares, cut, held: listed / total };

  let reached = 0;
  let count = 0;
  while (count < order.length && reached < top_p - 1e-12) reached += shares[order[count++]];
  if (reached < top_p - 1e-12 && !cut.at(-1)) return { shares: null, cut, held: reached };
  keep(count, "top-p");
  return { shares: shares.map((share, i) => (cut[i] ? 0 : share / reached)), cut, held: reached };
}

/** The word at which the running sum of the shares passes a number in [0, 1). */
function choose(shares, number) {
  let sum = 0;
  for (let i = 0; i < shares.length; i += 1) {
    sum += shares[i];
    if (number < sum) return i;
  }
  return shares.findLastIndex((share) => share > 0); // the sum may fall short of 1 by rounding
}

function render({ model, el }) {
  const root = frame(el, "sampling", "From logits to a word");
  const words = model.get("words");
  let now = null; // the distribution on show
  let counts = null;
  let drawn = 0;
  let random = null;

  const exact = () => [0, ...model.get("log_sum_exp").map(([t]) => t)];
  const nearest = (list, value) =>
    list.reduce((best, t) => (Math.abs(t - value) < Math.abs(best - value) ? t : best));
  const stops = () => {
    const list = model.get("top_k") === null ? exact() : [...STEPS, ...exact(), model.get("temperature")];
    return [...new Set(list)].sort((a, b) => a - b);
  };

  const temperature = slider({
    label: "temperature",
    min: 0,
    max: 1,
    step: 1,
    onmove: (i) => change(model, { temperature: stops()[i] }),
  });
  const off = words.length + 1; // the slider's last place
  const topK = slider({
    label: "top-k",
    min: 1,
    max: off,
    step: 1,
    onmove: (k) => {
      const top_k = k === off ? null : k;
      change(
        model,
        top_k === null ? { temperature: nearest(exact(), model.get("temperature")), top_k } : { top_k },
      );
    },
  });
  const topP = slider({
    label: "top-p",
    min: 0.05,
    max: 1,
    step: 0.05,
    onmove: (p) => change(model, { top_p: p === 1 ? null : p }),
  });
  const note = element("p", { class: "pe-note pe-status", "aria-live": "polite" });

  const rows = [...words, "everything else"].map((word) => {
    const row = {
      share: element("td", { class: "pe-share" }),
      count: element("td", { class: "pe-count" }),
      bar: element("i", { class: "pe-probability" }),
      seen: element("i", { class: "pe-frequency" }),
    };
    row.root = element(
      "tr",
      {},
      element("th", { scope: "row" }, word),
      element("td", { "aria-hidden": "true" }, element("div", { class: "pe-bars" }, row.bar, row.seen)),
      row.share,
      row.count,
    );
    return row;
  });
  rows.at(-1).root.firstChild.append(element("small", {}, `${grouped(model.get("others"))} words`));
  const heading = (text) => element("th", { scope: "col" }, element("span", {}, text));
  const table = element(
    "table",
    { class: "pe-words-table" },
    element(
      "thead",
      {},
      element("tr", {}, heading("word"), element("td"), heading("probability"), heading("drawn")),
    ),
    element("tbody", {}, ...rows.map((row) => row.root)),
  );

  const word = element("strong", { class: "pe-word" });
  const sentence = element(
    "p",
    { class: "pe-sentence", "aria-live": "polite" },
    `${model.get("prompt")} `,
    word,
  );
  const gap = element("output", { "data-gap": true });
  const tally = element("p", { class: "pe-note" });
  const draws = [1, 100, 10000].map((n) => button(`Draw ${grouped(n)}`, () => draw(n), { "data-draw": n }));
  const seed = element("input", {
    type: "number",
    min: 0,
    max: 4294967295,
    step: 1,
    "aria-label": "seed",
    onchange: () =>
      change(model, { seed: Math.min(Math.max(Math.trunc(Number(seed.value)) || 0, 0), 4294967295) }),
  });
  root.append(
    element("div", { class: "pe-settings" }, temperature.root, topK.root, topP.root),
    note,
    table,
    sentence,
    element(
      "div",
      { class: "pe-buttons" },
      ...draws,
      button("Start over", restart),
      element("label", { class: "pe-seed" }, "seed ", seed),
    ),
    tally,
  );

  function draw(n) {
    let last = null;
    for (let i = 0; i < n; i += 1) {
      last = choose(now.shares, random());
      counts[last] += 1;
    }
    drawn += n;
    showCounts(last);
  }

  function restart() {
    counts = rows.map(() => 0);
    drawn = 0;
    random = generator(model.get("seed"));
    showCounts(null);
  }

  function showCounts(last) {
    word.textContent = last === null ? "…" : (words[last] ?? "(one of the other words)");
    rows.forEach((row, i) => {
      show(row.count, counts[i], drawn ? grouped(counts[i]) : "");
      row.seen.style.width = drawn ? `${(100 * counts[i]) / drawn}%` : "0";
      row.root.classList.toggle("pe-last", i === last);
    });
    const gaps = now.shares ? now.shares.map((share, i) => Math.abs(share - counts[i] / drawn)) : [0];
    if (drawn) {
      show(gap, Math.max(...gaps), fixed(100 * Math.max(...gaps), 2));
      tally.replaceChildren(
        `${grouped(drawn)} drawn. The largest distance between a word's share of the draws and its `,
        "probability: ",
        gap,
        " points.",
      );
    } else tally.textContent = "Nothing drawn yet. The same seed gives the same draws.";
  }

  function update() {
    const state = Object.fromEntries(
      ["logits", "log_sum_exp", "temperature", "top_k", "top_p"].map((name) => [name, model.get(name)]),
    );
    now = distribution(state);
    showSettings(state);
    rows.forEach((row, i) => {
      const share = now.shares?.[i];
      if (now.shares) show(row.share, share, now.cut[i] ? `cut: ${now.cut[i]}` : percent(share));
      else {
        delete row.share.dataset.value;
        row.share.textContent = now.cut[i] ? `cut: ${now.cut[i]}` : "?";
      }
      row.bar.style.width = `${100 * (share ?? 0)}%`;
      row.root.classList.toggle("pe-cut", now.cut[i] !== null);
    });
    draws.forEach((node) => {
      node.disabled = now.shares === null;
    });
    seed.value = model.get("seed");
    restart();
  }

  function showSettings({ temperature: t, top_k, top_p }) {
    const list = stops();
    temperature.input.max = list.length - 1;
    temperature.set(list.indexOf(t));
    const spoken = t === 0 ? "0, greedy" : short(t, 2);
    temperature.input.setAttribute("aria-valuetext", spoken);
    show(temperature.root.lastChild, t, short(t, 2));
    topK.set(top_k ?? off);
    topK.input.setAttribute("aria-valuetext", top_k === null ? "off" : `${top_k}`);
    show(topK.root.lastChild, top_k, top_k === null ? "off" : `${top_k}`);
    topP.set(top_p ?? 1);
    topP.input.setAttribute("aria-valuetext", top_p === null ? "off" : short(top_p, 2));
    show(topP.root.lastChild, top_p, top_p === null ? "off" : short(top_p, 2));
    note.textContent = explain(t, top_k, top_p);
  }

  function explain(t, top_k, top_p) {
    if (now.shares === null) {
      return (
        `Not known: the twelve words together hold ${percent(now.held)}, less than p = ${short(top_p, 2)}. ` +
        "The nucleus would reach into everything else, whose words this page does not know one by one."
      );
    }
    if (t === 0) return "Temperature 0 takes the word with the largest logit, every time.";
    if (top_k === null) {
      return (
        `Without top-k all words take part. Their sum is known at temperature ${exact()
          .map((x) => short(x, 2))
          .join(", ")}: ` + "the slider stops there. With top-k it moves freely."
      );
    }
    return "First the temperature, then top-k, then top-p, then softmax over what is left.";
  }

  const stop = follow(model, ["temperature", "top_k", "top_p", "seed", "logits", "log_sum_exp"], update);
  return stop;
}

export default { render };
