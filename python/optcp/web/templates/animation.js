"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const about = JSON.parse(byId("about").textContent);
  const packed = Uint8Array.from(atob(byId("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  const data = {};
  let offset = 0;
  for (const [name, type, length] of about.arrays) {
    const bytes = length * types[type].BYTES_PER_ELEMENT;
    data[name] = new types[type](buffer.slice(offset, offset + bytes));
    offset += bytes;
  }

  // Instants of packets in seconds, from differences; by packet the latest end so far, to find those on the way.
  const sums = (steps) => {
    const found = new Float64Array(steps.length);
    let sum = 0;
    steps.forEach((step, place) => { sum += step; found[place] = about.from + sum * about.unit; });
    return found;
  };
  const came = sums(data.came);
  const lostAt = sums(data.lostAt);
  const left = came.map((at, place) => at + data.wait[place] * about.unit);
  const there = left.map((at, place) => at + data.travel[place] * about.unit);
  const latest = new Float64Array(there.length);
  there.forEach((at, place) => { latest[place] = Math.max(at, place ? latest[place - 1] : 0); });
  const firstAbove = (values, limit) => {
    let low = 0, high = values.length;
    while (low < high) { const middle = (low + high) >> 1; if (values[middle] > limit) high = middle; else low = middle + 1; }
    return low;
  };

  // The axis of time: what is drawn packet by packet takes half of it at least.
  const span = about.to - about.from, outside = about.stop - span;
  const share = Math.max(0.5, span / about.stop);
  const ends = [[0, about.from, outside > 0 ? (1 - share) * about.from / outside : 0], [about.from, about.to, share],
    [about.to, about.stop, outside > 0 ? (1 - share) * (about.stop - about.to) / outside : 0]];
  const positionOf = (at) => {
    let sum = 0;
    for (const [from, to, wide] of ends) {
      if (at <= to || to === about.stop) return to > from ? sum + wide * Math.min(Math.max((at - from) / (to - from), 0), 1) : sum;
      sum += wide;
    }
    return 1;
  };
  const timeAt = (position) => {
    for (const [from, to, wide] of ends) {
      if (position <= wide || to === about.stop) return wide > 0 ? from + (to - from) * Math.min(position / wide, 1) : to;
      position -= wide;
    }
    return about.stop;
  };
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(span / 2000)), 2), 9);
  const inDetail = (at) => at >= about.from && at <= about.to;

  let now = about.from, playing = false, before = 0, ink = {};
  const readInks = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "quiet", "paper", "line", "idle", "busy", "full", "node", "shade", "cut", "sea", "land", "grid", "way"]) {
      ink[name] = style.getPropertyValue("--" + name).trim();
    }
  };
  const fitted = (canvas, height) => {
    const ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth;
    const [x, y] = [Math.round(wide * ratio), Math.round(height * ratio)];
    if (canvas.width !== x || canvas.height !== y) { canvas.width = x; canvas.height = y; canvas.style.height = height + "px"; }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, height);
    return [pen, wide];
  };
  const blend = (part) => {
    const mix = (a, b, k) => `color-mix(in srgb, ${a} ${Math.round(100 * (1 - k))}%, ${b})`;
    return part < 0.5 ? mix(ink.idle, ink.busy, part * 2) : mix(ink.busy, ink.full, Math.min(part * 2 - 1, 1));
  };
  let blends = [];
  const makeBlends = () => { readInks(); blends = Array.from({ length: 21 }, (_, place) => blend(place / 20)); };
  const frame = () => {
    const name = inDetail(now) ? "detail" : "whole", of = about[name];
    const at = Math.min(Math.max(Math.floor((now - of.from) / of.step), 0), of.n - 1);
    return { at, n: of.n, load: data[name + "Load"], queue: data[name + "Queue"], lost: data[name + "Lost"] };
  };
  const isDown = new Uint8Array(about.ports.length);
  const map = byId("map"), chart = byId("chart"), fade = 0.015;

  // A network that stands still: as wide as its place, but no higher than leaves room for what is below it.
  const makeMap = () => {
    let scale = 1;
    return {
      size: (wide, room) => {
        scale = Math.min(wide / about.width, Math.max(room, 260) / about.height);
        return [Math.max(scale, 0.62), about.height * scale, (wide - about.width * scale) / 2];
      },
      weight: 1,
      local: () => false,
      idle: () => false,
      route: (port) => { const [x1, y1, x2, y2] = about.ports[port].slice(1, 5).map((value) => value * scale); return [[x1, y1], [x2, y2]]; },
      timeout: ([, x, y]) => [x * scale, y * scale],
      ground: () => {},
      spots: () => about.nodes.map(([name, x, y]) => [name, x * scale, y * scale, 5, true]),
    };
  };
  const scene = about.globe ? makeGlobe(about.globe, 3.5) : makeMap();
  const lengths = (points) => points.slice(1).map(([x, y], place) => Math.hypot(x - points[place][0], y - points[place][1]));
  const along = (points, part) => {
    const long = lengths(points);
    let left = part * long.reduce((sum, one) => sum + one, 0), place = 0;
    while (place < long.length - 1 && left > long[place]) { left -= long[place]; place += 1; }
    const [[x1, y1], [x2, y2]] = [points[place], points[place + 1]], share = left / (long[place] || 1);
    return [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
  };
  const sized = () => scene.size(map.clientWidth, window.innerHeight - 330);
  const drawMap = () => {
    const [small, high, side] = sized();
    const [pen] = fitted(map, high + 26);
    pen.translate(side, 0);
    scene.ground(pen, now, ink, (at) => 1 - (positionOf(now) - positionOf(at)) / fade / 2);
    const shown = frame();
    isDown.fill(0);
    for (const [port, from, to] of about.down) if (now >= from && (to === null || now < to)) isDown[port] = 1;
    about.ports.forEach((_, place) => {
      const points = scene.route(place, now, now), cell = place * shown.n + shown.at;
      const load = Math.min(shown.load[cell] / about.levels, 1), queue = Math.min(shown.queue[cell] / about.levels, 1);
      if (!scene.local(place) && (isDown[place] || !scene.idle(load, queue))) {
        pen.lineWidth = isDown[place] ? 2 : (1.2 + 3.2 * load) * small * scene.weight;
        pen.strokeStyle = isDown[place] ? ink.full : blends[Math.round(load * 20)];
        pen.setLineDash(isDown[place] ? [5, 4] : []);
        pen.beginPath(); points.forEach(([x, y], step) => { if (step) pen.lineTo(x, y); else pen.moveTo(x, y); }); pen.stroke();
        pen.setLineDash([]);
      }
    });
    about.ports.forEach((_, place) => {
      const points = scene.route(place, now, now), [[x1, y1], [x2, y2]] = points, cell = place * shown.n + shown.at;
      const queue = Math.min(shown.queue[cell] / about.levels, 1);
      if (queue > 0.01) {
        const length = Math.hypot(x2 - x1, y2 - y1) || 1, full = Math.min(36 * small, length * 0.4);
        const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
        const [sx, sy] = [x1 + dx * 6 * small, y1 + dy * 6 * small];
        pen.lineWidth = 7 * small; pen.strokeStyle = ink.line;
        pen.beginPath(); pen.moveTo(sx, sy); pen.lineTo(sx + dx * full, sy + dy * full); pen.stroke();
        pen.lineWidth = 5 * small; pen.strokeStyle = queue > 0.95 ? ink.full : ink.busy;
        pen.beginPath(); pen.moveTo(sx, sy); pen.lineTo(sx + dx * full * queue, sy + dy * full * queue); pen.stroke();
      }
      if (!inDetail(now) && shown.lost[cell] > 0) cross(pen, ...along(points, 0.12), 1, small);
    });
    if (inDetail(now)) {
      const last = firstAbove(came, now);
      for (let place = firstAbove(latest, now); place < last; place += 1) {
        if (left[place] > now || there[place] <= now || scene.local(data.port[place])) continue;
        // A packet stays on the path that it took.
        const points = scene.route(data.port[place], now, left[place]);
        const part = (now - left[place]) / (there[place] - left[place]), ack = data.kind[place] === 1;
        pen.globalAlpha = ack ? 0.75 : 1;
        pen.fillStyle = about.inks[data.group[place] % about.inks.length];
        pen.beginPath(); pen.arc(...along(points, part), (ack ? 1.8 : 3.4) * small, 0, 7);
        if (about.globe && !ack) { pen.lineWidth = 2; pen.strokeStyle = ink.paper; pen.stroke(); }
        pen.fill();
        if (data.kind[place] === 2) { pen.lineWidth = 1.8 * small; pen.strokeStyle = ink.full; pen.stroke(); }
      }
      pen.globalAlpha = 1;
      const from = positionOf(now) - fade;
      for (let place = firstAbove(lostAt, timeAt(Math.max(from, 0))); place < lostAt.length && lostAt[place] <= now; place += 1) {
        const at = along(scene.route(data.lostPort[place], now, lostAt[place]), isDown[data.lostPort[place]] ? 0.5 : 0.1);
        cross(pen, ...at, 1 - (positionOf(now) - positionOf(lostAt[place])) / fade, small);
      }
    }
    for (const one of about.timeouts) {
      const [at] = one, [x, y] = scene.timeout(one, now);
      const age = (positionOf(now) - positionOf(at)) / fade;
      if (at > now || age > 1) continue;
      pen.globalAlpha = 1 - age; pen.lineWidth = 2.5; pen.strokeStyle = ink.busy;
      pen.beginPath(); pen.arc(x, y, (5 + 9 * age) * small, 0, 7); pen.stroke(); pen.globalAlpha = 1;
    }
    const taken = [];
    pen.font = "11px system-ui, sans-serif"; pen.lineJoin = "round";
    const spots = scene.spots(now);
    for (const [name, x, y, size, named] of spots) {
      pen.globalAlpha = named ? 1 : 0.45;
      pen.fillStyle = ink.node; pen.beginPath(); pen.arc(x, y, size * small, 0, 7); pen.fill();
      taken.push([x - size, y - size, x + size, y + size]);
    }
    pen.globalAlpha = 1;
    for (const [name, px, py, , named] of spots) {
      if (!named) continue;
      const wide = pen.measureText(name).width;
      const room = [[px + 9, py + 4], [px - 9 - wide, py + 4], [px - wide / 2, py - 9], [px - wide / 2, py + 18]].find(([lx, ly]) =>
        lx > 1 - side && lx + wide < map.clientWidth - side - 1 && taken.every((box) => lx > box[2] || lx + wide < box[0] || ly - 9 > box[3] || ly + 2 < box[1]));
      if (!room) continue;
      taken.push([room[0], room[1] - 9, room[0] + wide, room[1] + 2]);
      pen.lineWidth = 3; pen.strokeStyle = ink.paper; pen.strokeText(name, ...room);
      pen.fillStyle = ink.ink; pen.fillText(name, ...room);
    }
  };
  const cross = (pen, x, y, alpha, small) => {
    pen.globalAlpha = Math.max(alpha, 0); pen.lineWidth = 2.2; pen.strokeStyle = ink.full;
    const arm = 4.5 * small;
    pen.beginPath(); pen.moveTo(x - arm, y - arm); pen.lineTo(x + arm, y + arm); pen.moveTo(x - arm, y + arm); pen.lineTo(x + arm, y - arm); pen.stroke();
    pen.globalAlpha = 1;
  };

  const rate = (bits) => bits >= 1e9 ? (bits / 1e9).toPrecision(3) + " Gb/s" : bits >= 1e6 ? (bits / 1e6).toPrecision(3) + " Mb/s" : (bits / 1e3).toPrecision(3) + " kb/s";
  // Goodput is what came in order: a repaired gap makes a peak. Means over several steps are easier to read.
  const bins = 100, curves = {};
  let most = 1;
  for (const name of ["whole", "detail"]) {
    const { from, step, n } = about[name], size = Math.ceil(n / bins);
    curves[name] = about.groups.map((_, group) => Array.from({ length: Math.ceil(n / size) }, (_, bin) => {
      const [first, last] = [bin * size, Math.min((bin + 1) * size, n)];
      let sum = 0;
      for (let place = first; place < last; place += 1) sum += data[name + "Goodput"][group * n + place];
      const bits = sum / (last - first) / 65535 * about.goodput;
      most = Math.max(most, bits);
      return [from + (first + last) / 2 * step, bits];
    }));
  }
  const drawChart = () => {
    const high = 130, top = 14, base = high - 20;
    const [pen, wide] = fitted(chart, high);
    const side = 8, x = (at) => side + positionOf(at) * (wide - 2 * side);
    pen.fillStyle = ink.shade; pen.fillRect(x(about.from), 0, x(about.to) - x(about.from), base);
    pen.fillStyle = ink.cut;
    const cuts = new Set(about.down.map(([, from, to]) => from + " " + (to ?? about.stop)));
    for (const cut of cuts) { const [from, to] = cut.split(" ").map(Number); pen.fillRect(x(from), top, Math.max(x(to) - x(from), 1), base - top); }
    pen.font = "11px system-ui, sans-serif"; pen.fillStyle = ink.quiet;
    pen.fillText("goodput, maximum " + rate(most), side, 11);
    let free = -1e9;
    for (const [from, to, share] of ends) {
      if (share * wide < 30) continue;
      const step = nice((to - from) / Math.max(share * wide / 90, 1));
      for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + 1e-12; at += step) {
        const text = +at.toPrecision(9) + " s", half = pen.measureText(text).width / 2;
        pen.fillRect(x(at), base, 1, 4);
        const place = Math.min(Math.max(x(at) - half, 1), wide - 2 * half - 1);
        if (place > free) { pen.fillText(text, place, high - 4); free = place + 2 * half + 8; }
      }
    }
    about.groups.forEach((_, group) => {
      pen.strokeStyle = about.inks[group % about.inks.length]; pen.lineWidth = 1.5;
      for (const [name, from, to] of [["whole", 0, about.from], ["detail", about.from, about.to], ["whole", about.to, about.stop]]) {
        pen.beginPath();
        curves[name][group].filter(([at]) => at >= from && at <= to).forEach(([at, bits], place) => {
          const y = base - bits / most * (base - top);
          if (place) pen.lineTo(x(at), y); else pen.moveTo(x(at), y);
        });
        pen.stroke();
      }
    });
    pen.fillStyle = ink.node; for (const [at, kind] of about.events) if (kind === "path") pen.fillRect(x(at), top, 1, base - top);
    pen.fillStyle = ink.busy; for (const [at] of about.timeouts) pen.fillRect(x(at), base - 4, 1, 4);
    pen.strokeStyle = ink.ink; pen.lineWidth = 1.5; pen.beginPath(); pen.moveTo(x(now), 0); pen.lineTo(x(now), base); pen.stroke();
  };
  const nice = (raw) => { const ten = 10 ** Math.floor(Math.log10(raw)); return ten * [1, 2, 5, 10].find((one) => one * ten >= raw); };

  const list = byId("events"), rows = [];
  about.events.forEach(([at, kind, text]) => {
    const row = document.createElement("li"), button = document.createElement("button"), time = document.createElement("time");
    time.textContent = at.toFixed(digits) + " s "; button.append(time, text); button.type = "button"; button.className = kind;
    button.addEventListener("click", () => seek(at)); row.append(button); list.append(row); rows.push(button);
  });
  const slider = byId("time"), clock = byId("clock"), said = byId("now"), play = byId("play"), speed = byId("speed");
  let here = -2;
  const draw = () => {
    drawMap(); drawChart();
    slider.value = Math.round(positionOf(now) * 10000);
    clock.textContent = now.toFixed(digits) + " s";
    const place = firstAbove(about.events.map(([at]) => at), now) - 1;
    if (place !== here) {
      rows.forEach((row, index) => row.classList.toggle("here", index === place));
      if (place >= 0) list.scrollTop = rows[place].offsetTop - list.offsetTop - list.clientHeight / 2;
      said.textContent = place >= 0 ? about.events[place][2] : "";
      said.className = place >= 0 ? about.events[place][1] : "";
      here = place;
    }
  };
  let asked = false;
  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } };
  const seek = (at) => { now = Math.min(Math.max(at, 0), about.stop); redraw(); };
  const tick = (stamp) => {
    if (!playing) return;
    const passed = Math.min((stamp - before) / 1000, 0.1), factor = Number(speed.value);
    before = stamp;
    now = factor ? now + passed * factor : timeAt(Math.min(positionOf(now) + passed / 40, 1));
    if (now >= about.stop) { now = about.stop; toggle(false); }
    draw();
    requestAnimationFrame(tick);
  };
  const toggle = (on) => {
    playing = on;
    play.textContent = on ? "⏸" : "▶";
    play.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    if (now >= about.stop) now = 0;
    before = performance.now();
    requestAnimationFrame(tick);
  };
  const toEvent = (step) => {
    const times = about.events.map(([at]) => at);
    const found = step > 0 ? times.find((at) => at > now + 1e-12) : times.filter((at) => at < now - 1e-12).pop();
    if (found !== undefined) seek(found);
  };
  play.addEventListener("click", () => toggle(!playing));
  byId("back").addEventListener("click", () => toEvent(-1));
  byId("next").addEventListener("click", () => toEvent(1));
  slider.addEventListener("input", () => seek(timeAt(slider.value / 10000)));
  const drag = (event) => {
    const box = chart.getBoundingClientRect();
    seek(timeAt(Math.min(Math.max((event.clientX - box.left - 8) / (box.width - 16), 0), 1)));
  };
  chart.addEventListener("pointerdown", (event) => { chart.setPointerCapture(event.pointerId); drag(event); });
  chart.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
    const acts = { " ": () => toggle(!playing), n: () => toEvent(1), p: () => toEvent(-1), Home: () => seek(0), End: () => seek(about.stop),
      ArrowRight: () => seek(timeAt(Math.min(positionOf(now) + 0.002, 1))), ArrowLeft: () => seek(timeAt(Math.max(positionOf(now) - 0.002, 0))) };
    if (!acts[event.key] || (event.key === " " && event.target.tagName === "BUTTON")) return;
    event.preventDefault(); acts[event.key]();
  });
  const tip = byId("tip");
  map.addEventListener("pointerleave", () => { tip.hidden = true; });
  map.addEventListener("pointermove", (event) => {
    const box = map.getBoundingClientRect(), [small, , side] = sized();
    const [x, y] = [event.clientX - box.left - side, event.clientY - box.top];
    let nearest = -1, least = 9 * Math.min(small, 1);
    about.ports.forEach((_, place) => {
      const points = scene.route(place, now, now);
      lengths(points).forEach((long, step) => {
        const [[x1, y1], [x2, y2]] = [points[step], points[step + 1]];
        const part = Math.min(Math.max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / (long ** 2 || 1), 0), 1);
        const away = Math.hypot(x - x1 - part * (x2 - x1), y - y1 - part * (y2 - y1));
        if (away < least) { least = away; nearest = place; }
      });
    });
    tip.hidden = nearest < 0;
    if (nearest < 0) return;
    const [name, , , , , full, unit, limited, bits, fibre] = about.ports[nearest], shown = frame(), cell = nearest * shown.n + shown.at;
    const queue = (shown.queue[cell] / about.levels * full).toPrecision(3);
    tip.textContent = `${name}, ${rate(bits)}: ${Math.round(100 * shown.load[cell] / about.levels)} % utilisation` +
      (fibre ? "" : `\nqueue ${queue}${limited ? " of " + full : ""} ${unit}`) + (shown.lost[cell] ? `\ndropped: ${shown.lost[cell]}` : "") +
      (isDown[nearest] ? "\nfailed" : "");
    tip.style.left = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 4) + "px";
    tip.style.top = event.clientY + 14 + "px";
  });
  new ResizeObserver(redraw).observe(map);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { makeBlends(); redraw(); });
  const wanted = /^#t=([\d.e-]+)$/.exec(location.hash);
  makeBlends();
  seek(wanted ? Number(wanted[1]) : about.from);
  document.documentElement.dataset.ready = "1";
})();
