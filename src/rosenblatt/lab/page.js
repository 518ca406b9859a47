// Everything that is drawn was computed by the engine: this script picks a moment from the arrays,
// draws it, and asks for new arrays when points or settings change.

const $ = (id) => document.getElementById(id);
const form = $("choices");
const doc = exchange.document;
const model = (name) => doc.get_model_by_name(name);
const sides = [
  { name: "a", prefix: "", trace: trace_a, visits: visits_a, wrong: wrong_a, curves: curves_a, region: region_a },
  { name: "b", prefix: "b.", trace: trace_b, visits: visits_b, wrong: wrong_b, curves: curves_b, region: region_b },
];
const lab = {
  moment: 0, last: 0, runs: [null, null], // what is shown
  asked: 0, answered: 0, waiting: null, // the exchange with the engine
  csv: "", address: "", brush: "+1", stop: -1, timer: null, gesture: 0, sides,
};
window.lab = Object.assign(lab, { ask, show }); // for the tests

let editing = null;

// Asking and being answered

function ask(request) {
  if (facts.saved) return;
  if (lab.asked !== lab.answered) {
    lab.waiting = request; // the latest one counts
    if (performance.now() - lab.since > 1000) end_work();
    return;
  }
  lab.asked += 1;
  lab.since = performance.now();
  lab.opening = request.do !== "edit";
  document.body.setAttribute("aria-busy", "true");
  exchange.request = JSON.stringify({ number: lab.asked, ...request });
  clearTimeout(lab.silence);
  expect_word();
}

// A lab that works says so several times a second.
function expect_word() {
  clearTimeout(lab.silence);
  lab.silence = setTimeout(() => say("The lab does not answer; is rosenblatt lab still running?", true), 60_000);
}

function end_work() {
  exchange.ended = lab.asked;
}

function show_progress() {
  expect_word();
  const [words, share] = JSON.parse(exchange.progress);
  const done = lab.asked === lab.answered;
  $("work").hidden = done || performance.now() - lab.since < 400;
  $("work-words").textContent = `${words} …`;
  $("work-share").value = share;
}

function open_address(address) {
  ask({ do: "open", address });
}

function address_of_form() {
  const items = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (name !== "brush") items.set(name, value);
  if (items.get("data") === "points") {
    items.set("points", written_points());
    for (const name of ["columns", "classes"]) if (lab[name]?.length) items.set(name, lab[name].join(";"));
  }
  return items.toString().replaceAll("+", "%20");
}

function written_points() {
  const { x, y, label } = points.data;
  return Array.from(x, (value, i) => `${value},${y[i]},${{ "+1": "+", "-1": "-", 3: "*" }[label[i]]}`).join(";");
}

function answered() {
  const told = JSON.parse(exchange.answer);
  lab.answered = told.number ?? lab.asked;
  clearTimeout(lab.silence);
  $("work").hidden = true;
  const next = lab.waiting;
  lab.waiting = null;
  if (!next) say(told.message, told.failed);
  if (told.failed && !lab.opening && !next) take_back();
  else if (told.failed && !next) fill_form(lab.address);
  save_files(told.files);
  if (told.runs && !next && !(told.edited && editing)) receive(told); // else a newer one will come
  document.body.setAttribute("aria-busy", String(Boolean(next)));
  if (next) ask(next);
  else wish();
}

// Points that the engine refused go again, and those before come back.
function take_back() {
  if (!lab.accepted) return;
  points.data = lab.accepted;
  lab.accepted = copied_points();
  lab.written = written_points();
  fill_form(lab.address);
  show(lab.moment);
}

function receive(told) {
  clearTimeout(editing);
  editing = null;
  lab.runs = told.runs;
  lab.csv = told.csv;
  lab.view = told.view;
  if (!told.edited) look_home();
  lab.address = told.address;
  lab.written = written_points();
  lab.accepted = copied_points();
  lab.held = told.held;
  remember(told);
  show_names(told);
  const wanted = Number(new URLSearchParams(told.address).get("t") ?? 0);
  fill_form(told.address);
  count_ticks();
  $("side_b").hidden = $("now_b").hidden = $("second").hidden = !told.runs[1];
  if (!told.runs[1]) $("beside_b").hidden = true;
  place_beside();
  told.runs.forEach((run, i) => run && draw_proof(sides[i], run));
  draw_verdict();
  draw_curve();
  if (!$("lines").hidden) show_python();
  fit_all();
  show(Math.min(wanted, lab.last));
  lab.ready = told.number;
}

function look_home() {
  clearTimeout(lab.looking);
  lab.home = lab.view;
  lab.look = null;
  $("home").hidden = true;
}

function say(message, failed) {
  $("message").textContent = message ?? "";
  $("message").hidden = !message;
  $("message").classList.toggle("failed", Boolean(failed));
  clearTimeout(lab.saying);
  if (message && !failed) lab.saying = setTimeout(() => { $("message").hidden = true; }, 9000);
}

function fill_form(address) {
  form.reset();
  for (const [name, value] of new URLSearchParams(address.replaceAll("+", "%2B"))) {
    const field = form.elements[name];
    if (!field || name === "points") continue;
    if (field.type === "checkbox") field.checked = true;
    else field.value = value;
  }
  form.elements.brush.value = lab.brush;
  show_fitting_fields();
}

function show_fitting_fields() {
  const options = facts.options[form.elements.data.value] ?? [];
  for (const span of form.querySelectorAll(".of-set")) span.hidden = !options.includes(span.querySelector("input").name);
  for (const set of form.querySelectorAll(".settings")) {
    const kind = set.querySelector("[name$=form]").value;
    const kernel = set.querySelector("[name$=kernel]").value;
    for (const span of set.querySelectorAll("[data-forms]")) span.hidden = !span.dataset.forms.split(" ").includes(kind);
    set.querySelector("[name$=degree]").closest("span").hidden = kind !== "kernel" || kernel !== "poly";
    set.querySelector("[name$=gamma]").closest("span").hidden = kind !== "kernel" || kernel === "linear";
    const chosen = ([name, value]) => form.elements[set.dataset.side + name].value === value;
    const documents = Object.entries(facts.documents);
    set.querySelector(".document").value = documents.find(([, values]) => Object.entries(values).every(chosen))?.[0] ?? "";
  }
}

// Drawing a moment

function show(moment) {
  lab.moment = Math.max(0, Math.min(moment, lab.last));
  $("scrub").value = lab.moment;
  $("moment").textContent = `${grouped(lab.moment)} of ${grouped(lab.last)}`;
  model("cursor").location = Math.max(...sides.map((side, i) => (lab.runs[i] ? moment_of(side, lab.runs[i]).k : 0)));
  sides.forEach((side, i) => lab.runs[i] && draw(side, lab.runs[i]));
  share();
}

let sharing = null;
function share() {
  clearTimeout(sharing);
  sharing = setTimeout(() => {
    const items = new URLSearchParams(lab.address.replaceAll("+", "%2B"));
    for (const name of ["rows", "dual"]) form.elements[name].checked ? items.set(name, "on") : items.delete(name);
    if (lab.moment) items.set("t", lab.moment);
    else items.delete("t");
    if (facts.saved) return history.replaceState(null, "", `#t=${lab.moment}`);
    history.replaceState(null, "", "#" + items.toString().replaceAll("+", "%20").replaceAll("%2C", ",").replaceAll("%3B", ";").replaceAll("%2B", "+"));
  }, 150);
}

const set = (part, side, data) => { model(`${part}_${side.name}`).data = data; };
const NOTHING = { x: [], y: [], xs: [], ys: [], x0: [], y0: [], x1: [], y1: [], text: [], colour: [], size: [] };
const line = (...ends) => ({ xs: ends.map((end) => end[0]), ys: ends.map((end) => end[1]) });

function draw(side, run) {
  if (!side.trace.data.row) return clear(side, run);
  const now = moment_of(side, run), { k, at } = now;
  if (now.row >= points.data.x.length) return; // removed; a newer trace will come
  if (run.many) return draw_classes(side, run, now);
  const ends = (name) => [[at(`${name}_x0`), at(`${name}_x1`)], [at(`${name}_y0`), at(`${name}_y1`)]];
  const [x, y] = ends("s");
  const curve = side.curves.data.xs.length ? at("snapshot") : -1;
  const side_of = (sign) => {
    const fx = sign * at("s_fx"), fy = sign * at("s_fy");
    return [[...x, x[1] + fx, x[0] + fx], [...y, y[1] + fy, y[0] + fy]];
  };
  const straight = curve < 0 && isFinite(x[0]);
  const colour = [colours().positive.side, colours().negative.side];
  set("shade", side, straight ? { ...line(side_of(1), side_of(-1)), colour } : NOTHING);
  set("edge", side, curve >= 0 ? { xs: side.curves.data.xs[curve], ys: side.curves.data.ys[curve] } : straight ? line([x, y]) : line());
  if (curve >= 0) side.region.indices = [curve];
  const mx = at("m_x"), my = at("m_y");
  const shifted = (sign) => [x.map((v) => v + sign * mx), y.map((v) => v + sign * my)];
  set("band", side, straight && isFinite(mx) ? line(shifted(1), shifted(-1)) : line());
  draw_before(side, run, now);
  draw_example(side, now);
  draw_alphas(side, run, k);
  draw_grips(side);
  draw_wrong(side, k);
  draw_held(side);
  $(`beside_${side.name}`).hidden = !["lifted", "network"].includes(run.choices.form);
  draw_units(side, run, k);
  draw_space(side, run, now);
  $(`now_${side.name}`).innerHTML = words_of(side, run, now);
  $(`title_${side.name}`).textContent = title_of(run);
}

function clear(side, run) {
  for (const part of ["shade", "edge", "last", "band", "ray", "arc", "angle", "now", "wrong", "w", "alpha", "grip", "held", "units", "names"]) set(part, side, NOTHING);
  $(`now_${side.name}`).textContent = run.trouble;
  $(`beside_${side.name}`).hidden = true;
  $(`title_${side.name}`).textContent = title_of(run);
}

// The boundary before this update; where another solution is shown, the one of the last weights.
function draw_before(side, run, { k, at, right }) {
  const other = run.choices.solution !== "last";
  const j = other ? k : right ? -1 : k - 1;
  const there = j >= 0 && isFinite(at("l_x0", j));
  set("last", side, there ? line([[at("l_x0", j), at("l_x1", j)], [at("l_y0", j), at("l_y1", j)]]) : line());
}

// The example in use, its ray from the origin, w, and the angle between them.
function draw_example(side, { at, row, right }) {
  const w = [at("w1"), at("w2")], view = lab.view;
  const longest = Math.max(...(side.trace.data.norm ?? [0]));
  const length = Math.hypot(...w);
  const scale = length > 0 ? (0.25 + 0.45 * (length / longest)) * view.half / length : 0;
  const tip = { x0: [0], y0: [0], x1: [w[0] * scale], y1: [w[1] * scale], text: ["w"] };
  const flat = !isFinite(at("w3")); // else w points out of the plane
  set("w", side, scale && flat ? tip : NOTHING);
  if (!(row >= 0)) {
    set("now", side, NOTHING);
    set("ray", side, line());
    set("arc", side, line());
    set("angle", side, NOTHING);
    return;
  }
  const x = [points.data.x[row], points.data.y[row]];
  set("now", side, { x: [x[0]], y: [x[1]] });
  set("ray", side, flat ? line([[0, x[0]], [0, x[1]]]) : line());
  const from = Math.atan2(w[1], w[0]);
  let turn = Math.atan2(x[1], x[0]) - from;
  turn = Math.atan2(Math.sin(turn), Math.cos(turn));
  const radius = 0.16 * view.half;
  const arc = Array.from({ length: 25 }, (_, i) => from + (turn * i) / 24);
  const there = scale && flat && !right && isFinite(at("new_angle"));
  set("arc", side, there ? line([arc.map((a) => radius * Math.cos(a)), arc.map((a) => radius * Math.sin(a))]) : line());
  const text = [`${Math.round(at("new_angle"))}°`];
  const middle = { x: [1.5 * radius * Math.cos(arc[12])], y: [1.5 * radius * Math.sin(arc[12])], text };
  set("angle", side, there ? middle : NOTHING);
}

function draw_wrong(side, k) {
  const bits = side.wrong.data.bits, count = points.data.x.length, bytes = Math.ceil(count / 8);
  const x = [], y = [];
  for (let i = 0; i < count; i++) {
    if ((bits[k * bytes + (i >> 3)] >> (i & 7)) & 1) {
      x.push(points.data.x[i]);
      y.push(points.data.y[i]);
    }
  }
  set("wrong", side, { x, y });
}

function draw_proof(side, run) {
  const { x, y } = points.data;
  const straight = run.meeting && ["bias", "origin"].includes(run.choices.form);
  set("proof", side, straight ? line(...run.support.map((i) => [[x[i], run.meeting[0]], [y[i], run.meeting[1]]])) : line());
  set("meet", side, straight ? { x: [run.meeting[0]], y: [run.meeting[1]] } : { x: [], y: [] });
}

// Words and numbers

const short = (value) => {
  if (!isFinite(value)) return "–";
  const text = Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toPrecision(3) : String(Number(value.toFixed(3)));
  return text.replace("-", "−");
};
const precise = (value) => String(Number(value.toPrecision(7))); // enough to compute with
const grouped = (number) => number.toLocaleString("en");
const pair = (a, b) => `(${short(a)}, ${short(b)})`;
const signed = (value) => (value < 0 ? "− " : "+ ") + short(Math.abs(value));

function title_of(run) {
  const chosen = run.choices;
  if (chosen.form === "network") return `${chosen.growth} network · ${chosen.unit} units`;
  const form_words = { bias: "w·x + b", origin: "w·x", lifted: `w·(x₁, x₂, ${THIRD_WORDS[chosen.third]}) + b`, kernel: `${chosen.kernel} kernel` }[chosen.form];
  const more = [`order ${chosen.order}`, chosen.solution];
  if (chosen.margin > 0) more.push(`margin ${chosen.margin}`);
  if (chosen.form === "bias" && chosen.intercept_step === "radius") more.push("bias step R²");
  return `${form_words} · ${more.join(" · ")}`;
}

function words_of(side, run, now) {
  const { k, at, right, over } = now;
  if (run.units?.length) return words_of_unit(run, now);
  const time = at("mistakes");
  const done = over ? `<p><b>${run.ending}</b></p>` : "";
  const most = run.theorem ? `${grouped(time)} of at most ${grouped(run.theorem.bound)} mistakes · ` : "";
  const margin = isFinite(at("margin")) ? ` · margin ${short(at("margin"))}` : "";
  const state = `${most}${words_of_errors(at)} · J = ${short(at("loss"))}${margin}`;
  const kernel = run.choices.form === "kernel";
  let said = right ? right_row(run, now) : kernel ? k && rule_of_alpha(side, run, k, at) : k && rule_of(run, k, at);
  if (!said) said = `<p><b>Start</b>: ${start_words(run, at)}</p>`;
  return `${said}${words_of_alphas(side, run, k, at)}<p>${state}${shown_answer(run, k, at)}</p>${done}`;
}

function start_words(run, at) {
  if (run.choices.form === "kernel") return "α = 0 for every row, f = 0";
  const b = run.choices.form !== "origin" ? `, b = ${short(at("b"))}` : "";
  return `w = ${tuple(weights_at(at))}${b}${run.choices.start ? ". Drag the dots: where w begins, and its tip." : ""}`;
}

// A row that was right: nothing changes.
function right_row(run, { row, epoch, met }) {
  const sum = { origin: "w·x", kernel: "f(x)" }[run.choices.form] ?? "(w·x + b)";
  const y = points.data.label[row].replace("-", "−"), need = `${short(run.choices.margin)}`;
  return `<p><b>${row_link(row, "Row")}: right, no change</b></p>
    <p class="facts">epoch ${epoch}, y = ${y}, y·${sum} = ${short(met)} ${met > run.choices.margin ? ">" : "≥"} ${need}</p>`;
}

function shown_answer(run, k, at) {
  const drawn = at("pictured"), late = drawn < k ? `, drawn after update ${grouped(drawn)}` : "";
  if (run.choices.solution === "last") return late && ` · the curve${late.slice(1)}`;
  const dashed = run.choices.form === "kernel" ? "" : ", dashed: the last weights";
  return ` · bold: the ${run.choices.solution}${late || " so far"}${dashed}`;
}

function rule_of(run, k, at) {
  const row = at("row"), sign = points.data.label[row], eta = run.choices.eta0;
  const x = row_of(run, row);
  const biased = run.choices.form !== "origin";
  const y = sign === "+1" ? 1 : -1;
  const rate = eta === 1 ? "" : `${short(eta)}·`;
  const op = y > 0 ? "+" : "−";
  const before = `y·(w·x${biased ? " + b" : ""}) = ${short(y * at("activation"))} ≤ ${short(run.choices.margin)}`;
  const old = tuple(weights_at(at, k - 1)), left = tuple(weights_at(at));
  const added = `${op} ${rate}${tuple(x)}`;
  const weights = `w ← w ${op} ${rate ? "η·" : ""}x = ${old} ${added} = <b class="hot">${left}</b>`;
  const moved = at("b") - at("b", k - 1);
  const bias = biased ? `; b ← ${short(at("b", k - 1))} ${signed(moved)} = <b class="hot">${short(at("b"))}</b>` : "";
  const degrees = (name) => (isFinite(at(name)) ? `${at(name).toFixed(1)}°` : "none, as w = 0");
  const angle = `∠(w, x): ${degrees("angle")} → ${degrees("new_angle")}`;
  const where = `epoch ${at("epoch")}: ${row_link(row)}, y = ${sign.replace("-", "−")}`;
  return `<p><b>Update ${grouped(k)}</b>, ${where}, ${before}</p>
    <p class="rule">${weights}${bias}</p><p class="facts">${angle}</p>`;
}

function draw_verdict() {
  const box = $("verdict");
  box.replaceChildren();
  const [sentence, detail, separable] = lab.runs[0].verdict;
  box.className = separable === true ? "" : separable === false ? "no" : "unknown";
  const add = (text) => {
    const p = document.createElement("p");
    p.textContent = text;
    p.innerHTML = p.innerHTML.replace(/row (\d+)/g, (_, number) => row_link(number - 1));
    box.append(p);
  };
  add(sentence);
  add(detail);
  const both = lab.runs.filter((run) => run?.ending);
  const bounds = new Set(both.map((run) => run.theorem?.bound));
  both.forEach((run, i) => {
    const name = lab.runs[1] ? ["Left: ", "Right: "][i] : "";
    if (run.theorem && !(i && bounds.size === 1)) {
      const coordinate = run.choices.form !== "origin" ? ", the bias counted as a coordinate" : "";
      const { radius, margin, bound } = run.theorem;
      const symbols = coordinate ? "(R̃/γ̃)²" : "(R/γ)²"; // of longer rows, and not those of the verdict
      const square = `${symbols} = (${precise(radius)}/${precise(margin)})² = ${grouped(bound)}`;
      const whose = bounds.size > 1 ? name : "";
      add(`${whose}At most ${square} mistakes in any order${coordinate}.`);
    }
    add(name + run.ending);
  });
}

function draw_curve() {
  const what = $("curve").value;
  sides.forEach((side, i) => {
    const columns = side.trace.data, there = lab.runs[i] && columns[what];
    const v = there ? Array.from(columns[what]) : [];
    const limits = what === "length" && there && columns.low && lab.runs[i].theorem;
    const limit = (values) => (limits ? Array.from(values) : v.map(() => NaN));
    const held = what === "errors" && there && lab.held?.length && columns.held_errors;
    const data = { t: v.map((_, k) => k), v, low: limit(columns.low), high: held ? Array.from(held) : limit(columns.high) };
    model(`curve_${side.name}`).data = data;
  });
}

// The tour

function visit(number) {
  lab.stop = number;
  const stop = facts.tour[number];
  $("tour").hidden = !stop;
  if (!stop) return;
  $("tour-title").textContent = `${number + 1} of ${facts.tour.length} · ${stop.title}`;
  $("tour-document").textContent = `Document ${stop.document}`;
  $("tour-text").textContent = stop.text;
  $("tour-ways").replaceChildren(...stop.ways.map(([words, address]) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: words, onclick: () => open_address(address) });
    return button;
  }));
  $("curve").value = stop.curve;
  $("tour-back").disabled = number === 0;
  $("tour-next").textContent = number + 1 === facts.tour.length ? "Finish" : "Next ›";
  pause();
  open_address(stop.address);
}

// What the visitor does

points.connect(points.properties.data.change, edited);
points.connect(points.patching, edited);
points.connect(points.streaming, edited);
points.connect(points.selected.change, show_selection);

function edited() {
  const { x, y, label } = points.data;
  if (Array.from(label).some((sign) => !LABELS.includes(sign))) { // a new point, just placed
    points.data = { x, y, label: Array.from(label, (sign) => (LABELS.includes(sign) ? sign : lab.brush)) };
    return;
  }
  if (lab.opening && lab.asked !== lab.answered) return; // these come from the engine
  if (settle()) return;
  clearTimeout(editing);
  editing = setTimeout(() => {
    editing = null;
    if (lab.written === written_points()) return;
    lab.written = written_points();
    form.elements.data.value = "points";
    ask({ do: "edit", address: `${address_of_form()}&t=${lab.moment}`, view: lab.look ?? lab.home });
  }, 90);
}

// Bokeh's tool changes the arrays themselves.
function copied_points() {
  const { x, y, label } = points.data;
  return { x: Array.from(x), y: Array.from(y), label: Array.from(label) };
}

function change_points(change) {
  const data = copied_points();
  change(data);
  points.selected.indices = [];
  points.data = data;
  edited();
}

function remove_selected() {
  const gone = new Set(points.selected.indices);
  if (gone.size) change_points((data) => { for (const name of Object.keys(data)) data[name] = data[name].filter((_, i) => !gone.has(i)); });
}

function place_by_numbers() {
  change_points((data) => {
    data.x.push(Number($("place_x").value));
    data.y.push(Number($("place_y").value));
    data.label.push(lab.brush);
  });
}

function choose_brush(label) {
  lab.brush = label;
  form.elements.brush.value = label;
}

$("brush").addEventListener("change", (event) => event.target.name === "brush" && choose_brush(event.target.value));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", (event) => {
  const field = event.target;
  if (field.id === "file") return load(field.files[0]);
  if (field.closest("#columns")) return choose_columns();
  if (field.classList.contains("document")) {
    const prefix = field.closest(".settings").dataset.side;
    for (const [name, value] of Object.entries(facts.documents[field.value] ?? {})) form.elements[prefix + name].value = value;
  } else if (!field.name) return;
  pause();
  show_fitting_fields();
  open_address(address_of_form());
});
$("message").addEventListener("click", () => say(""));
form.elements.rows.addEventListener("change", change_scale);
form.elements.dual.addEventListener("change", () => show(lab.moment));
$("curve").addEventListener("change", draw_curve);
$("scrub").addEventListener("input", () => { pause(); show(Number($("scrub").value)); });
$("speed").addEventListener("change", () => { if (lab.timer) { pause(); play(); } });
const clicks = {
  "start": () => step(-Infinity), "back": () => step(-1), "play": toggle, "forward": () => step(1), "end": () => step(Infinity),
  "remove": remove_selected, "flip": flip_selected, "undo": () => travel(-1), "redo": () => travel(1), "work-end": end_work, "home": () => look(null), "present": present, "try": try_a_line,
  "place": place_by_numbers,
  "save-python": show_python, "save-csv": () => save("points.csv", "text/csv", lab.csv),
  "save-png": () => save_figure("png"), "save-svg": () => save_figure("svg"),
  "save-animation": () => { say("The animation is being made; this takes some seconds."); ask({ do: "animate" }); },
  "copy-link": copy_link, "save-page": save_page, "copy-python": () => copy($("python").value, $("copy-python")),
  "tour-start": () => visit(0), "tour-back": () => visit(lab.stop - 1), "tour-next": () => visit(lab.stop + 1), "tour-end": () => visit(-1),
};
for (const [id, action] of Object.entries(clicks)) $(id).addEventListener("click", action);

document.addEventListener("keydown", (event) => {
  const within = (kinds) => event.target.closest?.(kinds);
  const text = "input:not([type=range]):not([type=radio]):not([type=checkbox]), select, textarea";
  if (within(text) || (event.key === " " && within("button, input:not([type=range]), summary"))) return;
  if (event.key.startsWith("Arrow") && within("[type=radio]")) return; // they choose there
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    return travel(event.shiftKey ? 1 : -1);
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1),
    Home: () => step(-Infinity), End: () => step(Infinity),
    1: () => choose_brush("+1"), 2: () => choose_brush("-1"), Delete: remove_selected, x: flip_selected, X: flip_selected, f: present, F: present,
  };
  if (event.key === "Escape" && document.body.classList.contains("presenting")) return present();
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
    if (kind === "drop") load(event.dataTransfer.files[0]);
  });
}
window.addEventListener("hashchange", () => open_address(location.hash.slice(1)));
exchange.connect(exchange.properties.answer.change, answered);
exchange.connect(exchange.properties.progress.change, show_progress);
watch_planes();
if (facts.saved) open_saved();
else open_address(location.hash.slice(1) || facts.start);
