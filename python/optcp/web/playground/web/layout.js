// Where nodes are drawn.
"use strict";

const MARGIN = 36;
/** More nodes than that lie on a circle: forces between all of them take too long. */
const MOST_NODES = 200;

/** Places of nodes in units of the picture, by their names, found by forces: links pull, nodes push. It begins with a circle, so that it is
 * the same every time. What is in `fixed` stays where it is. Packets of `routes` go from left to right. */
function layout({ nodes, links, routes }, size, fixed) {
  const at = nodes.map((_, i) => [Math.cos((2 * Math.PI * i) / nodes.length), Math.sin((2 * Math.PI * i) / nodes.length + 0.1)]);
  const number = new Map(nodes.map((name, i) => [name, i]));
  const pairs = links.map(({ ends }) => ends.map((end) => number.get(end)));
  const known = nodes.some((name) => fixed.has(name));
  const inner = size.map((whole) => whole - 2 * MARGIN);
  if (known) nodes.forEach((name, i) => fixed.has(name) && (at[i] = fixed.get(name).map((value, axis) => (2 * (value - MARGIN)) / inner[axis] - 1)));
  if (nodes.length <= MOST_NODES && nodes.some((name) => !fixed.has(name))) spread(at, pairs, nodes.map((name) => fixed.has(name)));
  const placed = known ? at.map((place) => place.map((value, axis) => MARGIN + (inner[axis] * (value + 1)) / 2)) : fitted(at, size);
  const first = routes[0];
  if (!known && first && placed[number.get(first[0])][0] > placed[number.get(first.at(-1))][0]) {
    for (const one of placed) one[0] = size[0] - one[0];
  }
  const inside = (value, axis) => Math.min(Math.max(value, MARGIN / 2), size[axis] - MARGIN / 2);
  return new Map(nodes.map((name, i) => [name, placed[i].map(inside)]));
}

/** Moves places until forces are in balance. */
function spread(at, pairs, fixed) {
  const near = 1 / Math.sqrt(at.length);
  for (let heat = 0.3; heat > 0.001; heat *= 0.985) {
    const moves = at.map(() => [0, 0]);
    const push = (a, b, force) => {
      const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
      const apart = Math.max(Math.hypot(dx, dy), 0.01);
      const size = force(apart) / apart;
      [[a, 1], [b, -1]].forEach(([node, sign]) => {
        moves[node][0] += sign * size * dx;
        moves[node][1] += sign * size * dy;
      });
    };
    for (let a = 0; a < at.length; a++) for (let b = 0; b < a; b++) push(a, b, (apart) => (near * near) / apart);
    for (const [a, b] of pairs) push(a, b, (apart) => (-apart * apart) / near);
    at.forEach((place, i) => {
      if (fixed[i]) return;
      const far = Math.max(Math.hypot(...moves[i]), 1e-9);
      const step = Math.min(far, heat) / far;
      place.forEach((_, axis) => (place[axis] += step * moves[i][axis]));
    });
  }
}

/** Turned so that the longest stretch lies along the page, and as large as it. */
function fitted(at, size) {
  const turn = longest(at);
  const turned = at.map(([x, y]) => [x * Math.cos(turn) + y * Math.sin(turn), y * Math.cos(turn) - x * Math.sin(turn)]);
  const ranges = [0, 1].map((axis) => turned.map((place) => place[axis])).map((all) => [Math.min(...all), Math.max(...all)]);
  return turned.map((place) => place.map((value, axis) => {
    const [low, high] = ranges[axis];
    // What lies on a line is in the middle.
    return high - low < 1e-6 ? size[axis] / 2 : MARGIN + ((size[axis] - 2 * MARGIN) * (value - low)) / (high - low);
  }));
}

/** The direction of the two nodes that are farthest apart. */
function longest(at) {
  let [most, turn] = [0, 0];
  for (const [i, [x, y]] of at.entries()) {
    for (const [u, v] of at.slice(i + 1)) {
      const far = Math.hypot(u - x, v - y);
      if (far > most) [most, turn] = [far, Math.atan2(v - y, u - x)];
    }
  }
  return turn;
}
