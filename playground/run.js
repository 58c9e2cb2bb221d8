// Runs scenarios in node: a module, and on standard input a request of crates/web a line, with a seed, or a question as of session.js. Prints a line each:
// digests, counts and seconds, or the message.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const load = (file) => fs.readFileSync(path.join(__dirname, "../python/optcp/playground/web", file), "utf8");
const parts = `(() => { ${load("core.js")}\n${load("session.js")}\nreturn { ScenarioError, Session, Simulator }; })()`;
const { ScenarioError, Session, Simulator } = vm.runInThisContext(parts);

async function main() {
  const simulator = await Simulator.load(fs.readFileSync(process.argv[2]));
  const session = new Session(simulator);
  for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const asked = JSON.parse(line);
    const begun = performance.now();
    try {
      const result = asked.choices ? session.answer(asked).result : once(simulator, asked);
      const { records_sha256, metrics_sha256, scenario_sha256, forked_at_ps, counts } = result;
      const seconds = (performance.now() - begun) / 1000;
      console.log(JSON.stringify({ records_sha256, metrics_sha256, scenario_sha256, forked_at_ps, counts, seconds }));
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      console.log(JSON.stringify({ refused: error.message }));
    }
  }
}

function once(simulator, asked) {
  const { number } = simulator.parse(asked);
  const run = simulator.start(number, asked.seed);
  simulator.forget(number);
  return simulator.finish(run);
}

main();
