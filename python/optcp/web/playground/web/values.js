// Quantities as files write them, and the scales of sliders.
"use strict";

const PS_A_MS = 1e9;
const PS_A_SECOND = 1e12;
/** Steps of a slider; the middle one is what the file says. */
const STEPS = 200;
/** A slider ends at so many times that, and at its inverse. */
const SPAN = 40;
const TIMES = ["ps", "ns", "us", "ms", "s", "min", "h"];

/** `{value, unit}` of "50 ms" or of a number; null of another value. */
function quantity(written) {
  if (typeof written === "number") return { value: written, unit: "" };
  const found = typeof written === "string" && /^\s*([\d._]+)\s*([A-Za-z]+)\s*$/.exec(written);
  const value = found ? Number(found[1].replaceAll("_", "")) : NaN;
  return Number.isFinite(value) ? { value, unit: found[2] } : null;
}

/** A value of TOML. */
function toml({ value, unit }) {
  return unit ? JSON.stringify(`${value} ${unit}`) : String(value);
}

function rounded(value, digits) {
  return Number(value.toPrecision(digits));
}

/** A slider around a quantity: its scale is logarithmic, and that of a duration begins with zero. */
class Scale {
  constructor({ value, unit }) {
    [this.base, this.unit, this.whole] = [value || 50, unit, Number.isInteger(value) && !TIMES.includes(unit)];
  }

  holds({ value, unit }) {
    return unit === this.unit && (value === 0 ? TIMES.includes(unit) : value >= this.base / SPAN && value <= this.base * SPAN);
  }

  position(value) {
    if (value === 0) return 0;
    return Math.round((STEPS / 2) * (1 + Math.log(value / this.base) / Math.log(SPAN)));
  }

  at(position) {
    if (position === 0 && TIMES.includes(this.unit)) return { value: 0, unit: this.unit };
    if (position === STEPS / 2) return { value: this.base, unit: this.unit };
    const value = rounded(this.base * SPAN ** ((2 * position) / STEPS - 1), 2);
    return { value: this.whole ? Math.max(1, Math.round(value)) : value, unit: this.unit };
  }
}

/** Milliseconds as a duration. */
function duration(ms) {
  if (ms > 0 && ms < 0.1) return `${rounded(ms * 1000, 6)} us`;
  return ms === 0 || ms >= 1000 ? `${rounded(ms / 1000, 6)} s` : `${rounded(ms, 6)} ms`;
}

/** 1, 2 or 5 times a power of ten, and at most the limit. */
function round125(limit) {
  const power = 10 ** Math.floor(Math.log10(limit));
  return [5, 2, 1].map((one) => one * power).find((one) => one <= limit * 1.000001);
}

/** A number as people write it, with a few digits. */
function plain(value) {
  return Math.abs(value) >= 1e4 || value === 0 ? Math.round(value).toLocaleString("en") : String(rounded(value, 3));
}

/** What follows the page's name in a link to worlds, and back. */
async function packed(what) {
  const stream = new Blob([JSON.stringify(what)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return `#w=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

async function unpacked(address) {
  const bytes = Uint8Array.from(atob(address.slice(3).replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const found = JSON.parse(await new Response(stream).text());
  if (typeof found?.text !== "string") throw new Error("no scenario text");
  return found;
}
