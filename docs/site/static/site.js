// The menu stands where the page is.
const menu = document.querySelector(".sidebar-scroll");
const here = menu?.querySelector(".sidebar-tree .current-page");
if (here) menu.scrollTop = here.getBoundingClientRect().top - menu.getBoundingClientRect().top - menu.clientHeight / 3;

// Below each result of a search the beginning of its page. Sphinx would fetch the page, which browsers refuse to files.
const results = document.getElementById("search-results");
if (results) {
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("ul.search li > a:not([data-seen])")) {
      link.dataset.seen = "";
      const page = link.getAttribute("href").replace(/[?#].*$/, "").replace(/\.html$/, "");
      const [part, text] = SUMMARIES[page] ?? ["", ""];
      if (part && part !== link.textContent) link.before(`${part}: `);
      const beginning = document.createElement("p");
      beginning.className = "beginning";
      beginning.textContent = text;
      if (text) link.parentElement.append(beginning);
    }
  }).observe(results, { childList: true, subtree: true });
}
