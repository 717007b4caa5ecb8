// Cut each topic into slides that fit, once fonts and formulas have their size; then start Reveal.js.
// Nothing is cut off: what is taller than a slide is made smaller, and its slide says by how much (data-
// scale).
const WIDTH = 1280,
  HEIGHT = 720,
  ROOM = 664;
const LEAST = 0.86; // text and code may be made this small to save a slide with one line on it
const LEAST_FIGURE = 0.62; // a figure, to stand under the sentence that speaks of it

const isFigure = (block) => block.matches(".figure");
const isText = (block) => block.querySelector(":scope > p") !== null;
const isShown = (block) =>
  block.matches(".formula, .cell") ||
  block.querySelector(":scope > ul, :scope > ol, :scope > table") !== null;
const belongs = (before, block) => before && isText(before) && isShown(block);
const fits = (slide) => slide.scrollHeight <= ROOM;

function paginate(topic) {
  const heading = topic.firstElementChild;
  const blocks = [...topic.children].slice(1);
  const slides = [topic];
  let slide = topic;
  blocks.forEach((block) => block.remove());

  const next = () => {
    const fresh = document.createElement("section");
    fresh.className = topic.className;
    fresh.append(heading.cloneNode(true));
    fresh.firstElementChild.classList.add("again");
    slide.after(fresh);
    slides.push(fresh);
    slide = fresh;
  };
  const put = (block) => {
    const empty = slide.children.length === 1;
    slide.append(block);
    if (fits(slide)) return;
    if (empty) {
      shrink(slide, [block], 0.3);
      return;
    }
    if (isFigure(block) && shrink(slide, [block], LEAST_FIGURE)) return;
    // The sentence that leads to a cell, a list or a formula goes with it, if it leaves something behind
    // and both fit.
    const before = block.previousElementSibling,
      old = slide;
    next();
    slide.append(block);
    if (belongs(before, block) && before.previousElementSibling !== old.firstElementChild) {
      block.before(before);
      if (!fits(slide)) old.append(before);
    }
    if (!fits(slide)) shrink(slide, [block], 0.3);
  };
  blocks.flatMap((block) => parts(topic, block)).forEach(put);

  // A short text alone on a slide: back to the one before, if slightly smaller type makes room for it.
  slides.slice(1).forEach((lonely) => {
    const before = lonely.previousElementSibling,
      block = lonely.lastElementChild;
    if (lonely.children.length !== 2 || !isText(block) || before.dataset.scale) return;
    before.append(block);
    if (shrink(before, [...before.children].slice(1), LEAST)) lonely.remove();
    else lonely.append(block);
  });
}

// A cell that does not fit on a slide of its own: the code on one slide, what it shows on the next.
function parts(slide, block) {
  if (!block.querySelector(":scope > .code + .output")) return [block];
  slide.append(block);
  const whole = fits(slide);
  block.remove();
  if (whole) return [block];
  const rest = block.cloneNode(false);
  rest.append(block.lastElementChild);
  return [block, rest];
}

// Make blocks of a slide smaller until all fits; false, and as before, if that would be too small.
function shrink(slide, blocks, least) {
  const before = blocks.map((block) => block.style.zoom || "1");
  for (let percent = 98; percent >= 100 * least; percent -= 2) {
    blocks.forEach((block, i) => {
      block.style.zoom = (before[i] * percent) / 100;
    });
    if (fits(slide)) {
      if (!blocks.every(isFigure)) slide.dataset.scale = percent / 100;
      return true;
    }
  }
  blocks.forEach((block, i) => {
    block.style.zoom = before[i];
  });
  return false;
}

// A figure was made for a page of text; on a slide it may be larger.
function enlarge(image) {
  const scale = Math.min(1.7, 1140 / image.naturalWidth, 540 / image.naturalHeight);
  image.style.width = `${Math.round(image.naturalWidth * scale)}px`;
}

async function start() {
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode()));
  document.documentElement.classList.add("measuring");
  document.querySelectorAll(".figure img").forEach(enlarge);
  document.querySelectorAll(".topic").forEach(paginate);
  document.documentElement.classList.remove("measuring");
  await Reveal.initialize({
    width: WIDTH,
    height: HEIGHT,
    margin: 0.02,
    center: false,
    hash: true,
    slideNumber: "c/t",
    transition: "none",
    backgroundTransition: "none",
    controlsTutorial: false,
  });
  document.documentElement.dataset.ready = "yes";
}

start();
