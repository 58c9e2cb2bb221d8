// A world on the page: its network, knobs, curves and file. The file says it all; whatever a reader does changes the file.
"use strict";

/** Changes of one knob that follow so soon are one to undo, in ms. */
const TOGETHER_MS = 1000;
/** More planned changes are not marked. */
const MOST_PLANNED = 60;
/** A text that is being typed is run after such a pause, in ms. */
const PAUSE_MS = 250;

class World {
  /** `page` has the simulator for edits, the compiled module, and is told with `changed` and `drawn`. */
  constructor(page, start) {
    this.page = page;
    this.host = $("world").content.firstElementChild.cloneNode(true);
    this.knobs = new Knobs(this.$("knobs"), (change, event, id) => this.edit([change], event, id));
    this.network = new NetworkView(this.$("network"), {
      cut: (link) => this.cut(link),
      link: (a, b) => this.edit([this.newLink(a, b)]),
      node: (beside, name) => this.edit([{ push: ["nodes", [["names", JSON.stringify([name])]]] }, this.newLink(beside, name)]),
      flow: (a, b) => this.edit([this.newFlow(a, b)]),
      moved: () => page.changed(),
    });
    [this.scales, this.before, this.shown, this.last] = [new Map(), [], null, {}];
    this.asker = new Asker(page.module, (heard) => this.heard(heard));
    this.listen();
    this.open(start);
  }

  $(name) {
    return this.host.querySelector(`.${name}`);
  }

  listen() {
    let soon;
    this.$("text").addEventListener("input", (event) => {
      clearTimeout(soon);
      soon = setTimeout(() => this.run(event), PAUSE_MS);
    });
    this.$("undo").addEventListener("click", () => this.before.length > 0 && this.open(this.before.pop(), true));
    this.$("save").addEventListener("click", () => (this.$("save").href = URL.createObjectURL(new Blob([this.text]))));
    this.$("copy").addEventListener("click", () => copied(this.$("command").textContent));
    for (const mode of this.host.querySelectorAll(".tools [data-mode]")) {
      mode.addEventListener("click", () => {
        for (const one of this.host.querySelectorAll(".tools [data-mode]")) one.setAttribute("aria-pressed", one === mode);
        this.network.choose(mode.dataset.mode);
        this.say();
      });
    }
  }

  get text() {
    return this.$("text").value;
  }

  /** What a link to this world holds. */
  get state() {
    const { name, library, network } = this;
    const places = Object.fromEntries([...network.places].map(([node, place]) => [node, place.map((value) => rounded(value, 3))]));
    return { name, text: this.text, library, places };
  }

  open({ name = "world.toml", text, library = {}, places = {} }, back = false) {
    if (this.name && !back) this.before.push(this.state);
    [this.name, this.library] = [name, library];
    this.network.places = new Map(Object.entries(places));
    this.network.shape = "";
    this.$("text").value = text;
    this.$("save").download = name;
    this.page.named(this);
    if (!back) this.scales.clear();
    this.run({ timeStamp: performance.now() });
  }

  run({ timeStamp: since }) {
    this.$("undo").disabled = this.before.length === 0;
    this.asker.ask({ name: this.name, text: this.text, library: this.library, seed: this.page.seed, since });
    this.page.changed();
  }

  /** Changes the file; changes with the same id that follow each other are one to undo. */
  edit(changes, event = { timeStamp: performance.now() }, id = "") {
    let text;
    try {
      text = this.page.simulator.edit(this.text, changes);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      return this.refuse(error.message);
    }
    const now = performance.now();
    if (!id || id !== this.last.id || now - this.last.at > TOGETHER_MS) this.before.push(this.state);
    this.last = { id, at: now };
    this.$("text").value = text;
    this.run(event);
  }

  /** Cuts a link, or mends it. */
  cut(link) {
    const { written, world } = this.shown.scenario;
    const alone = world.links.filter(({ ends }) => ends.every((end) => link.ends.includes(end))).length === 1;
    const named = (one) => one === link.name || (alone && Array.isArray(one) && one.length === 2 && one.every((end) => link.ends.includes(end)));
    const at = (written.failures ?? []).findIndex((failure) => named(failure.link));
    if (at >= 0) return this.edit([{ remove: ["failures", at] }]);
    if (this.failures().some((failure) => failure.link === link.name)) {
      return this.refuse(`${link.name} fails together with other links or at random; edit [[failures]] in the scenario.`);
    }
    const when = written.failures?.map((failure) => failure.at).find((one) => inMs(one) !== null);
    const early = duration(rounded((world.stop_ps / PS_A_MS) * 0.375, 2));
    const reference = JSON.stringify(alone ? link.ends : link.name);
    this.edit([{ push: ["failures", [["link", reference], ["at", JSON.stringify(when ?? early)]]] }]);
  }

  /** A link like the last one in the file. */
  newLink(a, b) {
    const like = this.shown.scenario.written.links?.at(-1) ?? {};
    const copied = ["rate", "delay", "queue"].filter((key) => typeof like[key] === "string").map((key) => [key, JSON.stringify(like[key])]);
    const entry = new Map([["rate", '"20 Mbps"'], ["delay", '"4 ms"'], ["queue", '"60 packets"'], ...copied]);
    return { push: ["links", [["chain", JSON.stringify([a, b])], ...entry]] };
  }

  /** A flow with the TCP of the first group; without routers on the shortest path. */
  newFlow(a, b) {
    const { written } = this.shown.scenario;
    const groups = (written.flows ?? []).map(({ group }) => group);
    const number = Array.from({ length: groups.length + 1 }, (_, i) => i + 1).find((i) => !groups.includes(`flow-${i}`));
    const entry = [["group", `flow-${number}`], ["from", a], ["to", b], ["tcp", written.flows?.[0]?.tcp ?? "rfc"]];
    if (!written.routing && !written.forwarding) entry.push(["path", "shortest"]);
    return { push: ["flows", entry.map(([key, value]) => [key, JSON.stringify(value)])] };
  }

  heard({ question, answer, ms: took, refused, progress, ended }) {
    this.$("progress").hidden = progress === undefined;
    if (progress !== undefined) return (this.$("progress").value = progress);
    if (ended !== undefined) return this.refuse(`The simulator has stopped: ${ended}. It restarts with the next change.`);
    if (question.totals) return this.page.counted(this, question, answer?.totals);
    if (refused !== undefined) return this.refuse(refused);
    this.show(answer);
    this.page.drawn();
    const drawn = performance.now() - question.since;
    const { counts, forked_at_ps: forked } = answer.result;
    const past = forked ? `; the time before ${duration(forked / PS_A_MS)} was reused` : "";
    this.$("speed").textContent = `${counts.packet_hops.toLocaleString("en")} packet-hops. Simulated in ${took.toFixed(0)} ms${past}. ` +
      `Drawn ${drawn.toFixed(0)} ms after the request.`;
    this.host.dataset.drawnMs = drawn;
    this.host.dataset.answers = Number(this.host.dataset.answers ?? 0) + 1;
  }

  refuse(message) {
    this.host.classList.add("refused");
    this.$("message").textContent = message;
  }

  show(answer) {
    this.shown = answer;
    const { scenario, result } = answer;
    this.host.classList.remove("refused");
    const swept = scenario.axes.map(([key]) => key).join(", ");
    const notes = swept ? [`This page uses the value of ${swept} in the file; \`optcp run\` uses the values of [sweep].`] : [];
    const warned = scenario.warnings.map(({ kind, message, place }) => `warning: ${message} [${kind}]\n  ${place}`);
    this.$("message").textContent = [...notes, ...warned].join("\n");
    this.$("title").textContent = scenario.world.title ?? answer.name;
    this.network.show(scenario.world);
    this.knobs.show(knobs(scenario, this.page.names, this.scales));
    this.curves = new Map();
    for (const [kind, { title, curves }] of Object.entries(CHARTS)) {
      const series = result.series.find((one) => one.kind === kind);
      if (!series) continue;
      const found = curves(series);
      this.curves.set(kind, { title: title(series), curves: found, most: greatest(found) });
    }
    this.queues = queues(scenario.world, result);
    for (const name of ["scenario_sha256", "records_sha256", "metrics_sha256"]) this.$(name).textContent = result[name];
    const own = scenario.axes.map(([key]) => [key, written(scenario.written, key)]).filter(([, value]) => value !== null)
      .map(([key, value]) => ` --set ${quoted(`${key}=${value}`)}`).join("");
    this.$("command").textContent = `optcp run ${quoted(answer.name)}${own} --seed ${result.seed} --digest`;
    this.say();
  }

  failures() {
    return (this.shown.scenario.world.failures ?? []).filter(({ at_ps: at }) => Number.isFinite(at));
  }

  /** The sentence below the network: what to do next, or what happens. */
  say() {
    const { mode } = this.network;
    if (mode !== "cut") {
      const then = mode === "link" ? "a second node; click free space or press n for a new node" : "its destination";
      return (this.$("now").textContent = `Select a node, then ${then}`);
    }
    if (!this.shown) return;
    const switched = this.shown.result.switches.filter(({ to_backup: to, acks }) => to && !acks);
    const failures = this.failures().map(({ link, at_ps: at }) => `${link} fails at ${duration(at / PS_A_MS)}`);
    const shown = failures.length > 3 ? [...failures.slice(0, 2), `${failures.length - 2} more failures`] : failures;
    this.$("now").textContent = [...shown, ...(switched.length ? [`switchover at ${duration(switched[0].at_ps / PS_A_MS)}`] : [])].join(", ") || "No failures";
  }

  get stop() {
    return this.shown.scenario.world.stop_ps / PS_A_SECOND;
  }

  /** Draws the curves up to the limit of each kind, and the network at the cursor. */
  draw({ limits, stop, cursor }) {
    const failures = this.failures();
    const times = (key, colour) => failures.filter((failure) => Number.isFinite(failure[key])).map((failure) => ({ at: failure[key] / PS_A_SECOND, name: colour }));
    const changes = planned(this.shown.scenario.world).map((at) => ({ at, name: "--idle" }));
    const marks = [...changes, ...times("at_ps", "--cut"), ...times("repair_ps", "--node")];
    for (const at of new Set(this.shown.result.switches.map(({ at_ps: at }) => at / PS_A_SECOND))) marks.push({ at, name: "--quiet" });
    for (const figure of this.host.querySelectorAll("figure")) {
      const chart = this.curves.get(figure.dataset.kind);
      figure.hidden = !chart;
      if (!chart) continue;
      figure.querySelector("figcaption").textContent = chart.title;
      draw(figure.querySelector("canvas"), chart.curves, { stop, limit: limits.get(figure.dataset.kind), marks, cursor });
    }
    const ps = cursor === null ? -1 : cursor * PS_A_SECOND;
    const down = failures.filter(({ at_ps: at, repair_ps: repair }) => at <= ps && ps < (repair ?? Infinity));
    this.network.mark(failures.map(({ link }) => link), down.map(({ link }) => link), forwarded(this.shown.scenario.world, ps));
    this.network.fill(cursor === null ? () => 0 : (ports) => this.queues(ports, ps));
  }

  end() {
    this.asker.end();
    this.host.remove();
  }
}

/** The ports over which written tables send packets at an instant; null without tables. */
function forwarded({ forwarding }, ps) {
  if (!forwarding) return null;
  return new Set(forwarding.flatMap(({ next }) => (next.findLast(([at]) => at <= Math.max(ps, 0)) ?? [0, []])[1] ?? []));
}

/** When links change by plan and nodes take other routes, in seconds; nothing of what changes more often than a picture shows. */
function planned({ schedules = [], forwarding = [], stop_ps: stop }) {
  const found = new Set(forwarding.flatMap(({ next }) => next.map(([at]) => at)));
  for (const { start_ps: start, period_ps: period, steps } of schedules) {
    for (let round = 0; start + round * (period ?? Infinity) < stop || round === 0; round++) {
      for (const { after_ps: after } of steps) found.add(start + (round && round * period) + after);
      if (found.size > MOST_PLANNED) return [];
    }
  }
  return [...found].filter((at) => at > 0 && at < stop).map((at) => at / PS_A_SECOND);
}

/** How full the queue of a port is at an instant, as a share of its limit, or of the longest that it was. */
function queues({ links }, { series }) {
  const queue = series.find(({ kind }) => kind === "queue");
  if (!queue) return () => 0;
  const { columns, names, interval_ps: step } = queue;
  const length = columns.mean_packets.length / names.ports.length;
  const limits = new Map(links.flatMap((link) =>
    [link.forward, link.reverse].flatMap((port, back) => portNames(link, back === 1).map((name) => [name, port?.queue_packets]))));
  const observed = new Map(names.ports.map((name, row) => {
    const values = columns.mean_packets.subarray(row * length, (row + 1) * length);
    return [name, { values, limit: limits.get(name) ?? values.reduce((most, value) => Math.max(most, value), 10) }];
  }));
  return (ports, ps) => {
    const port = observed.get(ports.find((name) => observed.has(name)));
    return port ? port.values[Math.min(Math.floor(ps / step), length - 1)] / port.limit : 0;
  };
}

/** What a file says under a key such as `links.0.rate`; under one of a choice in [sweep] which one changes nothing, or null. */
function written(file, key) {
  const value = key.split(".").reduce((table, step) => table?.[step], file);
  if (key.startsWith("sweep.")) return Object.keys(value).find((name) => Object.keys(value[name]).length === 0) ?? null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function quoted(word) {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
