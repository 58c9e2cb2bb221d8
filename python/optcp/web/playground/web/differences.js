// Two worlds in numbers: the goodput of each group in both, and their difference, seed by seed.
"use strict";

const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1);
/** The 97.5th percentile of Student's t with 9 degrees of freedom. */
const STUDENT = 2.2622;

/** Mean and half of the 95 % interval, of ten values. */
function estimate(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, half: STUDENT * Math.sqrt(squares / (values.length - 1) / values.length) };
}

class Differences {
  constructor(table, worlds) {
    [this.table, this.worlds] = [table, worlds];
    /** Totals of each world by seed, of the texts that stand now. */
    this.found = new Map();
  }

  get key() {
    return JSON.stringify(this.worlds.map(({ text }) => text));
  }

  /** Begins with the seed that is drawn. */
  show() {
    if (this.worlds.some(({ shown }) => !shown)) return;
    const of = ({ shown: { result, scenario } }) => totals(result, scenario.world.stop_ps);
    this.found = new Map(this.worlds.map((world) => [world, new Map([[world.shown.result.seed, of(world)]])]));
    this.seed = this.worlds[0].shown.result.seed;
    this.asked = "";
    this.write();
  }

  /** Runs what is missing of ten seeds. */
  more() {
    this.asked = this.key;
    for (const world of this.worlds) this.next(world);
  }

  next(world) {
    const seed = SEEDS.find((one) => !this.found.get(world)?.has(one));
    const { name, text, library } = world;
    // A run that waits is newer than what is asked here, and only one question can wait.
    if (seed !== undefined && !world.asker.waiting) world.asker.ask({ name, text, library, seed, totals: true, key: this.key });
  }

  counted(world, { seed, key }, totals) {
    // Of what has been changed meanwhile nothing is wanted.
    if (key !== this.key || !totals) return;
    this.found.get(world)?.set(seed, totals);
    this.write();
    if (this.asked === key) this.next(world);
  }

  write() {
    const [one, other] = this.worlds.map((world) => this.found.get(world));
    const seeds = (this.asked ? SEEDS : [this.seed]).filter((seed) => one.has(seed) && other.has(seed));
    // The other world is about to be drawn with this seed.
    if (!this.asked && seeds.length === 0) return;
    const groups = Object.keys(one.get(this.seed)).filter((group) => group in other.get(this.seed));
    const n = seeds.length;
    const cell = (values) => {
      if (!this.asked) return plain(values[0] / 1e6);
      if (n < SEEDS.length) return "…";
      const { mean, half } = estimate(values);
      return `${plain(mean / 1e6)} [${plain((mean - half) / 1e6)}, ${plain((mean + half) / 1e6)}]`;
    };
    const body = groups.map((group) => {
      const values = [one, other].map((found) => seeds.map((seed) => found.get(seed)[group]));
      return [group, cell(values[0]), cell(values[1]), cell(values[1].map((value, i) => value - values[0][i]))];
    });
    const says = !this.asked ? `seed ${this.seed}` : n < SEEDS.length ? `${n} of ${SEEDS.length} seeds` : `mean of n = ${n} seeds and 95 % interval`;
    const head = [`Goodput in Mb/s, ${says}`, "left", "right", "right \u2212 left, paired"];
    const row = (tag) => (cells) => {
      const made = document.createElement("tr");
      made.append(...cells.map((text) => Object.assign(document.createElement(tag), { textContent: text })));
      return made;
    };
    this.table.replaceChildren(row("th")(head), ...body.map(row("td")));
    this.table.dataset.seeds = n;
    $("seeds").hidden = n === SEEDS.length;
  }
}
