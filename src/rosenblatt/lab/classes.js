// Three classes: the region of each, its weights, and what a mistake does to them.

const LABELS = ["+1", "-1", "3"];
const name_of = (number) => lab.classes?.[number] ?? String(number + 1);
const weights_of = (at, number, k) => [at(`w1_${number}`, k), at(`w2_${number}`, k), at(`b_${number}`, k)];

// The part of a polygon on which a·x + b·y + c is not below 0
function clipped(polygon, [a, b, c]) {
  const value = ([x, y]) => a * x + b * y + c, kept = [];
  polygon.forEach((here, i) => {
    const next = polygon[(i + 1) % polygon.length], v = value(here), u = value(next);
    if (v >= 0) kept.push(here);
    if (v >= 0 !== u >= 0) kept.push(here.map((from, axis) => from + ((next[axis] - from) * v) / (v - u)));
  });
  return kept;
}

function region_of(weights, number) {
  const { x, y, half } = lab.look ?? lab.home, reach = 4 * half;
  let polygon = [[x - reach, y - reach], [x + reach, y - reach], [x + reach, y + reach], [x - reach, y + reach]];
  weights.forEach((other, i) => {
    if (i !== number) polygon = clipped(polygon, weights[number].map((value, j) => value - other[j]));
  });
  return polygon;
}

function draw_classes(side, run, { k, at, row }) {
  const weights = LABELS.map((_, number) => weights_of(at, number)), sides_of = colours();
  const learnt = weights.some((one) => one.some((value) => value !== 0));
  const regions = learnt ? weights.map((_, number) => region_of(weights, number)) : [];
  const xs = regions.map((polygon) => polygon.map((place) => place[0])), ys = regions.map((polygon) => polygon.map((place) => place[1]));
  set("shade", side, { xs, ys, colour: [sides_of.positive.side, sides_of.negative.side, sides_of.third.side] });
  const closed = (values) => values.map((each) => [...each, each[0]]);
  set("edge", side, { xs: closed(xs), ys: closed(ys) });
  set("band", side, run.choices.multi_class === "ovr" ? line(...weights.map(own_line).filter(Boolean)) : line());
  const longest = Math.max(...weights.map(([a, b]) => Math.hypot(a, b))), scale = longest > 0 ? (0.6 * lab.home.half) / longest : 0;
  const shown = weights.map((one, number) => [one, number]).filter(([one]) => scale && Math.hypot(one[0], one[1]) > 0);
  const zeros = shown.map(() => 0);
  set("w", side, { x0: zeros, y0: zeros, x1: shown.map(([one]) => one[0] * scale), y1: shown.map(([one]) => one[1] * scale), text: shown.map(([, number]) => `w ${name_of(number)}`) });
  set("now", side, row >= 0 ? { x: [points.data.x[row]], y: [points.data.y[row]] } : NOTHING);
  for (const part of ["last", "ray", "arc", "angle", "grip"]) set(part, side, NOTHING);
  draw_alphas(side, run, k);
  draw_wrong(side, k);
  draw_held(side);
  $(`beside_${side.name}`).hidden = true;
  $(`now_${side.name}`).innerHTML = words_of_classes(run, { k, at, row, ...moment_of(side, run) });
  $(`title_${side.name}`).textContent = `three classes, ${{ argmax: "all at once", ovr: "one against the rest" }[run.choices.multi_class]} · ${title_of(run)}`;
}

// Where one class's own activation is 0
function own_line([a, b, c]) {
  const square = a * a + b * b, { x, y, half } = lab.look ?? lab.home, reach = (4 * half) / Math.sqrt(square);
  if (!square) return null;
  const off = (a * x + b * y + c) / square, foot = [x - off * a, y - off * b];
  return [[foot[0] - reach * b, foot[0] + reach * b], [foot[1] + reach * a, foot[1] - reach * a]];
}

function words_of_classes(run, { k, at, row, right, fresh, epoch, met, over }) {
  const state = `<p>${words_of_errors(at)} · J = ${short(at("loss"))}</p>${over ? `<p><b>${run.ending}</b></p>` : ""}`;
  if (!k && !right) return `<p><b>Start</b>: all weights are 0</p>${state}`;
  const label = name_of(LABELS.indexOf(points.data.label[row]));
  if (right) return `<p><b>${row_link(row, "Row")}: right, no change</b></p><p class="facts">epoch ${epoch}, ${label}, leads by ${short(met)}</p>${state}`;
  const x = pair(points.data.x[row], points.data.y[row]);
  const moved = (number, op) => {
    const before = weights_of(at, number, k - 1), now = weights_of(at, number);
    return number < 0 ? "" : `<p class="rule">w<sub>${name_of(number)}</sub> ← ${pair(...before)} ${op} ${x} = <b class="hot">${pair(...now)}</b></p>`;
  };
  const alone = run.choices.multi_class === "ovr";
  const problem = name_of(Math.max(at("towards"), at("away")));
  const test = alone ? `${problem} against the rest, activation ${short(at("activation"))}` : `${label} leads by ${short(at("activation"))} ≤ ${short(run.choices.margin)}`;
  const average = run.choices.solution === "average" ? `<p class="facts">drawn and written: the average so far</p>` : "";
  const rule = average || moved(at("towards"), "+") + moved(at("away"), "−");
  return `<p><b>Update ${grouped(k)}</b>, epoch ${at("epoch")}: ${row_link(row)}, ${label}; ${test}</p>${rule}${state}`;
}
