// Shared by all explorables and prepended to each module's text. Words and numbers enter the page as text
// only.

/**
 * A new HTML element. An attribute named "on…" is a listener; true sets an empty attribute, false and null
 * none.
 */
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** A new SVG element, with the same arguments as element. */
function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A number with at most so many decimals, no trailing zeros, and a true minus sign. */
function short(number, digits = 3) {
  return fixed(Number(number.toFixed(digits)), null);
}

/** A number with exactly so many decimals, and a true minus sign. */
function fixed(number, digits) {
  const text = digits === null ? String(number) : number.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** A whole number with a comma after each three digits. */
function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A negative number in brackets, as it stands after a multiplication sign. */
function bracketed(number) {
  return number < 0 ? `(${short(number)})` : short(number);
}

/** Show a number in a node: rounded for the reader, in full in its data-value. */
function show(node, number, text = short(number)) {
  node.dataset.value = String(number);
  if (node.textContent !== text) node.textContent = text;
}

/** The tint behind a number: one colour above zero, one below, stronger when larger. */
function paint(node, number, largest) {
  node.style.setProperty("--strength", `${Math.round(6 + 34 * Math.min(Math.abs(number) / largest, 1))}%`);
  node.classList.toggle("pe-negative", number < 0);
  node.classList.toggle("pe-zero", number === 0);
}

/** The explorable's frame: a group with a name, empty. */
function frame(el, kind, name) {
  const root = element("div", { class: `pe pe-${kind}`, role: "group", "aria-label": name });
  el.append(root);
  return root;
}

/**
 * A labelled slider. `onmove` gets the number; `text` says how a number is written; `set` shows a number
 * without moving.
 */
function slider({ label, spoken = label, min, max, step, text = short, onmove, ...attributes }) {
  const readout = element("span", { class: "pe-readout" });
  let untouched;
  const move = () => onmove(Number(input.value));
  const input = element("input", {
    type: "range",
    min,
    max,
    step,
    "aria-label": spoken,
    ...attributes,
    oninput: move,
    // A slider jumps to the finger at once. If the finger goes on to scroll the page, it goes back.
    onpointerdown: () => (untouched = input.value),
    onpointercancel: () => {
      input.value = untouched;
      move();
    },
  });
  const root = element(
    "label",
    { class: "pe-slider" },
    element("span", { class: "pe-name" }, label),
    input,
    readout,
  );
  return {
    root,
    input,
    set(number) {
      if (Number(input.value) !== number) input.value = number;
      input.setAttribute("aria-valuetext", text(number));
      show(readout, number, text(number));
    },
  };
}

/** A name that nothing else on the page has. */
function unique() {
  window.plainExplorableNames = (window.plainExplorableNames ?? 0) + 1;
  return `plain-explorable-${window.plainExplorableNames}`;
}

/**
 * A group of radio buttons, or of check boxes if `several`. `options` are [value, label] pairs; `onpick`
 * gets a value.
 */
function choices({ legend, options, several = false, onpick }) {
  // Radio buttons with one name are one group in the whole page, so each group needs a name of its own.
  const name = unique();
  const inputs = options.map(([value]) =>
    element("input", {
      type: several ? "checkbox" : "radio",
      name,
      value: String(value),
      onchange: () => onpick(value),
    }),
  );
  const labels = options.map(([, label], i) =>
    element("label", { class: "pe-choice" }, inputs[i], element("span", {}, label)),
  );
  const root = element(
    "fieldset",
    { class: "pe-choices" },
    element("legend", {}, legend),
    element("div", {}, ...labels),
  );
  return {
    root,
    inputs,
    labels,
    set: (chosen) => options.forEach(([value], i) => (inputs[i].checked = chosen(value))),
  };
}

function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", class: "pe-button", onclick, ...attributes }, label);
}

/** Set some of the model's values and tell the kernel, if there is one. */
function change(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Run `update` now and whenever one of the named values changes; returns what stops it. */
function follow(model, names, update) {
  for (const name of names) model.on(`change:${name}`, update);
  update();
  return () => names.forEach((name) => model.off(`change:${name}`, update));
}

const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
