// What a page asks of the simulator, one question after the other. What lies before a failure is simulated once: a run
// in which it comes as late as can be is kept at several instants, and forked where it fails.
"use strict";

/** How far the kept instants are apart. */
const APART_PS = 250_000_000_000;

class Session {
  constructor(simulator) {
    this.simulator = simulator;
    this.key = "";
    /** The late run at its instants, in order. */
    this.kept = [];
  }

  /**
   * The run of a scenario. `asked` has name, text, seed, `choices` (lists of settings, of which the first possible one
   * is taken), `then` (settings that matter from the failure on) and, if there is one, `failure`: its instant `atPs`, and
   * the settings that make it late. Throws a ScenarioError.
   */
  answer(asked) {
    const { simulator } = this;
    const { name, text, seed } = asked;
    const [choice, scenario] = this.first(asked);
    try {
      const run = this.forked(asked, choice, scenario.number) ?? simulator.start(scenario.number, seed);
      return { name, text, scenario, set: [...choice, ...asked.then], result: simulator.finish(run) };
    } finally {
      simulator.forget(scenario.number);
    }
  }

  /** The first choice that is possible, and its scenario. */
  first({ name, text, choices, then }) {
    for (const [index, choice] of choices.entries()) {
      try {
        return [choice, this.simulator.parse({ name, text, set: [...choice, ...then] })];
      } catch (error) {
        if (!(error instanceof ScenarioError) || index === choices.length - 1) throw error;
      }
    }
  }

  /** A run of the scenario at its failure; nothing if it cannot be one of the late run. */
  forked({ name, text, seed, failure }, choice, scenario) {
    if (!failure) return undefined;
    const { simulator } = this;
    const key = JSON.stringify([text, seed, choice, failure.late]);
    if (key !== this.key) {
      for (const { run } of this.kept) simulator.forget(run);
      this.kept = this.begun({ name, text, set: [...choice, ...failure.late] }, seed);
      this.key = key;
    }
    if (this.kept.length === 0) return undefined;
    const run = this.lateAt(failure.atPs);
    if (simulator.change(run, scenario)) return run;
    simulator.forget(run);
    return undefined;
  }

  /** The late run at its beginning; nothing where the failure cannot be late. */
  begun(request, seed) {
    try {
      const late = this.simulator.parse(request);
      const run = this.simulator.start(late.number, seed);
      this.simulator.forget(late.number);
      return [{ atPs: 0, run }];
    } catch (error) {
      if (error instanceof ScenarioError) return [];
      throw error;
    }
  }

  /** A fork of the late run at an instant. */
  lateAt(atPs) {
    const { simulator, kept } = this;
    for (let next = kept.length * APART_PS; next <= atPs; next += APART_PS) {
      const run = simulator.fork(kept.at(-1).run);
      simulator.advance(run, next);
      kept.push({ atPs: next, run });
    }
    const run = simulator.fork(kept.findLast((one) => one.atPs <= atPs).run);
    simulator.advance(run, atPs);
    return run;
  }
}
