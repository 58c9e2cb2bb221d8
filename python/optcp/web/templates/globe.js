"use strict";
// The globe from far away, over the middle of a path, with satellites that move.
const makeGlobe = ({ land, middle, box, places, ports, path }, apart) => {
  const radius = 6378.135, margin = 44;
  const direction = (latitude, longitude) => {
    const [up, turned] = [latitude * Math.PI / 180, longitude * Math.PI / 180];
    return [Math.cos(up) * Math.cos(turned), Math.cos(up) * Math.sin(turned), Math.sin(up)];
  };
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const centre = direction(...middle), east = direction(0, middle[1] + 90), north = direction(middle[0] + 90, middle[1]);
  // To the right, up, and towards the reader; what is behind the earth has less than 0 of the last.
  const seen = (latitude, longitude) => { const at = direction(latitude, longitude); return [dot(at, east), dot(at, north), dot(at, centre)]; };
  const tracks = places.map(([, seconds, latitudes, longitudes, heights]) =>
    ({ seconds, heights, at: latitudes.map((latitude, row) => seen(latitude, longitudes[row])) }));
  const placed = (place, now) => {
    const { seconds, heights, at } = tracks[place];
    let row = 0;
    while (row < seconds.length - 2 && seconds[row + 1] <= now) row += 1;
    const next = Math.min(row + 1, seconds.length - 1), long = seconds[next] - seconds[row];
    const part = long > 0 ? Math.min(Math.max((now - seconds[row]) / long, 0), 1) : 0;
    const between = at[row].map((value, axis) => value + (at[next][axis] - value) * part);
    const high = (1 + (heights[row] + (heights[next] - heights[row]) * part) / radius) / Math.hypot(...between);
    return between.map((value) => value * high);
  };
  const rings = land.map((steps) => {
    const points = [];
    for (let place = 0, longitude = 0, latitude = 0; place < steps.length; place += 2) {
      longitude += steps[place]; latitude += steps[place + 1];
      points.push(seen(latitude / 10, longitude / 10));
    }
    return points;
  });
  const wrapped = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
  let wide = 0, high = 0, scale = 1, shore, grid, disc;
  const pixel = ([x, y]) => [wide / 2 + scale * (x - (box[0] + box[2]) / 2), high / 2 - scale * (y - (box[1] + box[3]) / 2)];
  const build = () => {
    [shore, grid, disc] = [new Path2D(), new Path2D(), new Path2D()];
    const [x, y] = pixel([0, 0]);
    const limb = (into) => { into.moveTo(x + scale, y); into.arc(x, y, scale, 0, 2 * Math.PI); };
    limb(disc);
    for (const points of rings) {
      if (points.every((point) => point[2] < 0)) continue;
      let turned = 0;
      points.forEach((point, place) => {
        const next = points[(place + 1) % points.length];
        turned += wrapped(Math.atan2(next[1], next[0]) - Math.atan2(point[1], point[0]));
        const out = point[2] < 0 ? 1 / Math.hypot(point[0], point[1]) : 1;
        const at = pixel([point[0] * out, point[1] * out]);
        if (place) shore.lineTo(...at); else shore.moveTo(...at);
      });
      shore.closePath();
      // Clockwise around the middle: the point behind the earth is land, and the middle is not.
      if (turned < -Math.PI) limb(shore);
    }
    const line = (points) => {
      let down = false;
      for (const point of points) {
        if (point[2] >= 0) { if (down) grid.lineTo(...pixel(point)); else grid.moveTo(...pixel(point)); }
        down = point[2] >= 0;
      }
    };
    const along = (from, to, at) => Array.from({ length: (to - from) / 3 + 1 }, (_, step) => at(from + 3 * step));
    for (let longitude = -180; longitude < 180; longitude += 15) line(along(-75, 75, (latitude) => seen(latitude, longitude)));
    for (let latitude = -75; latitude <= 75; latitude += 15) line(along(-180, 180, (longitude) => seen(latitude, longitude)));
  };
  const pathAt = (now) => path.reduce((found, [at, stops]) => at <= now ? stops : found, []);
  const beside = (points, off) => points.map(([x, y], place) => {
    const a = points[Math.max(place - 1, 0)], b = points[Math.min(place + 1, points.length - 1)];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    return [x - (b[1] - a[1]) / length * off, y + (b[0] - a[0]) / length * off];
  });
  const spot = (place, now) => pixel(placed(place, now));
  const hidden = ([x, y, z]) => z < 0 && x * x + y * y < 1;
  return {
    size: (across, room) => {
      const next = Math.min(Math.max(across * 0.62, 300), Math.max(room, 260));
      if (across !== wide || next !== high) {
        [wide, high] = [across, next];
        const edge = Math.min(margin, wide / 10);
        scale = Math.min((wide - 2 * edge) / (box[2] - box[0]), (high - 2 * edge) / (box[3] - box[1]));
        build();
      }
      return [Math.max(Math.min(wide / 760, 1), 0.62), high, 0];
    },
    weight: 0.5,
    // A port within one place has no length: its queue is drawn towards where the path goes on.
    local: (port) => ports[port][0] === ports[port][1],
    idle: (load, queue) => load < 0.004 && queue < 0.01,
    route: (port, now, since) => {
      // In an outage links are where the last path was.
      const [a, b] = ports[port], way = path.reduce((found, [at, stops]) => at <= since && stops.length ? stops : found, []);
      const back = way.length && b === way[0] && a === way[way.length - 1];
      const follows = back || (way.length && a === way[0] && b === way[way.length - 1]);
      if (a === b) {
        const [x, y] = spot(a, now), ahead = way[way.indexOf(a) + 1] ?? way[way.indexOf(a) - 1];
        const [toX, toY] = ahead === undefined ? [x, y - 60] : spot(ahead, now), length = Math.hypot(toX - x, toY - y) || 1;
        return beside([[x, y], [x + (toX - x) / length * 90, y + (toY - y) / length * 90]], apart);
      }
      const stops = follows ? (back ? [...way].reverse() : way) : [a, b];
      return beside(stops.map((place) => spot(place, now)), apart);
    },
    timeout: ([, , , place], now) => spot(place, now),
    ground: (pen, now, ink, freshness) => {
      pen.fillStyle = ink.sea; pen.fill(disc);
      pen.save(); pen.clip(disc);
      pen.fillStyle = ink.land; pen.fill(shore, "evenodd");
      pen.lineWidth = 0.7; pen.strokeStyle = ink.grid; pen.stroke(grid);
      pen.restore();
      pen.lineWidth = 1; pen.strokeStyle = ink.line; pen.stroke(disc);
      const draw = (stops) => {
        pen.beginPath();
        stops.forEach((place, step) => { const at = spot(place, now); if (step) pen.lineTo(...at); else pen.moveTo(...at); });
        pen.stroke();
      };
      pen.lineJoin = "round"; pen.lineCap = "round"; pen.strokeStyle = ink.way;
      const number = path.filter(([at]) => at <= now).length - 1;
      if (number > 0 && freshness(path[number][0]) > 0) {
        pen.globalAlpha = freshness(path[number][0]); pen.lineWidth = 2; pen.setLineDash([4, 6]);
        draw(path[number - 1][1]);
        pen.setLineDash([]); pen.globalAlpha = 1;
      }
      if (number >= 0) { pen.lineWidth = 13; draw(path[number][1]); }
      pen.lineCap = "butt";
    },
    // Name, place in pixels, how large a dot is, and whether it is named: those of the path before others.
    spots: (now) => {
      const way = pathAt(now), ends = new Set(path.flatMap(([, stops]) => [stops[0], stops[stops.length - 1]]));
      return places.map(([name], place) => {
        const at = placed(place, now), still = tracks[place].seconds.length === 1, on = still || way.includes(place);
        return [name, ...pixel(at), (still ? 5 : on ? 4 : 2.6) * (hidden(at) ? 0.6 : 1), on, still];
      }).sort((a, b) => b[4] - a[4]);
    },
  };
};
