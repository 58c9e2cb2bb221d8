// Asks a worker, one question at a time; of those that wait only the last one is asked.
"use strict";

/** How long a run may keep a newer question waiting, in ms; it is given up then. */
const PATIENCE_MS = 2000;

class Asker {
  /** `heard` is called with `{question, answer, ms}`, `{question, refused}`, `{question, progress}` or `{ended}`. */
  constructor(module, heard) {
    [this.module, this.heard] = [module, heard];
    [this.waiting, this.asked] = [null, null];
    this.begin();
  }

  /** Begins anew with an empty simulator. */
  begin() {
    this.worker?.terminate();
    this.worker = new Worker(SIMULATOR);
    [this.ready, this.asked] = [false, null];
    this.worker.onmessage = ({ data }) => this.said(data);
    this.worker.onerror = (event) => {
      this.heard({ ended: event.message });
      this.begin();
    };
    this.worker.postMessage(this.module);
  }

  ask(question) {
    this.waiting = question;
    this.next();
  }

  end() {
    this.worker.terminate();
    clearTimeout(this.givenUp);
  }

  next() {
    if (!this.ready || !this.waiting) return;
    if (this.asked) {
      clearTimeout(this.givenUp);
      const wait = Math.max(0, this.asked.at + PATIENCE_MS - performance.now());
      this.givenUp = setTimeout(() => this.begin(), wait);
      return;
    }
    this.asked = { question: this.waiting, at: performance.now() };
    this.waiting = null;
    this.worker.postMessage(this.asked.question);
  }

  said(data) {
    if (data.ready) {
      this.ready = true;
      return this.next();
    }
    const { question } = this.asked;
    if (data.progress !== undefined) return this.heard({ question, ...data });
    this.asked = null;
    clearTimeout(this.givenUp);
    this.next();
    this.heard({ question, ...data });
  }
}
