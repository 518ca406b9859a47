// Upstart networks, which grow by one perceptron at a time, as network/ of the package grows them.

import { mix } from "./engine.js";
import { LinearTask, Run } from "./run.js";

const ROUND = 1e-9; // squared norms that differ by less are those of a sphere around the origin
const TRIED = 64; // mistaken rows that are tried as the one to be set right
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

/** Equal rows by equal numbers, in the order of the rows' values. */
export function numberGroups(rows) {
	const compare = (a, b) => a.reduce((found, value, j) => found || value - b[j], 0);
	const kinds = [...new Map(rows.map((row) => [row.join(), row])).values()].sort(compare);
	const numbers = new Map(kinds.map((row, number) => [row.join(), number]));
	return rows.map((row) => numbers.get(row.join()));
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
export const activations = (units, row) => units.map((unit) => activate(unit, row));

/** What a network answers: 1 or -1. */
export function answer(units, own) {
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
	const { max_units: maxUnits, max_iter: maxIter, random_state: seed } = settings;
	const lift = liftOf(points.X, settings.lift), rows = points.X.map(lift.apply);
	const targets = points.y.map((label) => (label > 0 ? 1 : -1));
	let learnt = 0;
	const learn = (inputs, wanted) => {
		if (wanted.every((target) => target === wanted[0])) return { weights: inputs[0].map(() => 0), bias: wanted[0] };
		learnt += 1;
		return trainPocket(engine, inputs, wanted, maxIter, Number(mix(BigInt(seed) + BigInt(1000 + learnt)) % 2n ** 32n));
	};
	const units = [];
	let best = Infinity, kept = 1, tried = 0, stopReason = "";
	for (const unit of upstart({ rows, targets, same: numberGroups(points.X) }, learn)) {
		units.push(unit);
		const errors = rows.reduce((sum, row, i) => sum + (answer(units, activations(units, row)) !== targets[i]), 0);
		tried += 1;
		if (errors < best) [best, kept, tried] = [errors, units.length, 0];
		if (errors === 0) stopReason = "separated";
		else if (units.length >= maxUnits) stopReason = "max_units";
		else if (tried >= PATIENCE) stopReason = "no_improvement";
		if (stopReason) break;
	}
	units.length = kept;
	const moments = [...Array(kept + 1).keys()], none = moments.map(() => -1);
	return {
		kind: "network", lift, units, last: kept, stopReason: stopReason || "no_improvement", cut: false, epochs: [],
		epoch: moments.map(() => 0), row: none, position: none, activation: moments.map(() => NaN), seen: moments.map(() => 0),
		visits: { row: none, epoch: moments.map(() => 0), moment: moments }, X: points.X, y: points.y,
	};
}

/** The best weights that the rule met (Gallant 1990). */
function trainPocket(engine, rows, targets, maxIter, seed) {
	const mark = engine.memory.mark();
	try {
		const task = new LinearTask(engine, rows, targets, { ties: "negative", interceptStep: 1 });
		const run = new Run(task, { order: "each", solution: "pocket", maxIter, seed }).train();
		const { weights, bias } = run.state.coefficients();
		return { weights: Array.from(weights), bias: bias[0] };
	} finally {
		engine.memory.release(mark);
	}
}
