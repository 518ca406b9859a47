// A third feature: the points in space, the surface that they lie on, and the plane that parts them.

const THIRDS = { product: (x, y) => x * y, square: (x, y) => x * x + y * y };
const THIRD_WORDS = { product: "x₁·x₂", square: "x₁² + x₂²" };
const turned = { yaw: -0.6, pitch: 0.5 }; // by the mouse, both panes alike

const tuple = (values) => `(${values.map(short).join(", ")})`;
const weights_at = (at, ...moment) => ["w1", "w2", "w3"].map((name) => at(name, ...moment)).filter((value, i) => i < 2 || isFinite(value));
const third_of = (run) => (run?.choices.form === "lifted" ? THIRDS[run.choices.third] : null);

function row_of(run, row) {
  const x = [points.data.x[row], points.data.y[row]], third = third_of(run);
  return third ? [...x, third(...x)] : x;
}

// What stands beside a plane stands under it where there are two.
function place_beside() {
  for (const side of sides) {
    const beside = $(`beside_${side.name}`);
    if (lab.runs[1]) $("under").append(beside);
    else $(`now_${side.name}`).after(beside);
  }
}

// Space is drawn as a cube around the view and the heights of its points.
function space_of(run) {
  const { x, y, half } = lab.home, third = third_of(run);
  const heights = points.data.x.length ? Array.from(points.data.x, (_, i) => row_of(run, i)[2]) : [0];
  const low = Math.min(...heights), high = Math.max(...heights);
  const middle = (low + high) / 2, reach = 0.62 * (high - low) || 1;
  const unit = ([a, b, c]) => [(a - x) / half, (b - y) / half, (c - middle) / reach];
  return { x, y, half, middle, reach, third, unit };
}

function camera(canvas) {
  const { yaw, pitch } = turned, size = Math.min(canvas.width, canvas.height) * 0.27;
  const [s, c, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
  return ([a, b, h]) => {
    const across = a * c - b * s, away = a * s + b * c;
    const depth = away * cp - h * sp, scale = size * (4.5 / (4.5 + depth)); // what is near is larger
    return [canvas.width / 2 + across * scale, canvas.height * 0.48 - (h * cp + away * sp) * scale, depth];
  };
}

// Where a plane w·x + b = 0 cuts the cube: its corners, in turn.
function cut(plane) {
  const value = (p) => plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] + plane[3];
  const corners = [...Array(8).keys()].map((i) => [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1]);
  const found = [];
  for (let i = 0; i < 8; i++) {
    for (const bit of [1, 2, 4]) {
      const j = i | bit, from = value(corners[i]), to = value(corners[j]);
      if (j === i || from * to > 0 || from === to) continue;
      found.push(corners[i].map((v, axis) => v + (from / (from - to)) * (corners[j][axis] - v)));
    }
  }
  if (found.length < 3) return [];
  const centre = [0, 1, 2].map((axis) => found.reduce((sum, p) => sum + p[axis], 0) / found.length);
  const first = found[0].map((v, axis) => v - centre[axis]), normal = plane.slice(0, 3);
  const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  const second = cross(normal, first), dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const angle = (p) => { const d = p.map((v, axis) => v - centre[axis]); return Math.atan2(dot(d, second) / Math.hypot(...second), dot(d, first) / Math.hypot(...first)); };
  return found.sort((p, q) => angle(p) - angle(q));
}

function draw_space(side, run, { at, row }) {
  const canvas = $(`beside_${side.name}`).querySelector("canvas"), there = third_of(run);
  canvas.classList.toggle("shown", Boolean(there));
  if (!there || !lab.home) return;
  const ratio = window.devicePixelRatio || 1, { width, height } = canvas.getBoundingClientRect();
  if (!width) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d"), project = camera(canvas), space = space_of(run), { unit } = space;
  const { ink, faint, line: edge, hot, paper, positive, negative } = colours();
  const stroke = (path, colour, thick, closed) => {
    pen.beginPath();
    path.map(project).forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    if (closed) pen.closePath();
    pen.strokeStyle = colour;
    pen.lineWidth = thick * ratio;
    pen.stroke();
  };
  const on_surface = (a, b) => unit([space.x + a * space.half, space.y + b * space.half, space.third(space.x + a * space.half, space.y + b * space.half)]);
  const inside = (p) => p[2] >= -1.001 && p[2] <= 1.001;
  const surface = (path, colour, thick) => { // what leaves the cube is left out
    let piece = [];
    for (const p of [...path, [0, 0, 9]]) {
      if (inside(p)) piece.push(p);
      else { if (piece.length > 1) stroke(piece, colour, thick); piece = []; }
    }
  };
  const steps = Array.from({ length: 41 }, (_, i) => -1 + i / 20);
  const floor = [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]];
  stroke(floor, edge, 1, true);
  for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) stroke([[a, b, -1], [a, b, 1]], edge, 0.6);
  for (let i = 0; i <= 40; i += 5) {
    surface(steps.map((t) => on_surface(steps[i], t)), faint, 0.6);
    surface(steps.map((t) => on_surface(t, steps[i])), faint, 0.6);
  }
  draw_plane(pen, project, weights_at(at), at("b"), space, stroke, ink);
  const picture = side.curves.data.xs.length ? at("snapshot") : -1;
  if (picture > 0) side.curves.data.xs[picture].forEach((xs, i) => {
    const ys = side.curves.data.ys[picture][i];
    surface(Array.from(xs, (x, j) => unit([x, ys[j], space.third(x, ys[j])])).map((p) => (Math.abs(p[0]) > 1 || Math.abs(p[1]) > 1 ? [0, 0, 9] : p)), ink, 2.4);
  });
  const drawn = Array.from(points.data.x, (_, i) => ({ i, p: project(unit(row_of(run, i))) })).sort((p, q) => q.p[2] - p.p[2]);
  for (const { i, p: [x, y] } of drawn) draw_in_space(pen, x, y, points.data.label[i] === "+1", ratio * (points.data.x.length > 150 ? 3 : 5), { ink, hot, paper, positive, negative, now: i === row });
  pen.fillStyle = faint;
  pen.font = `${13 * ratio}px system-ui, sans-serif`;
  pen.textAlign = "center";
  for (const [p, words] of [[[0, -1.25, -1], "x₁"], [[1.25, 0, -1], "x₂"], [[-1, -1, 1.18], THIRD_WORDS[run.choices.third]]]) pen.fillText(words, ...project(p).slice(0, 2));
}

function draw_plane(pen, project, w, b, { x, y, half, middle, reach }, stroke, ink) {
  if (!w.some((value) => value !== 0)) return;
  const plane = [w[0] * half, w[1] * half, w[2] * reach, w[0] * x + w[1] * y + w[2] * middle + b];
  const corners = cut(plane);
  if (!corners.length) return;
  pen.beginPath();
  corners.map(project).forEach(([px, py], i) => (i ? pen.lineTo(px, py) : pen.moveTo(px, py)));
  pen.closePath();
  pen.globalAlpha = 0.22;
  pen.fillStyle = colours().w;
  pen.fill();
  pen.globalAlpha = 1;
  stroke(corners, colours().w, 1.6, true);
}

function draw_in_space(pen, x, y, plus, size, { ink, hot, positive, negative, now }) {
  pen.beginPath();
  if (plus) pen.rect(x - size, y - size, 2 * size, 2 * size);
  else pen.arc(x, y, 1.1 * size, 0, 7);
  pen.fillStyle = (plus ? positive : negative).line;
  pen.fill();
  pen.strokeStyle = now ? hot : ink;
  pen.lineWidth = now ? 0.7 * size : 0.2 * size;
  pen.stroke();
}

function turn_by_mouse(side) {
  const canvas = $(`beside_${side.name}`).querySelector("canvas");
  canvas.addEventListener("pointerdown", (event) => {
    const start = { ...turned };
    canvas.setPointerCapture(event.pointerId);
    const move = (now) => {
      turned.yaw = start.yaw + (now.clientX - event.clientX) / 120;
      turned.pitch = Math.max(-0.2, Math.min(1.5, start.pitch + (now.clientY - event.clientY) / 120));
      sides.forEach((one, i) => lab.runs[i]?.ending && draw_space(one, lab.runs[i], moment_of(one, lab.runs[i])));
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", move), { once: true });
  });
}
