// The page: one world or two, the instant at which they are looked at, and the address that holds them.
"use strict";

const $ = (id) => document.getElementById(id);
/** Playing a run takes so long, in s, or as long as the run between them. */
const [SHORTEST_S, LONGEST_S] = [8, 20];
/** The address follows what is changed after such a pause, in ms. */
const CALM_MS = 400;
/** What workers run: the simulator, which this page has too for changes of files, and what answers. */
const SIMULATOR = URL.createObjectURL(new Blob(["simulator", "worker"].map((part) => $(part).textContent), { type: "text/javascript" }));
const STARTS = JSON.parse($("worlds").textContent);

const page = {
  worlds: [],
  seed: 1,
  cursor: null,
  differences: null,

  /** Something of a world has changed: the address follows. */
  changed() {
    clearTimeout(this.calm);
    this.calm = setTimeout(async () => {
      this.address = await packed(this.state);
      history.replaceState(null, "", this.address);
    }, CALM_MS);
  },

  /** What an address holds. */
  get state() {
    const [first, other] = this.worlds.map((world) => world.state);
    return { ...first, ...(this.seed === 1 ? {} : { seed: this.seed }), ...(other ? { other } : {}) };
  },

  /** A world has an answer: all are drawn on the same scales. */
  drawn() {
    this.differences?.show();
    this.draw();
  },

  counted(world, question, totals) {
    this.differences?.counted(world, question, totals);
  },

  draw() {
    const worlds = this.worlds.filter((world) => world.shown);
    if (worlds.length === 0) return;
    const limit = (kind) => Math.max(...worlds.map((world) => world.curves.get(kind)?.most ?? 0));
    const limits = new Map(Object.keys(CHARTS).map((kind) => [kind, limit(kind)]));
    this.stop = Math.max(...worlds.map(({ stop }) => stop));
    for (const world of worlds) world.draw({ limits, stop: this.stop, cursor: this.cursor });
    $("instant").textContent = this.cursor === null ? "" : `at ${duration(rounded(this.cursor * 1000, 4))}`;
  },

  look(cursor) {
    this.cursor = cursor;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  },

  add(start) {
    const world = new World(this, start);
    this.worlds.push(world);
    $("worlds-here").append(world.host);
    // What is drawn has a width only now.
    world.network.shape = "";
    for (const figure of world.host.querySelectorAll("canvas")) {
      figure.addEventListener("pointermove", (event) => world.shown && !this.playing && this.look(instant(figure, event.offsetX, this.stop)));
      figure.addEventListener("pointerleave", () => !this.playing && this.look(null));
    }
    this.arranged();
    return world;
  },

  /** Opens worlds as an address holds them. */
  open({ other = null, seed = 1, ...first }) {
    $("seed").value = this.seed = seed;
    if (this.worlds.length === 0) this.add(first);
    else this.worlds[0].open(first);
    this.pair(other);
  },

  /** The list of worlds shows the first one, and has it. */
  named(world) {
    if (this.worlds.length > 0 && world !== this.worlds[0]) return;
    if (!STARTS.some(({ name }) => name === world.name)) {
      STARTS.push(world.state);
      $("start").append(listed(world.state));
    }
    $("start").value = world.name;
  },

  /** Puts another world beside the first one, or takes it away. */
  pair(other) {
    if (other && this.worlds.length === 2) return this.worlds[1].open(other);
    if (other) this.add(other);
    else this.worlds.splice(1).forEach((world) => world.end());
    this.differences = other ? new Differences($("differences").querySelector("table"), this.worlds) : null;
    this.differences?.show();
    this.arranged();
    this.changed();
  },

  arranged() {
    const two = this.worlds.length === 2;
    document.body.classList.toggle("pair", two);
    $("pair").textContent = two ? "One scenario" : "Compare with a copy";
    $("differences").hidden = !two;
    for (const world of this.worlds) {
      world.$("file").open = !two;
      if (world.shown) world.network.show(world.shown.scenario.world);
    }
    this.draw();
  },

  /** Moves the cursor over the run, and stops where it is when asked again. */
  play() {
    this.playing = !this.playing;
    $("play").textContent = this.playing ? "Stop" : "Play";
    if (!this.playing) return;
    const seconds = Math.min(Math.max(this.stop, SHORTEST_S), LONGEST_S);
    const times = this.stop / seconds;
    $("pace").textContent = times === 1 ? "in real time" : times > 1 ? `${plain(times)} times as fast` : `${plain(1 / times)} times slower`;
    let last = performance.now();
    this.cursor ??= 0;
    if (this.cursor >= this.stop) this.cursor = 0;
    const step = (now) => {
      if (!this.playing) return;
      // A picture may be of an instant before it was asked for.
      this.cursor = Math.min(this.cursor + (Math.max(now - last, 0) / 1000) * times, this.stop);
      last = now;
      this.draw();
      if (this.cursor < this.stop) requestAnimationFrame(step);
      else this.play();
    };
    requestAnimationFrame(step);
  },
};

async function fromAddress() {
  if (!location.hash.startsWith("#w=")) return null;
  try {
    return await unpacked(location.hash);
  } catch (error) {
    $("said").textContent = `The address contains no valid scenario (${error.message}); showing the first one of the list.`;
    return null;
  }
}

/** A world in the list, by its title. */
function listed({ name, text }) {
  return new Option(/^title = "(.*)"/m.exec(text)?.[1] ?? name, name);
}

/** Whether a text could be copied: browsers refuse it to pages that are not safe. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function listen() {
  $("start").append(...STARTS.map(listed));
  $("start").addEventListener("change", () => {
    page.pair(null);
    page.worlds[0].open(STARTS[$("start").selectedIndex]);
  });
  $("pair").addEventListener("click", () => page.pair(page.worlds.length === 2 ? null : page.worlds[0].state));
  $("seeds").addEventListener("click", () => page.differences.more());
  $("seed").addEventListener("input", (event) => {
    if (!$("seed").value || !$("seed").validity.valid) return;
    page.seed = Number($("seed").value);
    for (const world of page.worlds) world.run(event);
  });
  $("play").addEventListener("click", () => page.play());
  $("share").addEventListener("click", async () => {
    const address = location.href.split("#")[0] + (await packed(page.state));
    const done = await copied(address);
    $("said").textContent = done ? `Link copied (${plain(address.length)} characters).` : "Copy the address of this page; it opens this scenario.";
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) page.open({ name: file.name, text: await file.text() });
  });
  addEventListener("hashchange", async () => {
    const found = location.hash === page.address ? null : await fromAddress();
    if (found) page.open(found);
  });
  addEventListener("resize", () => page.arranged());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.draw());
  document.body.classList.toggle("embedded", self !== top);
  $("alone").addEventListener("click", () => ($("alone").href = location.href));
}

async function begin() {
  const bytes = Uint8Array.from(atob($("module").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  page.module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  page.simulator = await Simulator.load(page.module);
  page.names = page.simulator.names();
  page.open((await fromAddress()) ?? STARTS[0]);
}

listen();
begin();
