// Panels beside the plane: the update as vectors, the strip along w, space, the Gram matrix, the gap.

import { arrow, mark } from "./paint.js";
import { Kernel } from "./dual.js";
import { hasBias } from "./trace.js";
import { ShownRun } from "./model.js";
import { makeSet } from "./sets.js";
import { angleOf, grouped, short } from "./words.js";
import { ticks } from "./geometry.js";

const isLine = ({ settings: [{ form }] }, run) => ["bias", "origin"].includes(form) && run?.kinds !== 3;

/** The panels: their words, and for which states and runs they are offered. */
export const PANELS = {
	time: { words: "Time", hint: "Errors, loss or length after each update", fits: () => true },
	vectors: { words: "Update", hint: "The update as vectors: w, y·x from its tip, and the new w, at true length", fits: isLine },
	strip: { words: "Along w", hint: "All points projected on w, with the threshold", fits: (state, run) => run?.kinds !== 3 && state.settings[0].form !== "network" },
	space: { words: "Space", hint: "The points as (x₁, x₂, 1), or with a third feature, and the plane through 0; drag to turn", fits: (state, run) => isLine(state, run) || state.settings[0].form === "lifted" },
	gram: { words: "Gram", hint: "Kernel values of all pairs of points, with the row in use", fits: (state, run) => run?.kinds !== 3 && state.settings[0].form !== "network" },
	gap: { words: "Gap", hint: "The bound and the mistakes made, for blobs of growing gap", fits: (state, run) => isLine(state, run) && ["blobs", "origin"].includes(state.data) },
	units: { words: "Units", hint: "The units of a network and their links", fits: (state) => state.settings[0].form === "network" },
};

const fillBox = (painter, { width, height, colours }) => painter.shape([[[0, 0], [width, 0], [width, height], [0, height]]], { fill: colours.ground });

/** Words in the middle of a panel that has nothing to show, wrapped. */
function say(painter, { width, height, colours, unit }, words) {
	const lines = [""];
	for (const word of words.split(" ")) {
		if (painter.measure(`${lines.at(-1)} ${word}`, unit) > width - 4 * unit) lines.push(word);
		else lines[lines.length - 1] += ` ${word}`;
	}
	lines.forEach((line, i) => painter.text([width / 2, height / 2 + (i - (lines.length - 1) / 2) * 1.4 * unit], line.trim(), { fill: colours.ink, size: unit, align: "center", baseline: "middle" }));
}

/** What a panel shows, in its last line, smaller where it is narrow. */
function caption(painter, { width, height, colours, unit }, words) {
	const size = Math.min(0.85 * unit, (unit * (width - unit)) / painter.measure(words, unit));
	painter.text([width / 2, height - 0.6 * unit], words, { fill: colours.ink, size, align: "center" });
}

/** Each panel draws a scene: run, k, row, points, colours, unit, width, height, turn. */
export const DRAW = {
	vectors(painter, scene) {
		fillBox(painter, scene);
		const { run, k, colours, unit, width, height } = scene;
		if (run?.trace?.kind !== "linear" || run.kinds > 2) return say(painter, scene, "The update as vectors is shown for a line and two classes.");
		if (!k || scene.isRight) return say(painter, scene, k ? "This row was right: w stays as it is." : "Step to the first update (→) to see w, y·x and the new w.");
		const { trace, settings } = run, place = trace.row[k], isBatch = Boolean(trace.batches), y = isBatch || trace.y[place] > 0 ? 1 : -1;
		const before = trace.lines.weights[k - 1].slice(0, 2), after = trace.lines.weights[k].slice(0, 2);
		const x = isBatch ? after.map((value, j) => (value - before[j]) / settings.eta0) : trace.X[place].slice(0, 2);
		const ends = [[0, 0], before, after, x];
		const low = [0, 1].map((axis) => Math.min(...ends.map((each) => each[axis]))), high = [0, 1].map((axis) => Math.max(...ends.map((each) => each[axis])));
		const scale = Math.min((width - 7 * unit) / (high[0] - low[0] || 1), (height - 6.5 * unit) / (high[1] - low[1] || 1));
		const pixel = ([a, b]) => [width / 2 + (a - (low[0] + high[0]) / 2) * scale, (height - 1.6 * unit) / 2 - (b - (low[1] + high[1]) / 2) * scale];
		const name = (at, words, fill) => painter.text([at[0] + 0.5 * unit, at[1] - 0.3 * unit], words, { fill, size: unit, halo: colours.ground, weight: "bold", baseline: "middle" });
		const origin = pixel([0, 0]), colour = colours.classes[y > 0 ? 0 : 1];
		painter.circle(origin, unit / 4, { fill: colours.ink });
		arrow(painter, origin, pixel(x), { stroke: colours.faint, width: unit / 9, dash: [unit / 5, unit / 4], head: 0.6 * unit });
		arrow(painter, origin, pixel(before), { stroke: colours.weights, width: unit / 7, dash: [unit / 2, unit / 3], head: 0.8 * unit });
		arrow(painter, pixel(before), pixel(after), { stroke: colour, width: unit / 5, head: 0.8 * unit });
		arrow(painter, origin, pixel(after), { stroke: colours.weights, width: unit / 4.5, head: 0.9 * unit });
		arc(painter, origin, pixel(x), pixel(before), 2.2 * unit, colours.faint, unit, angleOf(before, x), [unit / 4, unit / 4]);
		arc(painter, origin, pixel(x), pixel(after), 3.4 * unit, colours.weights, unit, angleOf(after, x), []);
		name(pixel(x), isBatch ? "Σ y·x" : "x", colours.faint);
		if (Math.hypot(...before)) name(pixel(before), "w", colours.weights);
		name(pixel([(before[0] + after[0]) / 2, (before[1] + after[1]) / 2]), `${settings.eta0 === 1 ? "" : "η·"}${isBatch ? "Σ y·x" : y > 0 ? "+x" : "−x"}`, colour);
		name(pixel(after), "w′", colours.weights);
		if (isBatch) return caption(painter, scene, `Σ y·x over the mistaken rows, ${trace.batches[k].length} of them`);
		const was = y * trace.activation[k], square = trace.X[place].reduce((sum, value) => sum + value * value, 0);
		const sum = hasBias(settings) ? "y·(w·x + b)" : "y·w·x", gain = settings.eta0 * (square + trace.interceptStep);
		caption(painter, scene, `${sum}: ${short(was)} → ${short(was + gain)}, a rise of ${short(gain)}`);
	},

	strip(painter, scene) {
		fillBox(painter, scene);
		const { run, k, colours, unit, width, height, points, used } = scene;
		if (!run?.trace || run.kinds > 2 || run.trace.kind === "network") return say(painter, scene, "The strip is shown for two classes and a line or a kernel.");
		const line = run.line(k), length = line ? Math.hypot(...line.w) : 1;
		if (line && !length) return say(painter, scene, "w = 0: there is no direction yet.");
		const values = line ? points.map(([a, b]) => (a * line.w[0] + b * line.w[1]) / length) : Array.from(run.scorer(k)(points.map(([a, b]) => [a, b])));
		const threshold = line ? -line.b / length : 0;
		let low = Math.min(...values, threshold), high = Math.max(...values, threshold);
		const room = 0.06 * (high - low || 1);
		[low, high] = [low - room, high + room];
		const x = (value) => 1.5 * unit + ((width - 3 * unit) * (value - low)) / (high - low), middle = height * 0.46;
		painter.shape([[[x(threshold), 2 * unit], [width, 2 * unit], [width, height - 3.2 * unit], [x(threshold), height - 3.2 * unit]]], { fill: colours.classes[0], alpha: colours.tint });
		painter.shape([[[0, 2 * unit], [x(threshold), 2 * unit], [x(threshold), height - 3.2 * unit], [0, height - 3.2 * unit]]], { fill: colours.classes[1], alpha: colours.tint });
		painter.shape([[[x(threshold), 2 * unit], [x(threshold), height - 3.2 * unit]]], { stroke: colours.ink, width: unit / 5, isOpen: true });
		painter.text([x(threshold), 1.4 * unit], line ? `−b/‖w‖ = ${short(threshold)}` : "f = 0", { fill: colours.ink, size: 0.85 * unit, align: "center" });
		points.forEach((point, i) => {
			const lane = middle + ((point[2] ? 1 : -1) * (height - 6.5 * unit)) / 5 + (((i * 0.618) % 1) - 0.5) * ((height - 6.5 * unit) / 4);
			mark(painter, point[2], [x(values[i]), lane], 0.32 * unit, { fill: colours.classes[point[2]], stroke: colours.ground, width: 0.7 });
			if (used.includes(i)) painter.circle([x(values[i]), lane], 0.75 * unit, { stroke: colours.use, width: unit / 6 });
		});
		for (const value of ticks(low, high, Math.floor(width / (6 * unit)))) painter.text([x(value), height - 1.9 * unit], short(value), { fill: colours.faint, size: 0.85 * unit, align: "center" });
		caption(painter, scene, line ? "w·x/‖w‖: how far along w" : "f(x): how far on the positive side");
	},

	space(painter, scene) {
		fillBox(painter, scene);
		const { run, k, colours, unit, width, height, points, used } = scene;
		if (!run?.trace || run.kinds > 2 || run.trace.kind !== "linear") return say(painter, scene, "Space is shown for a line or a third feature and two classes.");
		const isLifted = run.settings.form === "lifted", third = isLifted ? (run.settings.third === "product" ? ([a, b]) => a * b : ([a, b]) => a * a + b * b) : () => 1;
		const reach = Math.max(...points.map(([a, b]) => Math.max(Math.abs(a), Math.abs(b))), 0.1);
		const heights = points.map(third), tall = isLifted ? Math.max(...heights.map(Math.abs), 0.1) : 1;
		const scaled = ([a, b, c]) => [a / reach, b / reach, isLifted ? c / tall : c * 0.8];
		const { about, up } = scene.turn, room = height - 2 * unit, size = 0.36 * Math.min(width, 1.1 * room);
		const project = (place) => {
			const [a, b, c] = scaled(place), ca = Math.cos(about), sa = Math.sin(about), cu = Math.cos(up), su = Math.sin(up);
			const depth = a * sa + b * ca;
			return [width / 2 + size * (a * ca - b * sa), room / 2 - size * (c * cu - depth * su) + (isLifted ? 0 : 0.25 * size), depth * cu + c * su];
		};
		const draw = (places, style) => painter.shape([places.map((each) => project(each).slice(0, 2))], style);
		const base = isLifted ? [] : [[-reach, -reach, 1], [reach, -reach, 1], [reach, reach, 1], [-reach, reach, 1]];
		if (base.length) draw(base, { stroke: colours.axis, width: 1 });
		else drawSurface(painter, project, reach, third, colours);
		const axes = [["x₁", [reach * 1.2, 0, 0]], ["x₂", [0, reach * 1.2, 0]], [isLifted ? "x₃" : "1", [0, 0, isLifted ? tall * 1.2 : 1.25]]];
		for (const [name, end] of axes) {
			arrow(painter, project([0, 0, 0]).slice(0, 2), project(end).slice(0, 2), { stroke: colours.faint, width: 1.2, head: 0.5 * unit });
			painter.text(project(end).slice(0, 2), ` ${name}`, { fill: colours.faint, size: 0.85 * unit, baseline: "middle" });
		}
		const w = isLifted ? run.trace.found.weights[k] : [...run.trace.found.weights[k], run.trace.found.bias[k][0]], b = isLifted ? run.trace.found.bias[k][0] : 0;
		const plane = planeWithin(w, b, reach * 1.15, isLifted ? tall * 1.15 : 1.25);
		if (plane.length > 2) draw(plane, { fill: colours.weights, stroke: colours.weights, width: unit / 9, alpha: 0.35 });
		const order = points.map((point, i) => [i, project([point[0], point[1], heights[i]])]).sort((one, other) => other[1][2] - one[1][2]);
		for (const [i, at] of order) {
			const foot = project([points[i][0], points[i][1], 0]);
			if (!isLifted) painter.shape([[at.slice(0, 2), foot.slice(0, 2)]], { stroke: colours.axis, width: 0.7, isOpen: true, alpha: 0.5 });
			mark(painter, points[i][2], at.slice(0, 2), 0.36 * unit, { fill: colours.classes[points[i][2]], stroke: colours.ground, width: 0.8 });
			if (used.includes(i)) painter.circle(at.slice(0, 2), 0.85 * unit, { stroke: colours.use, width: unit / 6 });
		}
		caption(painter, scene, isLifted ? "the plane w·(x₁, x₂, x₃) + b = 0" : "the plane (w, b)·(x₁, x₂, 1) = 0");
	},

	gram(painter, scene) {
		fillBox(painter, scene);
		const { run, colours, unit, width, height } = scene;
		if (!run?.trace || run.kinds > 2 || !["linear", "kernel"].includes(run.trace.kind)) return say(painter, scene, "The Gram matrix is shown for two classes and a line or a kernel.");
		const gram = run.trace.gram ?? (run.linearGram ??= new Kernel({ kernel: "linear" }).gram(run.X));
		const order = run.y.map((_, i) => i).sort((a, b) => run.y[b] - run.y[a] || a - b), n = order.length;
		const shown = Math.min(n, 120), step = n / shown, size = Math.min(width - 8 * unit, height - 4.4 * unit), cell = size / shown;
		const left = (width - size) / 2 + unit, top = 1.6 * unit, pick = (t) => order[Math.floor(t * step)];
		let most = 1e-300;
		for (const line of gram) for (const value of line) most = Math.max(most, Math.abs(value));
		for (let a = 0; a < shown; a++) {
			for (let b = 0; b < shown; b++) {
				const value = gram[pick(a)][pick(b)], box = [[left + b * cell, top + a * cell], [left + (b + 1) * cell + 0.4, top + a * cell], [left + (b + 1) * cell + 0.4, top + (a + 1) * cell + 0.4], [left + b * cell, top + (a + 1) * cell + 0.4]];
				painter.shape([box], { fill: value >= 0 ? colours.ink : colours.proof, alpha: Math.abs(value) / most });
			}
		}
		painter.shape([[[left, top], [left + size, top], [left + size, top + size], [left, top + size]]], { stroke: colours.axis, width: 1 });
		const positive = run.y.filter((label) => label > 0).length / step, middle = top + positive * cell;
		painter.shape([[[left - 0.5 * unit, middle], [left + size, middle]], [[left + positive * cell, top - 0.4 * unit], [left + positive * cell, top + size]]], { stroke: colours.axis, width: 1, isOpen: true });
		painter.text([left - 0.7 * unit, (top + middle) / 2], "+1", { fill: colours.classes[0], size: unit, align: "right", baseline: "middle", weight: "bold" });
		painter.text([left - 0.7 * unit, (middle + top + size) / 2], "−1", { fill: colours.classes[1], size: unit, align: "right", baseline: "middle", weight: "bold" });
		const place = scene.k ? run.trace.row[scene.k] : -1, at = place < 0 ? -1 : Math.floor(order.indexOf(place) / step);
		if (at >= 0) {
			const y0 = top + at * cell, y1 = y0 + Math.max(cell, 3);
			painter.shape([[[left - 2, y0 - 1], [left + size + 2, y0 - 1], [left + size + 2, y1 + 1], [left - 2, y1 + 1]]], { stroke: colours.use, width: unit / 6 });
		}
		const name = run.trace.kernel && run.settings.kernel !== "linear" ? "K(xᵢ, xⱼ)" : "xᵢ·xⱼ";
		caption(painter, scene, `${name}, strongest: ${short(most)}; red: negative`);
	},

	gap(painter, scene) {
		fillBox(painter, scene);
		const { colours, unit, width, height, sweep } = scene;
		if (!sweep) return say(painter, scene, "Choose blobs and a line to sweep their gap: the wider the margin, the fewer mistakes.");
		const left = 4.4 * unit, right = 1.4 * unit, top = 1.8 * unit, bottom = 3 * unit;
		const most = Math.max(...sweep.flatMap(({ bound, made }) => [bound, ...made]), 10), high = Math.ceil(Math.log10(most));
		const gaps = sweep.map(({ gap }) => gap), x = (gap) => left + ((width - left - right) * gap) / gaps.at(-1);
		const y = (value) => height - bottom - ((height - top - bottom) * Math.log10(Math.max(value, 1))) / high;
		for (let power = 0; power <= high; power++) {
			painter.text([left - 0.4 * unit, y(10 ** power)], grouped(10 ** power), { fill: colours.ink, size: 0.85 * unit, align: "right", baseline: "middle" });
			painter.shape([[[left, y(10 ** power)], [width - right, y(10 ** power)]]], { stroke: colours.axis, width: 1, isOpen: true, alpha: 0.6 });
		}
		for (const gap of ticks(0, gaps.at(-1), 5)) painter.text([x(gap), height - bottom + 1.1 * unit], short(gap), { fill: colours.ink, size: 0.85 * unit, align: "center" });
		painter.shape([sweep.map(({ gap, bound }) => [x(gap), y(bound)])], { stroke: colours.proof, width: unit / 6, isOpen: true });
		painter.text([x(sweep[1].gap) + 0.5 * unit, y(sweep[1].bound) - 0.4 * unit], "bound (R̃/γ̃)²", { fill: colours.proof, size: 0.85 * unit, halo: colours.ground, weight: "bold" });
		for (const { gap, made } of sweep) for (const count of made) painter.circle([x(gap), y(count)], unit / 4.5, { fill: colours.ink, alpha: 0.75 });
		painter.text([0.4 * unit, unit], "↑ mistakes; dots: made, with five seeds", { fill: colours.ink, size: 0.85 * unit });
		painter.text([width - right, height - 0.6 * unit], "gap between the blobs →", { fill: colours.ink, size: 0.85 * unit, align: "right" });
	},

	units(painter, scene) {
		fillBox(painter, scene);
		const { run, k, colours, unit, width, height } = scene;
		if (run?.trace?.kind !== "network") return say(painter, scene, "Choose the form “network that grows” to see its units.");
		const units = run.trace.units.slice(0, k), layers = Math.max(...run.trace.units.map((each) => each.layer)) + 1;
		const place = (number) => {
			const own = run.trace.units.flatMap((each, i) => (each.layer === run.trace.units[number].layer ? [i] : []));
			const level = run.trace.units[number].layer;
			return [(width * (own.indexOf(number) + 1)) / (own.length + 1), 2.4 * unit + ((height - 6.4 * unit) * (level + 0.5)) / layers];
		};
		const inputs = ["x₁", "x₂"].map((name, j) => [name, [(width * (j + 1)) / 3, height - 2.2 * unit]]);
		units.forEach((each, number) => {
			const at = place(number);
			for (const [, from] of inputs) painter.shape([[from, at]], { stroke: colours.axis, width: 1, isOpen: true });
			if (each.parent >= 0) arrow(painter, at, place(each.parent), { stroke: colours.ink, width: unit / 6, dash: each.sign < 0 ? [unit / 2, unit / 3] : [], head: 0.7 * unit });
		});
		units.forEach((_, number) => {
			painter.circle(place(number), 0.95 * unit, { fill: colours.ground, stroke: number === k - 1 ? colours.use : colours.ink, width: unit / 6 });
			painter.text(place(number), String(number + 1), { fill: colours.ink, size: unit, align: "center", baseline: "middle" });
		});
		for (const [name, at] of inputs) painter.text(at, name, { fill: colours.ink, size: unit, align: "center", baseline: "middle" });
		caption(painter, scene, "solid: turns on, dashed: turns off");
	},
};

/** The angle between two directions of the screen, as an arc with its size in degrees. */
function arc(painter, origin, one, other, radius, colour, unit, degrees, dash) {
	if (!Number.isFinite(degrees)) return;
	const from = Math.atan2(one[1] - origin[1], one[0] - origin[0]);
	let turn = Math.atan2(other[1] - origin[1], other[0] - origin[0]) - from;
	turn = Math.atan2(Math.sin(turn), Math.cos(turn));
	const places = Array.from({ length: 25 }, (_, i) => [origin[0] + radius * Math.cos(from + (turn * i) / 24), origin[1] + radius * Math.sin(from + (turn * i) / 24)]);
	painter.shape([places], { stroke: colour, width: unit / 9, dash, isOpen: true });
	const middle = places[12], away = [(middle[0] - origin[0]) / radius, (middle[1] - origin[1]) / radius];
	painter.text([middle[0] + 1.1 * unit * away[0], middle[1] + 1.1 * unit * away[1]], `${Math.round(degrees)}°`, { fill: colour, size: 0.85 * unit, align: "center", baseline: "middle", halo: "transparent" });
}

/** The surface on which lifted points lie, as a net of lines. */
function drawSurface(painter, project, reach, third, colours) {
	const lines = [], steps = 12, at = (i) => reach * ((2 * i) / steps - 1);
	for (let i = 0; i <= steps; i += 2) {
		const along = Array.from({ length: steps + 1 }, (_, j) => [at(i), at(j)]), across = Array.from({ length: steps + 1 }, (_, j) => [at(j), at(i)]);
		for (const places of [along, across]) lines.push(places.map((each) => project([...each, third(each)]).slice(0, 2)));
	}
	painter.shape(lines, { stroke: colours.axis, width: 1, isOpen: true });
}

/** The part of the plane w·x + b = 0 within a box around the origin, as a polygon. */
function planeWithin(w, b, wide, tall) {
	const corner = [wide, wide, tall], found = [], value = (place) => w[0] * place[0] + w[1] * place[1] + w[2] * place[2] + b;
	for (let axis = 0; axis < 3; axis++) {
		const others = [0, 1, 2].filter((each) => each !== axis);
		for (const s of [-1, 1]) for (const t of [-1, 1]) {
			const low = [], high = [];
			low[axis] = -corner[axis];
			high[axis] = corner[axis];
			low[others[0]] = high[others[0]] = s * corner[others[0]];
			low[others[1]] = high[others[1]] = t * corner[others[1]];
			const here = value(low), there = value(high);
			if (here > 0 === there > 0) continue;
			const share = here / (here - there);
			found.push(low.map((each, j) => each + share * (high[j] - each)));
		}
	}
	if (found.length < 3) return [];
	const middle = [0, 1, 2].map((j) => found.reduce((sum, each) => sum + each[j], 0) / found.length);
	const length = Math.hypot(...w), normal = w.map((each) => each / length);
	const first = found[0].map((each, j) => each - middle[j]), second = [normal[1] * first[2] - normal[2] * first[1], normal[2] * first[0] - normal[0] * first[2], normal[0] * first[1] - normal[1] * first[0]];
	const angle = (place) => {
		const from = place.map((each, j) => each - middle[j]), along = (axis) => from.reduce((sum, each, j) => sum + each * axis[j], 0);
		return Math.atan2(along(second), along(first));
	};
	return found.sort((one, other) => angle(one) - angle(other));
}

/** For blobs of growing gap: the bound, and the mistakes made with five seeds. */
export function sweepGap(engine, state) {
	if (!["blobs", "origin"].includes(state.data) || !["bias", "origin"].includes(state.settings[0].form)) return null;
	return [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].map((gap) => {
		const found = [0, 1, 2, 3, 4].map((seed) => {
			const { points } = makeSet(state.data, { ...state.options, gap, seed, noise: 0, size: Math.min(state.options.size, 100) });
			return new ShownRun(engine, points, { ...state.settings[0], margin: 0, start: "", max_iter: 1000 }, false);
		});
		return { gap, bound: Math.max(...found.map((run) => run.theorem?.bound ?? 0)), made: found.map((run) => run.last) };
	});
}
