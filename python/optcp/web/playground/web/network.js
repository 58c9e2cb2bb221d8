// The network as a picture: links are cut, nodes moved, links and flows drawn.
"use strict";

const HEIGHT = 240;
const SVG = "http://www.w3.org/2000/svg";
/** Pixels between links of the same two nodes. */
const PARALLEL = 8;
/** A key moves a node by so many pixels. */
const STRIDE = 8;

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class NetworkView {
  /** `asks` has what a reader asks for: `cut(link)`, `link(a, b)`, `flow(a, b)`, `node(beside, name)` and `moved()`. */
  constructor(svg, asks) {
    [this.svg, this.asks] = [svg, asks];
    /** Places of nodes, as shares of the picture's width and height. */
    this.places = new Map();
    [this.mode, this.picked, this.shape] = ["cut", null, ""];
    svg.addEventListener("click", (event) => event.target === svg && this.beside(event));
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.pick(null);
      if (event.key === "n" && this.picked) this.beside(null);
    });
  }

  /** What a click on a node does: "cut" (nothing; links are cut), "link" or "flow". */
  choose(mode) {
    this.mode = mode;
    this.svg.dataset.mode = mode;
    this.pick(null);
  }

  get size() {
    return [Math.max(this.svg.clientWidth, 260), HEIGHT];
  }

  show(world) {
    const { nodes, links, flows = [] } = world;
    const routes = flows.flatMap((group) => group.routes ?? []).map((route) => route.path).filter(Boolean);
    const shape = JSON.stringify([nodes, links.map(({ name, ends }) => [name, ends]), routes, this.size]);
    if (shape === this.shape) return;
    this.shape = shape;
    this.nodes = nodes;
    const size = this.size;
    const fixed = new Map(nodes.filter((name) => this.places.has(name)).map((name) => [name, this.place(name)]));
    const found = layout({ nodes, links, routes }, size, fixed);
    this.places = new Map([...found].map(([name, place]) => [name, place.map((value, axis) => value / size[axis])]));
    this.svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const used = new Set(routes.flatMap((path) => path.slice(1).flatMap((to, i) => [`${path[i]} ${to}`, `${to} ${path[i]}`])));
    const beside = Map.groupBy(links, ({ ends }) => [...ends].sort().join(" "));
    this.links = links.map((link) => {
      const among = beside.get([...link.ends].sort().join(" "));
      const turn = link.ends[0] <= link.ends[1] ? 1 : -1;
      return { link, off: turn * PARALLEL * (among.indexOf(link) - (among.length - 1) / 2), drawn: this.drawnLink(link, used) };
    });
    this.dots = nodes.map((name) => this.drawnNode(name));
    this.svg.replaceChildren(...this.links.map(({ drawn }) => drawn), ...this.dots);
    this.arrange();
  }

  place(name) {
    return this.places.get(name).map((value, axis) => value * this.size[axis]);
  }

  drawnLink(link, used) {
    const line = (name) => element("line", { class: name });
    const lines = [line("hit"), line("way"), line("fibre"), line("queue"), line("queue")];
    const drawn = element("g", { class: "link", tabindex: 0, role: "button", "data-link": link.name, "aria-pressed": false }, ...lines);
    drawn.classList.toggle("used", used.has(link.ends.join(" ")));
    drawn.setAttribute("aria-label", `cut ${link.ends.join(" to ")}`);
    drawn.append(element("title", {}, `${link.name}: ${said(link.forward)}`));
    drawn.addEventListener("click", () => this.asks.cut(link));
    drawn.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.asks.cut(link);
    });
    return drawn;
  }

  drawnNode(name) {
    const drawn = element("g", { class: "node", tabindex: 0, role: "button", "aria-label": name, "data-node": name },
      element("circle", { class: "hit", r: 16 }), element("circle", { class: "dot", r: 6 }), element("text", { y: -11 }, name));
    let from = null;
    drawn.addEventListener("pointerdown", (event) => {
      drawn.setPointerCapture(event.pointerId);
      from = { x: event.clientX, y: event.clientY, place: this.place(name), moved: false };
    });
    drawn.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      from.moved ||= Math.hypot(dx, dy) > 4;
      if (from.moved) this.move(name, [from.place[0] + dx, from.place[1] + dy]);
    });
    drawn.addEventListener("pointerup", () => {
      if (from?.moved) this.asks.moved();
      else this.pick(name);
      from = null;
    });
    drawn.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step && event.key !== "Enter") return;
      event.preventDefault();
      if (!step) return this.pick(name);
      this.move(name, this.place(name).map((value, axis) => value + STRIDE * step[axis]));
      this.asks.moved();
    });
    return drawn;
  }

  move(name, place) {
    const inside = place.map((value, axis) => Math.min(Math.max(value / this.size[axis], 0.02), 0.98));
    this.places.set(name, inside);
    this.arrange();
  }

  /** The second node that is chosen is linked to the first one, or sent to. */
  pick(name) {
    const first = this.picked;
    this.picked = this.mode === "cut" || first === name ? null : first ? null : name;
    for (const dot of this.dots ?? []) dot.classList.toggle("picked", dot.dataset.node === this.picked);
    if (first && name && first !== name) this.asks[this.mode](first, name);
  }

  /** A node that is new, linked to the chosen one, at a point of the picture or next to that. */
  beside(event) {
    const first = this.picked;
    if (this.mode !== "link" || !first) return;
    const number = Array.from(this.nodes.keys(), (i) => i + 1).find((i) => !this.nodes.includes(`n${i}`)) ?? this.nodes.length + 1;
    const { left, top } = this.svg.getBoundingClientRect();
    const [x, y] = this.place(first);
    const place = event ? [event.clientX - left, event.clientY - top] : [x, y < HEIGHT / 2 ? y + 70 : y - 70];
    this.places.set(`n${number}`, place.map((value, axis) => value / this.size[axis]));
    this.pick(null);
    this.asks.node(first, `n${number}`);
  }

  arrange() {
    for (const dot of this.dots) dot.setAttribute("transform", `translate(${this.place(dot.dataset.node).join(" ")})`);
    for (const { link, off, drawn } of this.links) {
      const [[x1, y1], [x2, y2]] = link.ends.map((end) => this.place(end));
      const far = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [nx, ny] = [(y2 - y1) / far, (x1 - x2) / far];
      for (const one of drawn.querySelectorAll(".hit, .way, .fibre")) {
        for (const [key, value] of Object.entries({ x1: x1 + off * nx, y1: y1 + off * ny, x2: x2 + off * nx, y2: y2 + off * ny })) {
          one.setAttribute(key, value);
        }
      }
    }
    this.fill(this.filled ?? (() => 0));
  }

  /** Shows which links are cut some time (`cut`), which are down now, and over which `ports` packets go now, where that changes. */
  mark(cut, down, ports) {
    for (const { link, drawn } of this.links) {
      if (ports) drawn.classList.toggle("used", [false, true].flatMap((back) => portNames(link, back)).some((name) => ports.has(name)));
      drawn.classList.toggle("cut", cut.includes(link.name));
      drawn.classList.toggle("down", down.includes(link.name));
      drawn.setAttribute("aria-pressed", cut.includes(link.name));
    }
  }

  /** Colours links by the larger `use(ports)` of both directions: the utilisation of the port that has one of these names. */
  colour(use) {
    for (const { link, drawn } of this.links) {
      const most = Math.max(...[false, true].map((back) => use(portNames(link, back))));
      drawn.style.setProperty("--use", `${Math.round(100 * Math.min(most, 1))}%`);
    }
  }

  /** Draws the queues: `share(ports)` is how full that of a port is, which has one of these names. */
  fill(share) {
    this.filled = share;
    for (const { link, off, drawn } of this.links) {
      drawn.querySelectorAll(".queue").forEach((bar, backwards) => {
        const [a, b] = backwards ? [...link.ends].reverse() : link.ends;
        const full = Math.min(share(portNames(link, Boolean(backwards))), 1);
        const [[x1, y1], [x2, y2]] = [this.place(a), this.place(b)];
        const far = Math.hypot(x2 - x1, y2 - y1) || 1;
        const side = (backwards ? -off : off) + 5;
        const [nx, ny] = [(side * (y2 - y1)) / far, (side * (x1 - x2)) / far];
        const at = (part) => [x1 + (x2 - x1) * part + nx, y1 + (y2 - y1) * part + ny];
        const [begin, end] = [Math.min(9 / far, 0.2), Math.min(9 / far, 0.2) + 0.4 * full];
        [["x1", at(begin)[0]], ["y1", at(begin)[1]], ["x2", at(end)[0]], ["y2", at(end)[1]]].forEach(([key, value]) => bar.setAttribute(key, value));
        bar.classList.toggle("empty", full < 0.02);
      });
    }
  }
}

/** Both names that the port of a direction of a link may have. */
function portNames({ name, ends: [a, b] }, back) {
  const port = back ? `${b}->${a}` : `${a}->${b}`;
  return [port, `${name}:${port}`];
}

/** Rate and delay of a direction of a link. */
function said({ rate_bps: rate, delay_ps: delay, queue_packets: packets } = {}) {
  const parts = [];
  if (Number.isFinite(rate)) parts.push(rate >= 1e9 ? `${rounded(rate / 1e9, 4)} Gb/s` : `${rounded(rate / 1e6, 4)} Mb/s`);
  if (Number.isFinite(delay)) parts.push(duration(delay / PS_A_MS));
  if (Number.isFinite(packets)) parts.push(`queue of ${packets} packets`);
  return parts.join(", ");
}
