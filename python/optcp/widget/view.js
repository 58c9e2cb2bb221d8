// Widget of a live run: the drawings of the playground, whose state and events are in Python.

const CONTROLS = `
  <div class="bar">
    <button type="button" class="play">Play</button>
    <label>Speed <select class="speed" aria-label="Simulated time per second"></select></label>
    <button type="button" class="step">Step</button>
    <button type="button" class="fork">Fork</button>
    <label>Branch <select class="branch"></select></label>
    <label><input type="checkbox" class="compare" checked> Compare</label>
    <output class="clock"></output>
  </div>
  <svg class="network" role="group" aria-label="Network: click a link or press Enter to cut or repair it"></svg>
  <div class="bar">
    <label>Plot <select class="quantity"><option value="goodput">goodput</option><option value="cwnd">cwnd</option></select></label>
    <span class="title"></span>
  </div>
  <canvas role="img"></canvas>
  <p class="said" role="alert"></p>`;
const TITLES = { goodput: "Goodput per group in Mbit/s", cwnd: "Mean cwnd of active flows per group in kB" };
/** A frame of the browser asks for no more than so many seconds at the chosen speed. */
const MOST_SECONDS = 0.25;
const SPEEDS = [1e-4, 1e-3, 1e-2, 0.1, 0.3, 1, 3, 10];

/** Adds new values to the curves of the model, which all views of it show. */
function initialize({ model }) {
  model.on("msg:custom", ({ samples }) => {
    const curves = structuredClone(model.get("curves"));
    for (const { branch, start, end, values } of samples) {
      const one = curves[branch];
      one.end = end;
      for (const [group, found] of Object.entries(values)) {
        one.groups[group] ??= {};
        for (const [quantity, value] of Object.entries(found)) (one.groups[group][quantity] ??= []).push(start, value);
      }
    }
    model.set("curves", curves);
  });
}

function render({ model, el }) {
  el.classList.add("optcp-widget");
  el.innerHTML = `${CONTROLS}<style>.${model.get("network").still} { display: none !important; }</style>`;
  const part = (name) => el.querySelector(`.${name}`);
  const network = model.get("network");
  const frame = () => model.get("frame");
  const ports = new Map(network.ports.map((name, i) => [name, i]));
  const port = (names) => ports.get(names.findLast((name) => ports.has(name)));
  let [playing, before] = [false, 0];

  const view = new NetworkView(part("network"), { cut: ({ name }) => model.send({ ask: "toggle", link: name }), moved: () => {} });
  view.places = new Map(Object.entries(network.places));

  const drawNetwork = () => {
    const { down, use, queue } = frame();
    view.show(network);
    view.mark(down, down, new Set(network.ports.filter((_, i) => use[i] > 0)));
    view.colour((names) => use[port(names)] ?? 0);
    view.fill((names) => queue[port(names)] ?? 0);
  };
  const drawCurves = () => {
    const quantity = part("quantity").value;
    const branches = model.get("curves").map((branch, number) => ({ ...branch, number }));
    const shown = part("compare").checked ? branches : [branches[frame().shown]];
    const curves = shown.flatMap(({ end, groups, number }) => Object.entries(groups).map(([group, found]) => (
      { name: branches.length > 1 ? `${group}, branch ${number + 1}` : group, points: found[quantity], end })));
    part("title").textContent = TITLES[quantity];
    draw(el.querySelector("canvas"), curves, { stop: network.stop, limit: greatest(curves), marks: [], cursor: null });
  };
  const drawState = () => {
    const { now, shown, said } = frame();
    part("clock").textContent = `${now.toFixed(6)} s of ${rounded(network.stop, 6)} s`;
    part("said").textContent = said;
    part("play").textContent = playing ? "Pause" : "Play";
    part("branch").replaceChildren(...model.get("curves").map((_, i) => new Option(String(i + 1), i, false, i === shown)));
    part("play").disabled = part("step").disabled = now >= network.stop;
  };
  const drawAll = () => {
    drawNetwork();
    drawCurves();
    drawState();
  };

  const speeds = SPEEDS.map((share) => round125((network.stop / 20) * share * 1000));
  part("speed").append(...speeds.map((ms) => new Option(`${duration(ms)} per s`, ms / 1000, false, ms === speeds[5])));
  const advance = () => {
    if (!playing) return;
    const now = performance.now();
    const seconds = Math.min((now - before) / 1000, MOST_SECONDS) * Number(part("speed").value);
    before = now;
    model.send({ ask: "advance", seconds });
  };
  const play = (on) => {
    [playing, before] = [on, performance.now()];
    if (on) requestAnimationFrame(advance);
    else model.send({ ask: "pause" });
    drawState();
  };
  part("play").addEventListener("click", () => play(!playing));
  part("step").addEventListener("click", () => model.send({ ask: "step" }));
  part("fork").addEventListener("click", () => model.send({ ask: "fork" }));
  part("branch").addEventListener("change", ({ target }) => model.send({ ask: "show", branch: Number(target.value) }));
  for (const name of ["quantity", "compare"]) part(name).addEventListener("change", drawCurves);

  const answered = () => {
    const { now, busy, asked, said } = frame();
    drawNetwork();
    drawState();
    if (playing && (said || now >= network.stop)) play(false);
    else if (playing && asked === "advance") requestAnimationFrame(advance);
    else if (!playing && busy) model.send({ ask: "continue" });
  };
  model.on("change:frame", answered);
  model.on("change:curves", drawCurves);
  const watch = new ResizeObserver(drawAll);
  watch.observe(el);
  return () => {
    playing = false;
    watch.disconnect();
    model.off("change:frame", answered);
    model.off("change:curves", drawCurves);
  };
}

export default { initialize, render };
