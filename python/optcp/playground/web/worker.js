// The simulator in a worker, so that the page stays alive: first come the bytes of the module, then questions.
"use strict";

let session;

self.onmessage = ({ data }) => {
  if (data instanceof ArrayBuffer) {
    Simulator.load(data).then((simulator) => {
      session = new Session(simulator);
      postMessage({ ready: true });
    });
    return;
  }
  const begun = performance.now();
  try {
    const answer = session.answer(data);
    postMessage({ answer, ms: performance.now() - begun });
  } catch (error) {
    // Anything else ends the simulator, and the page is told.
    if (!(error instanceof ScenarioError)) throw error;
    postMessage({ refused: error.message });
  }
};
