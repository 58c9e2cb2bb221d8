// The simulator in a worker, so that the page stays alive: first come the bytes of the module, then questions.
"use strict";

let session;

self.onmessage = async ({ data }) => {
  if (data instanceof ArrayBuffer) {
    session = new Session(await Simulator.load(data));
    postMessage({ ready: true });
    return;
  }
  const begun = performance.now();
  try {
    const answer = session.answer(data);
    postMessage({ answer, id: data.id, ms: performance.now() - begun });
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    postMessage({ refused: error.message, id: data.id });
  }
};
