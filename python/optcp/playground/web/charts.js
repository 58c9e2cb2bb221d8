// Curves over time on a canvas.
"use strict";

const COLOURS = ["--a", "--b", "--c", "--d"];
const PS_A_SECOND = 1e12;

/** Curves of a result by kind of observation: name and points `[seconds, value, ...]`, each value up to the next point. */
const CURVES = {
  goodput: ({ columns, names, interval_ps: step }) =>
    rows(columns.bytes, names.groups, step, (bytes) => (bytes * 8) / (step / PS_A_SECOND) / 1e6),
  queue: ({ columns, names, interval_ps: step }) =>
    rows(columns.mean_packets, names.ports, step, (packets) => packets).filter(({ points }) => most(points) > 1),
  tcp({ columns, names }) {
    const curves = names.flows.map((name) => ({ name, points: [] }));
    columns.time_ps.forEach((at, row) =>
      curves[columns.flow[row]].points.push(at / PS_A_SECOND, columns.cwnd_bytes[row] / 1000));
    return curves;
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

function most(points) {
  let most = 0;
  for (let i = 1; i < points.length; i += 2) most = Math.max(most, points[i]);
  return most;
}

/** 1, 2 or 5 times a power of ten, so that at most four of them are below the limit. */
function tick(limit) {
  const power = 10 ** Math.floor(Math.log10(limit / 3 || 1));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one * 5 > limit);
}

/** Draws the curves from 0 to `stop` seconds; `marks` are instants with a colour. */
function draw(canvas, curves, stop, marks) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name);
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  const top = Math.max(...curves.map(({ points }) => most(points)), 1e-9) * 1.08;
  const [left, right, bottom] = [34, width - 6, height - 16];
  const x = (seconds) => left + ((right - left) * seconds) / stop;
  const y = (value) => bottom - ((bottom - 14) * value) / top;
  pen.lineWidth = 1;
  pen.strokeStyle = colour("--line");
  pen.fillStyle = colour("--quiet");
  for (let value = 0, step = tick(top); value <= top; value += step) {
    line(pen, [left, y(value), right, y(value)]);
    pen.textAlign = "right";
    pen.fillText(String(Number(value.toPrecision(6))), left - 5, y(value) + 4);
  }
  pen.textAlign = "center";
  for (let at = 0, step = tick(stop); at <= stop; at += step) {
    pen.fillText(`${Number(at.toPrecision(6))} s`, Math.min(x(at), right - 8), height - 3);
  }
  for (const { at, name } of marks) {
    pen.strokeStyle = colour(name);
    pen.setLineDash([4, 4]);
    line(pen, [x(at), 12, x(at), bottom]);
  }
  pen.setLineDash([]);
  pen.lineWidth = 1.5;
  pen.textAlign = "left";
  let at = left + 4;
  curves.forEach(({ name, points }, index) => {
    pen.strokeStyle = pen.fillStyle = colour(COLOURS[index % COLOURS.length]);
    const corners = [];
    for (let i = 0; i < points.length; i += 2) {
      if (i > 0) corners.push(x(points[i]), corners.at(-1));
      corners.push(x(points[i]), y(points[i + 1]));
    }
    if (corners.length > 0) line(pen, [...corners, right, corners.at(-1)]);
    if (at < width - 60) pen.fillText(name, at, 10);
    at += pen.measureText(name).width + 12;
  });
  canvas.setAttribute("aria-label", curves.map(({ name, points }) => `${name}: up to ${most(points).toPrecision(3)}`).join("; "));
}

function line(pen, [x, y, ...rest]) {
  pen.beginPath();
  pen.moveTo(x, y);
  for (let i = 0; i < rest.length; i += 2) pen.lineTo(rest[i], rest[i + 1]);
  pen.stroke();
}
