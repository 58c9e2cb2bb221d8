// The page: what is set asks the worker, and its answers are drawn. Of questions that wait only the last one is asked.
"use strict";

const $ = (id) => document.getElementById(id);
const FILE = "ring.toml";
const SEED = 1;
const PS_A_MS = 1e9;
/** A failure that hardly comes: so long before the end, in ms. */
const LATE_MS = 1;

/** What has been set beyond the text; `since` is when that began, to say how long the picture took. */
const set = { link: null, atMs: null, delayMs: null };
let [shown, shape, waiting, asked, since] = [null, "", null, null, 0];

/** How long a run may keep a newer question waiting, in ms; it is given up then. */
const PATIENCE_MS = 2000;
const code = new Blob([$("simulator").textContent], { type: "text/javascript" });
const packed = Uint8Array.from(atob($("module").textContent), (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const module = new Response(unpacked).arrayBuffer();
let [worker, ready, givenUp] = [null, false, null];

/** Begins anew with an empty simulator. */
async function begin() {
  worker?.terminate();
  worker = new Worker(URL.createObjectURL(code));
  [ready, asked] = [false, null];
  worker.onmessage = answered;
  worker.onerror = (event) => {
    refuse(`The simulator has ended: ${event.message}. It begins anew with the next change.`);
    begin();
  };
  worker.postMessage(await module);
}

function answered({ data }) {
  if (data.ready) {
    ready = true;
    return next();
  }
  const begun = asked.since;
  asked = null;
  clearTimeout(givenUp);
  next();
  if (data.refused !== undefined) return refuse(data.refused);
  show(data.answer);
  const drawn = performance.now();
  const { counts, forked_at_ps: forked } = data.answer.result;
  const past = forked ? `; what lies before ${ms(forked / PS_A_MS)} was there already` : "";
  $("speed").textContent = `${counts.packet_hops.toLocaleString("en")} packet-hops. Simulated in ${data.ms.toFixed(0)} ms${past}. ` +
    `Drawn ${(drawn - begun).toFixed(0)} ms after it was asked for.`;
  document.body.dataset.drawnMs = drawn - begun;
  document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
}

function ms(value) {
  return value >= 1000 ? `${Number((value / 1000).toFixed(3))} s` : `${Number(value.toFixed(3))} ms`;
}

function ask() {
  const then = [];
  if (set.delayMs !== null) then.push([delayKey(), ms(set.delayMs)]);
  if (set.atMs !== null) then.push(["failures.0.at", ms(set.atMs)]);
  const link = set.link && JSON.stringify(set.link.ends);
  // A cut is repaired by the protection that there is, if its backup leads around it.
  const failed = ["failures.0.link", link];
  const choices = link ? [[failed, ["protection.0.link", link]], [failed]] : [[]];
  // Before the failure its switch has no say, but a run has entries for a backup only if it is used before the end.
  const late = [["failures.0.at", ms(lateMs() - LATE_MS)]];
  if (!$("delay").disabled) late.push([delayKey(), ms(LATE_MS)]);
  const failure = set.atMs === null ? undefined : { atPs: Math.round(set.atMs * PS_A_MS), late };
  waiting = { name: FILE, text: $("text").value, seed: SEED, choices, then, failure, since };
  next();
}

function next() {
  if (!ready || !waiting) return;
  if (asked) {
    clearTimeout(givenUp);
    givenUp = setTimeout(begin, Math.max(0, asked.at + PATIENCE_MS - performance.now()));
    return;
  }
  [asked, waiting] = [{ ...waiting, at: performance.now() }, null];
  worker.postMessage(asked);
}

/** Changes what is set, and asks. */
function change(changes, event) {
  since = event.timeStamp;
  Object.assign(set, changes);
  ask();
}

function delayKey() {
  return shown?.scenario.parameters.switch_delay === undefined ? "protection.0.switch_delay" : "parameters.switch_delay";
}

function stopMs() {
  return shown ? shown.scenario.world.stop_ps / PS_A_MS : 0;
}

function lateMs() {
  return stopMs() - LATE_MS;
}

function refuse(message) {
  $("message").textContent = message;
  $("message").classList.add("refused");
}

function show(answer) {
  shown = answer;
  const { scenario, result } = answer;
  const { world } = scenario;
  const nodesAndLinks = JSON.stringify([world.nodes, world.links.map((link) => link.ends), world.flows]);
  if (nodesAndLinks !== shape) {
    drawNetwork($("network"), world, cutOrMend);
    shape = nodesAndLinks;
  }
  $("message").classList.remove("refused");
  $("message").textContent = scenario.warnings.map(({ kind, message, place }) => `warning: ${message} [${kind}]\n  ${place}`).join("\n");
  const failures = (world.failures ?? []).filter(({ at_ps: at }) => Number.isFinite(at));
  const cut = failures.filter(({ at_ps: at }) => at < lateMs() * PS_A_MS);
  markCut($("network"), cut.map(({ link }) => link));
  slider("at", failures[0]?.at_ps, lateMs());
  slider("delay", world.protection?.[0]?.detection?.switch_delay?.data_ps, Math.min(2000, stopMs()));
  const switched = result.switches.filter(({ to_backup: to, acks }) => to && !acks);
  $("now").textContent = [
    ...cut.map(({ link, at_ps: at }) => `${link} fails at ${ms(at / PS_A_MS)}`),
    ...(switched.length ? [`traffic switches at ${ms(switched[0].at_ps / PS_A_MS)}`] : []),
  ].join(", ") || "Nothing fails";
  curves();
  for (const name of ["scenario_sha256", "records_sha256", "metrics_sha256"]) $(name).textContent = result[name];
  const settings = answer.set.map(([key, value]) => ` --set ${quoted(`${key}=${value}`)}`);
  $("command").textContent = `optcp run ${FILE} --seed ${SEED}${settings.join("")} --digest`;
}

/** A slider shows what the world has; it is off where the world has no such thing. */
function slider(id, ps, limitMs) {
  $(id).disabled = !Number.isFinite(ps);
  if ($(id).disabled) return ($(`${id}-says`).textContent = "-");
  $(id).max = limitMs;
  if (document.activeElement !== $(id) || !waiting) $(id).value = ps / PS_A_MS;
  $(`${id}-says`).textContent = id === "at" && ps / PS_A_MS >= lateMs() ? "the end" : ms(ps / PS_A_MS);
}

function curves() {
  const { scenario, result } = shown;
  const failures = (scenario.world.failures ?? []).map(({ at_ps: at }) => ({ at: at / PS_A_SECOND, name: "--cut" }));
  const switches = result.switches.map(({ at_ps: at }) => ({ at: at / PS_A_SECOND, name: "--quiet" }));
  for (const [kind, of] of Object.entries(CURVES)) {
    const series = result.series.find((one) => one.kind === kind);
    draw($(kind), series ? of(series) : [], scenario.world.stop_ps / PS_A_SECOND, [...failures, ...switches]);
  }
}

function cutOrMend(link) {
  const event = { timeStamp: performance.now() };
  if (!shown.scenario.world.failures?.length) return refuse("The scenario has no [[failures]]: write one, and links can be cut.");
  const [{ link: failed, at_ps: at }] = shown.scenario.world.failures;
  const mended = at / PS_A_MS >= lateMs();
  if (failed === link.name && !mended) return change({ atMs: lateMs() }, event);
  change({ link, atMs: mended ? Math.round(stopMs() * 0.375) : at / PS_A_MS }, event);
}

function quoted(word) {
  return /^[\w.=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

let soon;
$("text").value = JSON.parse($("worlds").textContent)[0].text;
$("text").addEventListener("input", (event) => {
  clearTimeout(soon);
  soon = setTimeout(() => change({ link: null, atMs: null, delayMs: null }, event), 250);
});
$("at").addEventListener("input", (event) => change({ atMs: Number($("at").value) }, event));
$("delay").addEventListener("input", (event) =>
  change({ delayMs: Number($("delay").value), atMs: shown.scenario.world.failures[0].at_ps / PS_A_MS }, event));
$("save").addEventListener("click", () => ($("save").href = URL.createObjectURL(new Blob([$("text").value]))));
$("copy").addEventListener("click", () => navigator.clipboard.writeText($("command").textContent));
addEventListener("resize", () => {
  shape = "";
  if (shown) show(shown);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && curves());
ask();
begin();
