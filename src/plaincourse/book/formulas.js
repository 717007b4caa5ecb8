// On pages with formulas: what is copied is TeX, and a formula wider than its column can be scrolled, and
// shows it.

const FORMULAS = ".bd-article div.math";

// A copied text gets $...$ where the page has a formula.
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  const part = document.createElement("div");
  for (let i = 0; i < selection.rangeCount; i++)
    part.append(wholeFormulas(selection.getRangeAt(i)).cloneContents());
  if (!part.querySelector("annotation")) return;
  for (const formula of part.querySelectorAll("math")) {
    const sign = formula.getAttribute("display") === "block" ? "$$" : "$";
    formula.replaceWith(sign + formula.querySelector("annotation").textContent + sign);
  }
  // Only what is on the page has lines as one sees them.
  part.className = "copied-formulas";
  document.body.append(part);
  event.clipboardData.setData("text/plain", part.innerText.trim());
  part.remove();
  event.preventDefault();
});

// A range that cuts a formula takes all of it.
function wholeFormulas(range) {
  const whole = range.cloneRange();
  const [first, last] = [range.startContainer, range.endContainer].map((node) =>
    (node.closest ? node : node.parentElement).closest("math"),
  );
  if (first) whole.setStartBefore(first);
  if (last) whole.setEndAfter(last);
  return whole;
}

function markWideFormulas() {
  for (const box of document.querySelectorAll(FORMULAS)) {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more-left", box.scrollLeft > 1);
    box.classList.toggle("more-right", rest > 1);
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

window.addEventListener("load", () => document.fonts.ready.then(markWideFormulas));
window.addEventListener("resize", markWideFormulas);
document.addEventListener("toggle", markWideFormulas, true); // what was folded had no width
document.addEventListener("scroll", (event) => event.target.matches?.(FORMULAS) && markWideFormulas(), true);
