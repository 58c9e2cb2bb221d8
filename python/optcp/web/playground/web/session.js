// What a page asks of the simulator, one question after the other. While a world runs, it is kept at several instants; another world that
// is the same up to one of them goes on from there.
"use strict";

/** How many instants a run is kept at. */
const INSTANTS = 16;
/** With more memory than this nothing is kept, in bytes. */
const MOST_MEMORY = 500e6;

class Session {
  constructor(simulator) {
    this.simulator = simulator;
    /** The last run at its instants, in order: `{atPs, run}`. */
    this.kept = [];
    this.seed = null;
  }

  /** The run of a world. `asked` has name, text, library and seed; `progress` is told the share that is done. Throws a ScenarioError. */
  answer({ name, text, library, seed }, progress = () => {}) {
    const { simulator } = this;
    const scenario = simulator.parse({ name, text, library });
    try {
      const { atPs, run } = this.begun(scenario.number, seed);
      this.advance(run, atPs, scenario.world.stop_ps, progress);
      return { name, text, scenario, result: simulator.finish(run) };
    } finally {
      simulator.forget(scenario.number);
    }
  }

  /** The goodput in bits a second of each group, and what was delivered, of one seed: nothing of it is kept. */
  totals({ name, text, library, seed }) {
    const { simulator } = this;
    const { number, world } = simulator.parse({ name, text, library });
    const run = simulator.start(number, seed);
    simulator.forget(number);
    return totals(simulator.finish(run), world.stop_ps);
  }

  /** A run of the scenario, as far as the kept one is the same. */
  begun(scenario, seed) {
    const { simulator, kept } = this;
    const last = seed === this.seed ? kept.length - 1 : -1;
    this.seed = seed;
    for (let [at, tries] = [last, 2]; at >= 0 && tries > 0; tries--) {
      const run = simulator.fork(kept[at].run);
      const shared = simulator.change(run, scenario);
      if (shared === null) {
        this.drop(at + 1);
        return { atPs: kept[at].atPs, run };
      }
      simulator.forget(run);
      at = kept.findLastIndex(({ atPs }) => atPs <= shared);
    }
    this.drop(0);
    return { atPs: 0, run: simulator.start(scenario, seed) };
  }

  /** Executes all of a run, and keeps it on the way. */
  advance(run, fromPs, stopPs, progress) {
    const { simulator, kept } = this;
    if (fromPs === 0 && kept.length === 0) kept.push({ atPs: 0, run: simulator.fork(run) });
    for (let i = 1; i <= INSTANTS; i++) {
      const atPs = Math.floor((stopPs / INSTANTS) * i);
      if (atPs <= fromPs) continue;
      simulator.advance(run, atPs);
      if (simulator.memory() > MOST_MEMORY) this.drop(0);
      else kept.push({ atPs, run: simulator.fork(run) });
      progress(i / INSTANTS);
    }
  }

  /** Forgets what is kept from a place on. */
  drop(from) {
    for (const { run } of this.kept.splice(from)) this.simulator.forget(run);
  }
}

/** `{group: mean goodput in bits a second}` of a result that has goodput, and of all groups together. */
function totals({ series }, stopPs) {
  const goodput = series.find(({ kind }) => kind === "goodput");
  if (!goodput) return {};
  const { columns, names } = goodput;
  const length = columns.bytes.length / names.groups.length;
  const mean = (row) => {
    let bytes = 0;
    for (let i = 0; i < length; i++) bytes += columns.bytes[row * length + i];
    return (bytes * 8) / (stopPs / 1e12);
  };
  const found = Object.fromEntries(names.groups.map((name, row) => [name, mean(row)]));
  const all = Object.values(found);
  return all.length > 1 ? { ...found, "all groups": all.reduce((sum, one) => sum + one) } : found;
}
