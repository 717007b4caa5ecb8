// On every page: search from a folder, and wide boxes that the keyboard can scroll.

// A page opened from file:// may not read the other pages, so search lists their titles without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

window.addEventListener("load", async () => {
  // Formulas get their width when MathJax has set them.
  await window.MathJax?.startup?.promise;
  const boxes = document.querySelectorAll(".bd-article :is(div.math, .output, .pst-scrollable-table-container, pre)");
  for (const box of boxes) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
