// Sentences and numbers: what the page says about a moment, a run and its points.

import { toNumber } from "./exact.js";
import { translate } from "./languages.js";
import { findRepeat, MOST_UPDATES, rowsAt } from "./trace.js";
import { SETTINGS } from "./state.js";

/** A number in few digits. */
export function short(value) {
	if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
	const size = Math.abs(value);
	const text = size >= 1e5 || (size && size < 1e-3) ? value.toPrecision(3) : String(Number(value.toFixed(3)));
	return text.replace("-", "−");
}

export const grouped = (value) => value.toLocaleString("en");
const tuple = (values) => `(${Array.from(values, short).join(", ")})`;
const signed = (value) => `${value < 0 ? "−" : "+"} ${short(Math.abs(value))}`;
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);

/** A number with the formula that a pointer on it shows. */
const num = (text, formula) => `<span class="num" data-formula="${escape(formula)}">${text}</span>`;

/** A mention of a point, which lights it up. */
const rowLink = (row, word = "row") => `<span class="row" tabindex="0" data-row="${row}">${word} ${row + 1}</span>`;

/** Names of the classes. */
export const nameOfClass = (kind, kinds, classes) => classes[kind] || (kinds > 2 ? `class ${kind + 1}` : kind ? "−1" : "+1");

/** What a run is, or with another beside it how it differs. */
export function titleOf(settings, other = null) {
	const choice = (name) => translate(SETTINGS[name].choices?.[settings[name]] ?? settings[name]);
	if (other) {
		const names = Object.keys(SETTINGS).filter((name) => settings[name] !== other[name] && SETTINGS[name].forms.includes(settings.form));
		if (!names.length) return translate("The same settings");
		return names.map((name) => (["form", "kernel"].includes(name) ? choice(name) : `${translate(SETTINGS[name].words)}: ${choice(name)}`)).join(" · ");
	}
	if (settings.form === "network") return "A network that grows";
	const form = {
		bias: "w·x + b", origin: "w·x, through the origin", lifted: `w·(x₁, x₂, ${choice("third")}) + b`,
		kernel: { linear: "Dual form of a line", rbf: `${translate("Gaussian kernel")}, γ = ${short(settings.gamma)}`, poly: `Kernel (${settings.gamma === 1 ? "" : `${short(settings.gamma)} `}x·x′ + 1)${superscript(settings.degree)}`, sigmoid: "Sigmoid kernel" }[settings.kernel],
	}[settings.form];
	const more = [`${translate("order")}: ${choice("order")}`];
	if (settings.solution !== "last") more.push(choice("solution"));
	if (settings.margin > 0) more.push(`${translate("margin")} ${short(settings.margin)}`);
	if (settings.intercept_step === "radius" && settings.form !== "origin") more.push(translate("bias step R²"));
	if (settings.eta0 !== 1 && settings.form !== "kernel") more.push(`η = ${short(settings.eta0)}`);
	return `${translate(form)} · ${more.join(" · ")}`;
}

const superscript = (number) => String(number).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
const subscript = (number) => String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);

// A moment

/** What happened at a moment: `now` has k, row (of a visit), isRight, met, measured. */
export function sayMoment(run, now, context) {
	if (!run.trace) return `<p class="trouble">${escape(run.trouble)}</p>`;
	const parts = [];
	if (run.trace.kind === "network") parts.push(sayUnit(run, now.k));
	else if (now.isRight) parts.push(sayRight(run, now));
	else if (!now.k) parts.push(sayStart(run));
	else if (run.trace.batches) parts.push(sayBatch(run, now.k));
	else if (run.kinds > 2) parts.push(sayClasses(run, now.k, context.classes));
	else if (run.trace.kind === "kernel") parts.push(sayAlpha(run, now.k));
	else parts.push(sayUpdate(run, now.k));
	if (context.isDual && run.trace.kind === "linear" && run.kinds < 3 && run.settings.form !== "lifted") parts.push(saySum(run, now.k));
	parts.push(sayState(run, now));
	return parts.join("");
}

function sayStart(run) {
	if (run.trace.kind === "kernel") return "<p><b>Start</b>: α = 0 for every row, so f = 0 everywhere.</p>";
	if (run.kinds > 2) return "<p><b>Start</b>: the weights of all three classes are 0.</p>";
	const { weights, bias } = run.trace.lines, b = run.settings.form === "origin" ? "" : `, b = ${short(bias[0][0])}`;
	return `<p><b>Start</b>: w = ${tuple(weights[0])}${b}.${run.settings.start ? " Drag the two circles: where w begins, and its tip." : ""}</p>`;
}

function sayRight(run, { k, row, epoch, met }) {
	const [, , kind] = run.points[row], need = run.settings.margin, y = kind ? "−1" : "+1";
	const sum = { origin: "w·x", kernel: "f(x)" }[run.settings.form] ?? "(w·x + b)";
	if (run.trace.batches?.[k + 1] && run.rowsOf(k + 1).includes(row)) return `<p><b>${rowLink(row, "Row")}: a mistake</b>, added with the others at the end of epoch ${epoch}</p>`;
	if (run.kinds > 2) return `<p><b>${rowLink(row, "Row")}: right, no change</b> (epoch ${epoch})</p>`;
	return `<p><b>${rowLink(row, "Row")}: right, no change</b></p><p class="facts">epoch ${epoch}, y = ${y}, y·${sum} = ${num(short(met), `the label times the activation of row ${row + 1}`)} ${met > need ? "&gt;" : "≥"} ${short(need)}</p>`;
}

function sayUpdate(run, k) {
	const { trace, settings } = run, row = run.rowOf(k), place = trace.row[k], x = trace.X[place], y = trace.y[place];
	const { weights, bias } = trace.lines, eta = settings.eta0, isBiased = settings.form !== "origin";
	const op = y > 0 ? "+" : "−", rate = eta === 1 ? "" : `${short(eta)}·`, before = y * trace.activation[k];
	const sum = isBiased ? "(w·x + b)" : "w·x", step = trace.interceptStep;
	const square = x.reduce((total, value) => total + value * value, 0), rise = eta * (square + step);
	const moved = isBiased ? `; b ← ${short(bias[k - 1][0])} ${signed(bias[k][0] - bias[k - 1][0])} = <b class="new">${short(bias[k][0])}</b>` : "";
	const [angle, turned] = [k - 1, k].map((moment) => angleOf(weights[moment], x));
	const degrees = (value) => (Number.isFinite(value) ? `${value.toFixed(1)}°` : "none, as w = 0");
	const rises = step === 1 ? "‖x‖² + 1" : step ? "‖x‖² + R²" : "‖x‖²";
	return `<p><b>Update ${grouped(k)}</b>, epoch ${grouped(trace.epoch[k])}: ${rowLink(row)}, y = ${y > 0 ? "+1" : "−1"}, a mistake: y·${sum} = ${num(short(before), `y times the activation of row ${row + 1} before the update: ${y > 0 ? "" : "−"}(${tuple(weights[k - 1])}·${tuple(x)}${isBiased ? ` ${signed(bias[k - 1][0])}` : ""})`)} ≤ ${short(settings.margin)}</p>
<p class="rule">w ← w ${op} ${eta === 1 ? "" : "η·"}x = ${tuple(weights[k - 1])} ${op} ${rate}${tuple(x)} = <b class="new">${tuple(weights[k])}</b>${moved}</p>
<p class="facts angles">y·${sum}: ${short(before)} → ${num(short(before + rise), "the same activation after the update")}, a rise of ${num(short(rise), `${eta === 1 ? "" : "η·"}(${rises}) = ${rate}(${short(square)} + ${short(step)})`)} · ∠(w, x): ${num(degrees(angle), "arccos of w·x / (‖w‖‖x‖) before the update")} → ${num(degrees(turned), "arccos of w·x / (‖w‖‖x‖) after the update")}</p>`;
}

/** One update by all mistakes of a pass. */
function sayBatch(run, k) {
	const { trace, settings } = run, rows = run.rowsOf(k), { weights, bias } = trace.lines, eta = settings.eta0 === 1 ? "" : "η·";
	const shown = rows.slice(0, 8).map((row, i) => rowLink(row, i ? "" : "row")).join(", ") + (rows.length > 8 ? ", …" : "");
	const head = `<p><b>Update ${grouped(k)}</b>, epoch ${grouped(trace.epoch[k])}: ${num(plural(rows.length, "mistake"), "rows that the weights before this update get wrong")} of one pass, added at once (${shown})</p>`;
	if (run.kinds > 2) return `${head}<p class="rule">Each adds ${eta}x to its class and takes it from the best other one.</p>`;
	const sum = Array.from(weights[k], (value, j) => value - weights[k - 1][j]);
	const moved = settings.form === "origin" ? "" : `; b ← ${short(bias[k - 1][0])} ${signed(bias[k][0] - bias[k - 1][0])} = <b class="new">${short(bias[k][0])}</b>`;
	return `${head}<p class="rule">w ← w + ${eta}Σ y·x = ${tuple(weights[k - 1])} + ${tuple(sum)} = <b class="new">${tuple(weights[k])}</b>${moved}</p>`;
}

/** The angle between two vectors in degrees; NaN where one is zero. */
export function angleOf(w, x) {
	const product = w.reduce((sum, value, j) => sum + value * x[j], 0), lengths = Math.hypot(...w) * Math.hypot(...x);
	return lengths ? (Math.acos(Math.max(-1, Math.min(1, product / lengths))) * 180) / Math.PI : NaN;
}

function sayAlpha(run, k) {
	const { trace } = run, row = run.rowOf(k), place = trace.row[k], y = trace.y[place], before = y * trace.activation[k];
	let count = 0;
	for (let i = 1; i <= k; i++) count += trace.row[i] === place ? 1 : 0;
	const name = `α${subscript(row + 1)}`;
	return `<p><b>Update ${grouped(k)}</b>, epoch ${grouped(trace.epoch[k])}: ${rowLink(row)}, y = ${y > 0 ? "+1" : "−1"}, a mistake: y·f(x) = ${num(short(before), `f(x) = Σ αᵢ·yᵢ·K(xᵢ, x) + b before the update`)} ≤ ${short(run.settings.margin)}</p>
<p class="rule">${name} ← ${count - 1} + 1 = <b class="new">${count}</b>; b ← ${short(trace.bias[k - 1])} ${signed(trace.bias[k] - trace.bias[k - 1])} = <b class="new">${short(trace.bias[k])}</b></p>
<p class="facts angles">f gains ${y > 0 ? "" : "−"}K(x${subscript(row + 1)}, ·); at the row itself K(x, x) = ${num(short(trace.gram[place][place]), `the kernel value of row ${row + 1} with itself`)}</p>`;
}

function sayClasses(run, k, classes) {
	const { trace } = run, row = run.rowOf(k), [x1, x2] = run.points[row], { towards, away } = trace;
	const name = (c) => escape(nameOfClass(c, 3, classes)), parts = [];
	if (towards[k] >= 0) parts.push(`w of ${name(towards[k])} <b class="new">+ ${tuple([x1, x2])}</b>`);
	if (away[k] >= 0) parts.push(`w of ${name(away[k])} <b class="new">− ${tuple([x1, x2])}</b>`);
	return `<p><b>Update ${grouped(k)}</b>, epoch ${grouped(trace.epoch[k])}: ${rowLink(row)} of ${name(run.points[row][2])}, ${num(`lead of the right class = ${short(trace.activation[k])}`, "the score of the right class less that of the best other one")}</p><p class="rule">${parts.join("; ")}</p>`;
}

function sayUnit(run, k) {
	const { trace } = run;
	if (!k) return "<p><b>Start</b>: no unit yet.</p>";
	const unit = trace.units[k - 1], purpose = unit.parent < 0 ? "the first unit decides" : `turns unit ${unit.parent + 1} ${unit.sign > 0 ? "on where it is wrongly off" : "off where it is wrongly on"}`;
	return `<p><b>Unit ${k}</b>: ${purpose}</p><p class="rule">w = ${tuple(unit.weights)}, b = ${short(unit.bias)}</p>`;
}

/** w as the sum of the rows that were mistaken. */
function saySum(run, k) {
	const { trace, settings } = run, counts = new Map();
	for (let i = 1; i <= k; i++) for (const row of rowsAt(trace, i)) counts.set(row, (counts.get(row) ?? 0) + 1);
	if (!counts.size) return "";
	const terms = [...counts].map(([place, count], i) => `${trace.y[place] < 0 ? "− " : i ? "+ " : ""}${count}·${tuple(trace.X[place])}`);
	const shown = terms.length > 6 ? `${terms.slice(0, 5).join(" ")} ± … (${terms.length} rows)` : terms.join(" ");
	const rate = settings.eta0 === 1 ? "" : `${short(settings.eta0)}·`;
	return `<p class="facts">w = ${rate ? "η·" : ""}Σ αᵢyᵢxᵢ = ${rate}${rate ? "(" : ""}${shown}${rate ? ")" : ""}${settings.start ? " + start" : ""} = ${tuple(trace.lines.weights[k])}</p>`;
}

function sayState(run, { k, measured }) {
	const { trace, rows, settings, theorem } = run, parts = [];
	if (trace.batches) {
		const most = theorem ? ` of at most ${num(grouped(theorem.updates), "(n + 1)²/(4n)·(R/γ)² for n points")}` : "";
		parts.push(`${num(grouped(k), "updates made so far, one for each pass with mistakes")}${most} update${k === 1 && !theorem ? "" : "s"}`);
	} else if (trace.kind !== "network") {
		const most = theorem ? ` of at most ${num(grouped(theorem.bound), `(R/γ)² = (${theorem.radius.toPrecision(7)}/${theorem.margin.toPrecision(7)})²`)}` : "";
		parts.push(`${num(grouped(k), "mistakes made so far: M")}${most} mistake${k === 1 && !theorem ? "" : "s"}`);
	}
	const share = measured.errors / (rows.learnt.length || 1);
	parts.push(`${num(grouped(measured.errors), "J₁: points on the wrong side of the boundary that is drawn")} of ${grouped(rows.learnt.length)} points wrong (${num(`${(100 * share).toFixed(share && share < 0.1 ? 1 : 0)} %`, "Eₙ = J₁/n, the share of points that are wrong")})`);
	if (rows.held.length) parts.push(`${num(grouped(measured.held), "wrong among the points held out (hollow)")} of ${grouped(rows.held.length)} held out wrong`);
	if (trace.kind !== "network") parts.push(`J = ${num(short(measured.loss), "J: the sum of −y·activation over the points that are wrong")}`);
	const line = run.line(k), length = line ? Math.hypot(...line.w) : 0;
	if (length && measured.least > 0) parts.push(`margin ${num(short(measured.least / length), "the smallest y·(w·x + b)/‖w‖ of all points: the distance of the nearest one")}`);
	const before = run.isMoving ? -1 : findRepeat(trace, k);
	if (before >= 0) parts.push(`<b>the same weights as ${before ? `after update ${grouped(before)}` : "at the start"}</b>`);
	if (settings.solution !== "last" && trace.kind !== "network") parts.push(`drawn: the ${settings.solution} so far`);
	return `<p class="facts">${parts.join(" · ")}</p>`;
}

// A whole run

/** Why a run ended, in a sentence. */
export function sayEnding(run) {
	const { trace, verdict, settings } = run, count = trace.last;
	if (trace.kind === "network") {
		const units = plural(count, "unit"), errors = run.measure(count).errors;
		if (trace.stopReason === "separated") return ""; // the verdict says so
		if (trace.stopReason === "max_units") return `Stopped at ${units}, with ${plural(errors, "point")} on the wrong side; allow more units.`;
		return `Stopped: more than ${units} correct nothing; ${plural(errors, "point")} on the wrong side.`;
	}
	const done = `${plural(count, trace.batches ? "update" : "mistake")} in ${plural(trace.epochs.length, "epoch")}`;
	if (trace.stopReason === "separated") return `Separated after ${done}.`;
	if (trace.stopReason === "zero_weights") return "Nothing was learnt: at w = 0 every activation is 0, which counts as right here.";
	if (trace.cut) return `Cut after ${done}: the lab shows at most ${grouped(MOST_UPDATES)} updates.`;
	const { ties, margin, form } = settings, isSharp = ties === "mistake" || margin > 0 || (form !== "origin" && ties !== "correct");
	if (verdict.separable === false && isSharp) {
		const line = form === "origin" || settings.intercept_step === "0" ? "no line through the origin" : "no line";
		const what = verdict.twins ? "two equal points are of two classes" : run.kinds > 2 ? "no three lines separate these classes" : verdict.kind === "plane" ? `${line} separates these points` : "nothing in this space separates these points";
		return `Stopped after ${done}. It would never stop: ${what}${!run.isMoving && findRepeat(trace, count) >= 0 ? ", and the weights come back" : ""}.`;
	}
	if (verdict.separable) return `Stopped after ${done}, before it had separated the points; allow more epochs.`;
	return `Stopped after ${done}. Nothing proves that more epochs would help, or that they would not.`;
}

/** What is proved about the points: a class name, and sentences. */
export function sayVerdict(run, classes = []) {
	const { verdict, settings, kinds } = run;
	if (verdict.kind === "none") return { mood: "unknown", lines: ["Nothing to decide yet: points of both classes are needed."] };
	const lines = [], mood = verdict.separable === true ? "yes" : verdict.separable === false ? "no" : "unknown";
	if (verdict.twins) return { mood, lines: ["<b>Not separable.</b>", `${rowLink(run.rows.learnt[verdict.twins[0]], "Row")} and ${rowLink(run.rows.learnt[verdict.twins[1]])} are at the same place and of two classes: nothing can have both right.${kinds > 2 ? ` ${sayApart(verdict, classes)}.` : ""}`] };
	if (verdict.why === "moving") lines.push("Decided when the point is at rest.");
	else if (verdict.why === "deciding") lines.push(`<b>Deciding in exact arithmetic …</b> <progress value="${verdict.share}"></progress> <button type="button" id="stop-deciding">Stop</button>`);
	else if (verdict.why === "stopped") lines.push("<b>Undecided</b>: stopped by you.");
	else if (kinds > 2) lines.push(...sayClassesApart(run, classes));
	else if (settings.form === "network") return sayNetwork(run);
	else if (verdict.kind === "lifted") lines.push(...sayLifted(run));
	else if (verdict.kind === "kernel") lines.push(...sayKernel(run));
	else lines.push(...sayPlane(run));
	if (!verdict.why || verdict.why === "large") lines.push(...sayBound(run));
	return { mood, lines };
}

function sayPlane(run) {
	const { verdict, settings } = run, name = settings.form === "origin" || settings.intercept_step === "0" ? "line through the origin" : "line";
	if (verdict.why === "threshold") return ["<b>No verdict.</b>", "No line through the origin separates these points, and with a fixed threshold the theorem speaks of no others."];
	if (verdict.separable) {
		const margin = `The widest ${name} keeps γ = ${num(short(verdict.gamma), "half the distance between the convex hulls of the classes, or from the origin to the hull of y·x")} from every point; R = ${num(short(verdict.radius), "the largest ‖x‖")}.`;
		return ["<b>Linearly separable.</b>", margin];
	}
	const proof = name === "line" ? "The convex hulls of the classes meet (★)" : "Rows, each times its label, cancel out";
	return [`<b>Not separable: no ${name} can do it.</b>`, `${proof}: with ${sayShares(run, verdict)} both sides balance (checked in exact arithmetic).`];
}

/** Which line separates which class, and whether three of them together leave each its region. */
function sayClassesApart(run, classes) {
	const { verdict } = run, which = sayApart(verdict, classes), title = verdict.separable ? "<b>Separable.</b>" : "<b>Not separable.</b>";
	const together = verdict.separable ? "Three lines together give each class its own region" : `Three lines together cannot either: ${verdict.rows.map((place) => rowLink(run.rows.learnt[place])).join(", ")} contradict each other`;
	return [title, `${which}. ${together} (decided in exact arithmetic).`];
}

function sayApart({ present, apart }, classes) {
	const list = (kinds) => kinds.map((kind) => escape(nameOfClass(kind, 3, classes))).join(", ");
	const none = present.filter((kind) => !apart.includes(kind));
	if (!apart.length) return `No line separates any of ${list(none)} from the rest`;
	return `A line separates ${list(apart)} from the rest${none.length ? `; none separates ${list(none)}` : ""}`;
}

function sayNetwork(run) {
	const { verdict, trace } = run, isDone = trace?.stopReason === "separated";
	const line = verdict.separable ? "A line separates these points, too." : "No line separates these points.";
	return { mood: isDone ? "yes" : "unknown", lines: [isDone ? `<b>Separated by ${plural(trace.last, "unit")}.</b> ${line}` : line] };
}

function sayShares(run, { support, weights }) {
	const total = weights.reduce((sum, weight) => sum + weight, 0n);
	return support.map((place, i) => {
		const divisor = gcd(weights[i], total), fraction = `${weights[i] / divisor}/${total / divisor}`;
		const share = fraction.length <= 9 ? fraction : `about ${short(toNumber(weights[i], total))}`;
		return `${share} of ${rowLink(run.rows.learnt[place])}`;
	}).join(", ");
}

const gcd = (a, b) => (b ? gcd(b, a % b) : a);

function sayLifted(run) {
	const { verdict } = run, alone = verdict.plane.separable ? "" : " No line of the plane separates these points.";
	if (verdict.separable) return ["<b>Separable by a plane in space.</b>", `With the third feature ${SETTINGS.third.choices[run.settings.third]}.${alone}`];
	return ["<b>Not separable, not by a plane in this space either.</b>", `With ${sayShares(run, verdict)} both sides balance in all three features (checked in exact arithmetic).`];
}

function sayKernel(run) {
	const { verdict, settings } = run;
	const line = verdict.plane.separable ? "A line separates these points, too." : "No line separates these points.";
	if (verdict.why === "sigmoid") return ["<b>No verdict.</b>", `A sigmoid kernel is not the inner product of any space, so no theorem says whether training ends. ${line}`];
	if (verdict.separable === null) return ["<b>Undecided in the space of this kernel.</b>", `The page decides degrees up to 6; a run that ends proves it, too. ${line}`];
	if (!verdict.separable) return ["<b>Not separable in the space of this kernel.</b>", `With ${sayShares(run, verdict)} both sides balance there (checked in exact arithmetic).`];
	const why = settings.kernel === "rbf" ? " A Gaussian kernel separates any points that are not equal." : "";
	return ["<b>Separable in the space of this kernel.</b>", `${line}${why}`];
}

function sayBound(run) {
	const { theorem, settings } = run, lines = [];
	if (!theorem) return lines;
	const isBiased = settings.form !== "origin", symbols = isBiased ? "(R̃/γ̃)²" : "(R/γ)²";
	const where = settings.form === "kernel" && settings.kernel !== "linear" ? " in the kernel’s space" : "";
	const square = `(${theorem.radius.toPrecision(5)}/${theorem.margin.toPrecision(5)})²`;
	lines.push(`At most ${symbols} = ${square} = ${num(grouped(theorem.bound), `R${isBiased ? "̃" : ""}: the largest length of a row, γ${isBiased ? "̃" : ""}: the widest margin${isBiased ? `, with the bias as a coordinate of size ${settings.intercept_step === "radius" ? "R" : "1"}` : ""}`)} mistakes ${theorem.updates ? "by single updates" : "in any order"}${where}${isBiased ? ", with the bias as a coordinate" : ""}.`);
	if (theorem.updates) lines.push(`In a batch, at most (n + 1)²/(4n) times that: ${num(grouped(theorem.updates), "n: the number of points; an update by m mistakes grows ‖w‖² by up to m²R²")} updates.`);
	if (theorem.textbook) {
		const { radius, gamma, bound } = theorem.textbook;
		lines.push(`As in 002: at most (2R/γ)² = (2·${short(radius)}/${short(gamma)})² = ${num(grouped(bound), "Novikoff’s bound for a bias step of R²; the bound above is never larger")}.`);
	}
	return lines;
}
