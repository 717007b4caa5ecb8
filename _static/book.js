// On every page: search from a folder, and wide boxes that the keyboard can scroll.

// A page opened from file:// may not read the other pages, so search lists their titles without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const BOXES = ".bd-article :is(.output, .pst-scrollable-table-container, pre)";

function markWideBoxes() {
  for (const box of document.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

window.addEventListener("load", markWideBoxes);
window.addEventListener("resize", markWideBoxes);
document.addEventListener("toggle", markWideBoxes, true); // what was folded had no width
