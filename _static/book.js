// On every page: search from a folder, and wide boxes that the keyboard can scroll.

// A page opened from file:// may not read the other pages, so search lists their titles without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const BOXES = ".bd-article :is(div.math, mjx-container, .output, .pst-scrollable-table-container, pre)";

function markWideBoxes() {
  for (const box of document.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise; // formulas have no width before
  markWideBoxes();
});
window.addEventListener("resize", markWideBoxes);
document.addEventListener("toggle", markWideBoxes, true); // what was folded had no width
