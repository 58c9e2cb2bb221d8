// Runs scenarios in node: a module, and on standard input a request of crates/web a line, with a seed. With `session` requests are questions
// of session.js, each answered from what the one before has left. Prints a line each: digests, counts and seconds, or the message.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const load = (file) => fs.readFileSync(path.join(__dirname, "../python/optcp/web/playground/web", file), "utf8");
const parts = `(() => { ${load("core.js")}\n${load("session.js")}\nreturn { ScenarioError, Session, Simulator }; })()`;
const { ScenarioError, Session, Simulator } = vm.runInThisContext(parts);

async function main() {
  const simulator = await Simulator.load(await WebAssembly.compile(fs.readFileSync(process.argv[2])));
  const session = new Session(simulator);
  for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const begun = performance.now();
    const said = answered(simulator, session, JSON.parse(line));
    console.log(JSON.stringify({ ...said, seconds: (performance.now() - begun) / 1000 }));
  }
}

function answered(simulator, session, asked) {
  try {
    if (asked.changes) return { text: simulator.edit(asked.text, asked.changes) };
    const result = asked.session ? session.answer(asked).result : once(simulator, asked);
    const { records_sha256, metrics_sha256, scenario_sha256, forked_at_ps, counts } = result;
    return { records_sha256, metrics_sha256, scenario_sha256, forked_at_ps, counts };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return { refused: error.message };
  }
}

function once(simulator, asked) {
  const { number } = simulator.parse(asked);
  const run = simulator.start(number, asked.seed);
  simulator.forget(number);
  return simulator.finish(run);
}

main();
