// A line drawn by hand, from which the perceptron starts: w from a point of the line, by its ends.

const numbers_of = (text) => (text ? text.split(",").map(Number) : null);
const started = (side) => (["bias", "origin"].includes(form.elements[side.prefix + "form"].value) ? numbers_of(form.elements[side.prefix + "start"].value) : null);

// Where w is drawn from: where it was taken hold of, or the point of the line nearest to the middle.
function foot_of(side, [w1, w2, b]) {
  const square = w1 * w1 + w2 * w2, { x, y, half } = lab.home, held = side.foot;
  const off = ([px, py]) => (w1 * px + w2 * py + b) / square;
  if (form.elements[side.prefix + "form"].value === "origin") return [0, 0];
  if (held && Math.abs(off(held)) * Math.sqrt(square) < 0.01 * half) return held;
  return [x - off([x, y]) * w1, y - off([x, y]) * w2];
}

function grips(side) {
  const start = lab.moment === 0 && lab.home && started(side);
  if (!start || !(Math.hypot(start[0], start[1]) > 0)) return null;
  const foot = foot_of(side, start), length = Math.hypot(start[0], start[1]);
  const shown = Math.min(Math.max(length, 0.12 * lab.home.half), 1.2 * lab.home.half) / length;
  return [foot, [foot[0] + start[0] * shown, foot[1] + start[1] * shown]];
}

function draw_grips(side) {
  const found = grips(side);
  $("try").setAttribute("aria-pressed", String(sides.some((one) => started(one))));
  if (found) {
    const [[x0, y0], [x1, y1]] = found;
    set("w", side, { x0: [x0], y0: [y0], x1: [x1], y1: [y1], text: ["w"] });
  }
  set("grip", side, found ? { x: found.map((one) => one[0]), y: found.map((one) => one[1]) } : NOTHING);
}

// While the line is dragged, the engine is asked for as many of its places as it can answer.
function begin_with(side, start) {
  if (facts.saved) return;
  const text = start ? start.map((value) => Number(value.toPrecision(4))).join(",") : "";
  lab.wishes = { ...lab.wishes, [side.prefix + "start"]: text };
  if (lab.asked === lab.answered) wish();
}

function wish() {
  if (!lab.wishes) return;
  for (const [name, text] of Object.entries(lab.wishes)) form.elements[name].value = text;
  lab.wishes = null;
  sides.forEach((side, i) => lab.runs[i]?.ending && draw_grips(side));
  ask({ do: "edit", address: address_of_form(), view: lab.look ?? lab.home });
}

function try_a_line() {
  pause();
  show(0);
  const on = sides.some((side, i) => lab.runs[i] && started(side)), { x, half } = lab.home;
  for (const [i, side] of sides.entries()) {
    side.foot = null;
    if (lab.runs[i]) begin_with(side, on ? null : [0.4 * half, 0, -0.4 * half * x]);
  }
}

function drag_grips(side) {
  const box = $(`side_${side.name}`).querySelector(".plot");
  box.addEventListener("pointerdown", (event) => {
    const near = (place) => Math.hypot(...pixels_of(side, ...place).map((at, i) => at - [event.clientX, event.clientY][i])) < 18;
    const found = grips(side), which = found ? found.findLastIndex(near) : -1;
    if (which < 0 || event.shiftKey) return;
    event.stopPropagation();
    event.preventDefault();
    const fixed = form.elements[side.prefix + "form"].value === "origin";
    const move = (now) => {
      const at = place_of(side, now.clientX, now.clientY);
      const [w1, w2] = started(side), foot = which || fixed ? found[0] : at;
      const w = which || fixed ? [at[0] - foot[0], at[1] - foot[1]] : [w1, w2];
      side.foot = foot;
      begin_with(side, [...w, fixed ? 0 : -(w[0] * foot[0] + w[1] * foot[1])]);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", () => document.removeEventListener("pointermove", move), { once: true });
  }, { capture: true });
}
