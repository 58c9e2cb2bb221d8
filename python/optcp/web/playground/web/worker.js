// The simulator in a worker, so that the page stays alive: first comes the compiled module, then questions.
"use strict";

/** A run that takes longer says how far it is, in ms. */
const QUIET_MS = 150;

let session;

self.onmessage = ({ data }) => {
  if (data instanceof WebAssembly.Module) {
    Simulator.load(data).then((simulator) => {
      session = new Session(simulator);
      postMessage({ ready: true });
    });
    return;
  }
  const begun = performance.now();
  const progress = (done) => performance.now() - begun > QUIET_MS && postMessage({ progress: done });
  try {
    if (data.totals) return postMessage({ answer: { totals: session.totals(data) } });
    const answer = session.answer(data, progress);
    const columns = answer.result.series.flatMap((series) => Object.values(series.columns));
    // Columns are handed over, not copied; several are parts of one piece of memory.
    postMessage({ answer, ms: performance.now() - begun }, [...new Set(columns.map(({ buffer }) => buffer))]);
  } catch (error) {
    // Anything else ends the simulator, and the page is told.
    if (!(error instanceof ScenarioError)) throw error;
    postMessage({ refused: error.message });
  }
};
