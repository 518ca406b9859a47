// Points: what is said of one, and what is done to some.

const row_link = (row, word = "row") => `<span class="row" tabindex="0" data-row="${row}">${word} ${row + 1}</span>`;

// A row that is spoken of lights up when its words are touched.
function light(event) {
  const row = event.target.closest?.("[data-row]")?.dataset.row;
  const there = row !== undefined && row < points.data.x.length;
  const at = there ? { x: [points.data.x[row]], y: [points.data.y[row]] } : NOTHING;
  if (there || lab.lit) for (const side of sides) set("lit", side, at);
  lab.lit = there;
}
for (const kind of ["pointerover", "focusin", "pointerdown"]) document.addEventListener(kind, light);

// A point that was placed or dragged lies where the screen can show it, or on a grid.

function rounding() {
  const plot = model("pane_a"), pixel = (plot.x_range.end - plot.x_range.start) / plot.inner_width;
  if (!$("snap").checked) return 10 ** Math.round(Math.log10(pixel));
  const tens = 10 ** Math.floor(Math.log10(20 * pixel));
  return tens * [1, 2, 5, 10].find((times) => times * tens >= 20 * pixel);
}

let before = null; // the points when the mouse went down on a plane
let pressed = false;

function settle() {
  if (!before || pressed || points.data.x.length < before.x.length) return false;
  const data = copied_points(), step = rounding(), digits = Math.max(0, Math.ceil(-Math.log10(step)));
  let moved = false;
  data.x.forEach((_, i) => {
    if (data.x[i] === before.x[i] && data.y[i] === before.y[i]) return;
    for (const axis of ["x", "y"]) data[axis][i] = Number((Math.round(data[axis][i] / step) * step).toFixed(digits));
    moved = true;
  });
  if (!moved) return false;
  before = null;
  points.data = data;
  return true;
}

document.addEventListener("pointerdown", (event) => {
  lab.gesture += 1;
  pressed = Boolean(event.target.closest?.(".pane"));
  before = pressed ? copied_points() : null;
}, { capture: true });
for (const kind of ["pointerup", "pointercancel"]) {
  document.addEventListener(kind, () => {
    pressed = false;
    settle();
    setTimeout(() => { if (!pressed) before = null; }, 500); // a tap is told a little later
  }, { capture: true });
}

// Of the selected points

function flip_selected() {
  const chosen = [...points.selected.indices];
  if (!chosen.length) return;
  change_points((data) => { for (const i of chosen) data.label[i] = LABELS[(LABELS.indexOf(data.label[i]) + 1) % (lab.many ? 3 : 2)]; });
  points.selected.indices = chosen;
}

function show_selection() {
  for (const id of ["remove", "flip"]) $(id).hidden = !points.selected.indices.length;
}

// What was there before, and after

const MOST_STEPS = 200;
const past = { steps: [], at: -1 };

function bare(address) {
  const items = new URLSearchParams(address.replaceAll("+", "%2B"));
  for (const name of ["t", "rows", "dual"]) items.delete(name);
  return items.toString().replaceAll("+", "%20");
}

// One gesture is one step, however often the engine was asked meanwhile.
function remember(told) {
  const address = bare(told.address), here = past.steps[past.at];
  if (address !== here?.address) {
    const same = told.edited && here?.gesture === lab.gesture && past.at > 0;
    past.steps.splice(same ? past.at : past.at + 1, Infinity, { address, gesture: lab.gesture });
    past.steps = past.steps.slice(-MOST_STEPS);
    past.at = past.steps.length - 1;
  }
  $("undo").disabled = past.at <= 0;
  $("redo").disabled = past.at >= past.steps.length - 1;
}

function travel(by) {
  const there = past.steps[past.at + by];
  if (!there) return;
  pause();
  past.at += by;
  lab.gesture += 1;
  const kept = ["rows", "dual"].filter((name) => form.elements[name].checked).map((name) => `&${name}=on`);
  open_address(`${there.address}${kept.join("")}&t=${lab.moment}`);
}

// Points that are held out are hollow, and counted apart.

function draw_held(side) {
  const held = lab.held ?? [];
  set("held", side, { x: held.map((i) => points.data.x[i]), y: held.map((i) => points.data.y[i]) });
}

function words_of_errors(at) {
  const held = lab.held?.length ?? 0, learnt = points.data.x.length - held;
  if (!held) return `${at("errors")} of ${learnt} points misclassified`;
  const share = (wrong, of) => `${wrong} of ${of} (${Math.round((100 * wrong) / of)} %)`;
  return `misclassified ${share(at("errors"), learnt)}, held out ${share(at("held_errors"), held)}`;
}
