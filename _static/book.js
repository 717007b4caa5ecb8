// On every page: search from a folder, what was searched for, wide boxes and the focus for the keyboard,
// printing.

// From file:// or in a sandbox a page may not read the other pages, so search lists their titles without
// excerpts.
if (self.origin === "null") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const BOXES = ".bd-article :is(.output, .pst-scrollable-table-container, pre)";

// A box that holds more than it shows can be scrolled with the keyboard, and fades where it goes on.
function goesOn(box) {
  return box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
}

function markEdge(box) {
  box.classList.toggle("cut-off", goesOn(box));
}

// All are measured before any is marked, so that the page is laid out once.
function markWideBoxes() {
  const boxes = [...document.querySelectorAll(BOXES)];
  const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
  const cut = wide.filter(goesOn);
  for (const box of wide) box.tabIndex = 0;
  for (const box of boxes) box.classList.toggle("cut-off", cut.includes(box));
}

document.addEventListener("scroll", ({ target }) => target.matches?.(BOXES) && markEdge(target), true);
window.addEventListener("load", markWideBoxes);
window.addEventListener("resize", markWideBoxes);
document.addEventListener("toggle", markWideBoxes, true); // what was folded had no width

// A link of the search page carries the words that were searched for: mark them, and go to where they stand.
function mark(article, word) {
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("math, .math, svg, script, style, mark, .plain-explorable"))
      texts.push(walker.currentNode);
  }
  for (let text of texts) {
    let start;
    while ((start = text.data.toLowerCase().indexOf(word)) >= 0) {
      const range = new Range();
      const rest = text.splitText(start).splitText(word.length);
      range.selectNode(rest.previousSibling);
      range.surroundContents(document.createElement("mark"));
      text = rest;
    }
  }
}

function unfold(element) {
  for (let box = element.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}

function showFound() {
  const address = new URL(location);
  const words = address.searchParams.get("find")?.split(" ").filter(Boolean) ?? [];
  if (!words.length) return;
  const article = document.querySelector(".bd-article");
  const part = document.getElementById(location.hash.slice(1)) ?? article;
  for (const word of words) mark(article, word);
  const holds = (block) => words.every((word) => block.textContent.toLowerCase().includes(word));
  const block = [...part.querySelectorAll("h1, h2, h3, p, li, dd, tr, pre, summary")].find(holds);
  const first = (block ?? part).querySelector("mark");
  if (first) {
    unfold(first);
    first.scrollIntoView({ block: "center" });
  }
  address.searchParams.delete("find");
  history.replaceState(history.state, "", address);
}
window.addEventListener("load", showFound);

// The switch for the code that draws and checks; what was chosen holds for all pages.
function switchCode(button, all) {
  document.documentElement.dataset.code = all ? "all" : "";
  button.setAttribute("aria-pressed", all);
}
window.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".all-code");
  if (!button) return;
  button.hidden = false;
  switchCode(button, localStorage.getItem("code") === "all");
  button.addEventListener("click", () => {
    const all = document.documentElement.dataset.code !== "all";
    localStorage.setItem("code", all ? "all" : "");
    switchCode(button, all);
  });
});

// What is behind a mark lies over the text: a click elsewhere, or Escape, puts it away.
function closeMarks(event) {
  for (const box of document.querySelectorAll(".worked-mark[open]")) {
    if (event.key === "Escape" || (event.type === "click" && !box.contains(event.target))) box.open = false;
  }
}
document.addEventListener("click", closeMarks);
document.addEventListener("keydown", closeMarks);

// Copying and closing a dialog would leave the keyboard at the top of the page: the focus stays where it was.
let lastFocus = null;
document.addEventListener("focusin", ({ target }) => {
  if (!target.closest("dialog")) lastFocus = target;
});
document.addEventListener("click", ({ target }) => target.closest(".copybtn")?.focus());
document.addEventListener("close", () => setTimeout(() => lastFocus?.focus()), true);

// Paper is white, and nobody can unfold it.
let beforePrint = null;
window.addEventListener("beforeprint", () => {
  const root = document.documentElement;
  beforePrint ??= {
    theme: root.dataset.theme,
    shut: [...document.querySelectorAll(".bd-article details:not([open], .worked-mark)")],
  };
  root.dataset.theme = "light";
  for (const box of beforePrint.shut) box.open = true;
});
window.addEventListener("afterprint", () => {
  if (!beforePrint) return;
  document.documentElement.dataset.theme = beforePrint.theme;
  for (const box of beforePrint.shut) box.open = false;
  beforePrint = null;
});
