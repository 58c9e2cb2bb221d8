// What a world lets a reader turn: its parameters, when links fail, the switch delay, and the TCP of each group. Each knob says which change of
// the file it is.
"use strict";

/** The knobs of a parsed scenario: `{id, label, says, remove}` with `position`, `most` and `at(position)`, the change, or with `value`,
 * `to(value)` and, where there is a choice, `options`. `names` are those of each family, and `scales` keeps the scale of each quantity. */
function knobs({ written, world }, names, scales) {
  const own = Object.keys(written.tcp ?? {});
  const senders = [...own.filter((name) => !names.profiles.includes(name)), ...names.profiles];
  const families = { ...names, tcp: senders, profile: names.profiles };
  const found = Object.entries(written.parameters ?? {}).map(([name, value]) => {
    const [path, label] = [["parameters", name], name.replaceAll("_", " ")];
    return around(path, label, value, scales) ?? word(path, label, value, families[keyOf(written, `$${name}`)]);
  });
  (written.protection ?? []).forEach(({ switch_delay: delay }, i) =>
    found.push(around(["protection", i, "switch_delay"], "switch delay", delay, scales)));
  (written.failures ?? []).forEach((failure, i) => found.push(...ofFailure(failure, i, world.stop_ps / PS_A_MS)));
  // A single [tcp] is that of all groups.
  const [only] = own;
  const ofTcp = own.length === 1
    ? ["profile", "congestion"].map((key) => word(["tcp", only, key], `${key} of ${only}`, written.tcp[only][key], families[key]))
    : (written.flows ?? []).map(({ group, tcp = "rfc" }, i) => word(["flows", i, "tcp"], `TCP of ${group}`, tcp, senders));
  found.push(...ofTcp);
  return found.filter(Boolean);
}

/** The key whose value in a file is this text. */
function keyOf(file, text) {
  for (const [key, value] of Object.entries(file)) {
    if (value === text) return key;
    const found = value && typeof value === "object" ? keyOf(value, text) : undefined;
    if (found !== undefined) return found;
  }
}

/** A choice among names, or a word to write; nothing for what is no word, or stands for a parameter. */
function word(path, label, value, options) {
  if (typeof value !== "string" || value.startsWith("$")) return null;
  const known = options?.includes(value) ? { options } : {};
  return { id: path.join("."), label, value, ...known, to: (name) => ({ set: [path, JSON.stringify(name)] }) };
}

/** A slider around what the file says; nothing for what is no quantity. */
function around(path, label, written, scales) {
  const now = quantity(written);
  if (!now) return null;
  const id = path.join(".");
  if (!scales.get(id)?.holds(now)) scales.set(id, new Scale(now));
  const scale = scales.get(id);
  const says = now.unit ? `${now.value} ${now.unit}` : String(now.value);
  return { id, label, says, most: STEPS, position: scale.position(now.value), at: (position) => ({ set: [path, toml(scale.at(position))] }) };
}

/** When a link fails and when it works again, on the axis of time. */
function ofFailure(failure, i, stopMs) {
  const what = [failure.link ?? failure.node ?? failure.risk ?? failure.links].flat(2).join("\u2013");
  const step = round125(stopMs / 400);
  const mended = (ms) => ({ set: [["failures", i, "repair"], JSON.stringify(duration(rounded((ms + stopMs) / 2, 3)))] });
  return [["at", "fails at"], ["repair", "is repaired at"]].map(([key, verb]) => {
    const ms = inMs(failure[key]);
    if (ms === null) return null;
    const path = ["failures", i, key];
    const at = (position) => ({ set: [path, JSON.stringify(duration(position * step))] });
    const knob = { id: path.join("."), label: `${what} ${verb}`, says: duration(ms), most: Math.floor(stopMs / step), position: Math.round(ms / step), at };
    if (key === "repair") return { ...knob, remove: ["never", { remove: path }] };
    return failure.repair === undefined ? { ...knob, remove: ["mend", mended(ms)] } : knob;
  });
}

function inMs(written) {
  const found = typeof written === "string" && quantity(written);
  const factor = { ps: 1e-9, ns: 1e-6, us: 1e-3, ms: 1, s: 1e3, min: 6e4, h: 3.6e6 }[found?.unit];
  return factor === undefined ? null : found.value * factor;
}

/** Draws knobs into a form, and keeps the one that is held. `change` is called with the change, the event and the knob's id. */
class Knobs {
  constructor(form, change) {
    [this.form, this.change, this.shape] = [form, change, ""];
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  show(knobs) {
    const shape = JSON.stringify(knobs.map(({ id, label, most, options, remove }) => [id, label, most, options, remove?.[0]]));
    const held = this.form.contains(document.activeElement) ? document.activeElement.dataset.knob : undefined;
    this.knobs = new Map(knobs.map((knob) => [knob.id, knob]));
    if (shape !== this.shape) this.form.replaceChildren(...knobs.map((knob) => this.made(knob)));
    this.shape = shape;
    for (const knob of knobs) {
      const input = this.form.querySelector(`[data-knob="${CSS.escape(knob.id)}"]`);
      const value = String(knob.position ?? knob.value);
      // What is being dragged is ahead of what is shown.
      if (input.value !== value && !input.matches(":active")) input.value = value;
      if (knob.says) input.closest("label").querySelector("output").textContent = knob.says;
      if (knob.id === held) input.focus();
    }
  }

  made({ id, label, most, options, remove }) {
    const [row, input] = [document.createElement("div"), document.createElement(options ? "select" : "input")];
    const text = document.createElement("label");
    input.dataset.knob = id;
    text.append(`${label} `);
    if (most === undefined) {
      input.append(...(options ?? []).map((name) => new Option(name)));
      input.addEventListener("change", (event) => this.change(this.knobs.get(id).to(input.value), event, id));
    } else {
      Object.assign(input, { type: "range", min: 0, max: most, step: 1 });
      text.append(document.createElement("output"));
      input.addEventListener("input", (event) => this.change(this.knobs.get(id).at(Number(input.value)), event, id));
    }
    text.append(input);
    row.append(text);
    if (remove) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: remove[0] });
      button.addEventListener("click", (event) => this.change(this.knobs.get(id).remove[1], event, `${id} ${remove[0]}`));
      row.append(button);
    }
    return row;
  }
}
