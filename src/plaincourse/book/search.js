// On the search page, instead of parts of Sphinx's searchtools.js: numbers are words, an excerpt is text of
// the chapter, and a result's link carries the words, so that the page can show where they stand (see
// book.js).
Search._parseQuery = (query) => {
  const stemmer = new Stemmer();
  const words = splitQuery(query.toLowerCase().trim());
  const kept = new Set(words.filter((word) => !stopwords.includes(word)));
  const found = encodeURIComponent([...kept].join(" "));
  DOCUMENTATION_OPTIONS.LINK_SUFFIX = `${DOCUMENTATION_OPTIONS.FILE_SUFFIX}?find=${found}`;
  return [query, new Set([...kept].map((word) => stemmer.stemWord(word))), new Set(), kept, new Set(words)];
};

Search.htmlToText = (source, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  const article = page.querySelector(".bd-article");
  const part = anchor ? page.getElementById(decodeURIComponent(anchor.slice(1))) : null;
  for (const noise of article.querySelectorAll(".headerlink, script, style, svg, annotation")) noise.remove();
  return (part ?? article).textContent.replace(/\s+/g, " ");
};
