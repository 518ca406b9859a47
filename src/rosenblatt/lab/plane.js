// How the plane is looked at: its size and scale, zoom and pan, colours, and what a point is.

// One scale on both axes, so that angles are true

function fit(side) {
  const plot = model(`pane_${side.name}`);
  const width = plot.inner_width, height = plot.inner_height;
  const { x, y, half } = lab.look ?? lab.home ?? { x: 0, y: 0, half: 3 };
  if (!(width > 10 && height > 10)) return;
  const unit = (2 * half) / Math.min(width, height);
  lab.fitting = true; // these are no looks elsewhere
  plot.x_range.setv({ start: x - (unit * width) / 2, end: x + (unit * width) / 2 });
  plot.y_range.setv({ start: y - (unit * height) / 2, end: y + (unit * height) / 2 });
  lab.fitting = false;
  size_points(plot, Math.min(width, height));
}
const fit_all = () => sides.forEach(fit);

// Many points are smaller than few, and all grow with the plane.
function size_points(plot, side) {
  const count = points.data.x.length;
  const few = count <= 150 ? 10 : count <= 400 ? 7 : 5;
  const size = lab.size = Math.round(few * Math.min(Math.max(side / 500, 1), 4));
  const type = `${Math.round(Math.min(Math.max(side / 52, 12), 34))}px`; // read from the last row
  for (const axis of [...plot.below, ...plot.left]) put(axis, { major_label_text_font_size: type, axis_label_text_font_size: type });
  for (const drawn of plot.renderers) {
    const name = drawn.data_source?.name ?? "";
    if (drawn.glyph.text_font_size !== undefined) put(drawn.glyph, { text_font_size: { value: type } });
    if (name === "points") for (const glyph of [drawn.glyph, drawn.selection_glyph]) put(glyph, { size: { value: size } });
    if (name.startsWith("wrong_")) put(drawn.glyph, { size: { value: 1.7 * size } });
    if (name.startsWith("now_")) put(drawn.glyph, { size: { value: 2.6 * size } });
    if (name.startsWith("held_")) put(drawn.glyph, { size: { value: Math.max(0.6 * size, 3) } });
    if (name.startsWith("lit_")) put(drawn.glyph, { size: { value: 3.4 * size } });
  }
}

// The other pane follows; boundaries are asked for again where these do not reach.
function looked(side) {
  if (lab.fitting || !lab.view) return;
  const { x_range, y_range } = model(`pane_${side.name}`);
  const width = x_range.end - x_range.start, height = y_range.end - y_range.start;
  const middle = { x: (x_range.start + x_range.end) / 2, y: (y_range.start + y_range.end) / 2 };
  look({ ...middle, half: Math.min(width, height) / 2 });
}

function look(at) {
  lab.look = at;
  $("home").hidden = !at;
  clearTimeout(lab.looking);
  lab.looking = setTimeout(() => {
    fit_all();
    const { x, y, half } = at ?? lab.home;
    const away = Math.max(Math.abs(x - lab.view.x), Math.abs(y - lab.view.y)) + half;
    const curved = sides.some((side) => side.curves.data.xs.length);
    if (curved || away > 4 * lab.view.half) ask({ do: "edit", address: `${address_of_form()}&t=${lab.moment}`, view: at ?? lab.home });
  }, 200);
}

function pan_with_shift(side) {
  const plot = model(`pane_${side.name}`), box = $(`side_${side.name}`).querySelector(".plot");
  box.addEventListener("pointerdown", (event) => {
    if (!event.shiftKey) return;
    event.stopPropagation();
    const start = { ...(lab.look ?? lab.home) }, unit = (plot.x_range.end - plot.x_range.start) / plot.inner_width;
    const move = (now) => {
      lab.look = { ...start, x: start.x - (now.clientX - event.clientX) * unit, y: start.y + (now.clientY - event.clientY) * unit };
      fit_all();
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", () => { document.removeEventListener("pointermove", move); look(lab.look); }, { once: true });
  }, { capture: true });
}

// Light and dark, as the system is set

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const colours = () => facts.colours[dark.matches ? "dark" : "light"];

const put = (drawn, values) => drawn.setv(values, { sync: false }); // Python need not know

function paint() {
  for (const side of sides) paint_plot(model(`pane_${side.name}`));
  paint_plot(model("chart"));
  show(lab.moment);
}

function paint_plot(plot) {
  const { ink, faint, pale, line, paper, hot, w, wrong, negative, positive } = colours();
  const outlines = { edge: ink, band: ink, last: faint, ray: hot, arc: hot, proof: hot, now: hot, lit: hot, grip: w, points: ink, wrong, "": line };
  put(plot, { background_fill_color: paper, outline_line_color: line });
  const type = `${Math.round(0.74 * parseFloat(getComputedStyle(document.body).fontSize))}px`;
  if (plot.name === "chart") for (const axis of [...plot.below, ...plot.left]) put(axis, { major_label_text_font_size: type });
  for (const axis of [...plot.below, ...plot.left]) put(axis, { axis_line_color: line, major_tick_line_color: line, major_label_text_color: faint, axis_label_text_color: ink });
  for (const part of plot.center) {
    if (part.grid_line_color !== undefined) put(part, { grid_line_color: pale });
    if (!part.end?.size) continue; // else the arrow
    put(part, { line_color: { value: w } });
    put(part.end, { fill_color: { value: w }, line_color: { value: w } });
  }
  for (const { glyph, data_source } of plot.renderers) {
    const name = data_source.name ?? "", part = name.split("_")[0];
    if (outlines[part] && glyph.line_color !== undefined) put(glyph, { line_color: part ? { value: outlines[part] } : line });
    if (glyph.text_color !== undefined && part !== "names") put(glyph, { text_color: { value: { w, alpha: ink }[part] ?? hot } });
    if (part === "alpha" && glyph.fill_alpha) put(glyph, { fill_color: { value: faint } });
    if (part === "grip" || part === "held") put(glyph, { fill_color: { value: paper } });
    if (part === "curve") put(glyph, { line_color: !glyph.mode ? hot : name === "curve_a" ? ink : positive.line });
    if (glyph.color_mapper) put(glyph.color_mapper, { palette: [negative.side, paper, positive.side] });
  }
}

// Places of the plane and of the screen

function frame_of(side) {
  const view = Bokeh.index.find_one(model(`pane_${side.name}`)), { left, top } = view.el.getBoundingClientRect();
  return { left, top, ...view.frame, across: view.frame.x_scale, up: view.frame.y_scale };
}

function pixels_of(side, x, y) {
  const { left, top, across, up } = frame_of(side);
  return [left + across.compute(x), top + up.compute(y)];
}

function place_of(side, x, y) {
  const { left, top, across, up } = frame_of(side);
  return [across.invert(x - left), up.invert(y - top)];
}

// What the point under the mouse is

function tell_point(side, event) {
  const i = sides.indexOf(side);
  const from = (k) => {
    const [x, y] = pixels_of(side, points.data.x[k], points.data.y[k]);
    return Math.hypot(x - event.clientX, y - event.clientY);
  };
  let nearest = -1, least = 14;
  for (let k = 0; k < points.data.x.length; k++) if (from(k) < least) [nearest, least] = [k, from(k)];
  const tip = $("point");
  tip.hidden = nearest < 0;
  if (nearest < 0) return;
  tip.textContent = words_of_point(side, lab.runs[i], nearest);
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 6)}px`;
}

function words_of_point(side, run, row) {
  const x = [points.data.x[row], points.data.y[row]], label = points.data.label[row];
  const words = [`row ${row + 1}: ${pair(...x)}, y = ${label.replace("-", "−")}`];
  if (lab.many) return `row ${row + 1}: ${pair(...x)}, ${name_of(LABELS.indexOf(label))}`;
  const { k, at } = moment_of(side, run), alpha = `α = ${alphas(side, k).get(row) ?? 0}`;
  if (!isFinite(at("w1"))) return run?.ending && !run.units?.length ? `${words[0]} · ${alpha}` : words[0];
  const w = weights_at(at), activation = row_of(run, row).reduce((sum, value, i) => sum + w[i] * value, at("b")), length = Math.hypot(...w);
  const whose = run.choices.solution === "last" ? "" : " of the last weights";
  words.push(`activation${whose} ${short(activation)}`);
  if (length > 0) words.push(`${short((label === "+1" ? 1 : -1) * activation / length)} from the ${w.length > 2 ? "plane" : "line"} on the ${label === "+1" === activation > 0 ? "right" : "wrong"} side`);
  return [...words, alpha].join(" · ");
}

// Presenting: the plane, the rule and the player, and nothing else

function present() {
  document.body.classList.toggle("presenting");
  window.dispatchEvent(new Event("resize"));
}

function watch_planes() {
  for (const side of sides) {
    const plot = model(`pane_${side.name}`), box = $(`side_${side.name}`).querySelector(".plot");
    for (const size of ["inner_width", "inner_height"]) plot.connect(plot.properties[size].change, () => fit(side));
    for (const range of [plot.x_range, plot.y_range]) range.connect(range.properties.end.change, () => looked(side));
    box.addEventListener("pointermove", (event) => tell_point(side, event));
    box.addEventListener("pointerleave", () => { $("point").hidden = true; });
    pan_with_shift(side);
    drag_grips(side);
    turn_by_mouse(side);
  }
  dark.addEventListener("change", paint);
  paint();
}
