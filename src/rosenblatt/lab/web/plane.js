// The plane: regions, boundary, points, the example in use; on the screen and in saved figures.

import { activations } from "./network.js";
import { clip, contour, lineWithin, ticks } from "./geometry.js";
import { arrow, mark } from "./paint.js";
import { countMistakes, startOf } from "./trace.js";
import { countKinds } from "./state.js";
import { short } from "./words.js";

const CELLS = { moving: 44, still: 72 };

/** Places of the plane as pixels, and back. */
export class Frame {
	constructor(width, height, view) {
		const scale = Math.min(width / (2 * view.wide), height / (2 * view.high));
		Object.assign(this, { width, height, scale, x: width / 2 - view.x * scale, y: height / 2 + view.y * scale });
	}

	pixel([x, y]) {
		return [this.x + x * this.scale, this.y - y * this.scale];
	}

	place([x, y]) {
		return [(x - this.x) / this.scale, (this.y - y) / this.scale];
	}

	get box() {
		const [x0, y0] = this.place([0, this.height]), [x1, y1] = this.place([this.width, 0]);
		return { x0, y0, x1, y1 };
	}
}

/** How large points are drawn. */
export function pointSize(scene) {
	const size = scene.unit * (scene.points.length > 300 ? 0.24 : scene.points.length > 120 ? 0.32 : 0.42);
	return Math.max(size, 2.5);
}

/** Draw all of a scene: run, moment k, points, view, colours, unit (the size of text in pixels). */
export function drawPlane(painter, frame, scene) {
	painter.shape([[[0, 0], [frame.width, 0], [frame.width, frame.height], [0, frame.height]]], { fill: scene.colours.ground });
	const { run } = scene, isShown = run?.trace;
	const curve = isShown ? drawRegions(painter, frame, scene) : null;
	if (isShown) drawSigns(painter, frame, scene);
	drawAxes(painter, frame, scene);
	if (isShown) drawBoundary(painter, frame, scene, curve);
	if (run) drawProof(painter, frame, scene);
	if (isShown && !scene.isFigure) drawExampleRay(painter, frame, scene);
	drawPoints(painter, frame, scene);
	if (isShown) drawArrow(painter, frame, scene);
	drawAsked(painter, frame, scene);
	drawHandles(painter, frame, scene);
}

function corners({ x0, y0, x1, y1 }) {
	return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
}

function drawRegions(painter, frame, scene) {
	const { run, k, colours } = scene, pixels = (polygon) => polygon.map((place) => frame.pixel(place));
	const tint = (polygons, kind) => painter.shape(polygons.filter((each) => each.length > 2).map(pixels), { fill: colours.classes[kind], alpha: colours.tint });
	if (run.kinds > 2) {
		const lines = run.classLines(k);
		if (lines.every(({ w, b }) => !w[0] && !w[1] && !b)) return null;
		lines.forEach((own, c) => {
			let polygon = corners(frame.box);
			lines.forEach((other, d) => {
				if (c !== d) polygon = clip(polygon, own.w[0] - other.w[0], own.w[1] - other.w[1], own.b - other.b);
			});
			tint([polygon], c);
			if (polygon.length > 2) painter.shape([pixels(polygon)], { stroke: colours.ink, width: scene.unit / 8 });
		});
		return null;
	}
	const { line } = scene;
	if (line) {
		if (!line.w[0] && !line.w[1]) return null;
		tint([clip(corners(frame.box), line.w[0], line.w[1], line.b)], 0);
		tint([clip(corners(frame.box), -line.w[0], -line.w[1], -line.b)], 1);
		return null;
	}
	const curve = curveOf(scene, frame, k);
	if (!curve) return null;
	tint(curve.positive, 0);
	tint(curve.negative, 1);
	return curve;
}

/** The regions of a boundary that is not a line at a moment; kept until run, moment or view change. */
function curveOf(scene, frame, k) {
	const { run } = scene;
	if (!k && !(run.trace.kind === "linear" && run.settings.start)) return null;
	const cells = scene.isMoving ? CELLS.moving : CELLS.still;
	const key = [k, cells, ...Object.values(frame.box)].join();
	if (run.curve?.key !== key) run.curve = { key, ...contour(run.scorer(k), frame.box, cells) };
	return run.curve;
}

function drawAxes(painter, frame, scene) {
	const { colours, unit } = scene, { x0, y0, x1, y1 } = frame.box, size = 0.85 * unit;
	const [zeroX, zeroY] = frame.pixel([0, 0]), line = { stroke: colours.axis, width: 1 };
	if (zeroX > 0 && zeroX < frame.width) painter.shape([[[zeroX, 0], [zeroX, frame.height]]], { ...line, isOpen: true });
	if (zeroY > 0 && zeroY < frame.height) painter.shape([[[0, zeroY], [frame.width, zeroY]]], { ...line, isOpen: true });
	const count = (pixels) => Math.max(2, Math.floor(pixels / (6.5 * unit))), text = { fill: colours.faint, size, halo: colours.ground };
	for (const x of ticks(x0, x1, count(frame.width))) {
		const [at] = frame.pixel([x, 0]);
		if (at > 2 * unit && at < frame.width - 2 * unit) painter.text([at, frame.height - 0.4 * unit], short(x), { ...text, align: "center" });
	}
	for (const y of ticks(y0, y1, count(frame.height))) {
		const [, at] = frame.pixel([0, y]);
		if (at > 2 * unit && at < frame.height - 2.2 * unit) painter.text([0.4 * unit, at], short(y), { ...text, baseline: "middle" });
	}
	const [first, second] = scene.columns.length ? scene.columns : ["x₁", "x₂"];
	painter.text([frame.width - 0.5 * unit, frame.height - 1.5 * unit], `${first} →`, { ...text, fill: colours.ink, align: "right" });
	painter.text([0.5 * unit, 1.2 * unit], `↑ ${second}`, { ...text, fill: colours.ink });
}

/** Signs all over the halves, so that they can be told apart without colour. */
function drawSigns(painter, frame, scene) {
	const { run, k, colours, unit, line } = scene;
	if (line ? !line.w[0] && !line.w[1] : !k) return;
	const places = [], step = Math.max(frame.width, frame.height) / 5;
	for (let y = 0.4 * step; y < frame.height; y += step) for (let x = 0.6 * step; x < frame.width; x += step) places.push(frame.place([x, y]));
	const kinds = line ? places.map(([x, y]) => (line.w[0] * x + line.w[1] * y + line.b > 0 ? 0 : 1)) : run.classify(k, places), signs = run.kinds > 2 ? ["1", "2", "3"] : ["+", "−"];
	places.forEach((place, i) => {
		painter.text(frame.pixel(place), signs[kinds[i]], { fill: colours.classes[kinds[i]], size: 1.35 * unit, align: "center", baseline: "middle" });
	});
}

function drawBoundary(painter, frame, scene, curve) {
	const { run, k, colours, unit } = scene, wide = unit / 5;
	const stroke = (line, style) => {
		const ends = line && lineWithin(line.w, line.b, frame.box);
		if (ends) painter.shape([ends.map((place) => frame.pixel(place))], { stroke: colours.ink, ...style, isOpen: true });
	};
	if (curve) {
		painter.shape(curve.segments.map((segment) => segment.map((place) => frame.pixel(place))), { stroke: colours.ink, width: wide, isOpen: true });
	}
	if (run.trace.kind === "network") return drawUnits(painter, frame, scene);
	const { line } = scene, before = k > 0 && run.settings.solution === "last" ? run.line(k - 1) : null;
	stroke(before, { width: wide / 2, dash: [unit / 2, unit / 2], alpha: 0.8 });
	stroke(run.lastLine(k), { width: wide / 2, dash: [unit / 8, unit / 3], alpha: 0.9 });
	if (!line) return;
	stroke(line, { width: wide });
	const length = Math.hypot(...line.w), margin = run.settings.margin > 0 ? run.settings.margin : Math.max(scene.measured.least, 0);
	if (!(length > 0) || !Number.isFinite(margin) || !((margin / length) * frame.scale > wide)) return; // too near to be told apart
	for (const side of [-1, 1]) stroke({ w: line.w, b: line.b + side * margin }, { width: wide / 2, dash: [unit / 6, unit / 3] });
}

/** The lines of a network's units, with their numbers on the sides where they are on. */
function drawUnits(painter, frame, scene) {
	const { run, k, colours, unit } = scene, { trace } = run;
	for (let number = 0; number < k; number++) {
		const score = (places) => Float64Array.from(places, (place) => activations([trace.units[number]], trace.lift.apply(place))[0]);
		const key = [number, ...Object.values(frame.box)].join();
		trace.unitCurves ??= new Map();
		if (trace.unitCurves.get(number)?.key !== key) trace.unitCurves.set(number, { key, ...contour(score, frame.box, 36) });
		const { segments } = trace.unitCurves.get(number);
		const isNew = number === k - 1;
		painter.shape(segments.map((segment) => segment.map((place) => frame.pixel(place))), { stroke: isNew ? colours.use : colours.faint, width: unit / (isNew ? 6 : 9), dash: [unit / 2, unit / 4], isOpen: true });
		if (!segments.length) continue;
		const place = segments[Math.floor(segments.length * (0.3 + 0.4 * ((0.37 * number) % 1)))][0];
		const [x, y] = frame.pixel(place), reach = unit;
		const turns = Array.from({ length: 12 }, (_, i) => [x + reach * Math.cos((i * Math.PI) / 6), y + reach * Math.sin((i * Math.PI) / 6)]);
		const values = score(turns.map((pixel) => frame.place(pixel)));
		const best = turns[values.reduce((found, value, i) => (value > values[found] ? i : found), 0)];
		painter.text(best, String(number + 1), { fill: isNew ? colours.use : colours.faint, size: unit, align: "center", baseline: "middle", halo: colours.ground, weight: "bold" });
	}
}

/** w, from the line that is drawn into its positive half; its length grows with that of w. */
function drawArrow(painter, frame, scene) {
	const { run, k, colours, unit } = scene;
	const draw = ({ w, b }, longest, colour, name) => {
		const length = Math.hypot(...w);
		if (!(length > 0)) return;
		const foot = (x, y) => {
			const distance = (w[0] * x + w[1] * y + b) / (length * length);
			return [x - distance * w[0], y - distance * w[1]];
		};
		const isInside = ([x, y]) => x > 0.05 * frame.width && x < 0.95 * frame.width && y > 0.05 * frame.height && y < 0.95 * frame.height;
		let start = frame.pixel(foot(0, 0));
		if (!isInside(start)) start = frame.pixel(foot(...frame.place([frame.width / 2, frame.height / 2])));
		const reach = Math.min(frame.width, frame.height) * (0.1 + 0.22 * Math.min(length / longest, 1)) / length;
		const tip = [start[0] + reach * w[0], start[1] - reach * w[1]];
		arrow(painter, start, tip, { stroke: colour, width: unit / 4.5, head: 0.9 * unit });
		painter.text([tip[0] + (0.9 * unit * w[0]) / length, tip[1] - (0.9 * unit * w[1]) / length], name, { fill: colour, size: unit, halo: colours.ground, weight: "bold", align: "center", baseline: "middle" });
	};
	if (run.kinds > 2) {
		const lines = run.classLines(k), longest = Math.max(...lines.map(({ w }) => Math.hypot(...w)), 1e-300);
		lines.forEach(({ w }, c) => draw({ w, b: 0 }, longest, colours.classes[c], `w${"₁₂₃"[c]}`));
		return;
	}
	const { line } = scene;
	if (!line) return;
	run.longest ??= Math.max(...run.trace.found.weights.map((w) => Math.hypot(...w)), 1e-300);
	draw(line, run.longest, colours.weights, run.settings.solution === "average" ? "w̄" : "w");
}

function drawProof(painter, frame, scene) {
	const { run, colours, unit } = scene;
	const { verdict } = run;
	if (!verdict.meeting || run.settings.form === "network") return;
	const centre = frame.pixel(verdict.meeting);
	for (const i of verdict.support) {
		painter.shape([[frame.pixel(run.X[i]), centre]], { stroke: colours.proof, width: unit / 7, isOpen: true });
	}
	const star = Array.from({ length: 10 }, (_, i) => {
		const reach = i % 2 ? 0.32 * unit : 0.8 * unit, turn = (i * Math.PI) / 5 - Math.PI / 2;
		return [centre[0] + reach * Math.cos(turn), centre[1] + reach * Math.sin(turn)];
	});
	painter.shape([star], { fill: colours.proof, stroke: colours.ground, width: 1 });
}

function drawExampleRay(painter, frame, scene) {
	const { row, points, colours, unit } = scene;
	if (row < 0) return;
	painter.shape([[frame.pixel([0, 0]), frame.pixel(points[row])]], { stroke: colours.use, width: unit / 9, dash: [unit / 8, unit / 4], isOpen: true });
}

function drawPoints(painter, frame, scene) {
	const { points, run, colours, unit, used } = scene, size = pointSize(scene);
	const held = new Set(run?.rows.held), alphas = alphasOf(scene);
	points.forEach((point, i) => {
		const at = frame.pixel(point), colour = colours.classes[point[2]];
		const grown = size * (alphas ? 1 + 0.5 * Math.log2(1 + alphas[i]) : 1);
		const style = held.has(i) ? { fill: colours.ground, stroke: colour, width: size / 2.6 } : { fill: colour, stroke: colours.ground, width: Math.max(1, size / 7) };
		mark(painter, point[2], at, grown, style);
		if (scene.wrong?.[i]) {
			const reach = 0.52 * grown;
			const lines = [[[at[0] - reach, at[1] - reach], [at[0] + reach, at[1] + reach]], [[at[0] - reach, at[1] + reach], [at[0] + reach, at[1] - reach]]];
			painter.shape(lines, { stroke: held.has(i) ? colours.ink : colours.ground, width: Math.max(1.5, size / 3), isOpen: true });
		}
		if (alphas?.[i]) painter.text([at[0] + grown + 2, at[1] - grown - 1], String(alphas[i]), { fill: colours.ink, size: 0.85 * unit, halo: colours.ground });
	});
	for (const i of used) painter.circle(frame.pixel(points[i]), 1.9 * size + 2, { stroke: colours.use, width: unit / 5 });
	for (const i of scene.selected) if (points[i]) painter.circle(frame.pixel(points[i]), 1.9 * size + 6, { stroke: colours.ink, width: unit / 8, dash: [unit / 3, unit / 4] });
	if (scene.lit >= 0 && points[scene.lit]) painter.circle(frame.pixel(points[scene.lit]), 2.4 * size + 4, { stroke: colours.proof, width: unit / 4 });
}

/** How often each point was mistaken, where that is shown. */
export function alphasOf({ run, k, isDual }) {
	if (!run?.trace || run.kinds > 2 || !["linear", "kernel"].includes(run.trace.kind)) return null;
	if (run.trace.kind === "linear" && !isDual) return null;
	const counts = countMistakes(run.trace, k, run.X.length), found = new Int32Array(run.points.length);
	run.rows.learnt.forEach((i, place) => (found[i] = counts[place]));
	return found;
}

/** Points without a label, and the class that is predicted for each. */
function drawAsked(painter, frame, scene) {
	const { asked, run, k, colours, unit } = scene;
	if (!asked.length) return;
	const kinds = run?.trace ? run.classify(k, asked) : null;
	asked.forEach((place, i) => {
		const at = frame.pixel(place), isChosen = scene.chosenAsked === i;
		mark(painter, 2, at, 0.55 * unit, { fill: colours.faint, stroke: isChosen ? colours.ink : colours.ground, width: isChosen ? 2.5 : 1.5 });
		painter.text([at[0] + 0.8 * unit, at[1]], kinds ? `? → ${nameOfKind(kinds[i], run.kinds)}` : "?", { fill: colours.ink, size: unit, halo: colours.ground, baseline: "middle", weight: "bold" });
	});
}

export const nameOfKind = (kind, kinds) => (kinds > 2 ? String(kind + 1) : kind ? "−1" : "+1");

/** The handles of the line that learning starts from: where w begins, and its tip. */
export function handlesOf({ run, view }) {
	const start = run && startOf(run.settings);
	if (!start || run.kinds > 2) return null;
	const [w1, w2] = start.weights, b = start.bias[0], square = w1 * w1 + w2 * w2;
	if (!square) return null;
	const distance = (w1 * view.x + w2 * view.y + b) / square;
	const foot = run.settings.form === "origin" ? [0, 0] : [view.x - distance * w1, view.y - distance * w2];
	return { foot, tip: [foot[0] + w1, foot[1] + w2] };
}

function drawHandles(painter, frame, scene) {
	const handles = scene.isFigure || scene.k ? null : handlesOf(scene);
	if (!handles) return;
	const { colours, unit } = scene;
	for (const place of [handles.foot, handles.tip]) painter.circle(frame.pixel(place), 0.6 * unit, { fill: colours.ground, stroke: colours.weights, width: unit / 4 });
	painter.shape([[frame.pixel(handles.foot), frame.pixel(handles.tip)]], { stroke: colours.weights, width: unit / 9, dash: [unit / 4, unit / 4], isOpen: true });
}

// Legends

/** What can be seen, as [symbol, words]; symbols are drawn by `drawSymbol`. */
export function legendOf(scene) {
	const { run, points, asked, classes } = scene, kinds = countKinds(points), found = [];
	const names = kinds > 2 ? ["1", "2", "3"] : ["+1", "−1"];
	names.forEach((name, kind) => found.push([`class${kind}`, classes[kind] ? `${classes[kind]} (${name})` : `class ${name}`]));
	if (run?.rows.held.length) found.push(["hollow", "held out"]);
	if (!run?.trace) return found;
	found.push(["wrong", "misclassified"], ["use", run.trace.batches ? "rows in use" : "row in use"], ["boundary", boundaryWords(run)]);
	const isLine = Boolean(run.line(scene.k));
	if (isLine && run.settings.solution === "last") found.push(["before", "before the update"]);
	if (run.lastLine(scene.k)) found.push(["lastLine", "last weights"]);
	if (isLine) found.push(["margin", run.settings.margin > 0 ? "demanded margin" : "margin reached"]);
	if (isLine || run.kinds > 2) found.push(["weights", run.settings.solution === "average" ? "w̄, the average (length scaled)" : "w (length scaled)"]);
	if (run.trace.kind === "network") found.push(["unit", "a unit’s line"]);
	if (alphasOf(scene)) found.push(["alpha", "α: mistakes made at a point"]);
	if (run.verdict.meeting && run.settings.form !== "network") found.push(["star", "where the hulls meet"]);
	if (asked.length) found.push(["asked", "only classified"]);
	return found;
}

function boundaryWords(run) {
	const solution = { average: "boundary of the average", vote: "boundary of the vote", pocket: "best line so far" }[run.settings.solution];
	return (["linear", "kernel"].includes(run.trace.kind) && solution) || "boundary";
}

/** One symbol of a legend, in a box of 2.2 × 1.4 units whose middle is given. */
export function drawSymbol(painter, name, [x, y], unit, colours) {
	const reach = 0.9 * unit, line = (style) => painter.shape([[[x - reach, y], [x + reach, y]]], { stroke: colours.ink, width: unit / 5, ...style, isOpen: true });
	const size = 0.42 * unit;
	const symbols = {
		class0: () => mark(painter, 0, [x, y], size, { fill: colours.classes[0] }),
		class1: () => mark(painter, 1, [x, y], size, { fill: colours.classes[1] }),
		class2: () => mark(painter, 2, [x, y], size, { fill: colours.classes[2] }),
		hollow: () => {
			mark(painter, 0, [x - 0.5 * unit, y], size, { fill: colours.ground, stroke: colours.classes[0], width: size / 2.6 });
			mark(painter, 1, [x + 0.5 * unit, y], size, { fill: colours.ground, stroke: colours.classes[1], width: size / 2.6 });
		},
		wrong: () => {
			painter.circle([x, y], 0.55 * unit, { fill: colours.faint });
			const r = 0.28 * unit;
			painter.shape([[[x - r, y - r], [x + r, y + r]], [[x - r, y + r], [x + r, y - r]]], { stroke: colours.ground, width: unit / 6, isOpen: true });
		},
		use: () => painter.circle([x, y], 0.6 * unit, { stroke: colours.use, width: unit / 5 }),
		boundary: () => line({}),
		before: () => line({ width: unit / 10, dash: [unit / 2, unit / 2] }),
		lastLine: () => line({ width: unit / 10, dash: [unit / 8, unit / 3] }),
		margin: () => line({ width: unit / 12, dash: [unit / 6, unit / 4] }),
		weights: () => arrow(painter, [x - reach, y], [x + reach, y], { stroke: colours.weights, width: unit / 5, head: 0.7 * unit }),
		unit: () => line({ stroke: colours.use, width: unit / 7, dash: [unit / 2, unit / 4] }),
		alpha: () => painter.text([x, y], "3", { fill: colours.ink, size: unit, align: "center", baseline: "middle" }),
		star: () => painter.text([x, y], "★", { fill: colours.proof, size: 1.35 * unit, align: "center", baseline: "middle" }),
		asked: () => mark(painter, 2, [x, y], size, { fill: colours.faint }),
	};
	symbols[name]();
}

/** Draw a legend below a figure; returns its height, for a width. */
export function drawLegend(painter, scene, left, top, width) {
	const { unit, colours } = scene, gap = 1.2 * unit;
	let x = left, y = top;
	for (const [symbol, words] of legendOf(scene)) {
		const wide = 2.6 * unit + painter.measure(words, unit) + gap;
		if (x > left && x + wide > left + width) [x, y] = [left, y + 1.7 * unit];
		drawSymbol(painter, symbol, [x + 1.1 * unit, y + 0.7 * unit], unit, colours);
		painter.text([x + 2.4 * unit, y + 0.7 * unit], words, { fill: colours.ink, size: unit, baseline: "middle" });
		x += wide;
	}
	return y + 1.7 * unit - top;
}
