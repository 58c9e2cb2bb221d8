// The module of crates/web: numbers and bytes on its side, objects on this one. Runs in pages, workers and node.
"use strict";

/** What is wrong with a scenario, in the words of the command. */
class ScenarioError extends Error {}

/** Numbers of 64 bits as doubles, from their halves: big integers take longer than the run. */
function doubles(buffer, from, length) {
  const halves = new Uint32Array(buffer, from, 2 * length);
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) values[i] = halves[2 * i] + halves[2 * i + 1] * 2 ** 32;
  return values;
}

class Simulator {
  /** `module` is compiled. */
  static async load(module) {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new Simulator(exports);
  }

  constructor(exports) {
    this.exports = exports;
  }

  /** The output of the last call; it is copied, because the next call writes over it. */
  output() {
    const { memory, optcp_output: from, optcp_output_length: length } = this.exports;
    return new Uint8Array(memory.buffer, from(), length()).slice();
  }

  text() {
    return new TextDecoder().decode(this.output());
  }

  /** Hands an object in. */
  input(object) {
    const bytes = new TextEncoder().encode(JSON.stringify(object));
    const from = this.exports.optcp_input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, from, bytes.length).set(bytes);
  }

  /** Bytes that it has taken from the browser. */
  memory() {
    return this.exports.memory.buffer.byteLength;
  }

  /** A scenario: its number, what is said of it, and its world. `request` has name, text, set and library. */
  parse(request) {
    this.input(request);
    const number = this.exports.optcp_parse();
    if (number === 0) throw new ScenarioError(this.text());
    const [said, world] = JSON.parse(this.text());
    return { number, ...said, world };
  }

  /** A scenario's text with changes, as of crates/web. */
  edit(text, changes) {
    this.input({ text, changes });
    if (this.exports.optcp_edit() === 0) throw new ScenarioError(this.text());
    return this.text();
  }

  /** What a scenario can name: names by family. */
  names() {
    this.exports.optcp_names();
    return JSON.parse(this.text());
  }

  /** Starts a run of a scenario by their numbers; it has a digest of its records. */
  start(scenario, seed) {
    return this.exports.optcp_start(scenario, BigInt(seed), 1);
  }

  /** Executes everything before an instant. */
  advance(run, untilPs) {
    this.exports.optcp_advance(run, BigInt(untilPs));
  }

  fork(run) {
    return this.exports.optcp_fork(run);
  }

  /** Lets a run go on as another scenario: null. If it is past the instant up to which both are the same, that instant, and nothing
   * has changed. */
  change(run, scenario) {
    const shared = BigInt.asUintN(64, this.exports.optcp_change(run, scenario));
    return shared === 2n ** 64n - 1n ? null : Number(shared);
  }

  forget(number) {
    this.exports.optcp_forget(number);
  }

  /** Runs to the end and returns the result. Columns are typed arrays by name; 64-bit ones are doubles. */
  finish(run) {
    this.exports.optcp_finish(run);
    const { buffer } = this.output();
    const behind = 8 + Number(new DataView(buffer).getBigUint64(0, true));
    const result = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, behind - 8)));
    const types = { u32: Uint32Array, u8: Uint8Array, f64: Float64Array };
    for (const series of result.series) {
      const read = ({ name, type, from, length }) => {
        const at = behind + from;
        return [name, type === "u64" ? doubles(buffer, at, length) : new types[type](buffer, at, length)];
      };
      series.columns = Object.fromEntries(series.columns.map(read));
      series.names = Object.fromEntries(series.names);
    }
    return result;
  }
}
