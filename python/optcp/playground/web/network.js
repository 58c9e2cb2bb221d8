// The network as a picture whose links can be cut.
"use strict";

const HEIGHT = 240;
const MARGIN = 36;
const SVG = "http://www.w3.org/2000/svg";

/** Places of the nodes in units of the picture, found by forces: links pull, nodes push. It begins with a circle, so that it is the same
 * every time. */
function places(nodes, links, size) {
  const at = nodes.map((_, i) => [Math.cos((2 * Math.PI * i) / nodes.length), Math.sin((2 * Math.PI * i) / nodes.length + 0.1)]);
  const number = new Map(nodes.map((name, i) => [name, i]));
  const pairs = links.map(({ ends }) => ends.map((end) => number.get(end)));
  const near = 1 / Math.sqrt(nodes.length);
  for (let heat = 0.3; heat > 0.001; heat *= 0.985) {
    const moves = at.map(() => [0, 0]);
    const push = (a, b, force) => {
      const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
      const apart = Math.max(Math.hypot(dx, dy), 0.01);
      const size = force(apart) / apart;
      [[a, 1], [b, -1]].forEach(([node, sign]) => {
        moves[node][0] += sign * size * dx;
        moves[node][1] += sign * size * dy;
      });
    };
    for (let a = 0; a < at.length; a++) for (let b = 0; b < a; b++) push(a, b, (apart) => (near * near) / apart);
    for (const [a, b] of pairs) push(a, b, (apart) => (-apart * apart) / near);
    at.forEach((place, i) => {
      const far = Math.max(Math.hypot(...moves[i]), 1e-9);
      const step = Math.min(far, heat) / far;
      place.forEach((_, axis) => (place[axis] += step * moves[i][axis]));
    });
  }
  // The longest stretch lies along the page.
  const turn = longest(at);
  const turned = at.map(([x, y]) => [x * Math.cos(turn) + y * Math.sin(turn), y * Math.cos(turn) - x * Math.sin(turn)]);
  const ranges = [0, 1].map((axis) => turned.map((place) => place[axis])).map((all) => [Math.min(...all), Math.max(...all)]);
  return turned.map((place) => place.map((value, axis) => {
    const [low, high] = ranges[axis];
    return MARGIN + ((size[axis] - 2 * MARGIN) * (value - low)) / (high - low || 1);
  }));
}

/** The direction of the two nodes that are farthest apart. */
function longest(at) {
  let [most, turn] = [0, 0];
  for (const [i, [x, y]] of at.entries()) {
    for (const [u, v] of at.slice(i + 1)) {
      const far = Math.hypot(u - x, v - y);
      if (far > most) [most, turn] = [far, Math.atan2(v - y, u - x)];
    }
  }
  return turn;
}

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Draws a world; `chosen` is called with the link that is clicked. */
function drawNetwork(svg, { nodes, links, flows = [] }, chosen) {
  const width = Math.max(svg.clientWidth, 300);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const at = places(nodes, links, [width, HEIGHT]);
  const place = new Map(nodes.map((name, i) => [name, at[i]]));
  const routes = flows.flatMap((group) => group.routes ?? []).map((route) => route.path).filter(Boolean);
  // Packets go from left to right.
  if (routes.length > 0 && place.get(routes[0][0])[0] > place.get(routes[0].at(-1))[0]) {
    for (const one of at) one[0] = width - one[0];
  }
  const used = new Set(routes.flatMap((path) => path.slice(1).flatMap((to, i) => [`${path[i]} ${to}`, `${to} ${path[i]}`])));
  const drawn = links.map((link) => {
    const [[x1, y1], [x2, y2]] = link.ends.map((end) => place.get(end));
    const line = (name) => element("line", { class: name, x1, y1, x2, y2 });
    const lines = [line("hit"), ...(used.has(link.ends.join(" ")) ? [line("way")] : []), line("fibre")];
    const made = element("g", { class: "link", tabindex: 0, role: "button", "data-link": link.name, "aria-pressed": false }, ...lines);
    made.setAttribute("aria-label", `cut ${link.ends.join(" to ")}`);
    made.addEventListener("click", () => chosen(link));
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      chosen(link);
    });
    return made;
  });
  const dots = nodes.flatMap((name, i) => {
    const text = element("text", { x: at[i][0], y: at[i][1] - 11 }, name);
    return [element("circle", { cx: at[i][0], cy: at[i][1], r: 6 }), text];
  });
  svg.replaceChildren(...drawn, ...dots);
}

/** Shows which links are cut. */
function markCut(svg, names) {
  for (const link of svg.querySelectorAll(".link")) {
    const cut = names.includes(link.dataset.link);
    link.classList.toggle("cut", cut);
    link.setAttribute("aria-pressed", cut);
  }
}
