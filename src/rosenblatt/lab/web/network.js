// Networks that grow by one perceptron at a time, as learners/network of the package grows them.

import { LinearTask, Run } from "./run.js";

const ROUND = 1e-9; // squared norms that differ by less are those of a sphere around the origin
const TRIED = 64; // mistaken rows that are tried as the one to be set right
const HEAT = 0.3; // the first temperature, in mean squared lengths of rows
const PATIENCE = 10;

const dot = (a, b) => {
	let sum = 0;
	for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
	return sum;
};
export const fires = (activation) => (activation > 0 ? 1 : -1);
const activate = (unit, row) => dot(unit.weights, row) + unit.bias;
const countMistakes = (unit, rows, targets) => rows.reduce((sum, row, i) => sum + (fires(activate(unit, row)) !== targets[i]), 0);

/** The weights with fewer mistakes; of equals, the first. */
function better(one, other, rows, targets) {
	return !other || countMistakes(one, rows, targets) <= countMistakes(other, rows, targets) ? one : other;
}

/** A direction in which one candidate is farther than all other rows; the one that stands out most. */
function standingApart(rows, same, candidates) {
	const width = rows[0].length, squares = rows.map((row) => dot(row, row));
	let middle = Array.from({ length: width }, (_, j) => (Math.max(...rows.map((row) => row[j])) + Math.min(...rows.map((row) => row[j]))) / 2);
	if (Math.max(...squares) - Math.min(...squares) < ROUND) middle = middle.map(() => 0);
	let best = null;
	for (const row of candidates.slice(0, TRIED)) {
		const v = rows[row].map((value, j) => value - middle[j]);
		const products = rows.map((each) => dot(each, v));
		const others = products.filter((_, i) => same[i] !== same[row]);
		if (!others.length) continue;
		const found = { v, row, top: products[row], next: Math.max(...others), least: Math.min(...others) };
		found.clearance = (found.top - found.next) / Math.max(found.top - found.least, 2 ** -1022);
		if (found.top > found.next && (!best || found.clearance > best.clearance)) best = found;
	}
	return best;
}

/** A unit that is on for one row. */
function only(apart) {
	return apart && { weights: apart.v, bias: -(apart.top + apart.next) / 2 };
}

/** A unit that repeats one of its inputs, except for one row (Gallant 1990). */
function corrected(apart, target, known) {
	if (!apart) return null;
	const centre = (apart.next + apart.least) / 2, spread = (apart.next - apart.least) / 2;
	const repeat = (spread + apart.top - centre) / 2;
	return { weights: known.map((value, j) => target * apart.v[j] + repeat * value), bias: -target * centre };
}

/** The rows of which no equal one has the other target. */
function consistent({ targets, same }) {
	const seen = new Map();
	same.forEach((group, i) => seen.set(group, (seen.get(group) ?? 0) | (targets[i] > 0 ? 1 : 2)));
	return same.map((group) => seen.get(group) !== 3);
}

const someOf = (problem, chosen) => ({
	rows: problem.rows.filter((_, i) => chosen[i]),
	targets: problem.targets.filter((_, i) => chosen[i]),
	same: problem.same.filter((_, i) => chosen[i]),
});
const placesOf = (flags) => flags.flatMap((flag, i) => (flag ? [i] : []));
const unitVector = (length, place) => Array.from({ length }, (_, j) => (j === place ? 1 : 0));

/** Each unit sees the row and the unit before, or all of them (Gallant 1990). */
function* chain({ rows, targets, same }, learn, isPyramid) {
	const usable = consistent({ targets, same }), signals = rows.map(() => []);
	for (let layer = 0; ; layer++) {
		const seen = isPyramid ? layer : Math.min(layer, 1);
		const inputs = rows.map((row, i) => [...row, ...signals[i].slice(layer - seen)]);
		let unit = learn(inputs, targets);
		if (layer) {
			const apart = standingApart(rows, same, placesOf(targets.map((target, i) => signals[i].at(-1) !== target && usable[i])));
			if (apart) apart.v = [...apart.v, ...new Array(seen).fill(0)];
			const known = unitVector(inputs[0].length, inputs[0].length - 1);
			unit = better(unit, corrected(apart, apart ? targets[apart.row] : 0, known), inputs, targets);
		}
		yield { ...unit, layer, parent: -1, sign: 1 };
		inputs.forEach((row, i) => signals[i].push(fires(activate(unit, row))));
	}
}

/** Daughters turn a unit off where it is wrongly on, and on where wrongly off (Frean 1990). */
function* upstart(problem, learn) {
	const first = learn(problem.rows, problem.targets);
	yield { ...first, layer: 0, parent: -1, sign: 1 };
	const waiting = [{ number: 0, depth: 0, own: problem, unit: first }];
	let count = 1;
	while (waiting.length) {
		const { number, depth, own, unit } = waiting.shift();
		const on = own.rows.map((row) => fires(activate(unit, row))), usable = consistent(own);
		for (const sign of [-1, 1]) {
			const toMend = own.targets.map((target, i) => target === sign && on[i] === -sign);
			if (!toMend.some((flag, i) => flag && usable[i])) continue;
			const chosen = toMend.map((flag, i) => flag || own.targets[i] === -sign);
			const part = someOf(own, chosen);
			part.targets = toMend.filter((_, i) => chosen[i]).map((flag) => (flag ? 1 : -1));
			const candidates = placesOf(toMend.map((flag, i) => flag && usable[i]).filter((_, i) => chosen[i]));
			const found = better(learn(part.rows, part.targets), only(standingApart(part.rows, part.same, candidates)), part.rows, part.targets);
			yield { ...found, layer: depth + 1, parent: number, sign };
			waiting.push({ number: count, depth: depth + 1, own: part, unit: found });
			count += 1;
		}
	}
}

/** Layers in which rows of two classes never look alike (Mézard & Nadal 1989). */
function* tiling(problem, learn) {
	let before = problem.rows.map(() => 0);
	for (let layer = 0; ; layer++) {
		const { rows, targets, same } = problem, usable = consistent(problem);
		let unit = learn(rows, targets);
		if (layer) {
			const apart = standingApart(rows, same, placesOf(before.map((each, i) => each !== targets[i] && usable[i])));
			unit = better(unit, corrected(apart, apart ? targets[apart.row] : 0, unitVector(rows[0].length, 0)), rows, targets);
		}
		yield { ...unit, layer, parent: -1, sign: 1 };
		const signals = rows.map((row) => [fires(activate(unit, row))]);
		let looks;
		for (;;) {
			looks = numberGroups(signals);
			const mixed = mixedGroup(looks, targets, usable);
			if (!mixed) break;
			const part = someOf(problem, looks.map((_, i) => mixed.includes(i)));
			const apart = only(standingApart(part.rows, part.same, part.same.map((_, i) => i)));
			const found = [learn(part.rows, part.targets), apart].find((each) => each && new Set(part.rows.map((row) => fires(activate(each, row)))).size === 2);
			if (!found) break;
			yield { ...found, layer, parent: -1, sign: 1 };
			rows.forEach((row, i) => signals[i].push(fires(activate(found, row))));
		}
		before = signals.map((each) => each[0]);
		problem = { rows: signals, targets, same: looks };
	}
}

/** Equal rows by equal numbers, in the order of the rows' values. */
export function numberGroups(rows) {
	const compare = (a, b) => a.reduce((found, value, j) => found || value - b[j], 0);
	const kinds = [...new Map(rows.map((row) => [row.join(), row])).values()].sort(compare);
	const numbers = new Map(kinds.map((row, number) => [row.join(), number]));
	return rows.map((row) => numbers.get(row.join()));
}

/** The rows of the largest group of rows that look alike and are of two classes. */
function mixedGroup(looks, targets, usable) {
	const sizes = new Array(Math.max(...looks) + 1).fill(0);
	looks.forEach((group, i) => (sizes[group] += usable[i] ? 1 : 0));
	const groups = sizes.map((_, group) => group).sort((a, b) => sizes[b] - sizes[a] || a - b);
	for (const group of groups) {
		const mine = placesOf(looks.map((each, i) => each === group && usable[i]));
		if (new Set(mine.map((i) => targets[i])).size === 2) return mine;
	}
	return null;
}

/** What lifts rows: columns of mean 0 and deviation 1 onto a sphere, or rows as they are. */
export function liftOf(X, kind) {
	const width = X[0].length, column = (j) => X.map((row) => row[j]);
	const isBinary = Array.from({ length: width }, (_, j) => new Set(column(j)).size <= 2).every(Boolean);
	if (kind === "none" || (kind === "auto" && isBinary)) return { isSphere: false, width, apply: (x) => Array.from(x) };
	const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
	const centre = [], scale = [];
	for (let j = 0; j < width; j++) {
		centre.push(mean(column(j)));
		const spread = Math.sqrt(mean(column(j).map((value) => (value - centre[j]) * (value - centre[j]))));
		scale.push((spread > 0 ? spread : 1) * Math.sqrt(width));
	}
	const apply = (x) => {
		const z = Array.from(x, (value, j) => (value - centre[j]) / scale[j]), square = dot(z, z);
		return [...z.map((value) => 2 * value), square - 1].map((value) => value / (square + 1));
	};
	return { isSphere: true, width: width + 1, centre, scale, apply };
}

/** The activation of each unit for a lifted row. */
export function activations(growth, units, row) {
	const found = [];
	units.forEach((unit, number) => {
		let seen = row;
		if (growth === "tiling" && unit.layer) seen = found.filter((_, place) => units[place].layer === unit.layer - 1).map(fires);
		else if (unit.weights.length > row.length) seen = [...row, ...found.slice(number + row.length - unit.weights.length, number).map(fires)];
		found.push(activate(unit, seen));
	});
	return found;
}

/** What a network answers: 1 or -1. */
export function answer(growth, units, own) {
	if (growth !== "upstart") return fires(own[units.findIndex((unit) => unit.layer === units.at(-1).layer)]);
	const pushes = new Array(own.length).fill(0);
	let decided = 0;
	for (let number = units.length - 1; number >= 0; number--) {
		decided = pushes[number] === 0 ? own[number] : pushes[number];
		if (number) pushes[units[number].parent] += units[number].sign * (decided > 0 ? 1 : 0);
	}
	return fires(decided);
}

/** Grow a network; the trace has one moment per unit. */
export function traceNetwork(engine, points, settings) {
	const { growth, unit: training, max_units: maxUnits, max_iter: maxIter, random_state: seed } = settings;
	const lift = liftOf(points.X, settings.lift), rows = points.X.map(lift.apply);
	const targets = points.y.map((label) => (label > 0 ? 1 : -1));
	const problem = { rows, targets, same: numberGroups(points.X) };
	let learnt = 0;
	const learn = (inputs, wanted) => {
		if (wanted.every((target) => target === wanted[0])) return { weights: inputs[0].map(() => 0), bias: wanted[0] };
		learnt += 1;
		const own = Number(engine.mix(BigInt(seed) + BigInt(1000 + learnt)) % 2n ** 32n);
		return TRAININGS[training](engine, inputs, wanted, maxIter, own);
	};
	const ways = { upstart, tiling, tower: (p, l) => chain(p, l, false), pyramid: (p, l) => chain(p, l, true) };
	const units = [];
	let best = Infinity, kept = 1, tried = 0, stopReason = "";
	for (const unit of ways[growth](problem, learn)) {
		units.push(unit);
		const errors = rows.reduce((sum, row, i) => sum + (answer(growth, units, activations(growth, units, row)) !== targets[i]), 0);
		tried += growth !== "tiling" || unit.layer > (units.at(-2) ?? unit).layer ? 1 : 0;
		if (errors < best) [best, kept, tried] = [errors, units.length, 0];
		if (errors === 0) stopReason = "separated";
		else if (units.length >= maxUnits) stopReason = "max_units";
		else if (tried >= PATIENCE) stopReason = "no_improvement";
		if (stopReason) break;
	}
	units.length = kept;
	const moments = [...Array(kept + 1).keys()], none = moments.map(() => -1);
	return {
		kind: "network", growth, lift, units, last: kept, stopReason: stopReason || "no_improvement", cut: false, epochs: [],
		epoch: moments.map(() => 0), row: none, position: none, activation: moments.map(() => NaN), seen: moments.map(() => 0),
		visits: { row: none, epoch: moments.map(() => 0), moment: moments }, X: points.X, y: points.y,
	};
}

const TRAININGS = {
	/** The best weights that the rule met (Gallant 1990). */
	pocket(engine, rows, targets, maxIter, seed) {
		const mark = engine.memory.mark();
		try {
			const task = new LinearTask(engine, rows, targets, { ties: "negative", interceptStep: 1 });
			const run = new Run(task, { order: "each", solution: "pocket", maxIter, seed }).train();
			const { weights, bias } = run.state.coefficients();
			return { weights: Array.from(weights), bias: bias[0] };
		} finally {
			engine.memory.release(mark);
		}
	},
	/** The weights at the end of a cooling, in which T and α fall to 0 in a line (Frean 1992). */
	thermal(engine, rows, targets, maxIter, seed) {
		const mark = engine.memory.mark(), { memory } = engine;
		try {
			const heat = HEAT * (rows.reduce((sum, row) => sum + (dot(row, row) + 1), 0) / rows.length);
			const task = new LinearTask(engine, rows, targets, { interceptStep: 1 });
			const { address, length } = task.everything;
			const w = memory.put(Float64Array, rows[0].map(() => 0)), b = memory.put(Float64Array, [0]);
			for (let epoch = 0; epoch < maxIter; epoch++) {
				engine.shuffle(address, length, seed, epoch);
				const warmth = 1 - epoch / maxIter;
				engine.call("thermal_unit", ...task.rows.given, task.rows.steps, address, length, w, b, heat * warmth, warmth, engine.out);
				if (engine.result(0) === 0) break;
			}
			return { weights: Array.from(memory.view(Float64Array, w, rows[0].length)), bias: memory.view(Float64Array, b, 1)[0] };
		} finally {
			memory.release(mark);
		}
	},
};
