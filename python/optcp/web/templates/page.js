"use strict";
// Without this script the page is whole but for folded figures and downloads: rows are unfolded, the index is all there.
{
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  // Compressed texts.
  const unpack = (text) => new Response(
    new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]).stream()
      .pipeThrough(new DecompressionStream("deflate")),
  ).text();

  // Search: sections and entries of the index that hold every word.
  const find = one("#find"), found = one("#found"), menu = one("#menu");
  const sections = all("main section").filter((section) => !("stays" in section.dataset));
  const entries = new Map(all("#contents a").map((a) => [a.hash.slice(1), a]));
  const texts = new Map();
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const section of sections) {
      if (!texts.has(section)) texts.set(section, readable(section));
      const holds = words.every((word) => texts.get(section).includes(word));
      section.hidden = !holds;
      count += holds;
      const entry = entries.get(section.id);
      if (entry) entry.hidden = !holds;
    }
    for (const element of all("[data-stays], header.paper, #contents p")) element.hidden = words.length > 0;
    found.textContent = words.length ? `${count} of ${sections.length} found` : "";
  };
  const readable = (section) => {
    const copy = section.cloneNode(true);
    for (const script of all("script, button", copy)) script.remove();
    return `${section.id} ${copy.textContent}`.toLowerCase();
  };
  find.addEventListener("input", search);
  const open = (yes) => {
    document.body.classList.toggle("menu", yes);
    menu.setAttribute("aria-expanded", yes);
  };
  menu.addEventListener("click", () => open(!document.body.classList.contains("menu")));

  // Links lead to what is hidden, too.
  const MOST_LOOKS = 20;
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const section = target.closest("section");
    if (section?.hidden) {
      find.value = "";
      search();
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    // What comes into view on the way is larger or smaller than was thought.
    let before = null, left = MOST_LOOKS;
    const go = () => {
      target.scrollIntoView();
      const place = document.documentElement.scrollHeight;
      if (place === before || !left--) return;
      before = place;
      requestAnimationFrame(() => requestAnimationFrame(go));
    };
    go();
  };
  addEventListener("hashchange", reveal);
  for (const a of all("#contents a")) a.addEventListener("click", () => open(false));
  const seen = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) entries.get(target.id)?.classList.toggle("here", isIntersecting);
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of all("main section")) seen.observe(section);

  // Tables: the rest of the rows, and sorting.
  const unfold = (table, yes) => {
    table.classList.toggle("all", yes);
    const button = table.closest(".scroll").nextElementSibling;
    if (!button?.classList.contains("fold")) return;
    button.dataset.closed ??= button.textContent;
    button.textContent = yes ? "show fewer rows" : button.dataset.closed;
    button.setAttribute("aria-expanded", yes);
  };
  for (const button of all("button.fold")) {
    const table = button.previousElementSibling.querySelector("table");
    button.addEventListener("click", () => unfold(table, !table.classList.contains("all")));
  }
  const value = (row, at) => {
    const text = row.cells[at].textContent.trim();
    const number = parseFloat(text.replace("[", ""));
    return Number.isNaN(number) ? text : number;
  };
  const order = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      // Words come behind numbers, and nothing comes last.
      : (a === "") - (b === "") || (typeof a === "string") - (typeof b === "string") || String(a).localeCompare(b);
  for (const head of all("table.sorts th")) {
    head.tabIndex = 0;
    const sort = () => {
      const table = head.closest("table");
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
      const keyed = rows.map((row) => [value(row, head.cellIndex), row]);
      keyed.sort(([a], [b]) => (up || a === "" || b === "" ? order(a, b) : order(b, a)));
      table.tBodies[0].append(...keyed.map(([, row]) => row));
      unfold(table, true);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  }

  // Folded figures.
  for (const script of all("script[data-html]")) {
    script.closest("details").addEventListener("toggle", async () => {
      if (script.isConnected) script.outerHTML = await unpack(script.textContent);
    }, { once: true });
  }

  // Commands and files.
  const save = (name, text, type) => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([text], { type }));
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page out of a file may have no clipboard of its own.
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const quoted = (value) => {
    // As optcp/spreadsheet.py: a text that a spreadsheet would execute gets an apostrophe in front.
    const written = String(value ?? "").replace(/\r\n?/g, "\n");
    const formula = typeof value === "string" && /^[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]/.test(written);
    const text = formula && !(written.trim() === written && Number.isFinite(Number(written))) ? `'${written}` : written;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (result, what) => {
    const keys = [...new Set(result[what].flatMap((item) => Object.keys(item.key)))];
    const [names, lines] = what === "rows"
      ? [["metric", "paper", "measured", "at_least", "at_most", "ci95_low", "ci95_high", "n", "verdict"],
        result.rows.map((row) => [
          row.key, row.metric, row.paper, row.measured, row.at_least ?? null, row.at_most ?? null, ...row.ci95, row.n, row.verdict,
        ])]
      : [["name", "x_unit", "y_unit", "x", "y", "ci95_low", "ci95_high"],
        result.series.flatMap((curve) => curve.x.map((x, at) =>
          [curve.key, curve.name, curve.x_unit, curve.y_unit, x, curve.y[at], ...(curve.ci95[at] ?? ["", ""])]))];
    const rows = lines.map(([key, ...values]) => [...keys.map((name) => key[name]), ...values]);
    return [[...keys, ...names], ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  };
  const drawing = (button) => {
    const svg = button.closest("figure").querySelector("svg").cloneNode(true);
    // On white, whatever the page's colours are.
    svg.setAttribute("style", "color:#1c2430;background:#fff");
    return new XMLSerializer().serializeToString(svg);
  };
  document.addEventListener("click", async ({ target }) => {
    const { copy: text, file, as, csv: what, figure } = target.dataset ?? {};
    if (text) {
      await copy(text);
      target.textContent = "copied";
      setTimeout(() => { target.textContent = "copy"; }, 1500);
    } else if (figure) {
      save(figure, drawing(target), "image/svg+xml");
    } else if (file) {
      const content = await unpack(one(`script[data-file="${CSS.escape(file)}"]`).textContent);
      const name = (as ?? file).replaceAll("/", "-");
      if (what) save(name.replace(/\.json$/, what === "rows" ? ".csv" : "-series.csv"), csv(JSON.parse(content), what), "text/csv");
      else save(name, content, "text/plain");
    }
  });

  // The values under the pointer, out of the picture: a curve's points, and its panel's scales.
  const tip = one("#tip");
  const points = (d) => {
    const list = [];
    let x = 0, y = 0, startX = 0, startY = 0;
    for (const [, command, text] of d.matchAll(/([MlhvcZz])([^MlhvcZz]*)/g)) {
      const numbers = (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
      if (command === "M") { [x, y] = numbers; [startX, startY] = numbers; list.push([x, y]); }
      else if (command === "z") { x = startX; y = startY; }
      else if (command === "h") for (const by of numbers) { x += by; list.push([x, y]); }
      else if (command === "v") for (const by of numbers) { y += by; list.push([x, y]); }
      else for (let at = 0; at < numbers.length; at += 2) { x += numbers[at]; y += numbers[at + 1]; list.push([x, y]); }
    }
    return list;
  };
  const known = new WeakMap();
  const curves = (svg) => {
    if (!known.has(svg)) {
      known.set(svg, all("[data-x] [data-name]", svg).map((curve) => ({
        name: curve.dataset.name, panel: curve.closest("[data-x]").dataset,
        points: all("path[d]", curve).flatMap((path) => points(path.getAttribute("d"))),
      })));
    }
    return known.get(svg);
  };
  const said = (place, scale, name, ticks) => {
    const [first, last, low, high] = scale.split(" ").map(Number);
    const share = (place - first) / (last - first);
    const number = scale.endsWith("log") ? low * (high / low) ** share : low + share * (high - low);
    const near = (ticks ?? "").split("|").map((tick) => tick.split("=")).filter(([at]) => Math.abs(at - number) < 0.5);
    near.sort(([a], [b]) => Math.abs(a - number) - Math.abs(b - number));
    const text = near.length && near[0][0] !== "" ? near[0].slice(1).join("=") : String(Number(number.toPrecision(3)));
    return name ? `${name}: ${text}` : text;
  };
  const REACH_PX = 24;
  document.addEventListener("pointermove", (event) => {
    const svg = event.target.closest?.("figure svg");
    const place = svg?.getScreenCTM?.();
    let best = null, least = REACH_PX;
    for (const curve of place ? curves(svg) : []) {
      for (const [x, y] of curve.points) {
        const away = Math.hypot(place.a * x + place.e - event.clientX, place.d * y + place.f - event.clientY);
        if (away < least) { least = away; best = [curve, x, y]; }
      }
    }
    tip.hidden = !best;
    if (!best) return;
    const [{ name, panel }, x, y] = best;
    const lines = [said(x, panel.x, panel.xName, panel.xTicks), said(y, panel.y, panel.yName, panel.yTicks)];
    tip.textContent = [...(name ? [name] : []), ...lines].join("\n");
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 10)}px`;
  });

  if (location.hash) reveal();
}
