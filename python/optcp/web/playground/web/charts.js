// Curves over time on a canvas.
"use strict";

/** A picture has no more curves than colours. */
const COLOURS = ["--a", "--b", "--c", "--d", "--e", "--f", "--g", "--h"];
const MOST_CURVES = COLOURS.length;

/** The pictures of a world, by kind of observation: what they say, and the curves of a series: each a name, points `[seconds, value, ...]`,
 * every value up to the next point or to `end`, and `dots` alone where they are no line. */
const CHARTS = {
  goodput: {
    title: ({ interval_ps: step }) => `Goodput in Mb/s (new in-order bytes), per ${duration(step / PS_A_MS)}`,
    curves: ({ columns, names, interval_ps: step }) =>
      rows(columns.bytes, names.groups, step, (bytes) => (bytes * 8) / (step / PS_A_SECOND) / 1e6),
  },
  tcp: {
    title: () => "Congestion window (cwnd) per flow, in kB",
    curves: ({ columns, names }) => byName(names.flows, columns.flow, columns.time_ps, (row) => columns.cwnd_bytes[row] / 1000),
  },
  queue: {
    title: ({ interval_ps: step }) => `Mean queue in packets, per ${duration(step / PS_A_MS)}`,
    curves: ({ columns, names, interval_ps: step }) =>
      rows(columns.mean_packets, names.ports, step, (packets) => packets).filter(({ points }) => most(points) > 1),
  },
  packets: {
    title: () => "Sequence numbers: cumulative ACK (lines) and retransmissions (dots)",
    curves({ columns, names }) {
      const [acked, again] = ["acked", "resent"].map((name) => names.events.indexOf(name));
      const of = (event) => byName(names.flows, columns.flow, columns.time_ps, (row) => columns.seq[row], (row) => columns.event[row] === event);
      const dots = of(again).map((curve) => ({ ...curve, dots: true }));
      return [...of(acked), ...dots];
    },
  },
};

/** The curves of a table with a row for each name and a column for each interval. */
function rows(values, names, stepPs, scaled) {
  const length = values.length / names.length;
  const step = stepPs / PS_A_SECOND;
  return names.map((name, row) => {
    const points = [];
    for (let i = 0; i < length; i++) points.push(i * step, scaled(values[row * length + i]));
    return { name, points };
  });
}

/** A curve for each name that has any out of a list of instants. */
function byName(names, which, times, value, chosen = () => true) {
  const curves = names.map((name) => ({ name, points: [] }));
  times.forEach((at, row) => {
    if (chosen(row)) curves[which[row]].points.push(at / PS_A_SECOND, value(row));
  });
  return curves.filter(({ points }) => points.length > 0);
}

function most(points) {
  let most = 0;
  for (let i = 1; i < points.length; i += 2) most = Math.max(most, points[i]);
  return most;
}

/** The greatest value of curves. */
function greatest(curves) {
  return Math.max(...curves.map(({ points }) => most(points)), 1e-9);
}

/** The value of a curve at an instant in seconds. */
function valueAt({ points }, at) {
  let [low, high] = [0, points.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[2 * middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? NaN : points[2 * low - 1];
}

/** 1, 2 or 5 times a power of ten, so that at most four of them are below the limit. */
function tick(limit) {
  const power = 10 ** Math.floor(Math.log10(limit / 3 || 1));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one * 5 > limit);
}

/** The instant of a point of a picture, in seconds. */
function instant(canvas, x, stop) {
  const [left, right] = sides(canvas.clientWidth);
  return Math.min(Math.max((x - left) / (right - left), 0), 1) * stop;
}

function sides(width) {
  return [40, width - 6];
}

/** Draws curves from 0 to `stop` seconds and to the value `limit`; `marks` are instants with a colour, and `cursor` is one whose values are
 * said. */
function draw(canvas, curves, { stop, limit, marks, cursor }) {
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name);
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  const top = limit * 1.08;
  const [[left, right], bottom] = [sides(width), height - 16];
  const x = (seconds) => left + ((right - left) * seconds) / stop;
  const y = (value) => bottom - ((bottom - 14) * value) / top;
  pen.lineWidth = 1;
  pen.strokeStyle = colour("--line");
  pen.fillStyle = colour("--quiet");
  for (let value = 0, step = tick(top); value <= top; value += step) {
    line(pen, [left, y(value), right, y(value)]);
    pen.textAlign = "right";
    pen.fillText(value.toLocaleString("en", { maximumSignificantDigits: 6 }), left - 5, y(value) + 4);
  }
  pen.textAlign = "center";
  for (let at = 0, step = tick(stop); at <= stop; at += step) {
    pen.fillText(duration(at * 1000), Math.min(x(at), right - 10), height - 3);
  }
  for (const { at, name } of cursor === null ? marks : [...marks, { at: cursor, name: "--ink" }]) {
    pen.strokeStyle = colour(name);
    pen.setLineDash(at === cursor ? [] : [4, 4]);
    line(pen, [x(at), 14, x(at), bottom]);
  }
  pen.setLineDash([]);
  pen.lineWidth = 1.5;
  pen.textAlign = "left";
  const names = [...new Set(curves.map(({ name }) => name))];
  const inked = (name) => colour(COLOURS[names.indexOf(name)]);
  for (const { name, points, dots, end = stop } of curves.filter(({ name }) => names.indexOf(name) < MOST_CURVES)) {
    pen.strokeStyle = pen.fillStyle = inked(name);
    if (dots) {
      for (let i = 0; i < points.length; i += 2) pen.fillRect(x(points[i]) - 1.5, y(points[i + 1]) - 1.5, 3, 3);
      continue;
    }
    const corners = [];
    for (let i = 0; i < points.length; i += 2) {
      if (i > 0) corners.push(x(points[i]), corners.at(-1));
      corners.push(x(points[i]), y(points[i + 1]));
    }
    if (corners.length > 0) line(pen, [...corners, x(end), corners.at(-1)]);
  }
  legend(pen, curves, names, { left, right, inked, cursor, quiet: colour("--quiet") });
  canvas.setAttribute("aria-label", curves.slice(0, MOST_CURVES).map(({ name, points }) => `${name}: maximum ${plain(most(points))}`).join("; "));
}

/** Names above the picture, as many as there is place for, and their values at the cursor. */
function legend(pen, curves, names, { left, right, inked, cursor, quiet }) {
  let at = left + 4;
  for (const [i, name] of names.entries()) {
    const value = cursor === null ? NaN : valueAt(curves.find((curve) => curve.name === name), cursor);
    const text = Number.isNaN(value) ? name : `${name} ${plain(value)}`;
    const wide = pen.measureText(text).width;
    const rest = names.length - i;
    if (i === MOST_CURVES || at + wide > right - (rest > 1 ? 60 : 0)) {
      pen.fillStyle = quiet;
      return pen.fillText(`and ${rest} more`, at, 10);
    }
    pen.fillStyle = inked(name);
    pen.fillText(text, at, 10);
    at += wide + 12;
  }
}

function line(pen, [x, y, ...rest]) {
  pen.beginPath();
  pen.moveTo(x, y);
  for (let i = 0; i < rest.length; i += 2) pen.lineTo(rest[i], rest[i + 1]);
  pen.stroke();
}
