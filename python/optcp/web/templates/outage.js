// The map of failure costs: choose a mechanism, and step through the failures. Position 0 shows the worst of each link.
{
  const controls = document.getElementById("explore");
  const svg = document.querySelector("#map figure svg");
  if (controls && svg) {
    const { failures, costs } = JSON.parse(document.getElementById("explored").textContent);
    const [select, range, output] = ["select", "input", "output"].map((name) => controls.querySelector(name));
    const caption = svg.closest("figure").querySelector("figcaption");
    const legend = caption.firstChild;
    const key = svg.querySelector("[data-legend]");
    const parts = [...svg.querySelectorAll("[data-part]")];
    const red = "#c0392b";

    const ink = (part, cost, most) => {
      const share = cost === undefined ? null : Math.max(cost, 0) / most;
      if (part.tagName === "line") {
        part.setAttribute("stroke", share === null ? "currentColor" : red);
        part.setAttribute("stroke-width", share === null ? 1.5 : 2 + 6 * share);
        part.setAttribute("opacity", share === null ? 0.4 : 0.25 + 0.75 * share);
      } else {
        part.setAttribute("fill", share === null ? "currentColor" : red);
        part.setAttribute("r", 4 + 6 * (share ?? 0));
      }
      part.removeAttribute("stroke-dasharray");
    };
    const all = (of) => {
      const worst = {};
      failures.forEach(({ parts: failed }, at) => {
        for (const name of failed) worst[name] = Math.max(worst[name] ?? -Infinity, of[at].lost);
      });
      const most = Math.max(...Object.values(worst), 1e-9);
      for (const part of parts) {
        const name = part.dataset.part;
        ink(part, worst[name], most);
        part.firstElementChild.textContent = name in worst ? `${name}: ${worst[name]} MB lost` : name;
      }
      legend.textContent = `Width and colour of a link: data lost in its worst failure, under the mechanism ${select.value}. `;
      key.querySelector("text").textContent = `up to ${most.toPrecision(3)} MB lost`;
      output.textContent = `all failures: up to ${most.toPrecision(3)} MB lost`;
    };
    const one = ({ name, parts: failed }, { lost, hit, flows, stall, demand }) => {
      for (const part of parts) {
        ink(part, failed.includes(part.dataset.part) ? 0.4 : undefined, 1);
        if (failed.includes(part.dataset.part)) part.setAttribute("stroke-dasharray", "12 8");
      }
      legend.textContent = "Dashed: the failure. ";
      const stalled = stall && `median stall ${stall} ms`;
      const said = [`${lost} MB lost`, `${hit} of ${flows} long flows affected`, stalled, demand && `worst demand ${demand}`];
      output.textContent = `${name}: ${said.filter(Boolean).join(", ")}`;
    };
    const show = () => {
      const of = costs[select.value], at = Number(range.value);
      key.style.display = at ? "none" : "";
      if (at) one(failures[at - 1], of[at - 1]);
      else all(of);
    };
    for (const control of [select, range]) control.addEventListener("input", show);
    controls.hidden = false;
    show();
  }
}
